"""One step's view of a KV cache: the only place on torch where sequences are told apart.

Bound to a plan. Sequences that add one token are computed together, a run of neighbouring rows at a time; prompt chunks
one after the other. What does not depend on the layer (indices, masks) is made once a step.

Attention on a CPU, measured: torch's fused kernel, given the query heads that share a key head as if they were
successive queries, is the fastest form in f32 and in bf16 at every length; its own way of sharing (`enable_gqa`) is up
to ten times slower in bf16, and plain matrix products up to four times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor

from backends.base import KVSpec
from backends.plan import Group, PackedSegment, StepPlan
from backends.torch import delta
from backends.torch.kv import States, TorchKV
from backends.torch.slab import Slab, places_of
from backends.torch.upload import upload


@dataclass
class Run:
    """Neighbouring slab rows `row .. row + n` at packed rows `start .. start + n`."""

    row: int
    start: int
    lengths: list[int]  # tokens of each sequence, the new one included

    @property
    def stop(self) -> int:
        return self.start + len(self.lengths)


def runs_of(group: Group) -> list[Run]:
    runs: list[Run] = []
    for at, (row, length) in enumerate(zip(group.rows, group.lengths), group.start):
        if runs and runs[-1].row + len(runs[-1].lengths) == row:
            runs[-1].lengths.append(length)
        else:
            runs.append(Run(row, at, [length]))
    return runs


class TorchCache:
    """See `backends.base.Cache`."""

    def __init__(self, kv: TorchKV, plan: StepPlan) -> None:
        self.kv, self.plan, self.device = kv, plan, kv.device
        self.singles = plan.groups[-1].stop if plan.groups else 0
        self.runs = [(group, runs_of(group)) for group in plan.groups]
        self._places: dict[tuple[int, int], Tensor] = {}
        self._writes: list[tuple[Tensor, slice | int | Tensor, Tensor]] = []
        self._swaps: list[States] = []
        self._masks: dict[tuple[int, int, int | None], Tensor | None] = {}

    # -- softmax attention

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
        spec = self.kv.specs[layer]
        assert isinstance(spec, KVSpec)
        for group in self.plan.groups:
            self._write_singles(group, self.kv.slabs[group.capacity][layer], k, v)
        for packed in self.plan.chunks:
            keys, values = self.kv.slabs[packed.slot.capacity][layer]
            keys.write_run(packed.slot.place.row, packed.past, k[packed.start : packed.stop])
            values.write_run(packed.slot.place.row, packed.past, v[packed.start : packed.stop])
        parts = [
            self._attend_run(run, self.kv.slabs[group.capacity][layer], q, scale, spec.window)
            for group, runs in self.runs
            for run in runs
        ]
        parts += [
            self._attend_chunk(packed, self.kv.slabs[packed.slot.capacity][layer], q, scale, spec.window)
            for packed in self.plan.chunks
        ]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _write_singles(self, group: Group, slabs: tuple[Slab, Slab], k: Tensor, v: Tensor) -> None:
        keys, values = slabs
        if len(group.segments) == 1:
            packed = group.segments[0]
            keys.write_run(packed.slot.place.row, packed.past, k[group.start : group.stop])
            values.write_run(packed.slot.place.row, packed.past, v[group.start : group.stop])
            return
        places = self._places_of(group, keys.heads)
        keys.write_each(places, k[group.start : group.stop])
        values.write_each(places, v[group.start : group.stop])

    def _places_of(self, group: Group, heads: int) -> Tensor:
        places = self._places.get((group.capacity, heads))
        if places is None:
            rows = upload(torch.tensor(group.rows), self.device)
            positions = upload(torch.tensor([packed.past for packed in group.segments]), self.device)
            places = self._places[group.capacity, heads] = places_of(rows, positions, heads, group.capacity)
        return places

    def _attend_run(self, run: Run, slabs: tuple[Slab, Slab], q: Tensor, scale: float, window: int | None) -> Tensor:
        longest, last = max(run.lengths), run.row + len(run.lengths)
        first = max(0, min(run.lengths) - window) if window else 0
        keys, values = (slab.read(run.row, last, first, longest) for slab in slabs)
        mine = q[run.start : run.stop].unflatten(1, (keys.shape[1], -1))
        out = F.scaled_dot_product_attention(
            mine, keys, values, attn_mask=self._run_mask(run, first, longest, window, q.dtype), scale=scale
        )
        return out.flatten(1, 2)

    def _run_mask(self, run: Run, first: int, longest: int, window: int | None, dtype: torch.dtype) -> Tensor | None:
        """`[n, 1, 1, tokens]`, or None where every sequence sees all that is read."""
        key = (run.start, longest, window)
        if key not in self._masks:
            self._masks[key] = None
            if min(run.lengths) < longest:
                ends = torch.tensor(run.lengths, device=self.device)[:, None]
                at = torch.arange(first, longest, device=self.device)
                hidden = at >= ends
                if window:
                    hidden |= at < ends - window
                mask = torch.zeros(hidden.shape, dtype=dtype, device=self.device)
                self._masks[key] = mask.masked_fill_(hidden, -torch.inf)[:, None, None]
        return self._masks[key]

    def _attend_chunk(
        self, packed: PackedSegment, slabs: tuple[Slab, Slab], q: Tensor, scale: float, window: int | None
    ) -> Tensor:
        row, total = packed.slot.place.row, packed.past + len(packed)
        first = max(0, packed.past + 1 - window) if window else 0
        keys, values = (slab.read(row, row + 1, first, total) for slab in slabs)
        mask = self._chunk_mask(packed, first, total, window, q.dtype)
        out = F.scaled_dot_product_attention(
            q[packed.start : packed.stop].transpose(0, 1)[None],
            keys,
            values,
            attn_mask=mask,
            is_causal=mask is None,
            scale=scale,
            enable_gqa=q.shape[1] != keys.shape[1],
        )
        return out[0].transpose(0, 1)

    def _chunk_mask(
        self, packed: PackedSegment, first: int, total: int, window: int | None, dtype: torch.dtype
    ) -> Tensor | None:
        """`[n, tokens]`; None for a whole prompt, where the kernel's own causal mask is right."""
        if not packed.past and (window is None or total <= window):
            return None
        key = (packed.start, total, window)
        if key not in self._masks:
            ends = torch.arange(packed.past + 1, total + 1, device=self.device)[:, None]
            at = torch.arange(first, total, device=self.device)
            hidden = at >= ends
            if window:
                hidden |= at < ends - window
            mask = torch.zeros(hidden.shape, dtype=dtype, device=self.device)
            self._masks[key] = mask.masked_fill_(hidden, -torch.inf)
        return self._masks[key]

    # -- cross attention

    def cross(self, layer: int, q: Tensor, scale: float) -> Tensor:
        parts = []
        for packed in self.plan.segments:
            k, v = self.kv.cross_of(packed.slot, layer)
            if not k.shape[1]:
                raise ValueError(f"slot {packed.slot.id} has no encoder keys for layer {layer}: put them first")
            mine = q[packed.start : packed.stop].transpose(0, 1)[None]
            shared = mine.shape[1] != k.shape[0]
            out = F.scaled_dot_product_attention(mine, k[None], v[None], scale=scale, enable_gqa=shared)
            parts.append(out[0].transpose(0, 1))
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    # -- recurrent layers: nothing is written before `commit`, so that a step that fails has changed no state

    def conv(self, layer: int, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
        states = self.kv.states[layer].conv
        out = torch.empty_like(x)
        taps = w.float().t()  # [kernel, channels]
        if self.singles:
            turn = self._turn
            seen = torch.cat((states[turn.rows], turn.sorted(x[: self.singles])[:, None]), 1)
            summed = (seen.float() * taps).sum(1)
            out[: self.singles] = turn.unsorted(summed if bias is None else summed + bias)
            self._writes.append((states, turn.rows, seen[:, 1:]))
        for packed in self.plan.chunks:
            row = packed.slot.place.state
            seen = torch.cat((states[row], x[packed.start : packed.stop])).float()
            summed = seen[: len(packed)] * taps[0]
            for i in range(1, len(taps)):
                summed.addcmul_(seen[i : i + len(packed)], taps[i])
            out[packed.start : packed.stop] = summed if bias is None else summed + bias
            self._writes.append((states, row, seen[len(packed) :]))
        return out

    def delta(self, layer: int, q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor) -> Tensor:
        states = self.kv.states[layer]
        out = torch.empty_like(v)
        if self.singles:
            turn = self._turn
            inputs = (turn.sorted(x[: self.singles]) for x in (q, k, v, g, beta))
            state = states.delta[turn.rows]
            if turn.everyone and self.kv.swaps_states:
                new = states.spare[: self.singles]
                self._swaps.append(states)
            else:
                new = torch.empty_like(state)
                self._writes.append((states.delta, turn.rows, new))
            out[: self.singles] = turn.unsorted(delta.step(new, state, *inputs))
        for packed in self.plan.chunks:
            row = packed.slot.place.state
            new = states.delta[row].clone()
            out[packed.start : packed.stop] = delta.scan(
                new, *(x[packed.start : packed.stop] for x in (q, k, v, g, beta))
            )
            self._writes.append((states.delta, row, new))
        return out

    @cached_property
    def _turn(self) -> StateTurn:
        rows = [packed.slot.place.state for packed in self.plan.segments[: self.singles]]
        return StateTurn(rows, len(self.kv.table.states), self.device)

    def commit(self) -> None:
        """The step has succeeded: its recurrent states become the sequences' own."""
        for table, rows, new in self._writes:
            table[rows] = new
        for states in self._swaps:
            states.delta, states.spare = states.spare, states.delta


class StateTurn:
    """The state rows of the sequences that decode. Mostly these are neighbours, though not in packed order: then the
    few token rows are put into the states' order, and the large states are read where they are."""

    def __init__(self, rows: Sequence[int], live: int, device: torch.device) -> None:
        order = sorted(range(len(rows)), key=rows.__getitem__)
        first, stop = rows[order[0]], rows[order[-1]] + 1
        self.rows: slice | Tensor = slice(first, stop)
        if stop - first != len(rows):
            self.rows = torch.tensor([rows[i] for i in order], device=device)
        self.everyone = len(rows) == live
        self._order: Tensor | None = None
        if order != list(range(len(rows))):
            self._order = torch.tensor(order, device=device)
            self._inverse = self._order.argsort()

    def sorted(self, x: Tensor) -> Tensor:
        return x if self._order is None else x.index_select(0, self._order)

    def unsorted(self, x: Tensor) -> Tensor:
        return x if self._order is None else x.index_select(0, self._inverse)
