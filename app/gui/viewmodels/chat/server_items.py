"""Resources and prompts of tool servers, to be chosen for the message that is being typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from app.gui.viewmodels.chat.draft import MessageDraft
from app.gui.viewmodels.signal import Signal
from app.window_engine import JobRunner

if TYPE_CHECKING:
    from app.runtime.tools.open_tools import OpenTools
    from app.runtime.tools.resources import ServerFile, ServerPrompt, ServerResource

ItemKind = Literal["resource", "prompt"]


class ServerItems:
    """`changed`: something else is to be shown. `problem`: why a server, or what was chosen, cannot be had, in sentences."""

    def __init__(
        self, kind: ItemKind, work: JobRunner, open_tools: Callable[[], OpenTools], draft: MessageDraft
    ) -> None:
        self.kind = kind
        self._work, self._open, self._draft = work, open_tools, draft
        self.changed, self.used = Signal(), Signal()
        self.items: list[ServerResource | ServerPrompt] = []
        self.busy = False
        self.problem = ""

    def look(self) -> None:
        """Ask all servers that are on. Those that do not run yet are started."""

        def listed() -> tuple[list[Any], list[str]]:
            from app.runtime.tools.connection import listed_prompts_of, listed_resources_of

            tools = self._open()
            connections = [tools.connect(one) for one in tools.settings.servers() if one.enabled]
            return listed_resources_of(connections) if self.kind == "resource" else listed_prompts_of(connections)

        def show(found: tuple[list[Any], list[str]]) -> None:
            self.items, problems = found
            self._ended("\n".join(problems))

        self._begin()
        self._work.run(listed, show, self._ended)

    def matching(self, typed: str) -> list[ServerResource | ServerPrompt]:
        words = typed.casefold().split()
        return [one for one in self.items if all(word in _searched(one) for word in words)]

    def use(self, item: ServerResource | ServerPrompt, values: Mapping[str, str]) -> None:
        """A resource becomes a file of the message; a prompt stands in the message field, where the person reads it before it is sent.
        `used` follows."""
        draft, place = self._draft, self._draft.place

        def got() -> tuple[str, tuple[ServerFile, ...]]:
            from app.runtime.tools.resources import ServerResource

            tools = self._open()
            connection = tools.connect(tools.settings.server(item.server))
            if isinstance(item, ServerResource):
                return "", connection.read(item.filled(values)).result()
            made = connection.prompt(item, values).result()
            return made.text, made.files

        def put(made: tuple[str, tuple[ServerFile, ...]]) -> None:
            text, files = made
            self._ended("")
            if draft.place != place:  # another conversation was opened meanwhile
                return
            if text:
                draft.type(f"{draft.text.rstrip()}\n\n{text}" if draft.text.strip() else text)
                draft.loaded()
            for file in files:
                draft.add_bytes(file.name, file.data)
            self.used()

        self._begin()
        self._work.run(got, put, self._ended)

    def _begin(self) -> None:
        self.busy, self.problem = True, ""
        self.changed()

    def _ended(self, problem: str) -> None:
        self.busy, self.problem = False, problem
        self.changed()


def _searched(item: ServerResource | ServerPrompt) -> str:
    return f"{item.server} {item.title} {item.description} {getattr(item, 'uri', '')}".casefold()
