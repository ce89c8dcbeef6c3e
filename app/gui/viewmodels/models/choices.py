"""Good first choices for this machine, from `resources/catalogue.json`: those that fit come first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.gui.texts import mark, size, tr
from app.gui.viewmodels.hook import Hook

if TYPE_CHECKING:
    from app.gui.preferences import Preferences
    from app.window_engine import WindowEngine
    from engine.machine import Machine

FILE = Path(__file__).resolve().parents[4] / "resources" / "catalogue.json"

# In the order in which they are shown; English, shown through `tr`.
TASKS = {
    "chat": mark("Chat"),
    "see": mark("Look at pictures"),
    "read": mark("Read pages"),
    "listen": mark("Listen"),
    "speak": mark("Speak"),
}


@dataclass(frozen=True)
class Choice:
    """One line of the catalogue."""

    name: str
    repo: str
    task: str
    size: int
    format: str
    licence: str
    does: str
    gated: bool = False


def read_catalogue(file: Path = FILE) -> list[Choice]:
    return [Choice(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))["models"]]


def best(choices: Sequence[Choice], machine: Machine) -> dict[str, str]:
    """For each task the repository to begin with: the largest that uses at most half of what is allowed."""
    found: dict[str, Choice] = {}
    for choice in choices:
        if choice.gated or machine.fit(2 * choice.size) != "fits":
            continue
        if choice.task not in found or choice.size > found[choice.task].size:
            found[choice.task] = choice
    return {task: choice.repo for task, choice in found.items()}


class Machinery:
    """What this machine is, asked once; `changed` when the answer is there."""

    def __init__(self, core: WindowEngine, preferences: Preferences) -> None:
        self._core, self._preferences = core, preferences
        self.changed = Hook()
        self.machine: Machine | None = None
        self.problem = ""

    def look(self) -> None:
        preferences = self._preferences

        def ask(service: Any) -> Machine:
            from engine.loading import LoadOptions
            from engine.machine import look

            options = LoadOptions(
                backend=preferences.get("backend", "auto"),
                device=preferences.get("device", "auto"),
                cache_dir=preferences.get("cache_dir"),
            )
            return look(options, preferences.get("memory_limit"))

        self._core.use(ask, self._got, self._failed)

    def _got(self, machine: Machine) -> None:
        self.machine, self.problem = machine, ""
        self.changed()

    def _failed(self, sentence: str) -> None:
        self.problem = sentence
        self.changed()


def fit_words(machine: Machine | None, nbytes: int) -> tuple[str, str]:
    """A sentence and its level."""
    if machine is None or not nbytes:
        return "", ""
    from engine.machine import needed_bytes

    needed, has = size(needed_bytes(nbytes)), size(machine.allowed)
    fit = machine.fit(nbytes)
    if fit == "fits":
        return tr("Fits this machine: needs about {needed} of {has}.", needed=needed, has=has), "ok"
    if fit == "tight":
        told = tr(
            "Needs about {needed}; models may use {has}. Raise the memory limit in Settings.", needed=needed, has=has
        )
        return told, "warning"
    return tr(
        "Too large for this machine: needs about {needed} of {has}.", needed=needed, has=size(machine.memory)
    ), "error"


def fit_mark(machine: Machine | None, nbytes: int) -> str:
    """The same in two words, for a line."""
    if machine is None or not nbytes:
        return ""
    words = {"fits": tr("fits"), "tight": tr("tight"), "too large": tr("too large")}
    return words[machine.fit(nbytes)]
