"""Recurrent memory: the last inputs of a convolution and the matrix of a delta rule, for each sequence and layer.

States are values, never written in place. A step's batch leaves one array a layer in which every sequence owns an
index; while the same sequences go on in the same order, that array is the next step's input as it is, and nothing is
gathered or scattered. Marking a point or taking a snapshot only keeps a reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx

from backends.base import Slot, StateSpec

Pair = tuple[mx.array, mx.array]  # [B, kernel - 1, channels] in the compute dtype; [B, heads, value_dim, key_dim] f32


@dataclass(eq=False)
class Batch:
    """The states of several sequences, one pair of arrays a layer."""

    size: int
    layers: dict[int, Pair]


@dataclass(frozen=True)
class Held:
    """One sequence's share of a batch."""

    batch: Batch
    index: int

    def alone(self) -> Batch:
        """A copy that keeps no other sequence's states alive."""
        return self.batch if self.batch.size == 1 else _gathered([(self.batch, [self.index])])


class StateBank:
    """All sequences' states of one model."""

    def __init__(self, specs: dict[int, StateSpec], dtype: mx.Dtype) -> None:
        self.specs = specs
        self._fresh = Batch(1, {layer: _zeros(spec, dtype) for layer, spec in specs.items()})
        self._held: dict[int, Held] = {}  # by slot id; absent: all zeros
        self.bytes_each = sum(
            (s.kernel - 1) * s.channels * dtype.size + s.heads * s.key_dim * s.value_dim * 4 for s in specs.values()
        )

    def get(self, slot: Slot) -> Held:
        return self._held.get(slot.id) or Held(self._fresh, 0)

    def put(self, slot: Slot, held: Held) -> None:
        self._held[slot.id] = held

    def drop(self, slot: Slot) -> None:
        self._held.pop(slot.id, None)

    def gather(self, slots: Sequence[Slot]) -> Batch:
        """The slots' states in this order."""
        runs: list[tuple[Batch, list[int]]] = []
        for slot in slots:
            held = self.get(slot)
            if runs and runs[-1][0] is held.batch:
                runs[-1][1].append(held.index)
            else:
                runs.append((held.batch, [held.index]))
        if len(runs) == 1 and runs[0][1] == list(range(runs[0][0].size)):
            return runs[0][0]
        return _gathered(runs)

    def assign(self, slots: Sequence[Slot], batch: Batch) -> None:
        """The slots' new states. Who stays behind in an old batch gets a copy, so that the rest of it is freed."""
        left = {id(held.batch): held.batch for held in map(self.get, slots)}
        for index, slot in enumerate(slots):
            self._held[slot.id] = Held(batch, index)
        left.pop(id(self._fresh), None)
        for old in left.values():
            owners = [(slot_id, held.index) for slot_id, held in self._held.items() if held.batch is old]
            if owners and len(owners) < old.size:
                smaller = _gathered([(old, [index for _, index in owners])])
                for index, (slot_id, _) in enumerate(owners):
                    self._held[slot_id] = Held(smaller, index)

    def arrays(self) -> list[mx.array]:
        batches = {id(held.batch): held.batch for held in self._held.values()}
        return [a for batch in batches.values() for pair in batch.layers.values() for a in pair]


def _zeros(spec: StateSpec, dtype: mx.Dtype) -> Pair:
    return (
        mx.zeros((1, spec.kernel - 1, spec.channels), dtype),
        mx.zeros((1, spec.heads, spec.value_dim, spec.key_dim), mx.float32),
    )


def _gathered(runs: list[tuple[Batch, list[int]]]) -> Batch:
    pieces = [(batch, None if ids == list(range(batch.size)) else mx.array(ids)) for batch, ids in runs]

    def join(layer: int, which: int) -> mx.array:
        taken = [
            batch.layers[layer][which] if ids is None else mx.take(batch.layers[layer][which], ids, axis=0)
            for batch, ids in pieces
        ]
        return taken[0] if len(taken) == 1 else mx.concatenate(taken)

    size = sum(len(ids) for _, ids in runs)
    return Batch(size, {layer: (join(layer, 0), join(layer, 1)) for layer in runs[0][0].layers})
