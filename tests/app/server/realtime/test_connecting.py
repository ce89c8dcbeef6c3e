"""Opening and closing realtime sessions: keys, origins, limits, clients that vanish."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus, NegotiationError
from websockets.sync.client import ClientConnection, connect

from tests.app.server.live import Live, scripted
from tests.app.server.realtime.caller import calling
from tests.app.server.scripted import until

KEY = {"Authorization": "Bearer first"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with scripted(
        tmp_path_factory.mktemp("guarded"),
        api_keys=("first", "second"),
        origins=("https://let.in",),
        max_body=64 * 1024,
        max_sessions=2,
        header_seconds=0.3,
        ping_seconds=0.4,
        send_seconds=1.0,
    ) as live:
        yield live


@pytest.fixture(autouse=True)
def nobody_is_left(guarded: Live) -> Iterator[None]:
    yield
    guarded.engine.reply, guarded.engine.pause = "Hello there.", 0.0
    until(lambda: open_now(guarded) == 0)
    until(lambda: not guarded.engine.running)


def open_now(live: Live) -> int:
    page = httpx.get(f"{live.url}/metrics", headers=KEY).text
    return int(float(page.split("\ngrus_realtime_sessions ")[1].split()[0]))


def opened(live: Live, path: str = "/v1/realtime", headers: Any = KEY, **how: Any) -> ClientConnection:
    return connect(f"ws://127.0.0.1:{live.port}{path}", additional_headers=headers, compression=None, **how)


def refused(live: Live, *where: Any, **how: Any) -> tuple[int, Any]:
    with pytest.raises(InvalidStatus) as caught:
        opened(live, *where, **how)
    response = caught.value.response
    assert response.body is not None
    return response.status_code, json.loads(response.body)["error"]


def received(connection: ClientConnection) -> Any:
    return json.loads(connection.recv(timeout=10))


def closed(connection: ClientConnection, seconds: float = 10) -> int:
    """The code that it ends with, whatever came before."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            connection.recv(timeout=seconds)
        except ConnectionClosed as end:
            return int(end.rcvd.code) if end.rcvd is not None else 1006
    raise AssertionError("it was not closed in time")


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer third"}, {"Authorization": "Basic first"}])
def test_a_wrong_key(guarded: Live, headers: dict[str, str]) -> None:
    status, error = refused(guarded, headers=headers)
    assert (status, error["code"]) == (401, "invalid_api_key")


@pytest.mark.parametrize("headers", [KEY, {"x-api-key": "second"}])
def test_a_right_key(guarded: Live, headers: dict[str, str]) -> None:
    with opened(guarded, headers=headers) as connection:
        assert received(connection)["type"] == "session.created"
        assert connection.response is not None
        assert connection.response.headers["x-request-id"]


def test_a_page_names_its_key_as_a_subprotocol(guarded: Live) -> None:
    """A script cannot set headers."""
    protocols = ["realtime", "openai-insecure-api-key.second"]
    with opened(guarded, headers={"Origin": "https://let.in"}, subprotocols=protocols) as connection:
        assert connection.subprotocol == "realtime"
        assert received(connection)["type"] == "session.created"
    with pytest.raises((InvalidStatus, NegotiationError)):
        opened(guarded, headers={}, subprotocols=["realtime", "openai-insecure-api-key.third"])


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://let.in", "https://let.in.evil.example"])
def test_a_page_that_was_not_let_in(guarded: Live, origin: str) -> None:
    """Browsers open websockets from any page: the key alone must not do, where a page has it or none is needed."""
    status, error = refused(guarded, headers={**KEY, "Origin": origin})
    assert (status, error["code"]) == (403, "origin_not_allowed")


def test_a_name_that_was_pointed_here(guarded: Live) -> None:
    with socket.create_connection(("127.0.0.1", guarded.port)) as raw:
        head = "GET /v1/realtime HTTP/1.1\r\nHost: evil.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        secret = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        raw.sendall(f"{head}{secret}Authorization: Bearer first\r\n\r\n".encode())
        assert raw.recv(100).startswith(b"HTTP/1.1 403 ")


def test_no_more_sessions_than_may_be(guarded: Live) -> None:
    with opened(guarded) as one, opened(guarded) as other:
        assert received(one)["type"] == received(other)["type"] == "session.created"
        status, error = refused(guarded)
        assert (status, error["code"]) == (429, "too_many_sessions")
        assert "--max-sessions" in error["message"]
        assert open_now(guarded) == 2
        one.close()
        until(lambda: open_now(guarded) == 1, 30)  # the first model of a session is loaded
        with opened(guarded) as third:
            assert received(third)["type"] == "session.created"


@pytest.mark.parametrize(("query", "code"), [
    ("?model=nobody", "model_not_found"), ("?intent=transcription", "missing_capability"),
    ("?model=tiny&call_id=1", "unsupported_parameter"),
])  # fmt: skip
def test_what_cannot_be_opened_is_said_and_closed(guarded: Live, query: str, code: str) -> None:
    """As an event: a page never sees the status of a websocket that was refused."""
    with opened(guarded, f"/v1/realtime{query}") as connection:
        error = received(connection)
        assert (error["type"], error["error"]["code"]) == ("error", code)
        assert closed(connection) == 1008


def test_other_paths_and_plain_requests(guarded: Live) -> None:
    assert refused(guarded, "/realtime")[0] == 404
    assert refused(guarded, "/v1/chat/completions")[0] == 404
    plain = httpx.get(f"{guarded.url}/v1/realtime", headers=KEY)
    assert (plain.status_code, plain.headers["upgrade"]) == (426, "websocket")
    assert "client.realtime.connect" in plain.json()["error"]["message"]


