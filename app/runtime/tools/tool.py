"""What the tool loop runs: a tool by its name, its schema and a function; and Python functions as tools."""

from __future__ import annotations

import hashlib
import inspect
import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass
from typing import Any

from engine.errors import BadRequest

BUILTIN = "grus"  # what stands before the names of built-in tools, as a server's name does before those of its tools

_PART = 50_000  # characters of a file that are read at once


@dataclass(frozen=True)
class ToolResult:
    text: str
    failed: bool = False
    pictures: tuple[bytes, ...] = ()  # files: PNG, JPEG, ...


class Tool:
    """`name` is what the model calls; `label` what a person reads: SERVER/TOOL, or a function's name. What a trusted tool returns is
    not marked as coming from outside. `leaves_machine`: its arguments go over the network. `read_only`: what the tool says of itself."""

    name: str
    label: str
    description: str
    parameters: Mapping[str, Any]
    trusted: bool = False
    leaves_machine: bool = False
    read_only: bool = False

    def run(self, arguments: Mapping[str, Any], stop: Future[None]) -> ToolResult:
        """Blocks. Raises CancelledError when `stop` is resolved, and else whatever the model shall read."""
        raise NotImplementedError

    def offered(self) -> dict[str, Any]:
        """In OpenAI's shape."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    @property
    def digest(self) -> str:
        """Of what a person has seen of the tool: a permission holds as long as this stays the same."""
        seen = json.dumps([self.label, self.description, self.parameters], sort_keys=True, default=str)
        return hashlib.sha256(seen.encode()).hexdigest()[:32]


class PythonTool(Tool):
    """A function as a tool: its name, the first paragraph of its docstring, and its parameters by their annotations."""

    def __init__(self, function: Callable[..., Any], *, builtin: bool = False) -> None:
        """`builtin`: one of Grus's own, which reads files or other data of a person."""
        import typing

        from pydantic import ConfigDict, Field, create_model

        self.name = getattr(function, "__name__", "")
        if not self.name.isidentifier():
            raise BadRequest("A tool is a function with a name: define it with def.", "tools")
        self.label = f"{BUILTIN}/{self.name}" if builtin else self.name
        self.trusted = not builtin
        self.read_only = builtin
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
        schema = self._arguments.model_json_schema()
        schema.pop("title", None)
        for one in schema.get("properties", {}).values():
            one.pop("title", None)
        self.parameters = schema

    def run(self, arguments: Mapping[str, Any], stop: Future[None]) -> ToolResult:
        """What is no text is written as JSON. Raises ValueError where the arguments do not fit."""
        checked = self._arguments.model_validate(dict(arguments))
        given = {real: getattr(checked, name) for name, real in self._names.items()}
        result = self._function(**given) if self.trusted else stoppable(lambda: self._function(**given), stop)
        return ToolResult(result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str))


def stoppable(work: Callable[[], Any], stop: Future[None]) -> Any:
    """The result of work that cannot be interrupted. When `stop` is resolved first, it ends by itself and nobody waits for it."""
    done: Future[Any] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, name="grus-tool", daemon=True).start()
    both: list[Future[Any]] = [done, stop]
    wait(both, return_when=FIRST_COMPLETED)
    if not done.done():
        raise CancelledError
    return done.result()


def part_of(text: str, start: int) -> str:
    """As much as is read at once, and where the rest begins."""
    begin = max(start, 0)
    part = text[begin:][:_PART]
    left = len(text) - begin - len(part)
    return part + (f"\n[{left:,} more characters: start = {begin + len(part)}]" if left > 0 else "")
