"""Runs one model on MLX step by step: pack, embed, forward, sample; results are read when `PendingStep.read` is called.

Asynchronous scheduling: a step's graph is built while the previous one still runs, but issued only afterwards, because a write
to a slab that is being read would copy it. Inside a step nothing waits for the device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import mlx.core as mx
import numpy as np

from backends.adapters import AdapterRun, Sides, adapters_of, picked_runs, rows_by_adapter
from backends.base import (
    CrossSpec,
    KVCache,
    Profiler,
    Sampling,
    Segment,
    SegmentOutput,
    Slot,
    Step,
    TokenModel,
    unprofiled,
)
from backends.mlx.cache import MlxCache
from backends.mlx.group import MlxGroup
from backends.mlx.kv_cache import MlxKVCache
from backends.mlx.ops import MlxTextOps
from backends.mlx.primitives import count_primitives
from backends.mlx.sample import MlxSamples, sample
from backends.plan import HostSamples, PackedSegment, PlannedStep, StepPlan, checkpoint_drafts, make_plan


@dataclass(frozen=True)
class NextInput:
    """The next input of a sequence whose segment has none: row `index` of a step's ids or embeddings."""

    rows: mx.array
    index: int
    embedded: bool = False


NextInputs = WeakKeyDictionary[Slot, NextInput]
Settle = Callable[[Sequence[Segment], Mapping[Slot, SegmentOutput]], None]


class _ClearableKVCache(KVCache, Protocol):
    def clear(self, slot: Slot) -> None:
        """Clear a failed sequence's rows."""


class MlxPendingStep(PlannedStep[mx.array]):
    def __init__(
        self,
        plan: StepPlan,
        kv: _ClearableKVCache,
        next_inputs: NextInputs,
        run: Callable[[list[Segment]], Any],
        group: MlxGroup | None = None,
        settle: Settle | None = None,
    ) -> None:
        """`group`: the ranks of which this process is one; `settle`: in place of the step's own, of the first of them."""
        super().__init__(plan, kv, run)
        self._clear, self._next_inputs = kv.clear, next_inputs
        self._group, self._settle_ranks = group, settle
        self._ids: mx.array | None = None
        self._drawn: MlxSamples | None = None
        self._codes: mx.array | None = None

    def keep_hidden(self, hidden: mx.array) -> None:
        """Keep the hidden states of segments with `hidden` set."""
        for packed in self._plan.segments:
            if packed.segment.hidden:
                self.hidden[packed.slot] = hidden[packed.start : packed.stop].astype(mx.float32)

    def sample(self, logits: mx.array, frame: Callable[[mx.array], tuple[mx.array, mx.array]] | None = None) -> None:
        """Add sampling to the step's graph. `frame` takes the sampled ids and completes a frame of codes."""
        plan = self._plan
        if self._wants_logits:
            self.logits = logits.astype(mx.float32)
        if not plan.samplings:
            return
        logits = taken(logits, plan.sampled)
        if self._group is None:
            self._ids, self._drawn = sample(logits, plan.samplings)
        else:
            self._ids, self._drawn = self._sample_once(self._group, logits)
        next_inputs = self._ids
        if frame is not None:
            self._codes, next_inputs = frame(self._ids)
        row = -1
        for packed in plan.segments:
            if packed.segment.sample is not None:
                row += packed.segment.draft + 1
                self._next_inputs[packed.slot] = NextInput(next_inputs, row, embedded=frame is not None)

    def _sample_once(self, group: MlxGroup, logits: mx.array) -> tuple[mx.array, MlxSamples]:
        """The first rank samples, the others receive the ids."""
        if group.index == 0:
            ids, drawn = sample(logits, self._plan.samplings)
            return group.broadcast(ids), drawn
        ids = mx.zeros(len(self._plan.samplings), mx.int32)
        return group.broadcast(ids), MlxSamples(ids, [])

    def issue(self, before: MlxPendingStep | None, remembered: list[mx.array]) -> None:
        """Start the step after the previous one has finished: a write to a slab that is being read would copy it."""
        if before is not None:
            mx.eval(before.arrays())
            mx.synchronize()
        sums = [] if self._group is None else self._group.arrays()
        mx.async_eval(self.arrays(), remembered, sums)

    def arrays(self) -> list[mx.array]:
        drawn = [] if self._drawn is None else self._drawn.arrays()
        return [a for a in (self._ids, self.logits, self._codes, *drawn, *self.hidden.values()) if a is not None]

    def _samples(self) -> HostSamples:
        if self._ids is None or (drawn := self._drawn) is None:
            return HostSamples()
        ids, best = np.array(self._ids).tolist(), np.array(drawn.best.astype(mx.float32)).tolist()
        arrays = (drawn.chosen, drawn.top_ids, drawn.top)
        chosen, top_ids, top = ([] if x is None else np.array(x).tolist() for x in arrays)
        codes = None if self._codes is None else np.array(self._codes)
        return HostSamples(ids, best, drawn.logprob_rows, chosen, top_ids, top, codes)

    def _on_host(self, x: mx.array, rows: Sequence[int] | None = None) -> np.ndarray:
        return np.array(x if rows is None else x[mx.array(list(rows), mx.int32)])

    def _spoiled(self, slot: Slot) -> None:
        self._clear(slot)

    def _settle(self, segments: Sequence[Segment], tokens: Mapping[Slot, SegmentOutput]) -> None:
        (self._settle_ranks or super()._settle)(segments, tokens)

    def _continue_from(self, slot: Slot, token: int) -> None:
        self._next_inputs[slot] = next_input(token)


