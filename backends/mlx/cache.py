"""One step's view of the KV cache and of recurrent states: attention, convolution, the gated delta rule and the scan on MLX.

In every layer all writes come before all reads, and nothing here outlives the step: both keep slab writes in place.
Sequences with one new token are computed together, a capacity class in one attention call where their rows lie close;
prompt chunks one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import mlx.core as mx
import numpy as np

from backends.base import KVSpec, LatentHeads, Slot
from backends.kv_cache import source_of
from backends.mlx.kv_cache import MlxCodec, MlxKVCache, MlxPlainCodec, MlxQuantizedCodec, Parts, Slabs
from backends.mlx.recurrence import Rule, delta_of_one, delta_rule, has_kernel, scan, scan_of_one
from backends.mlx.states import StateBatch, StatePair, replayed
from backends.plan import DecodeGroup, PackedSegment, StepPlan, bounded_runs

NEAR = 4  # up to this gap, attending to unused rows costs less than a second call


def attend_one_token(
    q: mx.array,
    keys: Parts,
    values: Parts,
    codec: MlxCodec,
    scale: float,
    mask: mx.array | None,
    sinks: mx.array | None = None,
) -> mx.array:
    """One query a row: `q [N, H, D]` -> `[N, H, Dv]`; `mask [N, 1, 1, S]` is True where a row attends."""
    if isinstance(codec, MlxQuantizedCodec):
        return _attend_quantized(q, keys, values, codec, scale, mask, sinks)
    whole = codec.decode(keys), codec.decode(values)
    out = mx.fast.scaled_dot_product_attention(q[:, :, None], *whole, scale=scale, mask=mask, sinks=sinks)
    return out.squeeze(2)


def _attend_quantized(
    q: mx.array,
    keys: Parts,
    values: Parts,
    codec: MlxQuantizedCodec,
    scale: float,
    mask: mx.array | None,
    sinks: mx.array | None,
) -> mx.array:
    """Products with the quantized rows themselves: unpacking them first would read and write more than plain rows."""
    n, heads, dim = q.shape
    kv_heads = keys[0].shape[1]
    grouped = q.reshape(n, kv_heads, heads // kv_heads, dim) * scale
    scores = codec.product(grouped, keys, transpose=True)
    if mask is not None:
        scores = mx.where(mask, scores, mx.finfo(scores.dtype).min)
    if sinks is not None:
        sink = mx.broadcast_to(sinks.astype(scores.dtype).reshape(1, kv_heads, -1, 1), (*scores.shape[:-1], 1))
        scores = mx.concatenate([scores, sink], axis=-1)
    shares = mx.softmax(scores, axis=-1, precise=True)
    if sinks is not None:
        shares = shares[..., :-1]
    out = codec.product(shares, values, transpose=False)
    return out.reshape(n, heads, -1).astype(q.dtype)


def attend_run(
    q: mx.array,
    keys: mx.array,
    values: mx.array,
    scale: float,
    window: int | None,
    causal: bool = True,
    sinks: mx.array | None = None,
) -> mx.array:
    """A run of one sequence's tokens, the last of which is the last key: `q [n, H, D]` -> `[n, H, Dv]`."""
    n, tokens = q.shape[0], keys.shape[2]
    how: Any = "causal" if causal else None
    if window is not None and tokens > window:
        last = mx.arange(tokens - n, tokens)[:, None]
        at = mx.arange(tokens)
        how = (at <= last) & (at > last - window) if causal else at > last - window
    queries = q.swapaxes(0, 1)[None]
    out = mx.fast.scaled_dot_product_attention(queries, keys, values, scale=scale, mask=how, sinks=sinks)
    return out[0].swapaxes(0, 1)


def attend_latents(q: mx.array, rows: mx.array, rank: int, scale: float) -> mx.array:
    """`q [n, H, D]`, the last tokens of `rows [1, 1, S, D]`, whose first `rank` numbers are the values, some tokens at a time."""
    parts, before = [], rows.shape[2] - q.shape[0]
    for first, last in bounded_runs(q.shape[0], q.shape[1] * rows.shape[2]):
        seen = rows[:, :, : before + last]
        parts.append(attend_run(q[first:last], seen, seen[..., :rank], scale, None))
    return parts[0] if len(parts) == 1 else mx.concatenate(parts)


