"""Each fault is injected; it ends what caused it, and nothing else."""

from __future__ import annotations

import logging
import threading

import pytest

from engine.errors import EngineFault, EngineStopped, NumericalError, OutOfMemory, QueueFull, SlowConsumer
from engine.types import Done, Failed, Request, SamplingParams
from tests.asserting import every
from tests.fake_backend import BOOM, NAN, FakeLoaded, Nature, oracle

NATURE = Nature(eos_every=0)


def request(first: int, *more: int, **params) -> Request:
    params.setdefault("max_tokens", 12)
    return Request("fake", [first, 50, 51, 52, *more], SamplingParams(temperature=0.0, **params))


def right(handle, asked: Request) -> bool:
    return list(handle.result(0).ids) == oracle(NATURE, asked.prompt_ids, asked.sampling).ids


def spin(engine) -> None:
    while engine.turn():
        pass


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.CRITICAL, "grus.engine")


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize(("poison", "error"), [(BOOM, EngineFault), (NAN, NumericalError)])
def test_only_the_culprit_fails(build, poison, error, ahead):
    engine = build(FakeLoaded(nature=NATURE), async_scheduling=ahead)
    asked = [request(40), request(41, poison), request(42)]
    handles = [engine.submit(r) for r in asked]
    spin(engine)
    with pytest.raises(error):
        handles[1].result(0)
    assert right(handles[0], asked[0])
    assert right(handles[2], asked[2])
    assert engine.stats().failed == 1


@pytest.mark.parametrize("recurrent", [False, True])
def test_a_step_that_fails_once_harms_nobody(build, recurrent):
    nature = Nature(recurrent, eos_every=0)
    loaded = FakeLoaded(nature=nature)
    engine = build(loaded)
    asked = [request(40), request(41), request(42)]
    handles = [engine.submit(r) for r in asked]
    failures = iter([None] * 5 + [RuntimeError("once")])

    def before(segments):
        if (error := next(failures, None)) is not None:
            raise error

    loaded.runner.before = before
    spin(engine)
    for handle, r in zip(handles, asked):
        assert list(handle.result(0).ids) == oracle(nature, r.prompt_ids, r.sampling).ids


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("error", [RuntimeError("device lost"), OutOfMemory("late")])
def test_a_step_that_fails_when_read_is_computed_again(build, ahead, error):
    loaded = FakeLoaded(nature=NATURE)
    engine = build(loaded, async_scheduling=ahead)
    asked = [request(40), request(41), request(42)]
    handles = [engine.submit(r) for r in asked]
    outcomes = iter([None] * 4 + [error])
    loaded.runner.reading = lambda segments: next(outcomes, None)
    spin(engine)
    assert every(right(handle, r) for handle, r in zip(handles, asked))
    assert loaded.kv.violations == []


def test_a_request_that_fails_alone_whenever_read_ends(build):
    loaded = FakeLoaded(nature=NATURE)
    engine = build(loaded)
    loaded.runner.reading = lambda segments: (
        RuntimeError("always") if any(segment.slot.length > 9 for segment in segments) else None
    )
    bad, good = engine.submit(request(40)), engine.submit(request(41, max_tokens=3))
    spin(engine)
    with pytest.raises(EngineFault):
        bad.result(0)
    assert right(good, request(41, max_tokens=3))


def test_out_of_memory_evicts_and_goes_on(build):
    loaded = FakeLoaded(nature=NATURE)
    engine = build(loaded)

    def before(segments):
        if sum(segment.slot.length for segment in segments) > 24:
            raise OutOfMemory("full")

    loaded.runner.before = before
    asked = [request(40), request(41), request(42)]
    handles = [engine.submit(r) for r in asked]
    spin(engine)
    assert every(right(handle, r) for handle, r in zip(handles, asked))
    assert engine.stats().evictions > 0


def test_out_of_memory_alone_shrinks_the_chunk_then_fails(build):
    loaded = FakeLoaded(nature=NATURE)
    loaded.runner.log_steps = True
    engine = build(loaded)

    def before(segments):
        if sum(len(segment) for segment in segments) > 40:
            raise MemoryError

    loaded.runner.before = before
    asked = request(40, *[60] * 200)
    handle = engine.submit(asked)
    spin(engine)
    assert right(handle, asked)
    assert loaded.runner.steps[0][0][1] <= 40

    def always(segments):
        raise MemoryError

    loaded.runner.before = always
    handle = engine.submit(request(45))
    spin(engine)
    with pytest.raises(OutOfMemory):
        handle.result(0)


