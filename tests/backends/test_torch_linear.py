"""Linears on torch: every way of storing gives the product of the plain matrices, and files are mapped, not copied."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest
import torch

from backends.base import Affine, BackendMissing, Blocks, Dense, Raw
from backends.torch.kernels.linear import KernelLinear
from backends.torch.linear import (
    FEW,
    AffineMatrix,
    DenseMatrix,
    MergedExperts,
    Stack,
    _merged,
    make_experts,
    make_linear,
)
from backends.torch.tensors import mapped
from tests.backends.mlx_tools import affine, dense, raw
from tests.needs import no_kernels

kernels = pytest.mark.skipif(bool(no_kernels()), reason=no_kernels())
CPU = torch.device("cpu")
F32, BF16 = torch.float32, torch.bfloat16


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def near(got: torch.Tensor, want: np.ndarray, tolerance: float = 1e-4) -> None:
    assert tuple(got.shape) == want.shape
    np.testing.assert_allclose(got.float().numpy(), want, rtol=tolerance, atol=tolerance)


def stored(x: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(x.astype(np.float32))


def in_file(path: Path, offset: int, a: np.ndarray, spelled: str) -> Raw:
    path.write_bytes(b"\0" * offset + a.tobytes())
    with path.open("rb") as file:
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return Raw("w", str(path), offset, a.nbytes, spelled, a.shape, view[offset:])


@kernels
def test_a_matrix_of_the_compute_dtype_is_the_mapping_itself(tmp_path, rng):
    a = rng.normal(size=(6, 8)).astype(np.float32)
    source = in_file(tmp_path / "w", 64, a, "F32")
    w = make_linear([Dense(source)], [None], F32, CPU).matrices[0].w
    address = np.frombuffer(source.buffer, np.uint8).__array_interface__["data"][0]
    assert w.data_ptr() == address
    del source  # the tensor alone keeps the mapping
    near(w, a)


@kernels
def test_sixteen_bits_stay_sixteen_and_an_odd_offset_is_copied(tmp_path, rng):
    a = rng.normal(size=(4, 8)).astype(np.float32)
    odd = mapped(in_file(tmp_path / "odd", 6, a, "F32"))
    assert odd.data_ptr() % 4 == 0
    near(odd, a)
    w = make_linear([Dense(raw(a, bf16=True))], [None], F32, CPU)
    assert w.matrices[0].w.dtype == BF16
    near(w.rows(torch.arange(4)), a, 1e-2)
    with pytest.raises(BackendMissing, match="w: torch reads no tensors of type F4"):
        mapped(Raw("w", "f", 0, 1, "F4", (2,), memoryview(b"\0")))


def test_parts_are_one_product_side_by_side(rng):
    a, b, x = rng.normal(size=(5, 64)), rng.normal(size=(3, 64)), rng.normal(size=(4, 64))
    bias = rng.normal(size=3).astype(np.float32)
    want = x @ np.vstack([a, b]).T + np.r_[np.zeros(5), bias]
    w = make_linear([dense(a), dense(b)], [None, raw(bias)], F32, CPU)
    assert w.shape == (8, 64)
    near(w(stored(x)), want)
    near(w(stored(x).view(2, 2, 64)), want.reshape(2, 2, 8))
    near(w.rows(torch.tensor([[6, 0]])), np.vstack([a, b])[[[6, 0]]])
    apart = Stack([DenseMatrix(stored(a)), DenseMatrix(stored(b))], [None, stored(bias)])
    near(apart(stored(x)), want)
    merged = _merged(apart.parts, apart.biases)
    assert len(merged.parts) == 1
    near(merged(stored(x)), want)


@pytest.mark.parametrize(("bits", "group"), [(2, 32), (3, 64), (4, 32), (4, 64), (4, 128), (5, 32), (6, 64), (8, 32)])
def test_affine_equals_mlx(rng, bits, group):
    q, held = affine(rng.normal(size=(48, 256)), bits, group)
    x = rng.normal(size=(3, 256)).astype(np.float32)
    w = make_linear([q], [None], F32, CPU)
    assert w.shape == (48, 256)
    near(w.rows(torch.tensor([47, 2])), held[[47, 2]], 1e-6)
    near(w(stored(x)), x @ held.T, 1e-3)


@kernels
@pytest.mark.parametrize("scales", [np.float32, np.float16])
@pytest.mark.parametrize(("bits", "group"), [(2, 32), (3, 64), (4, 32), (4, 64), (4, 128), (5, 32), (6, 64), (8, 32)])
def test_affine_whose_inputs_may_be_rounded_is_multiplied_by_the_kernels(rng, bits, group, scales):
    (q, held), (more, beside) = (affine(rng.normal(size=(n, 256)), bits, group, scales) for n in (48, 16))
    x, bias = rng.normal(size=(3, 256)).astype(np.float32), rng.normal(size=48).astype(np.float32)
    w = make_linear([q, more], [raw(bias), None], F32, CPU, rounds=True)
    assert isinstance(w, KernelLinear)
    assert len(w.matrices) == 1
    both = np.vstack([held, beside])
    near(w.rows(torch.tensor([47, 2, 63])), both[[47, 2, 63]], 1e-6)
    want = x @ both.T + np.r_[bias, np.zeros(16)]
    assert np.linalg.norm(w(stored(x)).numpy() - want) < 0.01 * np.linalg.norm(want)


@kernels
def test_experts_in_mlx_s_layout_are_multiplied_by_the_kernels_too(rng):
    (wa, a), (wb, b) = affine(rng.normal(size=(3, 16, 64)), 4), affine(rng.normal(size=(3, 16, 64)), 4)
    w = make_experts([[wa, wb]], F32, CPU, rounds=True)
    assert isinstance(w, KernelLinear)
    x, chosen = rng.normal(size=(2, 64)), np.array([[0], [2]])
    want = np.einsum("ti,toi->to", x, np.concatenate([a, b], 1)[chosen[:, 0]])[:, None]
    got = w.gather(stored(x), torch.from_numpy(chosen)).numpy()
    assert np.linalg.norm(got - want) < 0.01 * np.linalg.norm(want)


@kernels
def test_affine_that_the_kernels_cannot_hold_is_multiplied_without_them(rng):
    q, _ = affine(rng.normal(size=(8, 64)), 4)
    odd = Affine(q.packed, raw(np.zeros((8, 4), np.float32)), raw(np.zeros((8, 4), np.float32)), 4, 16)
    assert isinstance(make_linear([odd], [None], F32, CPU, rounds=True), Stack)
    assert isinstance(make_linear([q], [None], F32, CPU), Stack), "nor that whose inputs must not be rounded"


def test_an_embedding_that_is_only_looked_up_stays_packed(rng):
    q, _ = affine(rng.normal(size=(32, 64)), 4)
    w = make_linear([q], [None], F32, CPU)
    w.rows(torch.tensor([3]))
    matrix = w.parts[0]
    assert isinstance(matrix, AffineMatrix)
    assert matrix._dense is None
    assert matrix.stored.words.data_ptr() == np.frombuffer(q.packed.buffer, np.uint8).__array_interface__["data"][0]


@pytest.mark.parametrize("tokens", [1, 5, FEW + 1])
def test_the_four_bit_kernel_of_bf16(rng, tokens):
    q, held = affine(rng.normal(size=(1104, 128)) * 0.05, 4, 64)  # more rows than are unpacked at a time
    x = stored(rng.normal(size=(tokens, 128))).bfloat16()
    bias = rng.normal(size=1104).astype(np.float32)
    w = make_linear([q], [raw(bias)], BF16, CPU)
    assert w.parts[0].has_kernel
    got = w(x)
    assert got.dtype == BF16
    near(got, x.float().numpy() @ held.T + bias, 2e-2)
    assert w.parts[0]._dense is None


def test_parts_of_different_kinds(rng):
    (qa, a), (qb, b) = affine(rng.normal(size=(8, 64)), 4), affine(rng.normal(size=(8, 64)), 8)
    c, x = rng.normal(size=(2, 64)), rng.normal(size=(3, 64))
    bias = rng.normal(size=8).astype(np.float32)
    w = make_linear([qa, qb, dense(c)], [None, raw(bias), None], F32, CPU)
    near(w(stored(x)), x @ np.vstack([a, b, c]).T + np.r_[np.zeros(8), bias, np.zeros(2)], 1e-3)
    near(w.rows(torch.tensor([17, 9])), np.vstack([a, b, c])[[17, 9]])
    assert len(_merged(w.parts, w.biases).parts) == 3
    pair = _merged(make_linear([qa, qa], [None, None], F32, CPU).parts, [None, stored(bias)])
    assert len(pair.parts) == 1
    near(pair(stored(x)), x @ np.vstack([a, a]).T + np.r_[np.zeros(8), bias], 1e-3)


@pytest.mark.parametrize("tokens", [1, 3, 40])
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
    w = make_experts(parts, F32, CPU)
    assert w.shape == (experts, 32, 64)
    chosen = rng.integers(0, experts, (tokens, k)).astype(np.int32)
    x = rng.normal(size=(tokens, 64))
    want = np.einsum("tki,tkoi->tko", np.repeat(x[:, None], k, 1), value[chosen])
    each = rng.normal(size=(tokens, k, 64))
    want_each = np.einsum("tki,tkoi->tko", each, value[chosen])
    for mixture in (w, MergedExperts(stored(value))):
        near(mixture.gather(stored(x), torch.from_numpy(chosen)), want, 1e-3)
        near(mixture.gather(stored(each), torch.from_numpy(chosen)), want_each, 1e-3)


@pytest.mark.parametrize("quantized", [False, True])
def test_experts_that_lie_in_one_tensor(rng, quantized):
    a, b = rng.normal(size=(3, 8, 64)), rng.normal(size=(3, 4, 64))
    (wa, a), (wb, b) = (affine(a, 4), affine(b, 4)) if quantized else ((dense(a), a), (dense(b), b))
    w = make_experts([[wa, wb]], F32, CPU)
    x, chosen = rng.normal(size=(2, 64)), np.array([[0], [2]])
    near(
        w.gather(stored(x), torch.from_numpy(chosen)),
        np.einsum("ti,toi->to", x, np.concatenate([a, b], 1)[chosen[:, 0]])[:, None],
        1e-3,
    )


@kernels
def test_damaged_gguf_blocks_name_the_tensor():
    block = Blocks(raw(np.zeros((2, 34), np.uint8), "blk.0.attn_q.weight"), "Q8_0", (4, 32))
    with pytest.raises(BackendMissing, match=r"blk\.0\.attn_q\.weight"):
        make_linear([block], [None], F32, CPU)
