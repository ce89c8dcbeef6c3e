"""Chat completions over a socket, driven by OpenAI's own client."""

from __future__ import annotations

import json
from typing import Any

import httpx
import openai
import pytest

from engine.errors import EngineFault, QueueFull
from engine.grammar import GrammarCompiler
from tests.app.server.live import Live
from tests.app.server.scripted import schema_of, until

USER = [{"role": "user", "content": "Hi"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'


@pytest.fixture
def client(live: Live) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)


def ask(client: openai.OpenAI, **more: Any) -> Any:
    return client.chat.completions.create(**({"model": "tiny", "messages": USER} | more))


def test_a_whole_reply(client: openai.OpenAI, live: Live) -> None:
    reply = ask(client, max_tokens=50, temperature=0)
    assert reply.choices[0].message.content == "Hello there."
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage.completion_tokens == 12
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + 12
    request = live.engine.requests[0]
    assert request.sampling.max_tokens == 50
    assert (
        live.service.loaded["tiny"].tokenizer.decode(request.prompt_ids, skip_special=False).startswith("<|im_start|>")
    )


def test_a_stream(client: openai.OpenAI) -> None:
    chunks = list(ask(client, stream=True, stream_options={"include_usage": True}))
    assert chunks[0].choices[0].delta.role == "assistant"
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "Hello there."
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == 12


def test_several_choices_and_the_length_limit(client: openai.OpenAI) -> None:
    reply = ask(client, n=3, max_completion_tokens=5)
    assert [c.message.content for c in reply.choices] == ["Hello"] * 3
    assert {c.finish_reason for c in reply.choices} == {"length"}
    texts = ["", "", ""]
    for chunk in ask(client, n=3, stream=True):
        texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert texts == ["Hello there."] * 3


def test_logprobs(client: openai.OpenAI) -> None:
    reply = ask(client, logprobs=True, top_logprobs=2, max_tokens=2)
    tokens = reply.choices[0].logprobs.content
    assert [t.token for t in tokens] == ["H", "e"]
    assert tokens[0].bytes == [72]
    assert len(tokens[0].top_logprobs) == 2
    streamed = [c.choices[0].logprobs for c in ask(client, logprobs=True, max_tokens=2, stream=True)]
    assert "".join(t.token for scores in streamed if scores for t in scores.content) == "He"


def test_reasoning_is_told_apart(client: openai.OpenAI, live: Live) -> None:
    live.engine.reply = "<think>\nhm\n</think>\n\nYes."
    message = ask(client).choices[0].message
    assert (message.reasoning_content, message.content) == ("hm", "Yes.")
    deltas = [c.choices[0].delta for c in ask(client, stream=True)]
    assert "".join(getattr(d, "reasoning_content", None) or "" for d in deltas) == "hm"
    assert "".join(d.content or "" for d in deltas) == "Yes."


def test_reasoning_is_switched_by_effort_and_by_template_variables(client: openai.OpenAI, live: Live) -> None:
    def prompt() -> str:
        request = live.engine.requests[-1]
        return live.service.loaded["tiny"].tokenizer.decode(request.prompt_ids, skip_special=False)

    ask(client)
    assert not prompt().endswith("</think>\n\n")
    ask(client, reasoning_effort="none")
    assert prompt().endswith("</think>\n\n")
    ask(client, extra_body={"chat_template_kwargs": {"enable_thinking": False}})
    assert prompt().endswith("</think>\n\n")


def test_tool_calls_whole_and_streamed(client: openai.OpenAI, live: Live) -> None:
    live.engine.reply = f"Let me see.\n{CALL}\n{CALL.replace('Kyiv', 'Lviv')}"
    choice = ask(client, tools=[WEATHER]).choices[0]
    assert choice.finish_reason == "tool_calls"
    assert [json.loads(c.function.arguments)["city"] for c in choice.message.tool_calls] == ["Kyiv", "Lviv"]
    assert choice.message.content == "Let me see."
    arguments: dict[int, str] = {}
    names = []
    reasons = []
    for chunk in ask(client, tools=[WEATHER], stream=True):
        reasons.append(chunk.choices[0].finish_reason)
        for call in chunk.choices[0].delta.tool_calls or []:
            names += [call.function.name] if call.function.name else []
            arguments[call.index] = arguments.get(call.index, "") + (call.function.arguments or "")
    assert names == ["weather", "weather"]
    assert [json.loads(a)["city"] for a in arguments.values()] == ["Kyiv", "Lviv"]
    assert reasons[-1] == "tool_calls"


def test_a_malformed_or_cut_call_is_told_as_far_as_it_came_and_never_text(client: openai.OpenAI, live: Live) -> None:
    malformed = '<tool_call>\n{"name": "weather", "arguments": {"city": !}}\n</tool_call>'
    for reply, limit, reason, arguments in (
        (malformed, None, "tool_calls", '{"city": '),
        (CALL[:60], None, "tool_calls", CALL[45:60]),
        (CALL, 55, "length", CALL[45:55]),
    ):
        live.engine.reply = reply
        choice = ask(client, tools=[WEATHER], max_tokens=limit).choices[0]
        assert (choice.message.content, choice.finish_reason) == (None, reason)
        assert [call.function.arguments for call in choice.message.tool_calls] == [arguments]
        chunks = [c.choices[0] for c in ask(client, tools=[WEATHER], max_tokens=limit, stream=True)]
        assert "".join(chunk.delta.content or "" for chunk in chunks) == ""
        pieces = [call.function.arguments or "" for chunk in chunks for call in chunk.delta.tool_calls or ()]
        assert "".join(pieces) == arguments
        assert chunks[-1].finish_reason == reason


@pytest.mark.parametrize("limit", [3, 11, 20, 30])
def test_a_call_that_is_cut_off_before_its_name_is_nothing(client: openai.OpenAI, live: Live, limit: int) -> None:
    live.engine.reply = f"Wait.\n{CALL}"
    choice = ask(client, tools=[WEATHER], max_tokens=limit).choices[0]
    assert choice.message.content in ("Wai", "Wait.")
    assert (choice.message.tool_calls, choice.finish_reason) == (None, "length")


def test_without_a_choice_of_tools_calls_are_text(client: openai.OpenAI, live: Live) -> None:
    live.engine.reply = CALL
    choice = ask(client, tools=[WEATHER], tool_choice="none").choices[0]
    assert choice.message.tool_calls is None
    assert "weather" in choice.message.content
    prompt = live.engine.requests[-1].prompt_ids
    assert "Weather of a city" not in live.service.loaded["tiny"].tokenizer.decode(prompt)


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "weather"}}])
def test_a_demanded_call_is_held_by_a_grammar(client: openai.OpenAI, live: Live, choice: Any) -> None:
    live.engine.reply = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'
    reply = ask(client, tools=[WEATHER], tool_choice=choice).choices[0]
    assert reply.finish_reason == "tool_calls"
    assert reply.message.tool_calls[0].function.name == "weather"
    assert json.loads(reply.message.tool_calls[0].function.arguments) == {"city": "Kyiv"}
    sampling = live.engine.requests[-1].sampling
    assert sampling.grammar_after is None
    assert follows(live, sampling.grammar, CALL)
    assert follows(live, sampling.grammar, f"{CALL}\n{CALL}") == (choice == "required")
    for other in ("", "Hello", f"Hm. {CALL}", CALL.replace("weather", "other"), CALL.replace("city", "town")):
        assert not follows(live, sampling.grammar, other)


