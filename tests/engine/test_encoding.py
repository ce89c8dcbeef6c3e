"""Pictures are encoded before their request joins: together, in pieces, once each, and without holding up replies."""

from __future__ import annotations

import numpy as np
import pytest

from engine.admission import FeatureCache
from engine.errors import BadRequest, EngineFault, EngineStopped, QueueFull
from engine.types import Picture, Request, SamplingParams, Sound
from tests.fake_backend import FakeClock, FakeLoaded, Nature

GREEDY = SamplingParams(temperature=0.0, max_tokens=6)


class Eyes:
    """Encodes a picture into rows that hold its content; notes what it was asked for."""

    def __init__(self):
        self.batches = []
        self.broken = set()

    def encode(self, pictures):
        self.batches.append([picture.key for picture in pictures])
        yield
        if self.broken & {picture.key for picture in pictures}:
            raise ValueError("the encoder met a picture that it cannot stand")
        yield
        return [np.repeat(picture.patches[:1].astype(np.float32), picture.tokens, 0) for picture in pictures]


def picture(key, tokens=3, patches=8):
    value = float(sum(map(ord, key)))
    return Picture(np.full((patches, 2), value, np.float32), (1, 2, patches // 2), tokens, key)


def asks(*pictures, text=40):
    places, prompt = [], [text]
    for one in pictures:
        places += range(len(prompt), len(prompt) + one.tokens)
        prompt += [9] * one.tokens
    prompt += [text, text]
    return Request("fake", prompt, GREEDY, pictures=pictures, positions=places)


@pytest.fixture
def loaded():
    loaded = FakeLoaded(nature=Nature(eos_every=0), clock=FakeClock())
    loaded.model = Eyes()
    return loaded


def run(engine, *requests):
    handles = [engine.submit(request) for request in requests]
    while engine.turn():
        pass
    return handles


def test_the_reply_depends_on_the_picture(build, loaded):
    engine = build(loaded)
    one, same, other = run(engine, asks(picture("a")), asks(picture("a")), asks(picture("b")))
    assert one.result(0).ids == same.result(0).ids
    assert one.result(0).ids != other.result(0).ids
    assert loaded.kv.violations == []


def test_what_waits_is_encoded_together_and_once(build, loaded):
    engine = build(loaded)
    run(engine, asks(picture("a"), picture("b")), asks(picture("b"), picture("c")))
    assert loaded.model.batches == [["a", "b", "c"]]
    run(engine, asks(picture("c"), picture("d")))
    assert loaded.model.batches[1:] == [["d"]]


def test_a_batch_is_limited(build, loaded):
    engine = build(loaded)
    run(engine, *(asks(picture(key, patches=5000)) for key in "abc"))
    assert loaded.model.batches == [["a"], ["b"], ["c"]]


def test_replies_go_on_between_pieces(build, loaded):
    engine = build(loaded)
    steps = []
    loaded.runner.before = lambda segments: steps.append(len(loaded.model.batches))
    talking = engine.submit(Request("fake", [40] * 4, SamplingParams(temperature=0.0, max_tokens=40)))
    for _ in range(3):
        engine.turn()
    seeing = engine.submit(asks(picture("a")))
    while engine.turn():
        pass
    assert len(talking.result(0).ids) == 40
    assert len(seeing.result(0).ids) == 6
    assert steps.count(1) > 5


def test_one_bad_picture_fails_alone(build, loaded):
    loaded.model.broken = {"bad"}
    good, bad = run(build(loaded), asks(picture("good")), asks(picture("bad")))
    assert len(good.result(0).ids) == 6
    with pytest.raises(EngineFault, match="cannot stand"):
        bad.result(0)


def test_cancelled_while_it_waits(build, loaded):
    engine = build(loaded)
    handle = engine.submit(asks(picture("a")))
    engine.turn()
    handle.cancel()
    while engine.turn():
        pass
    assert handle.result(0).reason == "cancelled"
    assert engine.idle
    assert len(run(engine, asks(picture("a")))[0].result(0).ids) == 6


def test_unloading_takes_the_encoding_that_has_not_begun_with_it(build, loaded):
    engine = build(loaded, other := FakeLoaded("other", clock=loaded.runner.clock))
    engine.load("fake")

    def long(_):
        for _ in range(20):
            yield

    engine.task("other", long)
    engine.turn()
    handle = engine.submit(asks(picture("a")))
    engine._inbox.popleft()()  # it has joined its lane, and its encoding waits for its turn
    engine.unload("fake", cancel=True)
    with pytest.raises(EngineStopped):
        handle.result(0)
    while engine.turn():
        pass
    assert [model.name for model in engine.models()] == [other.name]


def test_a_model_without_eyes(build):
    (handle,) = run(build(FakeLoaded()), asks(picture("a")))
    with pytest.raises(BadRequest, match="does not take images"):
        handle.result(0)


@pytest.mark.parametrize("wrong", [
    {"positions": [1, 2]},
    {"positions": None},
    {"embeds": np.zeros((3, 2), np.float32)},
    {"sound": Sound(np.zeros(10, np.float32), "s")},
    {"rope": np.zeros((3, 2), np.int32)},
])  # fmt: skip
def test_what_does_not_fit_together_is_refused(build, loaded, wrong):
    good = asks(picture("a"))
    fields = {"pictures": good.pictures, "positions": good.positions} | wrong
    (handle,) = run(build(loaded), Request("fake", good.prompt_ids, GREEDY, **fields))
    with pytest.raises(BadRequest):
        handle.result(0)
    assert loaded.model.batches == []


def test_features_are_forgotten_oldest_first():
    kept = FeatureCache(limit=100)
    kept.put("a", np.zeros(10, np.float32))
    kept.put("b", np.zeros(10, np.float32))
    assert kept.get("a") is not None
    kept.put("c", np.zeros(10, np.float32))
    assert kept.get("b") is None
    assert kept.get("a") is not None


class Slow(Eyes):
    """Never comes to an end."""

    def encode(self, pictures):
        while True:
            yield


def refused(asking, engine, times):
    """How many of so many were refused, when the engine has a turn after each."""
    count = 0
    for number in range(times):
        try:
            asking(number)
        except QueueFull:
            count += 1
        engine.turn()
    return count


@pytest.mark.parametrize("kind", ["picture", "sound"])
def test_requests_that_wait_for_their_encoder_fill_the_queue(build, loaded, kind):
    loaded.model = Slow()
    engine = build(loaded, max_queue=4)

    def ask(number):
        sound = Request("fake", [40], GREEDY, sound=Sound(np.ones(10, np.float32), str(number)))
        engine.submit(asks(picture(str(number))) if kind == "picture" else sound)

    assert refused(ask, engine, 200) == 196
    assert engine.stats().waiting == 4
    with pytest.raises(QueueFull):
        engine.submit(Request("fake", [40], GREEDY))  # the queue is everybody's
    engine.submit(Request("fake", [40], GREEDY), admitted=True)
    while engine.stats().active == 0:
        engine.turn()
