"""The SDK: what the README promises to those who write Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import grus
from app.runtime.chat import PreparedChat, ReplyParser
from engine.errors import BadRequest, EngineStopped
from engine.pipelines.prompt import Prompt
from engine.text.families import parser_for
from engine.text.reasoning import ReasoningSplitter, ReasoningTags
from engine.types import Request, Result, SamplingParams, Timings
from tests.checkpoints import save

SAMPLING = {"max_tokens": 12, "temperature": 0.0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield str(save("qwen3", tmp_path_factory.mktemp("sdk") / "tiny", "old"))
    grus.unload()


def test_chat_answers_a_message_and_a_conversation(folder: str) -> None:
    said = grus.chat("Hello", model=folder, **SAMPLING)
    assert said
    assert said == grus.chat([{"role": "user", "content": "Hello"}], model=folder, **SAMPLING)


def test_run_tells_everything(folder: str) -> None:
    answer = grus.run("Hello", model=folder, raw=True, **SAMPLING)
    assert answer.prompt.ids == list(answer.prompt.ids)
    assert len(answer.prompt.ids) == 5
    assert answer.result.timings.output_tokens == len(answer.result.ids)
    assert str(answer) == answer.text


def test_streamed_pieces_are_the_whole(folder: str) -> None:
    with grus.load(folder) as model:
        assert "".join(model.stream("Hello", **SAMPLING)) == model.run("Hello", **SAMPLING).text


def test_a_stream_that_is_left_stops_the_model(folder: str) -> None:
    with grus.load(folder) as model:
        pieces = model.stream("Hello", raw=True, max_tokens=200, temperature=1.0, seed=1)
        next(pieces)
        pieces.close()
        model.run("Again", max_tokens=1)
        assert model.engine.stats().cancelled == 1


def test_a_batch_keeps_its_order(folder: str) -> None:
    prompts = [f"Number {i}" for i in range(12)]
    together = [answer.text for answer in grus.batch(prompts, model=folder, **SAMPLING)]
    assert together == [grus.chat(prompt, model=folder, **SAMPLING) for prompt in prompts]


def test_both_backends(folder: str) -> None:
    said = {
        backend: grus.chat("Hello", model=folder, options={"backend": backend}, **SAMPLING)
        for backend in ("torch", "mlx")
    }
    assert said["torch"] == said["mlx"]


def test_errors_are_typed(folder: str) -> None:
    with pytest.raises(BadRequest, match="temperature"):
        grus.chat("Hello", model=folder, temperature=-1.0)
    with pytest.raises(grus.GrusError, match="/no/such/model"):
        grus.chat("Hello", model="/no/such/model")
    model = grus.load(folder)
    model.close()
    with pytest.raises(EngineStopped):
        model.run("Hello")


def test_reasoning_and_tool_calls_are_told_apart_from_the_answer() -> None:
    """As the server and the window do it: by the parser that the model's template asks for."""
    tags = ReasoningTags("<think>", "</think>")
    request = Request("m", [1], SamplingParams())
    parser = ReplyParser(lambda: ReasoningSplitter(tags), lambda: parser_for("qwen3", "<tool_call>"))
    call = '<tool_call>\n{"name": "look", "arguments": {"at": "sky"}}\n</tool_call>'
    text = f"<think>\nHm.\n</think>\n\nI look.{call}"
    model: Any = None
    prepared = PreparedChat(request, parser, Prompt("", [1]), model)
    answer = grus._answer(prepared, Result("m", text, [1, 2], "stop", Timings()))
    assert (answer.text, answer.reasoning, answer.answer.strip()) == (text, "Hm.", "I look.")
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [("look", '{"at": "sky"}')]
