"""The Triton kernels in Triton's interpreter, which needs no GPU: every type's values to the bit, and products of any size."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import replace

import numpy as np
import pytest
import torch

from backends.base import Blocks

if importlib.util.find_spec("triton") is None:
    pytest.skip("triton is not installed (it comes with torch for CUDA)", allow_module_level=True)
os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported
from backends.torch.linear import _merged
from backends.torch.triton.blocks import BlockMatrix, StoredBlocks
from backends.torch.triton.kernels import BLOCKS, FEW
from engine.weights.gguf.types import TYPES
from tests.backends.kernels.weights_made_here import Case, columns_of, make, raw


def matrix_of(case: Case, dtype: torch.dtype = torch.float32) -> BlockMatrix:
    weight = case.weight
    assert isinstance(weight, Blocks)
    return BlockMatrix(StoredBlocks.of(weight), dtype)


def test_the_types_are_those_that_files_may_have() -> None:
    assert {kind: (t.weights, t.nbytes) for kind, t in TYPES.items() if t.weights > 1} == BLOCKS


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("kind", BLOCKS)
def test_rows_are_the_references_bit_for_bit(kind: str, hard: bool) -> None:
    case = make(kind, 5, columns_of(kind, 300), seed=1, hard=hard)
    ids = torch.tensor([4, 0, 2, 2])
    with np.errstate(over="ignore", invalid="ignore"):
        got = matrix_of(case).rows(ids).numpy()
    assert np.array_equal(got, case.floats[[4, 0, 2, 2]])


@pytest.mark.parametrize("tokens", [1, 3, FEW + 1])
@pytest.mark.parametrize("kind", ["Q8_0", "Q4_K", "Q1_0"])
def test_products(kind: str, tokens: int) -> None:
    case = make(kind, 9, columns_of(kind, 300), seed=2)
    x = torch.randn(tokens, case.floats.shape[1], generator=torch.Generator().manual_seed(3))
    bias = torch.arange(9.0)
    got = matrix_of(case).product(x, bias).numpy()
    want = x.double().numpy() @ case.floats.astype(np.float64).T + bias.numpy()
    room = np.abs(x.double().numpy()) @ case.size.astype(np.float64).T * 2e-6
    assert (np.abs(got - want) <= room + 1e-6).all()


def test_products_of_a_part_of_a_wider_output() -> None:
    case = make("Q4_0", 12, 64)
    out = torch.zeros(2, 30)
    matrix_of(case).product_into(torch.ones(2, 64), None, out[:, 10:22])
    assert np.allclose(out[:, 10:22].numpy(), case.floats.sum(1), atol=1e-3)
    assert not out[:, :10].any()
    assert not out[:, 22:].any()


def test_parts_of_one_type_become_one_matrix() -> None:
    cases = [make("Q4_0", rows, 64, seed=rows) for rows in (4, 6)]
    merged = _merged([matrix_of(case) for case in cases], [None, torch.arange(6.0)])
    (whole,) = merged.parts
    assert isinstance(whole, BlockMatrix)
    want = np.concatenate([case.floats for case in cases])
    assert np.array_equal(whole.rows(torch.arange(10)).numpy(), want)
    bias = np.concatenate([np.zeros(4), np.arange(6)])
    assert np.allclose(merged(torch.ones(1, 64)).numpy()[0], want.sum(1) + bias, atol=1e-3)
    mixed = _merged([matrix_of(cases[0]), matrix_of(make("Q8_0", 3, 64))], [None, None])
    assert len(mixed.parts) == 2


def test_factors_of_whole_matrices() -> None:
    """NVFP4 may have one: of each part of a merged matrix, and of each expert."""
    cases = [make("NVFP4", rows, 64, seed=rows) for rows in (4, 6)]
    factors = [np.array([value], np.float32) for value in (0.5, 3)]
    weights = [
        replace(case.weight, factors=raw(factor, "F32", (1,)))  # type: ignore[type-var]
        for case, factor in zip(cases, factors)
    ]
    merged = _merged([BlockMatrix(StoredBlocks.of(weight), torch.float32) for weight in weights], [None, torch.ones(6)])
    want = np.concatenate([case.floats * factor for case, factor in zip(cases, factors)])
    (whole,) = merged.parts
    assert np.array_equal(whole.rows(torch.arange(10)).numpy(), want)
    bias = np.concatenate([np.zeros(4), np.ones(6)])
    for tokens in (1, FEW + 1):
        assert np.allclose(merged(torch.ones(tokens, 64)).numpy()[-1], want.sum(1) + bias, atol=1e-3)
