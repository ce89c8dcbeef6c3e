"""Messages over a socket, driven by Anthropic's own client."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

from engine.errors import EngineFault, OutOfMemory, QueueFull
from tests.app.server.live import Live
from tests.app.server.scripted import schema_of

USER = [{"role": "user", "content": "Hi"}]
WEATHER = {
    "name": "weather",
    "description": "Weather of a city.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'


@pytest.fixture
def client(live: Live) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=live.url, api_key="none", max_retries=0)


def ask(client: anthropic.Anthropic, messages: Any = USER, **more: Any) -> Any:
    return client.messages.create(**({"model": "tiny", "max_tokens": 200, "messages": messages} | more))


def prompt(live: Live) -> str:
    tokenizer = live.service.loaded["tiny"].tokenizer
    return str(tokenizer.decode(live.engine.requests[-1].prompt_ids, skip_special=False))


def test_a_whole_message(client: anthropic.Anthropic, live: Live) -> None:
    reply = ask(
        client, system="Be kind.", stop_sequences=["x"], metadata={"user_id": "me"}, extra_body={"temperature": 0.5}
    )
    assert [block.text for block in reply.content] == ["Hello there."]
    assert reply.stop_reason == "end_turn"
    assert reply.usage.output_tokens == 12
    assert "<|im_start|>system\nBe kind." in prompt(live)
    assert live.engine.requests[-1].sampling.stop == ("x",)
    assert live.engine.requests[-1].sampling.temperature == 0.5
    assert ask(client, max_tokens=5).stop_reason == "max_tokens"


def test_a_stream_with_thought_text_and_a_call(client: anthropic.Anthropic, live: Live) -> None:
    live.engine.reply = f"<think>\nhm\n</think>\n\nLook: {CALL}"
    more: dict[str, Any] = {"tools": [WEATHER], "thinking": {"type": "adaptive"}}
    with client.messages.stream(model="tiny", max_tokens=500, messages=USER, **more) as stream:  # type: ignore[arg-type]
        kinds = [event.type for event in stream]
        message = stream.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
    assert message.content[0].thinking == "hm"  # type: ignore[union-attr]
    assert message.content[1].text == "Look:"  # type: ignore[union-attr]
    assert message.content[2].input == {"city": "Kyiv"}  # type: ignore[union-attr]
    assert message.stop_reason == "tool_use"
    assert kinds[0] == "message_start"
    assert kinds[-1] == "message_stop"
    assert message.usage.output_tokens == len(live.engine.reply)


def test_the_same_whole(client: anthropic.Anthropic, live: Live) -> None:
    live.engine.reply = f"<think>\nhm\n</think>\n\nLook: {CALL}"
    reply = ask(client, tools=[WEATHER], thinking={"type": "adaptive"})
    assert [block.type for block in reply.content] == ["thinking", "text", "tool_use"]
    assert reply.stop_reason == "tool_use"
    assert reply.usage.output_tokens_details.thinking_tokens == 2


def test_calls_and_results_come_back_in(client: anthropic.Anthropic, live: Live) -> None:
    live.engine.reply = CALL
    first = ask(client, tools=[WEATHER])
    result = {"type": "tool_result", "tool_use_id": first.content[0].id, "content": "Rain", "is_error": False}
    ask(client, [*USER, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}])
    assert '{"name": "weather", "arguments": {"city": "Kyiv"}}' in prompt(live)
    assert "<tool_response>\nRain\n</tool_response>" in prompt(live)


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "weather"}])
def test_a_demanded_call(client: anthropic.Anthropic, live: Live, choice: Any) -> None:
    live.engine.reply = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n</tool_call>'
    assert ask(client, tools=[WEATHER], tool_choice=choice).content[0].input == {"city": "Kyiv"}
    assert live.engine.requests[-1].sampling.grammar.text.startswith('%llguidance {}\nstart: "<tool_call>"')


def test_the_model_goes_on_with_an_assistants_last_words(client: anthropic.Anthropic, live: Live) -> None:
    ask(client, [*USER, {"role": "assistant", "content": "Well,"}])
    assert prompt(live).endswith("Well,")


def test_a_schema_for_the_reply(client: anthropic.Anthropic, live: Live) -> None:
    schema = {"type": "object"}
    ask(client, output_config={"format": {"type": "json_schema", "schema": schema}})
    assert schema_of(live.engine.requests[-1]) == {"type": "object"}


@pytest.mark.parametrize("stream", [False, True])
def test_thoughts_end_where_their_budget_does(client: anthropic.Anthropic, live: Live, stream: bool) -> None:
    live.engine.reply = "<think>" + "hm " * 100 + "</think>\n\nDone."
    more: dict[str, Any] = {"thinking": {"type": "enabled", "budget_tokens": 30}}
    if stream:
        with client.messages.stream(model="tiny", max_tokens=500, messages=USER, **more) as events:  # type: ignore[arg-type]
            reply = events.get_final_message()
    else:
        reply = ask(client, max_tokens=500, **more)
    assert [block.type for block in reply.content] == ["thinking", "text"]
    assert reply.content[0].thinking.startswith("hm " * 10 + "\n\nConsidering")  # type: ignore[union-attr]
    assert reply.content[1].text == "Done."  # type: ignore[union-attr]
    assert live.engine.requests[-1].sampling.reasoning.tokens == 30
    assert reply.stop_reason == "end_turn"


def test_tokens_are_counted(client: anthropic.Anthropic, live: Live) -> None:
    counted = client.messages.count_tokens(model="tiny", messages=USER)  # type: ignore[arg-type]
    assert ask(client).usage.input_tokens == counted.input_tokens


def test_errors_have_anthropics_shape(client: anthropic.Anthropic, live: Live) -> None:
    with pytest.raises(anthropic.NotFoundError) as missing:
        ask(client, model="nothing")
    assert missing.value.body["error"]["type"] == "not_found_error"  # type: ignore[index]
    with pytest.raises(anthropic.BadRequestError, match="max_tokens"):
        ask(client, max_tokens=-1)
    image = {"type": "image", "source": {"type": "url", "url": "http://127.0.0.1/x.png"}}
    with pytest.raises(anthropic.BadRequestError, match="reads text only"):
        ask(client, [{"role": "user", "content": [image]}])
    live.engine.refusal = QueueFull("Full.")
    with pytest.raises(anthropic.RateLimitError):
        ask(client)
    live.engine.refusal = OutOfMemory("No room.")
    with pytest.raises(anthropic.OverloadedError) as overloaded:
        ask(client)
    body: Any = overloaded.value.body
    assert overloaded.value.status_code == 529
    assert body["error"]["type"] == "overloaded_error"
    assert body["request_id"] == overloaded.value.request_id


def test_a_fault_in_a_stream_is_an_error_event(client: anthropic.Anthropic, live: Live) -> None:
    live.engine.error = EngineFault("A step failed.")
    live.engine.silence = 0.5  # the status has been sent by then
    with pytest.raises(anthropic.APIError, match=r"A step failed\."):
        list(ask(client, stream=True))
