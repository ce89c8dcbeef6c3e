"""`backends.base.Linear` on the CPU kernels: any mixture of dense, affine and GGUF parts, and mixtures of experts.

Neighbouring parts of one packed format become one matrix, so that merged projections cost one call; a part of another format (the
value projection of a Q4_K_M file) becomes a matrix of its own that writes its columns of the same output.
"""

from __future__ import annotations

import ctypes
import os
from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any, cast

import psutil
import torch
from torch import Tensor

from backends.base import BackendMissing, Dense, Raw, Weight
from backends.torch.kernels import arena, formats
from backends.torch.kernels.formats import PANEL, PackedFormat
from backends.torch.kernels.library import Bf12Matrix, KernelMatrix, has_matrix_unit, library
from backends.torch.kernels.packed import (
    Fill,
    InFile,
    MatrixHandle,
    PackedMatrix,
    check_rows,
    fill_now,
    pack,
    packing_of,
)
from backends.torch.tensors import STORED, is_aligned, mapped

# -- lossless 12-bit encoding of bf16 rows (`bf12` in identifiers): a step reads a quarter less memory (src/formats/bf16_12bit.hpp)

BF12_LEAST = 1 << 16  # numbers of a matrix that is encoded
BF12_OUTLIERS = 1 / 64  # of the numbers may be outliers
BF12_SAMPLED = 64  # rows that are sampled first
BF12_COLUMNS, BF12_BYTES = 128, 192  # of a block


class Bf12Rows:
    """The encoded rows that `KernelMatrix.bf12` points to; owns their memory."""

    def __init__(
        self, columns: int, piece: arena.HugePageBlock, address: int, bases: Tensor, counts: Tensor, w: Tensor
    ) -> None:
        self._piece, self._bases = piece, bases
        ends = counts.cumsum(0)
        last = torch.arange(PANEL, len(w) + PANEL, PANEL).clamp_max(len(w)) - 1  # row of each panel
        self._starts = torch.cat((torch.zeros(1, dtype=torch.int64), ends[last]))
        self._outliers = torch.empty(int(ends[-1]), dtype=torch.int64)  # GrusBf12Outlier: eight bytes each
        library().grus_bf12_outliers(
            w.data_ptr(), len(w), columns, bases.data_ptr(), counts.data_ptr(), self._outliers.data_ptr()
        )
        self.nbytes = len(w) * row_bytes(columns) + sum(t.nbytes for t in (bases, self._starts, self._outliers))
        self._struct = Bf12Matrix(address, bases.data_ptr(), self._starts.data_ptr(), self._outliers.data_ptr())
        self.address = ctypes.addressof(self._struct)


