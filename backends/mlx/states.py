"""Per-sequence memory of fixed size on MLX: recurrent states, and encoder keys and values for cross attention.

Recurrent states are values, never written in place. A step's batch leaves one array a layer in which every sequence owns an
index; while the same sequences continue in the same order, that array is the next step's input as it is, and nothing is
gathered or scattered. A checkpoint or a snapshot only keeps a reference.

Encoder keys and values are written once per sequence and read every step. Sequences that decode together are read as one padded
batch, which is kept until the batch's members change: padding again in every step would cost more than the attention itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from backends.base import Slot, StateSpec

StatePair = tuple[
    mx.array, mx.array
]  # [B, kernel - 1, channels] in the compute dtype; [B, heads, value_dim, key_dim] f32


@dataclass(eq=False)
class StateBatch:
    """The states of several sequences, one pair of arrays a layer."""

    size: int
    layers: dict[int, StatePair]


@dataclass(frozen=True)
class StateRef:
    """One sequence's index in a batch."""

    batch: StateBatch
    index: int

    def alone(self) -> StateBatch:
        """A copy that keeps no other sequence's states alive."""
        return self.batch if self.batch.size == 1 else _gathered([(self.batch, [self.index])])


class StateBank:
    """All sequences' states of one model."""

    def __init__(self, specs: dict[int, StateSpec], dtype: mx.Dtype) -> None:
        self.specs = specs
        self._fresh = StateBatch(1, {layer: _zeros(spec, dtype) for layer, spec in specs.items()})
        self._refs: dict[int, StateRef] = {}  # by slot id; absent: all zeros
        self.bytes_each = sum(
            (s.kernel - 1) * s.channels * dtype.size + s.heads * s.key_dim * s.value_dim * 4 for s in specs.values()
        )

    def get(self, slot: Slot) -> StateRef:
        return self._refs.get(slot.id) or StateRef(self._fresh, 0)

    def put(self, slot: Slot, ref: StateRef) -> None:
        self._refs[slot.id] = ref

    def drop(self, slot: Slot) -> None:
        self._refs.pop(slot.id, None)

    def gather(self, slots: Sequence[Slot]) -> StateBatch:
        """The slots' states in this order."""
        runs: list[tuple[StateBatch, list[int]]] = []
        for slot in slots:
            ref = self.get(slot)
            if runs and runs[-1][0] is ref.batch:
                runs[-1][1].append(ref.index)
            else:
                runs.append((ref.batch, [ref.index]))
        if len(runs) == 1 and runs[0][1] == list(range(runs[0][0].size)):
            return runs[0][0]
        return _gathered(runs)

    def assign(self, slots: Sequence[Slot], batch: StateBatch) -> None:
        """The slots' new states. Sequences that stay in an old batch get a copy, so that the rest of it is freed."""
        left = {id(ref.batch): ref.batch for ref in map(self.get, slots)}
        for index, slot in enumerate(slots):
            self._refs[slot.id] = StateRef(batch, index)
        left.pop(id(self._fresh), None)
        for old in left.values():
            owners = [(slot_id, ref.index) for slot_id, ref in self._refs.items() if ref.batch is old]
            if owners and len(owners) < old.size:
                smaller = _gathered([(old, [index for _, index in owners])])
                for index, (slot_id, _) in enumerate(owners):
                    self._refs[slot_id] = StateRef(smaller, index)

    def arrays(self) -> list[mx.array]:
        batches = {id(ref.batch): ref.batch for ref in self._refs.values()}
        return [a for batch in batches.values() for pair in batch.layers.values() for a in pair]


def _zeros(spec: StateSpec, dtype: mx.Dtype) -> StatePair:
    return (
        mx.zeros((1, spec.kernel - 1, spec.channels), dtype),
        mx.zeros((1, spec.heads, spec.value_dim, spec.key_dim), mx.float32),
    )


