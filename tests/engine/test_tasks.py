"""Work beside requests: it takes turns with replies, can be cancelled, and ends with the model it needs."""

from __future__ import annotations

import itertools
from concurrent.futures import CancelledError

import pytest

from engine.errors import BadRequest, EngineFault, EngineStopped, ModelNotFound, QueueFull
from engine.tasks import Joint
from engine.types import Request, SamplingParams
from tests.asserting import every
from tests.fake_backend import FakeClock, FakeLoaded, Nature


def counting(pieces, seen):
    def work(loaded):
        for i in range(pieces):
            seen.append(i)
            yield
        return loaded.name

    return work


def test_the_result_comes_back(build):
    engine, seen = build(FakeLoaded()), []
    task = engine.task("fake", counting(3, seen))
    while engine.turn():
        pass
    assert task.result(0) == "fake"
    assert seen == [0, 1, 2]
    assert engine.idle


def test_a_running_reply_gets_a_step_between_any_two_pieces(build):
    loaded = FakeLoaded(nature=Nature(eos_every=0), clock=FakeClock())
    engine, log = build(loaded), []
    loaded.runner.before = lambda segments: log.append("step")
    handle = engine.submit(Request("fake", [40] * 4, SamplingParams(max_tokens=12)))

    def work(loaded):
        for _ in range(6):
            log.append("piece")
            yield

    engine.task("fake", work)
    while engine.turn():
        pass
    assert len(handle.result(0).ids) == 12
    pieces = [i for i, what in enumerate(log) if what == "piece"]
    assert every("step" in log[a:b] for a, b in itertools.pairwise(pieces))


def test_tasks_take_turns(build):
    engine, first, second = build(FakeLoaded()), [], []
    long, short = engine.task("fake", counting(50, first)), engine.task("fake", counting(2, second))
    while not short.future.done():
        engine.turn()
    assert not long.future.done()
    assert len(first) <= 4


def test_cancelling_stops_at_the_next_piece_and_closes_the_work(build):
    engine, seen, closed = build(FakeLoaded()), [], []

    def work(loaded):
        try:
            while True:
                seen.append(1)
                yield
        finally:
            closed.append(True)

    task = engine.task("fake", work)
    engine.turn()
    engine.turn()
    task.cancel()
    while engine.turn():
        pass
    assert len(seen) == 2
    assert closed == [True]
    assert not engine.models()[0].in_use
    with pytest.raises(CancelledError):
        task.result(0)


@pytest.mark.parametrize(("raised", "expected"), [(BadRequest("no"), BadRequest), (ValueError("no"), EngineFault)])
def test_errors_reach_who_waits(build, raised, expected):
    engine = build(FakeLoaded())

    def work(loaded):
        yield
        raise raised

    task = engine.task("fake", work)
    while engine.turn():
        pass
    with pytest.raises(expected, match="no"):
        task.result(0)


def test_a_cancelled_task_loads_no_model(build):
    engine = build(FakeLoaded())
    task = engine.task("fake", lambda loaded: iter(()))
    task.cancel()
    while engine.turn():
        pass
    with pytest.raises(CancelledError):
        task.result(0)
    assert engine.models() == []


def test_a_model_that_cannot_be_loaded(build):
    engine = build(FakeLoaded())

    def missing(name):
        raise ModelNotFound(f"{name} is not there.")

    engine._manager._load = missing
    task = engine.task("other", counting(1, []))
    while engine.turn():
        pass
    with pytest.raises(ModelNotFound):
        task.result(0)


def test_a_model_stays_while_a_task_needs_it_and_unloading_by_force_ends_the_task(build):
    first, second = FakeLoaded("first"), FakeLoaded("second")
    engine = build(first, second, max_models=1)
    task = engine.task("first", counting(10, []))
    engine.turn()
    handle = engine.submit(Request("second", [40] * 4, SamplingParams(max_tokens=2)))
    engine.turn()
    assert not first.closed
    engine.unload("first", cancel=True)
    while engine.turn():
        pass
    assert first.closed
    assert handle.result(0).reason in ("length", "stop")
    with pytest.raises(EngineStopped):
        task.result(0)


def test_a_stopped_engine_ends_its_tasks_and_takes_no_more(build):
    engine = build(FakeLoaded())
    task = engine.task("fake", counting(10, []))
    engine.turn()
    engine.close()
    with pytest.raises(EngineStopped):
        task.result(0)
    with pytest.raises(EngineStopped):
        engine.task("fake", counting(1, []))


class Counts:
    """Work that several tasks can have done together: a part counts up to its number, a piece a count."""

    def __init__(self):
        self.begun = []  # the parts of each run
        self.closed = 0

    def together(self, loaded, parts):
        self.begun.append(list(parts))
        try:
            for at in range(max(parts)):
                if at == 13:
                    raise ValueError("thirteen")
                yield
        finally:
            self.closed += 1
        return [f"{loaded.name} {part}" for part in parts]


def counts(engine, counter, *parts, model="fake", most=4):
    work = counter.together
    return [engine.task(model, Joint(work, part, most)) for part in parts]


def run_out(engine):
    while engine.turn():
        pass


