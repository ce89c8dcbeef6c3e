"""Requests of Ollama's clients as they were recorded, shortened: each is answered, and nothing in it is reported without need."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.app.server.live import Live

ASK = [{"role": "user", "content": "What is the weather in Kyiv?"}]
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "w", "parameters": PARAMETERS}}
NUMBER = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
ARGUMENTS = {"city": "Kyiv"}
OFF = dict.fromkeys(
    ["mirostat", "mirostat_eta", "mirostat_tau", "num_gpu", "num_thread", "repeat_last_n", "repeat_penalty", "temperature",
     "stop", "tfs_z", "top_k", "top_p"]
)  # fmt: skip

RECORDED: dict[str, tuple[str, dict[str, Any], str | None]] = {  # path, body, what is reported
    "ollama-python 0.6.3": ("/api/chat", {"stream": False, "messages": ASK, "tools": [TOOL], "think": False}, None),
    "ollama-python, a call's result": (
        "/api/chat",
        {
            "stream": False,
            "messages": [
                *ASK,
                {"role": "assistant", "tool_calls": [{"function": {"name": "get_weather", "arguments": ARGUMENTS}}]},
                {"role": "tool", "content": "Rain", "tool_name": "get_weather"},
            ],
            "tools": [TOOL],
        },
        None,
    ),
    "ollama-js 0.6.4": ("/api/chat", {"messages": ASK, "format": NUMBER, "stream": False}, None),
    "litellm 1.106 ollama/": (
        "/api/generate",
        {
            "prompt": "### User:\nHi\n\n",
            "options": {"temperature": 1.5, "stop": ["zzz"], "num_predict": 50, "frequency_penalty": 0.5, "seed": 3},
            "stream": True,
            "images": [],
        },
        None,
    ),
    "litellm 1.106 ollama_chat/": (
        "/api/chat",
        {
            "messages": [
                {**ASK[0], "images": []},
                {
                    "role": "assistant",
                    "content": "",
                    "images": [],
                    "tool_calls": [{"function": {"name": "get_weather", "arguments": ARGUMENTS}}],
                },
                {"role": "tool", "content": "Rain", "images": [], "tool_call_id": "call_1"},
            ],
            "options": {"repeat_penalty": 0.5},
            "stream": False,
            "tools": [TOOL],
        },
        None,
    ),
    "aider 0.86": (
        "/api/chat",
        {"messages": [{**ASK[0], "images": []}], "options": {"temperature": 0, "num_ctx": 9300}, "stream": True},
        None,
    ),
    "langchain-ollama 1.1": (
        "/api/chat",
        {
            "stream": True,
            "options": {"mirostat": 0, "mirostat_eta": 0.1, "num_ctx": 4096, "num_gpu": 1, "num_thread": 2, "tfs_z": 1},
            "keep_alive": "5m",
            "format": "json",
            "messages": ASK,
            "tools": [],
        },
        "options.mirostat_eta, options.num_gpu, options.num_thread",
    ),
    "langchain-ollama, completions": (
        "/api/generate",
        {"stream": True, "options": {}, "format": "", "prompt": "hi"},
        None,
    ),
    "langchain-ollama, vectors": ("/api/embed", {"input": ["a", "b"], "options": OFF | {"num_ctx": 100}}, None),
    "llama-index-llms-ollama 0.11": (
        "/api/chat",
        {"stream": False, "options": {"temperature": None, "num_ctx": 4096}, "messages": ASK, "tools": []},
        None,
    ),
    "llama-index-embeddings-ollama 0.10": ("/api/embed", {"input": ["a", "b"], "options": {"mirostat": 0}}, None),
    "ollama-ai-provider-v2": (
        "/api/chat",
        {
            "messages": [
                *ASK,
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": ARGUMENTS}}
                    ],
                },
                {"role": "tool", "tool_call_id": "1", "content": "Rain"},
            ],
            "think": False,
            "tools": [TOOL],
            "tool_choice": "auto",
            "max_output_tokens": 300,
            "stream": False,
        },
        "max_output_tokens",
    ),
}


@pytest.mark.parametrize("client", RECORDED)
def test_a_recorded_request_is_answered(live: Live, client: str) -> None:
    path, body, reported = RECORDED[client]
    reply = httpx.post(live.url + path, json={"model": "tiny", **body}, timeout=10)
    assert reply.status_code == 200, reply.text
    assert reply.headers.get("x-grus-ignored") == reported
    last = json.loads(reply.text.splitlines()[-1])
    assert len(last["embeddings"]) == 2 if path == "/api/embed" else last["done_reason"] == "stop"
