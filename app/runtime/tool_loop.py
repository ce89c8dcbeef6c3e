"""The tool loop: a model calls functions, reads their results, and calls again until it answers.

A tool is a plain Python function. Its signature is the schema that the model is offered, and what the model sends is checked
against it before the function runs. Nothing that goes wrong in a call ends the loop: the model reads what was wrong. A call
is made where `approve` allows it; what a tool returns is text for the model alone, and allows nothing.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from engine.errors import BadRequest

LONGEST_RESULT = 100_000  # characters of a result that the model reads
ROUNDS = 10

# of a call by its name and arguments: whether it may be made, or the arguments to make it with instead
Approve = Callable[[str, dict[str, Any]], "bool | Mapping[str, Any]"]


class RequestedCall(Protocol):
    """A call as a reply has it; the arguments are JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ModelReply:
    """What the loop needs of a reply."""

    answer: str
    calls: Sequence[RequestedCall]


@dataclass(frozen=True)
class ToolStep:
    """A call that was asked for: made, refused by `approve`, or failed with what the model then read as `result`."""

    name: str
    arguments: Mapping[str, Any]
    result: str
    outcome: Literal["made", "refused", "failed"] = "made"


@dataclass(frozen=True)
class ToolRun:
    """`messages` are the whole conversation, in OpenAI's shape. `complete` is false where the rounds were used up and the model had to
    answer without tools."""

    answer: str
    steps: tuple[ToolStep, ...]
    messages: Sequence[Mapping[str, Any]]
    complete: bool = True

    def __str__(self) -> str:
        return self.answer


class PythonTool:
    """A function as a tool: its name, the first paragraph of its docstring, and its parameters by their annotations."""

    def __init__(self, function: Callable[..., Any]) -> None:
        import typing

        from pydantic import ConfigDict, Field, create_model

        self.name = getattr(function, "__name__", "")
        if not self.name.isidentifier():
            raise BadRequest("A tool is a function with a name: define it with def.", "tools")
        about = inspect.getdoc(function) or ""
        self.description = " ".join(about.partition("\n\n")[0].split())
        hints = typing.get_type_hints(function, include_extras=True)
        fields: dict[str, Any] = {}
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise BadRequest(f"{self.name} takes {parameter}: a tool's parameters have names.", "tools")
            default = ... if parameter.default is parameter.empty else parameter.default
            # an alias, since a name such as `schema` or `_id` is none for a field
            fields[f"p{len(fields)}"] = (hints.get(parameter.name, Any), Field(default, alias=parameter.name))
        self._function = function
        self._arguments = create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)
        self._names = {name: field[1].alias for name, field in fields.items()}

    def offered(self) -> dict[str, Any]:
        """In OpenAI's shape."""
        schema = self._arguments.model_json_schema()
        schema.pop("title", None)
        for one in schema.get("properties", {}).values():
            one.pop("title", None)
        function = {"name": self.name, "description": self.description, "parameters": schema}
        return {"type": "function", "function": function}

    def run(self, arguments: Mapping[str, Any]) -> str:
        """The result as text; what is no text is written as JSON. Raises ValueError where the arguments do not fit."""
        checked = self._arguments.model_validate(dict(arguments))
        result = self._function(**{real: getattr(checked, name) for name, real in self._names.items()})
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)


def run_tools(
    ask: Callable[[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]], ModelReply],
    messages: Sequence[Mapping[str, Any]],
    functions: Sequence[Callable[..., Any]],
    approve: Approve | None = None,
    rounds: int = ROUNDS,
) -> ToolRun:
    """Until the model answers, for at most `rounds` replies with calls. `ask(messages, tools)` gets the next reply."""
    if rounds < 1:
        raise BadRequest(f"There must be at least one round, not {rounds}.", "rounds")
    tools = {tool.name: tool for tool in map(PythonTool, functions)}
    if len(tools) < len(functions):
        raise BadRequest("Two tools have the same name.", "tools")
    offered = [tool.offered() for tool in tools.values()]
    history, steps = list(messages), list[ToolStep]()
    for _ in range(rounds):
        reply = ask(history, offered)
        if not reply.calls:
            return ToolRun(reply.answer, tuple(steps), [*history, {"role": "assistant", "content": reply.answer}])
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.calls
        ]
        history.append({"role": "assistant", "content": reply.answer, "tool_calls": calls})
        for call in reply.calls:
            step = _step(call, tools, approve)
            steps.append(step)
            history.append({"role": "tool", "tool_call_id": call.id, "name": call.name, "content": step.result})
    reply = ask(history, [])
    return ToolRun(
        reply.answer, tuple(steps), [*history, {"role": "assistant", "content": reply.answer}], complete=False
    )


def _step(call: RequestedCall, tools: Mapping[str, PythonTool], approve: Approve | None) -> ToolStep:
    arguments: dict[str, Any] = {}
    try:
        arguments = json.loads(call.arguments or "{}")
        if not isinstance(arguments, dict):
            raise ValueError("the arguments are no object")
        tool = tools.get(call.name)
        if tool is None:
            raise ValueError(f"there is no tool {call.name}; there are: {', '.join(tools)}")
        if approve is not None:
            allowed = approve(call.name, dict(arguments))
            if allowed is False:
                return ToolStep(call.name, arguments, "The person did not allow this call.", "refused")
            if isinstance(allowed, Mapping):
                arguments = dict(allowed)
        result = tool.run(arguments)
    except Exception as error:  # whatever a function raises is for the model to read
        return ToolStep(call.name, arguments if isinstance(arguments, dict) else {}, f"Error: {error}", "failed")
    if len(result) > LONGEST_RESULT:
        result = f"{result[:LONGEST_RESULT]}\n[The rest is left out: {len(result):,} characters in all.]"
    return ToolStep(call.name, arguments, result)
