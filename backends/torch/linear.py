"""Linear layers that hide how their matrices are stored: dense, MLX-affine, GGUF blocks, several stacked, mixtures of experts.

A `StoredMatrix` is one stored matrix; a `Stack` is what a model uses: matrices of one input, side by side, with their biases. On a
CPU nothing is merged, since a merged copy would double what a mapped file costs and gains no speed (measured); each matrix
writes its own columns of one output. On CUDA, where launches cost, matrices of one kind are merged.

MLX's quantized matrices are `w = q * scale + bias` in groups along the input, `q` a little-endian stream of bits. On a CPU in
bf16, 4 bits have a kernel (exact to bf16's own rounding) that beats a dense product for few rows; for many rows the matrix is
unpacked for the call. No other combination has a kernel in torch that beats a dense product (the f32 form was measured 20
times slower), so there the matrix is unpacked once, at its first product, to the compute dtype. An embedding that is only
looked up is never unpacked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from backends.base import Affine, BackendMissing, Blocks, Dense, HeadMatrices, Linear, Raw, Weight
from backends.torch.kernels import arena, library
from backends.torch.kernels import linear as kernels
from backends.torch.kernels.linear import TYPES as ROW_TYPES
from backends.torch.kernels.linear import KernelLinear, SymbolicInput
from backends.torch.kernels.packed import Fill, InFile, fill_now
from backends.torch.tensors import mapped, tensor
from backends.torch.triton.blocks import BlockMatrix, StoredBlocks

KERNEL_GROUPS = (32, 64, 128, 256)
KERNEL_ROWS = 16  # output rows per block of the kernel
FEW = 64  # tokens up to which the kernel beats unpacking and a dense product
CHUNK = 1024  # matrix rows unpacked at a time, so that the temporaries stay small


@dataclass(frozen=True)
class PackedAffine:
    """A quantized `[out, in]` (or `[experts, out, in]`) as it is stored."""

    words: Tensor  # int32 [..., in * bits / 32]
    scales: Tensor  # [..., in / group]
    biases: Tensor
    bits: int
    group: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.words.shape[-2], self.words.shape[-1] * 32 // self.bits

    def __getitem__(self, at: int | slice | Tensor) -> PackedAffine:
        return PackedAffine(self.words[at], self.scales[at], self.biases[at], self.bits, self.group)

    def to(self, device: torch.device) -> PackedAffine:
        return PackedAffine(
            self.words.to(device), self.scales.to(device), self.biases.to(device), self.bits, self.group
        )

    @staticmethod
    def cat(parts: Sequence[PackedAffine]) -> PackedAffine:
        return PackedAffine(
            torch.cat([p.words for p in parts]),
            torch.cat([p.scales for p in parts]),
            torch.cat([p.biases for p in parts]),
            parts[0].bits,
            parts[0].group,
        )

    def codes(self) -> Tensor:
        """The integers, int32 `[out, in]`."""
        mask = (1 << self.bits) - 1
        rows, width = self.shape
        if 32 % self.bits == 0:
            shifts = torch.arange(0, 32, self.bits, dtype=torch.int32, device=self.words.device)
            return ((self.words[..., None] >> shifts) & mask).view(rows, width)
        # codes of 3, 5 and 6 bits cross the borders of words: read each from the two words that may hold it
        first = torch.arange(width, device=self.words.device) * self.bits
        word, shift = first // 32, first % 32
        wide = F.pad(self.words.long() & 0xFFFFFFFF, (0, 1))
        pair = wide[:, word] | (wide[:, word + 1] << 32)
        return ((pair >> shift) & mask).to(torch.int32)

    def values(self) -> Tensor:
        """f32 `[out, in]`"""
        rows, width = self.shape
        grouped = self.codes().view(rows, -1, self.group).to(torch.float32)
        return grouped.mul_(self.scales[..., None]).add_(self.biases[..., None]).view(rows, width)

    def chunks(self) -> Iterator[tuple[int, PackedAffine]]:
        for start in range(0, self.shape[0], CHUNK):
            yield start, self[start : start + CHUNK]

    def dense(self, dtype: torch.dtype) -> Tensor:
        if self.shape[0] <= CHUNK:
            return self.values().to(dtype)
        out = torch.empty(self.shape, dtype=dtype, device=self.words.device)
        for start, chunk in self.chunks():
            out[start : start + CHUNK] = chunk.values()
        return out


class AffineMatrix:
    """One MLX-affine matrix `[out, in]`."""

    def __init__(self, stored: PackedAffine, dtype: torch.dtype) -> None:
        self.stored, self.dtype, self.shape = stored, dtype, stored.shape
        self.has_kernel = (
            dtype == torch.bfloat16
            and stored.words.device.type == "cpu"
            and stored.bits == 4
            and stored.group in KERNEL_GROUPS
            and self.shape[0] % KERNEL_ROWS == 0
        )
        self._dense: Tensor | None = None
        self._tiles: tuple[Tensor, Tensor] | None = None

    def product(self, x: Tensor, bias: Tensor | None) -> Tensor:
        if not self.has_kernel:
            return F.linear(x, self._unpacked(), bias)
        flat = x.reshape(-1, x.shape[-1])
        if flat.shape[0] > FEW:
            return F.linear(x, self.stored.dense(self.dtype), bias)
        tiles, scales = self._tiled()
        out = torch.ops.aten._weight_int4pack_mm_for_cpu(flat.contiguous(), tiles, self.stored.group, scales)
        if bias is not None:
            out += bias
        return out.view(*x.shape[:-1], self.shape[0])

    def product_into(self, x: Tensor, bias: Tensor | None, out: Tensor) -> None:
        out.copy_(self.product(x, bias))

    def rows(self, ids: Tensor) -> Tensor:
        return self.stored[ids].values().to(self.dtype)

    def _unpacked(self) -> Tensor:
        if self._dense is None:
            self._dense = self.stored.dense(self.dtype)
        return self._dense

    def _tiled(self) -> tuple[Tensor, Tensor]:
        """The kernel's own layout, whose codes are centred at 8."""
        if self._tiles is None:
            pack = torch.ops.aten._convert_weight_to_int4pack_for_cpu
            tiles = torch.cat([pack(chunk.codes(), 1) for _, chunk in self.stored.chunks()])
            scales, biases = self.stored.scales.float(), self.stored.biases.float()
            zeros = (scales * 8).add_(biases)
            self._tiles = tiles, torch.stack((scales, zeros), -1).transpose(0, 1).contiguous().to(self.dtype)
        return self._tiles


