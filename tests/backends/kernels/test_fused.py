"""The small operations of a decode step, against torch in f64."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from backends.torch.kernels import fused
from backends.torch.program import Opcode, Program, ProgramOp


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


@pytest.mark.parametrize("n", [1, 24, 3072])
def test_the_gate_by_gelu(tier: str, n: int) -> None:
    """An instruction of a program; operation by operation torch computes it."""
    x = normal(6, 2 * n) * torch.tensor([0.01, 1, 10, 100, 1e15, 1])[:, None]
    program = Program([ProgramOp(Opcode.GEGLU, [0], [1])], [2 * n, n], 1, [])

    def gated(x: torch.Tensor) -> torch.Tensor:
        return program.run(x, np.array([[0, len(x), 0, 256, 0]]), np.zeros((1, 1, 4), np.int64), []).clone()

    want = F.gelu(x[:, :n].double(), approximate="tanh") * x[:, n:].double()
    assert torch.allclose(gated(x).double(), want, rtol=2e-6, atol=1e-6)
    x[5, 0] = float("nan")
    assert gated(x)[5, 0].isnan()


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
    whole = fused.attend_window(q, k, v, 20, 0.2)
    for first, end in ((0, 7), (7, 8), (8, 41), (41, 50)):
        low = max(0, first - 19)
        piece = fused.attend_window(q[first:end], k[low:end], v[low:end], 20, 0.2)
        assert torch.equal(piece, whole[first:end])
