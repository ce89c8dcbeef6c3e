"""What an ended request leaves behind, and what a fault of the engine's own does to those who wait."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest

from engine.engine import Engine
from engine.errors import BadRequest, EngineStopped
from engine.model_manager import ModelManager
from engine.sequence import RequestState
from engine.types import Done, Failed, Request, RequestHandle, SamplingParams, Settings, Timings
from tests.app.server.scripted import until
from tests.fake_backend import FakeClock, FakeLoaded, Nature

GREEDY = SamplingParams(temperature=0.0, max_tokens=6)


def asks(name="fake", max_tokens=6, **more):
    return Request(name, [40, 41, 42], SamplingParams(temperature=0.0, max_tokens=max_tokens), **more)


def run(engine):
    while engine.turn():
        pass


def test_whoever_keeps_an_ended_request_keeps_nothing_of_the_engine(monkeypatch):
    jobs = weakref.WeakSet()
    first = RequestState.__init__

    def noted(self, *given):
        first(self, *given)
        jobs.add(self)

    monkeypatch.setattr(RequestState, "__init__", noted)
    models = {"fake": FakeLoaded(nature=Nature(eos_every=0), clock=FakeClock())}
    engine = Engine(models.__getitem__, Settings(gpu_memory_limit="1T"), start=False, clock=FakeClock())
    whole, stopped = engine.submit(asks()), engine.submit(asks(max_tokens=60))
    engine.turn()
    stopped.cancel()
    run(engine)
    assert len(jobs) == 2
    engine.close()
    gone = weakref.ref(engine)
    del engine
    gc.collect()
    assert gone() is None
    assert not jobs
    assert len(whole.result().ids) == 6
    assert stopped.result().reason == "cancelled"
    stopped.cancel()  # nothing is left to cancel, and nobody minds


def test_an_id_that_is_in_use_is_refused_and_its_owner_can_still_be_cancelled(build):
    clock = FakeClock()
    here, there = (FakeLoaded(name, Nature(eos_every=0), clock=clock) for name in ("here", "there"))
    engine = build(here, there)
    owner = engine.submit(asks("here", 60, id="mine"))
    engine.turn()
    for model in ("here", "there"):
        copy = engine.submit(asks(model, id="mine"))
        engine.turn()
        with pytest.raises(BadRequest, match="mine"):
            copy.result(0)
    assert engine.cancel("mine")
    run(engine)
    assert owner.result(0).reason == "cancelled"
    assert not engine.cancel("mine")
    again = engine.submit(asks("here", id="mine"))  # the id is free again
    run(engine)
    assert len(again.result(0).ids) == 6


def test_a_batch_puts_what_was_refused_into_its_place(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=0)), start=True)
    wrong = Request("fake", [40], SamplingParams(temperature=-1.0))
    first, second, third = engine.batch([asks(), wrong, asks()], errors="return")
    assert len(first.ids) == len(third.ids) == 6
    assert isinstance(second, BadRequest)


def test_a_batch_that_is_refused_leaves_nothing_running(build):
    wrong = Request("fake", [40], SamplingParams(temperature=-1.0))
    engine = build(FakeLoaded(nature=Nature(eos_every=0)), start=True)
    with pytest.raises(BadRequest):
        engine.batch([asks(max_tokens=4000), wrong, asks(max_tokens=4000)])
    until(lambda: engine.idle)
    assert engine.stats().completed == 0


def test_a_model_that_cannot_be_closed_holds_nobody_up(build):
    clock = FakeClock()
    broken, sound = (FakeLoaded(name, Nature(eos_every=0), clock=clock) for name in ("broken", "sound"))

    def close():
        raise RuntimeError("the device is gone")

    broken.close = close
    engine = build(broken, sound)
    lost, kept = engine.submit(asks("broken", 60)), engine.submit(asks("sound"))
    engine.turn()
    engine.unload("broken", cancel=True)
    run(engine)
    with pytest.raises(EngineStopped):
        lost.result(0)
    assert len(kept.result(0).ids) == 6
    assert [model.name for model in engine.models()] == ["sound"]


def test_a_fault_of_the_engine_itself_leaves_nobody_waiting(monkeypatch):
    loaded = FakeLoaded(nature=Nature(eos_every=0))
    engine = Engine(lambda name: loaded, Settings(gpu_memory_limit="1T"))
    engine.load("fake")

    def faulty(self, now):
        raise ZeroDivisionError

    monkeypatch.setattr(ModelManager, "tidy", faulty)
    with pytest.raises(EngineStopped):
        engine.submit(asks(max_tokens=100_000)).result(10)
    with pytest.raises(EngineStopped):
        engine.submit(asks())
    engine.close()


def test_a_reader_whose_loop_has_gone_does_not_disturb_the_engine(monkeypatch):
    handle = RequestHandle("r", None, lambda: None)
    loop = asyncio.new_event_loop()

    async def begin():
        reading = asyncio.ensure_future(anext(aiter(handle)))
        await asyncio.sleep(0)
        waker = handle._waker
        reading.cancel()
        return waker

    handle._waker = loop.run_until_complete(begin())
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
    monkeypatch.setattr(loop, "is_closed", lambda: False)  # it goes between a question and the call
    ended = []
    handle.on_end = lambda: ended.append(True)
    assert handle.end(Failed("r", EngineStopped("over"), Timings()))
    assert ended == [True]


def test_an_ended_request_takes_no_second_end():
    handle = RequestHandle("r", None, lambda: None)
    assert handle.end(Done("r", "stop", Timings()))
    assert not handle.end(Done("r", "stop", Timings()))
