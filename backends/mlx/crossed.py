"""What encoders left for cross attention: keys and values of each sequence, written once, read every step.

Sequences that decode together are read as one padded batch. It is made when their company changes and kept until then,
because putting them side by side again in every step would cost more than the attention itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from backends.base import Slot

Layers = dict[int, tuple[mx.array, mx.array]]  # layer -> keys and values [1, heads, S, dim]


@dataclass(frozen=True)
class Together:
    """Several sequences' keys and values, `[N, heads, S, dim]`, S the longest; `mask [N, 1, 1, S]` where they differ."""

    keys: mx.array
    values: mx.array
    mask: mx.array | None


class CrossMemory:
    """All sequences of one model."""

    def __init__(self, dtype: mx.Dtype) -> None:
        self._dtype = dtype
        self._of: dict[int, Layers] = {}  # by slot id
        self._company: tuple[int, ...] = ()
        self._together: dict[int, Together] = {}  # by layer, of the present company

    def put(self, slot: Slot, layer: int, k: mx.array, v: mx.array) -> int:
        """Returns by how many bytes the slot has grown."""
        before = self.nbytes(slot)
        keys, values = (mx.contiguous(x.astype(self._dtype).transpose(1, 0, 2)[None]) for x in (k, v))
        mx.async_eval(keys, values)
        self._of[slot.id] = {**self._of.get(slot.id, {}), layer: (keys, values)}
        self._forget_company(slot)
        return self.nbytes(slot) - before

    def layers(self, slot: Slot) -> Layers:
        return self._of.get(slot.id, {})

    def replace(self, slot: Slot, layers: Layers) -> int:
        """Returns by how many bytes the slot has grown."""
        before = self.nbytes(slot)
        self._of[slot.id] = layers
        self._forget_company(slot)
        return self.nbytes(slot) - before

    def drop(self, slot: Slot) -> int:
        """Returns how many bytes that frees."""
        freed = self.nbytes(slot)
        self._of.pop(slot.id, None)
        self._forget_company(slot)
        return freed

    def nbytes(self, slot: Slot) -> int:
        return sum(a.nbytes for pair in self.layers(slot).values() for a in pair)

    def get(self, slot: Slot, layer: int) -> tuple[mx.array, mx.array]:
        try:
            return self._of[slot.id][layer]
        except KeyError:
            raise ValueError(f"slot {slot.id} has no encoder output for layer {layer}") from None

    def together(self, slots: Sequence[Slot], layer: int) -> Together:
        company = tuple(slot.id for slot in slots)
        if company != self._company:
            self._company, self._together = company, {}
        if layer not in self._together:
            self._together[layer] = _side_by_side([self.get(slot, layer) for slot in slots])
        return self._together[layer]

    def _forget_company(self, slot: Slot) -> None:
        if slot.id in self._company:
            self._company, self._together = (), {}


def _side_by_side(pairs: Sequence[tuple[mx.array, mx.array]]) -> Together:
    lengths = np.array([keys.shape[2] for keys, _ in pairs])
    longest = int(lengths.max())

    def padded(which: int) -> mx.array:
        return mx.concatenate(
            [mx.pad(pair[which], [(0, 0), (0, 0), (0, longest - pair[which].shape[2]), (0, 0)]) for pair in pairs]
        )

    mask = None
    if (lengths != longest).any():
        mask = mx.array((np.arange(longest) < lengths[:, None])[:, None, None])
    return Together(padded(0), padded(1), mask)
