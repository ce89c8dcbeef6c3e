"""What the server sends is valid by the types of OpenAI's and Anthropic's own packages, which their clients do not check."""

from __future__ import annotations

import json
from typing import Any

import anthropic.types
import httpx
import openai.types
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from tests.app.server.live import Live

FUNCTION = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
TOOL = {"type": "function", **FUNCTION}
REPLY = '<think>\nhm\n</think>\n\nLook: <tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'
MESSAGES = [{"role": "user", "content": "Hi"}]

BODIES: dict[str, tuple[str, dict[str, Any], Any, Any]] = {
    "chat": ("/v1/chat/completions", {"messages": MESSAGES, "tools": [{"type": "function", "function": FUNCTION}],
             "stream_options": {"include_usage": True}}, ChatCompletion, ChatCompletionChunk),
    "chat logprobs": ("/v1/chat/completions", {"messages": MESSAGES, "logprobs": True, "top_logprobs": 2}, ChatCompletion, ChatCompletionChunk),
    "completions": ("/v1/completions", {"prompt": "Hi", "logprobs": 2}, openai.types.Completion, openai.types.Completion),
    "responses": ("/v1/responses", {"input": "Hi", "tools": [TOOL], "include": ["message.output_text.logprobs"]}, Response, ResponseStreamEvent),
    "messages": ("/v1/messages", {"messages": MESSAGES, "max_tokens": 100, "thinking": {"type": "enabled", "budget_tokens": 1024},
                 "tools": [{"name": "weather", "input_schema": FUNCTION["parameters"]}]}, anthropic.types.Message, anthropic.types.RawMessageStreamEvent),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_replies_and_events_are_valid(live: Live, name: str) -> None:
    live.engine.reply = REPLY
    path, body, whole, part = BODIES[name]
    with httpx.Client(base_url=live.url, timeout=30) as http:
        reply = http.post(path, json={"model": "tiny", **body})
        assert reply.status_code == 200, reply.text
        TypeAdapter(whole).validate_python(reply.json())
        streamed = http.post(path, json={"model": "tiny", "stream": True, **body}).text
    lines = [line.removeprefix("data:").strip() for line in streamed.splitlines() if line.startswith("data:")]
    events = [json.loads(line) for line in lines if line != "[DONE]"]
    assert len(events) > 3
    for event in events:
        if event.get("type") == "ping":  # Anthropic's server sends it too, and its package has no type for it
            continue
        if (
            name == "completions"
        ):  # the package's type has no null, which OpenAI's server sends in all chunks but the last
            event["choices"] = [{**c, "finish_reason": c["finish_reason"] or "stop"} for c in event["choices"]]
        TypeAdapter(part).validate_python(event)
