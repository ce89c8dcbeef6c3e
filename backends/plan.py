"""Step planning: packs the segments of a step into one row of tokens, and unpacks its results. Array-free, shared by all backends.

A step's tokens lie in one row of length T: first every sequence that adds a single token (decoding), grouped by capacity
class and within it by row, so that a group's keys and values are a slice of one slab; then the sequences that add several
(prompt chunks, draft tokens), one after the other. Only `Cache` uses these boundaries.

`PlannedStep` reads what a step has computed: it deals samples, logits and hidden states to the slots they belong to.

Speculative decoding: after draft tokens were verified, each slot is rolled back to the accepted ones. An attention cache drops
the rejected rows. A recurrent state returns to the checkpoint before the step, and is made again from what the step's recurrent
layers have read; a cache that cannot do that returns to the checkpoint, and the accepted tokens run once more, without sampling.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, Generic, TypeVar

import numpy as np

from backends.base import KVCache, Sampling, Segment, SegmentOutput, Slot


@dataclass(frozen=True)
class PackedSegment:
    """One sequence's tokens in the packed row."""

    segment: Segment
    start: int
    stop: int
    past: int  # tokens that were in the slot before

    @property
    def slot(self) -> Slot:
        return self.segment.slot

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class DecodeGroup:
    """Single-token segments of one capacity class: packed rows `start .. stop`, ordered by slab row."""

    capacity: int
    segments: list[PackedSegment]

    @property
    def start(self) -> int:
        return self.segments[0].start

    @property
    def stop(self) -> int:
        return self.segments[-1].stop

    @property
    def rows(self) -> list[int]:
        return [packed.slot.place.row for packed in self.segments]

    @property
    def lengths(self) -> list[int]:
        """Tokens each sequence will have, the new one included."""
        return [packed.past + 1 for packed in self.segments]

    def first_row_if_dense(self) -> int | None:
        """The first slab row when the rows are consecutive, so that they can be sliced; else None."""
        rows = self.rows
        return rows[0] if rows[-1] - rows[0] + 1 == len(rows) else None


@dataclass(frozen=True)
class StepPlan:
    segments: list[PackedSegment]  # in packed order
    groups: list[DecodeGroup]  # of the single-token segments
    chunks: list[PackedSegment]  # the others
    total: int
    ids: np.ndarray  # int32 [T]; 0 where `continued` or embedded
    continued: list[int]  # packed rows whose input is the token sampled last, which may still be on the device
    pos: np.ndarray  # int32 [T] or [3, T]
    picked: np.ndarray  # int32: packed rows whose logits are computed, ascending by segment
    samplings: list[Sampling]  # of the sampled rows
    sampled: np.ndarray  # int32: for each sampling, its index into `picked`

    def within(self, view: int | None) -> StepPlan:
        """The plan as layers with this `KVSpec.view` see it: tokens that are not kept are not counted."""
        firsts = [0 if view is None else packed.slot.place.firsts.get(view, 0) for packed in self.segments]
        if not any(firsts):
            return self
        moved = [replace(packed, past=packed.past - first) for packed, first in zip(self.segments, firsts)]
        groups = [replace(group, segments=moved[group.start : group.stop]) for group in self.groups]
        return replace(self, segments=moved, groups=groups, chunks=moved[len(moved) - len(self.chunks) :])

    @property
    def adapters(self) -> list[tuple[int, int, str | None]]:
        """Each sequence's rows and adapter, see `Adapters.runs`."""
        return [(packed.start, packed.stop, packed.segment.adapter) for packed in self.segments]

    @property
    def tokens_are_plain(self) -> bool:
        """Every input is an id that the host knows: no embeddings, no additions, no token that is still on the device."""
        return not self.continued and all(s.segment.ids is not None and s.segment.add is None for s in self.segments)


