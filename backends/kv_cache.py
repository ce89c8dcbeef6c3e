"""What is remembered between steps: what each layer of a model keeps, and the store of all sequences' memory.

Part of the seam (`base.py`), whose name it is imported by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

from backends.ops import Array


@dataclass(frozen=True)
class KVSpec:
    """A softmax attention layer's memory: keys and values of every token (or of the last `window`)."""

    heads: int
    dim: int
    v_dim: int | None = None  # None: as `dim`
    window: int | None = None


@dataclass(frozen=True)
class StateSpec:
    """A recurrent layer's memory: a fixed number of bytes per sequence, whatever its length.

    The last `kernel - 1` inputs of a causal depthwise convolution over `channels`, and a delta rule's matrix
    `[heads, key_dim, value_dim]`, always kept in f32.
    """

    channels: int
    kernel: int
    heads: int
    key_dim: int
    value_dim: int


@dataclass(frozen=True)
class CrossSpec:
    """Encoder keys and values of a cross attention layer, written once a sequence by `KVCache.write_cross`."""

    heads: int
    dim: int


MemorySpec: TypeAlias = KVSpec | StateSpec | CrossSpec


@dataclass(eq=False)
class Slot:
    """A sequence's place in a KV cache. It knows its own length; where its rows lie is the store's secret."""

    id: int
    length: int = 0  # tokens whose memory is written
    capacity: int = 0  # tokens that fit without `KVCache.grow`
    place: Any = field(default=None, repr=False)  # the store's own bookkeeping
    open: bool = True


@dataclass(frozen=True)
class KVSnapshot:
    """A sequence's memory at one length, kept outside its slot.

    `rows` is None when only the recurrent states were taken: such a snapshot can rewind the slot it came from (whose
    rows up to `length` are still there) but cannot fill another one.
    """

    length: int
    nbytes: int
    rows: Any = field(repr=False, default=None)
    states: Any = field(repr=False, default=None)


class KVCache(Protocol):
    """Memory of all sequences of one model, under one budget in bytes."""

    @property
    def specs(self) -> Sequence[MemorySpec]: ...

    budget: int  # bytes that may be used; whoever shares the device out among models sets it anew

    @property
    def used(self) -> int:
        """Bytes in use by open slots (capacity, not length)."""

    def bytes_for(self, n: int) -> int:
        """Bytes that a slot with room for `n` tokens takes."""

    def open(self, n: int) -> Slot | None:
        """A slot with room for `n` tokens, or None when the budget does not allow it."""

    def grow(self, slot: Slot, n: int) -> bool:
        """Room for `n` tokens in all; False (and nothing changed) when the budget does not allow it."""

    def close(self, slot: Slot) -> None: ...

    def snapshot(self, slot: Slot, *, rows: bool = True) -> KVSnapshot:
        """A copy of the slot's memory at its present length (`rows=False`: of its recurrent states only)."""

    def restore(self, slot: Slot, snapshot: KVSnapshot) -> None:
        """Make the slot what it was at the snapshot: fill a fresh slot, or rewind the one it was taken from."""

    def copy(self, source: Slot, target: Slot, length: int) -> None:
        """Copy the first `length` rows of `source` into the fresh slot `target`. Only without recurrent memory."""

    def truncate(self, slot: Slot, length: int) -> None:
        """Forget all rows from `length` on. Only without recurrent memory (use `restore` there)."""

    def checkpoint(self, slot: Slot) -> None:
        """Remember this point (recurrent states included) so that `rollback` can return to it."""

    def rollback(self, slot: Slot, keep: int = 0) -> int:
        """Undo all tokens since `mark` but the first `keep`. Returns how many were really kept: `keep` for a model
        that only attends, 0 for one with recurrent memory (whose caller runs the kept tokens again)."""

    def write_cross(self, slot: Slot, layer: int, k: Array, v: Array) -> None:
        """Encoder keys and values `[S, H, D]` of a `CrossSpec` layer."""

    def export_snapshot(self, snapshot: KVSnapshot) -> list[np.ndarray]:
        """The snapshot as host arrays, byte for byte (dtypes numpy lacks come as uint8/uint16 views)."""

    def import_snapshot(self, length: int, arrays: Sequence[np.ndarray]) -> KVSnapshot:
        """The inverse of `export`."""
