"""`backends.base.Linear` on the CPU kernels: any mixture of dense, affine and GGUF parts, and mixtures of experts.

Neighbouring parts of one packed format become one matrix, so that merged projections cost one call; a part of another format (the
value projection of a Q4_K_M file) becomes a matrix of its own that writes its columns of the same output.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, cast

import torch
from torch import Tensor

from backends.base import BackendMissing, Raw, Weight
from backends.torch.kernels.formats import PackedFormat
from backends.torch.kernels.packed import PackedMatrix, pack, packing_of
from backends.torch.kernels.rowwise import RowMatrix

AnyMatrix = PackedMatrix | RowMatrix


class SymbolicInput:
    """A symbolic input: products with it are traced, not computed."""

    def product(self, linear: KernelLinear) -> Any:
        raise NotImplementedError


def takes(parts: Sequence[Weight], quant: str | None = None) -> bool:
    """Whether the kernels have a packed format for each part."""
    return all(packing_of(part, quant) is not None for part in parts)


def _packing(weight: Weight, quant: str | None) -> PackedFormat:
    packing = packing_of(weight, quant)
    if packing is None:
        raise BackendMissing(f"The CPU kernels cannot hold {type(weight).__name__} weights {weight.shape} like these.")
    return packing


def _runs(parts: Sequence[Weight], quant: str | None) -> list[tuple[PackedFormat, list[Weight]]]:
    """Runs of neighbouring parts with the same packed format."""
    paired = [(_packing(part, quant), part) for part in parts]
    groups = (list(group) for _, group in groupby(paired, key=lambda pair: bytes(pair[0].format)))
    return [(group[0][0], [part for _, part in group]) for group in groups]


def _flat(x: Tensor) -> Tensor:
    flat = x.reshape(-1, x.shape[-1]).float()
    return flat if flat.stride(-1) == 1 or flat.shape[1] == 1 else flat.contiguous()


class KernelLinear:
    """A `Linear` `[out, in]`, or `[experts, out, in]`. Made by `linear` and `experts` below."""

    def __init__(self, matrices: Sequence[AnyMatrix], dtype: torch.dtype, experts: int = 0) -> None:
        self.matrices, self.dtype = list(matrices), dtype
        self.out = sum(m.rows_each for m in matrices)
        self.columns = matrices[0].columns
        self.shape: tuple[int, ...] = (experts, self.out, self.columns) if experts else (self.out, self.columns)
        self.nbytes = sum(m.nbytes for m in matrices)

    def __call__(self, x: Tensor) -> Tensor:
        if isinstance(x, SymbolicInput):
            return cast(Tensor, x.product(self))
        self._check(x)
        flat = _flat(x)
        out = torch.empty(flat.shape[0], self.out)
        start = 0
        for matrix in self.matrices:
            matrix.matmul(flat, out[:, start:] if start else out)
            start += matrix.rows_each
        if x.dtype != torch.float32:  # f32 from a traced program stays f32: logits are not rounded
            out = out.to(self.dtype)
        return out.view(*x.shape[:-1], self.out)

    def rows(self, ids: Tensor) -> Tensor:
        flat = ids.reshape(-1).to(torch.int64)
        if len(self.matrices) == 1:
            found = self.matrices[0].rows(flat)
        else:
            found = torch.empty(flat.numel(), self.columns)
            start = 0
            for matrix in self.matrices:
                here = (flat >= start) & (flat < start + matrix.rows_each)
                found[here] = matrix.rows(flat[here] - start)
                start += matrix.rows_each
        return found.to(self.dtype).view(*ids.shape, self.columns)

    def gather(self, x: Tensor, experts: Tensor) -> Tensor:
        self._check(x)
        tokens, k = experts.shape
        chosen, order = experts.reshape(-1).to(torch.int64).sort(stable=True)
        if chosen.numel() and not (int(chosen[0]) >= 0 and int(chosen[-1]) < self.shape[0]):
            raise IndexError(f"an expert is asked for that is not in 0 .. {self.shape[0] - 1}")
        flat = _flat(x)
        given = order // k if x.ndim == 2 else order
        out = torch.empty(tokens * k, self.out)
        start = 0
        for matrix in self.matrices:
            if isinstance(matrix, RowMatrix):
                raise TypeError("gather needs a linear made by `Backend.experts`")
            matrix.gather(flat, given, chosen, order, out[:, start:])
            start += matrix.rows_each
        return out.to(self.dtype).view(tokens, k, self.out)

    def _check(self, x: Tensor) -> None:
        if x.shape[-1] != self.columns:
            raise ValueError(f"the input has {x.shape[-1]} columns, the matrix {self.columns}")


def linear(
    parts: Sequence[Weight], bias: Sequence[Tensor | None], dtype: torch.dtype, quant: str | None = None
) -> KernelLinear:
    """Parts stacked along the output, with one bias (or None) a part. `quant` (see `formats.MADE_HERE`) quantizes dense parts."""
    matrices = []
    left = list(bias)
    for packing, run in _runs(parts, quant):
        matrix = pack(run, packing)
        biases, left = left[: len(run)], left[len(run) :]
        if any(b is not None for b in biases):
            matrix.set_bias(
                torch.cat([torch.zeros(p.shape[-2]) if b is None else b.float() for p, b in zip(run, biases)])
            )
        matrices.append(matrix)
    return KernelLinear(matrices, dtype)


def rows_linear(
    parts: Sequence[Raw], bias: Sequence[Tensor | None], dtype: torch.dtype = torch.float32
) -> KernelLinear:
    """Dense matrices row by row, with sums in f32."""
    matrices = [RowMatrix(part, dtype) for part in parts]
    for matrix, b in zip(matrices, bias):
        if b is not None:
            matrix.set_bias(b.float())
    return KernelLinear(matrices, dtype)


def experts(parts: Sequence[Sequence[Weight]], dtype: torch.dtype, quant: str | None = None) -> KernelLinear:
    """As `Backend.experts`: one list of parts an expert, or one inner list whose weights have three axes."""
    if len(parts) == 1 and len(parts[0][0].shape) == 3:
        return KernelLinear(
            [pack(run, packing) for packing, run in _runs(parts[0], quant)], dtype, parts[0][0].shape[0]
        )
    like = _runs(parts[0], quant)
    for expert in parts:
        mine = _runs(expert, quant)
        if [(bytes(p.format), [w.shape for w in run]) for p, run in mine] != [
            (bytes(p.format), [w.shape for w in run]) for p, run in like
        ]:
            raise BackendMissing(
                "The experts of one mixture are stored in different ways; the CPU kernels need them alike."
            )
    matrices = [
        PackedMatrix(packing, len(parts), sum(w.shape[0] for w in run), run[0].shape[1]) for packing, run in like
    ]
    for index, expert in enumerate(parts):
        for matrix, (_, run) in zip(matrices, _runs(expert, quant)):
            first = 0
            for weight in run:
                matrix.fill(weight, index, first)
                first += weight.shape[0]
    return KernelLinear(matrices, dtype, len(parts))
