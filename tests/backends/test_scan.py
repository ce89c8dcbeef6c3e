"""Gated linear attention on both backends against the recurrence as it is written."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest
import torch

from backends.mlx.recurrence import scan
from backends.torch.cache import CHUNK, scan_chunks, scan_step

LENGTHS = (1, 2, 5, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 3)
DK, DV = 8, 6


def recurrence(state: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray, g: np.ndarray) -> tuple:
    """One sequence, one token after the other, in f64; the state is `[heads, key, value]`."""
    state, out = state.astype(np.float64), np.empty(v.shape)
    shared = v.shape[1] // q.shape[1]
    for t in range(len(v)):
        for h in range(v.shape[1]):
            state[h] = state[h] * np.exp(g[t, h]) + np.outer(k[t, h // shared], v[t, h])
            out[t, h] = q[t, h // shared] @ state[h]
    return out, state


def inputs(tokens: int, groups: int, shared: int, harsh: float) -> list[np.ndarray]:
    rng = np.random.default_rng(tokens + 100 * groups + 10 * shared)
    heads = groups * shared
    arrays = (
        rng.normal(size=(heads, DK, DV)),
        *rng.normal(size=(2, tokens, groups, DK)),
        rng.normal(size=(tokens, heads, DV)),
        -rng.exponential(harsh, size=(tokens, heads)),
    )
    return [array.astype(np.float32) for array in arrays]


def on_torch(state: np.ndarray, *arrays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mine = torch.from_numpy(state.copy())
    out = scan_chunks(mine, *map(torch.from_numpy, arrays))
    return out.numpy(), mine.numpy()


def on_mlx(state: np.ndarray, *arrays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    out, last = scan(*(mx.array(array)[None] for array in arrays), state=mx.array(state.swapaxes(1, 2))[None])
    return np.array(out[0]), np.array(last[0]).swapaxes(1, 2)


@pytest.mark.parametrize("harsh", [0.0, 0.1, 30.0])
@pytest.mark.parametrize(("groups", "shared"), [(1, 1), (1, 3), (2, 2)])
@pytest.mark.parametrize("tokens", LENGTHS)
@pytest.mark.parametrize("run", [on_torch, on_mlx])
def test_chunks_are_the_recurrence(run, tokens, groups, shared, harsh):
    state, *arrays = inputs(tokens, groups, shared, harsh)
    want, last = recurrence(state, *arrays)
    got, mine = run(state, *arrays)
    assert np.abs(got - want).max() <= 2e-6 * np.abs(want).max()
    assert np.abs(mine - last).max() <= 2e-6 * np.abs(last).max()


@pytest.mark.parametrize("run", [on_torch, on_mlx])
def test_pieces_are_the_whole(run):
    state, *arrays = inputs(150, 2, 2, 0.3)
    want, last = run(state, *arrays)
    parts = []
    for start, stop in ((0, 7), (7, 100), (100, 150)):
        part, state = run(state, *(array[start:stop] for array in arrays))
        parts.append(part)
    assert np.abs(np.concatenate(parts) - want).max() <= 2e-6 * np.abs(want).max()
    assert np.abs(state - last).max() <= 2e-6 * np.abs(last).max()


def test_a_step_is_a_chunk_of_one():
    """Of several sequences at once, with states that the step may write to."""
    cases = [inputs(1, 2, 2, harsh) for harsh in (0.1, 0.2, 0.5)]
    state, *arrays = (torch.from_numpy(np.stack(column)) for column in zip(*cases))
    new = torch.empty_like(state)
    out = scan_step(new, state, *(array[:, 0] for array in arrays))
    for i, (old, *one) in enumerate(cases):
        want, last = recurrence(old, *one)
        np.testing.assert_allclose(out[i].numpy(), want[0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(new[i].numpy(), last, rtol=1e-4, atol=1e-5)
    assert torch.equal(scan_step(state, state, *(array[:, 0] for array in arrays)), out)
    assert torch.equal(state, new)
