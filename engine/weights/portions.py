"""What one rank of tensor parallelism has of a matrix: some of its rows, or some of its columns.

Bytes are cut as they are stored, packed or not. Columns of a packed matrix can only be cut between its groups or blocks; elsewhere
the matrix becomes plain floats first. Nothing is copied before a backend asks, and whole runs of rows not even then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from backends.base import Affine, Blocks, Dense, Raw, Weight
from engine.errors import Unsupported
from engine.weights import affine
from engine.weights.gguf.source import as_dense
from engine.weights.gguf.types import TYPES
from engine.weights.made import Made, computed

SMALLEST_BLOCKS = "Q8_0"  # what a matrix is quantized to where the blocks that were asked for do not divide its columns


@dataclass(frozen=True)
class Portion:
    """Some indices of an axis, as ascending runs `start .. stop - 1`."""

    total: int
    runs: tuple[tuple[int, int], ...]

    @staticmethod
    def all_of(total: int) -> Portion:
        return Portion(total, ((0, total),))

    @staticmethod
    def joined(*portions: Portion) -> Portion:
        """Of several axes one behind the other."""
        runs: list[tuple[int, int]] = []
        total = 0
        for portion in portions:
            runs += [(total + start, total + stop) for start, stop in portion.runs]
            total += portion.total
        return Portion(total, _merged(runs))

    @property
    def size(self) -> int:
        return sum(stop - start for start, stop in self.runs)

    @property
    def whole(self) -> bool:
        return self.size == self.total

    def times(self, count: int) -> Portion:
        """The same of an axis with `count` numbers for each index."""
        return Portion(self.total * count, tuple((start * count, stop * count) for start, stop in self.runs))

    def repeated(self, count: int) -> Portion:
        """The same of `count` such axes one behind the other."""
        return Portion.joined(*[self] * count)

    def indices(self) -> np.ndarray:
        return np.concatenate([np.arange(start, stop) for start, stop in self.runs])


def _merged(runs: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    made: list[tuple[int, int]] = []
    for start, stop in runs:
        if made and made[-1][1] == start:
            made[-1] = made[-1][0], stop
        else:
            made.append((start, stop))
    return tuple(made)


@dataclass(frozen=True)
class Heads:
    """A rank's heads, and those of their keys and values."""

    queries: Portion
    keys: Portion
    copies: int = 1  # ranks that have the same keys

    def rows(self, dim: int) -> list[Portion]:
        """Of the projections to queries, keys and values."""
        return [self.queries.times(dim), self.keys.times(dim), self.keys.times(dim)]


