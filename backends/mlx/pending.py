"""A step that was issued, and what it becomes on the host. Knows no model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import mlx.core as mx
import numpy as np

from backends.base import KVCache, Segment, SegmentOutput, Slot
from backends.drafts import roll_back_drafts
from backends.mlx.sample import Drawn, sample
from backends.plan import PackedSegment, StepPlan, sampled_tokens


@dataclass(frozen=True)
class Last:
    """What a sequence feeds in next when its segment brings no input: row `index` of a step's ids or embeddings."""

    rows: mx.array
    index: int
    embedded: bool = False


Held = WeakKeyDictionary[Slot, Last]


class Store(KVCache, Protocol):
    def clear(self, slot: Slot) -> None:
        """Leave nothing of a sequence that went wrong."""


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

    def __init__(self, plan: StepPlan, kv: Store, held: Held, run: Callable[[list[Segment]], Any]) -> None:
        self._plan, self._kv, self._held, self._run = plan, kv, held, run
        self._ids: mx.array | None = None
        self._drawn: Drawn | None = None
        self._logits: mx.array | None = None
        self._hidden: dict[Slot, mx.array] = {}
        self._codes: mx.array | None = None
        self._tokens: dict[Slot, SegmentOutput] | None = None

    def keep_hidden(self, hidden: mx.array) -> None:
        """Of the segments that asked for it."""
        for packed in self._plan.segments:
            if packed.segment.hidden:
                self._hidden[packed.slot] = hidden[packed.start : packed.stop].astype(mx.float32)

    def sample(self, logits: mx.array, frame: Callable[[mx.array], tuple[mx.array, mx.array]] | None = None) -> None:
        """Add to the step's graph what follows the logits of its picked rows. `frame` takes the sampled ids."""
        plan = self._plan
        if any(packed.segment.want for packed in plan.segments):
            self._logits = logits.astype(mx.float32)
        if not plan.samplings:
            return
        self._ids, self._drawn = sample(taken(logits, plan.sampled), plan.samplings)
        next_inputs = self._ids
        if frame is not None:
            self._codes, next_inputs = frame(self._ids)
        row = -1
        for packed in plan.segments:
            if packed.segment.sample is not None:
                row += packed.segment.draft + 1
                self._held[packed.slot] = Last(next_inputs, row, embedded=frame is not None)

    def issue(self, before: MlxPending | None, remembered: list[mx.array]) -> None:
        """Start the step, once the one before it is through: see the runner about slabs that are being read."""
        if before is not None:
            mx.eval(before.arrays())
            mx.synchronize()
        mx.async_eval(self.arrays(), remembered)

    def arrays(self) -> list[mx.array]:
        drawn = [] if self._drawn is None else self._drawn.arrays()
        return [a for a in (self._ids, self._logits, self._codes, *drawn, *self._hidden.values()) if a is not None]

    def read(self) -> dict[Slot, SegmentOutput]:
        if self._tokens is None:
            self._tokens = self._read()
        return self._tokens

    def _read(self) -> dict[Slot, SegmentOutput]:
        sampled = _Sampled(self._ids, self._drawn)
        tokens = sampled_tokens(self._plan, sampled.ids)
        row = 0
        for packed in self._plan.segments:
            rows = range(row, row + (packed.segment.draft + 1 if packed.segment.sample is not None else 0))
            row = rows.stop
            if rows:
                self._describe(packed, tokens[packed.slot], rows, sampled)
        if self._logits is not None:
            self._deal_logits(tokens)
        for slot, hidden in self._hidden.items():
            tokens[slot].hidden = states = np.array(hidden)
            if not np.isfinite(states).all():
                tokens[slot].nan = True
                self._kv.clear(slot)
        roll_back_drafts(self._kv, [packed.segment for packed in self._plan.segments], tokens, self._run)
        return tokens

    def _describe(self, packed: PackedSegment, token: SegmentOutput, rows: range, sampled: _Sampled) -> None:
        used = rows[: len(token.ids)]
        if not sampled.fine[used.start : used.stop].all():
            token.ids, token.nan, token.accepted = [], True, 0
            self._kv.clear(packed.slot)
            return
        if packed.segment.draft:
            self._held[packed.slot] = Last(mx.array([token.ids[-1]], mx.int32), 0)
        if all(at in sampled.logprobs for at in used):
            token.logprobs = [sampled.logprobs[at] for at in used]
            token.top = [sampled.top[at][: self._plan.samplings[at].logprobs] for at in used]
        if self._codes is not None:
            token.codes = np.array(self._codes[rows[-1]])

    def _deal_logits(self, tokens: dict[Slot, SegmentOutput]) -> None:
        wide = np.array(self._logits)
        picked = {int(row): i for i, row in enumerate(self._plan.picked)}
        for packed in self._plan.segments:
            if packed.segment.want:
                tokens[packed.slot].logits = wide[[picked[packed.start + i] for i in packed.segment.want]]


def taken(x: mx.array, rows: np.ndarray) -> mx.array:
    """Rows of `x`, ascending, or `x` itself when that is all of them."""
    if len(rows) == x.shape[0]:
        return x
    if len(rows) == rows[-1] - rows[0] + 1:
        return x[int(rows[0]) : int(rows[-1]) + 1]
    return mx.take(x, mx.array(rows), axis=0)


def collected(lasts: list[Last]) -> mx.array:
    """The ids of several sequences; while the same ones go on, the array that the last step left."""
    rows = lasts[0].rows
    if all(last.rows is rows for last in lasts):
        indices = [last.index for last in lasts]
        return rows if indices == list(range(rows.shape[0])) else mx.take(rows, mx.array(indices), axis=0)
    return mx.concatenate([last.rows[last.index : last.index + 1] for last in lasts])
