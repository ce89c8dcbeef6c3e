"""Models that speak in frames: codes come out, text is added a row a step, and an eviction changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.types import Frames, Request, SamplingParams, Text
from tests.backends.torch_toy import VOCAB, WIDTH, Rig
from tests.fake_backend import FakeLoaded

LIMIT = 24


class Talker(FakeLoaded):
    """The toy decoder, whose tokens become frames of two codes and whose next input is the sum of their embeddings."""

    def __init__(self, budget=1 << 28, **rig):
        super().__init__("talker")
        made = Rig("full", budget=budget, **rig)
        self.model, self.kv, self.runner = made.model, made.kv, made.runner
        self.vocab, self.eos_ids = VOCAB, {0}

        def reframe(codes):
            return made.model.embed(codes[:, 0]) + made.model.embed(codes[:, 1])

        def frame(hidden, ids, params):
            codes = torch.stack([ids, (ids * 7 + 1) % VOCAB], 1)
            return codes, reframe(codes)

        made.model.reframe, made.model.frame = reframe, frame
        self.runner.frame = frame


def request(seed, length=9, **chosen):
    random = np.random.default_rng(seed)
    embeds = random.standard_normal((length, WIDTH), dtype=np.float32)
    params = SamplingParams(temperature=0.0, max_tokens=LIMIT, ignore_eos=True)
    track = 3 * random.standard_normal((12, WIDTH), dtype=np.float32)
    fields = {"embeds": embeds, "positions": range(length), "track": track} | chosen
    return Request("talker", [0] * length, params, **fields)


def frames(handle):
    events = list(handle)
    assert not any(isinstance(event, Text) for event in events)
    return np.concatenate([event.codes for event in events if isinstance(event, Frames)])


def test_frames_come_out_and_the_track_matters(build):
    engine = build(Talker(), start=True)
    one = frames(engine.submit(request(1)))
    assert one.shape == (LIMIT, 2)
    assert (one[:, 1] == (one[:, 0] * 7 + 1) % VOCAB).all()
    assert len(set(one[:, 0].tolist())) > 3
    assert not np.array_equal(one, frames(engine.submit(request(1, track=None))))


def test_together_as_alone(build):
    alone = [frames(build(Talker(), start=True).submit(request(seed))) for seed in range(4)]
    engine = build(Talker(), start=True)
    together = [frames(handle) for handle in [engine.submit(request(seed)) for seed in range(4)]]
    for a, b in zip(alone, together):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("host", ["1G", "1"])
def test_an_eviction_changes_nothing(build, host):
    """With room on the host its memory is moved, without it its frames are fed again."""
    long = 245  # just under what the smallest slot holds
    alone = [frames(build(Talker(), start=True).submit(request(seed, long))) for seed in range(3)]
    small = Talker()
    small.backend.total = 1 << 40
    engine = build(small, host_memory_limit=host, decode_tokens_per_seq=4)
    engine._manager.executor("talker").memory.loaded_budget = small.kv.bytes_for(300) + small.kv.bytes_for(256)
    handles = [engine.submit(request(seed, long)) for seed in range(3)]
    while engine.turn():
        pass
    assert engine.stats().evictions > 0
    for a, handle in zip(alone, handles):
        np.testing.assert_array_equal(a, frames(handle))


def test_positions_go_on_from_their_maximum(build):
    rope = np.stack([np.arange(9), np.arange(9) // 2, np.arange(9) // 3]).astype(np.int32)
    engine = build(Talker())
    engine.submit(request(1, rope=rope))
    engine.turn()
    (sequence,) = engine._manager.executors["talker"].scheduler.running
    np.testing.assert_array_equal(sequence.positions(8, 11), [[8, 9, 10], [4, 9, 10], [2, 9, 10]])
    np.testing.assert_array_equal(sequence.positions(12, 13), [[12]] * 3)
