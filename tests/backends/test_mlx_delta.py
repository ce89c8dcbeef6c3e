"""The delta rule in chunks against the recurrence as it is written down."""

import mlx.core as mx
import numpy as np
import pytest

from backends.mlx import recurrence as delta
from backends.mlx.primitives import count_primitives
from backends.mlx.recurrence import CHUNK, by_kernel, delta_rule, has_kernel, scan, scan_of_one


def recurrence(q, k, v, g, beta, state):
    state, out = state.astype(np.float64).copy(), np.zeros(v.shape)
    batch, length, heads = v.shape[:3]
    group = heads // q.shape[2]
    for b in range(batch):
        for t in range(length):
            for h in range(heads):
                key, s = k[b, t, h // group], state[b, h] * np.exp(g[b, t, h])
                s = s + np.outer((v[b, t, h] - s @ key) * beta[b, t, h], key)
                out[b, t, h], state[b, h] = s @ q[b, t, h // group], s
    return out, state


def inputs(batch, length, seed=0, same_keys=False):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, batch, length, 2, 8))
    if same_keys:
        k[:] = k[:, :1]
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    v, state = rng.normal(size=(batch, length, 4, 6)), rng.normal(size=(batch, 4, 6, 8))
    g, beta = -rng.random((batch, length, 4)), rng.random((batch, length, 4))
    if same_keys:
        g, beta = g * 1e-3, np.ones_like(beta)
    return [x.astype(np.float32) for x in (q, k, v, g, beta, state)]


@pytest.mark.parametrize(("batch", "length"), [(3, 1), (1, 2), (2, 5), (1, CHUNK), (1, CHUNK + 1), (2, 2 * CHUNK + 9)])
def test_chunks_equal_the_recurrence(batch, length):
    arrays = inputs(batch, length)
    out, state = delta_rule(*map(mx.array, arrays), kernel=False)
    want, want_state = recurrence(*arrays)
    np.testing.assert_allclose(np.array(out), want, atol=2e-5)
    np.testing.assert_allclose(np.array(state), want_state, atol=2e-5)


def test_equal_keys_and_full_strength_stay_exact():
    arrays = inputs(1, CHUNK, same_keys=True)
    out, state = delta_rule(*map(mx.array, arrays), kernel=False)
    want, want_state = recurrence(*arrays)
    np.testing.assert_allclose(np.array(out), want, atol=2e-4)
    np.testing.assert_allclose(np.array(state), want_state, atol=2e-4)


def test_a_strong_decay_neither_overflows_nor_underflows_to_nan():
    q, k, v, g, beta, state = inputs(1, CHUNK)
    g = g * 200
    out, last = delta_rule(*map(mx.array, (q, k, v, g, beta, state)), kernel=False)
    want, want_state = recurrence(q, k, v, g, beta, state)
    np.testing.assert_allclose(np.array(out), want, atol=2e-5)
    np.testing.assert_allclose(np.array(last), want_state, atol=2e-5)


def test_two_runs_equal_one():
    q, k, v, g, beta, state = map(mx.array, inputs(2, 50))
    whole, end = delta_rule(q, k, v, g, beta, state, kernel=False)
    first, middle = delta_rule(*(x[:, :13] for x in (q, k, v, g, beta)), state, kernel=False)
    second, last = delta_rule(*(x[:, 13:] for x in (q, k, v, g, beta)), middle, kernel=False)
    np.testing.assert_allclose(np.array(mx.concatenate([first, second], 1)), np.array(whole), atol=2e-5)
    np.testing.assert_allclose(np.array(last), np.array(end), atol=2e-5)


def test_the_kernels_call_means_the_same():
    rng = np.random.default_rng(4)
    q, k = (
        (rng.normal(size=(2, 7, 1, 32)) * 0.2).astype(np.float32),
        (rng.normal(size=(2, 7, 1, 32)) * 0.2).astype(np.float32),
    )
    v, state = rng.normal(size=(2, 7, 2, 32)).astype(np.float32), rng.normal(size=(2, 2, 32, 32)).astype(np.float32)
    g, beta = -rng.random((2, 7, 2)).astype(np.float32), rng.random((2, 7, 2)).astype(np.float32)
    arrays = [mx.array(x) for x in (q, k, v, g, beta, state)]
    for got, want in zip(by_kernel(*arrays), delta_rule(*arrays, kernel=False), strict=True):
        np.testing.assert_allclose(np.array(got), np.array(want), atol=2e-5)


def test_a_call_that_would_be_unrolled_is_not_taken_for_a_kernel():
    assert not has_kernel(16, 128, 32, 128)  # this device has none


def test_a_kernel_is_used_where_there_is_one(monkeypatch):
    monkeypatch.setattr(delta, "has_kernel", lambda *shape: shape == (2, 8, 4, 6))
    arrays = [mx.array(x) for x in inputs(1, 20)]
    used = count_primitives(*delta_rule(*arrays, kernel=True))
    unrolled = count_primitives(*by_kernel(*arrays))
    assert used == unrolled
    assert count_primitives(*delta_rule(*arrays, kernel=False)) < unrolled


def test_the_graph_grows_with_chunks_not_with_tokens():
    def size(length: int) -> int:
        arrays = [mx.array(x) for x in inputs(1, length)]
        mx.eval(arrays)
        return count_primitives(*delta_rule(*arrays, kernel=False))

    assert size(CHUNK) - size(CHUNK // 2) <= 6
    assert size(2 * CHUNK) - size(CHUNK) <= 30


def test_half_precision_in_f32_state_out():
    q, k, v, g, beta, state = map(mx.array, inputs(1, 9))
    out, last = delta_rule(
        *(x.astype(mx.bfloat16) for x in (q, k, v)), g, beta.astype(mx.bfloat16), state, kernel=False
    )
    assert out.dtype == mx.bfloat16
    assert last.dtype == mx.float32


def test_a_scan_of_one_token_is_that_of_many():
    rng = np.random.default_rng(4)

    def normal(*shape):
        return mx.array(rng.normal(size=shape).astype(np.float32))

    q, k, v, g = normal(3, 5, 2, 16), normal(3, 5, 2, 16), normal(3, 5, 6, 8), -mx.abs(normal(3, 5, 6))
    state = normal(3, 6, 8, 16)
    want, end = scan(q, k, v, g, state)
    outs = []
    for i in range(5):
        out, state = scan_of_one(*(x[:, i] for x in (q, k, v, g)), state=state)
        outs.append(out)
    np.testing.assert_allclose(np.array(mx.stack(outs, 1)), np.array(want), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(np.array(state), np.array(end), rtol=1e-4, atol=1e-4)
    one = [x[:, :1] for x in (q, k, v, g)]
    assert (
        count_primitives(*scan(*one, state))
        < count_primitives(*scan(q[:, :2], k[:, :2], v[:, :2], g[:, :2], state)) / 2
    )
