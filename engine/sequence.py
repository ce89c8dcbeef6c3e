"""A request inside the engine (`Job`) and each of its `n` replies (`Choice`).

A choice is its tokens and, while it runs, a slot. One rule carries everything that can happen to it: *what must be
computed next is `tokens[slot.length:]`*. A prompt, a reply's next token, a resumption after an eviction and a repair
after a rejected guess are the same thing to the scheduler.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from backends.base import KVSnapshot, SegmentOutput, Slot
from engine.guesses import Guesser
from engine.handle import RequestHandle
from engine.metrics import RequestMetrics
from engine.output import Output, Piece
from engine.pooling import Pool
from engine.sampling import Chooser
from engine.types import FinishReason, Request, SamplingParams, Timings

if TYPE_CHECKING:
    from engine.grammar import Constraint

_GAPS_KEPT = 4096


class Job:
    """One request: its reader, its clock, and the choices that still run."""

    def __init__(self, request: Request, handle: RequestHandle, seed: int, now: float) -> None:
        self.request = request
        self.handle = handle
        self.seed = seed
        self.params: SamplingParams = request.sampling  # the model's defaults are filled in when it is known
        self.choices: list[Choice] = []
        self.cancelled = False
        self.over = False
        self.sound: np.ndarray | None = None  # features of the request's sound, once they are made
        self.shared: KVSnapshot | None = None  # the prompt's memory, for choices that cannot copy rows
        self.submitted = now
        self.admitted: float | None = None
        self.first_token: float | None = None
        self.cached = 0
        self.drafted = 0
        self.accepted = 0
        self._gaps: list[float] = []

    @property
    def id(self) -> str:
        return self.request.id

    def note_tokens(self, choice: Choice, count: int, now: float, metrics: RequestMetrics) -> None:
        """`count` tokens of `choice` arrived at `now`."""
        if self.first_token is None:
            self.first_token = now
            metrics.started(now - self.submitted, now - (self.admitted or self.submitted), now)
        elif choice.last_token is not None and count:
            gap = (now - choice.last_token) / count
            metrics.tokens(gap, count, now)
            if len(self._gaps) < _GAPS_KEPT:
                self._gaps.extend([gap] * count)
        choice.last_token = now

    def timings(self, now: float) -> Timings:
        gaps = sorted(self._gaps)
        admitted = now if self.admitted is None else self.admitted
        return Timings(
            queued=admitted - self.submitted,
            first_token=(self.first_token or now) - self.submitted,
            total=now - self.submitted,
            prompt_tokens=len(self.request.prompt_ids),
            cached_tokens=self.cached,
            output_tokens=sum(c.output.count for c in self.choices),
            gap_p50=gaps[len(gaps) // 2] if gaps else 0.0,
            gap_p95=gaps[len(gaps) * 95 // 100] if gaps else 0.0,
            drafted=self.drafted,
            accepted=self.accepted,
        )


@dataclass
class Prepared:
    """What a helper thread made ready for a choice before it joins."""

    constraint: Constraint | None = None
    stored: Kept | None = None  # the memory of a prefix, found on disk


@dataclass
class Kept:
    """A sequence's memory in host arrays: evicted, or read from disk."""

    length: int
    arrays: list[np.ndarray]
    nbytes: int
    shared: int = 0  # from disk: how much of it is the choice's own beginning


