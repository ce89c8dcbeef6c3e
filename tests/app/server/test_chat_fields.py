"""Fields of chat completions that clients really send: older words, echoed messages, both limits, usage in every chunk."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.app.server.live import Live
from tests.app.server.scripted import schema_of
from tests.asserting import every

USER = [{"role": "user", "content": "Hi"}]
FUNCTION = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
WEATHER = {"type": "function", "function": FUNCTION}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'


def post(live: Live, **body: Any) -> httpx.Response:
    return httpx.post(f"{live.url}/v1/chat/completions", json={"model": "tiny", "messages": USER} | body)


def message(live: Live, **body: Any) -> Any:
    reply = post(live, **body)
    assert reply.status_code == 200, reply.text
    return reply.json()["choices"][0]


def chunks(live: Live, **body: Any) -> list[Any]:
    lines = post(live, stream=True, **body).text.split("\n\n")
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]


def prompt(live: Live) -> str:
    tokenizer = live.service.loaded["tiny"].tokenizer
    return str(tokenizer.decode(live.engine.requests[-1].prompt_ids, skip_special=False))


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        ({"max_tokens": 9, "max_completion_tokens": 5}, 5),
        ({"max_tokens": 4, "max_completion_tokens": 50}, 4),
        ({"max_tokens": -1, "max_completion_tokens": 6}, 6),
        ({"max_tokens": -1}, None),
    ],
)
def test_of_two_limits_the_smaller_counts(live: Live, limits: Any, most: int | None) -> None:
    message(live, **limits)
    assert live.engine.requests[-1].sampling.max_tokens == most


def test_a_chunk_has_the_logprobs_of_its_own_text(live: Live) -> None:
    live.engine.reply = "<think>\nhm <x>\n</think>\n\nAh <to é<tool_call>\n" + CALL[12:]
    for tools in ([], [WEATHER]):
        scored = [c["choices"][0] for c in chunks(live, top_logprobs=1, tools=tools)]
        assert every(c["logprobs"] for c in scored if c["delta"].get("content"))
        tokens = [t for c in scored if c["logprobs"] for t in c["logprobs"]["content"]]
        assert bytes(byte for t in tokens for byte in t["bytes"]).decode() == live.engine.reply
        hello = [c for c in scored if c["delta"].get("content") == "A"]
        assert [t["token"] for t in hello[0]["logprobs"]["content"]][-1] == "A"


def test_stream_options_without_a_stream_have_no_effect(live: Live) -> None:
    reply = post(live, stream_options={"include_usage": True})
    assert (reply.status_code, reply.headers["x-grus-ignored"]) == (200, "stream_options")


def test_usage_in_every_chunk(live: Live) -> None:
    options = {"include_usage": True, "continuous_usage_stats": True}
    used = [c["usage"]["completion_tokens"] for c in chunks(live, stream_options=options)]
    assert used == [0, *range(1, 13), 12, 12]
    body = {"model": "tiny", "prompt": "a", "stream": True, "stream_options": options, "max_tokens": 3}
    text = httpx.post(f"{live.url}/v1/completions", json=body).text
    lines = [json.loads(line[6:]) for line in text.split("\n\n") if line.startswith("data: {")]
    assert [c["usage"]["completion_tokens"] for c in lines] == [1, 2, 3, 3, 3]


def test_functions_of_before_there_were_tools(live: Live) -> None:
    live.engine.reply = f"{CALL}\n{CALL}"
    choice = message(live, functions=[FUNCTION])
    assert choice["message"]["function_call"] == {"name": "weather", "arguments": '{"city": "Kyiv"}'}
    assert "tool_calls" not in choice["message"]
    assert choice["finish_reason"] == "function_call"
    streamed = [c["choices"][0] for c in chunks(live, functions=[FUNCTION], function_call="auto")]
    calls = [c["delta"]["function_call"] for c in streamed if "function_call" in c["delta"]]
    assert calls[0] == {"name": "weather", "arguments": ""}
    assert "".join(call["arguments"] for call in calls) == '{"city": "Kyiv"}'
    assert streamed[-1]["finish_reason"] == "function_call"
    turns = [
        *USER,
        {"role": "assistant", "content": None, "function_call": calls[0] | {"arguments": '{"city": "Kyiv"}'}},
        {"role": "function", "name": "weather", "content": "Rain"},
    ]
    live.engine.reply = "It rains."
    assert message(live, messages=turns, functions=[FUNCTION])["message"]["content"] == "It rains."
    assert '"name": "weather", "arguments": {"city": "Kyiv"}' in prompt(live)
    assert "<tool_response>\nRain" in prompt(live)
    assert message(live, functions=[FUNCTION], function_call="none")["finish_reason"] == "stop"
    live.engine.reply = '<tool_call>\n{"name": "weather", "arguments": {}}\n</tool_call>'
    assert message(live, functions=[FUNCTION], function_call={"name": "weather"})["finish_reason"] == "function_call"


def test_only_allowed_tools_are_offered(live: Live) -> None:
    other = {"type": "function", "function": {"name": "other"}}
    named = {"type": "function", "function": {"name": "other"}}
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [named]}}
    message(live, tools=[WEATHER, other], tool_choice=choice)
    assert '"other"' in prompt(live)
    assert '"weather"' not in prompt(live)
    choice["allowed_tools"]["mode"] = "required"  # type: ignore[index]
    live.engine.reply = '<tool_call>\n{"name": "other", "arguments": {}}\n</tool_call>'
    assert message(live, tools=[WEATHER, other], tool_choice=choice)["finish_reason"] == "tool_calls"
    named["function"]["name"] = "nothing"  # type: ignore[index]
    assert post(live, tools=[WEATHER, other], tool_choice=choice).json()["error"]["param"] == "tool_choice"


def test_no_more_calls_than_asked_for(live: Live) -> None:
    live.engine.reply = "\n".join([CALL] * 3)
    assert len(message(live, tools=[WEATHER], max_tool_calls=2)["message"]["tool_calls"]) == 2
    assert len(message(live, tools=[WEATHER], parallel_tool_calls=None)["message"]["tool_calls"]) == 3
    assert "tool_calls" not in message(live, tools=[WEATHER], max_tool_calls=0)["message"]
    assert '"weather"' not in prompt(live)


def test_json_object_with_a_schema_and_llamacpps_words(live: Live) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    message(live, response_format={"type": "json_object", "schema": schema})
    assert schema_of(live.engine.requests[-1]) == schema
    message(live, json_schema=schema)
    assert schema_of(live.engine.requests[-1]) == schema
    message(live, grammar='root ::= "a"')
    assert live.engine.requests[-1].sampling.grammar.text == 'root ::= "a"'


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
def test_repeated_ngrams_are_banned_by_transformers_names(live: Live, path: str) -> None:
    asked = {"no_repeat_ngram_size": 35, "no_repeat_ngram_window_size": 128}
    body = (
        {"model": "tiny", "prompt": "Hi"}
        if path == "/v1/completions"
        else {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}]}
    )
    reply = httpx.post(live.url + path, json=body | asked, timeout=30)
    assert reply.status_code == 200, reply.text
    sampling = live.engine.requests[-1].sampling
    assert (sampling.no_repeat_ngram_size, sampling.no_repeat_ngram_window_size) == (35, 128)
    wrong = httpx.post(live.url + path, json=body | {"no_repeat_ngram_size": -1}, timeout=30)
    assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "no_repeat_ngram_size")


def test_the_models_turn_need_not_begin(live: Live) -> None:
    message(live)
    assert prompt(live).endswith("<|im_start|>assistant\n")
    message(live, add_generation_prompt=False)
    assert prompt(live).endswith("Hi<|im_end|>\n")
    assert post(live, add_generation_prompt=True, continue_final_message=True).status_code == 400


def test_more_than_128_tools_with_names_of_all_kinds(live: Live) -> None:
    many = [{"type": "function", "function": {"name": f"t{i}"}} for i in range(300)]
    assert message(live, tools=many, tool_choice="none")["finish_reason"] == "stop"
    names = ["mcp__files__read@2", "über.tool", "a b", "x+y#1", "ns::tool/é"]
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    live.engine.reply = '<tool_call>\n{"name": "a b", "arguments": {}}\n</tool_call>'
    assert message(live, tools=tools)["message"]["tool_calls"][0]["function"]["name"] == "a b"


def test_what_clients_echo_back(live: Live) -> None:
    call = {"id": "c1", "type": "function", "index": 0, "function": {"name": "weather"}}
    turns = [
        {"role": "system", "content": None},
        {"role": "user", "content": None},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "refusal", "refusal": "No."}]},
        {
            "role": "assistant", "content": None, "audio": {"id": "a"}, "annotations": [{"type": "url_citation"}],
            "function_call": None, "refusal": None, "reasoning_details": [{"type": "reasoning.text", "text": "so"}],
            "tool_calls": [call, call | {"function": {"name": "weather", "arguments": ""}},
                           call | {"function": {"name": "weather", "arguments": {"city": "Lviv"}}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": None},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "Rain"}]},
    ]  # fmt: skip
    reply = post(live, messages=turns, tools=[WEATHER])
    assert reply.status_code == 200, reply.text
    said = prompt(live)
    assert "No." in said
    assert "so\n</think>" in said
    assert said.count('{"name": "weather", "arguments": {}}') == 2
    assert '{"city": "Lviv"}' in said
    assert "<tool_response>\nRain" in said
    assert reply.headers["x-grus-ignored"] == "messages.audio, messages.annotations"