def next_input(token: int) -> NextInput:
    return NextInput(mx.array([token], mx.int32), 0)


def taken(x: mx.array, rows: np.ndarray) -> mx.array:
    """Rows of `x`, ascending, or `x` itself when that is all of them."""
    if len(rows) == x.shape[0]:
        return x
    if len(rows) == rows[-1] - rows[0] + 1:
        return x[int(rows[0]) : int(rows[-1]) + 1]
    return mx.take(x, mx.array(rows), axis=0)


def collected(lasts: list[NextInput]) -> mx.array:
    """The ids of several sequences; while the same sequences continue, the last step's array."""
    rows = lasts[0].rows
    if all(last.rows is rows for last in lasts):
        indices = [last.index for last in lasts]
        return rows if indices == list(range(rows.shape[0])) else mx.take(rows, mx.array(indices), axis=0)
    return mx.concatenate([last.rows[last.index : last.index + 1] for last in lasts])


GIVEN_BACK = 256  # steps


class MlxRunner:
    """Implements `backends.base.Runner`."""

    def __init__(self, model: TokenModel, kv: MlxKVCache, ops: MlxTextOps) -> None:
        self.span: Profiler = unprofiled
        self.settle: Settle | None = None  # in place of a step's own, of the first of several ranks
        self._model = model
        self._kv = kv
        self._ops = ops
        self._group = ops.group
        self._adapters = adapters_of(model)
        self._next_inputs: NextInputs = WeakKeyDictionary()
        self._issued: MlxPendingStep | None = None
        self._steps = 0  # since buffers were given back
        self._chunk_before = False  # whether the last step computed a part of a prompt

    def run(self, segments: Sequence[Segment]) -> MlxPendingStep:
        plan = make_plan(segments)
        for packed in plan.segments:
            self._kv.make_window_room(packed.slot, len(packed), packed.segment.prompt)
        checkpoint_drafts(self._kv, segments)
        before = [(s.slot, s.past, self._kv.states.get(s.slot), self._next_inputs.get(s.slot)) for s in plan.segments]
        try:
            pending = self._build(plan)
            pending.issue(self._issued, [*self._kv.arrays(), *(last.rows for last in self._next_inputs.values())])
        except Exception:
            # Rows beyond a slot's length are unused, so this is all that a failed step can change.
            for slot, length, states, last in before:
                slot.length = length
                self._kv.states.put(slot, states)
                if last is None:
                    self._next_inputs.pop(slot, None)
                else:
                    self._next_inputs[slot] = last
            raise
        self._issued = pending
        self._give_back(bool(plan.chunks))
        return pending

    def _give_back(self, chunk: bool) -> None:
        """Give back what MLX keeps of freed memory: after each part of a prompt, whose buffers no other step can use, and after some steps.
        As often as mlx-lm does; otherwise what it keeps grows to all of the device's memory."""
        self._steps += 1
        if self._chunk_before or self._steps >= GIVEN_BACK:
            mx.clear_cache()
            self._steps = 0
        self._chunk_before = chunk

    def _build(self, plan: StepPlan) -> MlxPendingStep:
        """The step's graph; nothing has run yet."""
        cache = MlxCache(self._kv, plan, kernel=self._ops.device == "metal")
        runs = [] if self._adapters is None else self._adapters.runs(plan.adapters)
        inputs = self._inputs(plan)
        with self._using(runs, plan.total):
            hidden = self._model(Step(inputs, mx.array(plan.pos), cache))
        cache.finish()
        pending = MlxPendingStep(plan, self._kv, self._next_inputs, self.run, self._group, self.settle)
        pending.keep_hidden(hidden)
        if len(plan.picked):
            picked = taken(hidden, plan.picked)
            frame = getattr(self._model, "frame", None)
            after = None if frame is None else lambda ids: frame(taken(picked, plan.sampled), ids, plan.samplings)
            with self._using(picked_runs(runs, plan.picked), len(plan.picked)):
                logits = self._model.logits(picked)
            with self.span("sample"):  # of the graph: the device samples when the step runs
                pending.sample(logits, after)
        return pending

    def _using(self, runs: Sequence[AdapterRun], total: int) -> AbstractContextManager[None]:
        if self._adapters is None or not runs:
            return nullcontext()
        return self._adapters.using(MlxAdapterRows(runs, total))

    # -- inputs

    def _inputs(self, plan: StepPlan) -> mx.array:
        """`[T, D]`"""
        if plan.tokens_are_plain:
            return self._model.embed(mx.array(plan.ids))
        lasts = [
            self._last(plan.segments[row]) for row in plan.continued
        ]  # such a segment has one token, so its row is its index
        if not any(last.embedded for last in lasts) and all(
            s.segment.ids is not None or s.segment.continues for s in plan.segments
        ):
            x = self._model.embed(self._joined_ids(plan, lasts))
        else:
            x = self._joined_embeddings(plan)
        if any(packed.segment.add is not None for packed in plan.segments):
            x = self._added(plan, x)
        return x

    def _last(self, packed: PackedSegment) -> NextInput:
        try:
            return self._next_inputs[packed.slot]
        except KeyError:
            raise ValueError(f"slot {packed.slot.id} has no sampled token to continue from") from None

    def _joined_ids(self, plan: StepPlan, lasts: list[NextInput]) -> mx.array:
        if not lasts:
            return mx.array(plan.ids)
        ids = collected(lasts)
        if len(lasts) == plan.total:
            return ids
        joined = mx.array(plan.ids)
        joined[mx.array(plan.continued)] = ids
        return joined

    def _joined_embeddings(self, plan: StepPlan) -> mx.array:
        pieces: list[mx.array] = []
        for packed in plan.segments:
            if packed.segment.embeds is not None:
                pieces.append(_on_device(packed.segment.embeds, self._kv.dtype))
            elif packed.segment.codes is not None:
                pieces.append(self._model.reframe(mx.array(packed.segment.codes)).astype(self._kv.dtype))  # type: ignore[attr-defined]
            elif packed.segment.ids is not None:
                pieces.append(self._model.embed(mx.array(plan.ids[packed.start : packed.stop])))
            else:
                last = self._last(packed)
                row = last.rows[last.index : last.index + 1]
                pieces.append(row.astype(self._kv.dtype) if last.embedded else self._model.embed(row))
        return pieces[0] if len(pieces) == 1 else mx.concatenate(pieces)

    def _added(self, plan: StepPlan, x: mx.array) -> mx.array:
        pieces = []
        for packed in plan.segments:
            piece = x[packed.start : packed.stop]
            if packed.segment.add is not None:
                piece = piece + _on_device(packed.segment.add, x.dtype)
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else mx.concatenate(pieces)

    # -- ranks

    def poison(self, slot: Slot) -> None:
        self._kv.clear(slot)

    def set_last(self, slot: Slot, token: int) -> None:
        """Make `token` the slot's next input."""
        self._next_inputs[slot] = next_input(token)

    # -- inspection

    def count_primitives(self, batch: int) -> int:
        """Primitives in the graph of one greedy decode step of `batch` sequences, which is built and not run."""
        slots = [slot for slot in (self._kv.open(16) for _ in range(batch)) if slot is not None]
        try:
            self.run([Segment(slot, ids=[0] * 8, sample=Sampling()) for slot in slots]).read()
            self.run([Segment(slot, sample=Sampling()) for slot in slots]).read()
            pending = self._build(make_plan([Segment(slot, sample=Sampling()) for slot in slots]))
            return count_primitives(*pending.arrays(), *self._kv.arrays())
        finally:
            for slot in slots:
                self._kv.close(slot)

    # -- warm-up

    def warm(self) -> None:
        """A prompt chunk and a few single tokens, alone and together, so that every kernel is compiled."""
        if any(isinstance(spec, CrossSpec) for spec in self._kv.specs):
            return  # such a model needs its encoder's output
        slots = [slot for slot in (self._kv.open(8), self._kv.open(8)) if slot is not None]
        greedy, drawn = Sampling(), Sampling(temperature=1.0, top_p=0.9, top_k=2)
        try:
            self.run([Segment(slot, ids=[0] * (2 + i), sample=greedy) for i, slot in enumerate(slots)]).read()
            for chosen in (slots[:1], slots):
                for sampling in (greedy, drawn):
                    if chosen:
                        self.run([Segment(slot, ids=[0], sample=sampling) for slot in chosen]).read()
        finally:
            for slot in slots:
                self._next_inputs.pop(slot, None)
                self._kv.close(slot)


def _on_device(x: Any, dtype: mx.Dtype) -> mx.array:
    made = x if isinstance(x, mx.array) else mx.array(np.ascontiguousarray(x))
    return made if made.dtype == dtype else made.astype(dtype)


# -- adapters: rows are grouped by adapter, and what each group adds goes into the step's graph


class MlxAdapterRows:
    """Implements `backends.adapters.ActiveAdapters`."""

    def __init__(self, runs: Sequence[AdapterRun], total: int) -> None:
        self._rows = {
            adapter: None if rows is None else mx.array(rows) for adapter, rows in rows_by_adapter(runs, total).items()
        }

    def add(self, sides: Sides, x: mx.array, y: mx.array) -> mx.array:
        for adapter, rows in self._rows.items():
            for side in sides.get(adapter, ()):
                added = side.b(side.a(x if rows is None else mx.take(x, rows, axis=0))).astype(y.dtype)
                if rows is not None:
                    y = y.at[rows, ..., side.start : side.stop].add(added)
                elif added.shape == y.shape:
                    y = y + added
                else:
                    y = y.at[..., side.start : side.stop].add(added)
        return y
