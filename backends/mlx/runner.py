"""One model on MLX, step by step: pack, embed, run, pick, sample, and leave the rest to `read`.

A step's graph is built while the one before it still runs, but issued only after: a slab that is being read would be
copied by the write that follows. Inside a step nothing waits for the device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import mlx.core as mx
import numpy as np

from backends.base import Model, Sampling, Seg, Slot, Step, Token
from backends.drafts import mark_drafts, settle_drafts
from backends.mlx.cache import MlxCache
from backends.mlx.kv import MlxKV
from backends.mlx.ops import TextOps
from backends.mlx.sample import Drawn, sample
from backends.plan import Plan, Span, make_plan, sampled_tokens


@dataclass(frozen=True)
class Last:
    """What a sequence feeds in next when its segment brings no input: row `index` of a step's ids or embeddings."""

    rows: mx.array
    index: int
    embedded: bool = False


Held = WeakKeyDictionary[Slot, Last]


class _Sampled:
    """What a step sampled, on the host. Made by waiting for the device."""

    def __init__(self, ids: mx.array | None, drawn: Drawn | None) -> None:
        self.ids: list[int] = []
        self.logprobs: dict[int, float] = {}  # by sampled row
        self.top: dict[int, list[tuple[int, float]]] = {}
        if ids is None or drawn is None:
            return
        self.ids = np.array(ids).tolist()
        self.fine = np.isfinite(np.array(drawn.best.astype(mx.float32)))
        if drawn.chosen is None:
            return
        self.logprobs = dict(zip(drawn.logprob_rows, np.array(drawn.chosen).tolist(), strict=True))
        self.top = {row: [] for row in drawn.logprob_rows}
        if drawn.top_ids is not None and drawn.top is not None:
            for row, ids_of_row, values in zip(drawn.logprob_rows, np.array(drawn.top_ids), np.array(drawn.top)):
                self.top[row] = list(zip(ids_of_row.tolist(), values.tolist(), strict=True))


class MlxPending:
    """Implements `backends.base.Pending`."""

    def __init__(
        self,
        plan: Plan,
        kv: MlxKV,
        held: Held,
        ids: mx.array | None,
        drawn: Drawn | None,
        logits: mx.array | None,
        codes: mx.array | None,
        run: Callable[[list[Seg]], Any],
    ) -> None:
        self._plan, self._kv, self._held, self._run = plan, kv, held, run
        self._ids, self._drawn, self._logits, self._codes = ids, drawn, logits, codes

    def arrays(self) -> list[mx.array]:
        drawn = [] if self._drawn is None else self._drawn.arrays()
        return [a for a in (self._ids, self._logits, self._codes, *drawn) if a is not None]

    def read(self) -> dict[Slot, Token]:
        sampled = _Sampled(self._ids, self._drawn)
        tokens = sampled_tokens(self._plan, sampled.ids)
        row = 0
        for span in self._plan.spans:
            rows = range(row, row + (span.seg.draft + 1 if span.seg.sample is not None else 0))
            row = rows.stop
            if rows:
                self._describe(span, tokens[span.slot], rows, sampled)
        if self._logits is not None:
            self._deal_logits(tokens)
        settle_drafts(self._kv, [span.seg for span in self._plan.spans], tokens, self._run)
        return tokens

    def _describe(self, span: Span, token: Token, rows: range, sampled: _Sampled) -> None:
        used = rows[: len(token.ids)]
        if not sampled.fine[used.start : used.stop].all():
            token.ids, token.nan, token.accepted = [], True, 0
            self._kv.clear(span.slot)
            return
        if span.seg.draft:
            self._held[span.slot] = Last(mx.array([token.ids[-1]], mx.int32), 0)
        if used.start in sampled.logprobs:
            token.logprobs = [sampled.logprobs[at] for at in used]
            token.top = [sampled.top[at][: self._plan.samplings[at].logprobs] for at in used]
        if self._codes is not None:
            token.codes = np.array(self._codes[rows[-1]])

    def _deal_logits(self, tokens: dict[Slot, Token]) -> None:
        wide = np.array(self._logits)
        picked = {int(row): i for i, row in enumerate(self._plan.picked)}
        for span in self._plan.spans:
            if span.seg.want:
                tokens[span.slot].logits = wide[[picked[span.start + i] for i in span.seg.want]]


