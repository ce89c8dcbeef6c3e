"""One step's view of memory: where each sequence's new tokens go, and what each may look at.

In every layer all writes come before all reads, and nothing here outlives the step: both keep slab writes in place.
Sequences with one new token are taken together, a capacity class in one attention call where their rows lie close;
longer runs one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import mlx.core as mx
import numpy as np

from backends.base import KVSpec
from backends.mlx.attend import attend_one_token, attend_run
from backends.mlx.delta import delta_rule
from backends.mlx.kv import MlxKV
from backends.mlx.slabs import Parts, Plain, Slabs
from backends.mlx.states import Batch, Pair
from backends.plan import Group, PackedSegment, StepPlan

NEAR = 4  # a row that is not in the step costs less to attend to for nothing than a second call does


class Block:
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
        """The first position that any row looks at."""
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


def _blocks(group: Group) -> list[Block]:
    rows, lengths = group.rows, group.lengths
    cuts = [i for i in range(1, len(rows)) if rows[i] - rows[i - 1] > NEAR]
    borders = zip([0, *cuts], [*cuts, len(rows)])
    return [Block(rows[a:b], lengths[a:b], a) for a, b in borders]


class Writer:
    """Puts one token of each of a group's sequences into a slab; the cheapest of three ways, chosen once a step."""

    def __init__(self, group: Group, slabs: Slabs) -> None:
        rows, at = group.rows, [n - 1 for n in group.lengths]
        self._first = group.first_row_if_dense()
        self._capacity = group.capacity
        if self._first is not None and len(set(at)) == 1:
            self._start: mx.array | None = mx.array([self._first, at[0]])
            return
        self._start = None
        self._whole = len(rows) == slabs.rows
        if self._whole:
            self._along = mx.array(np.asarray(at, np.int32)[:, None, None, None])
        self._rows, self._at = np.asarray(rows), np.asarray(at)
        self._flat: dict[int, mx.array] = {}

    def write(self, slab: mx.array, x: mx.array) -> mx.array:
        """`x [N, heads, width]`"""
        if self._start is not None:
            return mx.slice_update(slab, x[:, :, None], self._start, (0, 2))
        if self._whole:
            return mx.put_along_axis(slab, self._along, x[:, :, None], axis=2)
        heads, width = x.shape[1:]
        flat = slab.reshape(-1, width)
        flat[self._flat_index(heads)] = x.reshape(-1, width)
        return flat.reshape(slab.shape)

    def _flat_index(self, heads: int) -> mx.array:
        if heads not in self._flat:
            index = (self._rows[:, None] * heads + np.arange(heads)) * self._capacity + self._at[:, None]
            self._flat[heads] = mx.array(index.reshape(-1))
        return self._flat[heads]


