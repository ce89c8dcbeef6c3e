"""Memory under a limit: eviction, resumption, the cap, the leak check."""

from __future__ import annotations

import pytest

from engine.errors import OutOfMemory
from engine.types import Failed, Request, SamplingParams
from tests.fake_backend import FakeLoaded, Nature, oracle


def requests(count: int, length: int = 60, prompt: int = 20) -> list[Request]:
    params = SamplingParams(temperature=0.0, max_tokens=length)
    return [Request("fake", [33 + i, *(40 + k % 60 for k in range(prompt - 1))], params) for i in range(count)]


def finish(engine, wanted):
    handles = [engine.submit(request) for request in wanted]
    while engine.turn():
        pass
    return handles


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("host", ["1G", "1"], ids=["kept", "computed again"])
@pytest.mark.parametrize("ahead", [False, True])
def test_evicted_sequences_resume_with_the_same_tokens(build, recurrent, host, ahead):
    nature = Nature(recurrent, eos_every=0)
    loaded = FakeLoaded(nature=nature, budget=20_000)
    engine = build(loaded, host_memory_limit=host, prefix_reuse=False, async_scheduling=ahead)
    wanted = requests(6)
    for request, handle in zip(wanted, finish(engine, wanted)):
        assert list(handle.result(0).ids) == oracle(nature, request.prompt_ids, request.sampling).ids
    assert engine.stats().evictions >= 2
    assert loaded.kv.used == 0
    assert engine.stats().host_bytes == 0


def test_the_longest_output_is_evicted_and_the_cap_tightens(build):
    loaded = FakeLoaded(nature=Nature(eos_every=0), budget=100_000)
    engine = build(loaded, decode_tokens_per_seq=4)
    first, second = (engine.submit(request) for request in requests(2))
    for _ in range(3):
        engine.turn()
    third = engine.submit(requests(3)[2])
    for _ in range(12):
        engine.turn()
    executor = engine._manager.executors["fake"]
    longest = max(sequence.sampled for sequence in executor.scheduler.running)
    executor.scheduler.preempt(executor.scheduler.victim())
    (preempted,) = executor.scheduler.preempted
    assert (preempted.sampled, preempted.parent.id) == (longest, second.id)  # of two equals, the one that came later
    assert preempted.host_state is not None
    assert executor.scheduler.cap == 2
    while engine.turn():
        pass
    assert [len(handle.result(0).ids) for handle in (first, second, third)] == [60, 60, 60]
    assert executor.scheduler.cap > 2


def test_a_newcomer_is_not_evicted_before_its_turn(build):
    loaded = FakeLoaded(nature=Nature(eos_every=0), budget=100_000)
    engine = build(loaded, decode_tokens_per_seq=10)
    engine.submit(requests(1)[0])
    for _ in range(12):
        engine.turn()
    engine.submit(Request("fake", [99] * 5, SamplingParams(temperature=0.0, max_tokens=50)))
    for _ in range(4):
        engine.turn()
    executor = engine._manager.executors["fake"]
    old, new = executor.scheduler.running
    executor.scheduler.preempt(old)
    executor.scheduler.cap = 16
    for _ in range(3):
        engine.turn()
    assert [sequence is new or sequence is old for sequence in executor.scheduler.running] == [True, True]
    new.tokens_since_admission = 10
    assert old.sampled > new.sampled
    assert executor.scheduler.victim() is new  # the longer output has just come back


def test_what_never_fits_fails_with_a_sentence(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=0), budget=5_000))
    long_prompt, long_reply, small = finish(engine, [*requests(1, 5, 200), *requests(1, 100, 10), *requests(1, 3, 5)])
    for handle in (long_prompt, long_reply):
        event = list(handle)[-1]
        assert isinstance(event, Failed)
        assert isinstance(event.error, OutOfMemory)
        assert "tokens do not fit" in str(event.error)
    assert len(small.result(0).ids) == 3


def test_the_idle_check_finds_a_planted_leak(build):
    loaded = FakeLoaded()
    engine = build(loaded)
    finish(engine, requests(2, 3))
    assert engine.check() == 0
    engine._manager.executors["fake"].memory.open(50)  # nobody owns it
    assert engine.check() == 1
    assert engine.stats().leaks == 1
    assert engine.check() == 0
    assert loaded.kv.used == sum(loaded.kv.bytes_for(slot.capacity) for slot in loaded.kv.open_slots)


def test_idle_prefixes_give_way_before_anything_is_evicted(build):
    loaded = FakeLoaded(nature=Nature(eos_every=0), budget=12_000)
    engine = build(loaded)
    for request in requests(8, 10, 20):
        finish(engine, [request])
    stats = engine.stats()
    assert stats.evictions == 0
    assert stats.completed == 8
    assert 0 < stats.models[0].idle_prefixes < 8
