"""Which sequences run, and what each computes in the next step.

One scheduler serves one model. Replies come first in every step, then prompt chunks as far as the pace allows. Memory
is made by dropping idle prefixes, then by evicting the sequence with the longest output; an evicted one comes back by
itself, before any newcomer. Knows no device and sends no events.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from backends.base import Segment
from engine.budget import Memory
from engine.pace import Pace
from engine.placement import Placement
from engine.prefix import Prefix, Prefixes, thin
from engine.sequence import Choice, Job, Kept
from engine.settings import Settings
from engine.speculation import Speculation
from engine.stats import Tally

_HOST_RATE = 4e9  # bytes a second between device and host, until it is measured
_CALM_STEPS = 64  # without an eviction, after which one more sequence may run
_TAIL = 16  # a recurrent prompt keeps a border so many tokens before its end: templates often change the last few
_SCORED_CHUNK = 64  # prompt tokens a step when the host wants all their logits


@dataclass
class Row:
    """One sequence's part of a step."""

    choice: Choice
    segment: Segment
    start: int  # the slot's length before
    fed: int  # tokens, guesses not counted
    guesses: int
    samples: bool


class Scheduler:
    def __init__(self, memory: Memory, prefixes: Prefixes, placement: Placement, pace: Pace, settings: Settings,
                 speculation: Speculation, host_limit: int, tally: Tally | None = None) -> None:  # fmt: skip
        self.memory = memory
        self.prefixes = prefixes
        self.placement = placement
        self.pace = pace
        self.speculation = speculation
        self.cap = settings.max_concurrent
        self.running: list[Choice] = []
        self.waiting: deque[Choice] = deque()
        self.evicted: list[Choice] = []
        self._sharing: dict[str, Job] = {}  # whose prompt is kept for their further choices
        self._tally = tally or Tally()
        self.copy_rate = _HOST_RATE
        self._settings = settings
        self._quantum = settings.decode_tokens_per_seq
        self._host_limit = host_limit
        self._calm = 0

    @property
    def has_work(self) -> bool:
        return bool(self.running or self.waiting or self.evicted)

    def everyone(self) -> Iterator[Choice]:
        yield from self.running
        yield from self.evicted
        yield from self.waiting

    # -- memory

    def make_room(self, settle: Callable[[], bool]) -> Choice | None:
        """Room for what every running choice feeds next. `settle` reads an outstanding step (False: there is none).

        Returns a choice that cannot go on even alone, to be failed by the caller, who then calls again.
        """
        for choice in list(self.running):
            while choice in self.running and not self._has_room(choice):
                if settle():
                    continue
                victim = self.victim()
                if victim is not None:
                    self.evict(victim)
                elif not self._drop_snapshots():
                    return choice
        return None

    def _drop_snapshots(self) -> bool:
        """The last resort of a choice that is alone: it needs the room more than others need a short way back."""
        before = self.memory.snapshot_bytes
        for other in self.everyone():
            self._drop_borders(other)
        for job in list(self._sharing.values()):
            self.drop_shared(job)
        return self.memory.snapshot_bytes < before

    def _has_room(self, choice: Choice) -> bool:
        slot = choice.own_slot
        need = len(choice.tokens) + choice.unread
        if slot.capacity >= need:
            return True
        return self.memory.grow(slot, self._room_for(choice)) or self.placement.grow(slot, need)

    def _room_for(self, choice: Choice) -> int:
        """Known tokens and some to come, but no more than the reply may ever have."""
        known = len(choice.tokens) + choice.unread
        return max(known, min(known + self._quantum, choice.prompt + choice.output.limit))

    def victim(self) -> Choice | None:
        """The longest output, of those that had their turn. None when only one sequence runs."""
        if len(self.running) < 2:
            return None
        had_turn = [choice for choice in self.running if choice.turns >= self._quantum]
        return max(reversed(had_turn or self.running), key=lambda choice: choice.sampled)

    def evict(self, choice: Choice, keep: bool = True) -> None:
        """Take the choice's slot away; it resumes later with what is kept, or computes its tokens again."""
        self.running.remove(choice)
        slot = choice.own_slot
        if keep and slot.length and not self._cheaper_again(slot.length):
            self._save(choice)
        self.forget_slot(choice)
        choice.turns = 0
        self.evicted.append(choice)
        self.evicted.sort(key=lambda c: (c.job.submitted, c.index))
        self._tally.evictions += 1
        self.cap, self._calm = max(1, len(self.running)), 0

    def _cheaper_again(self, length: int) -> bool:
        """Is computing the tokens again cheaper than moving their memory twice, or the only way?"""
        if not self.memory.movable:
            return True
        nbytes = self.memory.kv.bytes_for(length)
        if self.placement.host_bytes + nbytes > self._host_limit:
            return True
        per_token = self.pace.seconds_per_prompt_token
        return per_token is not None and per_token * length < 2 * nbytes / self.copy_rate

    def _save(self, choice: Choice) -> None:
        began = time.perf_counter()
        snapshot = self.memory.kv.snapshot(choice.own_slot)
        arrays = self.memory.kv.export_snapshot(snapshot)
        nbytes = sum(array.nbytes for array in arrays)
        choice.kept = Kept(snapshot.length, arrays, nbytes)
        self.placement.host_bytes += nbytes
        if nbytes > 1 << 20:  # smaller ones measure the call, not the copy
            self.copy_rate = 0.5 * self.copy_rate + 0.5 * nbytes / max(1e-6, time.perf_counter() - began)

    def forget_slot(self, choice: Choice) -> None:
        """Close the choice's slot and all that belongs to it."""
        self.speculation.forget(choice)
        self._drop_borders(choice)
        if choice.slot is not None:
            self.memory.close(choice.slot)
            choice.slot = None

    def retire(self, choice: Choice, keep: bool) -> None:
        """The choice has ended: its slot becomes an idle prefix, or is closed."""
        self.speculation.forget(choice)
        self.drop_kept(choice)
        slot = choice.slot
        if slot is None:
            return
        if keep and self._settings.prefix_reuse and 0 < slot.length <= len(choice.key):
            choice.slot = None
            self.prefixes.keep(Prefix(choice.key[: slot.length], choice.adapter, slot, choice.borders))
            choice.borders = []
        else:
            self.forget_slot(choice)

    def drop_kept(self, choice: Choice) -> None:
        if choice.kept is not None:
            self.placement.host_bytes -= choice.kept.nbytes
            choice.kept = None

    def _drop_borders(self, choice: Choice) -> None:
        self.memory.snapshot_bytes -= sum(border.nbytes for border in choice.borders)
        choice.borders = []

    def mark_border(self, row: Row) -> None:
        """After a prompt chunk of a recurrent model was issued: keep its states, so that others may begin there."""
        choice = row.choice
        if not self.memory.recurrent or row.start >= choice.prompt or row.guesses or choice.pool is not None:
            return
        if choice.job.shared is None and choice.index == 0 and len(choice.job.choices) > 1 and self._at_last(row):
            choice.job.shared = self.memory.kv.snapshot(choice.own_slot)
            self._sharing[choice.job.id] = choice.job
            self.memory.snapshot_bytes += choice.job.shared.nbytes
        self.placement.add_border(choice)
        kept = thin(choice.borders, self._settings.state_snapshots)
        self.memory.snapshot_bytes -= sum(border.nbytes for border in choice.borders if border not in kept)
        choice.borders = kept

    def drop_shared(self, job: Job) -> None:
        if job.shared is not None:
            self.memory.snapshot_bytes -= job.shared.nbytes
            job.shared = None
            self._sharing.pop(job.id, None)

    @staticmethod
    def _at_last(row: Row) -> bool:
        return row.start + row.fed == row.choice.prompt - 1

    # -- joining

    def finished_one(self) -> None:
        self.cap = min(self._settings.max_concurrent, self.cap + 1)

    def admit(self) -> tuple[list[Choice], Choice | None]:
        """Let choices join. Returns those that did, and one that does not fit even into empty memory."""
        self._calm += 1
        if self._calm % _CALM_STEPS == 0:
            self.finished_one()
        joined: list[Choice] = []
        while len(self.running) < self.cap:
            choice = self._next()
            if choice is None:
                break
            if not self.placement.place(choice, self._room_for(choice), self.running):
                if not self.running and self._drop_snapshots():
                    continue
                return joined, None if self.running else choice
            (self.evicted if choice in self.evicted else self.waiting).remove(choice)
            if choice.ready is not None:
                made = choice.ready.result().constraint
                choice.constraint, choice.ready = made and made.copy(), None
            self.running.append(choice)
            joined.append(choice)
        return joined, None

    def _next(self) -> Choice | None:
        if self.evicted:
            return self.evicted[0]
        for choice in self.waiting:
            if self._is_prepared(choice) and self._prompt_is_there(choice):
                return choice
        return None

    @staticmethod
    def _is_prepared(choice: Choice) -> bool:
        return choice.ready is None or (choice.ready.done() and choice.ready.exception() is None)

    @staticmethod
    def _prompt_is_there(choice: Choice) -> bool:
        """The further choices of a request wait until the first has computed their common prompt."""
        first = choice.job.choices[0]
        if choice is first or first.ended or first.prompt < 2:
            return True
        if first.slot is None:
            return first.sampled > 0
        return first.slot.length >= first.prompt - 1

    # -- the next step

    def plan(self) -> list[Row]:
        """The rows of the next step: replies first, then prompts in the order in which they joined."""
        suspect = next((choice for choice in self.running if choice.alone), None)
        running = self.running if suspect is None else [suspect]
        replying = [choice for choice in running if self._is_short(choice)]
        goes_on = [c for c in replying if not c.unread or c.output.count + c.unread < c.output.limit]
        guesses = self.speculation.propose(goes_on) if suspect is None else {}
        rows = [self._reply_row(choice, guesses.get(choice, [])) for choice in goes_on]
        budget = self.pace.chunk(len(rows))
        for choice in running:
            if budget > 0 and choice not in replying and choice.left > 0:
                row = self._prompt_row(choice, budget)
                rows.append(row)
                budget -= row.fed
        return rows

    def _is_short(self, choice: Choice) -> bool:
        return choice.replying and choice.left <= self._settings.max_draft + 1

    def _reply_row(self, choice: Choice, guesses: list[int]) -> Row:
        slot = choice.own_slot
        masks: list[np.ndarray | None] = [None] * (len(guesses) + 1)
        if choice.constraint is not None:
            guesses, masks = choice.constraint.masks(guesses)
        at, choose = choice.sampled, choice.chooser.at
        ids = None if choice.unread else choice.tokens[slot.length :] + guesses
        fed = 1 if ids is None else len(ids) - len(guesses)
        segment = Segment(slot, ids, sample=choose(at + len(guesses), guesses, masks[-1]), draft=len(guesses))
        if guesses:
            segment.samples = [choose(at + i, guesses[:i], masks[i]) for i in range(len(guesses))]
        if choice.frames is not None and ids is not None:
            segment.ids = None
            if fed > 1 or choice.framed_slot != slot.id:
                segment.codes = choice.codes(slot.length, slot.length + fed)
        self._place(choice, segment)
        return Row(choice, segment, slot.length, fed, len(guesses), samples=True)

    @staticmethod
    def _place(choice: Choice, segment: Segment) -> None:
        """Where its tokens lie on several axes, and what is added to them."""
        start, stop = segment.slot.length, segment.slot.length + len(segment)
        segment.pos, segment.add = choice.positions(start, stop), choice.track(start, stop)

    def _prompt_row(self, choice: Choice, budget: int) -> Row:
        slot = choice.own_slot
        start, end = slot.length, len(choice.tokens)
        scored = choice.job.request.prompt_logprobs and start < choice.prompt
        stop = min(end, start + (min(budget, _SCORED_CHUNK) if scored else budget))
        if self.memory.recurrent:
            stop = min([stop, *(b for b in self._borders(choice) if b > start)])
        ids, embeds = choice.tokens[start:stop], None
        if choice.embedded or choice.frames is not None:
            stop, row = choice.same_kind(start, stop)
            ids, embeds = (
                ids[: stop - start],
                None if row is None else choice.job.request.embeds[row : row + stop - start],
            )
        codes = None if embeds is not None else choice.codes(start, stop)
        segment = Segment(slot, ids if embeds is None and codes is None else None, embeds, codes)
        self._place(choice, segment)
        if scored:
            segment.want = range(min(stop, choice.prompt - 1) - start) or None
        if choice.pool is not None:
            segment.hidden = choice.pool.wants(stop)
        elif stop == end:
            mask = choice.constraint.masks([])[1][0] if choice.constraint is not None else None
            segment.sample = choice.chooser.at(choice.sampled, (), mask)
        return Row(choice, segment, start, stop - start, 0, samples=segment.sample is not None)

    @staticmethod
    def _borders(choice: Choice) -> list[int]:
        borders = [choice.prompt - _TAIL]
        if len(choice.job.choices) > 1:
            borders.append(choice.prompt - 1)
        return borders