def test_strict_calls_are_held_by_a_grammar_among_words(client: openai.OpenAI, live: Live) -> None:
    live.engine.reply = f"Look: {CALL}"
    strict = {"type": "function", "function": {**WEATHER["function"], "strict": True}}  # type: ignore[dict-item]
    choice = ask(client, tools=[strict, {"type": "function", "function": {"name": "other"}}]).choices[0]
    assert choice.message.tool_calls[0].function.name == "weather"
    request = live.engine.requests[-1]
    assert follows(live, request.sampling.grammar, f"Look: {CALL} and {CALL}")
    assert follows(live, request.sampling.grammar, "No call at all, <b>really</b>.")
    assert not follows(live, request.sampling.grammar, CALL.replace('"Kyiv"', "3"))
    assert follows(live, request.sampling.grammar, CALL.replace("weather", "other").replace('"Kyiv"', "3"))
    assert not follows(live, request.sampling.grammar, CALL.replace("weather", "nothing"))


def follows(live: Live, grammar: Any, text: str) -> bool:
    """Whether a reply under this grammar could say this, and end."""
    model = live.service.loaded["tiny"]
    constraint = GrammarCompiler(model.tokenizer, model.vocab, list(model.eos_ids)).constraint(grammar, None)
    for token in model.tokenizer.encode(text, add_special=False):
        if not constraint.masks([], 1000)[1][0][token]:  # type: ignore[index]
            return False
        constraint.accept([token], "")
    return bool(constraint.masks([], 1000)[1][0][model.eos_ids[0]])  # type: ignore[index]


def test_of_parallel_calls_only_the_first_is_told_where_they_are_off(client: openai.OpenAI, live: Live) -> None:
    live.engine.reply = f"{CALL}\n{CALL.replace('Kyiv', 'Lviv')}"
    whole = ask(client, tools=[WEATHER], parallel_tool_calls=False).choices[0]
    assert [json.loads(call.function.arguments)["city"] for call in whole.message.tool_calls] == ["Kyiv"]
    deltas = [
        c.choices[0].delta.tool_calls for c in ask(client, tools=[WEATHER], parallel_tool_calls=False, stream=True)
    ]
    assert {call.index for calls in deltas if calls for call in calls} == {0}


