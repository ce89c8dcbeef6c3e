"""A random life of many sequences on MLX: each ends with the logits that its tokens give in one run, alone."""

from __future__ import annotations

import numpy as np
import pytest

from backends.base import Segment, Slot
from tests.backends.mlx_models import VOCAB, tiny_runner


@pytest.mark.parametrize(("layers", "window", "seed"), [("aa", None, 0), ("ad", None, 1), ("da", 5, 2), ("aa", 9, 3)])
def test_nobody_notices_the_others(layers, window, seed):
    rng = np.random.default_rng(seed)
    runner, kv = tiny_runner(layers, window)
    alone, own = tiny_runner(layers, window)
    tokens: dict[Slot, list[int]] = {}
    kept: list = []

    def check(slot: Slot, logits: np.ndarray) -> None:
        solo = own.open(len(tokens[slot]))
        last = len(tokens[slot]) - 1
        want = alone.run([Segment(solo, ids=tokens[slot], want=range(last, last + 1))]).read()[solo].logits
        own.close(solo)
        np.testing.assert_allclose(logits, want, atol=2e-4)

    for step in range(60):
        act = rng.random()
        if act < 0.25 and len(tokens) < 9:
            slot = kv.open(int(rng.integers(1, 260)))
            tokens[slot] = []
            if kept and rng.random() < 0.6:
                taken, ids = kept[rng.integers(len(kept))]
                if taken.length <= slot.capacity:
                    kv.restore(slot, taken)
                    tokens[slot] = list(ids)
        elif act < 0.35 and tokens:
            slot = list(tokens)[rng.integers(len(tokens))]
            kept.append((kv.snapshot(slot), list(tokens[slot])))
        elif act < 0.42 and len(tokens) > 2:
            slot = list(tokens)[rng.integers(len(tokens))]
            kv.close(slot)
            del tokens[slot]
        elif act < 0.5 and tokens:
            slot = list(tokens)[rng.integers(len(tokens))]
            assert kv.grow(slot, 2 * slot.capacity) or slot.capacity > 1024
        running = [slot for slot in tokens if rng.random() < 0.7]
        segments = []
        for slot in running:
            n = int(rng.choice([1, 1, 1, 2, 7]))
            if slot.length + n > slot.capacity:
                assert kv.grow(slot, slot.length + n)
            ids = rng.integers(0, VOCAB, n).tolist()
            tokens[slot] += ids
            segments.append(Segment(slot, ids=ids, want=range(n - 1, n)))
        rng.shuffle(segments)
        if segments:
            out = runner.run(segments).read()
            if step % 3 == 0:
                for slot in running:
                    check(slot, out[slot].logits)
    for slot in list(tokens):
        kv.close(slot)
    assert kv.used == 0
    assert not kv.slabs
    assert not kv.states.arrays()
