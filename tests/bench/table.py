"""Medians, ratios, and a table that reads in a terminal and in markdown."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    what: str
    unit: str
    ours: float
    peer: float | None = None
    peer_name: str = ""
    aim: str = ""
    more_is_better: bool = True
    ratio_of_turns: float | None = None  # their median, where memory's rate makes that of the medians meaningless

    @property
    def ratio(self) -> float | None:
        """Above 1 is in our favour."""
        if self.ratio_of_turns:
            return self.ratio_of_turns
        if not self.peer or not self.ours:
            return None
        return self.ours / self.peer if self.more_is_better else self.peer / self.ours


MOST_SECONDS = 60.0  # of the rounds of one row: a peer that takes longer is measured less often


def paired(rounds: int, ours: Callable[[], float], theirs: Callable[[], float]) -> tuple[float, float]:
    """Medians of both, measured in turn after one unmeasured round."""
    ours(), theirs()
    began, pairs = time.monotonic(), [(ours(), theirs())]
    while len(pairs) < rounds and time.monotonic() - began < MOST_SECONDS:
        pairs.append((ours(), theirs()))
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def number(x: float | None) -> str:
    if x is None:
        return ""
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def render(title: str, rows: list[Row]) -> str:
    head = ["what", "unit", "Grus", "peer", "peer's name", "in our favour", "aim"]
    body = [
        [r.what, r.unit, number(r.ours), number(r.peer), r.peer_name, f"{r.ratio:.2f}x" if r.ratio else "", r.aim]
        for r in rows
    ]
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]

    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths)) + " |"

    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([f"## {title}", "", line(head), rule, *map(line, body), ""])


ALTERNATIONS = 5
RATES = ("tokens/s", "requests/s")  # units of which more is better


def alternating(name: str, checkout: Path) -> list[Row]:
    """Medians of one bench that has no process to be driven, run whole here and in another checkout, in turn."""
    here, there = [], []
    for _ in range(ALTERNATIONS):
        here.append(_printed(sys.executable, name, Path.cwd()))
        there.append(_printed(str(checkout / ".venv" / "bin" / "python"), name, checkout))
    rows = []
    for key in here[0]:
        if all(key in run for run in there):
            ours, theirs = (statistics.median(run[key] for run in runs) for runs in (here, there))
            rows.append(Row(key[0], key[1], ours, theirs, "the other", more_is_better=key[1] in RATES))
    return rows


def _printed(python: str, name: str, root: Path) -> dict[tuple[str, str], float]:
    """(what, unit) -> Grus's figure, of the table that a bench prints."""
    command = [python, "-m", "tests.bench", name]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if line[:1] == "|"
    ]
    return {(what, unit): float(ours.replace(",", "")) for what, unit, ours, *_ in cells[2:]}