def test_response_formats_become_grammars(client: openai.OpenAI, live: Live) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    ask(client, response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": True}})
    assert schema_of(live.engine.requests[-1]) == schema
    ask(client, response_format={"type": "json_object"}, reasoning_effort="high")
    sampling = live.engine.requests[-1].sampling
    assert schema_of(live.engine.requests[-1]) == {"type": "object"}
    assert sampling.grammar_after == "</think>"


def test_a_conversation_with_calls_and_results_comes_back_in(client: openai.OpenAI, live: Live) -> None:
    live.engine.reply = CALL
    first = ask(client, tools=[WEATHER]).choices[0].message
    turns = [*USER, first.model_dump(), {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "Rain"}]
    client.chat.completions.create(model="tiny", messages=turns, tools=[WEATHER])  # type: ignore[arg-type]
    prompt = live.service.loaded["tiny"].tokenizer.decode(live.engine.requests[-1].prompt_ids)
    assert "<tool_response>\nRain\n</tool_response>" in prompt


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"extra_body": {"web_search_options": {}}}, "web_search_options"),
        ({"temperature": 3}, "temperature"),
        ({"extra_body": {"grammar": 'root ::= "a"', "json_schema": {}}}, "json_schema"),
        ({"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "tools.0.type"),
        (
            {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "x"}}]}]},
            "messages.0.content.file",
        ),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"prediction": {"type": "image", "content": "x"}}, "prediction"),
        ({"logit_bias": {"x": 1}}, "logit_bias"),
        ({"stop": [""]}, "stop"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"audio": {"voice": "a", "format": "wav"}}, "audio"),
    ],
)
def test_what_is_not_supported_is_named(client: openai.OpenAI, more: dict[str, Any], named: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, **more)
    assert caught.value.param is not None
    assert named in caught.value.param


@pytest.mark.parametrize("content", ["ab c", [{"type": "text", "text": "ab "}, {"type": "text", "text": "c"}]])
def test_a_prediction_goes_to_the_engine(client: openai.OpenAI, live: Live, content: Any) -> None:
    ask(client, prediction={"type": "content", "content": content})
    tokenizer = live.service.loaded["tiny"].tokenizer
    assert tokenizer.decode(live.engine.requests[-1].prediction) == "ab c"


def test_images_and_sounds_are_refused_honestly(client: openai.OpenAI) -> None:
    parts = [
        {
            "type": "image_url",
            "image_url": {"url": "data:image/gif;base64,R0lGODdhAQABAIEAAP8AAAAAAAAAAAAAACwAAAAAAQABAAAIBAABBAQAOw=="},
        }
    ]
    with pytest.raises(openai.BadRequestError, match="does not see images"):
        client.chat.completions.create(model="tiny", messages=[{"role": "user", "content": parts}])  # type: ignore[list-item,misc]


def test_an_unknown_model_is_not_found(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="/etc", messages=USER)  # type: ignore[arg-type]
    assert caught.value.code == "model_not_found"


def test_a_full_queue_says_when_to_come_back(client: openai.OpenAI, live: Live) -> None:
    live.engine.refusal = QueueFull("Full.")
    for stream in (False, True):
        with pytest.raises(openai.RateLimitError) as caught:
            ask(client, stream=stream)
        assert int(caught.value.response.headers["retry-after"]) > 0


def test_a_fault_is_told_in_the_status_or_in_the_stream(client: openai.OpenAI, live: Live) -> None:
    live.engine.error = EngineFault("A step failed.")
    with pytest.raises(openai.InternalServerError, match=r"A step failed\."):
        ask(client)
    with pytest.raises(openai.APIError, match=r"A step failed\."):
        list(ask(client, stream=True))


def test_a_client_that_goes_away_cancels_its_request(live: Live) -> None:
    live.engine.reply, live.engine.pause = "x" * 1000, 0.01
    body = {"model": "tiny", "messages": USER}
    with httpx.Client(base_url=live.url) as http:
        with http.stream("POST", "/v1/chat/completions", json={**body, "stream": True}) as reply:
            next(reply.iter_lines())
        until(lambda: len(live.engine.cancelled) == 1)
        with pytest.raises(httpx.ReadTimeout):
            http.post("/v1/chat/completions", json=body, timeout=0.1)
        until(lambda: len(live.engine.cancelled) == 2)
    until(lambda: live.engine.running == 0)


def test_a_silent_stream_shows_that_it_lives(live: Live) -> None:
    live.engine.silence = 0.7
    body = {"model": "tiny", "messages": USER, "stream": True}
    with httpx.Client(base_url=live.url) as http, http.stream("POST", "/v1/chat/completions", json=body) as reply:
        text = reply.read().decode()
    assert ": heartbeat\n\n" in text.partition('"content":"H"')[0]
    assert text.endswith("data: [DONE]\n\n")


def test_the_asynchronous_client(live: Live) -> None:
    import asyncio

    async def talk() -> str:
        async with openai.AsyncOpenAI(base_url=f"{live.url}/v1", api_key="none") as client:
            stream = await client.chat.completions.create(model="tiny", messages=USER, stream=True)  # type: ignore[arg-type]
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert asyncio.run(talk()) == "Hello there."