def make_plan(segments: Sequence[Segment]) -> StepPlan:
    """Order and pack. Raises ValueError (and changes nothing) when a segment cannot run."""
    _check(segments)
    ordered = in_order(segments)
    singles = sum(len(s) == 1 for s in ordered)
    row: list[PackedSegment] = []
    start = 0
    for segment in ordered:
        row.append(PackedSegment(segment, start, start + len(segment), segment.slot.length))
        start += len(segment)
    ids = np.zeros(start, np.int32)
    continued: list[int] = []
    for packed in row:
        if packed.segment.ids is not None:
            ids[packed.start : packed.stop] = packed.segment.ids
        elif packed.segment.continues:
            continued.append(packed.start)
    groups: list[DecodeGroup] = []
    for packed in row[:singles]:
        if not groups or groups[-1].capacity != packed.slot.capacity:
            groups.append(DecodeGroup(packed.slot.capacity, []))
        groups[-1].segments.append(packed)
    picked, samplings, sampled = _pick(row)
    return StepPlan(
        row, groups, row[singles:], start, ids, continued, _positions(row, start), picked, samplings, sampled
    )


def in_order(segments: Sequence[Segment]) -> list[Segment]:
    """As they are packed: those of one token as their keys and values lie, then the others."""
    singles = sorted((s for s in segments if len(s) == 1), key=lambda s: (s.slot.capacity, s.slot.place.row))
    return [*singles, *(s for s in segments if len(s) != 1)]


def _check(segments: Sequence[Segment]) -> None:
    seen: set[int] = set()
    for segment in segments:
        slot, n = segment.slot, len(segment)
        if not slot.open:
            raise ValueError(f"slot {slot.id} is closed")
        if id(slot) in seen:
            raise ValueError(f"slot {slot.id} has two segments in one step")
        seen.add(id(slot))
        if n == 0:
            raise ValueError(f"slot {slot.id} has an empty segment")
        if slot.length - slot.dropped + n > slot.capacity:
            raise ValueError(f"slot {slot.id} has room for {slot.capacity} tokens, not {slot.length + n}")
        if segment.draft and (segment.ids is None or segment.draft >= n or segment.sample is None):
            raise ValueError(f"slot {slot.id}: a draft needs its ids, one token before it, and a sampling")
        if segment.draft and (segment.samples is None or len(segment.samples) != segment.draft):
            raise ValueError(f"slot {slot.id}: a draft needs one sampling for each of its tokens")


def _positions(segments: Sequence[PackedSegment], total: int) -> np.ndarray:
    if len(segments) == total and all(
        packed.segment.pos is None for packed in segments
    ):  # all segments decode one token
        return np.array([packed.past for packed in segments], np.int32)
    axes = 3 if any(s.segment.pos is not None and np.ndim(s.segment.pos) == 2 for s in segments) else 1
    pos = np.zeros((axes, total), np.int32)
    for packed in segments:
        given = packed.segment.pos
        pos[:, packed.start : packed.stop] = (
            np.arange(packed.past, packed.past + len(packed)) if given is None else given
        )
    return pos if axes == 3 else pos[0]


def _pick(segments: Sequence[PackedSegment]) -> tuple[np.ndarray, list[Sampling], np.ndarray]:
    picked: list[int] = []
    samplings: list[Sampling] = []
    sampled: list[int] = []
    for packed in segments:
        segment = packed.segment
        rows = {packed.start + i for i in (segment.want or ())}
        chosen: list[tuple[int, Sampling]] = []
        if segment.sample is not None:
            each = [*(segment.samples or ()), segment.sample] if segment.draft else [segment.sample]
            chosen = list(zip(range(packed.stop - len(each), packed.stop), each))
            rows.update(row for row, _ in chosen)
        order = {row: len(picked) + i for i, row in enumerate(sorted(rows))}
        picked.extend(order)
        for row, sampling in chosen:
            samplings.append(sampling)
            sampled.append(order[row])
    return np.array(picked, np.int32), samplings, np.array(sampled, np.int32)


