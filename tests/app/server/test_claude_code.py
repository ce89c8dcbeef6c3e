"""What Claude Code sends, recorded and cut short, on the scripted server and on the engine: three requests of one conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loading import LoadOptions, load
from engine.types import Settings
from tests.app.server.live import Live, serving
from tests.checkpoints import save

RECORDED = json.loads((Path(__file__).parent / "claude_code.json").read_text(encoding="utf-8"))
CALL = '<tool_call>\n{"name": "Read", "arguments": {"file_path": "/home/me/project/note.txt"}}\n</tool_call>'


def send(live: Live, **changed: Any) -> httpx.Response:
    body = {**RECORDED["first"], **changed}
    return httpx.post(live.url + RECORDED["path"], headers=RECORDED["headers"], json=body, timeout=60)


def events(reply: httpx.Response) -> list[dict[str, Any]]:
    assert reply.status_code == 200, reply.text
    found = []
    for chunk in reply.text.strip().split("\n\n"):
        name, data = chunk.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return [event for event in found if event["type"] != "ping"]


def prompt(live: Live) -> str:
    request = live.engine.requests[-1]
    return str(live.service.loaded[request.model].tokenizer.decode(request.prompt_ids, skip_special=False))


def test_the_first_request_is_answered_with_a_call(live: Live) -> None:
    live.engine.reply = f"<think>\nI look.\n</think>\n\n{CALL}"
    reply = send(live)
    assert reply.headers["x-grus-ignored"].split(", ") == [
        "system.billing-header",
        "messages.content.cache_control",
        "messages.output_config",
        "system.cache_control",
        "metadata",
        "context_management",
    ]
    found = events(reply)
    assert [event["type"] for event in found] == [
        "message_start",
        *("content_block_start", "content_block_delta", "content_block_stop"),
        *("content_block_start", *["content_block_delta"] * len(found[5:-3]), "content_block_stop"),
        "message_delta",
        "message_stop",
    ]
    start = found[0]["message"]
    assert start["model"] == "tiny"
    assert start["usage"]["input_tokens"] == len(live.engine.requests[-1].prompt_ids)
    thinking, signed = found[1]["content_block"], found[2]["delta"]
    assert thinking == {"type": "thinking", "thinking": "", "signature": ""}
    assert signed["type"] == "signature_delta"
    call = found[4]["content_block"]
    assert (call["type"], call["name"], call["input"]) == ("tool_use", "Read", {})
    assert call["id"].startswith("toolu_")
    arguments = "".join(event["delta"]["partial_json"] for event in found[5:-3])
    assert json.loads(arguments) == {"file_path": "/home/me/project/note.txt"}
    assert found[-2]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert found[-2]["usage"]["output_tokens"] == len(live.engine.reply)
    shown = prompt(live)
    assert "billing" not in shown
    assert "DeferredToolPlaceholder" not in shown
    assert "<|im_start|>system\n# Environment" in shown.partition("Read note.txt please")[2]

    with_result = RECORDED["with_result"]
    with_result["messages"][2]["content"][0]["signature"] = signed["signature"]
    live.engine.reply = "<think>\n\n</think>\n\nDone."
    found = events(send(live, **with_result))
    assert found[-2]["delta"]["stop_reason"] == "end_turn"
    shown = prompt(live)
    assert "<think>\nI look.\n</think>" in shown  # the client had only its signature
    assert "<tool_response>\n1\tThe capital of France is Paris.\n2\t\n</tool_response>" in shown


def test_a_conversation_is_continued(live: Live) -> None:
    live.engine.reply = "<think>\nhm\n</think>\n\nYes."
    reply = send(live, **RECORDED["continued"])
    assert "thinking.display" in reply.headers["x-grus-ignored"]
    deltas = [event["delta"] for event in events(reply) if event["type"] == "content_block_delta"]
    assert "".join(delta.get("thinking", "") for delta in deltas) == "hm"
    assert "".join(delta.get("text", "") for delta in deltas) == "Yes."


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    model = save("qwen3", tmp_path_factory.mktemp("claude") / "tiny", max_position_embeddings=2560)
    where = LoadOptions(backend="auto", device="cpu", memory_limit=1 << 30, download=False)
    catalogue = Catalogue({"real": str(model)}, use_cache=False)
    settings = Settings(gpu_memory_limit="1G")
    with serving(lambda of: Engine(of, settings), lambda source: load(source, where), catalogue) as live:
        yield live


def test_the_engine_answers_and_has_the_prefix_of_the_next_request(real: Live) -> None:
    first = events(send(real, max_tokens=8))
    usage = first[-2]["usage"]
    assert usage["output_tokens"] == 8
    assert first[-2]["delta"]["stop_reason"] == "max_tokens"
    again = events(send(real, max_tokens=8, **RECORDED["with_result"]))[-2]["usage"]
    assert again["cache_read_input_tokens"] > 0.9 * usage["input_tokens"]


def test_a_prompt_that_is_too_long_is_counted_and_refused_in_the_words_that_start_a_summary(real: Live) -> None:
    long = [*RECORDED["first"]["messages"], {"role": "user", "content": "words " * 500}]
    counted = httpx.post(f"{real.url}/v1/messages/count_tokens", json={"model": "real", "messages": long})
    refused = send(real, messages=long)
    assert refused.status_code == 400
    error = refused.json()
    assert error["request_id"] == refused.headers["request-id"]
    tokens = int(error["error"]["message"].split()[4])
    assert error["error"]["message"] == f"prompt is too long: {tokens} tokens > 2560 maximum"
    assert 2560 < counted.json()["input_tokens"] < tokens  # which has the tools too
