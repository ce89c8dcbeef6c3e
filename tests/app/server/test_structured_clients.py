"""Requests for structured output as real clients sent them (`structured_clients.json`, one a line): each is taken whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.server.live import Live
from tests.app.server.test_structured import follows

REQUESTS = json.loads(Path(__file__).with_suffix(".json").with_stem("structured_clients").read_text(encoding="utf-8"))
WEATHER = '{"city": "Kyiv", "degrees": 7, "comment": null}'
ARGUMENTS = {"get_weather": '{"city": "Kyiv"}', "Weather": WEATHER, "final_result": WEATHER}


def names(body: Any) -> list[str]:
    return [tool.get("function", tool)["name"] for tool in body.get("tools", ())]


@pytest.mark.parametrize("asked", REQUESTS, ids=[f"{r['client']} {at}" for at, r in enumerate(REQUESTS)])
@pytest.mark.parametrize("stream", [False, True])
def test_a_clients_request_gets_a_call_or_its_json(live: Live, asked: Any, stream: bool) -> None:
    body = asked["body"]
    choice = body.get("tool_choice", "auto")
    calls = [
        f'<tool_call>\n{{"name": "{name}", "arguments": {_in_order(body, name)}}}\n</tool_call>' for name in names(body)
    ]
    form = body.get("response_format") or body.get("text", {}).get("format")
    answers = [WEATHER] if form is not None and choice == "auto" else []
    for said in [*calls, *answers]:
        live.engine.reply = said
        reply = httpx.post(live.url + asked["path"], json={"model": "tiny", "stream": stream} | body)
        assert reply.status_code == 200, reply.text
        assert reply.headers.get("x-grus-ignored") is None
        assert follows(live, said)
        assert not follows(live, "Hello")
        if not stream:
            finished = "Kyiv" in json.dumps(_said(reply.json(), said in calls))
            assert finished, reply.text
    assert calls or answers or form is None


def _in_order(body: Any, name: str) -> str:
    """The arguments in the order of the client's schema."""
    for tool in body["tools"]:
        function = tool.get("function", tool)
        if function["name"] == name:
            given = json.loads(ARGUMENTS[name])
            return json.dumps({key: given[key] for key in function["parameters"]["properties"]})
    raise KeyError(name)


def _said(reply: Any, is_call: bool) -> Any:
    """What the reply calls, or what it answers."""
    if "choices" in reply:
        message = reply["choices"][0]["message"]
        return message["tool_calls"][0]["function"] if is_call else message["content"]
    kind = "function_call" if is_call else "message"
    return [item for item in reply["output"] if item["type"] == kind]
