"""The KV cache on MLX: budget, moves, snapshots, and going back. Rows are told apart by the logits they lead to."""

from __future__ import annotations

import math

import mlx.core as mx
import numpy as np
import pytest

from backends.base import CrossSpec, KVSpec, Sampling, Segment
from backends.mlx.backend import MlxBackend
from backends.mlx.cache import MlxCache
from backends.mlx.slabs import make_format
from backends.plan import make_plan
from tests.asserting import every
from tests.backends.mlx_models import VOCAB, tiny_runner

KINDS = ["aa", "ad"]


def prompt(length: int, seed: int = 0) -> list[int]:
    return np.random.default_rng(seed).integers(0, VOCAB, length).tolist()


def feed(runner, slot, ids) -> np.ndarray:
    return runner.run([Segment(slot, ids=ids, want=range(len(ids) - 1, len(ids)))]).read()[slot].logits[0]


def test_the_budget_holds_and_comes_back():
    _, kv = tiny_runner("ad")
    kv.budget = 3 * kv.bytes_for(256)
    slots = [kv.open(200) for _ in range(3)]
    assert kv.open(1) is None
    assert not kv.grow(slots[0], 300)
    assert slots[0].capacity == 256
    kv.close(slots[1])
    assert kv.used == 2 * kv.bytes_for(256)
    assert kv.grow(slots[0], 257)
    assert slots[0].capacity == 512
    for slot in (slots[0], slots[2]):
        kv.close(slot)
    assert kv.used == 0
    kv.close(slots[2])
    assert kv.used == 0
    assert not kv.slabs


@pytest.mark.parametrize("bits", [32, 16, 8, 4])
def test_bytes_are_those_of_the_arrays(bits):
    runner, kv = tiny_runner("ad", bits=bits)
    slot = kv.open(300)
    feed(runner, slot, [1, 2, 3])
    assert kv.used == kv.bytes_for(300) == sum(a.nbytes for a in kv.arrays())


@pytest.mark.parametrize("layers", KINDS)
def test_growth_and_holes_keep_every_row(layers):
    runner, kv = tiny_runner(layers)
    slots = [kv.open(20) for _ in range(5)]
    for i, slot in enumerate(slots):
        feed(runner, slot, prompt(5 + i, i))
    kv.close(slots.pop(1))
    kv.grow(slots[0], 700)
    kv.close(slots.pop(2))
    for slot in slots:
        i = slot.length - 5
        fresh = kv.open(20)
        want = feed(runner, fresh, [*prompt(5 + i, i), 7])
        np.testing.assert_allclose(feed(runner, slot, [7]), want, atol=1e-4)


@pytest.mark.parametrize("layers", KINDS)
@pytest.mark.parametrize("bits", [32, 16, 8])
def test_a_snapshot_fills_another_slot(layers, bits):
    runner, kv = tiny_runner(layers, bits=bits)
    slot = kv.open(20)
    feed(runner, slot, prompt(6))
    taken = kv.snapshot(slot)
    assert taken.length == 6
    want = feed(runner, slot, [3, 4])
    kv.close(slot)
    other = kv.open(400)
    kv.restore(other, kv.import_snapshot(taken.length, kv.export_snapshot(taken)))
    assert other.length == 6
    np.testing.assert_allclose(feed(runner, other, [3, 4]), want, atol=1e-5)
    third = kv.open(20)
    kv.restore(third, taken)
    np.testing.assert_allclose(feed(runner, third, [3, 4]), want, atol=1e-5)


def test_exports_are_exact_in_half_precision():
    runner, kv = tiny_runner("ad", dtype="bf16")
    slot = kv.open(20)
    feed(runner, slot, prompt(6))
    arrays = kv.export_snapshot(kv.snapshot(slot))
    again = kv.export_snapshot(kv.import_snapshot(6, arrays))
    assert kv.import_snapshot(6, arrays).nbytes == kv.snapshot(slot).nbytes
    assert every(a.dtype == b.dtype and (a == b).all() for a, b in zip(arrays, again, strict=True))


def test_states_alone_rewind_the_slot_they_came_from():
    runner, kv = tiny_runner("ad")
    slot = kv.open(20)
    feed(runner, slot, prompt(6))
    taken = kv.snapshot(slot, rows=False)
    want = feed(runner, slot, [3, 4])
    feed(runner, slot, [9, 9])
    kv.restore(slot, taken)
    assert slot.length == 6
    np.testing.assert_allclose(feed(runner, slot, [3, 4]), want, atol=1e-5)
    with pytest.raises(ValueError, match="holds no rows"):
        kv.restore(kv.open(20), taken)


