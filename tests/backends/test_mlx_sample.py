"""The sampler against a plain numpy reading of its definition, one row at a time."""

from dataclasses import replace

import mlx.core as mx
import numpy as np
import pytest

from backends.base import Sampling
from backends.mlx.primitives import primitives
from backends.mlx.sample import WIDE, largest, sample
from tests.backends.sampling_reference import choose, processed, random_params

VOCAB = 37


def test_batches_of_everything_choose_what_the_definition_says():
    rng = np.random.default_rng(0)
    for _ in range(40):
        params = [random_params(rng, VOCAB) for _ in range(5)]
        logits = (rng.normal(size=(5, VOCAB)) * 2).astype(np.float32)
        logits[:, 10:14] = logits[:, 9:10]  # ties
        ids, _ = sample(mx.array(logits), params)
        assert ids.tolist() == [choose(row, p) for row, p in zip(logits, params)]


def test_a_row_does_not_depend_on_its_company():
    rng = np.random.default_rng(1)
    params = [random_params(rng, VOCAB) for _ in range(6)]
    logits = mx.array(rng.normal(size=(6, VOCAB)).astype(np.float32))
    together = sample(logits, params)[0].tolist()
    assert together == [sample(logits[i : i + 1], [p])[0].item() for i, p in enumerate(params)]


def test_logprobs_are_of_the_processed_logits_before_temperature():
    rng = np.random.default_rng(2)
    logits = rng.normal(size=(3, VOCAB)).astype(np.float32)
    params = [Sampling(), Sampling(temperature=2.0, bias={4: 3.0}, logprobs=2), Sampling(logprobs=0)]
    ids, drawn = sample(mx.array(logits), params)
    assert drawn.logprob_rows == [1, 2]
    for at, row in enumerate(drawn.logprob_rows):
        want = processed(logits[row], params[row])
        want -= np.log(np.exp(want).sum())
        assert drawn.chosen[at].item() == pytest.approx(want[ids[row].item()], abs=1e-5)
        assert drawn.top_ids[at].tolist() == np.argsort(-want, kind="stable")[:2].tolist()
        np.testing.assert_allclose(np.array(drawn.top[at]), np.sort(want)[::-1][:2], atol=1e-5)


def test_the_largest_noise_stays_within_what_is_kept():
    logits = mx.array(np.random.default_rng(3).normal(size=(1, 5000)).astype(np.float32))
    for k in (1, 3):
        top = np.argsort(-np.array(logits[0]))[:k]
        ids, _ = sample(logits, [Sampling(temperature=1.0, top_k=k, noise=float(np.nextafter(np.float32(1), 0)))])
        assert ids.item() in top


def test_broken_rows_show_in_the_best_logit_and_harm_no_other():
    logits = np.zeros((4, VOCAB), np.float32)
    logits[0, 3], logits[1] = np.nan, -np.inf
    logits[2, 7] = logits[3, 8] = 5.0
    for params in ([Sampling()] * 4, [Sampling(temperature=1e-6, noise=0.9)] * 4):
        ids, drawn = sample(mx.array(logits), params)
        assert np.isfinite(np.array(drawn.best)).tolist() == [False, False, True, True]
        assert ids.tolist()[2:] == [7, 8]


def test_a_greedy_batch_never_sorts():
    logits = mx.zeros((4, VOCAB), mx.bfloat16)
    mx.eval(logits)
    ids, drawn = sample(logits, [Sampling()] * 4)
    kinds = primitives(ids, *drawn.arrays())
    assert not any("Sort" in kind for kind in kinds)
    assert sum(kinds.values()) <= 5


def test_half_precision_logits():
    logits = mx.array(np.random.default_rng(5).normal(size=(2, VOCAB)).astype(np.float32)).astype(mx.bfloat16)
    params = [Sampling(temperature=0.8, top_p=0.9, noise=0.6), Sampling(repetition=1.3, repeated=[1, 2, 3])]
    wide = np.array(logits.astype(mx.float32))
    assert sample(logits, params)[0].tolist() == [choose(row, p) for row, p in zip(wide, params)]


def test_a_wide_vocabulary_is_not_sorted_for_its_best():
    rng = np.random.default_rng(6)
    vocab = 2 * WIDE
    logits = rng.normal(size=(4, vocab)).astype(np.float32)
    logits[0] = np.round(logits[0])  # ties everywhere, zeros of both signs too
    logits[1, 5:99] = -np.inf
    logits[2, :50] = logits[2].max() + 1
    logits[3] = -np.abs(logits[3])
    for given in (mx.array(logits), mx.array(logits).astype(mx.bfloat16)):
        wide = np.array(given.astype(mx.float32))
        for k in (1, 20, 60):
            want = np.argsort(-wide, axis=-1, kind="stable")[:, :k]
            assert np.array_equal(np.array(largest(given, k)), want)
            params = [random_params(rng, vocab) for _ in range(4)]
            params = [replace(p, temperature=0.9, top_k=k - i if k > i else k) for i, p in enumerate(params)]
            ids, _ = sample(given, params)
            assert ids.tolist() == [choose(row, p) for row, p in zip(wide, params)]
    kinds = primitives(sample(mx.array(logits), [Sampling(temperature=1.0, top_k=20, noise=0.5)] * 4)[0])
    assert "Partition" in str(kinds)
    assert "ArgSort" not in str(kinds)
