"""Several models: loaded on demand, unloaded when idle, when room is needed, or when told."""

from __future__ import annotations

import threading
import time

import pytest

from engine.engine import Engine
from engine.errors import BadRequest, CheckpointError, EngineStopped, ModelNotFound, OutOfMemory
from engine.loaded import Loaded, Loader
from engine.types import Request, SamplingParams, Settings
from tests.fake_backend import FakeClock, FakeDevice, FakeLoaded, Nature, oracle


class Shelf:
    """Counts what is loaded; every load gives a fresh model."""

    def __init__(self, clock: FakeClock, sizes: dict[str, int]) -> None:
        self.clock, self.sizes = clock, sizes
        self.loaded: list[FakeLoaded] = []

    def __call__(self, name: str) -> FakeLoaded:
        if name not in self.sizes:
            raise CheckpointError(f"There is no model {name}.")
        device = FakeDevice(total=1000 << 20)
        model = FakeLoaded(name, Nature(eos_every=0), clock=self.clock, device=device, weight_bytes=self.sizes[name])
        self.loaded.append(model)
        return model

    @property
    def names(self) -> list[str]:
        return [model.name for model in self.loaded if not model.closed]


def make(sizes, **settings):
    clock = FakeClock()
    shelf = Shelf(clock, sizes)
    settings.setdefault("gpu_memory_limit", "100M")
    return Engine(shelf, Settings(**settings), clock=clock, start=False), shelf, clock


def ask(engine, name, max_tokens=3, run=True):
    handle = engine.submit(Request(name, [40, 41, 42], SamplingParams(temperature=0.0, max_tokens=max_tokens)))
    while run and engine.turn():
        pass
    return handle


MEG = 1 << 20


def test_a_first_request_loads_warms_and_shares_the_device():
    engine, shelf, _ = make({"a": MEG, "b": MEG})
    one, two = ask(engine, "a", 30, run=False), ask(engine, "b", 30, run=False)
    for _ in range(4):
        engine.turn()
    assert [stats.active for stats in engine.models()] == [1, 1]
    while engine.turn():
        pass
    assert len(one.result(0).ids) == len(two.result(0).ids) == 30
    assert [model.runner.warmed for model in shelf.loaded] == [1, 1]


def test_the_least_recently_used_model_makes_place():
    engine, shelf, clock = make({"a": 40 * MEG, "b": 40 * MEG, "c": 40 * MEG})
    for name in ("a", "b", "a", "c"):
        clock.now += 1
        ask(engine, name).result(0)
    assert shelf.names == ["a", "c"]
    engine.pin("a")
    clock.now += 1
    ask(engine, "c").result(0)
    ask(engine, "b").result(0)
    assert sorted(shelf.names) == ["a", "b"]


def test_a_busy_model_is_waited_for():
    engine, shelf, _ = make({"a": 60 * MEG, "b": 60 * MEG})
    long = ask(engine, "a", 40, run=False)
    engine.turn()
    other = ask(engine, "b")
    assert len(long.result(0).ids) == 40
    assert len(other.result(0).ids) == 3
    assert shelf.names == ["b"]


def test_what_can_never_fit_fails():
    engine, shelf, _ = make({"big": 200 * MEG, "a": 60 * MEG, "b": 60 * MEG})
    with pytest.raises(OutOfMemory):
        ask(engine, "big").result(0)
    engine.load("a", pin=True)
    with pytest.raises(OutOfMemory):
        ask(engine, "b").result(0)
    assert shelf.names == ["a"]
    with pytest.raises(CheckpointError):
        ask(engine, "nowhere").result(0)


def test_what_can_never_fit_pushes_nothing_out():
    engine, shelf, _ = make({"big": 200 * MEG, "a": 60 * MEG})
    ask(engine, "a").result(0)
    kept = engine._manager.stats(0.0)[0].idle_prefixes
    with pytest.raises(OutOfMemory, match="big takes 200 MiB"):
        ask(engine, "big").result(0)
    with pytest.raises(CheckpointError):
        ask(engine, "nowhere").result(0)
    assert shelf.names == ["a"]
    assert engine._manager.stats(0.0)[0].idle_prefixes == kept


