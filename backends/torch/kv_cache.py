"""KV cache storage on torch: slabs per capacity class, recurrent states, encoder keys and values, under one budget.

A slab is a few planes `[rows, heads, capacity, width]` that share all bookkeeping (growth, copies, snapshots); a codec defines
what the planes hold. PlainCodec storage is one plane, the values themselves, read without a copy. Half precision is one plane of
f16. QuantizedCodec storage is codes and, for each token, head and group of the head's dimensions, a scale and a minimum.

`RowTable` assigns rows to slots; this file moves the data. Attention is in cache.py. The budget counts what open slots may use
(their class's capacity), not their present length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from backends.base import CrossSpec, KVSnapshot, KVSpec, MemorySpec, Slot, StateSpec
from backends.kv_cache import (
    SMALLEST_CAPACITY,
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
from backends.mapped_file import MappedFile, mapped_file_of
from backends.torch.file_pages import map_over
from backends.torch.kernels import arena
from backends.torch.state_tables import RecurrentStates

MOST_HALF = torch.finfo(torch.float16).max
_LAZY_ROWS = 4  # of states: on a CPU a row takes no memory before it is used, and to grow is to copy what there is


class KVCodec(Protocol):
    """Encodes `[..., dim]` into the rows of planes, and decodes them."""

    planes: list[tuple[int, torch.dtype]]  # width and dtype of each

    def encode(self, x: Tensor) -> list[Tensor]: ...
    def decode(self, planes: Sequence[Tensor]) -> Tensor: ...


class PlainCodec:
    def __init__(self, dim: int, dtype: torch.dtype) -> None:
        self.planes = [(dim, dtype)]

    def encode(self, x: Tensor) -> list[Tensor]:
        return [x]

    def decode(self, planes: Sequence[Tensor]) -> Tensor:
        return planes[0]


class HalfCodec:
    """f32 values in half precision. Values beyond its range are clamped, since infinity would make NaN."""

    def __init__(self, dim: int) -> None:
        self.planes = [(dim, torch.float16)]

    def encode(self, x: Tensor) -> list[Tensor]:
        return [x.clamp(-MOST_HALF, MOST_HALF).half()]

    def decode(self, planes: Sequence[Tensor]) -> Tensor:
        return planes[0].float()


class QuantizedCodec:
    """`value = code * scale + least`, scale and least in f16 for each group; 4-bit codes lie two in a byte."""

    def __init__(self, dim: int, dtype: torch.dtype, bits: int) -> None:
        self.dtype, self.bits, self.dim = dtype, bits, dim
        self.group = group_of(dim)
        self.planes = [(dim * bits // 8, torch.uint8), (2 * dim // self.group, torch.float16)]

    def encode(self, x: Tensor) -> list[Tensor]:
        grouped = x.float().unflatten(-1, (-1, self.group))
        least, most = grouped.amin(-1, keepdim=True).half(), grouped.amax(-1, keepdim=True)
        top = (1 << self.bits) - 1
        # the codes are made against the rounded scale, so that its rounding costs nothing; not 0, which has no inverse
        scale = ((most - least) / top).half().clamp_min(6e-8)
        codes = ((grouped - least) / scale).round_().clamp_(0, top).to(torch.uint8).flatten(-2)
        if self.bits == 4:
            codes = codes[..., 0::2] | (codes[..., 1::2] << 4)
        return [codes, torch.cat((scale, least), -1).flatten(-2)]

    def decode(self, planes: Sequence[Tensor]) -> Tensor:
        codes, params = planes
        if self.bits == 4:
            codes = torch.stack((codes & 15, codes >> 4), -1).flatten(-2)
        pairs = params.unflatten(-1, (-1, 2)).to(self.dtype)
        grouped = codes.unflatten(-1, (-1, self.group)).to(self.dtype)
        return torch.addcmul(pairs[..., 1:], grouped, pairs[..., :1]).flatten(-2)


class Slab:
    """The rows of one capacity class of one layer's keys, or values."""

    def __init__(self, heads: int, capacity: int, codec: KVCodec, device: torch.device) -> None:
        self.heads, self.capacity, self.codec = heads, capacity, codec
        # zeros, not uninitialized memory: rows beyond a sequence's end are multiplied by a probability of 0
        self.planes = [
            torch.zeros(0, heads, capacity, width, dtype=dtype, device=device) for width, dtype in codec.planes
        ]

    @property
    def rows(self) -> int:
        return self.planes[0].shape[0]

    def bytes_for(self, rows: int) -> int:
        return sum(rounded(rows * plane.stride(0) * plane.itemsize) for plane in self.planes)

    def reserve(self, rows: int, memory: Tensor | None = None) -> None:
        """`memory`: at least `bytes_for(rows)` zero bytes to use; None: allocate."""
        start = 0
        for i, old in enumerate(self.planes):
            nbytes = rows * old.stride(0) * old.itemsize
            if memory is None:
                new = old.new_zeros(rows, *old.shape[1:])
            else:
                new = memory[start : start + nbytes].view(old.dtype).view(rows, *old.shape[1:])
            new[: old.shape[0]] = old
            self.planes[i] = new
            start += rounded(nbytes)

    def write_run(self, row: int, start: int, x: Tensor) -> None:
        """`x [n, heads, dim]`: consecutive tokens of one sequence."""
        for plane, part in zip(self.planes, self.codec.encode(x)):
            plane[row, :, start : start + x.shape[0]] = part.transpose(0, 1)

    def write_each(self, places: Tensor, x: Tensor) -> None:
        """`x [n, heads, dim]`: one token of each of n sequences; `places [n * heads]` from `places_of`."""
        for plane, part in zip(self.planes, self.codec.encode(x)):
            plane.view(-1, plane.shape[-1]).index_copy_(0, places, part.reshape(-1, part.shape[-1]))

    def read(self, first: int, last: int, start: int, stop: int) -> Tensor:
        """`[rows, heads, tokens, dim]` in the compute dtype; a view where storage is plain."""
        return self.codec.decode([plane[first:last, :, start:stop] for plane in self.planes])

    def fill_row(self, row: int, parts: Sequence[Tensor], at: int = 0, file: MappedFile | None = None) -> None:
        """Planes of one row's tokens from `at` on, `[heads, n, width]` each, as `row_parts` gives them. `file`: in which they lie."""
        for plane, part in zip(self.planes, parts):
            if file is None or at or not map_over(plane[row], part, file):
                plane[row, :, at : at + part.shape[1]] = part

    def row_parts(self, row: int, start: int, stop: int) -> list[Tensor]:
        return [plane[row, :, start:stop] for plane in self.planes]

    def clear_row(self, row: int) -> None:
        for plane in self.planes:
            plane[row] = 0