def attend_expanded(q: mx.array, rows: mx.array, heads: LatentHeads, scale: float) -> mx.array:
    """`q [n, H, D]`, the last tokens of `rows [S, ...]`, over keys and values that are made of these, some heads at a time."""
    parts = []
    for first, last in bounded_runs(q.shape[1], rows.shape[0] * (2 * q.shape[2] + q.shape[0])):
        k, v = (x.swapaxes(0, 1)[None] for x in heads.expand(rows, first, last))
        parts.append(attend_run(q[:, first:last], k, v, scale, None))
    return parts[0] if len(parts) == 1 else mx.concatenate(parts, axis=1)


class RowBlock:
    """Neighbouring slab rows of a group that one attention call covers, rows in between included."""

    def __init__(self, rows: Sequence[int], lengths: Sequence[int], start: int) -> None:
        self.first, self.last = rows[0], rows[-1]
        self.start, self.stop = start, start + len(rows)  # in the group
        self.longest = max(lengths)
        self.dense = self.last - self.first + 1 == len(rows)
        every = np.ones(self.last - self.first + 1, np.int32)
        offsets = np.asarray(rows) - self.first
        every[offsets] = lengths
        self._lengths = every
        self._even = self.dense and len(set(lengths)) == 1
        if not self.dense:
            source = np.zeros(len(every), np.int32)
            source[offsets] = np.arange(len(rows))
            self.spread, self.collect = mx.array(source), mx.array(offsets)
        self._masks: dict[int | None, mx.array | None] = {}

    def begin(self, window: int | None) -> int:
        """The first position that any row attends to."""
        return 0 if window is None else max(0, int(self._lengths.min()) - window)

    def mask(self, window: int | None) -> mx.array | None:
        if window not in self._masks:
            self._masks[window] = self._make_mask(window)
        return self._masks[window]

    def _make_mask(self, window: int | None) -> mx.array | None:
        if self._even:
            return None
        at = np.arange(self.begin(window), self.longest)
        seen = at < self._lengths[:, None]
        if window is not None:
            seen &= at >= self._lengths[:, None] - window
        return mx.array(seen[:, None, None])


def _blocks(group: DecodeGroup) -> list[RowBlock]:
    rows, lengths = group.rows, group.lengths
    cuts = [i for i in range(1, len(rows)) if rows[i] - rows[i - 1] > NEAR]
    borders = zip([0, *cuts], [*cuts, len(rows)])
    return [RowBlock(rows[a:b], lengths[a:b], a) for a, b in borders]


class SlabWriter:
    """Writes one token of each of a group's sequences into a slab, in the cheapest of three ways, chosen once a step."""

    def __init__(self, group: DecodeGroup, slabs: Slabs) -> None:
        rows, at = group.rows, [n - 1 for n in group.lengths]
        self._first = group.first_row_if_dense()
        if self._first is not None and len(set(at)) == 1:
            self._start: mx.array | None = mx.array([self._first, at[0]])
            return
        self._start = None
        self._whole = len(rows) == slabs.rows
        if self._whole:
            self._along = mx.array(np.asarray(at, np.int32)[:, None, None, None])
        self._rows, self._at = np.asarray(rows), np.asarray(at)
        self._flat: dict[tuple[int, int], mx.array] = {}

    def write(self, slab: mx.array, x: mx.array) -> mx.array:
        """`x [N, heads, width]`"""
        if self._start is not None:
            return mx.slice_update(slab, x[:, :, None], self._start, (0, 2))
        if self._whole:
            return mx.put_along_axis(slab, self._along, x[:, :, None], axis=2)
        heads, width = x.shape[1:]
        flat = slab.reshape(-1, width)
        flat[self._flat_index(heads, slab.shape[2])] = x.reshape(-1, width)
        return flat.reshape(slab.shape)

    def _flat_index(self, heads: int, capacity: int) -> mx.array:
        if (heads, capacity) not in self._flat:
            index = (self._rows[:, None] * heads + np.arange(heads)) * capacity + self._at[:, None]
            self._flat[heads, capacity] = mx.array(index.reshape(-1))
        return self._flat[heads, capacity]


