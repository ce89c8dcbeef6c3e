"""Steps on MLX: whatever a sequence's company, chunks or history, it gets the logits that it gets alone."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from backends.base import Sampling, Segment
from backends.mlx.kv import MlxKV
from backends.mlx.runner import MlxRunner
from tests.backends.mlx_models import VOCAB, WIDTH, tiny_runner

KINDS = ["aa", "ad", "dad"]
GREEDY = Sampling()


def prompt(length: int, seed: int = 0) -> list[int]:
    return np.random.default_rng(seed).integers(0, VOCAB, length).tolist()


def logits_of(runner: MlxRunner, kv: MlxKV, ids: list[int]) -> np.ndarray:
    """Of every position, in one run in a slot of its own."""
    slot = kv.open(len(ids))
    tokens = runner.run([Segment(slot, ids=ids, want=range(len(ids)))]).read()
    kv.close(slot)
    return tokens[slot].logits


def greedy(runner: MlxRunner, kv: MlxKV, ids: list[int], count: int) -> list[int]:
    slot = kv.open(len(ids) + count)
    out = runner.run([Segment(slot, ids=ids, sample=GREEDY)]).read()[slot].ids
    while len(out) < count:
        out += runner.run([Segment(slot, sample=GREEDY)]).read()[slot].ids
    kv.close(slot)
    return out


@pytest.mark.parametrize("layers", KINDS)
def test_chunks_and_single_tokens_equal_one_run(layers):
    runner, kv = tiny_runner(layers)
    ids = prompt(23)
    want = logits_of(runner, kv, ids)
    slot = kv.open(23)
    chunks = (ids[:7], ids[7:8], ids[8:20], *([t] for t in ids[20:]))
    got = [runner.run([Segment(slot, ids=c, want=range(len(c)))]).read()[slot].logits for c in chunks]
    np.testing.assert_allclose(np.concatenate(got), want, atol=1e-4)
    assert slot.length == 23


@pytest.mark.parametrize("layers", KINDS)
@pytest.mark.parametrize("bits", [32, 16, 8])
def test_a_ragged_batch_equals_solo_runs(layers, bits):
    runner, kv = tiny_runner(layers, bits=bits)
    prompts = [prompt(n, seed=n) for n in (3, 17, 1, 9)]
    want = [greedy(runner, kv, ids, 8) for ids in prompts]
    assert len({tuple(ids) for ids in want}) == 4
    assert len({token for ids in want for token in ids}) > 5
    slots = [kv.open(40) for _ in prompts]
    out = runner.run([Segment(s, ids=ids, sample=GREEDY) for s, ids in zip(slots, prompts)]).read()
    got = {s: out[s].ids for s in slots}
    for _ in range(7):
        for slot, token in runner.run([Segment(s, sample=GREEDY) for s in slots[::-1]]).read().items():
            got[slot] += token.ids
    assert [got[s] for s in slots] == want


@pytest.mark.parametrize("layers", KINDS)
def test_joining_leaving_growing_and_pausing_change_nothing(layers):
    runner, kv = tiny_runner(layers)
    long, short, late = prompt(250, 1), prompt(4, 2), prompt(6, 3)
    want = [greedy(runner, kv, ids, 12) for ids in (long, short, late)]
    slots = [kv.open(256), kv.open(20)]
    others = [kv.open(5) for _ in range(7)]  # rows in between, and holes when they leave
    got = [runner.run([Segment(s, ids=ids, sample=GREEDY)]).read()[s].ids for s, ids in zip(slots, (long, short))]
    kv.close(others[0])
    for step in range(11):
        if step == 3:
            kv.close(others[3])
            slots.append(kv.open(30))
        if slots[0].length == slots[0].capacity:
            assert kv.grow(slots[0], slots[0].length + 1)
        segments = [Segment(s, sample=GREEDY) for s in slots[:2] if not (s is slots[1] and step == 5)]
        if step == 3:
            segments.append(Segment(slots[2], ids=late, sample=GREEDY))
        elif step > 3:
            segments.append(Segment(slots[2], sample=GREEDY))
        out = runner.run(segments).read()
        if step == 3:
            got.append([])
        for i, slot in enumerate(slots):
            got[i] += out[slot].ids if slot in out else []
    assert slots[0].capacity == 512
    for have, ids in zip(got, want):
        assert have == ids[: len(have)]
        assert len(have) >= 8


def test_a_step_issued_before_the_last_was_read():
    runner, kv = tiny_runner("ad")
    ids = prompt(5)
    want = greedy(runner, kv, ids, 6)
    slot = kv.open(20)
    pendings = [runner.run([Segment(slot, ids=ids, sample=GREEDY)])]
    pendings += [runner.run([Segment(slot, sample=GREEDY)]) for _ in range(5)]
    assert [t for p in pendings for t in p.read()[slot].ids] == want


def test_windows_forget_what_lies_further_back():
    ids = prompt(30)
    runner, kv = tiny_runner("a", window=8)
    want = logits_of(runner, kv, ids)
    np.testing.assert_allclose(
        logits_of(runner, kv, ids[12:])[-1], logits_of(*tiny_runner("a", window=8), ids)[-1], atol=1e-4
    )
    slots = [kv.open(40), kv.open(40)]
    for slot, start in zip(slots, (20, 25)):
        runner.run([Segment(slot, ids=ids[:start])]).read()
    for step in range(5):
        out = runner.run([Segment(s, ids=[ids[s.length]], want=range(1)) for s in slots]).read()
        for slot in slots:
            np.testing.assert_allclose(out[slot].logits[0], want[slot.length - 1], atol=1e-4, err_msg=str(step))


@pytest.mark.parametrize("layers", KINDS)
def test_accepted_drafts_equal_steps_without_them(layers):
    runner, kv = tiny_runner(layers)
    ids = prompt(6)
    want = greedy(runner, kv, ids, 10)
    slot = kv.open(40)
    got = runner.run([Segment(slot, ids=ids, sample=GREEDY)]).read()[slot].ids
    while len(got) < 10:
        guesses = want[len(got) : len(got) + 3]
        if len(guesses) == 3 and len(got) % 2:
            guesses[2] = (guesses[2] + 1) % VOCAB
        fed = [got[-1], *guesses]
        token = runner.run(
            [Segment(slot, ids=fed, draft=len(guesses), samples=[GREEDY] * len(guesses), sample=GREEDY)]
        ).read()[slot]
        got += token.ids
        assert slot.length == len(ids) + len(got) - 1
    assert got[:10] == want[:10]


def test_embeddings_additions_and_positions():
    runner, kv = tiny_runner("aa")
    ids = prompt(6)
    want = logits_of(runner, kv, ids)
    table = np.array(runner._model.embedding)
    slot = kv.open(10)
    runner.run([Segment(slot, ids=ids[:2])]).read()
    extra = np.full((1, WIDTH), 0.25, np.float32)
    segments = [
        Segment(slot, embeds=table[ids[2:5]]),
        Segment(slot, embeds=table[[ids[5]]] - extra, add=extra, want=range(1)),
    ]
    for segment in segments:
        out = runner.run([segment]).read()
    np.testing.assert_allclose(out[slot].logits[0], want[-1], atol=1e-4)
    shifted = kv.open(10)  # rotary attention only knows differences of positions
    got = runner.run([Segment(shifted, ids=ids, pos=np.arange(6) + 40, want=range(6))]).read()[shifted].logits
    np.testing.assert_allclose(got, want, atol=1e-3)


def test_frames_feed_the_next_step():
    runner, kv = tiny_runner("aa")
    model = runner._model
    model.frame = lambda hidden, ids, params: (mx.stack([ids, ids + 1], 1), model.embed((ids + 5) % VOCAB))
    slot, plain = kv.open(20), kv.open(20)
    token = runner.run([Segment(slot, ids=[1, 2, 3], sample=GREEDY)]).read()[slot]
    assert token.codes.tolist() == [token.ids[0], token.ids[0] + 1]
    second = runner.run([Segment(slot, want=range(1), sample=GREEDY)]).read()[slot]
    same = runner.run([Segment(plain, ids=[1, 2, 3, (token.ids[0] + 5) % VOCAB], want=range(3, 4))]).read()[plain]
    np.testing.assert_allclose(second.logits, same.logits, atol=1e-4)


def test_logprobs_and_masks_come_with_the_token():
    runner, kv = tiny_runner("aa")
    mask = np.zeros(VOCAB, bool)
    mask[[4, 9]] = True
    slot, other = kv.open(9), kv.open(9)
    out = runner.run(
        [Segment(slot, ids=[1, 2], sample=Sampling(mask=mask, logprobs=2)), Segment(other, ids=[1], sample=GREEDY)]
    )
    token = out.read()[slot]
    assert token.ids[0] in (4, 9)
    assert {i for i, _ in token.top[0]} == {4, 9}
    assert token.logprobs[0] == pytest.approx(token.top[0][0][1])
    assert sum(np.exp(value) for _, value in token.top[0]) == pytest.approx(1, abs=1e-5)
    assert out.read()[other].logprobs is None


def test_nan_is_told_and_does_not_stay():
    runner, kv = tiny_runner("aa")
    ids = prompt(5)
    want = greedy(runner, kv, ids, 3)
    bad, good = kv.open(20), kv.open(20)
    runner.run([Segment(good, ids=ids, sample=GREEDY)]).read()
    token = runner.run([Segment(bad, embeds=np.full((9, WIDTH), np.nan, np.float32), sample=GREEDY)]).read()[bad]
    assert token.nan
    assert token.ids == []
    kv.close(bad)
    fresh = kv.open(20)
    first = runner.run([Segment(fresh, ids=ids[:2], sample=GREEDY)]).read()[fresh]
    assert not first.nan
    out = runner.run([Segment(s, sample=GREEDY) for s in (good, fresh)]).read()
    assert not out[fresh].nan
    assert out[good].ids == want[1:2]


def test_half_precision_stays_half():
    runner, kv = tiny_runner("ad", dtype="bf16")
    slot = kv.open(10)
    runner.run([Segment(slot, ids=[1, 2, 3], sample=GREEDY)]).read()
    runner.run([Segment(slot, sample=GREEDY)]).read()
    assert {a.dtype for s in kv.slabs.values() for a in s.arrays()} == {mx.bfloat16}
    assert {a.dtype for a in kv.states.arrays()} == {mx.bfloat16, mx.float32}


@pytest.mark.parametrize("bits", [16, 8, 4])
def test_quantized_keys_and_values_stay_near(bits):
    ids = prompt(20)
    want = logits_of(*tiny_runner("aa"), ids)
    runner, kv = tiny_runner("aa", bits=bits)
    slot = kv.open(20)
    chunks = (ids[:10], *([t] for t in ids[10:]))
    got = [runner.run([Segment(slot, ids=c, want=range(len(c)))]).read()[slot].logits for c in chunks]
    error = np.abs(np.concatenate(got) - want).max() / np.abs(want).max()
    assert 0 < error < {16: 2e-3, 8: 0.02, 4: 0.3}[bits]
    assert kv.used <= tiny_runner("aa")[1].bytes_for(20) * (bits + (bits < 16) * 6) / 32


def test_warming_leaves_no_trace():
    runner, kv = tiny_runner("ad")
    runner.warm()
    assert kv.used == 0
    assert not kv.slabs


def test_a_sequence_without_a_token_cannot_go_on():
    runner, kv = tiny_runner("aa")
    slot = kv.open(9)
    with pytest.raises(ValueError, match="no sampled token"):
        runner.run([Segment(slot, sample=GREEDY)])
    assert slot.length == 0


@pytest.mark.parametrize("layers", KINDS)
@pytest.mark.parametrize("where", ["while building", "while issuing"])
def test_a_step_that_fails_can_be_run_again(layers, where, monkeypatch):
    runner, kv = tiny_runner(layers)
    ids = prompt(5)
    want = greedy(runner, kv, ids, 6)
    slot, fresh = kv.open(20), kv.open(20)
    got = runner.run([Segment(slot, ids=ids, sample=GREEDY)]).read()[slot].ids
    got += runner.run([Segment(slot, sample=GREEDY)]).read()[slot].ids

    def fail(*_):
        raise MemoryError("no room")

    segments = [Segment(slot, sample=GREEDY), Segment(fresh, ids=ids, sample=GREEDY)]
    with monkeypatch.context() as patched:
        patched.setattr(*((runner._model, "logits") if where == "while building" else (mx, "async_eval")), fail)
        with pytest.raises(MemoryError):
            runner.run(segments)
    assert (slot.length, fresh.length) == (6, 0)
    out = runner.run(segments).read()
    got += out[slot].ids
    assert out[fresh].ids == want[:1]
    while len(got) < 6:
        got += runner.run([Segment(slot, sample=GREEDY)]).read()[slot].ids
    assert got == want
