"""Running replies keep their rhythm while a long prompt arrives."""

from __future__ import annotations

import pytest

from engine.scheduler import PrefillBudget
from engine.types import Request, SamplingParams, Text
from tests.fake_backend import FakeClock, FakeDevice, FakeLoaded, Nature


@pytest.mark.parametrize("replies", [1, 4])
@pytest.mark.parametrize("costs", [(1.0, 0.01, 0.02), (0.1, 0.0, 0.05), (1.0, 0.05, 0.001)])
def test_a_long_prompt_at_most_doubles_the_gap(build, replies, costs):
    clock = FakeClock()
    loaded = FakeLoaded(nature=Nature(eos_every=0), clock=clock)
    loaded.runner.costs = costs
    loaded.runner.log_steps = True
    engine = build(loaded, prefill_chunk=2048)
    params = SamplingParams(temperature=0.0, max_tokens=6000)
    chats = [engine.submit(Request("fake", [40 + i] * 8, params)) for i in range(replies)]
    for _ in range(30):
        engine.turn()
    gaps, before = [], clock.now
    for _ in range(20):
        engine.turn()
        gaps.append(clock.now - before)
        before = clock.now
    usual = max(gaps)

    steps = len(loaded.runner.steps)
    late = engine.submit(Request("fake", [60 + i % 40 for i in range(4000)], SamplingParams(max_tokens=5)))
    worst = 0.0
    while not late.ended:
        engine.turn()
        worst, before = max(worst, clock.now - before), clock.now
    assert worst <= 2.0 * usual
    for step in loaded.runner.steps[steps:-5]:
        assert sum(count == 1 for _, count in step) >= replies  # no reply ever misses a step
    for chat in chats:
        chat.cancel()


def test_alone_a_prompt_goes_in_large_chunks(build):
    loaded = FakeLoaded(nature=Nature(eos_every=0), clock=FakeClock())
    loaded.runner.costs = (0.001, 0.0, 0.0001)
    loaded.runner.log_steps = True
    engine = build(loaded, prefill_chunk=512)
    engine.submit(Request("fake", [60] * 2048, SamplingParams(max_tokens=2)))
    while engine.turn():
        pass
    assert [step[0][1] for step in loaded.runner.steps] == [512, 512, 512, 512, 1]


@pytest.mark.parametrize(("device", "chunk"), [("cpu", 512), ("cuda:0", 512), ("metal", 2048)])
def test_a_chunk_is_as_long_as_suits_the_device(build, device, chunk):
    loaded = FakeLoaded(nature=Nature(eos_every=0), clock=FakeClock(), device=FakeDevice(device=device))
    loaded.runner.costs = (0.001, 0.0, 0.00001)
    loaded.runner.log_steps = True
    engine = build(loaded)
    engine.submit(Request("fake", [60] * 4096, SamplingParams(max_tokens=2)))
    while engine.turn():
        pass
    assert [step[0][1] for step in loaded.runner.steps][: 4096 // chunk] == [chunk] * (4096 // chunk)


def test_short_prompts_join_between_steps(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=0)))
    params = SamplingParams(temperature=0.0, max_tokens=50)
    first = engine.submit(Request("fake", [60] * 8, params))
    for _ in range(5):
        engine.turn()
    second = engine.submit(Request("fake", [61] * 3, params))
    for _ in range(4):
        engine.turn()
    assert sum(isinstance(event, Text) for event in second._events) >= 1
    assert not first.ended


def test_a_plain_step_is_measured_before_the_first_chunk_beside_replies():
    budget = PrefillBudget(512, 2.0)
    budget.record(10.0, 0, 100)
    assert budget.tokens(1) == 0
    budget.record(1.0, 1, 0)
    assert 1 <= budget.tokens(1) <= 9
    budget.record(3.0, 1, 8)  # 2 seconds for 8 tokens: dearer than it may be
    assert budget.tokens(1) == 3


def test_a_plain_step_with_as_many_replies_is_measured_before_a_chunk_beside_them():
    budget = PrefillBudget(512, 2.0)
    budget.record(1.0, 1, 0)
    budget.record(1.01, 1, 1)
    assert budget.tokens(3) == 0  # else the two further replies would be taken for the price of a prompt token
    budget.record(2.0, 3, 0)
    assert budget.tokens(3) > 100


def test_a_cap_is_lifted_again_in_calm():
    budget = PrefillBudget(512, 2.0)
    assert budget.shrink()
    assert budget.tokens(0) == 256
    for _ in range(40):
        budget.record(0.001, 0, 256)
    assert budget.tokens(0) == 512
