"""The models made by hand do what the tests with real clients rely on."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.clients.conftest import GrusServer
from tests.clients.models import WEATHER
from tests.clients.tool_calling_model import ANSWER, THOUGHTS

USER = [{"role": "user", "content": "What is the weather in Paris?"}]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}}}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}


def ask(grus: GrusServer, model: str, messages: list[dict[str, Any]] = USER, **more: Any) -> dict[str, Any]:
    body = {"model": model, "messages": messages, **more}
    reply = httpx.post(f"{grus.url}/v1/chat/completions", json=body, timeout=60)
    assert reply.status_code == 200, reply.text
    message: dict[str, Any] = reply.json()["choices"][0]["message"]
    return message


@pytest.mark.parametrize("model", ["weather", "thinks"])
def test_it_calls_the_tool_once_and_then_answers(grus: GrusServer, model: str) -> None:
    assert ask(grus, model)["content"] == ANSWER
    called = ask(grus, model, tools=[TOOL])
    (call,) = called["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("get_weather", {"city": "Paris"})
    messages = [*USER, called, {"role": "tool", "tool_call_id": call["id"], "content": "Sunny"}]
    answered = ask(grus, model, messages, tools=[TOOL])
    assert (answered["content"], answered.get("tool_calls")) == (ANSWER, None)
    assert answered.get("reasoning_content") == (THOUGHTS if model == "thinks" else None)


def test_it_writes_the_object_that_a_schema_asks_for(grus: GrusServer) -> None:
    schema = {**SCHEMA, "required": ["city", "degrees"], "additionalProperties": False}
    wanted = {"type": "json_schema", "json_schema": {"name": "weather", "schema": schema, "strict": True}}
    assert json.loads(ask(grus, "weather", response_format=wanted)["content"]) == WEATHER


def test_after_a_tool_it_writes_the_object_where_the_schema_allows_calls_too(grus: GrusServer) -> None:
    schema = {**SCHEMA, "required": ["city", "degrees"], "additionalProperties": False}
    wanted = {"type": "json_schema", "json_schema": {"name": "weather", "schema": schema, "strict": True}}
    called = ask(grus, "weather", tools=[TOOL], response_format=wanted)
    (call,) = called["tool_calls"]
    messages = [*USER, called, {"role": "tool", "tool_call_id": call["id"], "content": "Sunny"}]
    answered = ask(grus, "weather", messages, tools=[TOOL], response_format=wanted)
    assert (json.loads(answered["content"]), answered.get("tool_calls")) == (WEATHER, None)


def test_an_object_that_it_does_not_know_still_ends(grus: GrusServer) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "number"}}},
    }
    schema |= {"required": ["a", "b"], "additionalProperties": False}
    wanted = {"type": "json_schema", "json_schema": {"name": "other", "schema": schema, "strict": True}}
    assert json.loads(ask(grus, "weather", response_format=wanted, max_tokens=100)["content"]) == {"a": "", "b": []}