def test_idle_models_go_after_their_time_but_not_pinned_ones():
    engine, shelf, clock = make({"a": MEG, "b": MEG}, idle_ttl=60.0)
    ask(engine, "a").result(0)
    engine.load("b", pin=True)
    clock.now += 59
    engine.turn()
    assert shelf.names == ["a", "b"]
    clock.now += 2
    engine.turn()
    assert shelf.names == ["b"]
    assert len(ask(engine, "a").result(0).ids) == 3  # and comes back when asked for


def test_a_model_stays_as_long_as_it_was_told():
    engine, shelf, clock = make({"a": MEG, "b": MEG}, idle_ttl=60.0)
    for name in ("a", "b"):
        ask(engine, name).result(0)
    engine.keep("a", None)
    engine.keep("b", 300.0)
    assert [model.expires_in for model in engine.models()] == [None, 300.0]
    clock.now += 299
    engine.turn()
    assert [model.expires_in for model in engine.models()] == [None, 1.0]
    ask(engine, "b").result(0)  # the time counts from the last use
    clock.now += 299
    engine.turn()
    assert shelf.names == ["a", "b"]
    clock.now += 2
    engine.turn()
    assert shelf.names == ["a"]
    ask(engine, "b").result(0)  # loaded anew: as the settings say
    clock.now += 61
    engine.turn()
    assert shelf.names == ["a"]


def test_kept_for_no_time_a_model_goes_when_its_requests_have_ended():
    engine, shelf, _ = make({"a": MEG})
    handle = ask(engine, "a", 10, run=False)
    engine.keep("a", 0)
    assert engine.models()[0].expires_in == 0.0
    assert shelf.names == ["a"]
    while engine.turn():
        pass
    assert len(handle.result(0).ids) == 10
    assert shelf.names == []
    with pytest.raises(BadRequest):
        engine.keep("a", -1)


def test_the_engine_wakes_by_itself_to_unload():
    shelf = Shelf(FakeClock(), {"a": MEG})
    with Engine(shelf, Settings(gpu_memory_limit="100M")) as engine:
        engine.load("a")
        engine.keep("a", 0.02)
        deadline = time.monotonic() + 5
        while engine.models() and time.monotonic() < deadline:
            time.sleep(0.005)
        assert shelf.names == []


def test_unload_waits_or_cancels():
    engine, shelf, _ = make({"a": MEG})
    handle = ask(engine, "a", 20, run=False)
    engine.turn()
    engine.unload("a")
    assert len(handle.result(0).ids) == 20
    assert shelf.names == []
    handle = ask(engine, "a", 20, run=False)
    engine.turn()
    engine.unload("a", cancel=True)
    with pytest.raises(EngineStopped):
        handle.result(0)
    assert shelf.names == []
    with pytest.raises(ModelNotFound):
        engine.unload("a")


def test_requests_that_arrive_during_an_unload_load_the_model_again():
    clock = FakeClock()
    shelf = Shelf(clock, {"a": MEG})
    with Engine(shelf, Settings(gpu_memory_limit="100M"), clock=clock) as engine:
        first = engine.submit(Request("a", [40, 41], SamplingParams(temperature=0.0, max_tokens=2000)))
        gone = threading.Thread(target=engine.unload, args=("a",))
        while not engine.models():
            pass
        gone.start()
        second = engine.submit(Request("a", [42, 43], SamplingParams(temperature=0.0, max_tokens=3)))
        assert len(first.result(20).ids) == 2000
        assert list(second.result(20).ids) == oracle(Nature(eos_every=0), [42, 43], second_params()).ids
        gone.join(20)
        assert not gone.is_alive()


def second_params() -> SamplingParams:
    return SamplingParams(temperature=0.0, max_tokens=3)


