"""The store: what is opened, grown, moved, copied and undone is what a sequence that was left alone would have."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from backends.base import KVSnapshot, Sampling, Segment
from backends.torch.kv_cache import HalfCodec, QuantizedCodec
from tests.backends.torch_toy import DIM, KV_HEADS, Rig, prompt

KINDS = [("full", "full"), ("full", "window"), ("full", "delta", "delta"), ("full", "scan", "conv")]


def same(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_allclose(a, b, atol=2e-4)


@pytest.mark.parametrize("layers", KINDS)
def test_neighbours_may_leave_and_join(layers):
    rig = Rig(*layers)
    kv, ids = rig.kv, prompt(12)
    a, b, c = (kv.open(20) for _ in range(3))
    for slot, seed in ((a, 1), (b, 0), (c, 2)):
        rig.feed(slot, prompt(8, seed))
    kv.close(a)  # c moves into its row
    d = kv.open(20)
    rig.feed(d, prompt(3, 3))
    same(rig.feed(b, ids[8:]), rig.alone(ids)[8:])
    same(rig.feed(c, [1, 2]), rig.alone([*prompt(8, 2), 1, 2])[8:])
    same(rig.feed(d, [7]), rig.alone([*prompt(3, 3), 7])[3:])


@pytest.mark.parametrize("bits", [32, 16, 8])
@pytest.mark.parametrize("layers", KINDS)
def test_growing_keeps_what_was_remembered(layers, bits):
    rig = Rig(*layers, bits=bits)
    kv, ids = rig.kv, prompt(300)
    first, slot, last = kv.open(10), kv.open(10), kv.open(10)
    rig.feed(slot, ids[:250])
    rig.feed(last, prompt(5, 4))
    assert kv.grow(slot, 300)
    assert slot.capacity == 512
    assert last.place.row == 1
    assert kv.grow(slot, 20)
    same(rig.feed(slot, ids[250:]), rig.alone(ids, 250, 50)[250:])
    same(rig.feed(last, [3]), rig.alone([*prompt(5, 4), 3], 5, 1)[5:])
    for each in (first, slot, last):
        kv.close(each)
    assert kv.used == 0
    assert set(kv.slabs) == {256}


def test_the_budget_is_held():
    kv = Rig("full", "delta").kv
    kv.budget = 2 * kv.bytes_for(256) + 10
    assert kv.bytes_for(1) == 256 * 2 * KV_HEADS * DIM * 4 + 2 * (2 * 16 * 16 * 4 + 3 * 96 * 4)
    a, b = kv.open(256), kv.open(1)
    assert kv.open(1) is None
    assert not kv.grow(a, 257)
    assert (a.capacity, kv.used) == (256, 2 * kv.bytes_for(256))
    kv.close(b)
    assert not kv.grow(a, 513)
    assert kv.used == kv.bytes_for(256)


@pytest.mark.parametrize("bits", [32, 16, 4])
@pytest.mark.parametrize("layers", KINDS)
def test_a_snapshot_fills_another_slot_and_survives_the_host(layers, bits):
    rig = Rig(*layers, bits=bits)
    kv, ids = rig.kv, prompt(20)
    source = kv.open(20)
    rig.feed(source, ids[:12])
    snapshot = kv.snapshot(source)
    want = rig.feed(source, ids[12:])
    kv.close(source)
    kv.open(5)  # so that rows differ
    arrays = kv.export_snapshot(snapshot)
    assert snapshot.nbytes == sum(a.nbytes for a in arrays)
    for saved in (snapshot, kv.import_snapshot(12, [a.copy() for a in arrays])):
        slot = kv.open(300)
        kv.restore(slot, saved)
        assert slot.length == 12
        same(rig.feed(slot, ids[12:]), want)


def test_snapshots_keep_their_bytes_in_bf16():
    rig = Rig("full", "delta", dtype="bf16")
    slot = rig.kv.open(10)
    rig.feed(slot, prompt(10))
    snapshot = rig.kv.snapshot(slot)
    back = rig.kv.import_snapshot(10, rig.kv.export_snapshot(snapshot))
    for a, b in zip([*snapshot.rows, *snapshot.states], [*back.rows, *back.states]):
        assert a.dtype == b.dtype
        assert torch.equal(a, b)
    with pytest.raises(ValueError, match="has 4 arrays, not 3"):
        rig.kv.import_snapshot(10, rig.kv.export_snapshot(snapshot)[:3])


@pytest.mark.parametrize("layers", KINDS)
def test_states_alone_rewind_their_own_slot(layers):
    rig = Rig(*layers)
    kv, ids = rig.kv, prompt(20)
    slot = kv.open(20)
    rig.feed(slot, ids[:12])
    snapshot = kv.snapshot(slot, rows=False)
    assert snapshot.rows is None
    want = rig.feed(slot, ids[12:])
    back = kv.import_snapshot(12, kv.export_snapshot(snapshot))
    kv.restore(slot, back)
    same(rig.feed(slot, ids[12:]), want)
    with pytest.raises(ValueError, match="only rewind"):
        kv.restore(kv.open(20), snapshot)
    with pytest.raises(ValueError, match="room for 256"):
        kv.restore(kv.open(20), KVSnapshot(257, 0, [], []))


def test_copy_and_truncate():
    rig = Rig("full", "window")
    kv, ids = rig.kv, prompt(20)
    source, target = kv.open(20), kv.open(300)
    rig.feed(source, ids)
    kv.copy(source, target, 9)
    assert target.length == 9
    want = rig.alone([*ids[:9], 4, 5])[9:]
    same(rig.feed(target, [4, 5]), want)
    kv.truncate(source, 9)
    same(rig.feed(source, [4, 5]), want)
    with pytest.raises(ValueError, match="cannot be copied"):
        kv.copy(source, kv.open(5), 12)
    recurrent = Rig("delta").kv
    for refused in (lambda s: recurrent.truncate(s, 0), lambda s: recurrent.copy(s, s, 0)):
        with pytest.raises(ValueError, match="use a snapshot"):
            refused(recurrent.open(1))


@pytest.mark.parametrize("layers", KINDS)
def test_mark_and_rollback(layers):
    rig = Rig(*layers)
    kv, ids = rig.kv, prompt(10)
    slot = kv.open(30)
    rig.feed(slot, ids)
    kv.checkpoint(slot)
    rig.feed(slot, [1, 2, 3, 4])
    kept = kv.rollback(slot, 2)
    assert kept == (0 if {"delta", "scan"} & {*layers} else 2)
    assert slot.length == 10 + kept
    same(rig.feed(slot, [*[1, 2][kept:], 9]), rig.alone([*ids, 1, 2, 9])[10 + kept :])
    with pytest.raises(ValueError, match="no checkpoint"):
        kv.rollback(slot)


def test_nan_does_not_outlive_its_sequence():
    rig = Rig("full")
    kv = rig.kv
    keeper, broken = kv.open(10), kv.open(10)
    bad = np.full((5, 32), np.nan, np.float32)
    token = rig.runner.run([Segment(broken, embeds=bad, sample=Sampling())]).read()[broken]
    assert token.nan
    assert token.ids == []
    kv.close(broken)
    heir = kv.open(10)
    assert heir.place.row == 1
    rig.feed(keeper, prompt(8))
    rig.feed(heir, [1, 2])
    got = rig.runner.run([Segment(s, [3], want=range(1)) for s in (keeper, heir)]).read()
    same(got[heir].logits, rig.alone([1, 2, 3])[2:])
    same(got[keeper].logits, rig.alone([*prompt(8), 3])[8:])


def test_cross_attention_remembers_the_encoder():
    rig = Rig("full", "cross")
    kv, random = rig.kv, np.random.default_rng(0)
    a, b = kv.open(10), kv.open(10)
    with pytest.raises(ValueError, match="put them first"):
        rig.feed(a, [1])
    for slot, size in ((a, 3), (b, 7)):
        k, v = torch.from_numpy(random.normal(size=(2, size, KV_HEADS, DIM)).astype(np.float32))
        kv.write_cross(slot, 1, k, v)
    assert kv.used == 2 * kv.bytes_for(10) + 2 * (3 + 7) * KV_HEADS * DIM * 4
    got = rig.runner.run([Segment(s, [3, 4], want=range(2)) for s in (a, b)]).read()
    snapshot, fresh = kv.snapshot(b), kv.open(10)
    kv.restore(fresh, kv.import_snapshot(2, kv.export_snapshot(snapshot)))
    same(rig.feed(fresh, [5]), rig.feed(b, [5]))
    assert not np.allclose(got[a].logits, got[b].logits, atol=1e-3)
    for slot in (a, b, fresh):
        kv.close(slot)
    assert kv.used == 0


def test_an_encoder_s_keys_are_kept_in_half_precision_where_others_are():
    full, half = Rig("full", "cross"), Rig("full", "cross", bits=16)
    k, v = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 9, KV_HEADS, DIM)).astype(np.float32))
    k[0] = 1e6  # beyond what half precision holds
    made = []
    for rig in (full, half):
        slot = rig.kv.open(10)
        rig.kv.write_cross(slot, 1, k, v)
        made.append(rig.feed(slot, [1, 2, 3]))
        snapshot, fresh = rig.kv.snapshot(slot), rig.kv.open(10)
        rig.kv.restore(fresh, rig.kv.import_snapshot(3, rig.kv.export_snapshot(snapshot)))
        same(rig.feed(fresh, [5]), rig.feed(slot, [5]))
    assert half.kv.cross_of(slot, 1)[0].dtype == torch.float16
    assert half.kv.used < 0.6 * full.kv.used
    assert np.isfinite(made[1]).all()


@pytest.mark.parametrize(("bits", "error"), [(8, 1 / 255), (4, 1 / 15)])
@pytest.mark.parametrize("dim", [128, 32, 24])
def test_quantization_errs_by_half_a_step(bits, error, dim):
    x = torch.randn(5, 3, dim, generator=torch.Generator().manual_seed(0)) * 3 + 1
    x[0] = 2.5  # nothing to scale
    codec = QuantizedCodec(dim, torch.float32, bits)
    planes = codec.encode(x)
    assert [p.shape[-1] for p in planes] == [width for width, _ in codec.planes]
    span = (x.amax() - x.amin()).item()
    assert (codec.decode(planes) - x).abs().max().item() <= span * error * 0.51 + 4e-3


def test_halves_know_no_infinity_but_keep_what_is_no_number():
    codec = HalfCodec(4)
    planes = codec.encode(torch.tensor([1e6, -1e6, 0.1, torch.nan]))
    back = codec.decode(planes)
    assert back[:2].tolist() == [65504, -65504]
    assert back[2].item() == pytest.approx(0.1, rel=5e-4)
    assert back[3].isnan()


def test_eight_bits_change_logits_little_and_cost_a_quarter():
    ids = prompt(40)
    plain, half, eight, four = (Rig("full", "full", bits=bits) for bits in (32, 16, 8, 4))
    want = plain.alone(ids)
    errors = [np.abs(rig.alone(ids) - want).mean() / np.abs(want).mean() for rig in (half, eight, four)]
    assert 0 < errors[0] < 5e-4 < errors[1] < 0.01 < errors[2] < 0.15
    assert plain.kv.bytes_for(1) == 2 * half.kv.bytes_for(1)
    assert plain.kv.bytes_for(1) > 3 * eight.kv.bytes_for(1) > 4.5 * four.kv.bytes_for(1)
    with pytest.raises(ValueError, match="not 5"):
        Rig("full", bits=5)
