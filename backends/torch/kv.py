"""Memory of all sequences of one model, under one budget: slabs a capacity class, recurrent states, encoder keys.

Which row belongs to whom is `backends.rows`' business; this file moves the data. Nothing here computes attention
(see cache.py). The budget counts what open slots may use (their class's capacity), not their present length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from backends.base import CrossSpec, KVSnapshot, KVSpec, MemorySpec, Slot, StateSpec
from backends.rows import SMALLEST, Move, RowTable, capacity_class
from backends.torch.kernels import arena
from backends.torch.slab import Codec, Halved, Plain, Quantized, Slab


@dataclass
class States:
    """One recurrent layer's memory: row i belongs to the slot whose `place.state` is i."""

    conv: Tensor  # [rows, kernel - 1, channels]
    delta: Tensor  # [rows, heads, key_dim, value_dim], f32
    spare: Tensor  # as `delta`: where a step of all sequences writes, so that a failed one has changed nothing


@dataclass
class Mark:
    length: int
    states: list[Tensor]


class TorchKV:
    """See `backends.base.KV`."""

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
        self.slabs: dict[int, dict[int, tuple[Slab, Slab]]] = {}  # capacity -> layer -> keys, values
        self.states: dict[int, States] = {}  # layer -> states
        self.cross: dict[int, dict[int, tuple[Tensor, Tensor]]] = {}  # slot id -> layer -> keys, values [H, S, D]
        self.poisoned: set[int] = set()  # ids of slots whose rows hold NaN
        self.swaps_states = device.type == "cpu"  # a recording on CUDA holds on to the tensors it was made with
        self.version = 0  # changes when a tensor is replaced: recordings that hold the old one are void
        self._marks: dict[int, Mark] = {}
        self._codecs: dict[int, tuple[Codec, Codec]] = {}
        self._token_bytes = self._state_bytes = 0
        for layer, spec in enumerate(self.specs):
            if isinstance(spec, KVSpec):
                pair = self._codec(spec.dim, bits), self._codec(spec.v_dim or spec.dim, bits)
                self._codecs[layer] = pair
                widths = sum(width * plane.itemsize for codec in pair for width, plane in codec.planes)
                self._token_bytes += spec.heads * widths
            elif isinstance(spec, StateSpec):
                self.states[layer] = self._no_states(spec)
                self._state_bytes += (2 if self.swaps_states else 1) * 4 * spec.heads * spec.key_dim * spec.value_dim
                self._state_bytes += dtype.itemsize * spec.channels * (spec.kernel - 1)

    def _codec(self, dim: int, bits: int) -> Codec:
        if bits < 16:
            return Quantized(dim, self.dtype, bits)
        return Plain(dim, self.dtype) if self.plain == self.dtype else Halved(dim)

    def _no_states(self, spec: StateSpec) -> States:
        delta = torch.zeros(0, spec.heads, spec.key_dim, spec.value_dim, dtype=torch.float32, device=self.device)
        conv = torch.zeros(0, spec.kernel - 1, spec.channels, dtype=self.dtype, device=self.device)
        return States(conv, delta, delta)

    @property
    def recurrent(self) -> bool:
        return bool(self.states)

    # -- slots

    def bytes_for(self, n: int) -> int:
        return capacity_class(n) * self._token_bytes + self._state_bytes

    def open(self, n: int) -> Slot | None:
        cost = self.bytes_for(n)
        if self.used + cost > self.budget:
            return None
        slot = self.table.open(n)
        self.used += cost
        self._reserve(slot.capacity)
        for tensor in self._state_rows(slot):
            tensor.zero_()
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
        self._marks.pop(slot.id, None)
        self.cross.pop(slot.id, None)
        moves, state_move = self.table.close(slot)
        self._carry_out(moves)
        if state_move is not None:
            source, target = state_move
            for states in self.states.values():
                states.conv[target] = states.conv[source]
                states.delta[target] = states.delta[source]
        self._forget_if_empty(capacity)

    def _reserve(self, capacity: int) -> None:
        """Room in the class's slabs, and in the states, for all rows that the table has given out."""
        if capacity not in self.slabs:
            self.slabs[capacity] = {
                layer: (Slab(spec.heads, capacity, k, self.device), Slab(spec.heads, capacity, v, self.device))
                for layer, spec in enumerate(self.specs)
                if isinstance(spec, KVSpec)
                for k, v in [self._codecs[layer]]
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
        for states in self.states.values():
            if len(states.conv) < state_rows:
                states.conv = _with_rows(states.conv, _roomy(state_rows))
                states.delta = _with_rows(states.delta, _roomy(state_rows))
                states.spare = torch.empty_like(states.delta) if self.swaps_states else states.delta
                self.version += 1

    def reserve_padding(self, capacity: int, rows: int) -> int:
        """Slab rows for a padded batch, and one state row that belongs to nobody: its index."""
        self._reserve_rows(capacity, rows, len(self.table.states) + 1)
        return len(self.table.states)

    def _carry_out(self, moves: Sequence[Move]) -> None:
        for move in moves:
            length = self.table.classes[move.to_capacity][move.to_row].length
            for layer, targets in self.slabs[move.to_capacity].items():
                for source, target in zip(self.slabs[move.from_capacity][layer], targets):
                    target.fill_row(move.to_row, source.row_parts(move.from_row, length))

    def _clear_if_poisoned(self, slot: Slot, capacity: int, row: int) -> None:
        """A row's next owner multiplies what lies beyond its end by 0, which is no help against NaN."""
        if slot.id in self.poisoned:
            for pair in self.slabs[capacity].values():
                for slab in pair:
                    slab.clear_row(row)

    def _forget_if_empty(self, capacity: int) -> None:
        """Give an empty class's memory back; not the smallest class's, which the next request needs again."""
        if not self.table.classes[capacity] and capacity > SMALLEST:
            del self.slabs[capacity]
            self.version += 1

    # -- snapshots

    def snapshot(self, slot: Slot, *, rows: bool = True) -> KVSnapshot:
        states = [t.clone() for t in self._state_rows(slot)]
        parts = [t.clone() for t in self._row_parts(slot, slot.length)] if rows else None
        nbytes = sum(t.nbytes for t in [*states, *(parts or [])])
        return KVSnapshot(slot.length, nbytes, parts, states)

    def restore(self, slot: Slot, snapshot: KVSnapshot) -> None:
        if snapshot.rows is None and slot.length < snapshot.length:
            raise ValueError("a snapshot without rows can only rewind the slot that it was taken from")
        if slot.capacity < snapshot.length:
            raise ValueError(f"slot {slot.id} has room for {slot.capacity} tokens, not {snapshot.length}")
        if snapshot.rows is not None:
            self._fill(slot, snapshot.rows)
        for mine, saved in zip(self._state_rows(slot), snapshot.states):
            mine.copy_(saved)
        slot.length = snapshot.length

    def copy(self, source: Slot, target: Slot, length: int) -> None:
        self._needs_rows_alone("copied")
        if not length <= source.length or length > target.capacity:
            raise ValueError(f"{length} tokens of slot {source.id} cannot be copied into slot {target.id}")
        self._fill(target, list(self._row_parts(source, length)))
        target.length = length

    def truncate(self, slot: Slot, length: int) -> None:
        self._needs_rows_alone("truncated")
        slot.length = min(slot.length, length)

    def checkpoint(self, slot: Slot) -> None:
        self._marks[slot.id] = Mark(slot.length, [t.clone() for t in self._state_rows(slot)])

    def rollback(self, slot: Slot, keep: int = 0) -> int:
        mark = self._marks.pop(slot.id, None)
        if mark is None or not 0 <= keep <= slot.length - mark.length:
            raise ValueError(f"slot {slot.id} has no mark {keep} tokens back")
        for mine, saved in zip(self._state_rows(slot), mark.states):
            mine.copy_(saved)
        kept = 0 if self.recurrent else keep
        slot.length = mark.length + kept
        return kept

    def forget_mark(self, slot: Slot) -> None:
        self._marks.pop(slot.id, None)

    def _needs_rows_alone(self, what: str) -> None:
        if self.recurrent:
            raise ValueError(f"a recurrent memory cannot be {what} to a length: use a snapshot")

    def _state_rows(self, slot: Slot) -> Iterator[Tensor]:
        for states in self.states.values():
            yield states.conv[slot.place.state]
            yield states.delta[slot.place.state]

    def _row_parts(self, slot: Slot, length: int) -> Iterator[Tensor]:
        """All that `rows` of a snapshot means: keys and values, then what the encoder wrote."""
        for pair in self.slabs[slot.capacity].values():
            for slab in pair:
                yield from slab.row_parts(slot.place.row, length)
        for layer, spec in enumerate(self.specs):
            if isinstance(spec, CrossSpec):
                yield from self.cross_of(slot, layer)

    def _fill(self, slot: Slot, parts: Sequence[Tensor]) -> None:
        at = 0
        for pair in self.slabs[slot.capacity].values():
            for slab in pair:
                slab.fill_row(slot.place.row, parts[at : at + len(slab.planes)])
                at += len(slab.planes)
        for layer, spec in enumerate(self.specs):
            if isinstance(spec, CrossSpec):
                self._set_cross(slot, layer, parts[at].clone(), parts[at + 1].clone())
                at += 2

    # -- encoder keys and values

    def write_cross(self, slot: Slot, layer: int, k: Tensor, v: Tensor) -> None:
        self._set_cross(slot, layer, k.transpose(0, 1).contiguous(), v.transpose(0, 1).contiguous())

    def cross_of(self, slot: Slot, layer: int) -> tuple[Tensor, Tensor]:
        found = self.cross.get(slot.id, {}).get(layer)
        if found is None:
            spec = self.specs[layer]
            assert isinstance(spec, CrossSpec)
            empty = torch.zeros(spec.heads, 0, spec.dim, dtype=self.dtype, device=self.device)
            return empty, empty
        return found

    def _set_cross(self, slot: Slot, layer: int, k: Tensor, v: Tensor) -> None:
        before = self._cross_bytes(slot)
        self.cross[slot.id] = {**self.cross.get(slot.id, {}), layer: (k, v)}  # another: who knows the old one sees it
        self.used += self._cross_bytes(slot) - before

    def _cross_bytes(self, slot: Slot) -> int:
        return sum(k.nbytes + v.nbytes for k, v in self.cross.get(slot.id, {}).values())

    # -- to and from the host

    def export_snapshot(self, snapshot: KVSnapshot) -> list[np.ndarray]:
        return [_to_host(t) for t in [*(snapshot.rows or []), *snapshot.states]]

    def import_snapshot(self, length: int, arrays: Sequence[np.ndarray]) -> KVSnapshot:
        dtypes = self._row_dtypes()
        states = 2 * len(self.states)
        with_rows = len(arrays) == len(dtypes) + states
        if not with_rows and len(arrays) != states:
            raise ValueError(f"a snapshot of this model has {len(dtypes) + states} arrays, not {len(arrays)}")
        state_dtypes = [self.dtype, torch.float32] * len(self.states)
        wanted = [*dtypes, *state_dtypes] if with_rows else state_dtypes
        tensors = [_from_host(a, dtype, self.device) for a, dtype in zip(arrays, wanted)]
        split = len(dtypes) if with_rows else 0
        nbytes = sum(t.nbytes for t in tensors)
        return KVSnapshot(length, nbytes, tensors[:split] if with_rows else None, tensors[split:])

    def _row_dtypes(self) -> list[torch.dtype]:
        kept = [plane for pair in self._codecs.values() for codec in pair for _, plane in codec.planes]
        crossed = sum(isinstance(spec, CrossSpec) for spec in self.specs)
        return kept + [self.dtype] * (2 * crossed)


def _roomy(rows: int) -> int:
    """Rows to allocate for `rows` in use: some more, so that n sequences joining one by one copy less than n times."""
    return rows + rows // 2


def _with_rows(old: Tensor, rows: int) -> Tensor:
    new = old.new_zeros(rows, *old.shape[1:])
    new[: old.shape[0]] = old
    return new


def _to_host(t: Tensor) -> np.ndarray:
    host = t.cpu().contiguous()
    return host.view(torch.uint16).numpy() if host.dtype == torch.bfloat16 else host.numpy()


def _from_host(a: np.ndarray, dtype: torch.dtype, device: torch.device) -> Tensor:
    t = torch.from_numpy(np.array(a))
    return (t if t.dtype == dtype else t.view(dtype)).to(device)
