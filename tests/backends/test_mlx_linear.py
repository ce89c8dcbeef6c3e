"""Linears on MLX: every way of storing and merging gives the product of the plain matrices."""

import mlx.core as mx
import numpy as np
import pytest

from backends.base import BackendMissing, Blocks
from backends.mlx.linear import SORT_FROM, StackedLinear, make_experts, make_linear
from backends.mlx.primitives import count_primitives
from tests.backends.mlx_tools import affine, dense, raw


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def near(got: mx.array, want: np.ndarray, tolerance: float = 1e-4) -> None:
    assert got.shape == want.shape
    np.testing.assert_allclose(np.array(got.astype(mx.float32)), want, rtol=tolerance, atol=tolerance)


def test_dense_parts_become_one_product(rng):
    a, b, x = rng.normal(size=(5, 64)), rng.normal(size=(3, 64)), rng.normal(size=(4, 64))
    bias = rng.normal(size=3).astype(np.float32)
    w = make_linear([dense(a), dense(b)], [None, raw(bias)], mx.float32)
    assert w.shape == (8, 64)
    near(w(mx.array(x.astype(np.float32))), x @ np.vstack([a, b]).T + np.r_[np.zeros(5), bias])
    near(w.rows(mx.array([[6, 0]])), np.vstack([a, b])[[[6, 0]]])


def test_a_plain_product_is_one_primitive(rng):
    w = make_linear([dense(rng.normal(size=(5, 64)))], [None], mx.float32)
    x = mx.zeros((2, 64))
    mx.eval(x)
    assert count_primitives(w(x)) == 1


@pytest.mark.parametrize("bits", [4, 8])
def test_affine_parts_of_one_kind_are_merged(rng, bits):
    (qa, a), (qb, b) = affine(rng.normal(size=(8, 64)), bits), affine(rng.normal(size=(16, 64)), bits)
    x = rng.normal(size=(3, 64)).astype(np.float32)
    w = make_linear([qa, qb], [None, None], mx.float32)
    assert not isinstance(w, StackedLinear)
    assert w.shape == (24, 64)
    near(w(mx.array(x)), x @ np.vstack([a, b]).T)
    near(w.rows(mx.array([23, 2])), np.vstack([a, b])[[23, 2]])


def test_parts_of_different_kinds_stay_apart(rng):
    (qa, a), (qb, b), c = (
        affine(rng.normal(size=(8, 64)), 4),
        affine(rng.normal(size=(8, 64)), 8),
        rng.normal(size=(2, 64)),
    )
    x = rng.normal(size=(3, 64)).astype(np.float32)
    bias = rng.normal(size=8).astype(np.float32)
    w = make_linear([qa, qb, dense(c)], [None, raw(bias), None], mx.float32)
    assert w.shape == (18, 64)
    near(w(mx.array(x)), x @ np.vstack([a, b, c]).T + np.r_[np.zeros(8), bias, np.zeros(2)])


@pytest.mark.parametrize("scales", [np.float16, np.float32])
def test_half_precision_results_keep_their_dtype(rng, scales):
    q, a = affine(rng.normal(size=(8, 64)), 4, scales=scales)
    x = rng.normal(size=(3, 64)).astype(np.float32)
    w = make_linear([q], [None], mx.bfloat16)
    y = w(mx.array(x).astype(mx.bfloat16))
    assert y.dtype == mx.bfloat16
    assert w.rows(mx.array([1])).dtype == mx.bfloat16
    near(y, x @ a.T, 0.1)


def test_bfloat16_bytes_are_read_as_such(rng):
    a = rng.normal(size=(4, 32)).astype(np.float32)
    from backends.base import Dense

    w = make_linear([Dense(raw(a, bf16=True))], [None], mx.float32)
    near(w.rows(mx.arange(4)), a, 1e-2)


@pytest.mark.parametrize("tokens", [1, 3, SORT_FROM])
@pytest.mark.parametrize("quantized", [False, True])
def test_experts(rng, tokens, quantized):
    experts, k = 4, 2
    plain = rng.normal(size=(experts, 2, 16, 64))  # two matrices an expert, stacked along the output
    parts, value = [], np.zeros((experts, 32, 64))
    for e in range(experts):
        row = []
        for i in range(2):
            w, held = affine(plain[e, i], 8) if quantized else (dense(plain[e, i]), plain[e, i])
            row.append(w)
            value[e, 16 * i : 16 * i + 16] = held
        parts.append(row)
    w = make_experts(parts, mx.float32)
    assert w.shape == (experts, 32, 64)
    chosen = rng.integers(0, experts, (tokens, k))
    x = rng.normal(size=(tokens, 64)).astype(np.float32)
    near(
        w.gather(mx.array(x), mx.array(chosen)),
        np.einsum("tki,tkoi->tko", np.repeat(x[:, None], k, 1), value[chosen]),
        1e-3,
    )
    each = rng.normal(size=(tokens, k, 64)).astype(np.float32)
    near(w.gather(mx.array(each), mx.array(chosen)), np.einsum("tki,tkoi->tko", each, value[chosen]), 1e-3)


def test_experts_that_lie_in_one_tensor(rng):
    a, b = rng.normal(size=(3, 8, 64)), rng.normal(size=(3, 4, 64))
    w = make_experts([[dense(a), dense(b)]], mx.float32)
    x, chosen = rng.normal(size=(2, 64)).astype(np.float32), np.array([[0], [2]])
    near(
        w.gather(mx.array(x), mx.array(chosen)),
        np.einsum("ti,toi->to", x, np.concatenate([a, b], 1)[chosen[:, 0]])[:, None],
    )


def test_gguf_blocks_name_the_tensor_and_the_way_out(rng):
    block = Blocks(raw(np.zeros((2, 34), np.uint8), "blk.0.attn_q.weight"), "Q8_0", (2, 32))
    with pytest.raises(BackendMissing, match=r"blk\.0\.attn_q\.weight.*--backend torch"):
        make_linear([block], [None], mx.float32)
