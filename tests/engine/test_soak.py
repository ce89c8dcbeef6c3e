"""Ten thousand requests with everything that can happen to them: each ends once and says what it would have said alone.

Lengths, cancels, evictions, prefix hits, stops and faults are drawn from a seed, so that a failure can be repeated.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from backends.base import Segment
from engine.engine import Engine
from engine.errors import EngineFault, NumericalError, OutOfMemory
from engine.types import Done, Failed, Finished, Request, RequestHandle, SamplingParams, Settings, Text
from tests.fake_backend import BOOM, NAN, FakeLoaded, Nature, oracle

KINDS = {
    "attending": (Nature(), {}),
    "attending, issued ahead": (Nature(), {"async_scheduling": True}),
    "attending, guessing": (Nature(loopy=True), {"speculation": "ngram"}),
    "recurrent": (Nature(recurrent=True), {}),
    "recurrent, issued ahead": (Nature(recurrent=True), {"async_scheduling": True}),
    "recurrent, guessing": (Nature(recurrent=True, loopy=True), {"speculation": "ngram"}),
    "spilling": (Nature(), {"spill": True}),
    "recurrent, spilling": (Nature(recurrent=True), {"spill": True}),
}
REQUESTS = 10_000 // len(KINDS)


@dataclass
class Sent:
    request: Request
    handle: RequestHandle
    cancel_at: int | None  # the turn


class Life:
    """One engine's life under random requests."""

    def __init__(self, seed: int, nature: Nature, settings: Settings, count: int) -> None:
        self.random = random.Random(seed)
        self.nature = nature
        self.loaded = FakeLoaded(nature=nature, budget=30_000, row_bytes=100, state_bytes=700, context=200)
        self.loaded.runner.before = self.trouble
        self.loaded.runner.reading = self.late_trouble
        self.engine = Engine({"fake": self.loaded}.__getitem__, settings, start=False)
        self.count = count
        self.sent: list[Sent] = []
        self.conversations: list[list[int]] = [list(range(40, 60))]  # conversations that may go on
        self.turn = 0

    # -- what goes wrong

    def trouble(self, segments: Sequence[Segment]) -> None:
        if len(segments) > 1:  # alone, nobody else could be to blame, and the request would fail
            chance = self.random.random()
            if chance < 0.003:
                raise RuntimeError("a step failed for no reason")
            if chance < 0.006:
                raise OutOfMemory("the device is full")

    def late_trouble(self, segments: Sequence[Segment]) -> Exception | None:
        return RuntimeError("the device failed") if len(segments) > 1 and self.random.random() < 0.001 else None

    # -- what is asked

    def prompt(self) -> list[int]:
        draw = self.random.random()
        if draw < 0.5:  # a conversation goes on
            base = self.random.choice(self.conversations[-30:])
            ids = [*base, *(self.random.randrange(32, 120) for _ in range(self.random.randrange(1, 12)))]
        elif draw < 0.6:  # ... from its middle
            base = self.random.choice(self.conversations[-30:])
            ids = [*base[: self.random.randrange(1, len(base) + 1)], self.random.randrange(32, 120)]
        else:
            ids = [self.random.randrange(32, 120) for _ in range(self.random.randrange(1, 60))]
        ids = ids[-150:]
        if self.random.random() < 0.01:
            ids[self.random.randrange(len(ids))] = BOOM
        elif self.random.random() < 0.01:
            ids[-1] = NAN
        return ids

    def params(self) -> SamplingParams:
        draw = self.random.random
        return SamplingParams(
            max_tokens=self.random.randrange(1, 25) if draw() < 0.9 else None,
            temperature=self.random.choice((0.0, 0.7)),
            seed=self.random.randrange(1 << 40),
            stop=["a", "xy"] if draw() < 0.1 else (),
            stop_token_ids=[66, 90] if draw() < 0.1 else (),
            min_tokens=1 if draw() < 0.1 else 0,
            presence_penalty=0.5 if draw() < 0.1 else 0.0,
            repetition_penalty=1.2 if draw() < 0.1 else None,
            repetition_window=self.random.choice((0, 8)),
            logit_bias={70: -float("inf")} if draw() < 0.1 else {},
            n=self.random.randrange(2, 4) if draw() < 0.03 else 1,
        )

    def prediction(self, prompt: list[int], params: SamplingParams) -> list[int]:
        """Some requests bring what they will be told, with an error in it."""
        if self.random.random() > 0.1 or {BOOM, NAN} & set(prompt):
            return []
        said = oracle(self.nature, prompt, params, 200).ids
        at = self.random.randrange(len(said) + 1)
        return [*said[:at], 50, *said[at + self.random.randrange(2) :]]

    def run(self) -> None:
        while len(self.sent) < self.count or not self.engine.idle:
            while len(self.sent) < self.count and self.random.random() < 0.6:
                prompt, params = self.prompt(), self.params()
                request = Request("fake", prompt, params, prediction=self.prediction(prompt, params))
                cancel_at = self.turn + self.random.randrange(40) if self.random.random() < 0.1 else None
                self.sent.append(Sent(request, self.engine.submit(request), cancel_at))
            for sent in self.sent[-200:]:
                if sent.cancel_at == self.turn:
                    sent.handle.cancel()
            self.engine.turn()
            self.turn += 1
            if self.turn % 50 == 0:
                self.remember()
            if self.turn % 400 == 0:
                self.engine.clear_prefix_cache()
            assert self.turn < 100 * self.count, "the engine does not come to an end"

    def remember(self) -> None:
        """Some of what was said becomes what later prompts begin with."""
        for sent in self.sent[-60:]:
            if sent.handle.ended and self.random.random() < 0.2 and not {BOOM, NAN} & set(sent.request.prompt_ids):
                said = oracle(self.nature, sent.request.prompt_ids, sent.request.sampling, 200)
                self.conversations.append([*sent.request.prompt_ids, *said.ids][:140])

    # -- what must hold

    def check(self) -> None:
        for sent in self.sent:
            self.check_one(sent)
        executor = self.engine._manager.executors["fake"]
        assert self.loaded.kv.violations == []
        assert self.engine.check() == 0
        stats = self.engine.stats()
        assert (stats.leaks, stats.active, stats.waiting, stats.evicted) == (0, 0, 0, 0)
        assert stats.total == self.count == stats.completed + stats.cancelled + stats.failed
        assert stats.evictions > 0
        assert stats.prefix_hits > 0
        assert stats.accepted > 0
        executor.prefix_cache.clear()
        assert (self.loaded.kv.used, executor.memory.snapshot_bytes, stats.host_bytes) == (0, 0, 0)

    def check_one(self, sent: Sent) -> None:
        events = list(sent.handle)
        last = events.pop()
        assert isinstance(last, Done | Failed)
        assert not any(isinstance(event, Done | Failed) for event in events)
        prompt, params = sent.request.prompt_ids, sent.request.sampling
        if isinstance(last, Failed):
            expected = EngineFault if BOOM in prompt else NumericalError
            assert {BOOM, NAN} & set(prompt), repr(last.error)
            assert isinstance(last.error, expected)
            return
        for index in range(params.n):
            said = oracle(self.nature, prompt, params, 200, index)
            texts = [event for event in events if isinstance(event, Text) and event.index == index]
            text, ids = "".join(event.text for event in texts), [id for event in texts for id in event.ids]
            if last.reason == "cancelled":
                assert sent.cancel_at is not None
                assert ids == said.ids[: len(ids)]
                assert said.text.startswith(text) or text.startswith(said.text)
            else:
                assert (text, ids) == (said.text, said.ids)
                ends = [event for event in events if isinstance(event, Finished) and event.index == index] or [last]
                assert (ends[0].reason, ends[0].stop) == (said.reason, said.stop)


# each nature and each way is among those that are quick
SLOW = ("recurrent, spilling", "recurrent, guessing")


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] if kind in SLOW else []) for kind in KINDS]
)
def test_ten_thousand_requests(kind, tmp_path):
    nature, chosen = KINDS[kind]
    chosen = dict(chosen)
    if chosen.pop("spill", False):
        chosen |= {"offload_folder": tmp_path, "offload_limit": "1M"}
    settings = Settings(max_concurrent=8, prefill_chunk=32, gpu_memory_limit="1T", max_queue=10_000, **chosen)
    life = Life(sum(map(ord, kind)), nature, settings, REQUESTS)
    life.run()
    life.check()
    life.engine.close()