class StoredMatrix(Protocol):
    """One stored matrix `[out, in]`."""

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
        self.transposed = w.t()
        self.shape = (w.shape[0], w.shape[1])

    def product(self, x: Tensor, bias: Tensor | None) -> Tensor:
        return F.linear(x, self.w, bias)

    def product_into(self, x: Tensor, bias: Tensor | None, out: Tensor) -> None:
        if bias is None:
            torch.mm(x, self.transposed, out=out)
        else:
            torch.addmm(bias, x, self.transposed, out=out)

    def rows(self, ids: Tensor) -> Tensor:
        return self.w.index_select(0, ids)


class Stack:
    """Matrices of one input, stacked along the output. Implements `backends.base.Linear` but for `gather`."""

    def __init__(self, parts: Sequence[StoredMatrix], biases: Sequence[Tensor | None]) -> None:
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
    """A mixture of experts, each a separate stack: tokens are grouped, and each expert with tokens runs once."""

    def __init__(self, experts: Sequence[Stack]) -> None:
        self.experts = list(experts)
        self.shape: tuple[int, ...] = (len(experts), *experts[0].shape)

    def __call__(self, x: Tensor) -> Tensor:
        raise TypeError("a mixture of experts needs the chosen experts: use gather")

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
    """A dense mixture on CUDA: few tokens take one batched product, without a host sync to read the chosen experts.

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


class TorchHeadMatrices:
    """Implements `backends.base.HeadMatrices` by plain matrices."""

    transposes = True

    def __init__(self, w: Tensor) -> None:
        self.w = w  # [heads, out, in]

    def part(self, start: int, stop: int) -> TorchHeadMatrices:
        return TorchHeadMatrices(self.w[:, start:stop])

    def each(self, x: Tensor, transposed: bool = False) -> Tensor:
        if isinstance(x, SymbolicInput):
            return cast(Tensor, x.each_matrix(self.w, transposed))
        return torch.bmm(x.transpose(0, 1), self.w if transposed else self.w.mT).transpose(0, 1)

    def every(self, x: Tensor, first: int, last: int, transposed: bool = False) -> Tensor:
        chosen = self.w[first:last]
        flat = (chosen.mT if transposed else chosen).reshape(-1, x.shape[-1])
        return F.linear(x, flat).view(x.shape[0], last - first, -1)


class KernelHeadMatrices:
    """Implements `backends.base.HeadMatrices` by the CPU kernels, which read blocks in one direction only: each head is an
    expert that every token goes through."""

    transposes = False

    def __init__(self, linear: Linear) -> None:
        self.linear = linear

    def part(self, start: int, stop: int) -> HeadMatrices:
        raise TypeError("matrices of the kernels have no parts")

    def each(self, x: Tensor, transposed: bool = False) -> Tensor:
        if isinstance(x, SymbolicInput) and isinstance(self.linear, KernelLinear) and not transposed:
            return cast(Tensor, x.each_expert(self.linear))
        return self._gathered(x, 0, x.shape[1], transposed)

    def every(self, x: Tensor, first: int, last: int, transposed: bool = False) -> Tensor:
        return self._gathered(x, first, last, transposed)

    def _gathered(self, x: Tensor, first: int, last: int, transposed: bool) -> Tensor:
        if transposed:
            raise TypeError("the kernels do not multiply by a transposed matrix")
        made: Tensor = self.linear.gather(x, torch.arange(first, last).expand(x.shape[0], -1))
        return made


# -- from a checkpoint's weights


def make_linear(
    parts: Sequence[Weight],
    biases: Sequence[Raw | None],
    dtype: torch.dtype,
    device: torch.device,
    fill: Fill = fill_now,
    rounds: bool = False,
) -> Linear:
    """`rounds`: products may round their inputs to bytes, as those of blocks always do."""
    bias = [None if b is None else tensor(b, dtype, device) for b in biases]
    if device.type == "cpu" and _for_kernels(parts, rounds):
        return kernels.linear(parts, bias, dtype, _quant(parts), fill)
    if device.type == "cpu" and all(map(_lies_as_floats, parts)) and library.available():
        return kernels.rows_linear([part.data for part in parts if isinstance(part, Dense)], bias, dtype)
    matrices = [_matrix(part, dtype, device) for part in parts]
    return Stack(matrices, bias) if device.type == "cpu" else _merged(matrices, bias)


def make_experts(
    parts: Sequence[Sequence[Weight]],
    dtype: torch.dtype,
    device: torch.device,
    in_file: InFile = arena.schedule,
    fill: Fill = fill_now,
    rounds: bool = False,
) -> Linear:
    if device.type == "cpu" and _for_kernels(parts[0], rounds):
        return kernels.experts(parts, dtype, _quant(parts[0]), in_file, fill)
    if device.type == "cpu" and library.available():
        floats = [
            [part for part in expert if isinstance(part, Dense) and part.data.dtype in ROW_TYPES] for expert in parts
        ]
        kinds = [[part.data.dtype for part in expert] for expert in floats]
        if all(kind == kinds[0] for kind in kinds) and len(floats[0]) == len(parts[0]):
            return kernels.row_experts(floats, dtype)
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


def make_head_matrices(
    weight: Weight,
    heads: int,
    plain: Dense | Affine,
    dtype: torch.dtype,
    device: torch.device,
    fill: Fill = fill_now,
) -> HeadMatrices:
    apart = isinstance(weight, Blocks) and len(weight.shape) == 3
    if apart and device.type == "cpu" and library.available() and kernels.takes([weight]):
        return KernelHeadMatrices(kernels.experts([[weight]], dtype, fill=fill))
    stored = _stored(plain)
    if isinstance(stored, PackedAffine):
        words, scales, biases = (part.flatten(0, -2) for part in (stored.words, stored.scales, stored.biases))
        stored = PackedAffine(words, scales, biases, stored.bits, stored.group).dense(dtype)
    assert isinstance(stored, Tensor)
    return TorchHeadMatrices(stored.to(device=device, dtype=dtype).reshape(heads, -1, plain.shape[-1]))


def _for_kernels(parts: Sequence[Weight], rounds: bool) -> bool:
    """Whether the parts are GGUF blocks or are to be quantized to them (the engine passes such only if `Backend.blocks`), or lie in MLX's
    layout as the kernels have it."""
    if any(isinstance(part, Blocks) or (isinstance(part, Dense) and part.quant) for part in parts):
        return True
    affine = rounds and any(isinstance(part, Affine) for part in parts)
    return affine and library.available() and kernels.takes(parts)


def _lies_as_floats(part: Weight) -> bool:
    return isinstance(part, Dense) and len(part.shape) == 2 and part.data.dtype in ROW_TYPES


def _quant(parts: Sequence[Weight]) -> str | None:
    return next((part.quant for part in parts if isinstance(part, Dense) and part.quant), None)


def _stored(weight: Weight) -> Tensor | PackedAffine | StoredBlocks:
    """The weight as stored in the file: on the CPU, mapped, in two or three axes."""
    if isinstance(weight, Dense):
        return mapped(weight.data)
    if isinstance(weight, Affine):
        return PackedAffine(
            mapped(weight.packed), mapped(weight.scales), mapped(weight.biases), weight.bits, weight.group
        )
    if isinstance(weight, Blocks):
        return StoredBlocks.of(weight)
    raise BackendMissing(f"torch has no linear for {type(weight).__name__} weights.")


def _made(stored: Tensor | PackedAffine | StoredBlocks, dtype: torch.dtype, device: torch.device) -> StoredMatrix:
    if isinstance(stored, PackedAffine):
        return AffineMatrix(stored.to(device), dtype)
    if isinstance(stored, StoredBlocks):
        return BlockMatrix(stored.to(device), dtype)
    return DenseMatrix(stored.to(device=device, dtype=dtype))


def _matrix(weight: Weight, dtype: torch.dtype, device: torch.device) -> StoredMatrix:
    return _made(_stored(weight), dtype, device)


def _merged(parts: Sequence[StoredMatrix], biases: Sequence[Tensor | None]) -> Stack:
    """One matrix of several, if all are stored alike."""
    if len(parts) == 1:
        return Stack(parts, biases)
    whole: StoredMatrix
    dense = [p for p in parts if isinstance(p, DenseMatrix)]
    affine = [p for p in parts if isinstance(p, AffineMatrix)]
    blocks = [p for p in parts if isinstance(p, BlockMatrix)]
    if len(dense) == len(parts):
        whole = DenseMatrix(torch.cat([p.w for p in dense]))
    elif len(affine) == len(parts) and len({(p.stored.bits, p.stored.group) for p in affine}) == 1:
        whole = AffineMatrix(PackedAffine.cat([p.stored for p in affine]), affine[0].dtype)
    elif len(blocks) == len(parts) and len({p.stored.kind for p in blocks}) == 1:
        whole = BlockMatrix(StoredBlocks.cat([p.stored for p in blocks]), blocks[0].dtype)
    else:
        return Stack(parts, biases)
    if all(b is None for b in biases):
        return Stack([whole], [None])
    like = next(b for b in biases if b is not None)
    return Stack([whole], [torch.cat([like.new_zeros(p.shape[0]) if b is None else b for p, b in zip(parts, biases)])])