def test_an_idle_models_prefixes_give_way_to_another_models_sequences():
    engine, shelf, _ = make({"a": 10 * MEG, "b": 10 * MEG}, gpu_memory_limit=str(20 * MEG + 20_000))
    for i in range(4):
        handle = engine.submit(Request("a", [40 + i, *[50] * 40], SamplingParams(max_tokens=3)))
        while engine.turn():
            pass
        handle.result(0)
    before = engine.models()[0].idle_prefixes
    assert before > 1
    handle = engine.submit(Request("b", [60] * 120, SamplingParams(max_tokens=3)))
    while engine.turn():
        pass
    assert handle.result(0).ids
    assert engine.models()[0].idle_prefixes < before
    assert shelf.loaded[0].kv.used + shelf.loaded[1].kv.used <= 20_000


class Sized(Loader):
    """A loader that knows how large its models are."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__(shelf)
        self.shelf = shelf
        self.gone: list[str] = []

    def size(self, name: str) -> int | None:
        return self.shelf.sizes.get(name)

    def unloaded(self, loaded: Loaded) -> None:
        self.gone.append(loaded.name)


def sized(sizes, **settings):
    clock = FakeClock()
    loader = Sized(Shelf(clock, sizes))
    engine = Engine(loader, Settings(gpu_memory_limit="100M", **settings), clock=clock, start=False)
    return engine, loader, clock


def work(loaded):
    return loaded.name
    yield


@pytest.mark.parametrize(("made", "loads"), [(make, 1), (sized, 0)], ids=["of unknown size", "of known size"])
@pytest.mark.parametrize("ask_for", ["task", "request"])
def test_what_does_not_fit_beside_a_busy_model_is_not_loaded_again_and_again(made, loads, ask_for):
    engine, loader, _ = made({"busy": 60 * MEG, "idle": MEG, "pinned": MEG, "other": 60 * MEG})
    shelf = getattr(loader, "shelf", loader)
    engine.load("pinned", pin=True)
    engine.load("idle")
    long = ask(engine, "busy", 40, run=False)
    engine.turn()
    waits = engine.task("other", work).future if ask_for == "task" else ask(engine, "other", run=False)
    for _ in range(10):
        engine.turn()
    assert [model.name for model in shelf.loaded].count("other") == loads
    assert ("idle" in shelf.names) == (not loads)  # nothing has to go for what does not fit anyway
    while engine.turn():
        pass
    assert len(long.result(0).ids) == 40
    assert waits.result(0) == "other" if ask_for == "task" else len(waits.result(0).ids) == 3
    assert [model.name for model in shelf.loaded].count("other") == loads + 1
    assert {"other", "pinned"} <= set(shelf.names)


def test_what_is_known_to_be_too_large_is_not_loaded():
    engine, loader, _ = sized({"big": 200 * MEG, "a": MEG})
    ask(engine, "a").result(0)
    with pytest.raises(OutOfMemory, match="big takes 200 MiB"):
        ask(engine, "big").result(0)
    assert loader.shelf.names == ["a"]
    assert len(loader.shelf.loaded) == 1


def test_prefixes_of_a_busy_model_give_way_to_another_models_weights():
    engine, loader, _ = sized({"a": 50 * MEG, "b": 50 * MEG - 40_000})
    for i in range(6):
        handle = engine.submit(Request("a", [40 + i, *[50] * 100], SamplingParams(temperature=0.0, max_tokens=3)))
        while engine.turn():
            pass
        handle.result(0)
    assert engine.models()[0].kv_bytes > 40_000
    busy = ask(engine, "a", 40, run=False)
    engine.turn()
    engine.task("b", work)
    engine.turn()
    assert loader.shelf.names == ["a", "b"]
    assert not busy.ended


@pytest.mark.parametrize("way", ["unload", "cancel", "keep", "room", "closed"])
def test_the_loader_hears_of_every_model_that_goes(way):
    engine, loader, _ = sized({"a": 60 * MEG, "b": 60 * MEG})
    ask(engine, "a").result(0)
    assert loader.gone == []
    if way in ("unload", "cancel"):
        engine.unload("a", cancel=way == "cancel")
    elif way == "keep":
        engine.keep("a", 0)
        engine.turn()
    elif way == "room":
        ask(engine, "b").result(0)
    else:
        engine.close()
    assert loader.gone == ["a"]
