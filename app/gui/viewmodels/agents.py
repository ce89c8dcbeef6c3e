"""The server pane's 'Connect an agent': which programs are here, connecting one to the window's server, and taking that back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.agents.connecting import Connections, SettingsChange
from app.agents.programs import AGENTS, NO_KEY, AgentProgram, AgentServer, agent_program
from app.gui.texts import tr


@dataclass(frozen=True)
class AgentEntry:
    """A program as the menu lists it."""

    name: str
    title: str  # what choosing it does
    enabled: bool


class AgentMenu:
    """`run(job, then, failed)` runs a job off the UI thread; `say` shows a sentence."""

    def __init__(self, folder: Path, run: Callable[..., Any], say: Callable[..., Any]) -> None:
        self._connections, self._run, self._say = Connections(folder), run, say

    def list(self, then: Callable[[list[AgentEntry]], Any]) -> None:
        """All programs, those that are not installed too."""

        def look() -> list[tuple[AgentProgram, bool, bool]]:
            return [(one, self._connections.connected(one), one.installed()) for one in AGENTS]

        def entry(program: AgentProgram, connected: bool, installed: bool) -> AgentEntry:
            if connected:
                title = tr("Disconnect {program}", program=program.title)
            elif installed:
                title = tr("Connect {program}", program=program.title)
            else:
                title = tr("{program} (not installed)", program=program.title)
            return AgentEntry(program.name, title, connected or installed)

        self._run(look, lambda found: then([entry(*one) for one in found]), self._fail)

    def choose(self, name: str, address: str, key: str, model: str) -> None:
        """Connect a program, or take back what connecting wrote."""
        program = agent_program(name)

        def turn() -> tuple[bool, SettingsChange]:
            if self._connections.connected(program):
                return False, self._connections.disconnect(program)
            return True, self._connections.connect(program, AgentServer(address, model, key or NO_KEY))

        def turned(done: tuple[bool, SettingsChange]) -> None:
            connected, change = done
            if connected:
                self._connected(program, change, bool(key))
            else:
                self._disconnected(program, change)

        if not model:
            self._fail(tr("Download a model first."))
            return
        self._run(turn, turned, self._fail)

    def _connected(self, program: AgentProgram, change: SettingsChange, key: bool) -> None:
        if program.name == "zed" and key:
            sentence = tr("{program} uses this server now. Enter the key in its settings, too.", program=program.title)
        elif change.backup is not None:
            sentence = tr(
                "{program} uses this server now. Its earlier settings are kept in {file}.",
                program=program.title, file=change.backup,
            )  # fmt: skip
        else:
            sentence = tr("{program} uses this server now.", program=program.title)
        self._say(sentence, level="ok", undo=(tr("Undo"), lambda: self._take_back(program)))

    def _take_back(self, program: AgentProgram) -> None:
        self._run(
            lambda: self._connections.disconnect(program),
            lambda change: self._disconnected(program, change),
            self._fail,
        )

    def _disconnected(self, program: AgentProgram, change: SettingsChange) -> None:
        if change.left:
            sentence = tr("{program} is disconnected. What you changed in {file} since stays.", program=program.title, file=change.file)  # fmt: skip
        else:
            sentence = tr("{program} has its earlier settings again.", program=program.title)
        self._say(sentence, level="ok")

    def _fail(self, sentence: str) -> None:
        self._say(sentence, level="error")