def test_work_of_one_kind_that_waits_is_done_in_one_go(build):
    engine, counter = build(FakeLoaded()), Counts()
    between = engine.task("fake", counting(1, []))
    tasks = counts(engine, counter, 3, 1, 2)
    run_out(engine)
    assert [task.result(0) for task in tasks] == ["fake 3", "fake 1", "fake 2"]
    assert counter.begun == [[3, 1, 2]]
    assert between.result(0) == "fake"
    assert not engine.models()[0].in_use


def test_work_that_has_begun_is_not_joined(build):
    engine, counter = build(FakeLoaded()), Counts()
    (first,) = counts(engine, counter, 2)
    engine.turn()
    second = counts(engine, counter, 1, 4)
    run_out(engine)
    assert counter.begun == [[2], [1, 4]]
    assert [task.result(0) for task in [first, *second]] == ["fake 2", "fake 1", "fake 4"]


def test_who_asks_in_the_same_moment_is_waited_for(build, monkeypatch):
    engine, counter = build(FakeLoaded()), Counts()
    work, moments = counter.together, []
    tasks = [engine.task("fake", Joint(work, 3, 4))]

    def moment(seconds):
        moments.append(seconds)
        if len(moments) <= 2:
            tasks.append(engine.task("fake", Joint(work, 2, 4)))

    monkeypatch.setattr("engine.engine.time.sleep", moment)
    run_out(engine)
    assert counter.begun == [[3, 2, 2]]
    assert [task.result(0) for task in tasks] == ["fake 3", "fake 2", "fake 2"]
    assert len(moments) == 3  # the third brought nobody


def test_nobody_waits_for_company_that_is_there_or_of_no_use(build, monkeypatch):
    engine, counter, moments = build(FakeLoaded()), Counts(), []
    monkeypatch.setattr("engine.engine.time.sleep", moments.append)
    counts(engine, counter, 1, 2, most=2)
    engine.task("fake", counting(2, []))
    run_out(engine)
    assert counter.begun == [[1, 2]]
    assert not moments


def test_no_more_are_joined_than_gain_by_it_and_none_of_another_kind_or_model(build):
    engine, counter, other = build(FakeLoaded(), FakeLoaded("second")), Counts(), Counts()
    tasks = (
        counts(engine, counter, 1, 2, 3, most=2) + counts(engine, other, 4) + counts(engine, other, 5, model="second")
    )
    run_out(engine)
    assert counter.begun == [[1, 2], [3]]
    assert other.begun == [[4], [5]]
    assert [task.result(0) for task in tasks] == ["fake 1", "fake 2", "fake 3", "fake 4", "second 5"]


def test_one_that_is_cancelled_in_company_does_not_hurt_the_others(build):
    engine, counter = build(FakeLoaded()), Counts()
    early, late, stays = counts(engine, counter, 5, 6, 7)
    early.cancel()
    engine.turn()
    engine.turn()
    late.cancel()
    engine.turn()
    with pytest.raises(CancelledError):
        late.result(0)
    assert not stays.future.done()
    run_out(engine)
    assert stays.result(0) == "fake 7"
    with pytest.raises(CancelledError):
        early.result(0)
    assert counter.begun == [[6, 7]]


def test_when_all_in_company_are_cancelled_the_work_stops(build):
    engine, counter = build(FakeLoaded()), Counts()
    tasks = counts(engine, counter, 5, 9)
    engine.turn()
    for task in tasks:
        task.cancel()
    engine.turn()
    assert counter.closed == 1
    assert engine.idle


def test_what_fails_in_company_fails_for_all_of_it(build):
    engine, counter = build(FakeLoaded()), Counts()
    tasks = counts(engine, counter, 1, 20)
    run_out(engine)
    for task in tasks:
        with pytest.raises(EngineFault, match="thirteen"):
            task.result(0)
    assert engine.idle


def test_unloading_by_force_ends_all_in_company(build):
    engine, counter = build(FakeLoaded()), Counts()
    tasks = counts(engine, counter, 8, 9)
    engine.turn()
    engine.unload("fake", cancel=True)
    run_out(engine)
    for task in tasks:
        with pytest.raises(EngineStopped):
            task.result(0)
    assert counter.closed == 1


def test_tasks_take_places_in_the_queue(build):
    engine, seen = build(FakeLoaded(), max_queue=4), []
    tasks, refused = [], 0
    for _ in range(200):
        try:
            tasks.append(engine.task("fake", counting(1000, seen)))
        except QueueFull:
            refused += 1
        engine.turn()
    assert len(tasks) == 5  # one is at work, four wait
    assert refused == 195
    assert engine.stats().waiting == 4
    with pytest.raises(QueueFull):
        engine.submit(Request("fake", [40] * 4, SamplingParams(max_tokens=2)))
    admitted = engine.task("fake", counting(1, []), admitted=True)  # part of work that was taken takes no place
    while not admitted.future.done():
        engine.turn()
    assert engine.stats().waiting == 4
    tasks[0].cancel()
    engine.turn()
    engine.submit(Request("fake", [40] * 4, SamplingParams(max_tokens=2)))  # a place became free
