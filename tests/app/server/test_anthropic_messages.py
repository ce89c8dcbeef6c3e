"""What a model reads of Anthropic's messages, blocks and tools, and what becomes of reasoning and of what cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.server.live import Live, scripted

HI = {"role": "user", "content": "Hi"}
LATE = {"role": "system", "content": "Be brief."}
WEATHER = {"name": "weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}
SEARCH = {"type": "web_search_20250305", "name": "web_search"}
BASH = {"type": "bash_20250124", "name": "bash"}
REASONED = "<think>\nhm\n</think>\n\nYes."
NO_SWITCH = (
    "{% for m in messages %}{% if m.role == 'system' and not loop.first %}"
    "{{ raise_exception('System message must be at the beginning.') }}{% endif %}"
    "[{{ m.role }}] {{ m.content }}\n{% endfor %}[assistant] {# <think> </think> #}"
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A model that always reasons, and takes a system message at the beginning only."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "tiny").mkdir()
    (folder / "tiny" / "chat_template.jinja").write_text(NO_SWITCH)
    with scripted(folder) as live:
        yield live


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with scripted(tmp_path_factory.mktemp("strict"), strict=True) as live:
        yield live


def post(live: Live, *messages: Any, **more: Any) -> httpx.Response:
    body = {"model": "tiny", "max_tokens": 200, "messages": list(messages) or [HI], **more}
    return httpx.post(f"{live.url}/v1/messages", json=body, timeout=30)


def prompt(live: Live, *messages: Any, **more: Any) -> str:
    """What the model reads of a request."""
    reply = post(live, *messages, **more)
    assert reply.status_code == 200, reply.text
    tokenizer = live.service.loaded["tiny"].tokenizer
    return str(tokenizer.decode(live.engine.requests[-1].prompt_ids, skip_special=False))


def refused(live: Live, *messages: Any, **more: Any) -> str:
    reply = post(live, *messages, **more)
    assert reply.status_code == 400, reply.text
    error = reply.json()["error"]
    assert error["type"] == "invalid_request_error"
    return str(error["message"])


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def called(*ids: str) -> dict[str, Any]:
    calls = [{"type": "tool_use", "id": id, "name": f"tool_{id}", "input": {}} for id in ids]
    return {"role": "assistant", "content": calls}


def result(id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


# -- system messages


def test_a_later_system_message_is_one_where_the_template_allows_it(live: Live) -> None:
    assert "Hi<|im_end|>\n<|im_start|>system\nBe brief.<|im_end|>" in prompt(live, HI, LATE)


@pytest.mark.parametrize(
    ("messages", "read"),
    [
        ([HI, LATE], "[user] Hi\n\n<R>\n"),
        ([HI, {"role": "assistant", "content": "Yes?"}, LATE, HI], "[user] Hi\n[assistant] Yes?\n[user] <R>\n\nHi\n"),
        ([HI, called("a"), user(result("a", "1")), LATE], "[tool] 1\n[user] <R>\n"),
        ([LATE, HI], "[system] Be kind.\n\nBe brief.\n[user] Hi\n"),
    ],
)
def test_else_it_is_part_of_a_user_turn(plain: Live, messages: Any, read: str) -> None:
    reminder = "<system-reminder>\nBe brief.\n</system-reminder>"
    assert read.replace("<R>", reminder) + "[assistant] " in prompt(plain, *messages, system="Be kind.")


# -- reasoning


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("thinking", [None, {"type": "disabled"}])
def test_reasoning_that_was_not_asked_for_is_switched_off_or_left_out(
    live: Live, plain: Live, thinking: Any, stream: bool
) -> None:
    assert prompt(live, thinking=thinking, stream=stream).endswith("<think>\n\n</think>\n\n")
    plain.engine.reply = REASONED
    reply = post(plain, thinking=thinking, stream=stream)
    assert "thinking_delta" not in reply.text
    assert "x-grus-ignored" not in reply.headers
    limit = plain.engine.requests[-1].sampling.reasoning
    assert (limit is not None) == (thinking is not None)  # closed at once where it must be off
    assert limit is None or limit.tokens == 0
    if stream:
        assert re.findall(r'"text_delta","text":"(.)"', reply.text) == list("Yes.")
        assert reply.text.count("event: content_block_start") == 1
    else:
        assert reply.json()["content"] == [{"type": "text", "text": "Yes."}]
        closed = len("<think>") + len(limit.closing) + len("Yes.") if limit is not None else 0
        assert reply.json()["usage"]["output_tokens"] == (closed or len(REASONED))


@pytest.mark.parametrize("thinking", ["adaptive", "enabled", "between_tools", "invented"])
def test_any_kind_of_thinking_but_disabled_asks_for_it(live: Live, thinking: str) -> None:
    live.engine.reply = REASONED
    reply = post(live, thinking={"type": thinking, "budget_tokens": 1000, "invented": 1})
    assert [block["type"] for block in reply.json()["content"]] == ["thinking", "text"]
    ignored = reply.headers["x-grus-ignored"].split(", ")
    assert ("thinking.type" in ignored) is (thinking not in ("adaptive", "enabled"))


def test_thinking_and_effort_are_hints_where_a_model_does_not_reason(tmp_path: Path) -> None:
    with scripted(tmp_path, model_type="qwen2") as live:
        reply = post(live, thinking={"type": "adaptive"}, output_config={"effort": "high"})
        assert reply.json()["content"] == [{"type": "text", "text": "Hello there."}]
        assert reply.headers["x-grus-ignored"] == "output_config.effort"
        assert "x-grus-ignored" not in post(live).headers
        assert post(live, output_config={"effort": "colossal"}).status_code == 200


def test_omitted_reasoning_comes_back_in_its_signature(live: Live) -> None:
    live.engine.reply = f"{REASONED[:-4]}<tool_call>\n{json.dumps({'name': 'weather', 'arguments': {}})}\n</tool_call>"
    thinking = {"type": "adaptive", "display": "omitted"}
    content = post(live, thinking=thinking, tools=[WEATHER]).json()["content"]
    assert content[0]["thinking"] == ""
    answer = {"role": "assistant", "content": content}
    shown = prompt(live, HI, answer, user(result(content[1]["id"], "Rain")), thinking=thinking, tools=[WEATHER])
    assert "<think>\nhm\n</think>" in shown
    for signature in ("grus.%", "of another server", None):
        content[0]["signature"] = signature
        assert "hm" not in prompt(live, HI, answer, user(result("x", "Rain")))


# -- blocks


@pytest.mark.parametrize(
    ("block", "read"),
    [
        (
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Page."}, "title": "A"},
            '<document title="A">\nPage.\n</document>',
        ),
        (
            {
                "type": "document",
                "source": {"type": "content", "content": [{"type": "text", "text": "Page."}]},
                "context": "Old.",
            },
            "<document>\nOld.\nPage.\n</document>",
        ),
        (
            {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "Found."}]},
            '<search_result source="s" title="t">\nFound.\n</search_result>',
        ),
        ({"type": "compaction", "content": "Before: hello."}, "Before: hello."),
        ({"type": "tool_reference", "tool_name": "weather"}, "The tool weather can be called now."),
    ],
)
def test_text_is_shown_whatever_block_holds_it(live: Live, block: Any, read: str) -> None:
    assert f"\n{read}\nGo.<|im_end|>" in prompt(live, user(block, {"type": "text", "text": "Go."}))
    assert read in prompt(live, HI, called("a"), user(result("a", [block])))


@pytest.mark.parametrize(
    "source",
    [
        {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
        {"type": "url", "url": "https://example.com/a.pdf"},
        {"type": "file", "file_id": "file_1"},
    ],
)
def test_media_that_cannot_be_read_are_refused_by_name(live: Live, source: Any) -> None:
    assert "Documents are read as text only" in refused(live, user({"type": "document", "source": source}))
    named = refused(live, user({"type": "audio", "source": source}))
    assert named == "Blocks of the type 'audio' cannot be read here."


@pytest.mark.parametrize("kind", ["redacted_thinking", "mcp_tool_listing", "fallback", "invented"])
def test_blocks_without_text_are_left_out_and_reported(live: Live, strict: Live, kind: str) -> None:
    reply = post(live, user({"type": kind, "data": "x"}, {"type": "text", "text": "Go.", "citations": [{}]}))
    assert reply.headers["x-grus-ignored"] == f"messages.content.{kind}, messages.content.citations"
    assert kind in refused(strict, user({"type": kind, "data": "x"}))


def test_a_tool_that_ran_at_the_provider_is_read_as_a_call_and_its_result(live: Live) -> None:
    found = {"type": "web_search_result", "title": "T", "url": "u", "encrypted_content": "zzz"}
    blocks = [
        {"type": "text", "text": "I search."},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [found]},
        {"type": "text", "text": "Found it."},
    ]
    shown = prompt(live, HI, {"role": "assistant", "content": blocks}, HI)
    call = 'I search.\n<tool_call>\n{"name": "web_search", "arguments": {"query": "x"}}\n</tool_call><|im_end|>'
    assert call in shown
    assert "zzz" not in shown
    assert '<tool_response>\n[{"type": "web_search_result", "title": "T", "url": "u"}]\n</tool_response>' in shown
    assert "<|im_start|>assistant\nFound it.<|im_end|>" in shown


def test_results_stand_in_the_order_of_their_calls(live: Live) -> None:
    late, error = result("b", None), result("a", [{"type": "text", "text": "No."}], is_error=True)
    shown = prompt(live, HI, called("a", "b"), user({"type": "text", "text": "Go on."}, late), user(error))
    results = "<tool_response>\nError: No.\n</tool_response>\n<tool_response>\n\n</tool_response><|im_end|>"
    assert results + "\n<|im_start|>user\nGo on.<|im_end|>" in shown


def test_messages_of_one_role_are_one_turn(live: Live) -> None:
    assert "<|im_start|>user\nHi\nHi<|im_end|>\n<|im_start|>assistant" in prompt(live, HI, HI)


# -- tools


def test_tools_of_the_provider_are_left_out_and_reported(live: Live, strict: Live) -> None:
    shown = prompt(live, tools=[WEATHER, SEARCH, BASH])
    assert "weather" in shown
    assert "web_search" not in shown
    reply = post(
        live, tools=[SEARCH, BASH, {"type": "mcp_toolset", "mcp_server_name": "s"}], tool_choice={"type": "auto"}
    )
    assert reply.headers["x-grus-ignored"] == "tools.web_search_20250305, tools.mcp_toolset"
    assert "web_search_20250305" in refused(strict, tools=[SEARCH])


def test_a_call_of_one_of_them_cannot_be_demanded(live: Live) -> None:
    for tools, choice in (
        ([WEATHER, SEARCH], {"type": "tool", "name": "web_search"}),
        ([SEARCH], {"type": "any"}),
    ):
        assert "a web_search_20250305 tool, which cannot be run here" in refused(live, tools=tools, tool_choice=choice)
    assert "there are no tools" in refused(live, tool_choice={"type": "any"})
    assert "none of the tools" in refused(live, tools=[WEATHER, SEARCH], tool_choice={"type": "tool", "name": "other"})


def test_fields_of_tools(live: Live) -> None:
    hints = {"eager_input_streaming": True, "allowed_callers": ["direct"], "cache_control": {"type": "ephemeral"}}
    reply = post(live, tools=[{**WEATHER, **hints, "invented": 1}])
    assert sorted(reply.headers["x-grus-ignored"].split(", ")) == sorted(
        f"tools.{name}" for name in [*hints, "invented"]
    )
    assert '"examples": [{"city": "Kyiv"}]' in prompt(live, tools=[{**WEATHER, "input_examples": [{"city": "Kyiv"}]}])


def test_as_many_tools_as_the_context_holds(live: Live) -> None:
    def count(tools: int) -> int:
        body = {"model": "tiny", "messages": [HI], "tools": [{**WEATHER, "name": f"tool_{i}"} for i in range(tools)]}
        return int(httpx.post(f"{live.url}/v1/messages/count_tokens", json=body).json()["input_tokens"])

    each = count(200) - count(199)
    assert each > 100
    assert count(300) - count(200) == 100 * each


def test_a_deferred_tool_is_offered_once_it_was_found(live: Live) -> None:
    tools = [WEATHER, {**WEATHER, "name": "later", "defer_loading": True}]
    assert '"later"' not in prompt(live, tools=tools)
    reference = {"type": "tool_reference", "tool_name": "later"}
    assert '"later"' in prompt(live, HI, called("a"), user(result("a", [reference])), tools=tools)
    assert '"later"' in prompt(live, tools=[*tools, {"type": "tool_search_tool_bm25_20251119", "name": "find"}])
    assert '"later"' in prompt(live, tools=tools, tool_choice={"type": "tool", "name": "later"})


def test_tools_are_added_and_removed_within_a_conversation(live: Live) -> None:
    def changed(kind: str, **tool: Any) -> dict[str, Any]:
        return {"role": "system", "content": [{"type": kind, "tool": tool}]}

    tools = [WEATHER, {**WEATHER, "name": "later", "defer_loading": True}]
    added = changed("tool_addition", type="tool_reference", name="later")
    defined = changed("tool_addition", type="tool_definition", definition={**WEATHER, "name": "inline"})
    removed = changed("tool_removal", type="tool_reference", name="weather")
    shown = prompt(live, HI, added, defined, removed, tools=tools)
    assert ['"later"' in shown, '"inline"' in shown, '"weather"' in shown] == [True, True, False]
    assert "<|im_start|>system\n<|im_end|>" not in shown


# -- the rest of a request


def test_fields_that_only_the_provider_has_are_reported(live: Live) -> None:
    fields = {"mcp_servers": [{"type": "url"}], "container": "c", "thread": {"type": "create"}, "speed": "fast"}
    ignored = post(live, **fields).headers["x-grus-ignored"].split(", ")
    assert sorted(ignored) == ["container", "mcp_servers", "speed", "thread"]
    lost = post(live, thread={"type": "continue", "previous_message_id": "msg_1"})
    assert lost.status_code == 404
    assert lost.json()["error"]["details"] == {"error_code": "thread_not_found"}


def test_both_names_of_a_schema_for_the_reply(live: Live) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    wanted = {"type": "json_schema", "schema": schema}
    for more in ({"output_format": wanted}, {"output_config": {"format": wanted}}):
        assert post(live, **more).status_code == 200
        assert json.loads(live.engine.requests[-1].sampling.grammar.text) == schema


@pytest.mark.parametrize("stream", [False, True])
def test_why_a_reply_ended(live: Live, stream: bool) -> None:
    def reason(**more: Any) -> str:
        return re.findall(r'"stop_reason":"(\w+)"', post(live, stream=stream, **more).text)[-1]

    assert reason() == "end_turn"
    assert reason(max_tokens=5) == "max_tokens"
    live.engine.reason, live.engine.reply = "length", "x" * 4096
    assert reason(max_tokens=100_000) == "model_context_window_exceeded"
    assert reason(max_tokens=4096) == "max_tokens"


def test_no_tokens_at_all_prepare_the_prefix_cache(live: Live) -> None:
    reply = post(live, max_tokens=0).json()
    assert (reply["content"], reply["stop_reason"]) == ([], "max_tokens")
    assert live.engine.requests[-1].sampling.max_tokens == 1


def test_the_events_of_a_stream(live: Live) -> None:
    live.engine.reply = "Hi"
    reply = post(live, stream=True)
    sent = [json.loads(line.removeprefix("data: ")) for line in reply.text.splitlines() if line.startswith("data: ")]
    usage = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "input_tokens": 40}
    start = sent[0]["message"]
    assert start.pop("id").startswith("msg_")
    assert start == {
        "type": "message",
        "role": "assistant",
        "model": "tiny",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage | {"output_tokens": 0, "output_tokens_details": {"thinking_tokens": 0}},
    }
    assert [event for event in sent[1:] if event["type"] != "ping"] == [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "H"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "i"}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": usage | {"output_tokens": 2, "output_tokens_details": {"thinking_tokens": 0}},
        },
        {"type": "message_stop"},
    ]
    assert {"type": "ping"} in sent
    live.engine.reply = ""
    empty = post(live, stream=True).text
    assert empty.count("content_block_start") == 2  # its event's name, and in its data
