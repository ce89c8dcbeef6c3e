"""KV cache storage on MLX: slabs per capacity class, recurrent states, encoder keys and values, under one budget.

For each capacity class and layer there are two slabs `(rows, heads, capacity, dim)`. Metal's attention reads this layout without
copying: a batch is a slice of rows, a length a slice of tokens. A write happens in place only while nothing else holds the
array, so no reference to one may outlive a step. `RowTable` assigns rows to slots; reads and writes of a step are in cache.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from backends.base import CrossSpec, KVSnapshot, KVSpec, MemorySpec, Slot, StateSpec
from backends.kv_cache import (
    COMMON_GROUPS,
    Move,
    RowTable,
    can_truncate,
    capacity_class,
    forget_beyond,
    group_of,
    kept_rows,
    recent_tokens,
    window_shifts,
)
from backends.mlx.states import CrossMemory, Layers, StateBank, StateBatch, StateRef

MOST_HALF = 65504.0  # the largest finite f16
Parts = list[mx.array]  # one array of plain rows, or three of quantized ones


class MlxPlainCodec:
    """Rows in the compute dtype, or f32 rows in f16."""

    def __init__(self, dtype: mx.Dtype, halved: bool = False) -> None:
        self.dtype = dtype
        self._halved = halved and dtype == mx.float32

    def encode(self, x: mx.array) -> Parts:
        if self._halved:
            return [mx.clip(x, -MOST_HALF, MOST_HALF).astype(mx.float16)]
        return [x if x.dtype == self.dtype else x.astype(self.dtype)]

    def decode(self, parts: Parts) -> mx.array:
        return parts[0].astype(self.dtype) if self._halved else parts[0]

    def widths(self, dim: int) -> list[tuple[int, mx.Dtype]]:
        return [(dim, mx.float16 if self._halved else self.dtype)]


class MlxQuantizedCodec:
    """Rows in MLX's affine groups along the head's dimensions."""

    def __init__(self, dtype: mx.Dtype, bits: int, group: int) -> None:
        self.dtype, self.bits, self.group = dtype, bits, group

    def encode(self, x: mx.array) -> Parts:
        return list(mx.quantize(x.astype(self.dtype), group_size=self.group, bits=self.bits))

    def decode(self, parts: Parts) -> mx.array:
        packed, scales, biases = parts
        return mx.dequantize(packed, scales, biases, group_size=self.group, bits=self.bits)

    def product(self, x: mx.array, parts: Parts, transpose: bool) -> mx.array:
        """`x @ rows.T` or `x @ rows`, without unpacking."""
        packed, scales, biases = parts
        return mx.quantized_matmul(
            x, packed, scales, biases, transpose=transpose, group_size=self.group, bits=self.bits
        )

    def first(self, parts: Parts, count: int) -> Parts:
        """The first numbers of each row, which end with a group."""
        packed, scales, biases = parts
        groups = count // self.group
        return [packed[..., : count * self.bits // 32], scales[..., :groups], biases[..., :groups]]

    def widths(self, dim: int) -> list[tuple[int, mx.Dtype]]:
        groups = dim // self.group
        return [(dim * self.bits // 32, mx.uint32), (groups, self.dtype), (groups, self.dtype)]


class MlxUnpackedCodec:
    """Rows in groups of a size that MLX's quantized kernels do not have: unpacked before attention reads them.

    `value = code * scale + least` for each group; 4-bit codes lie two in a byte."""

    def __init__(self, dtype: mx.Dtype, bits: int) -> None:
        self.dtype, self.bits = dtype, bits

    def encode(self, x: mx.array) -> Parts:
        grouped = mx.unflatten(x.astype(mx.float32), -1, (-1, group_of(x.shape[-1])))
        least = grouped.min(-1, keepdims=True).astype(self.dtype)
        top = (1 << self.bits) - 1
        # the codes are made against the rounded scale, so that its rounding costs nothing; not 0, which has no inverse
        scale = mx.maximum((grouped.max(-1, keepdims=True) - least) / top, 6e-8).astype(self.dtype)
        codes = mx.clip(mx.round((grouped - least) / scale), 0, top).astype(mx.uint8).flatten(-2)
        if self.bits == 4:
            codes = codes[..., 0::2] | (codes[..., 1::2] << 4)
        return [codes, scale.squeeze(-1), least.squeeze(-1)]

    def decode(self, parts: Parts) -> mx.array:
        codes, scale, least = parts
        if self.bits == 4:
            codes = mx.stack([codes & 15, codes >> 4], axis=-1).flatten(-2)
        grouped = mx.unflatten(codes.astype(self.dtype), -1, (scale.shape[-1], -1))
        return (grouped * scale[..., None] + least[..., None]).flatten(-2)

    def widths(self, dim: int) -> list[tuple[int, mx.Dtype]]:
        groups = dim // group_of(dim)
        return [(dim * self.bits // 8, mx.uint8), (groups, self.dtype), (groups, self.dtype)]


MlxCodec = MlxPlainCodec | MlxQuantizedCodec | MlxUnpackedCodec


def make_codec(dtype: mx.Dtype, bits: int, specs: Sequence[KVSpec]) -> MlxCodec:
    if bits in (32, 16):
        return MlxPlainCodec(dtype, halved=bits == 16)
    if bits not in (8, 4):
        raise ValueError(f"Keys and values can have 32, 16, 8 or 4 bits, not {bits}.")
    dims = [dim for s in specs for dim in (*s.widths, s.v_dim or s.dim)]  # a latent's values end at a group's border
    fitting = [size for size in COMMON_GROUPS if all(dim % size == 0 for dim in dims)]
    return MlxQuantizedCodec(dtype, bits, fitting[0]) if fitting else MlxUnpackedCodec(dtype, bits)


def row_width(codec: MlxCodec, spec: KVSpec) -> int:
    """Bytes of one token's keys and values in one layer."""
    return spec.heads * sum(width * dtype.size for dim in spec.widths for width, dtype in codec.widths(dim))


