"""The runner: sequences in one step are as if each were alone, whatever their lengths, chunks and classes."""

from __future__ import annotations

import numpy as np
import pytest

from backends.base import Sampling, Segment
from tests.backends.torch_toy import VOCAB, WIDTH, Rig, prompt

KINDS = [("full", "window"), ("full", "delta", "delta"), ("full", "scan", "conv")]


def same(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_allclose(a, b, atol=2e-4)


@pytest.mark.parametrize("layers", KINDS)
def test_chunks_are_the_whole(layers):
    rig, ids = Rig(*layers), prompt(150)
    whole = rig.alone(ids)
    for chunks in ((1, 149), (70, 80), (64, 64, 1, 21)):
        same(rig.alone(ids, *chunks), whole)


@pytest.mark.parametrize("layers", KINDS)
def test_a_ragged_batch_is_as_if_each_were_alone(layers):
    rig = Rig(*layers)
    pasts, capacities = [3, 40, 0, 260, 9, 7, 1], [10, 600, 50, 300, 10, 300, 10]
    news = [1, 1, 20, 1, 4, 1, 1]
    slots = [rig.kv.open(n) for n in capacities]
    rig.kv.close(rig.kv.open(10))
    for i, (slot, past) in enumerate(zip(slots, pasts)):
        if past:
            rig.feed(slot, prompt(past + news[i], i)[:past])
    order = [4, 0, 6, 2, 5, 1, 3]
    segments = [Segment(slots[i], prompt(pasts[i] + news[i], i)[pasts[i] :], want=range(news[i])) for i in order]
    got = rig.runner.run(segments).read()
    for i, slot in enumerate(slots):
        assert slot.length == pasts[i] + news[i]
        same(got[slot].logits, rig.alone(prompt(pasts[i] + news[i], i))[pasts[i] :])


@pytest.mark.parametrize("layers", KINDS)
def test_decoding_in_any_company_and_row_order(layers):
    """Rows leave, and the states' order is no longer the packed order."""
    rig = Rig(*layers)
    slots = [rig.kv.open(300 if i % 2 else 10) for i in range(6)]
    for i, slot in enumerate(slots):
        rig.feed(slot, prompt(5 + i, i))
    for gone in (1, 4):
        rig.kv.close(slots[gone])
    alive = [0, 2, 3, 5]
    for step in range(3):
        company = alive if step != 1 else [5, 0]
        rig.runner.run([Segment(slots[i], [step], want=range(1)) for i in company]).read()
    for i in alive:
        fed = [0, 1, 2] if i in (5, 0) else [0, 2]
        same(rig.feed(slots[i], [9]), rig.alone([*prompt(5 + i, i), *fed, 9])[-1:])


def test_the_last_token_may_stay_on_the_device():
    rig = Rig("full", "delta")
    slots = [rig.kv.open(30) for _ in range(3)]
    first = rig.runner.run([Segment(s, prompt(4 + i, i), sample=Sampling()) for i, s in enumerate(slots)]).read()
    late = rig.kv.open(30)
    first |= rig.runner.run([Segment(late, prompt(3, 9), sample=Sampling())]).read()
    everyone = [late, *slots]
    pending = [rig.runner.run([Segment(s, sample=Sampling()) for s in everyone]) for _ in range(4)]
    out = {s: first[s].ids + [p.read()[s].ids[0] for p in pending] for s in everyone}
    for slot, start in zip(everyone, [prompt(3, 9), *(prompt(4 + i, i) for i in range(3))]):
        ids = list(start)
        for token in out[slot]:
            assert int(rig.alone(ids)[-1].argmax()) == token
            ids.append(token)
    with pytest.raises(ValueError, match="give its ids"):
        rig.runner.run([Segment(rig.kv.open(5), sample=Sampling())])


def test_embeddings_and_additions_replace_and_join_ids():
    rig, ids = Rig("full", "delta"), prompt(6)
    want = rig.alone(ids)
    table = rig.model.table.numpy()
    slots = [rig.kv.open(10) for _ in range(4)]
    half = rig.model.table[ids] * 0.5
    got = rig.runner.run(
        [
            Segment(slots[0], embeds=table[ids], want=range(6)),
            Segment(slots[1], embeds=half, add=half.numpy(), want=range(6)),
            Segment(slots[2], ids, want=range(6)),
            Segment(slots[3], ids, add=np.zeros((6, WIDTH)), want=range(5, 6)),
        ]
    ).read()
    for slot in slots[:3]:
        same(got[slot].logits, want)
    same(got[slots[3]].logits, want[5:])
    alone = rig.kv.open(10)
    same(rig.runner.run([Segment(alone, embeds=table[ids], want=range(6))]).read()[alone].logits, want)


def test_positions_may_be_given():
    rig, ids = Rig("full"), prompt(6)
    slot, axes = rig.kv.open(10), rig.kv.open(10)
    pos = np.arange(6) * 2
    got = rig.runner.run(
        [Segment(slot, ids, pos=pos, want=range(6)), Segment(axes, ids, pos=np.stack([pos] * 3), want=range(6))]
    ).read()
    same(got[slot].logits, got[axes].logits)
    assert not np.allclose(got[slot].logits, rig.alone(ids), atol=1e-2)


@pytest.mark.parametrize("layers", KINDS)
@pytest.mark.parametrize("right", [0, 2, 3])
def test_a_draft_gives_what_no_draft_would(layers, right):
    rig, ids = Rig(*layers), prompt(7)
    true = list(ids)
    for _ in range(5):
        true.append(int(rig.alone(true)[-1].argmax()))
    guesses = true[7 + 1 : 7 + 1 + right] + [(true[8 + i] + 1) % VOCAB for i in range(right, 3)]
    slot, other = rig.kv.open(30), rig.kv.open(30)
    rig.feed(slot, ids)
    segments = [
        Segment(slot, [true[7], *guesses], sample=Sampling(logprobs=2), samples=[Sampling(logprobs=2)] * 3, draft=3),
        Segment(other, [1, 2]),
    ]
    got = rig.runner.run(segments).read()
    assert (got[slot].ids, got[slot].accepted) == (true[8 : 9 + right], right)
    assert len(got[slot].logprobs) == len(got[slot].top) == right + 1
    assert slot.length == 8 + right
    assert (got[other].ids, got[other].accepted, other.length) == ([], 0, 2)
    following = rig.runner.run([Segment(slot, sample=Sampling(), want=range(1))]).read()[slot]
    same(following.logits, rig.alone([*true[: 9 + right]])[-1:])


def test_logprobs_and_wanted_logits_come_back_by_slot():
    rig = Rig("full")
    a, b, c = (rig.kv.open(10) for _ in range(3))
    got = rig.runner.run(
        [
            Segment(a, [1, 2, 3], sample=Sampling(), want=range(1, 3)),
            Segment(b, [4], sample=Sampling(logprobs=3)),
            Segment(c, [5, 6], want=range(1)),
        ]
    ).read()
    same(got[a].logits, rig.alone([1, 2, 3])[1:])
    assert got[a].ids == [int(got[a].logits[-1].argmax())]
    assert got[a].logprobs is None
    logits = rig.alone([4])[0]
    logprobs = logits - np.log(np.exp(logits - logits.max()).sum()) - logits.max()
    best = np.argsort(-logits, kind="stable")[:3]
    assert [t for t, _ in got[b].top[0]] == best.tolist()
    np.testing.assert_allclose([p for _, p in got[b].top[0]], logprobs[best], atol=1e-4)
    np.testing.assert_allclose(got[b].logprobs, [logprobs[best[0]]], atol=1e-4)
    assert (got[c].ids, got[c].logits.shape) == ([], (1, VOCAB))


def test_a_bad_step_changes_nothing():
    rig = Rig("full", "delta")
    slot, other = rig.kv.open(10), rig.kv.open(10)
    ids = prompt(5)
    rig.feed(slot, ids)
    for bad in (
        [Segment(slot, [1]), Segment(slot, [2])],
        [Segment(slot, prompt(300))],
        [Segment(slot, [1]), Segment(other, embeds=np.zeros((2, 3)))],
        [Segment(slot, [1]), Segment(other)],
    ):
        with pytest.raises((ValueError, RuntimeError)):
            rig.runner.run(bad)
        assert (slot.length, other.length) == (5, 0)
    same(rig.feed(slot, [7]), rig.alone([*ids, 7])[-1:])


def test_a_step_that_fails_inside_the_model_changes_nothing():
    rig = Rig("full", "delta", "delta")
    slot, ids = rig.kv.open(10), prompt(5)
    rig.feed(slot, ids)
    whole, rig.model.out[2] = rig.model.out[2], rig.model.out[2][:, :3]  # the last layer's product cannot be made
    for tokens in ([1], [1, 2]):
        with pytest.raises(RuntimeError):
            rig.runner.run([Segment(slot, tokens)])
    rig.model.out[2] = whole
    assert slot.length == 5
    same(rig.feed(slot, [7]), rig.alone([*ids, 7])[-1:])


def test_a_frame_model_feeds_itself():
    rig = Rig("full")

    def frame(hidden, ids, params):
        codes = ids[:, None] + rig.backend.ops.arange(3)
        return codes, rig.model.embed(ids) * 2

    rig.model.frame = frame
    rig.runner.frame = frame
    slots = [rig.kv.open(20) for _ in range(2)]
    for i, slot in enumerate(slots):
        token = rig.runner.run([Segment(slot, prompt(4 + i, i), sample=Sampling())]).read()[slot]
        assert token.codes.tolist() == [token.ids[0] + j for j in range(3)]
        slot.first = token.ids[0]
    track = np.ones((1, WIDTH), np.float32)
    got = rig.runner.run([Segment(s, add=track, sample=Sampling(), want=range(1)) for s in slots]).read()
    table = rig.model.table.numpy()
    for i, slot in enumerate(slots):
        other = rig.kv.open(20)
        rig.feed(other, prompt(4 + i, i))
        want = rig.runner.run([Segment(other, embeds=table[[slot.first]] * 2 + track, want=range(1))]).read()[other]
        same(got[slot].logits, want.logits)


def test_warming_leaves_nothing_behind():
    rig = Rig("full", "delta")
    rig.runner.warm()
    assert rig.kv.used == 0
    assert rig.kv.table.slots == []
    rig.kv.budget = 1
    rig.runner.warm()
