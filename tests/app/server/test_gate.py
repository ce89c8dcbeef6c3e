"""The gate: hosts, origins, keys, body sizes and slow clients."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.server.body import parse
from app.server.config import ServerSettings
from app.server.errors import ApiError
from engine.errors import BadRequest
from tests.app.server.live import Live, scripted
from tests.asserting import every

BODY = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with scripted(
        tmp_path_factory.mktemp("guarded"),
        api_keys=("first", "second"),
        origins=("https://let.in",),
        allowed_hosts=("my.machine",),
        max_body=4096,
        max_prompt=1000,
        body_seconds=0.3,
        header_seconds=0.5,
    ) as live:
        yield live


def post(live: Live, headers: dict[str, str] | None = None, **more: object) -> httpx.Response:
    known = {"authorization": "Bearer first", **(headers or {})}
    return httpx.post(f"{live.url}/v1/chat/completions", headers=known, **({"json": BODY} | more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": "Bearer first"}, 200),
        ({"authorization": "bearer second"}, 200),
        ({"x-api-key": "second", "authorization": ""}, 200),
        ({"x-api-key": "second", "authorization": "Bearer third"}, 200),
        ({"x-api-key": "third", "authorization": "Bearer first"}, 200),
        ({"x-api-key": "third", "authorization": "Bearer third"}, 401),
        ({"authorization": "Bearer third"}, 401),
        ({"authorization": "Bearer"}, 401),
        ({"authorization": "Basic first"}, 401),
        ({"authorization": ""}, 401),
    ],
)
def test_keys(guarded: Live, headers: dict[str, str], status: int) -> None:
    assert post(guarded, headers).status_code == status


def test_only_health_is_open_without_a_key(guarded: Live) -> None:
    assert httpx.get(f"{guarded.url}/health").status_code == 200
    for path in ("/v1/models", "/metrics", "/docs", "/openapi.json", "/v1/stats", "/nothing"):
        assert httpx.get(guarded.url + path).status_code == 401


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:1", 200),
        ("localhost", 200),
        ("[::1]:80", 200),
        ("192.168.1.7:8080", 200),
        ("my.machine:8080", 200),
        ("evil.example", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("127.0.0.1@evil.example", 403),
        ("[::1", 403),
        ("", 403),
    ],
)
def test_a_name_that_was_pointed_here_is_refused(guarded: Live, host: str, status: int) -> None:
    reply = post(guarded, {"host": host})
    assert reply.status_code == status
    assert status == 200 or reply.json()["error"]["code"] == "host_not_allowed"


@pytest.mark.parametrize(
    ("origin", "status"),
    [("https://let.in", 200), ("https://evil.example", 403), ("null", 403), ("http://let.in", 403), ("file://", 403)],
)
def test_pages_call_only_when_let_in(guarded: Live, origin: str, status: int) -> None:
    reply = post(guarded, {"origin": origin})
    assert reply.status_code == status
    assert reply.headers.get("access-control-allow-origin") == (origin if status == 200 else None)


def test_every_page_of_this_machine_may_be_let_in(tmp_path: Path) -> None:
    with scripted(tmp_path, origins=("localhost",)) as live:
        for origin in ("http://localhost", "https://localhost:3000", "http://127.0.0.1:8080", "http://[::1]:3000"):
            assert post(live, {"origin": origin}).headers["access-control-allow-origin"] == origin
        for origin in ("http://localhost.evil.com", "http://evil.com", "file://localhost", "http://localhost@evil.com"):
            assert post(live, {"origin": origin}).status_code == 403


def test_a_page_of_this_server_may_call_it(guarded: Live) -> None:
    assert post(guarded, {"origin": guarded.url}).status_code == 200


def test_a_page_may_ask_before_it_calls(guarded: Live) -> None:
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    url = f"{guarded.url}/v1/chat/completions"
    reply = httpx.options(url, headers={"origin": "https://let.in", **asked})
    assert reply.status_code == 204
    assert reply.headers["access-control-allow-headers"] == "content-type"
    assert httpx.options(url, headers={"origin": "https://evil.example", **asked}).status_code == 403


def test_bodies_that_are_too_large(guarded: Live) -> None:
    large = b'{"messages": "' + b"x" * 5000 + b'"}'
    assert post(guarded, json=None, content=large).status_code == 413
    assert post(guarded, json=None, content=iter([large])).status_code == 413  # chunked: no length is told
    assert post(guarded, json=None, content=iter([large[:2000], large[2000:]])).status_code == 413


def test_a_prompt_that_is_too_large(guarded: Live) -> None:
    reply = post(guarded, json=BODY | {"messages": [{"role": "user", "content": "x" * 1001}]})
    assert reply.status_code == 400
    assert "1001 characters" in reply.json()["error"]["message"]


def test_compressed_bodies_are_not_opened(guarded: Live) -> None:
    packed = gzip.compress(json.dumps(BODY).encode())
    assert post(guarded, {"content-encoding": "gzip"}, json=None, content=packed).status_code == 415


def test_half_a_body_is_not_waited_for(guarded: Live) -> None:
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=5) as connection:
        head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer first\r\n"
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 408 ")
    assert httpx.get(f"{guarded.url}/health").status_code == 200


def test_half_a_head_is_not_waited_for(guarded: Live) -> None:
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=5) as connection:
        connection.sendall(b"POST /v1/chat/comp")
        began = time.monotonic()
        assert connection.recv(1000) == b""
        assert time.monotonic() - began < 3


@pytest.mark.parametrize("garbage", [b"\x00\xff" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"A" * 100_000])
def test_what_is_not_http_leaves_the_server_healthy(guarded: Live, garbage: bytes) -> None:
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=5) as connection:
        connection.sendall(garbage)
        answer = connection.recv(1000)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    assert httpx.get(f"{guarded.url}/health").status_code == 200


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"3",
        b'"x"',
        b"\xff\xfe",
        b'{"messages": NaN}',
        b'{"temperature": 1e999}',
        b'{"seed": ' + b"9" * 100 + b"}",
        b'{"messages": [{"role": "user", "content": "\\ud800"}]}',
        b'{"messages": ' + b"[" * 1500 + b"]" * 1500 + b"}",
        b"[" * 4000,
        b'{"messages": [{"role": "nobody", "content": "x"}]}',
        b'{"messages": [{"content": "x"}]}',
        b'{"messages": []}',
        b'{"messages": "x"}',
    ],
)
def test_bodies_that_are_no_request(guarded: Live, raw: bytes) -> None:
    reply = post(guarded, {"content-type": "application/json"}, json=None, content=raw)
    assert reply.status_code == 400
    assert reply.json()["error"]["message"]
    assert httpx.get(f"{guarded.url}/health").status_code == 200


def test_json_that_is_not_declared_as_such(guarded: Live) -> None:
    """As `curl -d` and clients in a hurry send it. Pages of other sites, which could do the same, are stopped by their origin."""
    content = json.dumps(BODY).encode()
    for header in ({"content-type": "text/plain"}, {"content-type": "application/x-www-form-urlencoded"}, {}):
        assert post(guarded, header, json=None, content=content).status_code == 200
    page = {"content-type": "text/plain", "origin": "https://page.example"}
    assert post(guarded, page, json=None, content=content).status_code == 403


def test_what_parse_lets_through() -> None:
    assert parse(b'{"a": [1, 2.5, "\\ud83d\\ude00"]}') == {"a": [1, 2.5, "😀"]}


def test_routes_and_methods_that_are_not_there(guarded: Live) -> None:
    headers = {"authorization": "Bearer first"}
    assert httpx.get(f"{guarded.url}/nothing", headers=headers).json()["error"]["type"] == "not_found_error"
    assert httpx.get(f"{guarded.url}/v1/chat/completions", headers=headers).status_code == 405
    assert httpx.get(f"{guarded.url}/api/nothing", headers=headers).json() == {"error": "Not Found"}


def test_other_machines_need_a_key() -> None:
    with pytest.raises(BadRequest, match="--api-key"):
        ServerSettings(host="0.0.0.0")
    ServerSettings(host="0.0.0.0", api_keys=("k",))
    ServerSettings(host="0.0.0.0", open_without_key=True)
    ServerSettings(host="::1")


def test_the_docs_page_needs_nothing_from_elsewhere(guarded: Live) -> None:
    page = httpx.get(f"{guarded.url}/docs", headers={"authorization": "Bearer first"})
    assert "/v1/chat/completions" in page.text
    assert "http" not in page.text.replace("http requests", "").lower().split("<style>")[0]
    assert "src=" not in page.text


def test_a_base_url_without_the_version(guarded: Live) -> None:
    headers = {"authorization": "Bearer first"}
    for path in ("/chat/completions", "/models", "/responses", "/embeddings"):
        found, versioned = (httpx.get(f"{guarded.url}{start}{path}", headers=headers) for start in ("", "/v1"))
        assert (found.status_code, found.text) == (versioned.status_code, versioned.text)
        assert found.status_code in (200, 405)
    assert httpx.post(f"{guarded.url}/chat/completions", headers=headers, json=BODY).status_code == 200
    assert httpx.get(f"{guarded.url}/nothing", headers=headers).status_code == 404


def test_a_body_has_so_many_objects_and_not_millions() -> None:
    with pytest.raises(ApiError, match="more than 200000 texts, lists and objects"):
        parse(b'{"junk": [' + b",".join([b"[]"] * 200_000) + b"]}")
    assert len(parse(b"[" + b",".join([b'"a"'] * 199_999) + b"]")) == 199_999
    code = '[{\\"' * 200_000  # brackets and quotes of a text
    assert parse(f'{{"a": "{code}"}}'.encode())["a"] == '[{"' * 200_000


def test_the_description_of_the_routes_is_made_beside_the_event_loop(
    guarded: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []

    def made(_: object) -> dict[str, object]:
        threads.append(threading.current_thread().name)
        return {"openapi": "3.1.0"}

    monkeypatch.setattr("fastapi.FastAPI.openapi", made)
    reply = httpx.get(f"{guarded.url}/openapi.json", headers={"authorization": "Bearer first"})
    assert reply.json()["openapi"] == "3.1.0"
    assert every(name.startswith("asyncio_") for name in threads)