MOST_EXPANDED = 1 << 26  # numbers that attention over latents makes at once: keys, values, scores


def bounded_runs(count: int, each: int) -> list[tuple[int, int]]:
    """`first .. last - 1` of `count` heads or tokens that are computed together, where one of them makes `each` numbers."""
    size = max(1, MOST_EXPANDED // each)
    return [(first, min(first + size, count)) for first in range(0, count, size)]


def accept(segment: Segment, sampled: Sequence[int]) -> tuple[list[int], int]:
    """The tokens of a segment from its sampled rows, and how many draft tokens were accepted.

    Row i of a draft was sampled with exactly the noise that a step without speculation would have used. So draft
    tokens that equal their samples are the tokens that would have been generated, and the first that differs is replaced
    by its sample: speculative decoding changes speed, never output.
    """
    if not segment.draft:
        return list(sampled), 0
    assert segment.ids is not None
    draft = list(segment.ids[len(segment.ids) - segment.draft :])
    accepted = 0
    while accepted < len(draft) and draft[accepted] == sampled[accepted]:
        accepted += 1
    return list(sampled[: accepted + 1]), accepted


def chosen_tokens(segment: Segment, ids: Sequence[int], best: Sequence[float]) -> SegmentOutput:
    """The result of a segment, from its sampled rows and the largest logit of each."""
    if not all(map(isfinite, best)):
        return SegmentOutput([], nan=True)
    tokens, accepted = accept(segment, ids)
    return SegmentOutput(tokens, accepted=accepted)


def sampled_tokens(plan: StepPlan, ids: Sequence[int], best: Sequence[float]) -> dict[Slot, SegmentOutput]:
    """The results by slot, from the sampled ids of all rows and their largest logits; empty for slots without a sampling."""
    tokens: dict[Slot, SegmentOutput] = {}
    at = 0
    for packed in plan.segments:
        rows = slice(at, at + packed.segment.draft + 1)
        sampled = packed.segment.sample is not None
        tokens[packed.slot] = chosen_tokens(packed.segment, ids[rows], best[rows]) if sampled else SegmentOutput([])
        at = rows.stop if sampled else at
    return tokens


def checkpoint_drafts(kv: KVCache, segments: Sequence[Segment]) -> None:
    """Save a checkpoint of every slot with draft tokens. Called before the step."""
    for segment in segments:
        if segment.draft:
            kv.checkpoint(segment.slot)


def roll_back_drafts(
    kv: KVCache, segments: Sequence[Segment], tokens: Mapping[Slot, SegmentOutput], run: Callable[[list[Segment]], Any]
) -> None:
    """Roll every slot back to its accepted draft tokens. Called after the step; `run` issues another step."""
    again: list[Segment] = []
    for segment in segments:
        token = tokens[segment.slot]
        if not segment.draft or token.nan or token.accepted == segment.draft:
            continue
        assert segment.ids is not None
        keep = len(segment.ids) - segment.draft + token.accepted
        kept = kv.rollback(segment.slot, keep)
        if kept < keep:
            pos = None if segment.pos is None else segment.pos[..., kept:keep]
            again.append(Segment(segment.slot, segment.ids[kept:keep], pos=pos, adapter=segment.adapter))
    if again:
        run(again)


def settle_drafts(
    kv: KVCache,
    segments: Sequence[Segment],
    tokens: Mapping[Slot, SegmentOutput],
    run: Callable[[list[Segment]], Any],
    continue_from: Callable[[Slot, int], None],
) -> None:
    """Drop rejected draft tokens. `continue_from` makes a token the slot's next input."""
    roll_back_drafts(kv, segments, tokens, run)
    for segment in segments:
        if segment.draft and tokens[segment.slot].ids:
            continue_from(segment.slot, tokens[segment.slot].ids[-1])


# -- what a step has computed

A = TypeVar("A")  # an array of the backend


@dataclass
class HostSamples:
    """What a step has sampled, on the host: an entry for each of `StepPlan.samplings`."""

    ids: list[int] = field(default_factory=list)
    best: list[float] = field(default_factory=list)  # the largest logit; not finite: nothing could be sampled
    logprob_rows: Sequence[int] = ()  # rows that asked for logprobs; the lists below have one entry each
    chosen: list[float] = field(default_factory=list)
    top_ids: list[list[int]] = field(default_factory=list)
    top: list[list[float]] = field(default_factory=list)
    codes: np.ndarray | None = None


class PlannedStep(ABC, Generic[A]):
    """Implements `backends.base.PendingStep`, but for how a backend's arrays come to the host."""

    def __init__(self, plan: StepPlan, kv: KVCache, run: Callable[[list[Segment]], Any]) -> None:
        """`run` issues another step."""
        self._plan, self._kv, self._run = plan, kv, run
        self.logits: A | None = None  # of the picked rows
        self.hidden: dict[Slot, A] = {}  # of the segments that asked for them
        self._tokens: dict[Slot, SegmentOutput] | None = None

    @abstractmethod
    def _samples(self) -> HostSamples:
        """Waits for the device."""

    @abstractmethod
    def _on_host(self, x: A, rows: Sequence[int] | None = None) -> np.ndarray:
        """All of these rows in f32."""

    @abstractmethod
    def _spoiled(self, slot: Slot) -> None:
        """The slot's rows may hold NaN."""

    @abstractmethod
    def _continue_from(self, slot: Slot, token: int) -> None:
        """Make `token` the slot's next input."""

    @property
    def _wants_logits(self) -> bool:
        return any(packed.segment.want is not None for packed in self._plan.segments)

    def read(self) -> dict[Slot, SegmentOutput]:
        if self._tokens is None:
            self._tokens = self._read()
        return self._tokens

    def _read(self) -> dict[Slot, SegmentOutput]:
        plan, samples = self._plan, self._samples()
        tokens = sampled_tokens(plan, samples.ids, samples.best)
        row = 0
        for packed in plan.segments:
            if packed.segment.sample is not None:
                rows = range(row, row + packed.segment.draft + 1)
                self._complete(tokens[packed.slot], packed.slot, rows, samples)
                row = rows.stop
        if self.logits is not None and self._wants_logits:
            place = {int(row): at for at, row in enumerate(plan.picked)}
            for packed in plan.segments:
                if packed.segment.want is not None:
                    at = [place[packed.start + i] for i in packed.segment.want]
                    tokens[packed.slot].logits = self._on_host(self.logits, at)
        for slot, hidden in self.hidden.items():
            tokens[slot].hidden = states = self._on_host(hidden)
            if not np.isfinite(states).all():
                self._spoiled(slot)
                tokens[slot].nan = True
        self._settle([packed.segment for packed in plan.segments], tokens)
        return tokens

    def _settle(self, segments: Sequence[Segment], tokens: Mapping[Slot, SegmentOutput]) -> None:
        settle_drafts(self._kv, segments, tokens, self._run, self._continue_from)

    def _complete(self, token: SegmentOutput, slot: Slot, rows: range, samples: HostSamples) -> None:
        """`rows`: of the slot's draft tokens and of the one behind them."""
        if token.nan:
            self._spoiled(slot)
            return
        if samples.codes is not None:
            token.codes = samples.codes[rows[-1]]
        of_row = {row: at for at, row in enumerate(samples.logprob_rows)}
        if rows.start in of_row:
            used = rows[: len(token.ids)]
            token.logprobs = [samples.chosen[of_row[row]] for row in used]
            token.top = [[] for _ in used]
            if samples.top:
                most = [self._plan.samplings[row].logprobs or 0 for row in used]
                pairs = [list(zip(samples.top_ids[of_row[row]], samples.top[of_row[row]])) for row in used]
                token.top = [best[:n] for best, n in zip(pairs, most)]
