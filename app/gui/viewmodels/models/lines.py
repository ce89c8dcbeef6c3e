"""The lines of the models pane's list, for each of its three pages. Knows how they read, not how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.gui.texts import number, size, tr
from app.gui.viewmodels.models.choices import TASKS, Choice, best, fit_mark
from app.gui.viewmodels.models.downloads import Downloads
from app.gui.viewmodels.models.finding import Finding
from app.gui.viewmodels.models.library import Library

if TYPE_CHECKING:
    from engine.machine import Machine


@dataclass(frozen=True)
class Line:
    """A heading (no `key`), or a model: two lines of words and a mark."""

    title: str
    key: str = ""
    second: str = ""
    mark: str = ""
    level: str = ""  # of the mark

    @property
    def heading(self) -> bool:
        return not self.key


def here(library: Library, downloads: Downloads, words: str = "") -> list[Line]:
    """On this machine: on their way, in memory, on disk, cut off."""
    lines: list[Line] = []
    coming = [item for item in downloads.items if _fits(words, item.repo)]
    if coming:
        lines.append(Line(tr("On their way")))
        lines += [Line(item.repo, item.repo, item.sentence) for item in coming]
    paths = {item.repo for item in downloads.items}
    models = [model for model in library.models if model.name not in paths and _fits(words, model.name)]
    for title, group in (
        (tr("In memory"), [model for model in models if model.resident]),
        (tr("On disk"), [model for model in models if not model.resident and model.whole]),
        (tr("Cut off"), [model for model in models if not model.whole]),
    ):
        lines += [Line(title)] if group else []
        for model in group:
            held = model.resident
            second = library.busy.get(model.name) or (
                tr("{size} in memory", size=size(held.weights + held.talk)) if held else size(model.nbytes)
            )
            lines.append(Line(model.name, model.name, second, tr("loaded") if held else "", "ok" if held else ""))
    return lines


def good(choices: Sequence[Choice], library: Library, machine: Machine | None, words: str = "") -> list[Line]:
    """Good first choices, by what they do; the best for this machine is marked."""
    there = {model.name for model in library.models if model.whole}
    chosen = set(best(choices, machine).values()) if machine is not None else set()
    lines: list[Line] = []
    for task, title in TASKS.items():
        group = [c for c in choices if c.task == task and _fits(words, f"{c.name} {c.repo} {c.does}")]
        lines += [Line(tr(title))] if group else []
        for choice in group:
            mark, level = fit_mark(machine, choice.size), ""
            if choice.repo in there:
                mark, level = tr("here"), "ok"
            elif choice.repo in chosen:
                mark, level = tr("begin with this"), "ok"
            lines.append(Line(choice.name, choice.repo, f"{size(choice.size)} · {choice.licence}", mark, level))
    return lines


def found(finding: Finding, library: Library) -> list[Line]:
    """What the search found."""
    there = {entry.repo for entry in finding.found if (model := library.find(entry.repo)) is not None and model.whole}
    return [
        Line(
            entry.repo,
            entry.repo,
            " · ".join(filter(None, (entry.task, tr("{n} downloads a month", n=_short(entry.downloads))))),
            tr("here") if entry.repo in there else tr("asks for consent") if entry.gated else "",
            "ok" if entry.repo in there else "",
        )
        for entry in finding.found
    ]


def _fits(words: str, text: str) -> bool:
    return all(word in text.casefold() for word in words.casefold().split())


def _short(n: int) -> str:
    if n >= 1_000_000:
        return f"{number(n / 1e6)} M"
    return f"{n / 1e3:.0f} k" if n >= 10_000 else str(n)
