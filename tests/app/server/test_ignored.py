"""Fields that have no effect: ignored and reported in a header and in the log, or refused under --strict."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.server.ignored import IgnoredFields, as_header
from tests.app.server.live import Live, scripted

USER = [{"role": "user", "content": "Hi"}]


def chat(live: Live, **more: Any) -> httpx.Response:
    agent = {"user-agent": "Editor/1.2 (linux)"}
    return httpx.post(f"{live.url}/v1/chat/completions", json={"messages": USER, **more}, headers=agent)


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with scripted(tmp_path_factory.mktemp("strict"), strict=True) as live:
        yield live


@pytest.mark.parametrize(
    ("more", "reported"),
    [
        ({}, None),
        ({"invented_in_2027": {"deep": [1]}, "verbosity": "low"}, "invented_in_2027, verbosity"),
        ({"user": "me", "metadata": {"a": "b"}, "service_tier": "flex"}, "user, metadata, service_tier"),
        ({"reasoning_effort": "colossal"}, "reasoning_effort"),
        ({"store": True}, "store"),
        ({"store": False, "temperature": None, "tools": None, "invented": None}, None),
        ({"messages": [{**USER[0], "cache_control": {"type": "ephemeral"}}]}, "messages.cache_control"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {}}] * 2}]},
            "messages.content.cache_control",
        ),
        ({"chat_template_kwargs": {"invented": 1}}, "chat_template_kwargs.invented"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_field_without_effect_is_reported(
    live: Live, more: dict[str, Any], reported: str | None, stream: bool
) -> None:
    reply = chat(live, stream=stream, **more)
    assert reply.status_code == 200
    assert "Hello there." in reply.text or stream
    assert reply.headers.get("x-grus-ignored") == reported


def test_the_rule_holds_for_every_protocol(live: Live) -> None:
    for path, body in {
        "/v1/completions": {"prompt": "a"},
        "/v1/responses": {"input": "a"},
        "/v1/messages": {"model": "tiny", "messages": USER, "max_tokens": 5},
        "/api/chat": {"model": "tiny", "messages": USER},
        "/api/generate": {"model": "tiny", "prompt": "a", "options": {"invented": 1}},
        "/generate": {"text": "a"},
    }.items():
        reply = httpx.post(live.url + path, json={**body, "invented": 1, "also": None})
        assert reply.status_code == 200, path
        assert "invented" in reply.headers["x-grus-ignored"].split(", "), path


def test_errors_report_it_too(live: Live) -> None:
    reply = chat(live, temperature=9, invented=1)
    assert reply.status_code == 400
    assert reply.headers["x-grus-ignored"] == "invented"


def test_a_client_and_a_field_are_logged_once(live: Live, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "grus.server"):
        for _ in range(3):
            chat(live, only_here=1)
        chat(live, only_here=1, and_here=2)
    lines = [record.getMessage() for record in caplog.records if "no effect" in record.getMessage()]
    assert lines == [
        "Editor/1.2 sends fields that have no effect here: only_here",
        "Editor/1.2 sends fields that have no effect here: and_here",
    ]


def test_a_strict_server_refuses_them(strict: Live) -> None:
    for more, named in (
        ({"invented": 1}, "invented"),
        ({"reasoning_effort": "colossal"}, "reasoning_effort"),
        ({"user": "me"}, "user"),
    ):
        reply = chat(strict, **more)
        assert reply.status_code == 400
        assert reply.json()["error"]["param"] == named
    assert chat(strict, invented=None, user=None, store=False).status_code == 200
    kwargs = chat(strict, chat_template_kwargs={"invented": 1})
    assert kwargs.json()["error"]["param"] == "chat_template_kwargs.invented"


def test_names_cannot_break_the_header(live: Live) -> None:
    reply = chat(live, **{"a\r\nset-cookie: b": 1, "ü" * 500: 1, "": 1})
    assert reply.status_code == 200
    assert reply.headers["x-grus-ignored"] == f"a??set-cookie??b, {'?' * 100}, ?"
    many = as_header([f"n{i}" for i in range(5000)])
    assert len(many) < 5000
    assert many.endswith(b", ...")


def test_paths_leave_out_indices_and_equal_objects() -> None:
    body = json.loads('{"a": [{"b": 1, "c": 2}, {"b": 1}], "b": 3}')
    fields = IgnoredFields(body)
    for inner in body["a"]:
        fields.add_key(inner, "b")
    fields.add("first")
    assert fields.names() == ["first", "a.b"]
    assert fields.names() == ["first", "a.b"]


def test_the_command_has_the_option(tmp_path: Path) -> None:
    from app.server.config import gather, server_settings

    assert not server_settings(gather({}, {}, None)).strict
    assert server_settings(gather({"strict": True}, {}, None)).strict
    assert server_settings(gather({}, {"GRUS_STRICT": "1"}, None)).strict