@pytest.mark.parametrize("layers", KINDS)
def test_rolling_back_forgets_what_came_after_the_mark(layers):
    runner, kv = tiny_runner(layers)
    slot = kv.open(30)
    feed(runner, slot, prompt(6))
    kv.checkpoint(slot)
    want = feed(runner, slot, [3, 4])
    assert kv.rollback(slot) == 0
    feed(runner, slot, [8, 8, 8]) if layers == "aa" else None
    kv.truncate(slot, 6) if layers == "aa" else None
    np.testing.assert_allclose(feed(runner, slot, [3, 4]), want, atol=1e-5)
    kv.checkpoint(slot)
    feed(runner, slot, [5, 6])
    assert kv.rollback(slot, keep=2) == 2
    assert slot.length == 10
    with pytest.raises(ValueError, match="not marked"):
        kv.rollback(slot)


def test_copies_share_a_prefix_and_nothing_more():
    runner, kv = tiny_runner("aa")
    source, target = kv.open(20), kv.open(20)
    feed(runner, source, prompt(8))
    kv.copy(source, target, 5)
    want = feed(runner, kv.open(20), [*prompt(8)[:5], 2])
    np.testing.assert_allclose(feed(runner, target, [2]), want, atol=1e-5)
    np.testing.assert_allclose(feed(runner, source, [2]), feed(runner, kv.open(20), [*prompt(8), 2]), atol=1e-5)


def test_recurrent_memory_cannot_be_cut():
    _, kv = tiny_runner("ad")
    slot = kv.open(9)
    for call in (lambda: kv.truncate(slot, 0), lambda: kv.copy(slot, kv.open(9), 0)):
        with pytest.raises(ValueError, match="recurrent"):
            call()


def test_encoder_rows_are_counted_and_kept_apart():
    backend = MlxBackend("cpu", "f32")
    kv = backend.kv([KVSpec(2, 32), CrossSpec(2, 32)], 1 << 30)
    slot, other = kv.open(4), kv.open(4)
    rng = np.random.default_rng(0)
    k, v = rng.normal(size=(2, 5, 2, 32)).astype(np.float32)
    kv.write_cross(slot, 1, backend.ops.array(k), backend.ops.array(v))
    assert kv.used == 2 * kv.bytes_for(4) + k.nbytes + v.nbytes
    with pytest.raises(ValueError, match="no encoder output"):
        kv.crossed.get(other, 1)
    kv.close(slot)
    kv.close(other)
    assert kv.used == 0


def test_halves_know_no_infinity_but_keep_what_is_no_number():
    form = make_format(mx.float32, 16, [])
    back = form.decode(form.encode(mx.array([1e6, -1e6, 0.1, float("nan")])))
    assert back.dtype == mx.float32
    assert back[:2].tolist() == [65504, -65504]
    assert back[2].item() == pytest.approx(0.1, rel=5e-4)
    assert math.isnan(back[3].item())


def test_odd_quantizations_are_refused():
    backend = MlxBackend("cpu", "f32")
    with pytest.raises(ValueError, match="not 5"):
        backend.kv([KVSpec(2, 64)], 1 << 20, bits=5)


def test_a_slots_own_sampling_survives_growth():
    runner, kv = tiny_runner("aa")
    slot = kv.open(256)
    runner.run([Segment(slot, ids=prompt(256), sample=Sampling())]).read()
    kv.grow(slot, 257)
    assert runner.run([Segment(slot, sample=Sampling())]).read()[slot].ids
    assert slot.length == 257


def test_cross_attention_of_a_batch_equals_solo_runs():
    """Different encoder lengths, company that changes, and a longer run among single tokens."""
    backend = MlxBackend("cpu", "f32")
    kv = backend.kv([CrossSpec(2, 32)], 1 << 30)
    rng = np.random.default_rng(0)
    slots = [kv.open(8) for _ in range(3)]
    stored = {}
    for slot, length in zip(slots, (5, 3, 5)):
        k, v = rng.normal(size=(2, length, 2, 32)).astype(np.float32)
        kv.write_cross(slot, 0, backend.ops.array(k), backend.ops.array(v))
        stored[slot] = (k, v)

    def attended(lengths: dict) -> None:
        plan = make_plan([Segment(slot, ids=[1] * n) for slot, n in lengths.items()])
        q = rng.normal(size=(plan.total, 4, 32)).astype(np.float32)
        got = np.array(MlxCache(kv, plan, kernel=False).cross(0, mx.array(q), 0.2))
        for span in plan.segments:
            k, v = stored[span.slot]
            scores = np.einsum("thd,shd->ths", q[span.start : span.stop], np.repeat(k, 2, 1)) * 0.2
            shares = np.exp(scores - scores.max(-1, keepdims=True))
            shares /= shares.sum(-1, keepdims=True)
            want = np.einsum("ths,shd->thd", shares, np.repeat(v, 2, 1))
            np.testing.assert_allclose(got[span.start : span.stop], want, atol=1e-5)

    first, second, third = slots
    attended({first: 1, second: 1, third: 1})
    attended({first: 1, third: 1})
    attended({first: 1, second: 4, third: 1})
    attended({second: 1})
    kv.write_cross(third, 0, backend.ops.array(stored[first][1]), backend.ops.array(stored[first][0]))
    stored[third] = stored[first][::-1]
    attended({first: 1, third: 1})
