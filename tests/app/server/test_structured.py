"""Structured output together with tools, over each protocol, and schemas that cannot be enforced whole."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from engine.grammar import GrammarCompiler
from tests.app.server.live import Live
from tests.asserting import every

USER = [{"role": "user", "content": "Hi"}]
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
UNIQUE = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "weather", "parameters": CITY}
FORMAT = {"type": "json_schema", "name": "x", "schema": SCHEMA, "strict": True}
CHAT_FORMAT = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA, "strict": True}}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'
JSON = '{"a": 1}'
# the same request in each protocol: both, a call or the JSON
REQUESTS: dict[str, Any] = {
    "/v1/chat/completions": {
        "messages": USER, "response_format": CHAT_FORMAT, "tools": [{"type": "function", "function": FUNCTION}],
    },
    "/v1/responses": {"input": "Hi", "text": {"format": FORMAT}, "tools": [{"type": "function", **FUNCTION, "strict": True}]},
    "/v1/messages": {
        "messages": USER, "max_tokens": 99, "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        "tools": [{"name": "weather", "input_schema": CITY}],
    },
    "/api/chat": {
        "messages": USER, "format": SCHEMA, "stream": False, "tools": [{"type": "function", "function": FUNCTION}],
    },
}  # fmt: skip


def post(live: Live, path: str = "/v1/chat/completions", **body: Any) -> httpx.Response:
    return httpx.post(live.url + path, json={"model": "tiny"} | body)


def follows(live: Live, text: str) -> bool:
    """Whether the last request's reply could be this text."""
    model, grammar = live.service.loaded["tiny"], live.engine.requests[-1].sampling.grammar
    constraint = GrammarCompiler(model.tokenizer, model.vocab, list(model.eos_ids)).constraint(grammar, None)
    for token in model.tokenizer.encode(text, add_special=False):
        if not constraint.masks([], 1000)[1][0][token]:  # type: ignore[index]
            return False
        constraint.accept([token], "")
    return bool(constraint.masks([], 1000)[1][0][model.eos_ids[0]])  # type: ignore[index]


@pytest.mark.parametrize("path", REQUESTS)
def test_a_reply_is_a_call_or_the_json_that_was_asked_for(live: Live, path: str) -> None:
    for said in (CALL, JSON):
        live.engine.reply = said
        reply = post(live, path, **REQUESTS[path])
        assert reply.status_code == 200, reply.text
        assert ("Kyiv" in reply.text) == (said == CALL)
        assert json.dumps(JSON)[1:-1] in reply.text or said == CALL
        assert follows(live, said)
    assert every(
        not follows(live, other) for other in ("Hello", f"Hm. {CALL}", '{"a": "b"}', CALL.replace("city", "town"))
    )


@pytest.mark.parametrize(
    ("choice", "call", "answer"),
    [
        ("auto", True, True),
        ("none", False, True),
        ("required", True, False),
        ({"type": "function", "function": {"name": "weather"}}, True, False),
        (None, True, True),
    ],
)
def test_every_choice_of_tools_goes_with_a_format(live: Live, choice: Any, call: bool, answer: bool) -> None:
    live.engine.reply = CALL if call else JSON
    assert post(live, **REQUESTS["/v1/chat/completions"], tool_choice=choice).status_code == 200
    assert follows(live, CALL) == call
    assert follows(live, JSON) == answer


@pytest.mark.parametrize(("strict", "status"), [(True, 400), (False, 200), (None, 200)])
def test_a_keyword_that_cannot_be_enforced_is_reported_or_refused(live: Live, strict: Any, status: int) -> None:
    for path, body, field in (
        ("/v1/chat/completions", {"messages": USER, "response_format": {
            "type": "json_schema", "json_schema": {"name": "x", "schema": UNIQUE, "strict": strict}}},
            "response_format.json_schema.schema.uniqueItems"),
        ("/v1/responses", {"input": "Hi", "text": {"format": {**FORMAT, "schema": UNIQUE, "strict": strict}}},
            "text.format.schema.uniqueItems"),
    ):  # fmt: skip
        reply = post(live, path, **body)
        assert reply.status_code == status
        if status == 400:
            assert reply.json()["error"]["param"] == field
            assert "uniqueItems" in reply.json()["error"]["message"]
        else:
            assert reply.headers["x-grus-ignored"] == field


def test_the_other_protocols_report_it(live: Live) -> None:
    for path, body, field in (
        ("/v1/messages", {"messages": USER, "max_tokens": 9, "output_config": {"format": {"type": "json_schema", "schema": UNIQUE}}},
            "output_config.format.schema.uniqueItems"),
        ("/api/chat", {"messages": USER, "format": UNIQUE, "stream": False}, "format.uniqueItems"),
        ("/v1/chat/completions", {"messages": USER, "response_format": {"type": "json_object", "schema": UNIQUE}},
            "response_format.schema.uniqueItems"),
        ("/v1/chat/completions", {"messages": USER, "tool_choice": "required", "tools": [
            {"type": "function", "function": {"name": "weather", "parameters": UNIQUE, "strict": True}}]},
            "tools.function.parameters.uniqueItems"),
    ):  # fmt: skip
        reply = post(live, path, **body)
        assert (reply.status_code, reply.headers["x-grus-ignored"]) == (200, field)


def test_sglang_reports_it(live: Live) -> None:
    body = {"text": "a", "sampling_params": {"json_schema": json.dumps(UNIQUE), "max_new_tokens": 5}}
    reply = httpx.post(f"{live.url}/generate", json=body)
    assert (reply.status_code, reply.headers["x-grus-ignored"]) == (200, "sampling_params.json_schema.uniqueItems")


def test_only_a_strict_schema_promises_an_end(live: Live) -> None:
    body = REQUESTS["/v1/chat/completions"]
    for strict in (True, False):
        form = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA, "strict": strict}}
        post(live, messages=USER, response_format=form)
        assert (live.engine.requests[-1].sampling.grammar.reserve is not None) == strict
    post(live, **body)
    assert live.engine.requests[-1].sampling.grammar.reserve is not None
