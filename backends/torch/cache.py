"""One step's view of the KV cache and of recurrent states: attention, convolution, the gated delta rule and the scan on torch.

Bound to a plan. Sequences that add one token are computed together, a run of neighbouring rows at a time; prompt chunks
one after the other. What does not depend on the layer (indices, masks) is made once a step.

Attention on a CPU, measured: torch's fused kernel, given the query heads that share a key head as if they were
successive queries, is the fastest form in f32 and in bf16 at every length; its own way of sharing (`enable_gqa`) is up
to ten times slower in bf16, and plain matrix products up to four times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from backends.base import KVSpec, LatentHeads, Slot
from backends.kv_cache import source_of
from backends.plan import DecodeGroup, PackedSegment, StepPlan, bounded_runs
from backends.torch.kv_cache import Slab, TorchKVCache, places_of
from backends.torch.state_tables import RecurrentStates
from backends.torch.tensors import upload

CHUNK = 64
MOST_SCORES = 1 << 24  # of attention with sinks that are held at once


def delta_step(new: Tensor, state: Tensor, q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor) -> Tensor:
    """`state [B, Hv, Dk, Dv]`; `q`, `k` `[B, Hk, Dk]`, `v [B, Hv, Dv]`, `g`, `beta` `[B, Hv]`. The next state goes to
    `new`, which may be `state` itself."""
    shared = v.shape[1] // q.shape[1]
    q, k = (x.float().repeat_interleave(shared, 1) if shared > 1 else x.float() for x in (q, k))
    decay = g.float().exp()[..., None]
    # both products read the old state once, which is much larger than the other operands
    from_k, from_q = (torch.stack((k, q), 2) @ state).mul_(decay[..., None]).unbind(2)
    d = (v.float() - from_k) * beta.float()[..., None]
    torch.mul(state, decay[..., None], out=new).addcmul_(k[..., None], d[:, :, None])
    return from_q + (q * k).sum(-1, keepdim=True) * d


def delta_scan(state: Tensor, q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor) -> Tensor:
    """`state [Hv, Dk, Dv]` is written to; the rest as for `delta_step`, with T tokens instead of B. -> `[T, Hv, Dv]` f32"""
    tokens, heads = v.shape[:2]
    size = min(CHUNK, tokens)
    q, k, v, g, beta = (_chunked(x, size) for x in (q, k, v, g, beta))
    if len(q) < heads:
        q, k = (x.repeat_interleave(heads // len(x), 0) for x in (q, k))
    past = g.cumsum(-1)  # log decay since the chunk began
    later = torch.ones(size, size, dtype=torch.bool, device=v.device).triu(1)
    between = (past[..., :, None] - past[..., None, :]).masked_fill_(later, -torch.inf).exp_()
    strength = beta[..., None]
    system = (k @ k.mT).mul_(between).mul_(strength)  # its upper triangle and diagonal are not read
    targets = torch.cat((v * strength, k * (strength * past.exp()[..., None])), -1)
    solved = torch.linalg.solve_triangular(system, targets, upper=False, unitriangular=True)
    wanted, through_state = solved.split((v.shape[-1], k.shape[-1]), -1)
    seen = (q @ k.mT).mul_(between)
    q = q * past.exp()[..., None]
    whole = past[..., -1:]
    k = k * (whole - past).exp()[..., None]
    out = torch.empty_like(v)
    for i in range(out.shape[1]):
        d = wanted[:, i] - through_state[:, i] @ state
        out[:, i] = q[:, i] @ state + seen[:, i] @ d
        state.mul_(whole[:, i, :, None].exp()).add_(k[:, i].mT @ d)
    return out.flatten(1, 2).transpose(0, 1)[:tokens]


def scan_step(new: Tensor, state: Tensor, q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """As `delta_step`, of a scan."""
    shared = v.shape[1] // q.shape[1]
    q, k = (x.float().repeat_interleave(shared, 1) if shared > 1 else x.float() for x in (q, k))
    torch.mul(state, g.float().exp()[..., None, None], out=new).addcmul_(k[..., None], v.float()[:, :, None])
    return (q[:, :, None] @ new)[:, :, 0]


def scan_chunks(state: Tensor, q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """As `delta_scan`, of a scan."""
    tokens, heads, groups = v.shape[0], v.shape[1], k.shape[1]
    size = min(CHUNK, tokens)
    q, k, v, g = (_chunked(x, size) for x in (q, k, v, g))
    past = g.cumsum(-1).exp()  # decay since the chunk began
    # Log decays between two tokens are summed, not subtracted from one another: a strong one before both would take the digits.
    until = torch.ones(size, size, dtype=torch.bool, device=v.device).triu()
    between = g[..., None].expand(*g.shape, size).masked_fill(until, 0).cumsum(-2)
    between = between.masked_fill_(until.triu(1), -torch.inf).exp_()
    seen = (q @ k.mT)[:, None] * between.unflatten(0, (groups, -1))
    out = seen.flatten(0, 1) @ v
    q, k = (x.repeat_interleave(heads // groups, 0) for x in (q, k))
    q = q * past[..., None]
    v = v * between[..., -1, :, None]
    for i in range(out.shape[1]):
        out[:, i] += q[:, i] @ state
        state.mul_(past[:, i, -1, None, None]).add_(k[:, i].mT @ v[:, i])
    return out.flatten(1, 2).transpose(0, 1)[:tokens]


def _chunked(x: Tensor, size: int) -> Tensor:
    """`[T, H, ...]` -> `[H, chunks, size, ...]`, f32; padding tokens write nothing and forget nothing."""
    missing = -len(x) % size
    x = x.float()
    if missing:
        x = F.pad(x, (0, 0) * (x.ndim - 1) + (0, missing))
    return x.unflatten(0, (-1, size)).movedim(2, 0)


def grouped_attention(
    q: Tensor, k: Tensor, v: Tensor, scale: float, mask: Tensor | None, sinks: Tensor | None = None
) -> Tensor:
    """`q [B, K, G * n, D]`: the queries of the G heads that share a key head one behind the other; `mask` fits `[B, K, G * n, S]`."""
    if sinks is None:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    groups = q.shape[1], sinks.shape[0] // q.shape[1]
    sink = sinks.float().view(groups).repeat_interleave(q.shape[2] // groups[1], 1)[..., None]
    size = max(1, MOST_SCORES // (q.shape[0] * q.shape[1] * k.shape[2]))
    parts = []
    for rows in (slice(at, at + size) for at in range(0, q.shape[2], size)):
        shown = mask if mask is None or mask.shape[-2] == 1 else mask[..., rows, :]
        parts.append(_attend_with_sinks(q[:, :, rows], k, v, scale, shown, sink[:, rows]))
    return parts[0] if len(parts) == 1 else torch.cat(parts, 2)


def _attend_with_sinks(q: Tensor, k: Tensor, v: Tensor, scale: float, mask: Tensor | None, sink: Tensor) -> Tensor:
    """By plain products: the fused kernel has no sinks."""
    scores = (q @ k.mT).float() * scale
    if mask is not None:
        scores = scores + mask
    shares = torch.cat((scores, sink.expand(*scores.shape[:-1], 1)), -1).softmax(-1)[..., :-1]
    return shares.to(v.dtype) @ v


def latent_attention(q: Tensor, rows: Tensor, rank: int, scale: float, mask: Tensor | None) -> Tensor:
    """`q [B, n, H, D]` over `rows [B, S, D]`, whose first `rank` numbers are the values -> `[B, n, H, rank]`; `mask` fits
    `[B, n, 1, S]`. By plain products: the fused kernel wants values as wide as keys, and each head's own copy of both."""
    batch, n, heads, dim = q.shape
    size, parts = max(1, MOST_SCORES // (batch * heads * rows.shape[1])), []
    for at in range(0, n, size):
        mine = q[:, at : at + size]
        scores = (mine.reshape(batch, -1, dim) @ rows.mT).float().view(batch, -1, heads, rows.shape[1]) * scale
        if mask is not None:
            scores = scores + (mask if mask.shape[1] == 1 else mask[:, at : at + size])
        shares = scores.softmax(-1).to(rows.dtype).view(batch, -1, rows.shape[1])
        parts.append((shares @ rows[..., :rank]).view(batch, -1, heads, rank))
    return parts[0] if len(parts) == 1 else torch.cat(parts, 1)


def _attend_expanded(q: Tensor, rows: Tensor, heads: LatentHeads, scale: float, mask: Tensor | None) -> Tensor:
    """`q [n, H, D]` over keys and values that are made of `rows [S, ...]`, some heads at a time."""
    parts = []
    for first, last in bounded_runs(q.shape[1], rows.shape[0] * (2 * q.shape[2] + q.shape[0])):
        k, v = heads.expand(rows, first, last)
        width = v.shape[2]
        v = F.pad(v, (0, max(0, k.shape[2] - width)))  # the fused kernel wants them as wide as keys
        mine, k, v = (x.transpose(0, 1)[None] for x in (q[:, first:last], k, v))
        made = F.scaled_dot_product_attention(mine, k, v, attn_mask=mask, is_causal=mask is None, scale=scale)
        parts.append(made[0, :, :, :width].transpose(0, 1))
    return parts[0] if len(parts) == 1 else torch.cat(parts, 1)


@dataclass
class RowRun:
    """Neighbouring slab rows `row .. row + n` at packed rows `start .. start + n`."""

    row: int
    start: int
    lengths: list[int]  # tokens of each sequence, the new one included

    @property
    def stop(self) -> int:
        return self.start + len(self.lengths)


def runs_of(group: DecodeGroup) -> list[RowRun]:
    runs: list[RowRun] = []
    for at, (row, length) in enumerate(zip(group.rows, group.lengths), group.start):
        if runs and runs[-1].row + len(runs[-1].lengths) == row:
            runs[-1].lengths.append(length)
        else:
            runs.append(RowRun(row, at, [length]))
    return runs


class TorchWindowView:
    """A plan as the layers with one sliding window, or without one, see it."""

    def __init__(self, plan: StepPlan) -> None:
        self.groups = [(group, runs_of(group)) for group in plan.groups]
        self.chunks = plan.chunks


class TorchCache:
    """Implements `backends.base.Cache`."""

    def __init__(self, kv: TorchKVCache, plan: StepPlan) -> None:
        self.kv, self.plan, self.device = kv, plan, kv.device
        self.singles = plan.groups[-1].stop if plan.groups else 0
        self._views: dict[int | None, TorchWindowView] = {}
        self._places: dict[tuple[int, int, int | None], Tensor] = {}
        self._writes: list[tuple[Tensor, slice | int | Tensor, Tensor]] = []
        self._swaps: list[RecurrentStates] = []
        self._replays: dict[int, list[Callable[[int], None]]] = {}  # by slot id, of the slots with draft tokens
        self._masks: dict[tuple[Any, ...], Tensor | None] = {}

    # -- softmax attention

    def attend(
        self, layer: int, q: Tensor, k: Tensor | None, v: Tensor | None, scale: float, sinks: Tensor | None = None
    ) -> Tensor:
        layer, spec = source_of(self.kv.specs, layer)
        view = self._write(layer, spec, *(x for x in (k, v) if x is not None))
        parts = [
            self._attend_run(run, self.kv.slabs[group.capacity][layer], q, scale, spec.window, sinks)
            for group, runs in view.groups
            for run in runs
        ]
        parts += [
            self._attend_chunk(packed, self.kv.slabs[packed.slot.capacity][layer], q, scale, spec, sinks)
            for packed in view.chunks
        ]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def store(self, layer: int, k: Tensor, v: Tensor) -> None:
        layer, spec = source_of(self.kv.specs, layer)
        self._write(layer, spec, k, v)

    def store_latent(self, layer: int, rows: Tensor) -> None:
        self._write_latent(layer, rows)

    def _write_latent(self, layer: int, rows: Tensor) -> TorchWindowView:
        spec = self.kv.specs[layer]
        assert isinstance(spec, KVSpec)
        return self._write(layer, spec, rows[:, None])

    def attend_latent(self, layer: int, q: Tensor, rows: Tensor, heads: LatentHeads, scale: float) -> Tensor:
        view = self._write_latent(layer, rows)
        parts = []
        if self.singles:
            absorbed = heads.absorb(q[: self.singles])
            found = [
                self._attend_latent_run(run, self.kv.slabs[group.capacity][layer][0], absorbed, heads.rank, scale)
                for group, runs in view.groups
                for run in runs
            ]
            parts.append(heads.values(found[0] if len(found) == 1 else torch.cat(found)))
        for packed in view.chunks:
            row, total = packed.slot.place.row, packed.past + len(packed)
            seen = self.kv.slabs[packed.slot.capacity][layer][0].read(row, row + 1, 0, total)[0]
            mine = q[packed.start : packed.stop]
            if len(packed) >= heads.expand_from:
                mask = self._chunk_mask(packed, 0, total, None, q.dtype)
                parts.append(_attend_expanded(mine, seen[0], heads, scale, mask))
            else:
                mask = self._whole_mask(packed, 0, total, None, q.dtype)[None, :, None]
                parts.append(heads.values(latent_attention(heads.absorb(mine)[None], seen, heads.rank, scale, mask)[0]))
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _attend_latent_run(self, run: RowRun, slab: Slab, q: Tensor, rank: int, scale: float) -> Tensor:
        longest = max(run.lengths)
        rows = slab.read(run.row, run.row + len(run.lengths), 0, longest)[:, 0]
        mask = self._run_mask(run, 0, longest, None, q.dtype)
        return latent_attention(q[run.start : run.stop, None], rows, rank, scale, mask)[:, 0]

    def _write(self, layer: int, spec: KVSpec, *given: Tensor) -> TorchWindowView:
        """Write what the layer keeps of each token, in the order of its slabs."""
        if spec.view not in self._views:
            self._views[spec.view] = TorchWindowView(self.plan.within(spec.view))
        view = self._views[spec.view]
        if not given:  # another layer's, which are written
            return view
        for group, _ in view.groups:
            self._write_singles(group, self.kv.slabs[group.capacity][layer], given, spec.view)
        for packed in view.chunks:
            for slab, x in zip(self.kv.slabs[packed.slot.capacity][layer], given):
                slab.write_run(packed.slot.place.row, packed.past, x[packed.start : packed.stop])
        return view

    def _write_singles(
        self, group: DecodeGroup, slabs: Sequence[Slab], given: Sequence[Tensor], view: int | None
    ) -> None:
        if len(group.segments) == 1:
            packed = group.segments[0]
            for slab, x in zip(slabs, given):
                slab.write_run(packed.slot.place.row, packed.past, x[group.start : group.stop])
            return
        key = group.capacity, slabs[0].heads, view
        if key not in self._places:
            rows = upload(torch.tensor(group.rows), self.device)
            positions = upload(torch.tensor([packed.past for packed in group.segments]), self.device)
            self._places[key] = places_of(rows, positions, slabs[0].heads, slabs[0].capacity)
        for slab, x in zip(slabs, given):
            slab.write_each(self._places[key], x[group.start : group.stop])

    def _attend_run(
        self,
        run: RowRun,
        slabs: Sequence[Slab],
        q: Tensor,
        scale: float,
        window: int | None,
        sinks: Tensor | None,
    ) -> Tensor:
        longest, last = max(run.lengths), run.row + len(run.lengths)
        first = max(0, min(run.lengths) - window) if window else 0
        keys, values = (slab.read(run.row, last, first, longest) for slab in slabs)
        mine = q[run.start : run.stop].unflatten(1, (keys.shape[1], -1))
        mask = self._run_mask(run, first, longest, window, q.dtype)
        return grouped_attention(mine, keys, values, scale, mask, sinks).flatten(1, 2)

    def _run_mask(self, run: RowRun, first: int, longest: int, window: int | None, dtype: torch.dtype) -> Tensor | None:
        """`[n, 1, 1, tokens]`, or None where every sequence sees all that is read."""
        key = (run.start, tuple(run.lengths), window)
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
        self,
        packed: PackedSegment,
        slabs: Sequence[Slab],
        q: Tensor,
        scale: float,
        spec: KVSpec,
        sinks: Tensor | None,
    ) -> Tensor:
        window, mutual = spec.window, packed.segment.mutual and spec.mutual
        row, total = packed.slot.place.row, packed.past + len(packed)
        first = max(0, packed.past + 1 - window) if window else 0
        keys, values = (slab.read(row, row + 1, first, total) for slab in slabs)
        if sinks is not None:
            mask = self._whole_mask(packed, first, total, window, q.dtype, mutual).repeat(
                q.shape[1] // keys.shape[1], 1
            )
            mine = q[packed.start : packed.stop].transpose(0, 1).reshape(1, keys.shape[1], -1, q.shape[2])
            out = grouped_attention(mine, keys, values, scale, mask, sinks)
            return out.reshape(q.shape[1], len(packed), -1).transpose(0, 1)
        mask = self._chunk_mask(packed, first, total, window, q.dtype, mutual)
        out = F.scaled_dot_product_attention(
            q[packed.start : packed.stop].transpose(0, 1)[None],
            keys,
            values,
            attn_mask=mask,
            is_causal=mask is None and not mutual,
            scale=scale,
            enable_gqa=q.shape[1] != keys.shape[1],
        )
        return out[0].transpose(0, 1)

    def _chunk_mask(
        self,
        packed: PackedSegment,
        first: int,
        total: int,
        window: int | None,
        dtype: torch.dtype,
        mutual: bool = False,
    ) -> Tensor | None:
        """`[n, tokens]`; None for a whole prompt, where the kernel's own causal mask is right, and where all is seen."""
        if (mutual or not packed.past) and (window is None or total <= window):
            return None
        return self._whole_mask(packed, first, total, window, dtype, mutual)

    def _whole_mask(
        self,
        packed: PackedSegment,
        first: int,
        total: int,
        window: int | None,
        dtype: torch.dtype,
        mutual: bool = False,
    ) -> Tensor:
        key = (packed.start, total, window, mutual)
        mask = self._masks.get(key)
        if mask is None:
            ends = torch.arange(packed.past + 1, total + 1, device=self.device)[:, None]
            at = torch.arange(first, total, device=self.device)
            hidden = at >= (total if mutual else ends)
            if window:
                hidden = hidden | (at < ends - window)
            mask = torch.zeros(hidden.shape, dtype=dtype, device=self.device).masked_fill_(hidden, -torch.inf)
            self._masks[key] = mask
        return mask

    # -- cross attention

    def cross(self, layer: int, q: Tensor, scale: float) -> Tensor:
        parts = []
        for packed in self.plan.segments:
            k, v = (part.to(q.dtype) for part in self.kv.cross_of(packed.slot, layer))
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
            order = self._state_rows
            seen = torch.cat((states[order.rows], order.sorted(x[: self.singles])[:, None]), 1)
            summed = (seen.float() * taps).sum(1)
            out[: self.singles] = order.unsorted(summed if bias is None else summed + bias)
            self._writes.append((states, order.rows, seen[:, 1:]))
        for packed in self.plan.chunks:
            row = packed.slot.place.state
            seen = torch.cat((states[row], x[packed.start : packed.stop])).float()
            summed = seen[: len(packed)] * taps[0]
            for i in range(1, len(taps)):
                summed.addcmul_(seen[i : i + len(packed)], taps[i])
            out[packed.start : packed.stop] = summed if bias is None else summed + bias
            self._writes.append((states, row, seen[len(packed) :]))
            if packed.segment.draft:
                self._replays.setdefault(packed.slot.id, []).append(
                    partial(self._replay_conv, layer, packed.slot, seen)
                )
        return out

    def _replay_conv(self, layer: int, slot: Slot, seen: Tensor, count: int) -> None:
        states = self.kv.states[layer].conv
        states[slot.place.state] = seen[count : count + states.shape[1]]

    def delta(self, layer: int, q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor) -> Tensor:
        return self._recur(layer, delta_step, delta_scan, q, k, v, g, beta)

    def scan(self, layer: int, q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
        return self._recur(layer, scan_step, scan_chunks, q, k, v, g)

    def _recur(
        self, layer: int, one_token: Callable[..., Tensor], many: Callable[..., Tensor], *inputs: Tensor
    ) -> Tensor:
        states = self.kv.states[layer]
        out = torch.empty_like(inputs[2])
        if self.singles:
            order = self._state_rows
            mine = (order.sorted(x[: self.singles]) for x in inputs)
            state = states.matrix[order.rows]
            if order.everyone and self.kv.swaps_states:
                new = states.spare[: self.singles]
                self._swaps.append(states)
            else:
                new = torch.empty_like(state)
                self._writes.append((states.matrix, order.rows, new))
            out[: self.singles] = order.unsorted(one_token(new, state, *mine))
        for packed in self.plan.chunks:
            row = packed.slot.place.state
            new = states.matrix[row].clone()
            out[packed.start : packed.stop] = many(new, *(x[packed.start : packed.stop] for x in inputs))
            self._writes.append((states.matrix, row, new))
            if packed.segment.draft:
                own = [x[packed.start : packed.stop] for x in inputs]
                replay = partial(self._replay_recur, layer, packed.slot, many, states.matrix[row].clone(), own)
                self._replays.setdefault(packed.slot.id, []).append(replay)
        return out

    def _replay_recur(
        self, layer: int, slot: Slot, many: Callable[..., Tensor], state: Tensor, inputs: Sequence[Tensor], count: int
    ) -> None:
        many(state, *(x[:count] for x in inputs))
        self.kv.states[layer].matrix[slot.place.state] = state

    @cached_property
    def _state_rows(self) -> StateRows:
        rows = [packed.slot.place.state for packed in self.plan.segments[: self.singles]]
        return StateRows(rows, len(self.kv.table.states), self.device)

    def commit(self) -> None:
        """The step has succeeded: its recurrent states become the sequences' own."""
        for table, rows, new in self._writes:
            table[rows] = new
        self.kv.swap_matrices(self._swaps)
        self.kv.forget_spares({packed.slot.place.state for packed in self.plan.segments})
        for packed in self.plan.segments if self._replays else ():
            if (parts := self._replays.get(packed.slot.id)) is not None:
                self.kv.set_replay(packed.slot, partial(_each, parts))


@torch.inference_mode()
def _each(parts: Sequence[Callable[[int], None]], count: int) -> None:
    for part in parts:
        part(count)


class StateRows:
    """The state rows of the sequences that decode. They are mostly neighbours, but not in packed order: then the few token
    rows are reordered to match the states, and the large states are read in place."""

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
