"""KV cache: what each layer of a model keeps between steps, the protocol of the store, and the table of its rows. Array-free.

Rows of a KV cache come in capacity classes of 256 * 2^k tokens, so at most half of a row is unused. Within a class the live
rows are compact (0 .. n-1), so a batch is a slice, not a gather. Closing or growing a slot leaves a hole that the class's last
row fills; the backend receives that as a `Move` and copies the data. Recurrent states have a row of their own, in one table,
because their size does not depend on length.

A layer with a sliding window keeps the window's tokens and some more (`KVSpec.rows_in`), whatever the length. They are written one behind
the other. When they reach the end, the last ones move to the front before the next step (`window_shifts`), so that what attention
reads lies in one piece, and a step that fails, or draft tokens that are rejected, have overwritten nothing. A position is found by
the slot's first position in that window. Copies, checkpoints and offloaded prefixes hold the window only.

A layer that keeps the prompt and the `recent` tokens behind it has no gap between them either: once as many have been generated, the
newest row is copied over that of the oldest token before the next one is written behind all others (`window_shifts`). Attention does not
ask in which order rows lie, so it reads them all with the kernels of full attention, and the memory of a sequence does not grow any more.
What has dropped out is gone: such a slot can be truncated to its prompt only, and takes one token a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

from backends.ops import Array

COMMON_GROUPS = (64, 32)  # group sizes that fused kernels support
LONG = 4096  # tokens
SMALLEST_CAPACITY = 256
# Of a layer with a sliding window, beside the window: tokens that are kept before it, so that rejected draft tokens can be dropped, and
# tokens that fit behind it, which is also the most that one step may add.
WINDOW_MARGIN, WINDOW_STEP = 64, 512


@dataclass(frozen=True)
class KVSpec:
    """A softmax attention layer's memory: keys and values of every token (or of the last `window`)."""

    heads: int
    dim: int
    v_dim: int | None = None  # None: as `dim`
    window: int | None = None
    recent: int | None = None  # of the tokens behind the prompt only the last so many are kept and seen; None: all
    latent: bool = (
        False  # `Cache.attend_latent`: values are the first `v_dim` numbers of keys, and have no rows of their own
    )

    mutual: bool = True  # `Segment.mutual` is heeded: a layer may attend causally whatever it says

    @property
    def widths(self) -> tuple[int, ...]:
        """Numbers that are kept of a token and head: of its key and of its value, or of both together."""
        return (self.dim,) if self.latent else (self.dim, self.v_dim or self.dim)

    @property
    def view(self) -> int | None:
        """What layers share whose tokens lie in the same rows; None: every token lies in the row of its number."""
        return self.window if self.recent is None else -self.recent

    def rows_in(self, capacity: int) -> int:
        """Tokens that are kept of a sequence with room for `capacity`."""
        return capacity if self.window is None else min(capacity, self.window + WINDOW_MARGIN + WINDOW_STEP)


@dataclass(frozen=True)
class SharedKVSpec:
    """A softmax attention layer that reads the keys and values of an earlier layer, and keeps none of its own."""

    layer: int


@dataclass(frozen=True)
class StateSpec:
    """A recurrent layer's memory: a fixed number of bytes per sequence, whatever its length.

    The last `kernel - 1` inputs of a causal depthwise convolution over `channels`, and the matrix of a delta rule or a scan,
    `[heads, key_dim, value_dim]`, always kept in f32; without heads the convolution is all there is.
    """

    channels: int
    kernel: int
    heads: int = 0
    key_dim: int = 0
    value_dim: int = 0


@dataclass(frozen=True)
class CrossSpec:
    """Encoder keys and values of a cross attention layer, written once a sequence by `KVCache.write_cross`."""

    heads: int
    dim: int


MemorySpec: TypeAlias = KVSpec | SharedKVSpec | StateSpec | CrossSpec


@dataclass(eq=False)
class Slot:
    """A sequence's place in a KV cache. It holds its length; `place` is private to the cache."""

    id: int
    length: int = 0  # tokens whose memory is written
    capacity: int = 0  # tokens that fit without `KVCache.grow`
    place: Any = field(default=None, repr=False)  # private to the KV cache
    open: bool = True
    prompt: int | None = None  # tokens that layers with `KVSpec.recent` never drop; None: all
    dropped: int = 0  # tokens that no layer keeps any more