@pytest.mark.parametrize("head", [
    "POST /v1/realtime HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: x\r\nSec-WebSocket-Version: 99\r\n\r\n",
    "GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    + "".join(f"X-{n}: 1\r\n" for n in range(200)) + "\r\n",
], ids=["post", "no-key", "version", "headers"])  # fmt: skip
def test_half_a_handshake(guarded: Live, head: str) -> None:
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=5) as raw:
        raw.sendall(head.encode())
        assert raw.recv(1000).startswith(b"HTTP/1.1 4")
    assert httpx.get(f"{guarded.url}/health").status_code == 200


def test_a_message_that_is_too_large(guarded: Live) -> None:
    with opened(guarded) as connection:
        received(connection)
        connection.send(json.dumps({"type": "input_audio_buffer.append", "audio": "A" * 70_000}))
        assert closed(connection) == 1009


def test_a_session_outlives_the_time_that_a_request_has_to_arrive(guarded: Live) -> None:
    """And is asked for signs of life, which every client gives by itself."""
    with opened(guarded) as connection:
        received(connection)
        time.sleep(1.0)
        connection.send('{"type": "response.cancel"}')
        assert received(connection)["error"]["code"] == "response_cancel_not_active"


def test_a_client_that_gives_no_sign_of_life_is_gone(guarded: Live) -> None:
    with raw_session(guarded) as raw:
        until(lambda: open_now(guarded) == 1, 30)  # the first model of a session is loaded
        until(lambda: open_now(guarded) == 0)
        rest = b""
        while data := raw.recv(10_000):
            rest += data
        assert b"\x03\xf3" in rest  # 1011


def test_a_client_that_takes_nothing_is_gone(guarded: Live) -> None:
    """Its reply ends, and so does all that was made for it."""
    guarded.engine.reply, guarded.engine.pause = "word " * 600, 0.0
    with raw_session(guarded, receive=4096) as raw:
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}
        raw.sendall(frame({"type": "session.update", "session": {"type": "realtime", "output_modalities": ["text"]}}))
        raw.sendall(frame({"type": "conversation.item.create", "item": item}))
        stop = threading.Event()
        asking = threading.Thread(target=ask_on, args=(raw, stop))
        asking.start()
        until(lambda: open_now(guarded) == 1, 30)  # the first model of a session is loaded
        until(lambda: open_now(guarded) == 0, 15)
        stop.set()
        asking.join(10)


def ask_on(raw: socket.socket, stop: threading.Event) -> None:
    """Questions without end, whose answers nobody takes."""
    try:
        while not stop.is_set():
            raw.sendall(frame({"type": "response.create"}))
            time.sleep(0.01)
    except OSError:
        return


def raw_session(live: Live, receive: int = 65536) -> socket.socket:
    """A session without a client that answers anything by itself."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    raw.settimeout(15)
    raw.connect(("127.0.0.1", live.port))
    head = "GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    secret = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    raw.sendall(f"{head}{secret}Authorization: Bearer first\r\n\r\n".encode())
    return raw


def frame(event: dict[str, Any]) -> bytes:
    """A masked text frame; the mask is zero."""
    data = json.dumps(event).encode()
    length = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0xFE]) + len(data).to_bytes(2, "big")
    return b"\x81" + length + bytes(4) + data


def test_a_client_that_hangs_up_frees_everything(guarded: Live) -> None:
    guarded.engine.reply, guarded.engine.pause = "word " * 500, 0.01
    connection = opened(guarded)
    received(connection)
    for event in (
        {"type": "session.update", "session": {"type": "realtime", "output_modalities": ["text"]}},
        {"type": "response.create", "response": {"instructions": "Talk."}},
    ):
        connection.send(json.dumps(event))
    until(lambda: guarded.engine.running == 1)
    connection.socket.shutdown(socket.SHUT_RDWR)
    until(lambda: not guarded.engine.running)


def test_a_server_that_stops_says_so(tmp_path: Path) -> None:
    """When its grace is over."""
    with scripted(tmp_path, grace_seconds=1.0) as live:
        with calling(live) as caller:
            caller.update(output_modalities=["text"])
            live.engine.reply, live.engine.pause = "word " * 500, 0.01
            caller.say("Hi")
            caller.send("response.create")
            caller.until("response.output_text.delta")
            stopping = threading.Thread(target=live.stop)
            stopping.start()
            assert closed(caller.connection._connection) == 1012
            stopping.join(10)
        until(lambda: not live.engine.running)


def test_a_server_that_stops_lets_a_conversation_finish_its_answer(tmp_path: Path) -> None:
    with scripted(tmp_path, grace_seconds=20.0) as live, calling(live) as busy, calling(live) as idle:
        busy.update(output_modalities=["text"])
        live.engine.reply, live.engine.pause = "word " * 40, 0.02
        busy.say("Hi")
        busy.send("response.create")
        busy.until("response.output_text.delta")
        began = time.monotonic()
        live.stop()
        assert closed(idle.connection._connection) == 1012  # who is told nothing has nothing to wait for
        done = busy.until("response.done")[-1]["response"]
        assert (done["status"], done["output"][0]["content"][0]["text"].split()) == ("completed", ["word"] * 40)
        assert closed(busy.connection._connection) == 1012
        assert time.monotonic() - began < 15.0
