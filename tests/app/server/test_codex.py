"""What Codex 0.169.0 sends, with its texts cut short: a turn with a call, its result, the next turn, and a prompt that is too long."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loading import LoadOptions, load
from engine.types import Settings
from tests.app.server.live import Live, serving
from tests.checkpoints import save

HEADERS = {
    "accept": "text/event-stream",
    "originator": "codex_exec",
    "user-agent": "codex_exec/0.169.0 (Debian 12.0.0; x86_64) xterm (codex_exec; 0.169.0)",
    "session-id": "01a20652-0b2f-7c11-b181-acf0fefd008d",
    "x-codex-beta-features": "remote_compaction_v2",
}
EXEC = {
    "type": "function",
    "name": "exec_command",
    "description": "Runs a command in a PTY.",
    "strict": False,
    "parameters": {
        "type": "object",
        "properties": {
            "cmd": {"type": "string", "description": "Shell command to execute."},
            "tty": {"type": "boolean"},
        },
        "required": ["cmd"],
        "additionalProperties": False,
    },
}
TOOLS = [
    EXEC,
    {"type": "namespace", "name": "multi_agent_v1", "description": "Tools for sub-agents.", "tools": [{**EXEC, "name": "wait_agent"}]},
    {"type": "web_search", "external_web_access": False},
]  # fmt: skip
APPLY_PATCH = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Use the `apply_patch` tool to edit files. This is a FREEFORM tool, so do not wrap the patch in JSON.",
    "format": {
        "type": "grammar",
        "syntax": "lark",
        "definition": 'start: "*** Begin Patch" LF "*** Add File: " /[a-z]{1,8}/ LF line line? "*** End Patch"\n'
        'line: "+" /[^\\n]{0,20}/ LF -> line\n%import common.LF\n',
    },
}


def message(role: str, text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "id": "msg_01a20652-0d94-7130-8290-3e8bc3af9ecc", "role": role, "content": content}


BEGIN = [
    message("developer", "You are a coding agent running in the Codex CLI."),
    message("developer", "<skills_instructions>\n## Skills\n</skills_instructions>"),
    message("user", "<environment_context>\n  <cwd>/work</cwd>\n</environment_context>"),
    message("user", "Write a note"),
]
BODY: dict[str, Any] = {
    "stream": True,
    "tools": TOOLS,
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "reasoning": {"summary": "auto"},
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "01a20652-0b2f-7c11-b181-acf0fefd008d",
    "client_metadata": {"x-codex-window-id": "01a20652-0b2f-7c11-b181-acf0fefd008d:0"},
}
IGNORED = {"include.reasoning.encrypted_content", "tools.namespace", "tools.web_search", "client_metadata"}


def send(live: Live, items: list[dict[str, Any]], model: str = "tiny", **more: Any) -> list[dict[str, Any]]:
    body = {**BODY, "model": model, "input": items, **more}
    reply = httpx.post(f"{live.url}/v1/responses", json=body, headers=HEADERS, timeout=60)
    assert reply.status_code == 200, reply.text
    assert set(reply.headers["x-grus-ignored"].split(", ")) == IGNORED
    return [json.loads(data) for data in re.findall(r"data: (.*)\n\n", reply.text)]


def done(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items that Codex keeps: it reads them from these events alone."""
    assert events[0]["type"] == "response.created"
    assert events[-1]["type"] == "response.completed"
    assert {"input_tokens", "output_tokens", "total_tokens"} <= events[-1]["response"]["usage"].keys()
    return [event["item"] for event in events if event["type"] == "response.output_item.done"]