class MlxRunner:
    """Implements `backends.base.Runner`."""

    def __init__(self, model: Model, kv: MlxKV, ops: TextOps) -> None:
        self._model = model
        self._kv = kv
        self._ops = ops
        self._held: Held = WeakKeyDictionary()
        self._issued: MlxPending | None = None

    def run(self, segs: Sequence[Seg]) -> MlxPending:
        plan = make_plan(segs)
        mark_drafts(self._kv, segs)
        pending = self._build(plan)
        if self._issued is not None:
            mx.eval(self._issued.arrays())
            mx.synchronize()
        mx.async_eval(pending.arrays(), self._kv.arrays(), [last.rows for last in self._held.values()])
        self._issued = pending
        return pending

    def _build(self, plan: Plan) -> MlxPending:
        """The step's graph; nothing has run yet."""
        cache = MlxCache(self._kv, plan, kernel=self._ops.device == "metal")
        hidden = self._model(Step(self._inputs(plan), mx.array(plan.pos), cache))
        cache.finish()
        if not len(plan.picked):
            return MlxPending(plan, self._kv, self._held, None, None, None, None, self.run)
        picked = _taken(hidden, plan.picked)
        logits = self._model.logits(picked)
        wanted = None
        if any(span.seg.want for span in plan.spans):
            wanted = logits.astype(mx.float32)
        if not plan.samplings:
            return MlxPending(plan, self._kv, self._held, None, None, wanted, None, self.run)
        ids, drawn = sample(_taken(logits, plan.sampled), plan.samplings)
        codes, rows, embedded = None, ids, False
        frame = getattr(self._model, "frame", None)
        if frame is not None:
            codes, rows = frame(_taken(picked, plan.sampled), ids)
            embedded = True
        at = 0
        for span in plan.spans:
            if span.seg.sample is not None:
                at += span.seg.draft + 1
                self._held[span.slot] = Last(rows, at - 1, embedded)
        return MlxPending(plan, self._kv, self._held, ids, drawn, wanted, codes, self.run)

    # -- inputs

    def _inputs(self, plan: Plan) -> mx.array:
        """`[T, D]`"""
        if plan.tokens_are_plain:
            return self._model.embed(mx.array(plan.ids))
        lasts = [self._last(plan.spans[row]) for row in plan.held]  # a held span is one token long and comes early
        if not any(last.embedded for last in lasts) and all(s.seg.embeds is None for s in plan.spans):
            x = self._model.embed(self._joined_ids(plan, lasts))
        else:
            x = self._joined_embeddings(plan)
        if any(span.seg.add is not None for span in plan.spans):
            x = self._added(plan, x)
        return x

    def _last(self, span: Span) -> Last:
        try:
            return self._held[span.slot]
        except KeyError:
            raise ValueError(f"slot {span.slot.id} has no sampled token to go on from") from None

    def _joined_ids(self, plan: Plan, lasts: list[Last]) -> mx.array:
        if not lasts:
            return mx.array(plan.ids)
        ids = _collected(lasts)
        if len(lasts) == plan.total:
            return ids
        joined = mx.array(plan.ids)
        joined[mx.array(plan.held)] = ids
        return joined

    def _joined_embeddings(self, plan: Plan) -> mx.array:
        pieces: list[mx.array] = []
        for span in plan.spans:
            if span.seg.embeds is not None:
                pieces.append(_on_device(span.seg.embeds, self._kv.dtype))
            elif span.seg.ids is not None:
                pieces.append(self._model.embed(mx.array(plan.ids[span.start : span.stop])))
            else:
                last = self._last(span)
                row = last.rows[last.index : last.index + 1]
                pieces.append(row.astype(self._kv.dtype) if last.embedded else self._model.embed(row))
        return pieces[0] if len(pieces) == 1 else mx.concatenate(pieces)

    def _added(self, plan: Plan, x: mx.array) -> mx.array:
        pieces = []
        for span in plan.spans:
            piece = x[span.start : span.stop]
            if span.seg.add is not None:
                piece = piece + _on_device(span.seg.add, x.dtype)
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else mx.concatenate(pieces)

    # -- warm-up

    def warm(self) -> None:
        """A prompt chunk and a few single tokens, alone and together, so that every kernel is compiled."""
        slots = [slot for slot in (self._kv.open(8), self._kv.open(8)) if slot is not None]
        greedy, drawn = Sampling(), Sampling(temperature=1.0, top_p=0.9, top_k=2)
        try:
            self.run([Seg(slot, ids=[0] * (2 + i), sample=greedy) for i, slot in enumerate(slots)]).read()
            for chosen in (slots[:1], slots):
                for sampling in (greedy, drawn):
                    if chosen:
                        self.run([Seg(slot, ids=[0], sample=sampling) for slot in chosen]).read()
        finally:
            for slot in slots:
                self._held.pop(slot, None)
                self._kv.close(slot)


def _taken(x: mx.array, rows: np.ndarray) -> mx.array:
    """Rows of `x`, or `x` itself when that is all of them in order."""
    if len(rows) == x.shape[0] and (rows == np.arange(len(rows))).all():
        return x
    if len(rows) == rows[-1] - rows[0] + 1:  # ascending, so consecutive
        return x[int(rows[0]) : int(rows[-1]) + 1]
    return mx.take(x, mx.array(rows), axis=0)


def _collected(lasts: list[Last]) -> mx.array:
    """The ids of several sequences; while the same ones go on, the array that the last step left."""
    rows = lasts[0].rows
    if all(last.rows is rows for last in lasts):
        indices = [last.index for last in lasts]
        return rows if indices == list(range(rows.shape[0])) else mx.take(rows, mx.array(indices), axis=0)
    return mx.concatenate([last.rows[last.index : last.index + 1] for last in lasts])


def _on_device(x: Any, dtype: mx.Dtype) -> mx.array:
    made = x if isinstance(x, mx.array) else mx.array(np.ascontiguousarray(x))
    return made if made.dtype == dtype else made.astype(dtype)