@dataclass(eq=False)
class Choice:
    """One reply being made."""

    job: Job
    index: int
    tokens: list[int]  # prompt and everything sampled; never shrinks
    prompt: int  # how many of them are the prompt
    key: list[int]  # as `tokens`, but with numbers of their own for embeddings: what prefixes are compared by
    chooser: Chooser
    output: Output
    embedded: dict[int, int] = field(default_factory=dict)  # position -> row of the request's embeddings
    frames: list[np.ndarray] | None = None  # of a model that makes them: each reply token's codes
    framed_slot: int | None = None  # the slot whose last sampled frame the device still holds
    constraint: Constraint | None = None
    speculates: bool = False
    guesser: Guesser | None = None  # None while it speculates: only a draft model does
    ready: Future[Prepared] | None = None  # must be done before the choice can be admitted
    slot: Slot | None = None
    borders: list[KVSnapshot] = field(default_factory=list)  # states that the slot can be rewound to
    kept: Kept | None = None
    unread: int = 0  # tokens sampled by a step that has not been read
    turns: int = 0  # tokens since it was last admitted
    alone: bool = False  # a step failed with it and others: it must prove itself in a step of its own
    ended: FinishReason | None = None
    stop: str | int | None = None  # what ended it
    pool: Pool | None = None  # instead of a reply
    sound: bool = True  # may its slot serve as a prefix afterwards?
    last_token: float | None = None

    @property
    def sampled(self) -> int:
        """Tokens sampled, those not yet read included."""
        return len(self.tokens) - self.prompt + self.unread

    @property
    def own_slot(self) -> Slot:
        """The slot of a running choice (which always has one)."""
        assert self.slot is not None
        return self.slot

    @property
    def left(self) -> int:
        """Known tokens whose memory is not yet computed."""
        return len(self.tokens) - self.own_slot.length

    @property
    def replying(self) -> bool:
        return self.sampled > 0

    @property
    def adapter(self) -> str | None:
        return self.job.request.adapter

    @property
    def needs_host(self) -> bool:
        """Must the last token be read before the next step can be issued?"""
        return self.chooser.looks_back or self.constraint is not None or self.speculates

    def same_kind(self, start: int, stop: int) -> tuple[int, int | None]:
        """Where a chunk from `start` must end so that it is all tokens, or all rows of embeddings in order; in that
        case also the first row."""
        row = self.embedded.get(start)
        if self.frames is not None and start < self.prompt:
            stop = min(stop, self.prompt)
        at = start + 1
        while at < stop and self.embedded.get(at) == (None if row is None else row + at - start):
            at += 1
        return at, row

    def positions(self, start: int, stop: int) -> np.ndarray | None:
        """Of tokens `start` to `stop`, where they are more than their count: `[3, n]` for multi-axis rope."""
        rope = self.job.request.rope
        if rope is None:
            return None
        beyond = np.arange(max(start, self.prompt), max(stop, self.prompt)) - self.prompt + rope.max() + 1
        return np.concatenate((rope[:, start:stop], np.broadcast_to(beyond, (3, len(beyond)))), axis=1)

    def track(self, start: int, stop: int) -> np.ndarray | None:
        """What is added to the inputs `start` to `stop`; the prompt holds its own part already."""
        track = self.job.request.track
        if track is None or stop <= self.prompt:
            return None
        rows = np.minimum(np.arange(start, stop) - self.prompt, len(track) - 1)
        added: np.ndarray = track[np.maximum(rows, 0)]
        if start < self.prompt:
            added[: self.prompt - start] = 0.0
        return added

    def codes(self, start: int, stop: int) -> np.ndarray | None:
        """The frames that are fed again from `start` to `stop`, all of them behind the prompt."""
        if self.frames is None or start < self.prompt:
            return None
        return np.stack(self.frames[start - self.prompt : stop - self.prompt])

    def accept(self, token: SegmentOutput) -> Piece:
        """Take what a step sampled."""
        if self.frames is not None and token.codes is not None:
            self.frames.append(token.codes)
            self.framed_slot = self.own_slot.id
        self.tokens.extend(token.ids)
        self.key.extend(token.ids)
        self.turns += len(token.ids)
        piece = self.output.accept(token)
        for id in token.ids:
            self.chooser.add(id)
        if self.constraint is not None and piece.reason is None:
            self.constraint.accept(token.ids, piece.text)
            if self.constraint.complete:
                self.output.finish(piece)
        return piece


def embedding_keys(request: Request, mark: str) -> tuple[list[int], dict[int, int]]:
    """The prompt's key and, per position that an embedding replaces, its row in `request.embeds`.

    Two prompts with different images have the same placeholder tokens, so each row is known by a number of its own:
    a hash of its bytes where they are on the host, else one made from `mark`, which no other request has.
    """
    key = list(request.prompt_ids)
    if request.embeds is None:
        return key, {}
    positions = [int(p) for p in request.positions]
    on_host = isinstance(request.embeds, np.ndarray)
    for row, position in enumerate(positions):
        content = request.embeds[row].tobytes() if on_host else f"{mark}:{row}".encode()
        key[position] = -1 - (int.from_bytes(hashlib.blake2b(content, digest_size=8).digest()) >> 2)
    return key, {position: row for row, position in enumerate(positions)}
