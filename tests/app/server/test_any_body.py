"""Property test of request bodies: whatever JSON is sent to any route, it is answered or refused with a typed error.

Fields that are unknown, null or of another type than declared are what clients of other versions send. None causes a fault,
and no name of one breaks the header that reports it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.app.server.live import Live, scripted

MESSAGES = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
]
TOOL = {
    "name": "look",
    "description": "Looks.",
    "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
}
# path -> a body that is right
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "messages": [*MESSAGES, {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "far"}],
        "tools": [{"type": "function", "function": TOOL}], "stream_options": {"include_usage": True}, "stream": True,
        "response_format": {"type": "text"}, "logit_bias": {"5": 1},
    },
    "/v1/completions": {"prompt": ["Hi"], "max_tokens": 2, "stream": False, "logprobs": 1},
    "/v1/responses": {
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
                  {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
                  {"type": "function_call_output", "call_id": "c", "output": "far"}],
        "tools": [{"type": "function", **TOOL}], "reasoning": {"effort": "low"}, "text": {"format": {"type": "text"}},
        "include": [], "store": False,
    },
    "/v1/messages": {
        "model": "tiny", "max_tokens": 3, "system": [{"type": "text", "text": "Be short."}], "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "far"}]}],
        "tools": [{"name": "look", "input_schema": {"type": "object"}}],
    },
    "/v1/messages/count_tokens": {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}], "tools": []},
    "/v1/tokenize": {"prompt": "Hi", "return_token_strs": True},
    "/v1/detokenize": {"tokens": [5, 6]},
    "/v1/embeddings": {"input": ["Hi", "there"], "encoding_format": "float"},
    "/generate": {"text": ["Hi"], "sampling_params": {"max_new_tokens": 2, "stop": ["x"]}, "return_logprob": True},
    "/abort_request": {"rid": "none"},
    "/api/chat": {
        "model": "tiny", "messages": [{"role": "user", "content": "Hi", "images": []}], "options": {"num_predict": 2},
        "tools": [{"type": "function", "function": TOOL}], "keep_alive": "5m", "stream": True,
    },
    "/api/generate": {"model": "tiny", "prompt": "Hi", "options": {"num_predict": 2, "stop": ["x"]}, "raw": False},
    "/api/embed": {"model": "tiny", "input": ["Hi"], "truncate": True, "options": {}},
    "/api/embeddings": {"model": "tiny", "prompt": "Hi"},
    "/api/show": {"model": "tiny"},
}  # fmt: skip
KEYS = st.text(max_size=6) | st.sampled_from(
    [
        "x",
        "a b",
        "line\nbreak: injected",
        "ключ",
        "k" * 300,
        "__class__",
        "é",
        ",",
        "model",
        "role",
        "type",
        "content",
        "\u0000",
    ]
)
SCALARS = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        -1,
        1,
        2**31,
        2**62,
        0.5,
        -1e300,
        "",
        "a",
        "auto",
        "none",
        "low",
        "\u0000",
        "<|im_end|>",
        "ß" * 50,
    ]
)
JUNK = st.recursive(
    SCALARS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
HEADER = re.compile(r"[\x20-\x7e]*")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with scripted(tmp_path_factory.mktemp("any")) as live:
        live.engine.reply = "ab"
        yield live


@pytest.fixture(scope="module")
def client(live: Live) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=live.url, timeout=20) as client:
        yield client


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of everything in a body, itself included."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*path, key))


def changed(body: Any, path: tuple[Any, ...], change: tuple[str, str, Any]) -> Any:
    """A copy in which one place is replaced, removed or given another field."""
    what, key, value = change
    if path:
        copy = dict(body) if isinstance(body, dict) else list(body)
        if len(path) == 1 and what == "remove":
            del copy[path[0]]
        else:
            copy[path[0]] = changed(body[path[0]], path[1:], change)
        return copy
    if what == "add" and isinstance(body, dict):
        return body | {key: value}
    if what == "add" and isinstance(body, list):
        return [*body, value]
    return value


@st.composite
def bodies(draw: st.DrawFn, body: dict[str, Any]) -> Any:
    found: Any = body
    for _ in range(draw(st.integers(1, 4))):
        where = list(places(found))
        change = draw(st.tuples(st.sampled_from(["add", "add", "replace", "remove"]), KEYS, JUNK))
        found = changed(found, draw(st.sampled_from(where)), change)
    return found


def check(path: str, reply: httpx.Response) -> None:
    assert reply.status_code < 500
    for name, value in reply.headers.items():
        assert HEADER.fullmatch(value), name
    if reply.status_code == 200:
        return
    error = reply.json()
    if path.startswith("/api/"):
        assert isinstance(error["error"], str)
    elif path.startswith("/v1/messages"):
        assert error["type"] == "error"
        assert {"type", "message"} <= set(error["error"])
    else:
        assert {"message", "type", "param", "code"} <= set(error["error"])
        assert error["error"]["message"]
        assert error["error"]["code"] != "internal_error"


def attack(client: httpx.Client, path: str, examples: int) -> set[int]:
    statuses = set()

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(body=bodies(BODIES[path]))
    def holds(body: Any) -> None:
        reply = client.post(path, content=json.dumps(body).encode())
        check(path, reply)
        statuses.add(reply.status_code)

    holds()
    return statuses


@pytest.mark.parametrize("path", BODIES)
def test_any_body_is_answered_or_refused(client: httpx.Client, path: str) -> None:
    assert client.post(path, json=BODIES[path]).status_code == 200
    assert {200, 400} <= attack(client, path, 60)


@pytest.mark.slow
@pytest.mark.parametrize("path", BODIES)
def test_any_body_is_answered_or_refused_for_long(client: httpx.Client, path: str) -> None:
    assert {200, 400} <= attack(client, path, 600)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b'"a"', b"\xff", b'{"a": NaN}', b"[" * 100_000, b"1e999", b'"\\ud800"', b'{"a":' * 60_000])  # fmt: skip
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/api/chat", "/generate", "/v1/tokenize"])
def test_what_is_no_body_is_refused(client: httpx.Client, path: str, raw: bytes) -> None:
    reply = client.post(path, content=raw)
    assert reply.status_code == 400
    check(path, reply)


@pytest.mark.parametrize("path", BODIES)
def test_a_long_body_is_checked_as_a_short_one_is(client: httpx.Client, path: str) -> None:
    """It is parsed and checked in another thread."""
    for change in (
        {},
        {"model": 5},
        {"invented": 1},
        {"n": "x"},
        {"messages": "x", "prompt": {}, "input": 5, "text": 5},
    ):
        body = BODIES[path] | change
        short = client.post(path, json=body)
        padding = b" " * 100_000
        long = client.post(path, content=padding + json.dumps(body).encode())
        assert long.status_code == short.status_code
        assert long.headers.get("x-grus-ignored") == short.headers.get("x-grus-ignored")
        if short.status_code != 200:
            ids = {"request_id": None}  # Anthropic's errors have one each
            assert long.json() | ids == short.json() | ids


def test_a_field_without_a_name_is_reported(client: httpx.Client) -> None:
    reply = client.post("/v1/completions", json={"prompt": "Hi", "": 1, "a\nb": 2})
    assert reply.status_code == 200
    assert reply.headers["x-grus-ignored"] == "?, a?b"
