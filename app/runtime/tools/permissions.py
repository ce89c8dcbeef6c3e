"""Who may run: of each call whether the person allowed the tool, or what they answer now. All of it is data that any surface can show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from app.runtime.tools.loop import REFUSED, Approve
from app.runtime.tools.settings import Permission, ToolSettings
from app.runtime.tools.tool import Tool


@dataclass(frozen=True)
class PermissionRequest:
    """What a person is asked before a call. `changed`: the tool was allowed before, and is no longer what it was then."""

    tool: str  # SERVER/TOOL
    description: str
    arguments: Mapping[str, Any]
    leaves_machine: bool
    read_only: bool  # as the tool says of itself
    changed: bool = False


@dataclass(frozen=True)
class PermissionAnswer:
    """`arguments` replace those that were asked for. `remember`: how long the answer holds."""

    allowed: bool
    remember: Literal["once", "conversation", "for good"] = "once"
    arguments: Mapping[str, Any] | None = None


@dataclass
class Permissions:
    """What is allowed in one conversation. Without `ask` there is nobody to be asked, and only tools that are set to always run."""

    settings: ToolSettings
    tools: Sequence[Tool]
    ask: Callable[[PermissionRequest], PermissionAnswer] | None = None
    nobody: str = "Nobody can be asked whether {tool} may run. `grus tools permit {tool} always` allows it."
    granted: set[str] = field(default_factory=set)  # in this conversation, by label and digest

    @classmethod
    def of_program(cls, settings: ToolSettings, tools: Sequence[Tool], approve: Approve | None) -> Approve:
        """With a program's own `approve` in place of a person: it is asked for every call, of its functions too. What a person
        has set to never run stays forbidden."""
        person = cls(
            settings, tools, nobody="{tool} was set neither to always run nor was it approved by this program."
        )
        if approve is None:
            return person.approve

        def both(name: str, arguments: dict[str, Any]) -> bool | str | Mapping[str, Any]:
            tool = next(one for one in tools if one.name == name)
            if not tool.trusted and settings.permission(tool.label, tool.digest) == "never":
                return person.approve(name, arguments)
            return approve(name, arguments)

        return both

    def approve(self, name: str, arguments: dict[str, Any]) -> bool | str | Mapping[str, Any]:
        """For the tool loop, which knows tools by the names that the model uses. A tool that no person added, a function of a
        program's own, is that program's to allow."""
        tool = next(one for one in self.tools if one.name == name)
        if tool.trusted:
            return True
        kept = self.settings.permission(tool.label, tool.digest)
        key = f"{tool.label} {tool.digest}"
        if kept == "never":
            return f"The person has set {tool.label} to never run."
        if kept == "always" or key in self.granted:
            return True
        if self.ask is None:
            return self.nobody.format(tool=tool.label)
        changed = self.settings.permissions().get(tool.label) == "always"
        answer = self.ask(
            PermissionRequest(tool.label, tool.description, arguments, tool.leaves_machine, tool.read_only, changed)
        )
        if answer.remember == "for good":
            lasting: Permission = "always" if answer.allowed else "never"
            self.settings.keep_permission(tool.label, lasting, tool.digest)
        elif answer.remember == "conversation" and answer.allowed:
            self.granted.add(key)
        if not answer.allowed:
            return REFUSED
        return True if answer.arguments is None else dict(answer.arguments)