def test_a_turn_with_a_command_and_the_next_turn(live: Live) -> None:
    live.engine.reply = (
        '<tool_call>\n{"name": "exec_command", "arguments": {"cmd": "echo hi > note.txt"}}\n</tool_call>'
    )
    (call,) = done(send(live, BEGIN))
    assert (call["name"], json.loads(call["arguments"])) == ("exec_command", {"cmd": "echo hi > note.txt"})
    sent = {key: call[key] for key in ("type", "status", "id", "name", "arguments", "call_id")}
    output = {"type": "function_call_output", "id": "fco_01a2066b-22d6", "call_id": call["call_id"], "output": "Process exited with code 0"}  # fmt: skip
    live.engine.reply = "Done."
    (answer,) = done(send(live, [*BEGIN, sent, output]))
    assert answer["content"][0]["text"] == "Done."
    later = [
        *BEGIN,
        sent,
        output,
        answer,
        message("developer", "<permissions instructions>"),
        message("user", "Another"),
    ]
    (again,) = done(send(live, later))
    assert again["content"][0]["text"] == "Done."
    tokenizer = live.service.loaded["tiny"].tokenizer
    text = tokenizer.decode(live.engine.requests[-1].prompt_ids, skip_special=False)
    assert "Process exited with code 0" in text
    assert "wait_agent" not in text


def test_a_prompt_that_is_too_long_is_its_context_error(live: Live) -> None:
    events = send(live, [*BEGIN, message("user", "x" * 5000)])
    assert events[-1]["type"] == "response.failed"
    assert events[-1]["response"]["error"]["code"] == "context_length_exceeded"


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    model = save("qwen3", tmp_path_factory.mktemp("codex") / "tiny", max_position_embeddings=8192)
    where = LoadOptions(backend="auto", device="cpu", memory_limit=1 << 30, download=False)
    settings = Settings(gpu_memory_limit="1G", max_concurrent=2, max_seq_len=6000)
    catalogue = Catalogue({"real": str(model)}, use_cache=False)
    with serving(lambda of: Engine(of, settings), lambda source: load(source, where), catalogue) as live:
        yield live


def test_the_engine_holds_a_patch_to_its_grammar(real: Live) -> None:
    """A model with random weights writes a sound patch, because it can write nothing else."""
    choice = {"type": "custom", "name": "apply_patch"}
    events = send(real, BEGIN, "real", tools=[*TOOLS, APPLY_PATCH], tool_choice=choice, max_output_tokens=400)
    (item,) = done(events)
    assert (item["type"], item["name"]) == ("custom_tool_call", "apply_patch")
    assert re.fullmatch(
        r"\*\*\* Begin Patch\n\*\*\* Add File: [a-z]{1,8}\n(\+[^\n]{0,20}\n){1,2}\*\*\* End Patch", item["input"]
    )
    output = {"type": "custom_tool_call_output", "call_id": item["call_id"], "output": "Success."}
    last = send(real, [*BEGIN, item, output], "real", tools=[*TOOLS, APPLY_PATCH], max_output_tokens=20)[-1]
    assert last["type"] in ("response.completed", "response.incomplete")


def test_a_limit_of_the_engine_is_a_context_error_too(real: Live) -> None:
    """The model could hold this prompt, but the engine was told to hold less."""
    items = [*BEGIN, message("user", "x" * 5200), message("user", "And now?")]
    last = send(real, items, "real", max_output_tokens=5)[-1]
    assert last["response"]["error"]["code"] == "context_length_exceeded"
    assert last["response"]["error"]["message"].startswith("This model's maximum context length is 6000 tokens.")
    shortened = send(real, items, "real", max_output_tokens=5, truncation="auto")[-1]
    assert shortened["type"] in ("response.completed", "response.incomplete")
    assert shortened["response"]["usage"]["input_tokens"] < 6000


def test_a_grammar_that_does_not_compile_is_refused(real: Live) -> None:
    broken = {**APPLY_PATCH, "format": {"type": "grammar", "syntax": "lark", "definition": "start: nowhere"}}
    body = {"model": "real", "input": "Hi", "tools": [broken], "tool_choice": "required"}
    reply = httpx.post(f"{real.url}/v1/responses", json=body, timeout=60)
    assert reply.status_code == 400
    assert "nowhere" in reply.json()["error"]["message"].lower()
