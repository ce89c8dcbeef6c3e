"""Every format times activations, against f64 products of the same weights and the same (quantized) activations."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from backends.base import Blocks
from backends.torch.kernels import library as kernels
from backends.torch.kernels.library import TIERS, library
from backends.torch.kernels.linear import linear
from tests.backends.kernels.weights_made_here import (
    AFFINE,
    ALL,
    DENSE,
    FP8,
    GGUF,
    Case,
    columns_of,
    make,
    quantized,
    raw,
)

FLOAT = torch.float32
PROMPT = 64  # tokens from which on a matrix unit rounds both sides of a quantized product to bf16


def rounded(x: np.ndarray) -> np.ndarray:
    """To bf16, in f64; what f32 holds without its leading bit is zero for the unit."""
    made = torch.from_numpy(x).bfloat16().double().numpy()
    return np.where(np.abs(x) < np.finfo(np.float32).tiny, 0.0, made)


def check(case: Case, kind: str, x: np.ndarray) -> np.ndarray:
    """Within the rounding of f32 sums: a few units in the last place of the sum of all terms' sizes."""
    got = linear([case.weight], [None], FLOAT)(torch.from_numpy(x)).numpy()
    floats = case.floats.astype(np.float64)
    if kind in DENSE or (kind in FP8 and (kernels.tier() != "amx" or len(x) < PROMPT)):
        seen = x.astype(np.float64)
    elif kernels.tier() == "amx" and len(x) >= PROMPT:
        seen, floats = rounded(x), rounded(case.floats)
    else:
        seen = quantized(x)
    want = seen @ floats.T
    room = np.abs(seen) @ case.size.astype(np.float64).T * 2e-6 + 1e-37
    assert (np.abs(got - want) <= room).all(), np.nanmax(np.abs(got - want) / room)
    return got


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("rows", [1, 7, 16, 50])
def test_products_equal_those_of_the_dequantized_weights(tier: str, kind: str, rows: int) -> None:
    columns = columns_of(kind, 300)
    case = make(kind, rows, columns, seed=rows)
    rng = np.random.default_rng(rows)
    for tokens in (1, 3, 16) if rows != 50 else (64,):
        check(case, kind, rng.standard_normal((tokens, columns)).astype(np.float32))


@pytest.mark.parametrize("kind", ALL)
def test_adversarial_blocks_at_odd_addresses(tier: str, kind: str) -> None:
    columns = columns_of(kind, 512)
    x = np.random.default_rng(1).standard_normal((5, columns)).astype(np.float32)
    x[1] = 0
    x[2] *= 1e-39  # denormal
    x[3, ::40] = 1e4  # outliers
    x[4] = 127  # the largest code everywhere
    for shift in (1, 2):
        check(make(kind, 19, columns, seed=5, hard=True, shift=shift), kind, x)


@pytest.mark.parametrize("tokens", [1, 40])
def test_each_power_that_can_scale_a_block(tier: str, tokens: int) -> None:
    """Alone in its row, since beside a larger one it would not be seen."""
    blocks = np.zeros((255, 17), np.uint8)  # the 256th is no number
    blocks[:, 0] = np.arange(255)
    blocks[:, 1] = 1  # the first weight: a half
    matrix = linear([Blocks(raw(blocks, "U8"), "MXFP4", (255, 32))], [None], FLOAT)
    want = 2.0 ** (np.arange(255) - 128)
    for size in (2.0**-20, 2.0**20):  # the smallest weights are seen with the one, the largest with the other
        got = matrix(torch.full((tokens, 32), size)).double().numpy()
        seen = (want * size > 1e-37) & (want * size < 1e38)
        assert np.allclose(got[:, seen], (want * size)[seen], rtol=2e-6, atol=0)


