"""What a model sees: merged parts of several types, biases, dtypes, mixtures of experts."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from backends.base import BackendMissing, Blocks, Dense
from backends.torch.kernels.linear import experts, linear, takes
from tests.backends.kernels.weights_made_here import make, quantized, raw

FLOAT = torch.float32


def close(got: torch.Tensor, want: np.ndarray) -> bool:
    return bool(np.allclose(got.float().numpy(), want, atol=2e-5 * np.abs(want).max()))


@pytest.mark.parametrize("kinds", [["Q4_K", "Q4_K", "Q6_K"], ["Q4_0", "BF16", "Q4_0"], ["Q8_0", "Q8_0", "Q8_0"]])
def test_parts_of_one_input_stand_side_by_side(kinds: list[str]) -> None:
    cases = [make(kind, rows, 256, seed=rows) for kind, rows in zip(kinds, (24, 5, 9))]
    bias = torch.arange(9.0)
    matrix = linear([c.weight for c in cases], [None, None, bias], FLOAT)
    assert matrix.shape == (38, 256)
    x = np.random.default_rng(0).standard_normal((2, 3, 256)).astype(np.float32)
    flat = x.reshape(6, 256)
    seen = [flat.astype(np.float64) if kind == "BF16" else quantized(flat) for kind in kinds]
    want = np.concatenate([s @ c.floats.T.astype(np.float64) for s, c in zip(seen, cases)], -1)
    want[:, 29:] += bias.numpy()
    got = matrix(torch.from_numpy(x))
    assert got.shape == (2, 3, 38)
    assert close(got.view(6, 38), want)
    rows = matrix.rows(torch.tensor([37, 0, 25])).numpy()
    assert np.array_equal(rows, np.concatenate([c.floats for c in cases])[[37, 0, 25]])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_results_have_the_compute_dtype(dtype: torch.dtype) -> None:
    matrix = linear([make("Q8_0", 8, 64).weight], [None], dtype)
    assert matrix(torch.ones(2, 64, dtype=dtype)).dtype == dtype
    assert matrix.rows(torch.tensor([1])).dtype == dtype


def test_inputs_may_lie_anyhow() -> None:
    matrix = linear([make("Q4_0", 8, 64).weight], [None], FLOAT)
    x = torch.randn(64, 6, generator=torch.Generator().manual_seed(0))
    assert torch.equal(matrix(x.t()), matrix(x.t().contiguous()))
    assert torch.equal(matrix(x.t()[::2]), matrix(x.t())[::2])
    assert matrix(torch.empty(0, 64)).shape == (0, 8)
    with pytest.raises(ValueError, match="64"):
        matrix(torch.ones(2, 32))


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("kind", ["Q4_K", "F32"])
@pytest.mark.parametrize("each", [False, True])
def test_experts_multiply_the_tokens_that_chose_them(merged: bool, kind: str, each: bool) -> None:
    cases = [make(kind, 20, 256, seed=s) for s in range(4)]
    if merged:
        data = np.concatenate([np.frombuffer(c.weight.data.buffer, np.uint8) for c in cases])
        whole = raw(data, kind if kind == "F32" else "U8", (4, 20, 256))
        mixture = experts([[Dense(whole) if kind == "F32" else Blocks(whole, kind, (4, 20, 256))]], FLOAT)
    else:
        mixture = experts([[c.weight] for c in cases], FLOAT)
    assert mixture.shape == (4, 20, 256)
    rng = np.random.default_rng(0)
    chosen = np.array([[0, 3], [3, 1], [3, 0], [1, 3], [3, 1]])  # nobody chose 2
    x = rng.standard_normal((5, 2, 256) if each else (5, 256)).astype(np.float32)
    got = mixture.gather(torch.from_numpy(x), torch.from_numpy(chosen))
    assert got.shape == (5, 2, 20)
    spread = x if each else np.repeat(x[:, None], 2, 1)
    seen = spread.reshape(10, 256).astype(np.float64) if kind == "F32" else quantized(spread.reshape(10, 256))
    want = np.stack([s @ cases[e].floats.T.astype(np.float64) for s, e in zip(seen, chosen.ravel())])
    assert close(got.view(10, 20), want)
    with pytest.raises(IndexError):
        mixture.gather(torch.from_numpy(x), torch.full((5, 2), 4))


def test_what_the_kernels_cannot_hold_is_told() -> None:
    assert takes([make("Q4_K", 4, 256).weight, make("affine-4-64", 4, 256).weight])
    strange = Blocks(raw(np.zeros((4, 66), np.uint8), "U8"), "Q8_K", (4, 256))
    assert not takes([strange])
    with pytest.raises(BackendMissing, match="cannot hold"):
        linear([strange], [None], FLOAT)


def test_a_weight_with_too_few_bytes_is_not_read() -> None:
    short = Blocks(raw(np.zeros((4, 30), np.uint8), "U8"), "Q8_0", (4, 32))
    with pytest.raises(BackendMissing, match="needs 136"):
        linear([short], [None], FLOAT)