def row_bytes(columns: int) -> int:
    return -(-columns // BF12_COLUMNS) * BF12_BYTES


def encode_bf12(w: Tensor) -> Bf12Rows | None:
    """`w` bf16 `[rows, columns]` without gaps. None if there are too many outliers."""
    rows, columns = w.shape
    few = w[:BF12_SAMPLED]
    room = torch.empty(len(few) * row_bytes(columns), dtype=torch.uint8)
    if _encode(few, room.data_ptr())[1].sum() > few.numel() * BF12_OUTLIERS:
        return None
    piece, address = arena.allocate(rows * row_bytes(columns))
    bases, counts = _encode(w, address)
    if counts.sum() > w.numel() * BF12_OUTLIERS:
        return None
    return Bf12Rows(columns, piece, address, bases, counts, w)


def _encode(w: Tensor, address: int) -> tuple[Tensor, Tensor]:
    """The base exponent of each row, and its number of outliers."""
    bases, counts = torch.empty(len(w), dtype=torch.uint8), torch.empty(len(w), dtype=torch.int64)
    library().grus_bf12_encode(w.data_ptr(), *w.shape, address, bases.data_ptr(), counts.data_ptr())
    return bases, counts


# -- a dense matrix that is multiplied row by row in the file's layout, without being packed. Rows of another dtype than the model's
# are converted once; bf16 is re-encoded losslessly in 12 bits per number.
#
# Rows are copied to huge pages, which are read half as fast again as a mapped file: at once if there is no file, otherwise in the
# background (arena.py). f32 rows of a large file stay mapped, since copying takes longer than many a reply and the system can reclaim
# mapped memory; but not small matrices, as a mixture's routers are, which each step reads. f32 that was bf16 once, as files of GGUF keep
# routers, moves as bf16. There are no experts.

TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
SMALL = 1 << 30  # bytes of a file whose f32 rows move too
SMALL_MATRIX = 2 << 20  # bytes of f32 rows that move from any file
MANY = 128  # tokens from which torch multiplies f32 rows as fast or faster, where there is no matrix unit (src/matmul/matmul.hpp)


class RowMatrix(MatrixHandle):
    """`[rows, columns]`, columns next to each other. A model that computes in f32 takes rows of any float."""

    def __init__(self, raw: Raw, dtype: torch.dtype = torch.float32, moves: bool = True) -> None:
        """`moves`: rows of a file are copied to faster memory in the background."""
        self.raw = raw
        # What a file does not align was copied: its old memory cannot be released, since the system would not read it again.
        in_file = type(raw) is Raw and os.path.isfile(raw.path) and is_aligned(raw)
        if dtype not in (torch.float32, TYPES[raw.dtype]):
            w, in_file = self._converted_to(dtype), False
        else:
            w = mapped(raw) if in_file or raw.dtype == "F32" else self._copy_to_huge_pages()
        self.w = w  # kept alive: the kernels hold its address
        packing = formats.PACKINGS[next(name for name, kept in TYPES.items() if kept == w.dtype)]
        row_bytes = w.stride(0) * w.itemsize
        super().__init__(KernelMatrix(packing.format, 1, *w.shape, w.data_ptr(), None, row_bytes))
        self.nbytes = w.nbytes
        self.bf12: Bf12Rows | None = None
        if moves and in_file and (raw.dtype != "F32" or raw.nbytes <= SMALL_MATRIX or _worth_a_copy(raw.path)):
            arena.schedule(self)

    def _copy_to_huge_pages(self) -> Tensor:
        self._piece, address = arena.allocate(self.raw.nbytes)
        place = self._piece.bytes_at(address, self.raw.nbytes)
        _read(self.raw, memoryview(place.numpy()))
        return place.view(STORED[self.raw.dtype]).view(self.raw.shape)

    def _converted_to(self, dtype: torch.dtype) -> Tensor:
        stored = mapped(self.raw)
        nbytes = stored.numel() * dtype.itemsize
        self._piece, address = arena.allocate(nbytes)
        return self._piece.bytes_at(address, nbytes).view(dtype).view(stored.shape).copy_(stored)

    def move(self) -> None:
        """Safe during concurrent products: both copies are equal, and the old one stays readable."""
        if self.w.dtype == torch.bfloat16 and self.w.numel() >= BF12_LEAST and (made := encode_bf12(self.w)):
            self.matrix.bf12 = made.address  # before `rows` looks there
            self.bf12 = made
            arena.release(self.w.data_ptr(), self.w.nbytes)
            return
        if self.w.dtype == torch.float32 and _is_bf16(self.w):
            self._move_halves()
            return
        self._before = self.w
        self.w = self._copy_to_huge_pages()
        self.matrix.data = self.w.data_ptr()
        arena.release(self._before.data_ptr(), self._before.nbytes)

    def _move_halves(self) -> None:
        nbytes = self.w.numel() * 2
        self._piece, address = arena.allocate(nbytes)
        self._halves = self._piece.bytes_at(address, nbytes).view(torch.bfloat16).view(self.w.shape).copy_(self.w)
        m, packing = self.matrix, formats.PACKINGS["BF16"]
        self._halved = KernelMatrix(
            packing.format, 1, m.rows, m.columns, address, m.bias, 2 * m.columns, f32_inputs=True
        )
        m.halves = ctypes.addressof(self._halved)

    def set_bias(self, bias: Tensor) -> None:
        super().set_bias(bias)
        if self.matrix.halves:
            self._halved.bias = self.matrix.bias

    def matmul(self, x: Tensor, out: Tensor) -> None:
        if len(x) < MANY or self.w.dtype != torch.float32 or has_matrix_unit():
            super().matmul(x, out)
            return
        mine = out[:, : self.rows_each]
        torch.mm(x, self.w.t(), out=mine)
        if self.bias is not None:
            mine += self.bias[0, : self.rows_each]

    def rows(self, ids: Tensor) -> Tensor:
        """`[n, columns]` f32"""
        if self.bf12 is None:
            return self.w.index_select(0, ids).float()
        check_rows(ids, self.rows_each)
        ids, found = ids.to(torch.int64).contiguous(), torch.empty(len(ids), self.columns)
        self.library.grus_bf12_rows(self.handle, ids.data_ptr(), len(ids), found.data_ptr())
        return found


def _is_bf16(w: Tensor) -> bool:
    """Whether f32 numbers lose nothing as bf16."""
    return all(not (rows & 0xFFFF).any() for rows in w.view(torch.int32).split(64))


def _worth_a_copy(path: str) -> bool:
    """Whether a file of f32 is small, and memory has room for several of it."""
    size = os.path.getsize(path)
    return size <= SMALL and 4 * size <= psutil.virtual_memory().available


def _read(raw: Raw, place: memoryview) -> None:
    """From the file itself where it holds these bytes: a mapped page costs a fault each time it is first seen."""
    done = 0
    if hasattr(os, "preadv") and type(raw) is Raw and os.path.isfile(raw.path):
        file = os.open(raw.path, os.O_RDONLY)
        try:
            while done < raw.nbytes and (got := os.preadv(file, [place[done : done + (64 << 20)]], raw.offset + done)):
                done += got
        finally:
            os.close(file)
    if done < raw.nbytes:
        place[done:] = raw.buffer.cast("B")[done : raw.nbytes]


AnyMatrix = PackedMatrix | RowMatrix


def is_quantized(matrix: AnyMatrix) -> bool:
    """Whether the weights have eight bits or fewer, so that products round their inputs to bytes."""
    return matrix.matrix.format.code not in (formats.Code.F32, formats.Code.F16, formats.Code.BF16, formats.Code.F8)


def alike(a: AnyMatrix, b: AnyMatrix) -> bool:
    same = a.rows_each == b.rows_each and a.matrix.row_bytes == b.matrix.row_bytes
    return same and bytes(a.matrix.format) == bytes(b.matrix.format)


class SymbolicInput:
    """A symbolic input: products with it are traced, not computed."""

    @abstractmethod
    def product(self, linear: KernelLinear) -> Any: ...

    @abstractmethod
    def each_expert(self, linear: KernelLinear) -> Any:
        """Each head's numbers `[H, in]` of a token times an expert of its own."""

    @abstractmethod
    def each_matrix(self, w: Tensor, transposed: bool) -> Any:
        """The same with matrices `w [H, out, in]`."""

    @abstractmethod
    def mixture(self, mixture: Any, scores: Any) -> Any: ...


class SymbolicIds:
    """Symbolic token ids: what is looked up by them is traced."""

    @abstractmethod
    def rows(self, linear: KernelLinear) -> Any: ...


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


def flat_rows(x: Tensor) -> Tensor:
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
        flat = flat_rows(x)
        out = torch.empty(flat.shape[0], self.out)
        start = 0
        for matrix in self.matrices:
            matrix.matmul(flat, out[:, start:] if start else out)
            start += matrix.rows_each
        if x.dtype != torch.float32:  # f32 from a traced program stays f32: logits are not rounded
            out = out.to(self.dtype)
        return out.view(*x.shape[:-1], self.out)

    def rows(self, ids: Tensor) -> Tensor:
        if isinstance(ids, SymbolicIds):
            return cast(Tensor, ids.rows(self))
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
        flat = flat_rows(x)
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


class RowExperts:
    """A `Linear` `[experts, out, in]` of dense matrices, each where its file holds it: `parts` of each expert, stacked along the output."""

    def __init__(self, experts: Sequence[Sequence[Raw]], dtype: torch.dtype) -> None:
        # experts that no token chooses need no memory as long as they stay in their file
        self.parts, self.dtype = [[RowMatrix(raw, dtype, moves=False) for raw in parts] for parts in experts], dtype
        self.out, self.columns = sum(m.rows_each for m in self.parts[0]), self.parts[0][0].columns
        self.shape: tuple[int, ...] = (len(experts), self.out, self.columns)

    def __call__(self, x: Tensor) -> Tensor:
        raise TypeError("a mixture of experts needs the chosen experts: use gather")

    def rows(self, ids: Tensor) -> Tensor:
        raise TypeError("a mixture of experts has no rows")

    def gather(self, x: Tensor, experts: Tensor) -> Tensor:
        tokens, k = experts.shape
        flat, chosen = flat_rows(x), experts.reshape(-1)
        made = torch.empty(tokens * k, self.out)
        for expert in chosen.unique().tolist():
            pairs = (chosen == expert).nonzero()[:, 0]
            given, start = flat[pairs // k if x.ndim == 2 else pairs], 0
            out = torch.empty(len(pairs), self.out)
            for matrix in self.parts[expert]:
                matrix.matmul(given, out[:, start:])
                start += matrix.rows_each
            made[pairs] = out
        return made.to(self.dtype).view(tokens, k, self.out)


def linear(
    parts: Sequence[Weight],
    bias: Sequence[Tensor | None],
    dtype: torch.dtype,
    quant: str | None = None,
    fill: Fill = fill_now,
) -> KernelLinear:
    """Parts stacked along the output, with one bias (or None) a part. `quant` (see `formats.MADE_HERE`) quantizes dense parts."""
    matrices = []
    left = list(bias)
    for packing, run in _runs(parts, quant):
        matrix = pack(run, packing, fill=fill)
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


def row_experts(parts: Sequence[Sequence[Dense]], dtype: torch.dtype) -> RowExperts:
    """As `Backend.experts`, of plain floats."""
    raws = [[part.data for part in expert] for expert in parts]
    if len(parts) == 1 and len(parts[0][0].shape) == 3:
        raws = [list(expert) for expert in zip(*map(_cut, raws[0]))]
    return RowExperts(raws, dtype)


def _cut(raw: Raw) -> list[Raw]:
    """A tensor of three axes as one of each expert."""
    buffer = raw.buffer.cast("B")  # taken once: that of a computed tensor is made at each access
    path = raw.path if type(raw) is Raw else ""
    each = raw.nbytes // raw.shape[0]
    return [
        Raw(raw.name, path, raw.offset + at, each, raw.dtype, raw.shape[1:], buffer[at : at + each])
        for at in range(0, raw.nbytes, each)
    ]


def experts(
    parts: Sequence[Sequence[Weight]],
    dtype: torch.dtype,
    quant: str | None = None,
    in_file: InFile = arena.schedule,
    fill: Fill = fill_now,
) -> KernelLinear:
    """As `Backend.experts`: one list of parts an expert, or one inner list whose weights have three axes."""
    if len(parts) == 1 and len(parts[0][0].shape) == 3:
        return KernelLinear(
            [pack(run, packing, in_file, fill) for packing, run in _runs(parts[0], quant)], dtype, parts[0][0].shape[0]
        )
    runs = [_runs(expert, quant) for expert in parts]  # of each expert
    kinds = [[(bytes(packing.format), [w.shape for w in run]) for packing, run in mine] for mine in runs]
    if any(kind != kinds[0] for kind in kinds):
        raise BackendMissing(
            "The experts of one mixture are stored in different ways; the CPU kernels need them alike."
        )
    matrices = []
    for each in zip(*runs):
        packing, first = each[0]
        made = PackedMatrix(packing, len(parts), sum(w.shape[0] for w in first), first[0].shape[1])
        fill(made, first, partial(_fill_experts, made, [run for _, run in each]))
        matrices.append(made)
    return KernelLinear(matrices, dtype, len(parts))


def _fill_experts(made: PackedMatrix, experts: Sequence[Sequence[Weight]]) -> None:
    for index, parts in enumerate(experts):
        first = 0
        for weight in parts:
            made.fill(weight, index, first)
            first += weight.shape[0]
