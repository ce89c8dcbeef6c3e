"""Models that call Python functions: `grus.agent` with a model that calls, on both backends, and the loop with scripted replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

import grus
from app.runtime.tools.loop import LONGEST_RESULT, ModelReply, run_tools
from app.runtime.tools.tool import PythonTool
from engine.errors import BadRequest
from tests.clients.tool_calling_model import ANSWER, ToolCallingModel


@dataclass
class Call:
    name: str
    arguments: str
    id: str = "c1"


class Script:
    """Replies in their order: a text, or calls. `asked` has the messages and tools of each request."""

    def __init__(self, *replies: str | Sequence[Call]) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]] = []

    def __call__(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> ModelReply:
        self.asked.append((list(messages), list(tools)))
        reply = self.replies.pop(0)
        return ModelReply(reply, ()) if isinstance(reply, str) else ModelReply("", reply)


ASK = [{"role": "user", "content": "Go"}]


def add(first: int, second: int = 1, *, kind: Literal["sum", "product"] = "sum") -> int:
    """Adds two numbers,
    or multiplies them.

    Not for the model.
    """
    return first + second if kind == "sum" else first * second


def call(arguments: Any, name: str = "add", id: str = "c1") -> list[Call]:
    return [Call(name, arguments if isinstance(arguments, str) else json.dumps(arguments), id)]


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_model_calls_a_function_and_answers(backend: str, tmp_path: Path) -> None:
    cities: list[str] = []

    def get_weather(city: str) -> str:
        """The weather in a city."""
        cities.append(city)
        return "Sunny"

    folder = str(ToolCallingModel().save(tmp_path / "model"))
    options = {"backend": backend, "device": "cpu"}
    try:
        run = grus.agent("What is the weather in Paris?", [get_weather], model=folder, options=options, temperature=0.0)
        assert (run.answer, str(run), run.complete, cities) == (ANSWER, ANSWER, True, ["Paris"])
        assert [(step.name, step.arguments, step.result) for step in run.steps] == [
            ("get_weather", {"city": "Paris"}, "Sunny")
        ]
        assert [message["role"] for message in run.messages] == ["user", "assistant", "tool", "assistant"]
        refused = grus.agent(
            "And now?", [get_weather], model=folder, options=options, approve=lambda name, given: False, temperature=0.0
        )
        assert (refused.steps[0].outcome, refused.answer, len(cities)) == ("refused", ANSWER, 1)
    finally:
        grus.unload()


def test_the_signature_is_what_the_model_is_offered() -> None:
    function = PythonTool(add).offered()["function"]
    assert (function["name"], function["description"]) == ("add", "Adds two numbers, or multiplies them.")
    parameters = function["parameters"]
    assert parameters["required"] == ["first"]
    assert parameters["additionalProperties"] is False
    assert parameters["properties"] == {
        "first": {"type": "integer"},
        "second": {"type": "integer", "default": 1},
        "kind": {"type": "string", "enum": ["sum", "product"], "default": "sum"},
    }


def test_several_calls_and_rounds_until_an_answer() -> None:
    script = Script([*call({"first": 1}), *call({"first": 2, "second": 3}, id="c2")], call({"first": 4, "second": 5, "kind": "product"}), "20")  # fmt: skip
    run = run_tools(script, ASK, [add])
    assert [step.result for step in run.steps] == ["2", "5", "20"]
    results = [message for message in run.messages if message["role"] == "tool"]
    assert [(one["tool_call_id"], one["content"]) for one in results] == [("c1", "2"), ("c2", "5"), ("c1", "20")]
    assert (run.answer, len(script.asked)) == ("20", 3)


def fails() -> str:
    raise RuntimeError("no disk")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (call({"first": "x"}), "unable to parse string as an integer"),
        (call({"first": 1, "third": 2}), "Extra inputs are not permitted"),
        (call({}), "Field required"),
        (call("{"), "Error: "),
        (call("[1]"), "the arguments are no object"),
        (call({}, "absent"), "there is no tool absent; there are: add, fails"),
        (call({}, "fails"), "Error: no disk"),
    ],
)
def test_what_goes_wrong_is_read_by_the_model(asked: list[Call], said: str) -> None:
    script = Script(asked, "Sorry")
    run = run_tools(script, ASK, [add, fails])
    assert (run.steps[0].outcome, run.answer) == ("failed", "Sorry")
    assert said in str(script.asked[1][0][-1]["content"])


def test_calls_are_approved_refused_or_changed() -> None:
    seen: list[Any] = []

    def approve(name: str, arguments: dict[str, Any]) -> bool | dict[str, Any]:
        seen.append((name, arguments))
        return {1: True, 2: False, 3: {"first": 30}}[arguments["first"]]

    script = Script([*call({"first": 1}), *call({"first": 2}), *call({"first": 3})], "done")
    run = run_tools(script, ASK, [add], approve)
    assert [(step.outcome, step.result) for step in run.steps] == [
        ("made", "2"), ("refused", "The person did not allow this call."), ("made", "31"),
    ]  # fmt: skip
    assert run.steps[2].arguments == {"first": 30}
    assert seen == [("add", {"first": at}) for at in (1, 2, 3)]


def test_a_model_that_calls_for_ever_must_answer_and_a_huge_result_is_cut() -> None:
    def huge() -> str:
        return "x" * (LONGEST_RESULT + 5)

    script = Script(call({}, "huge"), call({}, "huge"), "enough")
    run = run_tools(script, ASK, [huge], rounds=2)
    assert (run.answer, run.complete, len(run.steps)) == ("enough", False, 2)
    assert script.asked[-1][1] == []
    assert run.steps[0].result.endswith("\n[The rest is left out: 100,005 characters in all.]")
    assert len(run.steps[0].result) < LONGEST_RESULT + 100


def takes_any(*words: str) -> None:
    pass


@pytest.mark.parametrize(
    ("functions", "rounds", "said"),
    [
        ([lambda x: x], 1, "a function with a name"),
        ([takes_any], 1, "parameters have names"),
        ([add, add], 1, "same name"),
        ([add], 0, "at least one round"),
    ],
)
def test_what_is_no_tool_is_refused(functions: list[Callable[..., Any]], rounds: int, said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        run_tools(Script("x"), ASK, functions, rounds=rounds)