class MlxCache:
    """Implements `backends.base.Cache` for one plan. Made before the slots' lengths advance."""

    def __init__(self, kv: MlxKV, plan: StepPlan, kernel: bool) -> None:
        self._kv = kv
        self._plan = plan
        self._kernel = kernel
        self._plain = Plain(kv.dtype)  # encoder output is never quantized
        self._singles = len(plan.segments) - len(plan.chunks)
        self._groups = [(g, Writer(g, kv.slabs[g.capacity]), _blocks(g)) for g in plan.groups]
        self._starts = [mx.array([s.slot.place.row, s.past]) for s in plan.chunks]
        self._memories: list[tuple[list[PackedSegment], Batch, dict[int, Pair]]] = []
        if kv.states.specs:
            runs = [plan.segments[: self._singles], *([s] for s in plan.chunks)]
            self._memories = [(run, kv.states.gather([s.slot for s in run]), {}) for run in runs if run]

    # -- attention

    def attend(self, layer: int, q: mx.array, k: mx.array, v: mx.array, scale: float) -> mx.array:
        spec = self._kv.specs[layer]
        assert isinstance(spec, KVSpec)
        self._write(layer, "keys", k)
        self._write(layer, "values", v)
        outs: list[mx.array] = []
        for group, _, blocks in self._groups:
            keys, values = self._parts(layer, group.capacity)
            mine = _rows(q, group.start, group.stop)
            outs.extend(
                self._attend_block(_rows(mine, block.start, block.stop), keys, values, block, spec, scale)
                for block in blocks
            )
        for packed in self._plan.chunks:
            keys, values = self._parts(layer, packed.slot.capacity)
            row, begin = packed.slot.place.row, 0
            if spec.window is not None:
                begin = max(0, packed.past + 1 - spec.window)
            cut = (slice(row, row + 1), slice(None), slice(begin, packed.past + len(packed)))
            form = self._kv.form
            outs.append(
                attend_run(
                    _rows(q, packed.start, packed.stop),
                    form.decode([a[cut] for a in keys]),
                    form.decode([a[cut] for a in values]),
                    scale,
                    spec.window,
                )
            )
        return outs[0] if len(outs) == 1 else mx.concatenate(outs)

    def _parts(self, layer: int, capacity: int) -> tuple[Parts, Parts]:
        slabs = self._kv.slabs[capacity]
        return slabs.keys[layer], slabs.values[layer]

    def _write(self, layer: int, side: str, x: mx.array) -> None:
        encoded = self._kv.form.encode(x)
        for group, writer, _ in self._groups:
            parts = getattr(self._kv.slabs[group.capacity], side)[layer]
            for i, a in enumerate(encoded):
                parts[i] = writer.write(parts[i], _rows(a, group.start, group.stop))
        for packed, start in zip(self._plan.chunks, self._starts, strict=True):
            parts = getattr(self._kv.slabs[packed.slot.capacity], side)[layer]
            for i, a in enumerate(encoded):
                run = _rows(a, packed.start, packed.stop).swapaxes(0, 1)[None]
                parts[i] = mx.slice_update(parts[i], run, start, (0, 2))

    def _attend_block(
        self, q: mx.array, keys: Parts, values: Parts, block: Block, spec: KVSpec, scale: float
    ) -> mx.array:
        if not block.dense:
            q = mx.take(q, block.spread, axis=0)
        cut = (slice(block.first, block.last + 1), slice(None), slice(block.begin(spec.window), block.longest))
        out = attend_one_token(
            q, [a[cut] for a in keys], [a[cut] for a in values], self._kv.form, scale, block.mask(spec.window)
        )
        return out if block.dense else mx.take(out, block.collect, axis=0)

    def cross(self, layer: int, q: mx.array, scale: float) -> mx.array:
        memory, singles, outs = self._kv.crossed, self._singles, []
        alone = list(self._plan.segments)
        if singles > 1:
            both = memory.together([packed.slot for packed in alone[:singles]], layer)
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
        out = outs[0] if len(outs) == 1 else mx.concatenate(outs)
        return out if bias is None else out + bias

    def delta(self, layer: int, q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array) -> mx.array:
        outs = []
        for run, batch, new in self._memories:
            qs, ks, vs, gs, betas = (self._batched(x, run) for x in (q, k, v, g, beta))
            out, state = delta_rule(qs, ks, vs, gs, betas, batch.layers[layer][1], kernel=self._kernel)
            outs.append(out.reshape(-1, *v.shape[1:]))
            new[layer] = (new[layer][0] if layer in new else batch.layers[layer][0], state)
        return outs[0] if len(outs) == 1 else mx.concatenate(outs)

    def _batched(self, x: mx.array, run: list[PackedSegment]) -> mx.array:
        """Packed tokens of a run of spans as `[B, T, ...]`: single tokens side by side, or one long packed."""
        mine = _rows(x, run[0].start, run[-1].stop)
        return mx.expand_dims(mine, 1 if len(run[0]) == 1 else 0)

    def finish(self) -> None:
        """Hand the new states over, and advance every slot."""
        for run, batch, new in self._memories:
            self._kv.states.assign([s.slot for s in run], Batch(batch.size, {**batch.layers, **new}))
        for packed in self._plan.segments:
            packed.slot.length += len(packed)


def _rows(x: mx.array, start: int, stop: int) -> mx.array:
    return x if stop - start == x.shape[0] else x[start:stop]