@dataclass(frozen=True)
class KVSnapshot:
    """A sequence's memory at one length, kept outside its slot.

    `rows` is None when only recurrent states and sliding windows were taken: such a snapshot can rewind the slot it came
    from (whose other rows up to `length` are still there) but cannot fill another one.
    """

    length: int
    nbytes: int
    rows: Any = field(repr=False, default=None)
    states: Any = field(repr=False, default=None)
    file: Any = field(repr=False, default=None)  # the `MappedFile` in which the rows lie


class KVCache(Protocol):
    """Memory of all sequences of one model, under one budget in bytes."""

    @property
    def specs(self) -> Sequence[MemorySpec]: ...

    budget: int  # bytes that may be used; the model manager changes it while models share the device

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
        """A copy of the slot's memory at its current length (`rows=False`: of recurrent states and sliding windows only)."""

    def restore(self, slot: Slot, snapshot: KVSnapshot) -> None:
        """Restore the slot to the snapshot: fill a fresh slot, or rewind the one it was taken from."""

    def copy(self, source: Slot, target: Slot, length: int) -> None:
        """Copy the first `length` tokens of `source` into the fresh slot `target`, where `source` could be truncated to them.
        Only without recurrent memory."""

    def can_truncate(self, slot: Slot, length: int) -> bool:
        """Whether what the first `length` tokens left is still there: not in a recurrent memory, nor where a sliding window has
        moved on (use a checkpoint there)."""

    def truncate(self, slot: Slot, length: int) -> None:
        """Drop all rows from `length` on, where `can_truncate` allows it."""

    def checkpoint(self, slot: Slot) -> None:
        """Save this point (recurrent states included) so that `rollback` can return to it."""

    def rollback(self, slot: Slot, keep: int = 0) -> int:
        """Undo all tokens since `checkpoint` but the first `keep`. Returns how many were kept: `keep`, or 0 where a recurrent
        memory cannot be made again for them (the caller runs the kept tokens again)."""

    def write_cross(self, slot: Slot, layer: int, k: Array, v: Array) -> None:
        """Encoder keys and values `[S, H, D]` of a `CrossSpec` layer."""

    def export_snapshot(self, snapshot: KVSnapshot) -> list[np.ndarray]:
        """The snapshot as host arrays, byte for byte (dtypes numpy lacks come as uint8/uint16 views)."""

    def import_snapshot(self, length: int, arrays: Sequence[np.ndarray]) -> KVSnapshot:
        """The inverse of `export_snapshot`."""


LEAST_GROUP, MOST_GROUP = 8, 64


def group_of(dim: int) -> int:
    """The group for heads of `dim` numbers: a common one where it divides them, else their largest even divisor of at
    most 64 (two 4-bit codes lie in a byte). A head without such a divisor is a group by itself."""
    fitting = (group for group in (*COMMON_GROUPS, *range(MOST_GROUP, LEAST_GROUP - 1, -2)) if dim % group == 0)
    return next(fitting, dim)