class MlxWindowView:
    """A plan as the layers with one sliding window, or without one, see it."""

    def __init__(self, kv: MlxKVCache, plan: StepPlan) -> None:
        self.groups = [(g, SlabWriter(g, kv.slabs[g.capacity]), _blocks(g)) for g in plan.groups]
        self.chunks = [(s, mx.array([s.slot.place.row, s.past])) for s in plan.chunks]


class MlxCache:
    """Implements `backends.base.Cache` for one plan. Made before the slots' lengths advance."""

    def __init__(self, kv: MlxKVCache, plan: StepPlan, kernel: bool) -> None:
        self._kv = kv
        self._plan = plan
        self._kernel = kernel
        self._plain = MlxPlainCodec(kv.dtype)  # encoder output is never quantized
        self._singles = len(plan.segments) - len(plan.chunks)
        self._views: dict[int | None, MlxWindowView] = {}
        self._memories: list[tuple[list[PackedSegment], StateBatch, dict[int, StatePair]]] = []
        self._replays: dict[
            Slot, list[tuple[int, int, Callable[[int], mx.array]]]
        ] = {}  # of the slots with draft tokens
        if kv.states.specs:
            runs = [plan.segments[: self._singles], *([s] for s in plan.chunks)]
            self._memories = [(run, kv.states.gather([s.slot for s in run]), {}) for run in runs if run]

    # -- attention

    def attend(
        self,
        layer: int,
        q: mx.array,
        k: mx.array | None,
        v: mx.array | None,
        scale: float,
        sinks: mx.array | None = None,
    ) -> mx.array:
        layer, spec = source_of(self._kv.specs, layer)
        view = self._view(spec.view)
        for side, x in (("keys", k), ("values", v)):
            if x is not None:
                self._write(layer, view, side, x)
        outs: list[mx.array] = []
        for group, _, blocks in view.groups:
            keys, values = self._parts(layer, group.capacity)
            mine = _rows(q, group.start, group.stop)
            outs.extend(
                self._attend_block(_rows(mine, block.start, block.stop), keys, values, block, spec, scale, sinks)
                for block in blocks
            )
        for packed, _ in view.chunks:
            keys, values = self._parts(layer, packed.slot.capacity)
            row, begin = packed.slot.place.row, 0
            if spec.window is not None:
                begin = max(0, packed.past + 1 - spec.window)
            cut = (slice(row, row + 1), slice(None), slice(begin, packed.past + len(packed)))
            codec = self._kv.codec
            outs.append(
                attend_run(
                    _rows(q, packed.start, packed.stop),
                    codec.decode([a[cut] for a in keys]),
                    codec.decode([a[cut] for a in values]),
                    scale,
                    spec.window,
                    causal=not (packed.segment.mutual and spec.mutual),
                    sinks=sinks,
                )
            )
        return outs[0] if len(outs) == 1 else mx.concatenate(outs)

    def store(self, layer: int, k: mx.array, v: mx.array) -> None:
        view = self._view(source_of(self._kv.specs, layer)[1].view)
        self._write(layer, view, "keys", k)
        self._write(layer, view, "values", v)

    def _view(self, view: int | None) -> MlxWindowView:
        if view not in self._views:
            self._views[view] = MlxWindowView(self._kv, self._plan.within(view))
        return self._views[view]

    def store_latent(self, layer: int, rows: mx.array) -> None:
        self._write(layer, self._view(None), "keys", rows[:, None])

    def attend_latent(self, layer: int, q: mx.array, rows: mx.array, heads: LatentHeads, scale: float) -> mx.array:
        view, codec = self._view(None), self._kv.codec
        self.store_latent(layer, rows)
        outs: list[mx.array] = []
        if view.groups:
            absorbed = heads.absorb(_rows(q, 0, self._singles))
            found = []
            for group, _, blocks in view.groups:
                keys = self._kv.slabs[group.capacity].keys[layer]
                mine = _rows(absorbed, group.start, group.stop)
                found += [
                    self._attend_latent_block(_rows(mine, b.start, b.stop), keys, b, heads.rank, scale) for b in blocks
                ]
            outs.append(heads.values(found[0] if len(found) == 1 else mx.concatenate(found)))
        for packed, _ in view.chunks:
            row, total = packed.slot.place.row, packed.past + len(packed)
            keys = self._kv.slabs[packed.slot.capacity].keys[layer]
            seen = codec.decode([a[row : row + 1, :, :total] for a in keys])
            mine = _rows(q, packed.start, packed.stop)
            if len(packed) >= heads.expand_from:
                outs.append(attend_expanded(mine, seen[0, 0], heads, scale))
            else:
                outs.append(heads.values(attend_latents(heads.absorb(mine), seen, heads.rank, scale)))
        return outs[0] if len(outs) == 1 else mx.concatenate(outs)

    def _attend_latent_block(self, q: mx.array, keys: Parts, block: RowBlock, rank: int, scale: float) -> mx.array:
        if not block.dense:
            q = mx.take(q, block.spread, axis=0)
        codec = self._kv.codec
        cut = [a[block.first : block.last + 1, :, : block.longest] for a in keys]
        if isinstance(codec, MlxQuantizedCodec):
            values = codec.first(cut, rank)
        else:  # one array, unpacked once
            codec, cut = self._plain, [codec.decode(cut)]
            values = [cut[0][..., :rank]]
        out = attend_one_token(q, cut, values, codec, scale, block.mask(None))
        return out if block.dense else mx.take(out, block.collect, axis=0)

    def _parts(self, layer: int, capacity: int) -> tuple[Parts, Parts]:
        slabs = self._kv.slabs[capacity]
        return slabs.keys[layer], slabs.values[layer]

    def _write(self, layer: int, view: MlxWindowView, side: str, x: mx.array) -> None:
        encoded = self._kv.codec.encode(x)
        for group, writer, _ in view.groups:
            parts = getattr(self._kv.slabs[group.capacity], side)[layer]
            for i, a in enumerate(encoded):
                parts[i] = writer.write(parts[i], _rows(a, group.start, group.stop))
        for packed, start in view.chunks:
            parts = getattr(self._kv.slabs[packed.slot.capacity], side)[layer]
            for i, a in enumerate(encoded):
                run = _rows(a, packed.start, packed.stop).swapaxes(0, 1)[None]
                parts[i] = mx.slice_update(parts[i], run, start, (0, 2))

    def _attend_block(
        self,
        q: mx.array,
        keys: Parts,
        values: Parts,
        block: RowBlock,
        spec: KVSpec,
        scale: float,
        sinks: mx.array | None,
    ) -> mx.array:
        if not block.dense:
            q = mx.take(q, block.spread, axis=0)
        cut = (slice(block.first, block.last + 1), slice(None), slice(block.begin(spec.window), block.longest))
        out = attend_one_token(
            q,
            [a[cut] for a in keys],
            [a[cut] for a in values],
            self._kv.codec,
            scale,
            block.mask(spec.window),
            sinks,
        )
        return out if block.dense else mx.take(out, block.collect, axis=0)

    def cross(self, layer: int, q: mx.array, scale: float) -> mx.array:
        memory, singles, outs = self._kv.crossed, self._singles, []
        alone = list(self._plan.segments)
        if singles > 1:
            both = memory.padded_batch([packed.slot for packed in alone[:singles]], layer)
            outs.append(
                attend_one_token(_rows(q, 0, singles), [both.keys], [both.values], self._plain, scale, both.mask)
            )
            alone = alone[singles:]
        for packed in alone:
            k, v = memory.get(packed.slot, layer)
            outs.append(attend_run(_rows(q, packed.start, packed.stop), k, v, scale, None, causal=False))
        return outs[0] if len(outs) == 1 else mx.concatenate(outs)

    # -- recurrence

    def conv(self, layer: int, x: mx.array, w: mx.array, bias: mx.array | None = None) -> mx.array:
        outs = []
        kernel = w.shape[-1]
        for run, batch, new in self._memories:
            before = batch.layers[layer][0]
            seen = mx.concatenate([before, self._batched(x, run).astype(before.dtype)], axis=1)
            y = mx.conv1d(seen, w[:, :, None], groups=w.shape[0])
            outs.append(y.reshape(-1, y.shape[-1]).astype(x.dtype))
            last = seen[:, seen.shape[1] - kernel + 1 :]
            if len(run) == 1 and len(run[0]) > 1:
                last = mx.contiguous(last)  # else a long prompt's inputs live as long as these few
            new[layer] = (last, new[layer][1] if layer in new else batch.layers[layer][1])
            if run[0].segment.draft:
                self._replays.setdefault(run[0].slot, []).append((layer, 0, partial(_first_inputs, seen, kernel - 1)))
        out = outs[0] if len(outs) == 1 else mx.concatenate(outs)
        return out if bias is None else out + bias

    def delta(self, layer: int, q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array) -> mx.array:
        one = None if self._kernel and has_kernel(*q.shape[1:], *v.shape[1:]) else delta_of_one
        return self._recur(layer, partial(delta_rule, kernel=self._kernel), one, q, k, v, g, beta)

    def scan(self, layer: int, q: mx.array, k: mx.array, v: mx.array, g: mx.array) -> mx.array:
        return self._recur(layer, scan, scan_of_one, q, k, v, g)

    def _recur(self, layer: int, rule: Rule, one: Rule | None, *inputs: mx.array) -> mx.array:
        """`one`: the rule of single tokens, without their axis, where there is one."""
        outs = []
        for run, batch, new in self._memories:
            state = batch.layers[layer][1]
            if one is not None and len(run[0]) == 1:
                out, state = one(*(_rows(x, run[0].start, run[-1].stop) for x in inputs), state=state)
                outs.append(out)
            else:
                out, state = rule(*(self._batched(x, run) for x in inputs), state=state)
                outs.append(out.reshape(-1, *inputs[2].shape[1:]))
            new[layer] = (new[layer][0] if layer in new else batch.layers[layer][0], state)
            if run[0].segment.draft:
                mine = [self._batched(x, run) for x in inputs]
                again = partial(_first_tokens, rule, mine, batch.layers[layer][1])
                self._replays.setdefault(run[0].slot, []).append((layer, 1, again))
        return outs[0] if len(outs) == 1 else mx.concatenate(outs)

    def _batched(self, x: mx.array, run: list[PackedSegment]) -> mx.array:
        """Packed tokens of a run of segments as `[B, T, ...]`: single tokens side by side, or one prompt chunk."""
        mine = _rows(x, run[0].start, run[-1].stop)
        return mx.expand_dims(mine, 1 if len(run[0]) == 1 else 0)

    def finish(self) -> None:
        """Store the new states, and advance every slot."""
        for run, batch, new in self._memories:
            self._kv.states.assign([s.slot for s in run], StateBatch(batch.size, {**batch.layers, **new}))
            if (parts := self._replays.get(run[0].slot)) is not None:
                self._kv.set_replay(run[0].slot, partial(replayed, parts, batch.layers))
        for packed in self._plan.segments:
            packed.slot.length += len(packed)


# -- states after some of the tokens of a step, for draft tokens that were rejected


def _first_inputs(seen: mx.array, kept: int, count: int) -> mx.array:
    return mx.contiguous(seen[:, count : count + kept])


def _first_tokens(rule: Rule, inputs: Sequence[mx.array], state: mx.array, count: int) -> mx.array:
    return rule(*(x[:, :count] for x in inputs), state=state)[1]


def _rows(x: mx.array, start: int, stop: int) -> mx.array:
    return x if stop - start == x.shape[0] else x[start:stop]