class Slabs:
    """One capacity class: for every attention layer the parts of its keys, then those of its values."""

    def __init__(self, capacity: int, specs: dict[int, KVSpec], codec: MlxCodec) -> None:
        self.capacity = capacity
        self.rows = 0
        self.keys: dict[int, Parts] = {}
        self.values: dict[int, Parts] = {}
        self._specs = specs
        self._codec = codec

    def arrays(self) -> Parts:
        return [a for side in (self.keys, self.values) for parts in side.values() for a in parts]

    def fit(self, live: int) -> None:
        """Resize to hold `live` rows, with at most half more, so that joining sequences seldom cause a copy."""
        if self.rows // 2 < live <= self.rows:
            return
        rows = _roomy(live)
        if rows == self.rows:
            return
        for layer, spec in self._specs.items():
            self.keys[layer] = self._resized(self.keys.get(layer), rows, spec, spec.dim)
            if not spec.latent:
                self.values[layer] = self._resized(self.values.get(layer), rows, spec, spec.v_dim or spec.dim)
        self.rows = rows

    def _resized(self, parts: Parts | None, rows: int, spec: KVSpec, dim: int) -> Parts:
        def zeros(count: int, width: int, dtype: mx.Dtype) -> mx.array:
            return mx.zeros((count, spec.heads, spec.rows_in(self.capacity), width), dtype)

        widths = self._codec.widths(dim)
        if parts is None or self.rows == 0:
            return [zeros(rows, width, dtype) for width, dtype in widths]
        if rows < self.rows:
            return [copied(a[:rows]) for a in parts]
        return [mx.concatenate([a, zeros(rows - self.rows, *w)]) for a, w in zip(parts, widths, strict=True)]

    def _parts_of(self, layers: Iterable[int]) -> list[tuple[int, Parts]]:
        """The keys of these layers, then their values."""
        chosen = list(layers)
        return [(layer, side[layer]) for side in (self.keys, self.values) for layer in chosen if layer in side]

    def read(self, row: int, spans: Mapping[int, tuple[int, int]]) -> Parts:
        """Copies of some tokens (start, stop) of each of these layers in a row, `[1, heads, tokens, width]`. Evaluated, so that no
        read is still under way when the next write comes."""
        out = [
            copied(a[row : row + 1, :, slice(*spans[layer])]) for layer, parts in self._parts_of(spans) for a in parts
        ]
        mx.eval(out)
        return out

    def write(self, row: int, layers: Iterable[int], rows: Parts, at: int = 0) -> None:
        """The inverse of `read`: the tokens of these layers from `at` on."""
        start = mx.array([row, at])
        left = iter(rows)
        for _, parts in self._parts_of(layers):
            parts[:] = [mx.slice_update(a, next(left), start, (0, 2)) for a in parts]

    def clear(self, row: int) -> None:
        """Fill a row with zeros: a NaN must not outlive its sequence, since 0 * NaN is NaN in a weighted sum."""
        self.write(row, self._specs, [mx.zeros((1, *a.shape[1:]), a.dtype) for a in self.arrays()])