def capacity_class(n: int) -> int:
    """The smallest class that holds `n` tokens: powers of two, and from `LONG` on three more between two of them, so that a long
    conversation takes at most a quarter more than it needs."""
    capacity = SMALLEST_CAPACITY
    while capacity < n:
        capacity *= 2
    step = capacity // 8
    return capacity if capacity <= LONG else -(-n // step) * step


@dataclass
class SlotPlace:
    """A slot's current rows."""

    row: int  # in the slab of its capacity class
    state: int  # in the table of recurrent states (kept also for models that have none: it is only a number)
    # `KVSpec.view` -> how many positions are not kept: of a sliding window the first ones, else some behind the prompt
    firsts: dict[int, int] = field(default_factory=dict)

    def first(self, spec: KVSpec) -> int:
        return 0 if spec.view is None else self.firsts.get(spec.view, 0)


@dataclass(frozen=True)
class WindowShift:
    """In the layers with this `KVSpec.view`, `count` tokens from row `source` on move to row `target`."""

    view: int
    source: int
    count: int
    target: int = 0


def source_of(specs: Sequence[MemorySpec], layer: int) -> tuple[int, KVSpec]:
    """The layer whose keys and values this layer attends to: itself, or the one it shares them with."""
    spec = specs[layer]
    if isinstance(spec, SharedKVSpec):
        layer, spec = spec.layer, specs[spec.layer]
    assert isinstance(spec, KVSpec)
    return layer, spec


def windowed(specs: Sequence[MemorySpec]) -> dict[int, KVSpec]:
    """The sliding windows of a model, each with one of its layers."""
    return {s.window: s for s in specs if isinstance(s, KVSpec) and s.window is not None}


def recent_tokens(specs: Sequence[MemorySpec]) -> int | None:
    """Of a model whose attention keeps prompts and recent tokens: how many of these. None: a layer keeps more, so memory grows."""
    own = [spec.recent for spec in specs if isinstance(spec, KVSpec)]
    return max(own) if own and all(own) else None  # type: ignore[type-var]


def rows_for(specs: Sequence[MemorySpec], n: int, prompt: int) -> int:
    """The capacity that a sequence of `n` tokens needs, of which `prompt` are its prompt."""
    recent = recent_tokens(specs)
    return n if recent is None else min(n, max(prompt, 1) + recent + 1)


def drops_tokens(specs: Sequence[MemorySpec]) -> bool:
    """Whether a layer keeps the prompt and recent tokens only."""
    return any(isinstance(spec, KVSpec) and spec.recent is not None for spec in specs)


def tokens_at_once(specs: Sequence[MemorySpec], slot: Slot, prompt: int) -> int:
    """The most that one step may add to the slot of a sequence with this prompt, where layers drop tokens."""
    fewest = min(spec.recent for spec in specs if isinstance(spec, KVSpec) and spec.recent is not None)
    return max(1, prompt + fewest - slot.length)


def may_forget(specs: Sequence[MemorySpec], capacity: int) -> bool:
    """Whether a sequence with room for `capacity` tokens may lose what an earlier length needs. A KV cache without specs (another
    library's) may hold recurrent states."""
    return (
        not specs
        or any(isinstance(s, StateSpec) for s in specs)
        or any(s.rows_in(capacity) < capacity for s in windowed(specs).values())
    )


def kept_rows(slot: Slot, spec: KVSpec, length: int) -> tuple[int, int]:
    """The rows that a copy of the slot's first `length` tokens keeps of a layer whose rows are not all tokens'."""
    first = slot.place.first(spec)
    if spec.window is None:
        return 0, length if length <= (slot.prompt or 0) else length - first
    return max(first, length - spec.window - WINDOW_MARGIN) - first, length - first


def forget_beyond(specs: Sequence[MemorySpec], slot: Slot) -> None:
    """The slot was truncated: where nothing but its prompt is left, every token lies in the row of its number again."""
    if slot.length > (slot.prompt or 0):
        return
    slot.dropped = 0
    for spec in specs:
        if isinstance(spec, KVSpec) and spec.recent is not None:
            slot.place.firsts.pop(spec.view, None)


def window_shifts(specs: Sequence[MemorySpec], slot: Slot, n: int, prompt: int | None = None) -> Iterator[WindowShift]:
    """What has to be moved, in this order, before `n` tokens are added to the slot, whose sequence has this `prompt`."""
    if prompt is not None:
        slot.prompt = prompt
    yield from _recent_shifts(specs, slot, n)
    for window, spec in windowed(specs).items():
        first, rows = slot.place.first(spec), spec.rows_in(slot.capacity)
        if slot.length - first + n <= rows:
            continue
        start = first + kept_rows(slot, spec, slot.length)[0]
        if slot.length - start + n > rows:
            raise ValueError(f"slot {slot.id} takes at most {rows - slot.length + start} tokens in a step, not {n}")
        yield WindowShift(window, start - first, slot.length - start)
        slot.place.firsts[window] = start


def _recent_shifts(specs: Sequence[MemorySpec], slot: Slot, n: int) -> Iterator[WindowShift]:
    views = {spec.recent: spec for spec in specs if isinstance(spec, KVSpec) and spec.recent is not None}
    for recent, spec in views.items():
        dropped = slot.place.first(spec)
        rows = slot.length + n if slot.prompt is None else slot.prompt + recent
        if slot.length - dropped + n <= rows:
            continue
        if n > 1:
            raise ValueError(f"slot {slot.id} takes one token in a step once it drops others, not {n}")
        if recent > 1:
            yield WindowShift(-recent, rows - 1, 1, rows - recent + dropped % (recent - 1))
        slot.place.firsts[-recent] = dropped + 1
    if views and recent_tokens(specs) is not None:
        slot.dropped = min(slot.place.first(spec) for spec in views.values())


def can_truncate(specs: Sequence[MemorySpec], slot: Slot, length: int) -> bool:
    """See `KVCache.can_truncate`."""
    if length == slot.length:
        return True
    gone = any(view < 0 < count for view, count in slot.place.firsts.items())
    return not (gone and length > (slot.prompt or 0)) and _reaches(specs, slot.place.firsts, length)


def copy_can_truncate(specs: Sequence[MemorySpec], length: int, shorter: int) -> bool:
    """Whether a copy of `length` tokens also serves for its first `shorter` ones."""
    firsts = {window: length - window - WINDOW_MARGIN for window in windowed(specs)}
    return shorter == length or (bool(specs) and _reaches(specs, firsts, shorter))


def _reaches(specs: Sequence[MemorySpec], firsts: Mapping[int, int], length: int) -> bool:
    if any(isinstance(spec, StateSpec) for spec in specs):
        return False
    return all(first <= max(0, length - window + 1) for window, first in firsts.items() if window > 0)


@dataclass(frozen=True)
class Move:
    """Copy one row's data. Equal capacities: fill a hole. Different ones: a slot has grown."""

    from_capacity: int
    from_row: int
    to_capacity: int
    to_row: int


class RowTable:
    """Rows of one KV cache."""

    def __init__(self) -> None:
        self.classes: dict[int, list[Slot]] = {}  # capacity -> the owners of its rows, in row order
        self.states: list[Slot] = []  # the owners of state rows, in row order
        self._next_id = 0

    @property
    def slots(self) -> list[Slot]:
        return self.states

    def open(self, n: int) -> Slot:
        capacity = capacity_class(n)
        owners = self.classes.setdefault(capacity, [])
        slot = Slot(self._next_id, 0, capacity, SlotPlace(len(owners), len(self.states)))
        self._next_id += 1
        owners.append(slot)
        self.states.append(slot)
        return slot

    def grow(self, slot: Slot, n: int) -> list[Move]:
        """Move the slot into the class for `n` tokens. The moves are to be carried out in order."""
        capacity = capacity_class(n)
        if capacity <= slot.capacity:
            return []
        owners = self.classes.setdefault(capacity, [])
        old_capacity, old_row = slot.capacity, slot.place.row
        moves = [Move(old_capacity, old_row, capacity, len(owners)), *self._leave(slot)]
        slot.capacity, slot.place.row = capacity, len(owners)
        owners.append(slot)
        return moves

    def close(self, slot: Slot) -> tuple[list[Move], tuple[int, int] | None]:
        """Free the slot's rows: the moves that fill the hole, and the (from, to) of the state row that fills its own."""
        moves = self._leave(slot)
        last = self.states.pop()
        state_move = None
        if last is not slot:
            state_move = (last.place.state, slot.place.state)
            last.place.state = slot.place.state
            self.states[slot.place.state] = last
        slot.open, slot.capacity = False, 0
        return moves, state_move

    def _leave(self, slot: Slot) -> list[Move]:
        owners = self.classes[slot.capacity]
        last = owners.pop()
        if last is slot:
            return []
        hole = slot.place.row
        move = Move(slot.capacity, last.place.row, slot.capacity, hole)
        last.place.row = hole
        owners[hole] = last
        return [move]
