"""torch's sampler against the plain definition, with vocabularies small (all is sorted) and large (a prefix decides)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from backends.base import Sampling
from backends.torch import sample as module
from backends.torch.kernels import library
from backends.torch.sample import PREFIX, sample
from tests.asserting import every
from tests.backends.sampling_reference import choose, processed, random_params

SMALL, LARGE, VAST = 37, 8 * PREFIX, 20_000


@pytest.mark.parametrize("spread", [0.1, 2.0, 6.0])
@pytest.mark.parametrize("vocab", [SMALL, LARGE, VAST])
def test_batches_of_everything_choose_what_the_definition_says(vocab, spread):
    """Flat rows, where the answer is far down the order, and peaked ones."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        params = [random_params(rng, vocab) for _ in range(5)]
        logits = (rng.normal(size=(5, vocab)) * spread).astype(np.float32)
        logits[:, 10:14] = logits[:, 9:10]  # ties
        ids = sample(torch.from_numpy(logits), params).ids
        assert every(id in choices(row, p) for id, row, p in zip(ids.tolist(), logits, params))


def choices(logits, p):
    """What may be chosen: one token with the kernels. torch's own sums round otherwise over a long flat row, so that a filter may
    keep one token more there, and a random number that falls on the border of two may choose either."""
    near = [0.0] if library.available() else [-2e-4, 0.0, 2e-4]
    return {choose(logits, replace(p, noise=p.noise + more)) for more in near}


def test_ties_over_the_prefix_border_fall_to_the_lower_index():
    rng = np.random.default_rng(4)
    logits = rng.integers(0, 3, (6, LARGE)).astype(np.float32)  # hundreds of equals in every row
    params = [
        Sampling(temperature=1.0, noise=0.2),
        Sampling(temperature=1.0, noise=0.9),
        Sampling(temperature=1.0, top_k=7, noise=0.5),
        Sampling(temperature=0.7, top_p=0.5, noise=0.99),
        Sampling(temperature=1.0, min_p=0.5, noise=0.999),
        Sampling(temperature=1.0, top_k=PREFIX * 2, noise=0.99),
    ]
    assert sample(torch.from_numpy(logits), params).ids.tolist() == [choose(r, p) for r, p in zip(logits, params)]
    top = sample(torch.from_numpy(logits), [Sampling(logprobs=5)] * 6).top_ids
    assert top.tolist() == [np.argsort(-row, kind="stable")[:5].tolist() for row in logits]


def test_a_peaked_row_never_sorts_its_vocabulary(monkeypatch):
    sizes = []
    plain = module._in_order
    monkeypatch.setattr(module, "_in_order", lambda x: sizes.append(x.shape[-1]) or plain(x))
    logits = torch.from_numpy(np.random.default_rng(1).normal(size=(3, LARGE)).astype(np.float32) * 6)
    sample(
        logits, [Sampling(temperature=1.0, top_k=50), Sampling(temperature=1.0, top_p=0.9), Sampling(temperature=0.5)]
    )
    assert sizes in ([PREFIX], [])  # the kernels put a prefix in order without sorting


def test_a_row_does_not_depend_on_its_company():
    rng = np.random.default_rng(1)
    params = [random_params(rng, LARGE) for _ in range(6)]
    logits = torch.from_numpy(rng.normal(size=(6, LARGE)).astype(np.float32))
    together = sample(logits, params).ids.tolist()
    assert together == [sample(logits[i : i + 1], [p]).ids.item() for i, p in enumerate(params)]


@pytest.mark.parametrize("vocab", [SMALL, LARGE])
def test_logprobs_are_of_the_processed_logits_before_temperature(vocab):
    rng = np.random.default_rng(2)
    logits = rng.normal(size=(3, vocab)).astype(np.float32)
    params = [Sampling(), Sampling(temperature=2.0, bias={4: 3.0}, logprobs=2), Sampling(logprobs=0)]
    drawn = sample(torch.from_numpy(logits), params)
    assert drawn.logprob_rows == [1, 2]
    for at, row in enumerate(drawn.logprob_rows):
        want = processed(logits[row], params[row])
        want -= np.log(np.exp(want).sum())
        assert drawn.chosen[at].item() == pytest.approx(want[drawn.ids[row].item()], abs=1e-5)
        assert drawn.top_ids[at].tolist() == np.argsort(-want, kind="stable")[:2].tolist()
        np.testing.assert_allclose(drawn.top[at].numpy(), np.sort(want)[::-1][:2], atol=1e-5)


def test_the_largest_noise_stays_within_what_is_kept():
    logits = torch.from_numpy(np.random.default_rng(3).normal(size=(1, 5000)).astype(np.float32))
    for k in (1, 3):
        top = logits[0].topk(k).indices.tolist()
        params = [Sampling(temperature=1.0, top_k=k, noise=float(np.nextafter(np.float32(1), np.float32(0))))]
        assert sample(logits, params).ids.item() in top


@pytest.mark.parametrize("vocab", [SMALL, LARGE])
def test_broken_rows_show_in_the_best_logit_and_harm_no_other(vocab):
    logits = torch.zeros(4, vocab)
    logits[0, 3], logits[1] = torch.nan, -torch.inf
    logits[2, 7] = logits[3, 8] = 5.0
    for params in ([Sampling()] * 4, [Sampling(temperature=1e-6, noise=0.9)] * 4):
        drawn = sample(logits, params)
        assert drawn.best.isfinite().tolist() == [False, False, True, True]
        assert drawn.ids.tolist()[2:] == [7, 8]


def test_half_precision_logits_and_a_short_mask():
    logits = torch.from_numpy(np.random.default_rng(5).normal(size=(2, SMALL)).astype(np.float32)).bfloat16()
    params = [
        Sampling(temperature=0.8, top_p=0.9, noise=0.6, mask=np.ones(SMALL - 5, bool)),
        Sampling(repetition=1.3, repeated=[1, 2, 3]),
    ]
    kept = logits.clone()
    got = sample(logits, params).ids.tolist()
    assert got == [choose(row, p) for row, p in zip(logits.float().numpy(), params)]
    assert torch.equal(kept, logits)
