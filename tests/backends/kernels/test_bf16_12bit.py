"""bf16 in 12 bits: the same numbers, bit for bit, whatever they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from backends.torch.kernels import arena, linear
from backends.torch.kernels.linear import KernelLinear, RowMatrix, rows_linear
from tests.backends.kernels.test_rowwise import in_a_file
from tests.backends.kernels.weights_made_here import raw


def bits_of(floats: np.ndarray) -> np.ndarray:
    return (floats.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def adversarial(rows: int, columns: int) -> np.ndarray:
    """Exponents far apart, zeros of both signs, denormals, a row of one number, one of nothing."""
    rng = np.random.default_rng(rows * columns)
    made = bits_of(rng.standard_normal((rows, columns)))
    made[rng.random(made.shape) < 0.002] = 0x8000
    made[rng.random(made.shape) < 0.002] = 0x0003
    made[rng.random(made.shape) < 0.003] = 0x7E12  # 4.8e37
    made[rng.random(made.shape) < 0.003] = 0x0080  # the smallest that is normal
    made[0] = 0
    made[-1] = 0x3F80
    return made


def matrix_of(bits: np.ndarray) -> RowMatrix:
    return RowMatrix(raw(bits, "BF16", shift=2))


def moved(bits: np.ndarray) -> RowMatrix:
    matrix = matrix_of(bits)
    matrix.bf12 = linear.encode_bf12(matrix.w)
    assert matrix.bf12 is not None
    matrix.matrix.bf12 = matrix.bf12.address
    return matrix


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (16, 64), (37, 75), (50, 300), (33, 130)])
def test_rows_come_back_bit_for_bit(tier: str, rows: int, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "BF12_OUTLIERS", 1.0)
    bits = adversarial(rows, columns)
    ids = torch.tensor([rows - 1, 0, rows // 2])
    assert np.array_equal(bits_of(moved(bits).rows(ids).numpy()), bits[ids.numpy()])


def test_every_number_there_is(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "BF12_OUTLIERS", 1.0)
    bits = np.arange(1 << 16, dtype=np.uint16).reshape(256, 256).T.copy()
    found = moved(bits).rows(torch.arange(256)).numpy().view(np.uint32) >> 16
    assert np.array_equal(found, bits)


@pytest.mark.parametrize(("rows", "columns"), [(1, 64), (37, 75), (100, 300), (64, 512), (50, 1130)])
@pytest.mark.parametrize("biased", [False, True])
def test_products_equal_those_of_the_rows(tier: str, rows: int, columns: int, biased: bool) -> None:
    bits = bits_of(np.random.default_rng(3).standard_normal((rows, columns)))
    as_it_lies, other = matrix_of(bits), moved(bits)
    assert other.bf12 is not None
    assert len(other.bf12._outliers) > 0 or bits.size < 10000
    for matrix in (as_it_lies, other) if biased else ():
        matrix.set_bias(torch.arange(float(rows)))
    for tokens in (1, 2, 3, 4, 8, 13, 33, 64, 130):
        x = torch.randn(tokens, columns, generator=torch.Generator().manual_seed(tokens))
        want, got = (KernelLinear([matrix], torch.float32)(x) for matrix in (as_it_lies, other))
        torch.testing.assert_close(got, want, rtol=0, atol=2e-6 * float(want.abs().max()))


@pytest.mark.parametrize("tokens", [1, 2, 4, 20])
def test_what_lay_in_memory_before_does_no_harm(tier: str, tokens: int) -> None:
    """Blocks are wider than rows, and behind a row's inputs lies what the product before has left there."""
    wide, narrow = (moved(bits_of(np.random.default_rng(4).standard_normal((37, n)))) for n in (512, 75))
    assert KernelLinear([wide], torch.float32)(torch.full((tokens, 512), torch.nan)).isnan().all()
    assert KernelLinear([narrow], torch.float32)(torch.ones(tokens, 75)).isfinite().all()


def test_a_matrix_whose_exponents_lie_apart_stays_as_it_is(tier: str) -> None:
    bits = np.random.default_rng(0).integers(0, 1 << 16, (64, 64)).astype(np.uint16)
    assert linear.encode_bf12(matrix_of(bits).w) is None


def test_rows_of_a_file_come_to_lie_so_while_they_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "BF12_LEAST", 1)
    weight, floats = in_a_file(tmp_path, 300, 200)
    matrix = rows_linear([weight], [None])
    rows = matrix.matrices[0]
    assert isinstance(rows, RowMatrix)
    x, ids = torch.randn(3, 200, generator=torch.Generator().manual_seed(0)), torch.tensor([299, 0])
    before = matrix(x)
    arena.wait()
    assert rows.bf12 is not None
    torch.testing.assert_close(matrix(x), before, rtol=0, atol=2e-6 * float(before.abs().max()))
    assert np.array_equal(matrix.rows(ids).numpy(), floats[[299, 0]])
    with pytest.raises(IndexError, match="not in 0"):
        matrix.rows(torch.tensor([300]))


def test_it_takes_three_quarters_of_the_memory() -> None:
    matrix = moved(bits_of(np.random.default_rng(0).standard_normal((256, 1024))))
    assert matrix.bf12 is not None
    assert matrix.bf12.nbytes < 0.76 * matrix.w.nbytes
