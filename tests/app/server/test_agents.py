"""What agents and other programs send in a second turn or after a tool's result (`agents.json`), recorded and cut short: the model reads all of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.server.live import Live

REQUESTS = json.loads(Path(__file__).with_name("agents.json").read_text(encoding="utf-8"))
ENDS = {
    "/v1/chat/completions": "data: [DONE]",
    "/v1/responses": '"type":"response.completed"',
    "/v1/messages": '"type":"message_stop"',
    "/api/chat": '"done":true',
}


@pytest.mark.parametrize("sent", REQUESTS, ids=[request["client"] for request in REQUESTS])
def test_a_recorded_request_is_answered(live: Live, sent: Any) -> None:
    reply = httpx.post(live.url + sent["path"], json=sent["body"], timeout=30)
    assert reply.status_code == 200, reply.text
    assert reply.headers.get("x-grus-ignored") == sent["ignored"]
    assert ENDS[sent["path"]] in reply.text.replace(": ", ":").replace("data:", "data: ")
    prompt = live.service.loaded["tiny"].tokenizer.decode(live.engine.requests[-1].prompt_ids)
    assert [text for text in sent["read"] if text not in prompt] == []