def _gathered(runs: list[tuple[StateBatch, list[int]]]) -> StateBatch:
    pieces = [(batch, None if ids == list(range(batch.size)) else mx.array(ids)) for batch, ids in runs]

    def join(layer: int, which: int) -> mx.array:
        taken = [
            batch.layers[layer][which] if ids is None else mx.take(batch.layers[layer][which], ids, axis=0)
            for batch, ids in pieces
        ]
        return taken[0] if len(taken) == 1 else mx.concatenate(taken)

    size = sum(len(ids) for _, ids in runs)
    return StateBatch(size, {layer: (join(layer, 0), join(layer, 1)) for layer in runs[0][0].layers})


def replayed(
    parts: Sequence[tuple[int, int, Callable[[int], mx.array]]], before: dict[int, StatePair], count: int
) -> StateBatch:
    """States after some of a step's tokens. `parts`: layer, which of its pair of states, and what makes it."""
    made = {layer: list(pair) for layer, pair in before.items()}
    for layer, which, make in parts:
        made[layer][which] = make(count)
    return StateBatch(1, {layer: (pair[0], pair[1]) for layer, pair in made.items()})


Layers = dict[int, tuple[mx.array, mx.array]]  # layer -> keys and values [1, heads, S, dim]


@dataclass(frozen=True)
class PaddedBatch:
    """Several sequences' keys and values, `[N, heads, S, dim]`, S the longest; `mask [N, 1, 1, S]` where they differ."""

    keys: mx.array
    values: mx.array
    mask: mx.array | None


class CrossMemory:
    """The encoder keys and values of all sequences of one model."""

    def __init__(self, dtype: mx.Dtype) -> None:
        self._dtype = dtype
        self._of: dict[int, Layers] = {}  # by slot id
        self._members: tuple[int, ...] = ()
        self._padded: dict[int, PaddedBatch] = {}  # by layer, of the current members

    def put(self, slot: Slot, layer: int, k: mx.array, v: mx.array) -> int:
        """Returns by how many bytes the slot has grown."""
        before = self.nbytes(slot)
        keys, values = (mx.contiguous(x.astype(self._dtype).transpose(1, 0, 2)[None]) for x in (k, v))
        mx.async_eval(keys, values)
        self._of[slot.id] = {**self._of.get(slot.id, {}), layer: (keys, values)}
        self._drop_padded(slot)
        return self.nbytes(slot) - before

    def layers(self, slot: Slot) -> Layers:
        return self._of.get(slot.id, {})

    def replace(self, slot: Slot, layers: Layers) -> int:
        """Returns by how many bytes the slot has grown."""
        before = self.nbytes(slot)
        self._of[slot.id] = layers
        self._drop_padded(slot)
        return self.nbytes(slot) - before

    def drop(self, slot: Slot) -> int:
        """Returns how many bytes that frees."""
        freed = self.nbytes(slot)
        self._of.pop(slot.id, None)
        self._drop_padded(slot)
        return freed

    def nbytes(self, slot: Slot) -> int:
        return sum(a.nbytes for pair in self.layers(slot).values() for a in pair)

    def get(self, slot: Slot, layer: int) -> tuple[mx.array, mx.array]:
        try:
            return self._of[slot.id][layer]
        except KeyError:
            raise ValueError(f"slot {slot.id} has no encoder output for layer {layer}") from None

    def padded_batch(self, slots: Sequence[Slot], layer: int) -> PaddedBatch:
        members = tuple(slot.id for slot in slots)
        if members != self._members:
            self._members, self._padded = members, {}
        if layer not in self._padded:
            self._padded[layer] = _side_by_side([self.get(slot, layer) for slot in slots])
        return self._padded[layer]

    def _drop_padded(self, slot: Slot) -> None:
        if slot.id in self._members:
            self._members, self._padded = (), {}


def _side_by_side(pairs: Sequence[tuple[mx.array, mx.array]]) -> PaddedBatch:
    lengths = np.array([keys.shape[2] for keys, _ in pairs])
    longest = int(lengths.max())

    def padded(which: int) -> mx.array:
        return mx.concatenate(
            [mx.pad(pair[which], [(0, 0), (0, 0), (0, longest - pair[which].shape[2]), (0, 0)]) for pair in pairs]
        )

    mask = None
    if (lengths != longest).any():
        mask = mx.array((np.arange(longest) < lengths[:, None])[:, None, None])
    return PaddedBatch(padded(0), padded(1), mask)
