"""`/v1/responses` as a websocket, and `/v1/responses/compact`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.app.server.live import Live, scripted
from tests.app.server.scripted import until
from tests.app.server.test_responses_resource import ask, check_events, prompt, whole

WEATHER = {"type": "function", "name": "weather", "parameters": {"type": "object"}}


@pytest.fixture
def socket(live: Live) -> Iterator[ClientConnection]:
    with connect(f"ws{live.url.removeprefix('http')}/v1/responses") as socket:
        yield socket


def turn(socket: ClientConnection, input: Any = "Hi", **more: Any) -> list[dict[str, Any]]:
    """The events of one turn, up to its last."""
    socket.send(json.dumps({"type": "response.create", "model": "tiny", "input": input, **more}))
    seen: list[dict[str, Any]] = []
    while not seen or seen[-1]["type"] not in ("response.completed", "response.incomplete", "response.failed", "error"):
        seen.append(json.loads(socket.recv(timeout=20)))
    return seen


def test_a_turn_has_the_events_of_a_stream(live: Live, socket: ClientConnection) -> None:
    for _ in range(2):
        seen = turn(socket, tools=[{"type": "web_search"}])
        check_events(seen)
        assert seen[-1]["type"] == "response.completed"
        assert seen[-1]["response"]["output"][0]["content"][0]["text"] == "Hello there."
    stored = httpx.get(f"{live.url}/v1/responses/{seen[-1]['response']['id']}").json()
    assert stored == seen[-1]["response"]


def test_the_last_response_is_continued_though_it_is_not_stored(live: Live, socket: ClientConnection) -> None:
    first = turn(socket, "The word is cobalt.", store=False)[-1]["response"]
    assert httpx.get(f"{live.url}/v1/responses/{first['id']}").status_code == 404
    second = turn(socket, "Which word?", store=False, previous_response_id=first["id"])[-1]["response"]
    assert second["previous_response_id"] == first["id"]
    assert "The word is cobalt." in prompt(live)
    with connect(f"ws{live.url.removeprefix('http')}/v1/responses") as another:
        (error,) = turn(another, previous_response_id=second["id"])
    assert (error["type"], error["status"]) == ("error", 404)
    assert error["error"]["code"] == "previous_response_not_found"


def test_a_conversation_is_sent_ahead(live: Live, socket: ClientConnection) -> None:
    """As Codex does before the first turn."""
    ahead = turn(socket, "The rules.", store=False, generate=False)
    check_events(ahead)
    response = ahead[-1]["response"]
    assert (response["status"], response["output"]) == ("completed", [])
    assert not live.engine.requests
    turn(socket, "Go.", store=False, previous_response_id=response["id"])
    assert "The rules." in prompt(live)
    assert "Go." in prompt(live)


def test_a_failed_continuation_is_the_end_of_it(socket: ClientConnection) -> None:
    first = turn(socket, store=False)[-1]["response"]
    orphan = {"type": "function_call_output", "call_id": "none", "output": "x"}
    (refused,) = turn(socket, [orphan], previous_response_id=first["id"])
    assert (refused["status"], refused["error"]["param"]) == (400, "input[0].call_id")
    (gone,) = turn(socket, previous_response_id=first["id"])
    assert gone["error"]["code"] == "previous_response_not_found"
    assert turn(socket)[-1]["type"] == "response.completed"


@pytest.mark.parametrize(
    ("sent", "param"),
    [
        ("no JSON", None),
        ("[]", "type"),
        ('{"type": "response.cancel"}', "type"),
        ('{"type": "response.create", "input": 5}', "input"),
        ('{"type": "response.create", "input": "a", "temperature": 9}', "temperature"),
        ('{"type": "response.create", "input": "a", "model": "none"}', None),
    ],
)
def test_an_error_leaves_the_connection_open(socket: ClientConnection, sent: str, param: str | None) -> None:
    socket.send(sent)
    error = json.loads(socket.recv(timeout=20))
    assert error["type"] == "error"
    assert error["status"] in (400, 404)
    assert error["error"]["param"] == param
    assert turn(socket)[-1]["type"] == "response.completed"


def test_a_client_that_leaves_ends_its_reply(live: Live) -> None:
    live.engine.pause = 0.05
    with connect(f"ws{live.url.removeprefix('http')}/v1/responses") as socket:
        socket.send(json.dumps({"type": "response.create", "model": "tiny", "input": "Hi"}))
        socket.recv(timeout=20)
    until(lambda: live.engine.cancelled)
    until(lambda: not live.requests.running)


def test_a_server_that_stops_closes_it(tmp_path: Path) -> None:
    with scripted(tmp_path) as live, connect(f"ws{live.url.removeprefix('http')}/v1/responses") as socket:
        assert turn(socket)[-1]["type"] == "response.completed"
        live.stop()
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=20)


def test_a_conversation_is_compacted(live: Live) -> None:
    said = [{"role": "user", "content": "We launch on Tuesday."}, {"role": "assistant", "content": "Noted."}]
    live.engine.reply = "The launch is on Tuesday."
    made = httpx.post(f"{live.url}/v1/responses/compact", json={"model": "tiny", "input": said}).json()
    assert "We launch on Tuesday." in prompt(live)
    assert prompt(live).count("<|im_start|>user") == 2
    assert (made["object"], made["usage"]["output_tokens"]) == ("response.compaction", 25)
    (item,) = made["output"]
    assert (item["type"], item["id"][:4]) == ("compaction", "cmp_")
    assert "Tuesday" not in item["encrypted_content"]
    reply = whole(live, [item, {"role": "user", "content": "When?"}])
    assert "The launch is on Tuesday." in prompt(live)
    assert "We launch" not in prompt(live)
    follow = whole(live, "Really?", previous_response_id=reply["id"])
    assert "The launch is on Tuesday." in prompt(live)
    again = httpx.post(f"{live.url}/v1/responses/compact", json={"model": "tiny", "previous_response_id": follow["id"]})
    assert again.status_code == 200
    assert httpx.get(f"{live.url}/v1/responses/{again.json()['id']}").status_code == 404


def test_a_compaction_needs_a_model_and_a_conversation(live: Live) -> None:
    for body, param in ({"input": "a"}, "model"), ({"model": "tiny"}, "input"):
        reply = httpx.post(f"{live.url}/v1/responses/compact", json=body)
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)
    foreign = ask(live, [{"type": "compaction", "encrypted_content": "x"}, {"role": "user", "content": "Hi"}])
    assert foreign.headers["x-grus-ignored"] == "input.compaction"
