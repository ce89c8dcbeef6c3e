"""Guesses never change a token; where they are right they save steps."""

from __future__ import annotations

import pytest

from engine.engine import Engine
from engine.settings import Settings
from engine.speculation import Guesser
from engine.types import Request, SamplingParams
from tests.fake_backend import FakeLoaded, Nature, oracle


def requests(count=6, length=80):
    return [
        Request("fake", [40 + i, 41, 42], SamplingParams(temperature=i % 2, seed=i, max_tokens=length, stop=["zz"],
                                                         presence_penalty=0.5 if i == 5 else 0.0))
        for i in range(count)
    ]  # fmt: skip


def finish(engine, wanted):
    handles = [engine.submit(request) for request in wanted]
    while engine.turn():
        pass
    return [handle.result(0) for handle in handles]


@pytest.mark.parametrize("recurrent", [False, True])
def test_n_gram_guesses_save_steps_and_change_nothing(build, recurrent):
    nature = Nature(recurrent, loopy=True, eos_every=200)
    engine = build(FakeLoaded(nature=nature), speculation="ngram")
    wanted = requests()
    for request, result in zip(wanted, finish(engine, wanted)):
        assert list(result.ids) == oracle(nature, request.prompt_ids, request.sampling).ids
    stats = engine.stats()
    assert stats.accepted > 100
    assert stats.steps < 80
    assert sum(result.timings.accepted for result in finish(engine, wanted)) > 100


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("draft_nature", [Nature(loopy=True, eos_every=0), Nature(recurrent=True, loopy=True),
                                          Nature(eos_every=7)], ids=["good", "recurrent", "bad"])  # fmt: skip
def test_a_draft_model_changes_nothing(recurrent, draft_nature):
    nature = Nature(recurrent, loopy=True, eos_every=200)
    target, draft = FakeLoaded(nature=nature), FakeLoaded("draft", draft_nature)
    models = {"fake": target, "draft": draft}
    settings = Settings(speculation="draft", draft_model="draft", gpu_memory_limit="1T", max_concurrent=4)
    engine = Engine(models.__getitem__, settings, start=False)
    wanted = requests()
    for request, result in zip(wanted, finish(engine, wanted)):
        assert list(result.ids) == oracle(nature, request.prompt_ids, request.sampling).ids
    assert engine.stats().drafted > 50
    if draft_nature.loopy:
        assert engine.stats().accepted > 50
    assert draft.kv.violations == target.kv.violations == []
    assert draft.kv.used == 0  # every reply's track is closed with it
    engine.close()
    assert draft.closed


def test_a_draft_model_in_trouble_costs_no_request():
    target, draft = FakeLoaded(), FakeLoaded("draft")
    draft.runner.before = lambda segs: 1 / 0
    settings = Settings(speculation="draft", draft_model="draft", gpu_memory_limit="1T")
    engine = Engine({"fake": target, "draft": draft}.__getitem__, settings, start=False)
    wanted = requests(3)
    for request, result in zip(wanted, finish(engine, wanted)):
        assert list(result.ids) == oracle(Nature(), request.prompt_ids, request.sampling).ids
    assert draft.kv.used == 0


def test_a_guess_is_what_followed_last_time():
    guesser = Guesser(8)
    assert guesser.propose([1, 2, 3, 4, 5, 1, 2]) == [3, 4]
    guesser.learn(2, 2, 9)
    assert guesser.propose([1, 2, 3, 4, 5, 1, 2, 3, 4]) == [5, 1, 2, 3]
    assert Guesser(8).propose([1, 2, 3]) == []


def test_wrong_guesses_are_made_shorter_then_paused():
    guesser = Guesser(8)
    text = [1, 2, 3, 4, 5, 1, 2]
    guesser.propose(text)
    for _ in range(3):
        guesser.learn(guesser.length, 0, len(text))
    assert guesser.length == 1
    assert guesser.propose(text) == []
    longer = [*text, *range(50, 70), 1, 2]
    assert guesser.propose(longer) == [50]
