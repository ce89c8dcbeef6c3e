"""The recommended models of `resources/catalogue.json`, in the order in which they suit a machine.

First the largest that fit and answer quickly, as the measured bandwidth of the memory lets them, then slower ones, then those that
do not fit. The window and the command line say the expected speed before a download.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import resources

if TYPE_CHECKING:
    from engine.machine import Fit, Machine

FILE = resources.path("catalogue.json")
_READABLE = 8.0  # tokens a second: about as fast as people read


@dataclass(frozen=True)
class RecommendedModel:
    """One entry of the catalogue."""

    name: str
    repo: str
    task: str
    size: int  # bytes of the download
    format: str
    licence: str
    does: str
    gated: bool = False
    reads: int = 0  # bytes that a token reads, of models that chat
    backend: str = ""  # where nothing else is better; nothing: everywhere
    special: bool = False  # it needs more than a text or a sound, such as a recording to clone

    @property
    def experts_in_file(self) -> bool:
        """Whether it is a mixture in GGUF: a token reads some of its experts."""
        return self.format.startswith("GGUF") and 0 < self.reads < self.size // 2

    def fit(self, machine: Machine) -> Fit:
        return machine.fit(self.size, self.experts_in_file)

    def speed(self, machine: Machine | None) -> float:
        """Tokens a second on this machine, about; 0: unknown."""
        if machine is None or self.fit(machine) == "from disk":
            return 0.0
        return machine.tokens_per_second(self.reads)


def read_catalogue(file: Path = FILE) -> list[RecommendedModel]:
    return [RecommendedModel(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))["models"]]


def ranked(choices: Sequence[RecommendedModel], machine: Machine | None) -> list[RecommendedModel]:
    """Those for this machine's backend, the best first. While the machine is not known, and among models of which no speed
    is known, the catalogue's order."""
    backend = machine.backend if machine is not None else "mlx" if sys.platform == "darwin" else "torch"
    usable = [choice for choice in choices if choice.backend in ("", backend)]
    if machine is None:
        return usable

    def rank(choice: RecommendedModel) -> tuple[int, float]:
        fit, speed = choice.fit(machine), choice.speed(machine)
        if fit != "fits":
            return (2 if fit == "tight" else 3), choice.size if choice.reads else 0
        if not speed:
            return 0, 0
        return (0, -choice.size) if speed >= _READABLE else (1, -speed)

    return sorted(usable, key=rank)


def best(choices: Sequence[RecommendedModel], machine: Machine) -> dict[str, str]:
    """For each task the repository to begin with. Of models that chat the first of `ranked`, of others the largest that uses
    at most half of what is allowed, else the smallest that fits. One that asks to accept terms, or is `special`, is none to begin with."""

    def suits(choice: RecommendedModel) -> tuple[bool, int]:
        half = machine.fit(2 * choice.size) == "fits"
        return half, choice.size if half else -choice.size

    found: dict[str, RecommendedModel] = {}
    for choice in ranked(choices, machine):
        if choice.gated or choice.special or machine.fit(choice.size) != "fits":
            continue
        first = found.get(choice.task)
        if first is None or (not choice.reads and suits(choice) > suits(first)):
            found[choice.task] = choice
    return {task: choice.repo for task, choice in found.items()}
