"""Responses over a socket, driven by OpenAI's own client."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from app.server.openai.responses_store import ResponseStore
from engine.errors import BadRequest, EngineFault
from tests.app.server.live import Live, scripted
from tests.app.server.scripted import schema_of, until

WEATHER = {
    "type": "function",
    "name": "weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": False,
}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'


@pytest.fixture
def client(live: Live) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)


def ask(client: openai.OpenAI, input: Any = "Hi", **more: Any) -> Any:
    return client.responses.create(**({"model": "tiny", "input": input} | more))


def prompt(live: Live) -> str:
    tokenizer = live.service.loaded["tiny"].tokenizer
    return str(tokenizer.decode(live.engine.requests[-1].prompt_ids, skip_special=False))


def test_a_whole_response(client: openai.OpenAI, live: Live) -> None:
    reply = ask(client, instructions="Be kind.", max_output_tokens=50, metadata={"a": "b"})
    assert reply.output_text == "Hello there."
    assert (reply.status, reply.metadata) == ("completed", {"a": "b"})
    assert reply.usage.output_tokens == 12
    assert "Be kind." in prompt(live)
    short = ask(client, max_output_tokens=5)
    assert (short.status, short.incomplete_details.reason) == ("incomplete", "max_output_tokens")


def test_a_stream_of_everything(client: openai.OpenAI, live: Live) -> None:
    live.engine.reply = f"<think>\nhm\n</think>\n\nLook: {CALL}"
    seen = list(ask(client, tools=[WEATHER], stream=True))
    assert [event.sequence_number for event in seen] == list(range(len(seen)))
    kinds = [event.type for event in seen]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    assert [event.item.type for event in seen if event.type == "response.output_item.done"] == [
        "reasoning",
        "message",
        "function_call",
    ]
    assert "".join(event.delta for event in seen if event.type == "response.output_text.delta") == "Look:"
    assert "".join(event.delta for event in seen if event.type == "response.reasoning_text.delta") == "hm"
    arguments = "".join(event.delta for event in seen if event.type == "response.function_call_arguments.delta")
    whole = seen[-1].response
    assert whole.output[2].arguments == arguments == '{"city": "Kyiv"}'
    assert whole.output_text == "Look:"
    with client.responses.stream(model="tiny", input="Hi") as stream:
        assert stream.get_final_response().output[0].type == "reasoning"


def test_reasoning_has_the_names_of_open_responses_where_they_are_asked_for(live: Live) -> None:
    live.engine.reply = "<think>\nhm\n</think>\n\nYes."
    body = {"model": "tiny", "input": "Hi", "stream": True}
    for headers, name in (({}, "reasoning_text"), ({"OpenResponses-Version": "latest"}, "reasoning")):
        text = httpx.post(f"{live.url}/v1/responses", json=body, headers=headers).text
        events = [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]
        names = [line.removeprefix("event: ") for line in text.splitlines() if line.startswith("event: ")]
        assert names == [event["type"] for event in events]
        kinds = {event["type"] for event in events if event["type"].startswith("response.reasoning")}
        assert kinds == {f"response.{name}.delta", f"response.{name}.done"}


def test_a_conversation_goes_on_by_id(client: openai.OpenAI, live: Live) -> None:
    live.engine.reply = f"<think>\nhm\n</think>\n\n{CALL}"
    first = ask(client, "What weather?", tools=[WEATHER])
    call = first.output[-1]
    live.engine.reply = "Rain."
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "wet"}
    second = ask(client, [result], previous_response_id=first.id, tools=[WEATHER])
    assert "What weather?" in prompt(live)
    assert '{"name": "weather", "arguments": {"city": "Kyiv"}}' in prompt(live)
    assert "<tool_response>\nwet\n</tool_response>" in prompt(live)
    ask(client, "And?", previous_response_id=second.id)
    assert prompt(live).count("<|im_start|>user") == 3
    assert "Rain." in prompt(live)


def test_output_items_can_be_sent_back(client: openai.OpenAI, live: Live) -> None:
    live.engine.reply = f"<think>\nhm\n</think>\n\nLook: {CALL}"
    first = ask(client, tools=[WEATHER], store=False)
    items = [{"role": "user", "content": "Hi"}, *[item.model_dump(exclude_none=True) for item in first.output]]
    items.append({"type": "function_call_output", "call_id": first.output[-1].call_id, "output": "wet"})
    ask(client, items, tools=[WEATHER])
    assert prompt(live).count("<|im_start|>assistant") == 2


def test_stored_ones_are_read_and_forgotten(client: openai.OpenAI) -> None:
    reply = ask(client)
    assert client.responses.retrieve(reply.id).output_text == "Hello there."
    client.responses.delete(reply.id)
    unstored = ask(client, store=False)
    for id in (reply.id, unstored.id):
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(id)
        with pytest.raises(openai.NotFoundError):
            ask(client, previous_response_id=id)


def test_formats_choices_and_scores(client: openai.OpenAI, live: Live) -> None:
    ask(client, text={"format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}})
    assert schema_of(live.engine.requests[-1]) == {"type": "object"}
    live.engine.reply = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'
    reply = ask(client, tools=[WEATHER], tool_choice={"type": "function", "name": "weather"})
    assert reply.output[0].name == "weather"
    live.engine.reply = "ab"
    scored = ask(client, include=["message.output_text.logprobs"], top_logprobs=1)
    assert [one.token for one in scored.output[0].content[0].logprobs] == ["a", "b"]


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"background": True}, "background"),
        ({"truncation": "middle"}, "truncation"),
        ({"conversation": "x"}, "conversation"),
        ({"prompt": {"id": "x"}}, "prompt"),
        ({"input": []}, "input"),
        ({"input": None}, "input"),
        ({"max_tool_calls": 0}, "max_tool_calls"),
        ({"tool_choice": {"type": "web_search"}, "tools": [{"type": "web_search"}]}, "tool_choice"),
        ({"tool_choice": "required", "tools": [{"type": "mcp", "server_label": "x"}]}, "tool_choice"),
    ],
)
def test_what_is_not_supported_is_named(client: openai.OpenAI, more: dict[str, Any], named: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, **more)
    assert caught.value.param == named


def test_a_failure_in_a_stream_is_an_event(client: openai.OpenAI, live: Live) -> None:
    live.engine.error, live.engine.silence = EngineFault("A step failed."), 0.5
    last = list(ask(client, stream=True))[-1]
    assert last.type == "response.failed"
    assert last.response.error.message == "A step failed."


def saved(number: int, size: int = 10) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    return {"id": f"resp-{number}"}, [{"type": "message", "role": "user", "content": "x" * size}]


def test_stored_ones_survive_a_restart_and_the_oldest_give_way(tmp_path: Path) -> None:
    file = tmp_path / "data" / "kept.db"
    store = ResponseStore(str(file), most=10_000)
    for number in range(6):
        store.put(*saved(number, 3000))
    store.close()
    again = ResponseStore(str(file), most=10_000)
    assert [number for number in range(6) if again.get(f"resp-{number}")] == [3, 4, 5]
    again.put(*saved(7, 20_000))  # more than may be kept: nothing gives way to it
    assert again.get("resp-7") is None
    assert again.get("resp-5") is not None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    again.close()


def test_stored_ones_are_forgotten_in_time_and_leave_nothing_on_the_disk(tmp_path: Path) -> None:
    file, now = tmp_path / "kept.db", [1000.0]
    store = ResponseStore(str(file), longest=60.0, clock=lambda: now[0])
    store.put({"id": "old"}, [{"content": "a secret that is long gone"}])
    assert b"a secret" in file.read_bytes()
    now[0] += 61
    assert store.get("old") is None
    store.put({"id": "new"}, [{"content": "another"}])
    assert b"a secret" not in file.read_bytes()
    assert store.delete("new")
    assert b"another" not in file.read_bytes()
    store.close()


def test_what_an_older_version_kept_is_still_there(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "kept.db")) as old, old:
        old.execute("CREATE TABLE responses (id TEXT PRIMARY KEY, response TEXT NOT NULL, items TEXT NOT NULL)")
        old.execute("INSERT INTO responses VALUES ('a', '{}', '[1]')")
    store = ResponseStore(str(tmp_path / "kept.db"))
    found = store.get("a")
    assert found is not None
    assert found.items == [1]
    store.close()


def test_a_file_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "kept.db").write_bytes(b"no database at all, but long enough to be taken for one" * 50)
    for path in (tmp_path / "kept.db", tmp_path):
        with pytest.raises(BadRequest, match="cannot be used"):
            ResponseStore(str(path))


KILLED = """
import os, signal
from app.server.openai.responses_store import ResponseStore
store = ResponseStore()
store.put({"id": "resp-1"}, [{"id": "a", "text": "x" * (16 << 20)}])
assert len(store.get("resp-1").items[0]["text"]) == 16 << 20
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no SIGKILL; SQLite deletes its temporary file there on close"
)
def test_a_store_without_a_path_leaves_nothing_behind_when_it_is_killed(tmp_path: Path) -> None:
    places = dict.fromkeys(("TMPDIR", "SQLITE_TMPDIR"), str(tmp_path))
    ended = subprocess.run([sys.executable, "-c", KILLED], env={**os.environ, **places}, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert not list(tmp_path.iterdir())


def test_a_disk_that_is_slow_holds_up_nobody(tmp_path: Path) -> None:
    """Another process holds the file: who stores waits, and all others are answered meanwhile."""
    with scripted(tmp_path / "slow", responses_file=str(tmp_path / "slow.db")) as slow:
        other = sqlite3.connect(tmp_path / "slow.db", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        asking = openai.OpenAI(base_url=f"{slow.url}/v1", api_key="none", max_retries=0)
        with ThreadPoolExecutor(1) as pool:
            waits = pool.submit(ask, asking)
            until(lambda: slow.engine.requests and not slow.engine.running)
            for _ in range(5):
                began = time.monotonic()
                assert httpx.get(f"{slow.url}/v1/models", timeout=10).status_code == 200
                assert time.monotonic() - began < 2
            assert not waits.done()
            other.execute("ROLLBACK")
            assert waits.result().output_text == "Hello there."
        other.close()
        assert asking.responses.retrieve(waits.result().id).output_text == "Hello there."
