"""Guesses never change a token; where they are right they save steps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.engine import Engine
from engine.errors import BadRequest
from engine.ngram import DraftProposer, PredictedOutput
from engine.types import Request, SamplingParams, Settings
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
    draft.runner.before = lambda segments: 1 / 0
    settings = Settings(speculation="draft", draft_model="draft", gpu_memory_limit="1T")
    engine = Engine({"fake": target, "draft": draft}.__getitem__, settings, start=False)
    wanted = requests(3)
    for request, result in zip(wanted, finish(engine, wanted)):
        assert list(result.ids) == oracle(Nature(), request.prompt_ids, request.sampling).ids
    assert draft.kv.used == 0


def predicting(nature, prompt, length=60, **params):
    """A request, and the same with its own answer as the prediction."""
    sampling = SamplingParams(max_tokens=length, **params)
    answer = oracle(nature, prompt, sampling).ids
    return Request("fake", prompt, sampling), Request("fake", prompt, sampling, prediction=answer), answer


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("kind", ["off", "ngram"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_true_prediction_saves_steps_and_changes_nothing(build, recurrent, kind, temperature):
    nature = Nature(recurrent, eos_every=0)
    plain, predicted, answer = predicting(nature, [40, 41, 42], temperature=temperature, seed=3)
    engine = build(FakeLoaded(nature=nature), speculation=kind)
    results = finish(engine, [plain])
    assert results[0].timings.accepted == 0
    before = engine.stats().steps
    results += finish(engine, [predicted])
    assert [list(result.ids) for result in results] == [answer, answer]
    assert results[1].timings.accepted > 40
    assert results[1].timings.drafted == results[1].timings.accepted
    assert engine.stats().steps - before < 15


def test_a_prediction_is_no_affair_of_other_requests(build):
    nature = Nature(eos_every=0)
    plain, predicted, answer = predicting(nature, [40, 41, 42], temperature=0.0)
    one, two = finish(build(FakeLoaded(nature=nature)), [plain, predicted])
    assert list(one.ids) == list(two.ids) == answer
    assert (one.timings.drafted, two.timings.drafted > 0) == (0, True)


@pytest.mark.parametrize("wrong", [[33], [50] * 500, [34, 35, 36] * 4])
def test_a_wrong_prediction_changes_nothing(build, wrong):
    nature = Nature(eos_every=0)
    plain, _, answer = predicting(nature, [40, 41, 42], temperature=0.0)
    (result,) = finish(build(FakeLoaded(nature=nature)), [replace(plain, prediction=wrong)])
    assert list(result.ids) == answer


def test_a_prediction_goes_before_the_draft_model():
    nature = Nature(eos_every=0)
    target, draft = FakeLoaded(nature=nature), FakeLoaded("draft", Nature(eos_every=7))
    settings = Settings(speculation="draft", draft_model="draft", gpu_memory_limit="1T")
    engine = Engine({"fake": target, "draft": draft}.__getitem__, settings, start=False)
    plain, predicted, answer = predicting(nature, [40, 41, 42], temperature=0.0)
    half = replace(plain, prediction=answer[:30])
    for request, least in ((predicted, 40), (half, 20)):
        (result,) = finish(engine, [request])
        assert list(result.ids) == answer
        assert result.timings.accepted > least
    assert draft.kv.used == 0
    engine.close()


def test_a_prediction_of_unknown_tokens_is_refused(build):
    for wrong in ([-1], [1 << 30]):
        engine = build(FakeLoaded())
        failed = engine.submit(Request("fake", [40], prediction=wrong))
        engine.turn()
        with pytest.raises(BadRequest, match="prediction"):
            failed.result(0)


def test_a_prediction_is_followed_past_a_difference():
    text = [1, 2, 3, 4, 5, 6, 7, 1, 2, 9]
    prediction = PredictedOutput(text, 1)
    assert prediction.propose([0], 3) == [1, 2, 3]
    assert prediction.propose([0, 1, 2], 3) == [3, 4, 5]
    assert prediction.propose([0, 1, 2, 8], 3) == []
    assert prediction.propose([0, 1, 2, 8, 4], 3) == []
    assert prediction.propose([0, 1, 2, 8, 4, 5], 3) == [6, 7, 1]
    assert prediction.propose([0, 1, 2, 8, 4, 5, 0, 1, 2], 3) == [9]  # the place further on, not the one before
    assert prediction.propose([0, 1, 2, 8, 4, 5, 0, 1, 2, 9], 3) == []


def test_a_guess_is_what_followed_last_time():
    guesser = DraftProposer(8)
    assert guesser.propose([1, 2, 3, 4, 5, 1, 2]) == [3, 4]
    guesser.learn(2, 2, 9)
    assert guesser.propose([1, 2, 3, 4, 5, 1, 2, 3, 4]) == [5, 1, 2, 3]
    assert DraftProposer(8).propose([1, 2, 3]) == []


def test_wrong_guesses_are_made_shorter_then_paused():
    guesser = DraftProposer(8)
    text = [1, 2, 3, 4, 5, 1, 2]
    guesser.propose(text)
    for _ in range(3):
        guesser.learn(guesser.length, 0, len(text))
    assert guesser.length == 1
    assert guesser.propose(text) == []
    longer = [*text, *range(50, 70), 1, 2]
    assert guesser.propose(longer) == [50]