@pytest.mark.parametrize("kind", ["F32", "BF16", "F16"])
@pytest.mark.parametrize("columns", [1, 3, 31, 33, 65])
def test_rows_that_no_block_divides(tier: str, kind: str, columns: int) -> None:
    check(make(kind, 17, columns), kind, np.random.default_rng(0).standard_normal((3, columns)).astype(np.float32))


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_0", "Q4_K", "Q6_K", "IQ4_NL", "affine-4-64", "BF16"])
def test_a_token_gets_the_same_numbers_alone_and_in_company(tier: str, kind: str) -> None:
    columns = columns_of(kind, 512)
    matrix = linear([make(kind, 40, columns).weight], [None], FLOAT)
    x = torch.from_numpy(np.random.default_rng(3).standard_normal((35, columns)).astype(np.float32))
    alone = torch.cat([matrix(row[None]) for row in x])
    for tokens in (2, 3, 4, 5, 6, 7, 8, 35):
        if kind in DENSE:  # a sum of floats depends on how many sums run at once
            assert torch.allclose(matrix(x[:tokens]), alone[:tokens], atol=1e-4)
        else:
            assert torch.equal(matrix(x[:tokens]), alone[:tokens])


def test_more_tokens_than_fit_into_a_cache_at_once(tier: str) -> None:
    case = make("Q8_0", 20, 4096)
    check(case, "Q8_0", np.random.default_rng(0).standard_normal((150, 4096)).astype(np.float32))


@pytest.mark.parametrize("kind", [*GGUF, *AFFINE])
def test_prompts(tier: str, kind: str) -> None:
    """More columns than are made bf16 at once; rows and tokens that are no whole tiles; blocks as bad as they get."""
    if tier != "amx":
        pytest.skip("other tiers have no arithmetic of their own for prompts")
    rng = np.random.default_rng(8)
    for columns, tokens in ((columns_of(kind, 300), PROMPT), (columns_of(kind, 3400), PROMPT + 5)):
        x = rng.standard_normal((tokens, columns)).astype(np.float32)
        check(make(kind, 50, columns), kind, x)
        x[1], x[2], x[3, ::40] = 0, x[2] * 1e-39, 1e4
        check(make(kind, 19, columns, hard=True, shift=1), kind, x)


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_K", "Q6_K"])
def test_prompts_are_closer_to_floats_than_eight_bits_of_activations(tier: str, kind: str) -> None:
    if tier != "amx":
        pytest.skip("other tiers have no arithmetic of their own for prompts")
    case = make(kind, 64, 1024)
    x = np.random.default_rng(5).standard_normal((PROMPT, 1024)).astype(np.float32)
    want = x.astype(np.float64) @ case.floats.astype(np.float64).T
    matrix = linear([case.weight], [None], FLOAT)
    whole = matrix(torch.from_numpy(x)).numpy() - want
    halves = torch.cat([matrix(torch.from_numpy(x[at : at + 48])) for at in (0, 48)]).numpy() - want
    assert np.linalg.norm(whole) < np.linalg.norm(halves) / 2


def test_a_bias_is_added_to_a_prompt_once(tier: str) -> None:
    case, bias = make("Q8_0", 50, 3392), torch.arange(50.0)
    x = torch.from_numpy(np.random.default_rng(6).standard_normal((PROMPT, 3424)).astype(np.float32))[:, :3392]
    plain, biased = (linear([case.weight], [b], FLOAT)(x) for b in (None, bias))
    assert torch.allclose(biased - plain, bias.expand(PROMPT, 50), atol=1e-3 * float(plain.abs().max()))


@pytest.mark.parametrize("tokens", [4, PROMPT])
@pytest.mark.parametrize("kind", ["Q8_0", "Q4_0", "F32"])
def test_what_is_not_finite_stays_so(tier: str, kind: str, tokens: int) -> None:
    x = torch.ones(tokens, 64)
    x[1, 40], x[2, 3] = float("nan"), float("inf")
    y = linear([make(kind, 20, 64).weight], [None], FLOAT)(x)
    assert torch.isfinite(y[0]).all()
    assert torch.isfinite(y[3:]).all()
    assert not torch.isfinite(y[1:3]).any()


def test_the_tiers_that_this_cpu_has_are_tested() -> None:
    assert library().grus_use_tier(TIERS.index("scalar"))
    library().grus_use_tier(-1)
    assert not library().grus_use_tier(99)


@pytest.mark.parametrize("kind", ["Q2_K", "Q4_K", "Q5_K", "Q6_K", "Q8_0"])
def test_packed_weights_take_as_many_bytes_as_in_the_file(kind: str) -> None:
    """One token's products wait for memory."""
    weight = make(kind, 64, 1024).weight
    assert linear([weight], [None], torch.float32).nbytes == weight.data.nbytes
