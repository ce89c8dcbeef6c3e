"""The delta rule's fast forms against the recurrence as it is written."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.torch.delta import CHUNK, scan, step


def recurrence(state, q, k, v, g, beta):
    """One sequence, one token after the other, in f64."""
    state, out = state.astype(np.float64), np.empty(v.shape)
    shared = v.shape[1] // q.shape[1]
    for t in range(len(v)):
        for h in range(v.shape[1]):
            key, query = k[t, h // shared].astype(np.float64), q[t, h // shared].astype(np.float64)
            s = state[h] * np.exp(g[t, h])
            s = s + np.outer(key, (v[t, h] - key @ s) * beta[t, h])
            state[h], out[t, h] = s, query @ s
    return out, state


def inputs(rng, tokens, key_heads, shared, dk, dv, harsh=1.0):
    heads = key_heads * shared
    q, k = rng.normal(size=(2, tokens, key_heads, dk))
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    return [
        x.astype(np.float32)
        for x in (
            q / dk,
            k,
            rng.normal(size=(tokens, heads, dv)),
            -rng.exponential(harsh, size=(tokens, heads)),
            rng.random((tokens, heads)),
        )
    ]


def tensors(arrays):
    return [torch.from_numpy(a.copy()) for a in arrays]


@settings(max_examples=25, deadline=None)
@given(
    tokens=st.sampled_from([1, 2, 5, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 3]),
    key_heads=st.integers(1, 2),
    shared=st.integers(1, 3),
    dk=st.sampled_from([1, 4, 16]),
    dv=st.sampled_from([1, 8]),
    harsh=st.sampled_from([0.0, 0.1, 30.0]),
    seed=st.integers(0, 99),
)
def test_chunks_are_the_recurrence(tokens, key_heads, shared, dk, dv, harsh, seed):
    rng = np.random.default_rng(seed)
    arrays = inputs(rng, tokens, key_heads, shared, dk, dv, harsh)
    state = rng.normal(size=(key_heads * shared, dk, dv)).astype(np.float32)
    want, last = recurrence(state, *arrays)
    mine = torch.from_numpy(state.copy())
    got = scan(mine, *tensors(arrays))
    np.testing.assert_allclose(got.numpy(), want, atol=2e-4, rtol=2e-4)
    np.testing.assert_allclose(mine.numpy(), last, atol=2e-4, rtol=2e-4)


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("shared", [1, 2])
def test_a_step_advances_every_sequence_by_one_token(shared, in_place):
    rng = np.random.default_rng(1)
    arrays = inputs(rng, 3, 2, shared, 8, 4)
    state = rng.normal(size=(3, 2 * shared, 8, 4)).astype(np.float32)
    mine = torch.from_numpy(state.copy())
    new = mine if in_place else torch.empty_like(mine)
    got = step(new, mine, *tensors(arrays))
    for b in range(3):
        want, last = recurrence(state[b], *(a[b : b + 1] for a in arrays))
        np.testing.assert_allclose(got[b : b + 1].numpy(), want, atol=1e-5)
        np.testing.assert_allclose(new[b].numpy(), last, atol=1e-5)


def test_chunks_of_a_prompt_are_the_whole_prompt():
    arrays = inputs(np.random.default_rng(2), 150, 1, 2, 8, 8)
    whole, parts = torch.zeros(2, 8, 8), torch.zeros(2, 8, 8)
    want = scan(whole, *tensors(arrays))
    got = torch.cat([scan(parts, *tensors([a[i:j] for a in arrays])) for i, j in ((0, 7), (7, 100), (100, 150))])
    torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(parts, whole, atol=1e-5, rtol=1e-5)