def rounded(nbytes: int) -> int:
    return -(-nbytes // 64) * 64


def places_of(rows: Tensor, positions: Tensor, heads: int, capacity: int) -> Tensor:
    """Where each (sequence, head) writes its token, as an index into a plane seen as `[rows * heads * capacity, width]`."""
    head = torch.arange(heads, device=rows.device)
    return ((rows[:, None] * heads + head) * capacity + positions[:, None]).reshape(-1)


@dataclass
class _Checkpoint:
    length: int
    states: list[Tensor] | None  # None: they are the spares of the step whose number is `step`
    step: int
    replay: Callable[[int], None] | None = None  # makes the states after the first n tokens since then, at least one


class TorchKVCache:
    """Implements `backends.base.KVCache`."""

    def __init__(
        self, specs: Sequence[MemorySpec], budget: int, dtype: torch.dtype, device: torch.device, bits: int = 32
    ) -> None:
        if bits not in (32, 16, 8, 4):
            raise ValueError(f"keys and values can be stored with 32, 16, 8 or 4 bits, not {bits}")
        self.specs, self.budget, self.used = list(specs), budget, 0
        self.dtype, self.device = dtype, device
        self.bits = bits  # 32: keys and values lie in the slabs as they were given
        self.plain = torch.float16 if bits == 16 and dtype == torch.float32 else dtype  # of rows that are no codes
        self.table = RowTable()
        self.slabs: dict[int, dict[int, tuple[Slab, ...]]] = {}  # capacity -> layer -> keys and values, or latents
        self.states: dict[int, RecurrentStates] = {}  # layer -> states
        self._exchanged: dict[int, RecurrentStates] = {}  # the same with their spares in their places
        self.cross: dict[int, dict[int, tuple[Tensor, Tensor]]] = {}  # slot id -> layer -> keys, values [H, S, D]
        self.poisoned: set[int] = set()  # ids of slots whose rows hold NaN
        self.swaps_states = device.type == "cpu"  # a CUDA graph keeps the tensors it was captured with
        self.version = 0  # changes when a tensor is replaced: captured graphs and traced programs that hold the old one are invalid
        self._checkpoints: dict[int, _Checkpoint] = {}
        self._codecs: dict[int, tuple[KVCodec, ...]] = {}
        self._state_bytes = 0
        self._spared: set[int] = set()  # state rows that are equal to their spares
        self.state_steps = 0  # steps that have swapped states with their spares
        self._token_bytes: dict[int, int] = {}  # layer -> bytes of a token
        for layer, spec in enumerate(self.specs):
            if isinstance(spec, KVSpec):
                pair = tuple(self._codec(width, bits) for width in spec.widths)
                self._codecs[layer] = pair
                widths = sum(width * plane.itemsize for codec in pair for width, plane in codec.planes)
                self._token_bytes[layer] = spec.heads * widths
            elif isinstance(spec, StateSpec):
                self.states[layer] = self._no_states(spec)
                nbytes = 4 * spec.heads * spec.key_dim * spec.value_dim + dtype.itemsize * spec.channels * (
                    spec.kernel - 1
                )
                self._state_bytes += 2 * nbytes if self.swaps_states else nbytes

    def _codec(self, dim: int, bits: int) -> KVCodec:
        if bits < 16:
            return QuantizedCodec(dim, self.dtype, bits)
        return PlainCodec(dim, self.dtype) if self.plain == self.dtype else HalfCodec(dim)

    def _no_states(self, spec: StateSpec) -> RecurrentStates:
        matrix = torch.zeros(0, spec.heads, spec.key_dim, spec.value_dim, dtype=torch.float32, device=self.device)
        conv = torch.zeros(0, spec.kernel - 1, spec.channels, dtype=self.dtype, device=self.device)
        return RecurrentStates(conv, matrix, matrix, conv)

    def _spec(self, layer: int) -> KVSpec:
        spec = self.specs[layer]
        assert isinstance(spec, KVSpec)
        return spec

    @property
    def recurrent(self) -> bool:
        return bool(self.states)

    # -- slots

    def bytes_for(self, n: int) -> int:
        capacity = capacity_class(n)
        rows = (self._spec(layer).rows_in(capacity) * nbytes for layer, nbytes in self._token_bytes.items())
        return sum(rows) + self._state_bytes

    def open(self, n: int) -> Slot | None:
        cost = self.bytes_for(n)
        if self.used + cost > self.budget:
            return None
        slot = self.table.open(n)
        self.used += cost
        self._reserve(slot.capacity)
        for tensor in self._state_rows(slot):
            tensor.zero_()
        self.forget_spares({slot.place.state})
        return slot

    def grow(self, slot: Slot, n: int) -> bool:
        cost = self.bytes_for(max(n, slot.capacity)) - self.bytes_for(slot.capacity)
        if self.used + cost > self.budget:
            return False
        old, row = slot.capacity, slot.place.row
        moves = self.table.grow(slot, n)
        self.used += cost
        if moves:
            self._reserve(slot.capacity)
            self._carry_out(moves[:1])
            self._clear_if_poisoned(slot, old, row)
            self._carry_out(moves[1:])
            self._forget_if_empty(old)
        return True

    def close(self, slot: Slot) -> None:
        capacity = slot.capacity
        self.used -= self.bytes_for(capacity) + self._cross_bytes(slot)
        self._clear_if_poisoned(slot, capacity, slot.place.row)
        self.poisoned.discard(slot.id)
        self._checkpoints.pop(slot.id, None)
        self.cross.pop(slot.id, None)
        self.forget_spares({slot.place.state, len(self.table.states) - 1})  # spared rows are open slots'
        moves, state_move = self.table.close(slot)
        self._carry_out(moves)
        if state_move is not None:
            source, target = state_move
            for states in self.states.values():
                states.conv[target] = states.conv[source]
                states.matrix[target] = states.matrix[source]
        self._forget_if_empty(capacity)

    def _reserve(self, capacity: int) -> None:
        """Make room in the class's slabs, and in the states, for all rows that the table has assigned."""
        if capacity not in self.slabs:
            self.slabs[capacity] = {
                layer: tuple(Slab(spec.heads, rows, codec, self.device) for codec in codecs)
                for layer, codecs in self._codecs.items()
                for spec in [self._spec(layer)]
                for rows in [spec.rows_in(capacity)]
            }
        self._reserve_rows(capacity, len(self.table.classes[capacity]), len(self.table.states))

    @torch.inference_mode(False)  # what a step allocates must stay writable between steps
    def _reserve_rows(self, capacity: int, rows: int, state_rows: int) -> None:
        short = [slab for pair in self.slabs[capacity].values() for slab in pair if slab.rows < rows]
        if short:
            sizes = [slab.bytes_for(_roomy(rows)) for slab in short]
            parts = arena.zeros(sum(sizes)).split(sizes) if self.device.type == "cpu" else [None] * len(short)
            for slab, part in zip(short, parts):
                slab.reserve(_roomy(rows), part)
            self.version += 1
        narrow = [states for states in self.states.values() if len(states.conv) < state_rows]
        if narrow:
            pairs = [(states.conv, states.matrix) for states in narrow]
            more = max(_LAZY_ROWS if self.device.type == "cpu" else 1, _roomy(state_rows))
            made = _with_rows([t for pair in pairs for t in pair], more)
            spares = _with_rows([t[:0] for t in made], more) if self.swaps_states else made
            for i, states in enumerate(narrow):
                states.conv, states.matrix = made[2 * i : 2 * i + 2]
                states.spare_conv, states.spare = spares[2 * i : 2 * i + 2]
            self._spared.clear()
            self._tables_have_changed()

    def swap_states(self, rows: Set[int]) -> None:
        """A step has written the next states of these rows to their spares. All states change places with their spares; the other rows
        are copied first, unless their spares are equal to them since an earlier step."""
        if len(rows) + len(self._spared) < len(self.table.states) or not rows.isdisjoint(self._spared):
            for row in set(range(len(self.table.states))) - rows - self._spared:
                for states in self.states.values():
                    states.copy_to_spares(row)
                self._spared.add(row)
            self._spared -= rows
        self.state_steps += 1
        self.states, self._exchanged = self._exchanged, self.states

    def swap_matrices(self, swapped: Sequence[RecurrentStates]) -> None:
        """The same of these alone, without the convolutions' last inputs."""
        for states in swapped:
            states.matrix, states.spare = states.spare, states.matrix
        if swapped:
            self._tables_have_changed()

    def _tables_have_changed(self) -> None:
        self._exchanged = {layer: states.exchanged() for layer, states in self.states.items()}
        self.version += 1

    def forget_spares(self, rows: set[int]) -> None:
        """The states of these rows, of no others, were written by other means than `swap_states`."""
        self._spared -= rows

    def reserve_padding(self, capacity: int, rows: int) -> int:
        """Slab rows for a padded batch, and the index of one unused state row."""
        self._reserve_rows(capacity, rows, len(self.table.states) + 1)
        return len(self.table.states)

    def _carry_out(self, moves: Sequence[Move]) -> None:
        for move in moves:
            slot = self.table.classes[move.to_capacity][move.to_row]
            for layer, targets in self.slabs[move.to_capacity].items():
                length = slot.length - slot.place.first(self._spec(layer))
                for source, target in zip(self.slabs[move.from_capacity][layer], targets):
                    target.fill_row(move.to_row, source.row_parts(move.from_row, 0, length))

    def make_window_room(self, slot: Slot, n: int, prompt: int | None = None) -> None:
        """Before a step that adds `n` tokens; see `Segment.prompt`."""
        for shift in window_shifts(self.specs, slot, n, prompt):
            for layer, pair in self.slabs[slot.capacity].items():
                if self._spec(layer).view == shift.view:
                    for slab in pair:
                        last = slab.row_parts(slot.place.row, shift.source, shift.source + shift.count)
                        slab.fill_row(slot.place.row, [part.clone() for part in last], shift.target)  # both may overlap

    def _clear_if_poisoned(self, slot: Slot, capacity: int, row: int) -> None:
        """Clear a row that holds NaN: its next owner multiplies rows beyond its end by 0, and 0 * NaN is NaN."""
        if slot.id in self.poisoned:
            for pair in self.slabs[capacity].values():
                for slab in pair:
                    slab.clear_row(row)

    def _forget_if_empty(self, capacity: int) -> None:
        """Free an empty class's memory, except the smallest class's, which the next request needs."""
        if not self.table.classes[capacity] and capacity > SMALLEST_CAPACITY:
            del self.slabs[capacity]
            self.version += 1

    # -- snapshots

    def snapshot(self, slot: Slot, *, rows: bool = True) -> KVSnapshot:
        states = [t.clone() for t in [*self._state_rows(slot), *self._window_parts(slot, slot.length)]]
        parts = [t.clone() for t in self._row_parts(slot, slot.length)] if rows else None
        nbytes = sum(t.nbytes for t in [*states, *(parts or [])])
        return KVSnapshot(slot.length, nbytes, parts, states)

    def restore(self, slot: Slot, snapshot: KVSnapshot) -> None:
        if snapshot.rows is None and slot.length < snapshot.length:
            raise ValueError("a snapshot without rows can only rewind the slot that it was taken from")
        split = 2 * len(self.states)
        if slot.capacity < self._longest(snapshot, split):
            raise ValueError(f"slot {slot.id} has room for {slot.capacity} tokens, not {snapshot.length}")
        if snapshot.rows is not None:
            self._fill(slot, snapshot.rows, snapshot.file)
        for mine, saved in zip(self._state_rows(slot), snapshot.states[:split]):
            mine.copy_(saved)
        self.forget_spares({slot.place.state})
        self._fill_windows(slot, snapshot.states[split:], snapshot.length)
        slot.length = snapshot.length

    def _longest(self, snapshot: KVSnapshot, split: int) -> int:
        """Rows that a slot needs for it; where every layer drops tokens, fewer than there are tokens."""
        if recent_tokens(self.specs) is None:
            return snapshot.length
        return max((part.shape[1] for part in snapshot.states[split:]), default=0)

    def copy(self, source: Slot, target: Slot, length: int) -> None:
        self._needs_what_was(source, length, "copied")
        if not length <= source.length or length > target.capacity:
            raise ValueError(f"{length} tokens of slot {source.id} cannot be copied into slot {target.id}")
        self._fill(target, list(self._row_parts(source, length)))
        self._fill_windows(target, list(self._window_parts(source, length)), length)
        target.length = length

    def can_truncate(self, slot: Slot, length: int) -> bool:
        return can_truncate(self.specs, slot, length)

    def truncate(self, slot: Slot, length: int) -> None:
        self._needs_what_was(slot, min(slot.length, length), "truncated")
        slot.length = min(slot.length, length)
        forget_beyond(self.specs, slot)

    def checkpoint(self, slot: Slot) -> None:
        states = [t.clone() for t in self._state_rows(slot)]
        self._checkpoints[slot.id] = _Checkpoint(slot.length, states, self.state_steps)

    def checkpoint_spares(self, slot: Slot, length: int, replay: Callable[[int], None]) -> None:
        """Save the point before the step that has just swapped states, `length` tokens long, without a copy: until the next such
        step the spares hold its states. `replay`: see `set_replay`."""
        self._checkpoints[slot.id] = _Checkpoint(length, None, self.state_steps, replay)

    def set_replay(self, slot: Slot, replay: Callable[[int], None]) -> None:
        """`replay(n)` returns to the checkpoint and makes the states after the first n tokens since it."""
        self._checkpoints[slot.id].replay = replay

    def rollback(self, slot: Slot, keep: int = 0) -> int:
        point = self._checkpoints.pop(slot.id, None)
        if point is None or not 0 <= keep <= slot.length - point.length:
            raise ValueError(f"slot {slot.id} has no checkpoint {keep} tokens back")
        if point.states is None and point.step != self.state_steps:
            raise ValueError(f"slot {slot.id} is rolled back too late: a later step has overwritten its states")
        kept = keep
        if keep and point.replay is not None:
            point.replay(keep)
        elif self.recurrent:
            saved = self._spare_rows(slot) if point.states is None else iter(point.states)
            for mine, before in zip(self._state_rows(slot), saved):
                mine.copy_(before)
            kept = 0
        self.forget_spares({slot.place.state})
        if not self.recurrent:
            self._needs_what_was(slot, point.length + kept, "rolled back")
        slot.length = point.length + kept
        return kept

    def _needs_what_was(self, slot: Slot, length: int, what: str) -> None:
        if self.recurrent:
            raise ValueError(f"a recurrent memory cannot be {what} to a length: use a snapshot")
        if not self.can_truncate(slot, length):
            raise ValueError(f"slot {slot.id} cannot be {what} to {length} tokens: a sliding window has moved on")

    def _state_rows(self, slot: Slot) -> Iterator[Tensor]:
        for states in self.states.values():
            yield states.conv[slot.place.state]
            yield states.matrix[slot.place.state]

    def _spare_rows(self, slot: Slot) -> Iterator[Tensor]:
        for states in self.states.values():
            yield states.spare_conv[slot.place.state]
            yield states.spare[slot.place.state]

    def _row_parts(self, slot: Slot, length: int) -> Iterator[Tensor]:
        """The `rows` of a snapshot: keys and values of layers that keep every token, then encoder keys and values."""
        for layer, pair in self.slabs[slot.capacity].items():
            if self._spec(layer).view is None:
                for slab in pair:
                    yield from slab.row_parts(slot.place.row, 0, length)
        for layer, spec in enumerate(self.specs):
            if isinstance(spec, CrossSpec):
                yield from self.cross_of(slot, layer)

    def _window_parts(self, slot: Slot, length: int) -> Iterator[Tensor]:
        """What a snapshot keeps of the layers that do not keep every token."""
        for layer, pair in self.slabs[slot.capacity].items():
            spec = self._spec(layer)
            if spec.view is not None:
                for slab in pair:
                    yield from slab.row_parts(slot.place.row, *kept_rows(slot, spec, length))

    def _fill(self, slot: Slot, parts: Sequence[Tensor], file: MappedFile | None = None) -> None:
        at = 0
        for layer, pair in self.slabs[slot.capacity].items():
            for slab in pair if self._spec(layer).view is None else ():
                slab.fill_row(slot.place.row, parts[at : at + len(slab.planes)], file=file)
                at += len(slab.planes)
        for layer, spec in enumerate(self.specs):
            if isinstance(spec, CrossSpec):
                self._set_cross(slot, layer, parts[at].clone(), parts[at + 1].clone())
                at += 2

    def _fill_windows(self, slot: Slot, parts: Sequence[Tensor], length: int) -> None:
        at = 0
        for layer, pair in self.slabs[slot.capacity].items():
            view = self._spec(layer).view
            for slab in pair if view is not None else ():
                slab.fill_row(slot.place.row, parts[at : at + len(slab.planes)])
                slot.place.firsts[view] = length - parts[at].shape[1]
                at += len(slab.planes)
        if recent_tokens(self.specs) is not None:
            slot.dropped = min(slot.place.firsts.values())

    # -- encoder keys and values

    def write_cross(self, slot: Slot, layer: int, k: Tensor, v: Tensor) -> None:
        self._set_cross(slot, layer, *(self._as_kept(x.transpose(0, 1)).contiguous() for x in (k, v)))

    def _as_kept(self, x: Tensor) -> Tensor:
        return x if self.plain == self.dtype else HalfCodec(x.shape[-1]).encode(x)[0]

    def cross_of(self, slot: Slot, layer: int) -> tuple[Tensor, Tensor]:
        """As they are kept: in `plain`."""
        found = self.cross.get(slot.id, {}).get(layer)
        if found is None:
            spec = self.specs[layer]
            assert isinstance(spec, CrossSpec)
            empty = torch.zeros(spec.heads, 0, spec.dim, dtype=self.plain, device=self.device)
            return empty, empty
        return found

    def _set_cross(self, slot: Slot, layer: int, k: Tensor, v: Tensor) -> None:
        before = self._cross_bytes(slot)
        self.cross[slot.id] = {
            **self.cross.get(slot.id, {}),
            layer: (k, v),
        }  # a new dict, so that a holder of the old one notices
        self.used += self._cross_bytes(slot) - before

    def _cross_bytes(self, slot: Slot) -> int:
        return sum(k.nbytes + v.nbytes for k, v in self.cross.get(slot.id, {}).values())

    # -- to and from the host

    def export_snapshot(self, snapshot: KVSnapshot) -> list[np.ndarray]:
        return [_to_host(t) for t in [*(snapshot.rows or []), *snapshot.states]]

    def import_snapshot(self, length: int, arrays: Sequence[np.ndarray]) -> KVSnapshot:
        rows, windows = self._row_dtypes()
        states = [self.dtype, torch.float32] * len(self.states) + windows
        with_rows = len(arrays) == len(rows) + len(states)
        if not with_rows and len(arrays) != len(states):
            raise ValueError(f"a snapshot of this model has {len(rows) + len(states)} arrays, not {len(arrays)}")
        wanted = [*rows, *states] if with_rows else states
        tensors = [_from_host(a, dtype, self.device) for a, dtype in zip(arrays, wanted)]
        split = len(rows) if with_rows else 0
        nbytes = sum(t.nbytes for t in tensors)
        file = mapped_file_of(arrays[0]) if with_rows and self.device.type == "cpu" else None
        return KVSnapshot(length, nbytes, tensors[:split] if with_rows else None, tensors[split:], file)

    def _row_dtypes(self) -> tuple[list[torch.dtype], list[torch.dtype]]:
        """Of a snapshot's rows, and of its windows."""
        rows: list[torch.dtype] = []
        windows: list[torch.dtype] = []
        for layer, pair in self._codecs.items():
            kept = rows if self._spec(layer).view is None else windows
            kept += [plane for codec in pair for _, plane in codec.planes]
        crossed = sum(isinstance(spec, CrossSpec) for spec in self.specs)
        return rows + [self.plain] * (2 * crossed), windows


def _roomy(rows: int) -> int:
    """Rows to allocate for `rows` in use: half more, so that n sequences joining one by one cause fewer than n copies."""
    return rows + rows // 2


def _with_rows(old: Sequence[Tensor], rows: int) -> list[Tensor]:
    """Tensors with more rows. On a CPU they are fresh memory that nothing has touched: to clear rows that nobody uses yet takes longer than a step."""
    if old[0].device.type == "cpu":
        sizes = [rows * t.shape[1:].numel() * t.itemsize for t in old]
        parts = arena.zeros(sum(map(rounded, sizes))).split([*map(rounded, sizes)])
        new = [p[:size].view(t.dtype).view(rows, *t.shape[1:]) for p, size, t in zip(parts, sizes, old)]
    else:
        new = [t.new_zeros(rows, *t.shape[1:]) for t in old]
    for one, before in zip(new, old):
        one[: before.shape[0]] = before
    return new


def _to_host(t: Tensor) -> np.ndarray:
    host = t.cpu().contiguous()
    return host.view(torch.uint16).numpy() if host.dtype == torch.bfloat16 else host.numpy()


def _from_host(a: np.ndarray, dtype: torch.dtype, device: torch.device) -> Tensor:
    t = torch.from_numpy(a if a.flags.writeable else np.array(a))  # what is imported is copied into a slot once more
    return (t if t.dtype == dtype else t.view(dtype)).to(device)
