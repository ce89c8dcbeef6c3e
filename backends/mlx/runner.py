"""One model on MLX, step by step: pack, embed, run, pick, sample, and leave the rest to `read`.

A step's graph is built while the one before it still runs, but issued only after: a slab that is being read would be
copied by the write that follows. Inside a step nothing waits for the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import mlx.core as mx
import numpy as np

from backends.base import CrossSpec, Model, Profiler, Sampling, Segment, Step, unprofiled
from backends.drafts import checkpoint_drafts
from backends.mlx.cache import MlxCache
from backends.mlx.graph import count_primitives
from backends.mlx.kv import MlxKV
from backends.mlx.ops import TextOps
from backends.mlx.pending import Held, Last, MlxPending, collected, taken
from backends.plan import PackedSegment, StepPlan, make_plan


class MlxRunner:
    """Implements `backends.base.Runner`."""

    def __init__(self, model: Model, kv: MlxKV, ops: TextOps) -> None:
        self.span: Profiler = unprofiled
        self._model = model
        self._kv = kv
        self._ops = ops
        self._held: Held = WeakKeyDictionary()
        self._issued: MlxPending | None = None

    def run(self, segments: Sequence[Segment]) -> MlxPending:
        plan = make_plan(segments)
        checkpoint_drafts(self._kv, segments)
        before = [(s.slot, s.past, self._kv.states.get(s.slot), self._held.get(s.slot)) for s in plan.segments]
        try:
            pending = self._build(plan)
            pending.issue(self._issued, [*self._kv.arrays(), *(last.rows for last in self._held.values())])
        except Exception:
            # Rows beyond a slot's length are nobody's, so this is all that a step that failed can leave behind.
            for slot, length, states, last in before:
                slot.length = length
                self._kv.states.put(slot, states)
                if last is None:
                    self._held.pop(slot, None)
                else:
                    self._held[slot] = last
            raise
        self._issued = pending
        return pending

    def _build(self, plan: StepPlan) -> MlxPending:
        """The step's graph; nothing has run yet."""
        cache = MlxCache(self._kv, plan, kernel=self._ops.device == "metal")
        hidden = self._model(Step(self._inputs(plan), mx.array(plan.pos), cache))
        cache.finish()
        pending = MlxPending(plan, self._kv, self._held, self.run)
        pending.keep_hidden(hidden)
        if len(plan.picked):
            picked = taken(hidden, plan.picked)
            frame = getattr(self._model, "frame", None)
            after = None if frame is None else lambda ids: frame(taken(picked, plan.sampled), ids, plan.samplings)
            logits = self._model.logits(picked)
            with self.span("sample"):  # of the graph: the device samples when the step runs
                pending.sample(logits, after)
        return pending

    # -- inputs

    def _inputs(self, plan: StepPlan) -> mx.array:
        """`[T, D]`"""
        if plan.tokens_are_plain:
            return self._model.embed(mx.array(plan.ids))
        lasts = [self._last(plan.segments[row]) for row in plan.held]  # a held packed is one token long and comes early
        if not any(last.embedded for last in lasts) and all(
            s.segment.ids is not None or s.segment.held for s in plan.segments
        ):
            x = self._model.embed(self._joined_ids(plan, lasts))
        else:
            x = self._joined_embeddings(plan)
        if any(packed.segment.add is not None for packed in plan.segments):
            x = self._added(plan, x)
        return x

    def _last(self, packed: PackedSegment) -> Last:
        try:
            return self._held[packed.slot]
        except KeyError:
            raise ValueError(f"slot {packed.slot.id} has no sampled token to go on from") from None

    def _joined_ids(self, plan: StepPlan, lasts: list[Last]) -> mx.array:
        if not lasts:
            return mx.array(plan.ids)
        ids = collected(lasts)
        if len(lasts) == plan.total:
            return ids
        joined = mx.array(plan.ids)
        joined[mx.array(plan.held)] = ids
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

    # -- for those who look at it

    def count_primitives(self, batch: int) -> int:
        """Of the graph of one greedy decode step of `batch` sequences, which is built and thrown away."""
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
            return  # such a model takes steps only with its encoder's output
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
                self._held.pop(slot, None)
                self._kv.close(slot)


def _on_device(x: Any, dtype: mx.Dtype) -> mx.array:
    made = x if isinstance(x, mx.array) else mx.array(np.ascontiguousarray(x))
    return made if made.dtype == dtype else made.astype(dtype)