def copied(a: mx.array) -> mx.array:
    """A new buffer. A slice would keep the whole slab alive, and make its next write copy it."""
    return a * mx.array(1, a.dtype)


def _roomy(live: int) -> int:
    """The smallest 2^k or 3 * 2^k that is not below `live`."""
    if live <= 2:
        return live
    power = 1 << (live - 1).bit_length()
    return power * 3 // 4 if power * 3 // 4 >= live else power


@dataclass(frozen=True)
class _SnapshotStates:
    """A snapshot's recurrent states, encoder memory and sliding windows. Never written to."""

    states: StateBatch
    cross: Layers
    windows: Parts


@dataclass
class _Checkpoint:
    length: int
    states: StateRef
    replay: Callable[[int], StateBatch] | None = None


class MlxKVCache:
    """Implements `backends.base.KVCache`."""

    def __init__(self, specs: Sequence[MemorySpec], budget: int, dtype: mx.Dtype, bits: int = 32) -> None:
        self.specs = list(specs)
        self.budget = budget
        self.used = 0
        self.dtype = dtype
        attention = {i: s for i, s in enumerate(specs) if isinstance(s, KVSpec)}
        self.codec = make_codec(dtype, bits, list(attention.values()))
        self.states = StateBank({i: s for i, s in enumerate(specs) if isinstance(s, StateSpec)}, dtype)
        self.crossed = CrossMemory(dtype)
        self.table = RowTable()
        self.slabs: dict[int, Slabs] = {}
        self._attention = attention
        self._checkpoints: dict[int, _Checkpoint] = {}

    # -- slots

    def bytes_for(self, n: int) -> int:
        capacity = capacity_class(n)
        rows = sum(spec.rows_in(capacity) * row_width(self.codec, spec) for spec in self._attention.values())
        return rows + self.states.bytes_each

    def open(self, n: int) -> Slot | None:
        if self.used + self.bytes_for(n) > self.budget:
            return None
        slot = self.table.open(n)
        self.used += self.bytes_for(n)
        self._slabs_of(slot.capacity).fit(len(self.table.classes[slot.capacity]))
        return slot

    def grow(self, slot: Slot, n: int) -> bool:
        more = self.bytes_for(n) - self.bytes_for(slot.capacity)
        if more <= 0:
            return True
        if self.used + more > self.budget:
            return False
        old = slot.capacity
        moves = self.table.grow(slot, n)
        self.used += more
        self._slabs_of(slot.capacity).fit(len(self.table.classes[slot.capacity]))
        self._carry_out(moves)
        self._shrink(old)
        return True

    def close(self, slot: Slot) -> None:
        if not slot.open:
            return
        capacity = slot.capacity
        self.used -= self.bytes_for(capacity) + self.crossed.drop(slot)
        moves, _ = self.table.close(slot)
        self._carry_out(moves)
        self._shrink(capacity)
        self.states.drop(slot)
        self._checkpoints.pop(slot.id, None)

    def _slabs_of(self, capacity: int) -> Slabs:
        if capacity not in self.slabs:
            self.slabs[capacity] = Slabs(capacity, self._attention, self.codec)
        return self.slabs[capacity]

    def _carry_out(self, moves: Sequence[Move]) -> None:
        for move in moves:
            slot = self.table.classes[move.to_capacity][move.to_row]
            if slot.length:
                spans = {layer: (0, slot.length - slot.place.first(spec)) for layer, spec in self._attention.items()}
                rows = self.slabs[move.from_capacity].read(move.from_row, spans)
                self.slabs[move.to_capacity].write(move.to_row, spans, rows)

    def make_window_room(self, slot: Slot, n: int, prompt: int | None = None) -> None:
        """Before a step that adds `n` tokens; see `Segment.prompt`."""
        for shift in window_shifts(self.specs, slot, n, prompt):
            span = shift.source, shift.source + shift.count
            spans = {layer: span for layer, spec in self._attention.items() if spec.view == shift.view}
            slabs = self.slabs[slot.capacity]
            slabs.write(slot.place.row, spans, slabs.read(slot.place.row, spans), shift.target)

    def _spans(self, length: int) -> dict[int, tuple[int, int]]:
        """Where a copy of the slot's first `length` tokens lies, in layers that keep every token."""
        return {layer: (0, length) for layer, spec in self._attention.items() if spec.view is None}

    def _window_spans(self, slot: Slot, length: int) -> dict[int, tuple[int, int]]:
        """The same in the others."""
        own = self._attention.items()
        return {layer: kept_rows(slot, spec, length) for layer, spec in own if spec.view is not None}

    def _fill(self, slot: Slot, length: int, rows: Parts | None, windows: Parts) -> None:
        slabs, row = self.slabs[slot.capacity], slot.place.row
        if rows and length:
            slabs.write(row, self._spans(length), rows)
        if windows and length:
            layers = list(self._window_spans(slot, length))
            slabs.write(row, layers, windows)
            parts = len(windows) // (2 * len(layers))
            for layer, keys in zip(layers, windows[::parts]):
                slot.place.firsts[self._attention[layer].view] = length - keys.shape[2]
            if recent_tokens(self.specs) is not None:
                slot.dropped = min(slot.place.firsts.values())

    def _shrink(self, capacity: int) -> None:
        """Free rows at once, not in the next step."""
        live = len(self.table.classes[capacity])
        if live:
            self.slabs[capacity].fit(live)
            mx.eval(self.slabs[capacity].arrays())
        else:
            del self.slabs[capacity]

    # -- going back

    def can_truncate(self, slot: Slot, length: int) -> bool:
        return can_truncate(self.specs, slot, length)

    def truncate(self, slot: Slot, length: int) -> None:
        self._needs_what_was(slot, min(slot.length, length), "truncate")
        slot.length = min(slot.length, length)
        forget_beyond(self.specs, slot)

    def checkpoint(self, slot: Slot) -> None:
        self._checkpoints[slot.id] = _Checkpoint(slot.length, self.states.get(slot))

    def set_replay(self, slot: Slot, replay: Callable[[int], StateBatch]) -> None:
        """`replay(n)`: the states after the first n tokens since the checkpoint."""
        self._checkpoints[slot.id].replay = replay

    def rollback(self, slot: Slot, keep: int = 0) -> int:
        saved = self._checkpoints.pop(slot.id, None)
        if saved is None:
            raise ValueError(f"slot {slot.id} has no checkpoint")
        if saved.length + keep >= slot.length:
            return slot.length - saved.length
        if keep and saved.replay is not None:
            self.states.put(slot, StateRef(saved.replay(keep), 0))
        elif self.states.specs:
            self.states.put(slot, saved.states)
            keep = 0
        else:
            self._needs_what_was(slot, saved.length + keep, "roll back")
        slot.length = saved.length + keep
        return keep

    # -- copies

    def snapshot(self, slot: Slot, *, rows: bool = True) -> KVSnapshot:
        slabs, row = self.slabs[slot.capacity], slot.place.row
        taken = slabs.read(row, self._spans(slot.length)) if rows else None
        windows = slabs.read(row, self._window_spans(slot, slot.length))
        kept = _SnapshotStates(self.states.get(slot).alone(), self.crossed.layers(slot), windows)
        states = [*(a for pair in kept.states.layers.values() for a in pair), *windows]
        mx.eval(states)
        return KVSnapshot(slot.length, sum(a.nbytes for a in [*(taken or []), *states]), taken, kept)

    def restore(self, slot: Slot, snapshot: KVSnapshot) -> None:
        if snapshot.rows is None and snapshot.length > slot.length:
            raise ValueError(f"the snapshot holds no rows, and slot {slot.id} has only {slot.length} of its own")
        needed = snapshot.length
        if recent_tokens(self.specs) is not None:  # where every layer drops tokens, fewer rows than there are tokens
            needed = max((a.shape[2] for a in snapshot.states.windows), default=0)
        if needed > slot.capacity:
            raise ValueError(f"slot {slot.id} has room for {slot.capacity} tokens, not {snapshot.length}")
        self._fill(slot, snapshot.length, snapshot.rows, snapshot.states.windows)
        self.states.put(slot, StateRef(snapshot.states.states, 0))
        if snapshot.states.cross:
            self.used += self.crossed.replace(slot, snapshot.states.cross)
        slot.length = snapshot.length

    def copy(self, source: Slot, target: Slot, length: int) -> None:
        self._needs_what_was(source, length, "copy")
        if length > min(source.length, target.capacity):
            raise ValueError(f"{length} rows cannot be copied from slot {source.id} to slot {target.id}")
        slabs, row = self.slabs[source.capacity], source.place.row
        rows = slabs.read(row, self._spans(length))
        self._fill(target, length, rows, slabs.read(row, self._window_spans(source, length)))
        target.length = length

    def export_snapshot(self, snapshot: KVSnapshot) -> list[np.ndarray]:
        if snapshot.states.cross:
            raise ValueError("a snapshot with an encoder's keys and values cannot leave the device")
        return [_to_host(a) for a in self._flat(snapshot)]

    def import_snapshot(self, length: int, arrays: Sequence[np.ndarray]) -> KVSnapshot:
        left = iter(arrays)
        rows = self._rows_from(left, windows=False)
        layers = {
            layer: (_from_host(next(left), self.dtype), _from_host(next(left), mx.float32))
            for layer in self.states.specs
        }
        states = _SnapshotStates(StateBatch(1, layers), {}, self._rows_from(left, windows=True))
        snapshot = KVSnapshot(length, 0, rows, states)
        return KVSnapshot(length, sum(a.nbytes for a in self._flat(snapshot)), rows, states)

    def _rows_from(self, left: Iterator[np.ndarray], windows: bool) -> Parts:
        specs = [spec for spec in self._attention.values() if (spec.view is not None) == windows]
        dims = [*(spec.dim for spec in specs), *(spec.v_dim or spec.dim for spec in specs if not spec.latent)]
        return [_from_host(next(left), dtype) for dim in dims for _, dtype in self.codec.widths(dim)]

    def _flat(self, snapshot: KVSnapshot) -> Parts:
        states = snapshot.states
        return [*(snapshot.rows or []), *(a for pair in states.states.layers.values() for a in pair), *states.windows]

    def _needs_what_was(self, slot: Slot, length: int, what: str) -> None:
        if self.states.specs:
            raise ValueError(f"a model with recurrent memory cannot {what}: restore a snapshot instead")
        if not self.can_truncate(slot, length):
            raise ValueError(f"slot {slot.id} cannot {what} to {length} tokens: a sliding window has moved on")

    # -- encoders, and what steps need

    def write_cross(self, slot: Slot, layer: int, k: mx.array, v: mx.array) -> None:
        if not isinstance(self.specs[layer], CrossSpec):
            raise ValueError(f"layer {layer} has no cross attention")
        self.used += self.crossed.put(slot, layer, k, v)

    def clear(self, slot: Slot) -> None:
        """Clear a failed sequence's rows."""
        if slot.open and slot.capacity in self.slabs:
            self.slabs[slot.capacity].clear(slot.place.row)

    def arrays(self) -> list[mx.array]:
        """All arrays that a step may have changed, to be evaluated with it."""
        return [*(a for slabs in self.slabs.values() for a in slabs.arrays()), *self.states.arrays()]


def _to_host(a: mx.array) -> np.ndarray:
    return np.array(a.view(mx.uint16) if a.dtype in (mx.bfloat16, mx.float16) else a)


def _from_host(a: np.ndarray, dtype: mx.Dtype) -> mx.array:
    made = mx.array(a)
    return made if made.dtype == dtype else made.view(dtype)
