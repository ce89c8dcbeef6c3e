"""`--tools` of `grus chat` and `grus run`: the tools of a conversation in the terminal, and the person who is asked there."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import grus
from app.commands.tools import plain

if TYPE_CHECKING:
    from app.commands.memory import TerminalMemory
    from app.runtime.tools.loop import ModelReply, ToolEvent, ToolLoop
    from app.runtime.tools.permissions import PermissionAnswer, PermissionRequest, Permissions
    from app.runtime.tools.tool import Tool
    from app.runtime.tools.toolbox import Toolbox

_SHOWN = 300  # characters of a result
_CHOICES = "Allow it? [y]es, [n]o, [e]dit, yes in this [c]onversation, [a]lways, ne[v]er: "


def add_tools(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--tools", action="store_true", help="the model may call the tools that `grus tools add` added; you are asked before each call"
    )  # fmt: skip
    command.add_argument(
        "--tool", action="append", default=[], metavar="NAME",
        help="only this server, built-in tool or SERVER/TOOL; may be repeated",
    )  # fmt: skip


class ToolTerminal:
    """Opened by `tool_terminal`."""

    def __init__(self, box: Toolbox, tools: Sequence[Tool], permissions: Permissions, model: grus.Model) -> None:
        self.box, self._tools, self._permissions, self._model = box, tools, permissions, model

    def loop(self, ask: Callable[[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]], ModelReply]) -> ToolLoop:
        return self._model.tool_loop(ask, self._tools, self._permissions.approve, on_event=self._show)

    def _show(self, event: ToolEvent) -> None:
        from app.runtime.tools.loop import ToolCallBegun

        if isinstance(event, ToolCallBegun):
            print(
                f"\n[{self._label(event.name)} {plain(json.dumps(event.arguments, ensure_ascii=False))}]",
                file=sys.stderr,
            )
            return
        step = event.step
        words = "" if step.outcome == "made" else f"{step.outcome}: "
        text = plain(" ".join(step.result.split()))
        print(f"[{words}{text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}]", file=sys.stderr)

    def _label(self, name: str) -> str:
        return plain(next((tool.label for tool in self._tools if tool.name == name), name))


@contextmanager
def tool_terminal(
    options: argparse.Namespace, model: grus.Model, memory: TerminalMemory | None = None
) -> Iterator[ToolTerminal | None]:
    """None where no tools were asked for, and nothing can be proposed for `memory`."""
    from app.runtime.chat import calls_tools

    asked = bool(options.tools or options.tool)
    if not asked and (memory is None or not calls_tools(model.loaded)):
        yield None
        return
    from app.runtime.memories import with_remember
    from app.runtime.tools.permissions import Permissions
    from app.runtime.tools.toolbox import Toolbox

    able = calls_tools(model.loaded)
    with Toolbox(only=(options.tool or None) if asked and able else ()) as box:
        for problem in box.problems:
            print(problem, file=sys.stderr)
        if not able:
            print(f"{model.name} does not support tool calls. It answers without tools.", file=sys.stderr)
        elif asked and not box.tools:
            print("There are no tools to use. `grus tools --help` says how one is added.", file=sys.stderr)
        tools = with_remember(box.tools, memory.keep if memory is not None and able else None, box.settings)
        permissions = Permissions(box.settings, tools, ask_person if sys.stdin.isatty() else None)
        yield ToolTerminal(box, tools, permissions, model)


def ask_person(request: PermissionRequest) -> PermissionAnswer:
    """Asked on standard error, so that standard output has the answer alone."""
    from app.runtime.tools.permissions import PermissionAnswer

    arguments: Mapping[str, Any] | None = None
    while True:
        shown = json.dumps(request.arguments if arguments is None else arguments, ensure_ascii=False, indent=1)
        leaves = ". What it is asked leaves this machine" if request.leaves_machine else ""
        changed = ". It has changed since you allowed it" if request.changed else ""
        print(f"\n{plain(request.tool)} is to run{leaves}{changed}. With:\n{plain(shown, lines=True)}", file=sys.stderr)
        word = _line(_CHOICES).strip().lower()
        if word in ("y", "yes"):
            return PermissionAnswer(True, arguments=arguments)
        if word in ("c", "conversation"):
            return PermissionAnswer(True, "conversation", arguments)
        if word in ("a", "always"):
            return PermissionAnswer(True, "for good", arguments)
        if word in ("v", "never"):
            return PermissionAnswer(False, "for good")
        if word in ("n", "no", ""):
            return PermissionAnswer(False)
        if word in ("e", "edit"):
            arguments = _edited() or arguments


def _edited() -> Mapping[str, Any] | None:
    try:
        given = json.loads(_line("The arguments, as JSON in one line: "))
    except ValueError as error:
        print(f"This is no valid JSON: {error}.", file=sys.stderr)
        return None
    if not isinstance(given, dict):
        print('The arguments are an object: {"name": "value"}.', file=sys.stderr)
        return None
    return given


def _line(prompt: str) -> str:
    """An end of the input is a no."""
    print(prompt, end="", flush=True, file=sys.stderr)
    return sys.stdin.readline()
