"""From the engine's segments to one packed row of tokens. Array-free, shared by all backends.

A step's tokens lie in one row of length T: first every sequence that adds a single token (decoding), grouped by
capacity class and within it by row, so that a group's keys and values are a slice of one slab; then the sequences that
add several (prompt chunks, drafts), one after the other. Only `Cache` looks at these borders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backends.base import Sampling, Seg, Slot, Token


@dataclass(frozen=True)
class Span:
    """One sequence's tokens in the packed row."""

    seg: Seg
    start: int
    stop: int
    past: int  # tokens that were in the slot before

    @property
    def slot(self) -> Slot:
        return self.seg.slot

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class Group:
    """Single-token spans of one capacity class: packed rows `start .. stop`, ordered by slab row."""

    capacity: int
    spans: list[Span]

    @property
    def start(self) -> int:
        return self.spans[0].start

    @property
    def stop(self) -> int:
        return self.spans[-1].stop

    @property
    def rows(self) -> list[int]:
        return [span.slot.place.row for span in self.spans]

    @property
    def lengths(self) -> list[int]:
        """Tokens each sequence will have, the new one included."""
        return [span.past + 1 for span in self.spans]

    def first_row_if_dense(self) -> int | None:
        """The first slab row when the rows are consecutive, so that they can be sliced; else None."""
        rows = self.rows
        return rows[0] if rows[-1] - rows[0] + 1 == len(rows) else None


@dataclass(frozen=True)
class Plan:
    spans: list[Span]  # in packed order
    groups: list[Group]  # of the single-token spans
    longs: list[Span]  # the others
    total: int
    ids: np.ndarray  # int32 [T]; 0 where `held` or embedded
    held: list[int]  # packed rows whose id is the last sampled one, still on the device
    pos: np.ndarray  # int32 [T] or [3, T]
    picked: np.ndarray  # int32: packed rows whose logits are computed, ascending by span
    samplings: list[Sampling]  # of the sampled rows
    sampled: np.ndarray  # int32: for each sampling, its index into `picked`

    @property
    def tokens_are_plain(self) -> bool:
        """Every input is an id that the host knows: no embeddings, no additions, nothing held by the device."""
        return not self.held and all(s.seg.ids is not None and s.seg.add is None for s in self.spans)


def make_plan(segs: Sequence[Seg]) -> Plan:
    """Order and pack. Raises ValueError (and changes nothing) when a segment cannot run."""
    _check(segs)
    singles = sorted((s for s in segs if len(s) == 1), key=lambda s: (s.slot.capacity, s.slot.place.row))
    longer = [s for s in segs if len(s) > 1]
    spans: list[Span] = []
    start = 0
    for seg in [*singles, *longer]:
        spans.append(Span(seg, start, start + len(seg), seg.slot.length))
        start += len(seg)
    ids = np.zeros(start, np.int32)
    held: list[int] = []
    for span in spans:
        if span.seg.ids is not None:
            ids[span.start : span.stop] = span.seg.ids
        elif span.seg.held:
            held.append(span.start)
    groups: list[Group] = []
    for span in spans[: len(singles)]:
        if not groups or groups[-1].capacity != span.slot.capacity:
            groups.append(Group(span.slot.capacity, []))
        groups[-1].spans.append(span)
    picked, samplings, sampled = _pick(spans)
    return Plan(
        spans, groups, spans[len(singles) :], start, ids, held, _positions(spans, start), picked, samplings, sampled
    )


def _check(segs: Sequence[Seg]) -> None:
    seen: set[int] = set()
    for seg in segs:
        slot, n = seg.slot, len(seg)
        if not slot.open:
            raise ValueError(f"slot {slot.id} is closed")
        if id(slot) in seen:
            raise ValueError(f"slot {slot.id} has two segments in one step")
        seen.add(id(slot))
        if n == 0:
            raise ValueError(f"slot {slot.id} has an empty segment")
        if slot.length + n > slot.capacity:
            raise ValueError(f"slot {slot.id} has room for {slot.capacity} tokens, not {slot.length + n}")
        if seg.draft and (seg.ids is None or seg.draft >= n or seg.sample is None):
            raise ValueError(f"slot {slot.id}: a draft needs its ids, one token before it, and a sampling")
        if seg.draft and (seg.samples is None or len(seg.samples) != seg.draft):
            raise ValueError(f"slot {slot.id}: a draft needs one sampling for each of its tokens")


def _positions(spans: Sequence[Span], total: int) -> np.ndarray:
    if len(spans) == total and all(span.seg.pos is None for span in spans):  # replies, each with its next token
        return np.array([span.past for span in spans], np.int32)
    axes = 3 if any(s.seg.pos is not None and np.ndim(s.seg.pos) == 2 for s in spans) else 1
    pos = np.zeros((axes, total), np.int32)
    for span in spans:
        given = span.seg.pos
        pos[:, span.start : span.stop] = np.arange(span.past, span.past + len(span)) if given is None else given
    return pos if axes == 3 else pos[0]


def _pick(spans: Sequence[Span]) -> tuple[np.ndarray, list[Sampling], np.ndarray]:
    picked: list[int] = []
    samplings: list[Sampling] = []
    sampled: list[int] = []
    for span in spans:
        seg = span.seg
        rows = {span.start + i for i in (seg.want or ())}
        chosen: list[tuple[int, Sampling]] = []
        if seg.sample is not None:
            each = [*(seg.samples or ()), seg.sample] if seg.draft else [seg.sample]
            chosen = list(zip(range(span.stop - len(each), span.stop), each))
            rows.update(row for row, _ in chosen)
        order = {row: len(picked) + i for i, row in enumerate(sorted(rows))}
        picked.extend(order)
        for row, sampling in chosen:
            samplings.append(sampling)
            sampled.append(order[row])
    return np.array(picked, np.int32), samplings, np.array(sampled, np.int32)


def accept(seg: Seg, sampled: Sequence[int]) -> tuple[list[int], int]:
    """What a sequence gets from its sampled rows, and how many guesses were right.

    Row i of a draft was sampled with exactly the noise that a step without speculation would have used. So the guesses
    that equal their samples are the very tokens that would have come, and the first that differs is replaced by its
    sample: speculation changes speed, never output.
    """
    if not seg.draft:
        return list(sampled), 0
    assert seg.ids is not None
    guesses = list(seg.ids[len(seg.ids) - seg.draft :])
    right = 0
    while right < len(guesses) and guesses[right] == sampled[right]:
        right += 1
    return list(sampled[: right + 1]), right


def sampled_tokens(plan: Plan, ids: Sequence[int]) -> dict[Slot, Token]:
    """Deal the sampled ids out to their slots; slots without a sampling get an empty token."""
    tokens: dict[Slot, Token] = {}
    at = 0
    for span in plan.spans:
        count = (span.seg.draft + 1) if span.seg.sample is not None else 0
        accepted_ids, right = accept(span.seg, ids[at : at + count]) if count else ([], 0)
        tokens[span.slot] = Token(accepted_ids, accepted=right)
        at += count
    return tokens
