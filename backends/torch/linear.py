"""Matrices that hide how they are stored: dense, MLX-affine, several stacked, mixtures of experts.

A `Matrix` is one stored matrix; a `Stack` is what a model sees: matrices of one input, one beside the other, with their
biases. On a CPU nothing is merged, since a merged copy would double what a mapped file costs and gains no speed
(measured); each matrix writes its own columns of one output. On CUDA, where launches cost, equal kinds are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from backends.base import Affine, BackendMissing, Blocks, Dense, Linear, Raw, Weight
from backends.torch.affine import AffineMatrix, Packed
from backends.torch.kernels import library
from backends.torch.kernels import linear as kernels
from backends.torch.kernels.rowwise import TYPES as ROW_TYPES
from backends.torch.load import mapped, tensor
from backends.torch.triton.blocks import BlockMatrix, StoredBlocks


class Matrix(Protocol):
    """One stored `[out, in]`."""

    shape: tuple[int, int]

    def product(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """`x @ w.T + bias`, for `x` of any number of axes."""

    def product_into(self, x: Tensor, bias: Tensor | None, out: Tensor) -> None:
        """The same for `x [T, in]`, written to `out [T, out]`, whose rows may lie apart."""

    def rows(self, ids: Tensor) -> Tensor:
        """`[n, in]`"""


class DenseMatrix:
    def __init__(self, w: Tensor) -> None:
        self.w = w
        self.turned = w.t()
        self.shape = (w.shape[0], w.shape[1])

    def product(self, x: Tensor, bias: Tensor | None) -> Tensor:
        return F.linear(x, self.w, bias)

    def product_into(self, x: Tensor, bias: Tensor | None, out: Tensor) -> None:
        if bias is None:
            torch.mm(x, self.turned, out=out)
        else:
            torch.addmm(bias, x, self.turned, out=out)

    def rows(self, ids: Tensor) -> Tensor:
        return self.w.index_select(0, ids)


class Stack:
    """Matrices of one input, stacked along the output. Implements `backends.base.Linear` but for `gather`."""

    def __init__(self, parts: Sequence[Matrix], biases: Sequence[Tensor | None]) -> None:
        self.parts, self.biases = list(parts), list(biases)
        ends = list(accumulate(part.shape[0] for part in parts))
        self.bounds = list(zip([0, *ends], ends))
        self.shape: tuple[int, ...] = (ends[-1], parts[0].shape[1])

    def __call__(self, x: Tensor) -> Tensor:
        if len(self.parts) == 1:
            return self.parts[0].product(x, self.biases[0])
        flat = x.reshape(-1, x.shape[-1])
        out = flat.new_empty(flat.shape[0], self.shape[0])
        self.into(flat, out)
        return out if x.ndim == 2 else out.view(*x.shape[:-1], self.shape[0])

    def into(self, x: Tensor, out: Tensor) -> None:
        for part, bias, (start, stop) in zip(self.parts, self.biases, self.bounds):
            part.product_into(x, bias, out[:, start:stop])

    def rows(self, ids: Tensor) -> Tensor:
        flat = ids.reshape(-1)
        if len(self.parts) == 1:
            found = self.parts[0].rows(flat)
        else:
            found = torch.cat([self._row_of(int(i)) for i in flat])
        return found.view(*ids.shape, self.shape[1])

    def _row_of(self, row: int) -> Tensor:
        part, start = next((p, a) for p, (a, b) in zip(self.parts, self.bounds) if a <= row < b)
        return part.rows(torch.tensor([row - start]))

    def gather(self, x: Tensor, experts: Tensor) -> Tensor:
        raise TypeError("gather needs a linear made by `Backend.experts`")


class Experts:
    """A mixture whose experts are stacks of their own: tokens are grouped, each expert that has some runs once."""

    def __init__(self, experts: Sequence[Stack]) -> None:
        self.experts = list(experts)
        self.shape: tuple[int, ...] = (len(experts), *experts[0].shape)

    def __call__(self, x: Tensor) -> Tensor:
        raise TypeError("a mixture of experts has no product without a choice: use gather")

    def rows(self, ids: Tensor) -> Tensor:
        raise TypeError("a mixture of experts has no rows")

    def gather(self, x: Tensor, experts: Tensor) -> Tensor:
        tokens, k = experts.shape
        chosen = experts.reshape(-1)
        order = chosen.argsort(stable=True)
        if x.ndim == 2:
            given = x.index_select(0, order // k)
        else:
            given = x.flatten(0, 1).index_select(0, order)
        grouped = given.new_empty(tokens * k, self.shape[1])
        start = 0
        for expert, count in enumerate(torch.bincount(chosen, minlength=len(self.experts)).tolist()):
            if count:
                self.experts[expert].into(given[start : start + count], grouped[start : start + count])
                start += count
        return torch.empty_like(grouped).index_copy_(0, order, grouped).view(tokens, k, -1)


class MergedExperts(Experts):
    """A dense mixture on CUDA: few tokens take one batched product, and never wait for the host to learn who was chosen.

    Not measured here: this was written and reviewed on a machine without a GPU.
    """

    FEW = 16

    def __init__(self, w: Tensor) -> None:
        super().__init__([Stack([DenseMatrix(one)], [None]) for one in w])
        self.w = w

    def gather(self, x: Tensor, experts: Tensor) -> Tensor:
        tokens, k = experts.shape
        if tokens > self.FEW:
            return super().gather(x, experts)
        each = x[:, None].expand(tokens, k, x.shape[-1]) if x.ndim == 2 else x
        matrices = self.w.index_select(0, experts.reshape(-1))
        return torch.bmm(matrices, each.reshape(tokens * k, -1, 1)).view(tokens, k, -1)


# -- from a checkpoint's weights


def make_linear(
    parts: Sequence[Weight], biases: Sequence[Raw | None], dtype: torch.dtype, device: torch.device
) -> Linear:
    bias = [None if b is None else tensor(b, dtype, device) for b in biases]
    if device.type == "cpu" and _for_kernels(parts):
        return kernels.linear(parts, bias, dtype, _quant(parts))
    if device.type == "cpu" and all(map(_lies_as_floats, parts)) and library.available():
        return kernels.rows_linear([part.data for part in parts if isinstance(part, Dense)], bias, dtype)
    matrices = [_matrix(part, dtype, device) for part in parts]
    return Stack(matrices, bias) if device.type == "cpu" else _merged(matrices, bias)


def make_experts(parts: Sequence[Sequence[Weight]], dtype: torch.dtype, device: torch.device) -> Linear:
    if device.type == "cpu" and _for_kernels(parts[0]):
        return kernels.experts(parts, dtype, _quant(parts[0]))
    if len(parts) == 1 and len(parts[0][0].shape) == 3:
        lists = [[_stored(part)[e] for part in parts[0]] for e in range(parts[0][0].shape[0])]
    else:
        lists = [[_stored(part) for part in expert] for expert in parts]
    matrices = [[_made(stored, dtype, device) for stored in expert] for expert in lists]
    if device.type == "cpu":
        return Experts([Stack(expert, [None] * len(expert)) for expert in matrices])
    stacks = [_merged(expert, [None] * len(expert)) for expert in matrices]
    if all(len(s.parts) == 1 and isinstance(s.parts[0], DenseMatrix) for s in stacks):
        return MergedExperts(torch.stack([s.parts[0].w for s in stacks if isinstance(s.parts[0], DenseMatrix)]))
    return Experts(stacks)


def _for_kernels(parts: Sequence[Weight]) -> bool:
    """GGUF blocks, and what is to become such. The engine gives them only to a backend that says it takes them."""
    return any(isinstance(part, Blocks) or (isinstance(part, Dense) and part.quant) for part in parts)


def _lies_as_floats(part: Weight) -> bool:
    return isinstance(part, Dense) and len(part.shape) == 2 and part.data.dtype in ROW_TYPES


def _quant(parts: Sequence[Weight]) -> str | None:
    return next((part.quant for part in parts if isinstance(part, Dense) and part.quant), None)


def _stored(weight: Weight) -> Tensor | Packed | StoredBlocks:
    """As the file has it: on the CPU, mapped, in two or three axes."""
    if isinstance(weight, Dense):
        return mapped(weight.data)
    if isinstance(weight, Affine):
        return Packed(mapped(weight.packed), mapped(weight.scales), mapped(weight.biases), weight.bits, weight.group)
    if isinstance(weight, Blocks):
        return StoredBlocks.of(weight)
    raise BackendMissing(f"torch has no linear for {type(weight).__name__} weights.")


def _made(stored: Tensor | Packed | StoredBlocks, dtype: torch.dtype, device: torch.device) -> Matrix:
    if isinstance(stored, Packed):
        return AffineMatrix(stored.to(device), dtype)
    if isinstance(stored, StoredBlocks):
        return BlockMatrix(stored.to(device), dtype)
    return DenseMatrix(stored.to(device=device, dtype=dtype))


def _matrix(weight: Weight, dtype: torch.dtype, device: torch.device) -> Matrix:
    return _made(_stored(weight), dtype, device)


def _merged(parts: Sequence[Matrix], biases: Sequence[Tensor | None]) -> Stack:
    """One matrix of several, if all are stored alike."""
    if len(parts) == 1:
        return Stack(parts, biases)
    whole: Matrix
    dense = [p for p in parts if isinstance(p, DenseMatrix)]
    affine = [p for p in parts if isinstance(p, AffineMatrix)]
    blocks = [p for p in parts if isinstance(p, BlockMatrix)]
    if len(dense) == len(parts):
        whole = DenseMatrix(torch.cat([p.w for p in dense]))
    elif len(affine) == len(parts) and len({(p.stored.bits, p.stored.group) for p in affine}) == 1:
        whole = AffineMatrix(Packed.cat([p.stored for p in affine]), affine[0].dtype)
    elif len(blocks) == len(parts) and len({p.stored.kind for p in blocks}) == 1:
        stored = StoredBlocks(torch.cat([p.stored.data for p in blocks]), blocks[0].stored.kind, blocks[0].shape[1])
        whole = BlockMatrix(stored, blocks[0].dtype)
    else:
        return Stack(parts, biases)
    if all(b is None for b in biases):
        return Stack([whole], [None])
    like = next(b for b in biases if b is not None)
    return Stack([whole], [torch.cat([like.new_zeros(p.shape[0]) if b is None else b for p, b in zip(parts, biases)])])
