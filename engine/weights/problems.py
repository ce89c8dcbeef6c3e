"""Problems between a model and its tensors, and the one message that names them all.

A wrong config makes thousands of problems that differ only in a layer's number: such families are folded into one line
(`model.layers.0-27.mlp.up_proj.weight`), so that the message stays readable and still names every tensor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

TITLES = {
    "missing": "Missing",
    "wrong": "Wrong",
    "unexpected": "Unexpected",
}

_NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")
_FOLD_ABOVE = 24  # problems of one kind that are still listed one by one
_LINES = 40  # of one kind


@dataclass(frozen=True)
class Problem:
    kind: str  # a key of TITLES
    tensor: str
    detail: str = ""  # how it is and how it should be


def describe(where: str, problems: Sequence[Problem]) -> str:
    """A headline, then each kind with its tensors."""
    lines = [f"The weights in {where} do not fit the model that config.json describes."]
    for kind, title in TITLES.items():
        found = [problem for problem in problems if problem.kind == kind]
        if not found:
            continue
        lines.append(f"{title} ({len(found):,}):")
        families = list(_families(found)) if len(found) > _FOLD_ABOVE else [[problem] for problem in found]
        lines += [f"  {_line(family)}" for family in families[:_LINES]]
        if rest := sum(map(len, families[_LINES:])):
            lines.append(f"  and {rest:,} more")
    return "\n".join(lines)


def _families(problems: Iterable[Problem]) -> Iterable[list[Problem]]:
    families: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        families.setdefault((_NUMBER.sub("*", problem.tensor), problem.detail), []).append(problem)
    return families.values()


def _line(family: Sequence[Problem]) -> str:
    names = [problem.tensor for problem in family]
    numbers = [sorted({int(n) for n in column}) for column in zip(*(_NUMBER.findall(name) for name in names))]
    columns = iter(numbers)
    name = _NUMBER.sub(lambda _: _ranges(next(columns)), names[0])
    count = f" ({len(names):,} tensors)" if len(names) > 1 else ""
    return f"{name}{count}" + (f": {family[0].detail}" if family[0].detail else "")


def _ranges(numbers: Sequence[int]) -> str:
    """`[0, 1, 2, 5]` -> `0-2,5`"""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