@dataclass(frozen=True)
class Rank:
    """One of the processes among which a model is split."""

    index: int = 0
    count: int = 1

    def portion(self, total: int, unit: int = 1, what: str = "numbers") -> Portion:
        """This rank's share of `total`, in multiples of `unit`. The first ranks have what is left over."""
        units = total // unit if total % unit == 0 else 0
        if units < self.count:
            raise Unsupported(
                f"This model cannot be split among {self.count} devices: it has {units or total} {what}.",
                "tensor_parallel",
            )
        each, more = divmod(units, self.count)
        start = self.index * each + min(self.index, more)
        return Portion(total, ((start * unit, (start + each + (self.index < more)) * unit),))

    def heads(self, heads: int, kv_heads: int) -> Heads:
        """Whole groups of heads that share keys; where there are fewer than ranks, a group's heads go to several ranks, and each of
        these has its keys."""
        if self.count == 1:
            return Heads(Portion.all_of(heads), Portion.all_of(kv_heads))
        if kv_heads >= self.count:
            keys = self.portion(kv_heads)
            return Heads(keys.times(heads // kv_heads), keys)
        if heads < self.count:
            raise Unsupported(
                f"This model cannot be split among {self.count} devices: it has {heads} attention heads.",
                "tensor_parallel",
            )
        owners = [Rank(i, kv_heads) for i in range(kv_heads)]
        spans = [owner.portion(self.count).runs[0] for owner in owners]
        group, (first, last) = next((i, span) for i, span in enumerate(spans) if span[0] <= self.index < span[1])
        ((start, stop),) = Rank(self.index - first, last - first).portion(heads // kv_heads).runs
        before = group * (heads // kv_heads)
        queries = Portion(heads, ((before + start, before + stop),))
        return Heads(queries, Portion(kv_heads, ((group, group + 1),)), last - first)


ALONE = Rank()


def unit_of(weight: Weight) -> int:
    """Columns that a cut must not divide."""
    if isinstance(weight, Affine):
        return math.lcm(weight.group, 32 // math.gcd(32, weight.bits))
    kind = weight.type if isinstance(weight, Blocks) else weight.quant
    return 1 if kind is None else TYPES[kind].weights


def cut(weight: Weight, rows: Portion | None = None, columns: Portion | None = None) -> Weight:
    """Rows and columns of a matrix `[out, in]`, or of each matrix of `[experts, out, in]`."""
    rows = None if rows is None or rows.whole else rows
    columns = None if columns is None or columns.whole else columns
    if rows is None and columns is None:
        return weight
    *outer, out, inp = weight.shape
    runs = None if columns is None else columns.runs
    shape = (*outer, out if rows is None else rows.size, inp if columns is None else columns.size)
    if isinstance(weight, Dense):
        data = _cut(weight.data, math.prod(outer), rows, runs, inp, shape)
        return replace(weight, data=data, quant=_quant_for(weight.quant, shape[-1]))
    unit = unit_of(weight)
    if runs is not None and any(place % unit for run in runs for place in run):
        return cut(_as_floats(weight), rows, columns)
    if isinstance(weight, Affine):
        parts = []
        for raw in (weight.packed, weight.scales, weight.biases):
            width = raw.shape[-1]
            each = None if runs is None else [(a * width // inp, b * width // inp) for a, b in runs]
            size = width if each is None else sum(b - a for a, b in each)
            parts.append(_cut(raw, math.prod(outer), rows, each, width, (*shape[:-1], size)))
        return replace(weight, packed=parts[0], scales=parts[1], biases=parts[2])
    return replace(weight, data=_cut(weight.data, math.prod(outer), rows, runs, inp, shape), shape=shape)


def cut_axis(raw: Raw, portion: Portion, axis: int = 0) -> Raw:
    """Some indices of one axis of a plain tensor."""
    if portion.whole:
        return raw
    outer, inner = math.prod(raw.shape[:axis]), raw.shape[axis + 1 :]
    shape = (*raw.shape[:axis], portion.size, *inner)
    return _cut(raw, outer, portion, None, 1, shape)


def _as_floats(weight: Affine | Blocks) -> Dense:
    if isinstance(weight, Blocks):
        return as_dense(weight)
    return Dense(computed(weight.packed, weight.shape, lambda: affine.dequantize(weight)))


def _quant_for(quant: str | None, columns: int) -> str | None:
    if quant is None:
        return None
    return next((kind for kind in (quant, SMALLEST_BLOCKS) if columns % TYPES[kind].weights == 0), None)


def _cut(
    raw: Raw,
    outer: int,
    rows: Portion | None,
    columns: Sequence[tuple[int, int]] | None,
    width: int,
    shape: tuple[int, ...],
) -> Raw:
    """`raw` is `outer` matrices, whose rows have `width` columns of equal bytes. `shape`: of what is cut."""
    out = rows.total if rows is not None else shape[-2]
    row_bytes = raw.nbytes // (outer * out)
    count = out if rows is None else rows.size
    spans = (
        [(0, row_bytes)] if columns is None else [(a * row_bytes // width, b * row_bytes // width) for a, b in columns]
    )
    nbytes = outer * count * sum(stop - start for start, stop in spans)
    if columns is None and outer == 1 and rows is not None and len(rows.runs) == 1 and not isinstance(raw, Made):
        start = rows.runs[0][0] * row_bytes
        part = raw.buffer[start : start + nbytes]
        return replace(raw, offset=raw.offset + start, nbytes=nbytes, shape=shape, buffer=part)

    def make() -> np.ndarray:
        whole = np.frombuffer(raw.buffer, np.uint8).reshape(outer, out, row_bytes)
        taken = [whole] if rows is None else [whole[:, start:stop] for start, stop in rows.runs]
        strips = [np.concatenate([part[:, :, a:b] for a, b in spans], 2) for part in taken]
        return np.concatenate(strips, 1)

    return Made(raw, raw.dtype, shape, nbytes, make)


def cut_first(weight: Weight, portion: Portion) -> Weight:
    """Some matrices of `[heads, out, in]`."""
    if portion.whole:
        return weight
    heads, out, inp = weight.shape
    flat = replace_shape(weight, (heads * out, inp))
    return replace_shape(cut(flat, rows=portion.times(out)), (portion.size, out, inp))


def replace_shape(weight: Weight, shape: tuple[int, ...]) -> Weight:
    """The same rows under another shape."""
    if isinstance(weight, Dense):
        return replace(weight, data=_shaped(weight.data, shape))
    if isinstance(weight, Affine):
        packed, scales, biases = (
            _shaped(raw, (*shape[:-1], raw.shape[-1])) for raw in (weight.packed, weight.scales, weight.biases)
        )
        return Affine(packed, scales, biases, weight.bits, weight.group)
    return replace(weight, data=_shaped(weight.data, shape), shape=shape)


def _shaped(raw: Raw, shape: tuple[int, ...]) -> Raw:
    if isinstance(raw, Made):
        return Made(raw.origin, raw.dtype, shape, raw.nbytes, raw.make)
    return replace(raw, shape=shape)
