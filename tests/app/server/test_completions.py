"""Completions over a socket, driven by OpenAI's own client."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from engine.types import Request
from tests.app.server.live import Live


@pytest.fixture
def client(live: Live) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)


def ask(client: openai.OpenAI, prompt: Any, **more: Any) -> Any:
    return client.completions.create(**({"model": "tiny", "prompt": prompt, "max_tokens": 50} | more))


def test_texts_tokens_and_several_of_both(client: openai.OpenAI, live: Live) -> None:
    live.engine.script = lambda request: f"<{len(request.prompt_ids)}>"
    assert ask(client, "abc").choices[0].text == "<3>"
    assert ask(client, [1, 2, 3, 4]).choices[0].text == "<4>"
    assert [c.text for c in ask(client, ["a", "abc"]).choices] == ["<1>", "<3>"]
    assert [c.text for c in ask(client, [[1], [1, 2]]).choices] == ["<1>", "<2>"]
    several = ask(client, ["a", "ab"], n=2)
    assert [(c.index, c.text) for c in several.choices] == [(0, "<1>"), (1, "<1>"), (2, "<2>"), (3, "<2>")]
    assert several.usage.prompt_tokens == 3


def test_streams_of_several(client: openai.OpenAI, live: Live) -> None:
    live.engine.script = lambda request: f"<{len(request.prompt_ids)}>"
    texts, reasons = ["", ""], []
    for chunk in ask(client, ["a", "abc"], stream=True, stream_options={"include_usage": True}):
        for choice in chunk.choices:
            texts[choice.index] += choice.text
            reasons += [choice.finish_reason] if choice.finish_reason else []
    assert texts == ["<1>", "<3>"]
    assert reasons == ["stop", "stop"]
    assert chunk.usage.completion_tokens == 6


def test_echo_and_logprobs(client: openai.OpenAI, live: Live) -> None:
    live.engine.reply = "cd"
    choice = ask(client, "ab", echo=True, logprobs=1).choices[0]
    assert choice.text == "abcd"
    assert choice.logprobs.tokens == ["a", "b", "c", "d"]
    assert choice.logprobs.text_offset == [0, 1, 2, 3]
    assert choice.logprobs.token_logprobs == [None, -1.0, -0.5, -0.5]
    assert set(choice.logprobs.top_logprobs[2]) == {live.service.loaded["tiny"].tokenizer.decode([0])}
    only = ask(client, "ab", echo=True, logprobs=0, max_tokens=0)
    assert only.choices[0].text == "ab"
    assert only.choices[0].logprobs.tokens == ["a", "b"]
    assert only.usage.completion_tokens == 0
    assert "".join(c.choices[0].text for c in ask(client, "ab", echo=True, stream=True)) == "abcd"


def test_the_best_of_several(client: openai.OpenAI, live: Live) -> None:
    reply = ask(client, "a", best_of=3)
    assert len(reply.choices) == 1
    assert live.engine.requests[-1].sampling.n == 3
    assert live.engine.requests[-1].sampling.logprobs


def test_a_model_without_fill_in_the_middle_says_so(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="cannot fill in") as caught:
        ask(client, "def f(", suffix="return x")
    assert caught.value.param == "suffix"


@pytest.mark.parametrize(
    ("prompt", "more", "named"),
    [
        ([], {}, "prompt"),
        ([99999], {}, "prompt"),
        ("", {}, "prompt"),
        ("a", {"best_of": 2, "stream": True}, "best_of"),
        ("a", {"best_of": 1, "n": 2}, "best_of"),
        ("a", {"max_tokens": 0}, "max_tokens"),
        ("a", {"logprobs": -1}, "logprobs"),
        (["a", "b"], {"suffix": "x"}, "suffix"),
    ],
)
def test_what_makes_no_sense_is_named(client: openai.OpenAI, prompt: Any, more: dict[str, Any], named: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, prompt, **more)
    assert caught.value.param == named


def test_the_usual_length(client: openai.OpenAI, live: Live) -> None:
    client.completions.create(model="tiny", prompt="a")
    request: Request = live.engine.requests[-1]
    assert request.sampling.max_tokens == 16
