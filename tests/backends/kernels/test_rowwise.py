"""Dense matrices that are multiplied as they are stored, against numpy in f64."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest
import torch

from backends.base import Raw
from backends.torch.kernels import arena
from backends.torch.kernels.linear import RowMatrix, rows_linear
from backends.torch.tensors import mapped, tensor
from tests.backends.kernels.weights_made_here import raw


def stored(kind: str, rows: int, columns: int) -> tuple[Raw, np.ndarray]:
    w = np.random.default_rng(rows + columns).standard_normal((rows, columns)).astype(np.float32)
    if kind == "F32":
        return raw(w, "F32", shift=4), w
    if kind == "F16":
        return raw(w.astype(np.float16), "F16", shift=2), w.astype(np.float16).astype(np.float32)
    halves = (w.view(np.uint32) >> 16).astype(np.uint16)
    return raw(halves, "BF16", shift=2), (halves.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize("kind", ["F32", "F16", "BF16"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (16, 64), (37, 75), (100, 300)])
def test_products_of_any_number_of_tokens(tier: str, kind: str, rows: int, columns: int) -> None:
    weight, floats = stored(kind, rows, columns)
    bias = torch.arange(float(rows))
    matrix = rows_linear([weight, weight], [None, bias])
    # where a CPU multiplies bf16 itself, activations are rounded to it: half a unit of the eighth bit
    tolerance = 2.0**-9 if kind == "BF16" and tier in ("avx512", "amx", "i8mm") else 1e-6
    for tokens in (1, 2, 3, 8, 13, 64, 130):
        x = torch.randn(tokens, columns, generator=torch.Generator().manual_seed(tokens))
        want = x.double().numpy() @ floats.T.astype(np.float64)
        most = np.abs(x.double().numpy()) @ np.abs(floats.T) + rows
        got = matrix(x).double().numpy()
        assert (np.abs(got[:, :rows] - want) <= tolerance * most).all()
        assert (np.abs(got[:, rows:] - want - bias.numpy()) <= tolerance * most).all()
    assert np.array_equal(matrix.rows(torch.tensor([rows - 1, rows])).numpy(), floats[[rows - 1, 0]])


def test_a_token_gets_the_same_alone_and_in_company(tier: str) -> None:
    matrix = rows_linear([stored("BF16", 40, 96)[0]], [None])
    x = torch.randn(5, 96, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(matrix(x)[3], matrix(x[3:4])[0], atol=1e-5)


def test_nan_stays_nan(tier: str) -> None:
    matrix = rows_linear([stored("BF16", 3, 40)[0]], [None])
    x = torch.ones(2, 40)
    x[1, 39] = float("nan")
    assert matrix(x)[1].isnan().all()
    assert not matrix(x)[0].isnan().any()


def in_a_file(folder: Path, rows: int, columns: int, kind: str = "BF16") -> tuple[Raw, np.ndarray]:
    numbers, floats = stored(kind, rows, columns)
    return kept_in(folder, numbers.buffer, kind, (rows, columns)), floats


def kept_in(folder: Path, data: memoryview, kind: str, shape: tuple[int, ...], head: bytes = b"head") -> Raw:
    path = folder / "weights"
    path.write_bytes(head + bytes(data))
    with path.open("rb") as file:
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return Raw("w", str(path), len(head), data.nbytes, kind, shape, memoryview(whole)[len(head) :])


def test_rows_in_a_file_move_to_huge_pages_while_they_are_used(tmp_path: Path) -> None:
    weight, floats = in_a_file(tmp_path, 300, 200)
    matrix = rows_linear([weight], [None])
    rows = matrix.matrices[0]
    assert isinstance(rows, RowMatrix)
    x = torch.randn(3, 200, generator=torch.Generator().manual_seed(0))
    mapped, before = rows.matrix.data, matrix(x)
    arena.wait()
    assert rows.matrix.data == rows.w.data_ptr() != mapped
    assert torch.equal(matrix(x), before)
    assert np.array_equal(matrix.rows(torch.tensor([299])).numpy(), floats[[299]])


@pytest.mark.parametrize("kind", ["F32", "F16", "BF16"])
def test_rows_that_their_file_does_not_align_stay_readable_where_they_were_copied(tmp_path: Path, kind: str) -> None:
    """Products that run while rows move read the old ones: only pages of a file can be given back and read again."""
    numbers, floats = stored(kind, 300, 200)
    matrix = rows_linear([kept_in(tmp_path, numbers.buffer, kind, (300, 200), head=b"odd")], [None])
    rows = matrix.matrices[0]
    assert isinstance(rows, RowMatrix)
    before = rows.w
    arena.wait()
    assert np.array_equal(before.float().numpy(), floats)
    assert np.array_equal(matrix.rows(torch.arange(300)).numpy(), floats)


@pytest.mark.parametrize(("rows", "copied"), [(64, True), (65, False)])
def test_small_arrays_of_a_file_are_copied_large_ones_used_there(tmp_path: Path, rows: int, copied: bool) -> None:
    weight, floats = in_a_file(tmp_path, rows, 256, "F32")
    made = tensor(weight, torch.float32, torch.device("cpu"))
    assert (made.data_ptr() != mapped(weight).data_ptr()) == copied
    assert np.array_equal(made.numpy(), floats)


def test_a_matrix_that_nobody_holds_any_more_does_not_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[RowMatrix] = []
    monkeypatch.setattr(RowMatrix, "move", lambda matrix: moved.append(matrix))
    kept = rows_linear([in_a_file(tmp_path, 20, 40)[0]], [None])
    rows_linear([in_a_file(tmp_path, 20, 40)[0]], [None])
    arena.wait()
    assert moved == kept.matrices


@pytest.mark.parametrize("columns", [32, 70, 1100])
def test_f32_products_of_many_tokens_are_as_exact_as_f32_sums(tier: str, columns: int) -> None:
    """Where bf16's unit computes them of three parts each: numbers of all sizes, and sums of which little is left."""
    random = np.random.default_rng(columns)
    w = (random.standard_normal((50, columns)) * 10.0 ** random.integers(-6, 6, (50, columns))).astype(np.float32)
    w[:, 1::2] = -w[:, : columns // 2 * 2 : 2] * np.float32(1 + 2**-20)
    x = (random.standard_normal((173, columns)) * 10.0 ** random.integers(-6, 6, (173, columns))).astype(np.float32)
    x[:, 1::2] = x[:, : columns // 2 * 2 : 2]
    got = rows_linear([raw(w, "F32")], [None])(torch.from_numpy(x)).numpy()
    want = x.astype(np.float64) @ w.T.astype(np.float64)
    most = np.abs(x).astype(np.float64) @ np.abs(w).T.astype(np.float64)
    assert (np.abs(got - want) <= 5e-7 * most).all()


def test_f32_products_of_many_tokens_hide_nothing(tier: str) -> None:
    w = np.ones((40, 48), np.float32)
    w[3, 7] = np.inf
    x = torch.ones(100, 48)
    x[17, 40] = float("nan")
    made = rows_linear([raw(w, "F32")], [None])(x)
    assert not made[17].isfinite().any()
    assert not made[:, 3].isfinite().any()
    rest = made[[i for i in range(100) if i != 17]][:, [i for i in range(40) if i != 3]]
    assert torch.equal(rest, torch.full_like(rest, 48.0))


def test_small_files_and_matrices_of_f32_move_others_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for most, most_of_matrix, moves in ((1 << 20, 0, True), (100, 0, False), (100, 30 * 20 * 4, True)):
        monkeypatch.setattr("backends.torch.kernels.linear.SMALL", most)
        monkeypatch.setattr("backends.torch.kernels.linear.SMALL_MATRIX", most_of_matrix)
        weight, floats = in_a_file(tmp_path, 30, 20, "F32")
        matrix = rows_linear([weight], [None])
        rows = matrix.matrices[0]
        assert isinstance(rows, RowMatrix)
        mapped = rows.matrix.data
        arena.wait()
        assert (rows.matrix.data != mapped) == moves
        assert np.array_equal(matrix.rows(torch.tensor([29])).numpy(), floats[[29]])


@pytest.mark.parametrize("exact", [True, False])
def test_f32_that_was_bf16_moves_as_such_to_the_bit(tier: str, tmp_path: Path, exact: bool) -> None:
    floats = stored("BF16", 37, 300)[1].copy()
    if not exact:
        floats[36, 299] += np.float32(2**-20)
    bias = torch.arange(37.0)
    moving = rows_linear([kept_in(tmp_path, floats.data, "F32", floats.shape)], [bias])
    staying = rows_linear([raw(floats, "F32")], [bias])
    arena.wait()
    rows = moving.matrices[0]
    assert isinstance(rows, RowMatrix)
    assert bool(rows.matrix.halves) == exact
    for matrix in (moving, staying):
        matrix.matrices[0].set_bias(2 * bias)  # as where a matrix has moved before its bias is set
    for tokens in (1, 2, 3, 8, 9, 130):
        x = torch.randn(tokens, 300, generator=torch.Generator().manual_seed(tokens))
        assert torch.equal(moving(x), staying(x))
    assert np.array_equal(moving.rows(torch.tensor([36])).numpy(), floats[[36]])
