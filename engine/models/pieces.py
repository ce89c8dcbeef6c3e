"""Cutting an encoder's work into pieces, so that running replies can take their steps in between.

An encoder is written as a generator that yields after each piece; whoever drives it decides what happens meanwhile.
Knows how much work makes a piece on which device, and nothing of any architecture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from backends.base import Array, Backend, Ops

# Floating point operations of one piece: some tens of milliseconds. A graphics card runs a whole small encoder in them.
ON_CPU, ELSEWHERE = 5e9, 5e11
FEWEST_ROWS = 64  # smaller products waste more than they save


class Pixels(Protocol):
    """What an encoder needs of a picture."""

    @property
    def patches(self) -> np.ndarray:
        """`[n, values of a patch]`, f32, row by row."""

    @property
    def grid(self) -> tuple[int, int, int]:
        """Frames, rows and columns, in patches."""


def rows_a_piece(backend: Backend, operations_a_row: float) -> int:
    """How many rows of this cost make one piece."""
    return max(FEWEST_ROWS, int((ON_CPU if backend.device == "cpu" else ELSEWHERE) / operations_a_row))


def cuts(total: int, size: int) -> list[tuple[int, int]]:
    """`total` rows in parts of nearly equal length, none above `size`."""
    count = max(1, -(-total // size))
    ends = [total * i // count for i in range(count + 1)]
    return list(pairwise(ends))


def packs(lengths: Sequence[int], most: float, power: int = 1) -> Iterator[range]:
    """Neighbours that together cost no more than `most`, where one of length n costs `n ** power`; at least one each."""
    start, cost = 0, 0.0
    for i, length in enumerate(lengths):
        if i > start and cost + length**power > most:
            yield range(start, i)
            start, cost = i, 0.0
        cost += length**power
    if lengths:
        yield range(start, len(lengths))


def join(ops: Ops, parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 else ops.cat(parts, 0)


def finish(ops: Ops, x: Array) -> Array:
    """Have the device compute `x` now. A lazy one would else put everything off until the last piece."""
    ops.numpy(x[:1, :1])
    return x
