"""Adapters (LoRA): low-rank additions to linears, many of them over one set of weights, chosen for each sequence of a step.

`AdaptedLinear` stands in for a model's linear. While a step runs, `Adapters.active` adds what the adapters of its rows add; the
runner of a backend sets it, from the runs of rows that `Adapters.runs` finds in the step's plan. Where no sequence has an adapter
nothing is set, and a linear is what it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from backends.ops import Array


@dataclass(frozen=True)
class LowRank:
    """What an adapter adds to the outputs `start .. stop - 1` of a linear: `b(a(x))`, with its scale in `b`."""

    start: int
    stop: int
    a: Any  # `backends.base.Linear`
    b: Any


Sides = Mapping[str, Sequence[LowRank]]  # what each adapter adds to one linear


@dataclass(frozen=True)
class AdapterRun:
    """Neighbouring rows of a step with one adapter."""

    start: int
    stop: int
    adapter: str


class ActiveAdapters(Protocol):
    """The adapters of the rows that a model computes now."""

    def add(self, sides: Sides, x: Array, y: Array) -> Array:
        """`y`, the linear's product with `x`, and what each row's adapter adds; `y` may be overwritten."""


class AdaptedLinear:
    """Implements `backends.base.Linear` by another one, and what adapters add to it."""

    def __init__(self, linear: Any, adapters: Adapters) -> None:
        self.linear, self.shape, self._adapters = linear, linear.shape, adapters
        self.sides: dict[str, list[LowRank]] = {}

    def __call__(self, x: Array) -> Array:
        y, active = self.linear(x), self._adapters.active
        return y if active is None or not self.sides else active.add(self.sides, x, y)

    def rows(self, ids: Array) -> Array:
        return self.linear.rows(ids)

    def gather(self, x: Array, experts: Array) -> Array:
        return self.linear.gather(x, experts)


@dataclass(frozen=True)
class AdaptablePart:
    """A matrix that adapters may name: the outputs `start .. stop - 1` of a linear."""

    linear: AdaptedLinear
    start: int
    stop: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.stop - self.start, self.linear.shape[-1]


class Adapters:
    """The adapters of one model. Changed between steps only, on the thread that runs the model."""

    def __init__(self) -> None:
        self.parts: dict[str, AdaptablePart] = {}  # by the matrix's name, as the model asks its checkpoint for it
        self.names: list[str] = []
        self.always: list[str] = []  # of `names`: they take part in every row
        self.version = 0  # changes with `names`
        self.active: ActiveAdapters | None = None

    def wrap(self, linear: Any, parts: Sequence[tuple[str, int]]) -> AdaptedLinear:
        """`parts`: names and outputs of the linear's matrices."""
        made, start = AdaptedLinear(linear, self), 0
        for name, outputs in parts:
            self.parts[name] = AdaptablePart(made, start, start + outputs)
            start += outputs
        return made

    def put(self, name: str, pairs: Mapping[str, tuple[Any, Any]], always: bool = False) -> None:
        """Add an adapter: of each matrix that it changes, the linears `a` and `b`."""
        for part, (a, b) in pairs.items():
            place = self.parts[part]
            place.linear.sides.setdefault(name, []).append(LowRank(place.start, place.stop, a, b))
        self.names.append(name)
        if always:
            self.always.append(name)
        self.version += 1

    def remove(self, name: str) -> None:
        self.names.remove(name)
        for part in self.parts.values():
            part.linear.sides.pop(name, None)
        self.version += 1

    @property
    def change_logits(self) -> bool:
        """Whether any of them changes the head."""
        return any(part.linear.sides for name, part in self.parts.items() if is_head(name))

    def runs(self, rows: Sequence[tuple[int, int, str | None]]) -> list[AdapterRun]:
        """Of the sequences of a step, `(start, stop, adapter)` in the order of their rows; neighbours with one adapter are joined."""
        if not self.names:
            return []
        found: list[AdapterRun] = []
        for start, stop, adapter in rows:
            if adapter is None:
                continue
            if found and found[-1].stop == start and found[-1].adapter == adapter:
                start = found.pop().start
            found.append(AdapterRun(start, stop, adapter))
        total = rows[-1][1]
        return [*(AdapterRun(0, total, name) for name in self.always), *found]

    @contextmanager
    def using(self, active: ActiveAdapters | None) -> Iterator[None]:
        self.active = active
        try:
            yield
        finally:
            self.active = None


def is_head(name: str) -> bool:
    """Whether a matrix lies outside of the layers: the head, or the embedding that serves as one."""
    return ".layers." not in f".{name}"


def picked_runs(runs: Sequence[AdapterRun], picked: np.ndarray) -> list[AdapterRun]:
    """The runs of the rows `picked` (ascending), counted among them."""
    bounds = [(*np.searchsorted(picked, (run.start, run.stop)).tolist(), run.adapter) for run in runs]
    return [AdapterRun(start, stop, adapter) for start, stop, adapter in bounds if start < stop]


def rows_by_adapter(runs: Sequence[AdapterRun], total: int) -> dict[str, np.ndarray | None]:
    """The rows of each adapter; None: all `total` of them."""
    found: dict[str, list[np.ndarray]] = {}
    for run in runs:
        found.setdefault(run.adapter, []).append(np.arange(run.start, run.stop))
    joined = {adapter: np.concatenate(pieces) for adapter, pieces in found.items()}
    return {adapter: None if len(rows) == total else rows for adapter, rows in joined.items()}


def adapters_of(model: object) -> Adapters | None:
    """Those of a model that was built for them."""
    found = getattr(model, "adapters", None)
    return found if isinstance(found, Adapters) else None