def test_a_backend_that_breaks_its_promise_is_not_trusted(build):
    loaded = FakeLoaded(nature=NATURE)
    engine = build(loaded)
    asked = [request(40), request(41)]
    handles = [engine.submit(r) for r in asked]
    calls = iter(range(100))

    def before(segments):
        if next(calls) == 4:
            segments[0].slot.length += 1  # half a step
            raise RuntimeError("half way")

    loaded.runner.before = before
    spin(engine)
    assert every(right(handle, r) for handle, r in zip(handles, asked))


def test_a_consumer_that_never_reads_is_cut_off_and_the_others_go_on(build):
    engine = build(FakeLoaded(nature=NATURE), max_events=10)
    lazy = engine.submit(request(40, max_tokens=200))
    keen = engine.submit(request(41, max_tokens=200))
    seen = []
    while engine.turn():
        while keen._events:
            seen.append(keen._take(0))
    assert isinstance(seen[-1], Done)
    events = list(lazy)
    assert len(events) == 11
    assert isinstance(events[-1], Failed)
    assert isinstance(events[-1].error, SlowConsumer)


def test_closing_ends_everyone(build):
    engine = build(FakeLoaded(nature=NATURE), start=True, max_concurrent=1)
    handles = [engine.submit(request(40 + i, max_tokens=5000)) for i in range(3)]
    engine.close()
    for handle in handles:
        with pytest.raises(EngineStopped):
            handle.result(1)
    with pytest.raises(EngineStopped):
        engine.submit(request(40))


def test_closing_with_grace_lets_requests_end(build):
    engine = build(FakeLoaded(nature=NATURE), start=True)
    handle = engine.submit(request(40))
    engine.close(grace=5.0)
    assert right(handle, request(40))


def test_a_detokenizer_that_breaks_fails_its_request_alone(build):
    loaded = FakeLoaded(nature=NATURE)
    engine = build(loaded)
    good = engine.submit(request(40))
    engine.turn()

    class Broken:
        def push(self, token):
            raise UnicodeError("broken")

    loaded.text_stream = Broken
    bad = engine.submit(request(41))
    spin(engine)
    with pytest.raises(EngineFault):
        bad.result(0)
    assert right(good, request(40))


def test_a_request_of_the_wrong_shape_fails_alone(build):
    engine = build(FakeLoaded(nature=NATURE))
    bad = engine.submit(Request("fake", [40, 41], embeds=object(), positions=None))
    good = engine.submit(request(40))
    spin(engine)
    assert isinstance(list(bad)[-1], Failed)
    assert right(good, request(40))


def test_submitting_while_closing_never_leaves_a_reader_waiting(build):
    engine = build(FakeLoaded(nature=NATURE), start=True)
    ended = []

    def keep_asking():
        try:
            while True:
                ended.append(engine.submit(request(40, max_tokens=2)))
        except EngineStopped:
            pass
        except QueueFull:
            keep_asking()

    asker = threading.Thread(target=keep_asking)
    asker.start()
    while len(ended) < 20:
        pass
    engine.close()
    asker.join(10)
    assert every(handle.ended for handle in ended)


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("ahead", [False, True])
def test_nothing_that_was_copied_from_a_failed_step_is_used(build, recurrent, ahead):
    """The other choices of a request begin with a copy of the first one's prompt, taken before its step was read."""
    nature = Nature(recurrent, eos_every=0)
    for failing in range(1, 6):
        loaded = FakeLoaded(nature=nature)
        engine = build(loaded, async_scheduling=ahead, prefill_chunk=16)
        asked = Request("fake", [40 + i % 50 for i in range(40)], SamplingParams(n=3, seed=1, max_tokens=6))
        handles = [engine.submit(asked), engine.submit(request(40))]
        company = iter(range(1000))

        def reading(segments, at=failing, company=company):
            return RuntimeError("lost") if len(segments) > 1 and next(company) == at else None

        loaded.runner.reading = reading
        spin(engine)
        expected = [oracle(nature, asked.prompt_ids, asked.sampling, index=i).text for i in range(3)]
        assert list(handles[0].result(0).choices) == expected
        assert loaded.kv.violations == []
