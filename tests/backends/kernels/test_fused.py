"""The small operations of a decode step, against torch in f64."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from backends.torch.kernels import fused


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(1, 1024), (3, 5, 100), (40, 7)])
def test_norms(tier: str, shape: tuple[int, ...]) -> None:
    x, residual, w = normal(*shape), normal(*shape, seed=1), normal(shape[-1], seed=2)
    want = F.rms_norm(x.double(), shape[-1:], w.double(), 1e-6)
    assert torch.allclose(fused.rms_norm(x, w, 1e-6).double(), want, atol=1e-5)
    total, normed = fused.add_rms_norm(x, residual, w, 1e-6)
    assert torch.equal(total, x + residual)
    want = F.rms_norm(total.double(), shape[-1:], w.double(), 1e-6)
    assert torch.allclose(normed.double(), want, atol=1e-5)


@pytest.mark.parametrize("n", [1, 24, 3072])
def test_the_gate(tier: str, n: int) -> None:
    x = normal(6, 2 * n) * torch.tensor([0.01, 1, 10, 100, 1000, 1])[:, None]
    want = F.silu(x[:, :n].double()) * x[:, n:].double()
    assert torch.allclose(fused.swiglu(x).double(), want, rtol=1e-6, atol=1e-6)
    x[5, 0] = float("nan")
    assert fused.swiglu(x)[5, 0].isnan()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("dim", "v_dim"), [(128, 128), (16, 48), (80, 96)])
@pytest.mark.parametrize("group", [1, 3])
def test_attention_of_one_token_each(tier: str, dtype: torch.dtype, dim: int, v_dim: int, group: int) -> None:
    kv_heads, capacity = 2, 72
    slab_k = normal(5, kv_heads, capacity, dim).to(dtype)
    slab_v = normal(5, kv_heads, capacity, v_dim, seed=1).to(dtype)
    k, v = slab_k[1:4], slab_v[1:4]
    q = normal(3, kv_heads * group, dim, seed=2) * 3
    first, end = torch.tensor([0, 2, 50]), torch.tensor([1, 70, 69])
    slab_k[:, :, 70:] = float("nan")
    assert fused.attends(k, v)
    got = fused.attend(q, k, v, first, end, 0.3)
    for i in range(3):
        mine = slice(int(first[i]), int(end[i]))
        keys, values = (s[i, :, mine].double().repeat_interleave(group, 0) for s in (k, v))
        want = F.scaled_dot_product_attention(q[i, :, None].double(), keys, values, scale=0.3)[:, 0]
        assert torch.allclose(got[i].double(), want, atol=1e-5)


def test_attention_hides_no_nan(tier: str) -> None:
    q, k, v = normal(1, 2, 32), normal(1, 1, 9, 32), normal(1, 1, 9, 32)
    k[0, 0, 4, 3] = float("nan")
    assert fused.attend(q, k, v, torch.tensor([0]), torch.tensor([9]), 1.0).isnan().all()
    assert not fused.attend(q, k, v, torch.tensor([5]), torch.tensor([9]), 1.0).isnan().any()


def test_what_attention_cannot_read_is_known() -> None:
    k = normal(1, 1, 9, 32)
    assert not fused.attends(k[..., :20], k)
    assert not fused.attends(k.transpose(2, 3), k)
    assert not fused.attends(k.to(torch.int8), k)


@pytest.mark.parametrize("n", [1, 16, 37, 70000])
def test_gelu(tier: str, n: int) -> None:
    x = 3 * normal(n)
    x[0] = -60.0
    got = fused.gelu(x).double()
    assert torch.allclose(got, torch.nn.functional.gelu(x.double()), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("rows", "n"), [(1, 7), (3, 64), (40, 1030)])
def test_layer_norm(tier: str, rows: int, n: int) -> None:
    x, w, b = normal(rows, n) * 3 + 1, normal(n, seed=1), normal(n, seed=2)
    want = torch.nn.functional.layer_norm(x.double(), (n,), w.double(), b.double(), 1e-5)
    assert torch.allclose(fused.layer_norm(x, w, b, 1e-5).double(), want, rtol=1e-5, atol=1e-5)


def test_a_token_attends_the_same_however_many_come_with_it(tier: str) -> None:
    q, k, v = normal(50, 4, 32), normal(50, 2, 32, seed=1), normal(50, 2, 32, seed=2)
    whole = fused.attend_recent(q, k, v, 20, 0.2)
    for first, end in ((0, 7), (7, 8), (8, 41), (41, 50)):
        low = max(0, first - 19)
        piece = fused.attend_recent(q[first:end], k[low:end], v[low:end], 20, 0.2)
        assert torch.equal(piece, whole[first:end])
