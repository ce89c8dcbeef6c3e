"""One matrix, or one mixture of experts, in the kernels' packed layout: packing, products, single rows, products by expert.

Packing reads a file's bytes in order and never copies them as a whole. Inputs and outputs are f32; biases and dtypes are handled in
`linear.py`.

Blocks of a memory-mapped file need not be packed before they are used: each product packs the panels it needs into a cache, until
the background thread has packed all of them (arena.py). So opening a model allocates none of the packed memory.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor

from backends.base import Affine, BackendMissing, Blocks, Dense, Raw, Reordered, Weight
from backends.torch.kernels import arena, formats
from backends.torch.kernels.formats import PANEL, PackedFormat, SourceFormat
from backends.torch.kernels.library import AffineParts, KernelMatrix, StoredRows, library

MOVED = 16 << 20  # bytes that are packed before as many in the file are given back


def packing_of(weight: Weight, quant: str | None = None) -> PackedFormat | None:
    """The packed format for this weight, or None if there is none. `quant` quantizes dense weights."""
    columns = weight.shape[-1]
    if isinstance(weight, Dense):
        if weight.data.dtype not in ("F32", "F16", "BF16") or quant not in (None, *formats.MADE_HERE):
            return None
        dense = formats.PACKINGS[quant or weight.data.dtype]
        # a row that no block divides is padded, but not where blocks hold blocks
        return dense if dense.columns <= 32 or columns % dense.columns == 0 else None
    if isinstance(weight, Affine):
        packing = formats.affine(weight.bits, weight.group, weight.scales.dtype)
    else:
        packing = formats.PACKINGS.get(weight.type)
    return packing if packing and columns % packing.columns == 0 else None


class MatrixHandle:
    """What the kernels read of a matrix, its products and its bias, however its rows are stored."""

    def __init__(self, matrix: KernelMatrix) -> None:
        self.experts, self.rows_each, self.columns = matrix.experts, matrix.rows, matrix.columns
        self.library = library()
        self.matrix = matrix
        self.handle = ctypes.byref(matrix)
        self.bias: Tensor | None = None

    def set_bias(self, bias: Tensor) -> None:
        """`[experts * rows]`, added to every product."""
        padded = torch.zeros(self.experts, -(-self.rows_each // PANEL) * PANEL)
        padded[:, : self.rows_each] = bias.reshape(self.experts, self.rows_each)
        self.bias = padded
        self.matrix.bias = padded.data_ptr()

    def matmul(self, x: Tensor, out: Tensor) -> None:
        """`out[t] = matrix @ x[t]`; f32, two axes, columns next to each other, rows any distance apart."""
        self.library.grus_matmul(
            self.handle,
            x.data_ptr(),
            x.shape[0],
            x.stride(0),
            out.data_ptr(),
            out.stride(0),
            torch.get_num_threads(),
        )


class PackedMatrix(MatrixHandle):
    """`[rows, columns]`, or `[experts, rows, columns]`."""

    def __init__(self, packing: PackedFormat, experts: int, rows: int, columns: int) -> None:
        super().__init__(KernelMatrix(packing.format, experts, rows, columns, None, None, 0))
        self.nbytes: int = self.library.grus_packed_bytes(self.handle)
        self._panels = -(-rows // PANEL)  # of each expert
        self._piece: arena.HugePageBlock | None = None  # where it is packed
        self._kept: np.ndarray | None = None  # its bytes in a file, packed before
        self.store: object = None  # what writes it to that file, which lives as long as it does

    # -- filling

    def fill(self, weight: Weight, expert: int = 0, first: int = 0) -> None:
        """Pack all rows of `weight` as rows `first ...` of `expert`; a weight of three axes fills all experts."""
        if self.matrix.data is None:
            self._piece, self.matrix.data = arena.allocate(self.nbytes)
            self.library.grus_prepare(self.handle)
        # read once, and held until packed: the bytes of a computed tensor exist only as long as somebody holds them
        raws = (weight.packed, weight.scales, weight.biases) if isinstance(weight, Affine) else (weight.data,)
        held = [_bytes(raw) for raw in raws]
        if len(weight.shape) == 3:
            for index in range(weight.shape[0]):
                self._fill(weight, held, index, index, first)
        else:
            self._fill(weight, held, 0, expert, first)

    def _fill(self, weight: Weight, held: Sequence[np.ndarray], index: int, expert: int, first: int) -> None:
        rows = weight.shape[-2]
        affine: AffineParts | None = None
        if isinstance(weight, Affine):
            source = SourceFormat.AFFINE
            groups = self.columns // weight.group
            kind = formats.Scale[weight.scales.dtype]
            row_bytes = groups * (4 if kind == formats.Scale.F32 else 2)
            scales = _address(weight.scales, held[1], index, rows * row_bytes)
            biases = _address(weight.biases, held[2], index, rows * row_bytes)
            affine = AffineParts(scales, biases, row_bytes, weight.bits, weight.group, kind)
            data = _address(weight.packed, held[0], index, rows * self.columns * weight.bits // 8)
        else:
            source = SourceFormat[weight.type] if isinstance(weight, Blocks) else SourceFormat[weight.data.dtype]
            nbytes = rows * self.library.grus_source_row_bytes(source, self.columns)
            data = _address(weight.data, held[0], index, nbytes)
        parts = None if affine is None else ctypes.byref(affine)
        factor = weight.factor(index) if isinstance(weight, Blocks) else 1.0
        self.library.grus_pack(self.handle, expert, first, rows, source, data, parts, factor, torch.get_num_threads())

    def use_in_place(self, parts: Sequence[Blocks]) -> None:
        """Use the rows of `parts`, stacked, in place in their memory-mapped files."""
        self._in_place, self._factors, first = [], [], 0
        for part in parts:
            raw, order = (part.data.origin, part.data.order) if isinstance(part.data, Reordered) else (part.data, None)
            held = _bytes(raw)
            source, rows = SourceFormat[part.type], part.shape[-2]
            size = self.experts * rows * self.library.grus_source_row_bytes(source, self.columns)
            where = None if order is None else order.ctypes.data
            factors = np.array([part.factor(expert) for expert in range(self.experts)], np.float32)
            stored = StoredRows(first, rows, _address(raw, held, 0, size), where, source, factors.ctypes.data)
            self._in_place.append((stored, held, order))
            self._factors.append(factors)
            first += rows
        self._stored = (StoredRows * len(parts))(*(stored for stored, _, _ in self._in_place))
        self.matrix.stored, self.matrix.stored_count = ctypes.addressof(self._stored), len(parts)
        self.matrix.unpacked = self.experts * self._panels

    def use_packed(self, kept: np.ndarray) -> None:
        """Use what was packed before, in its mapped file, until it is copied."""
        self._kept = kept
        self.matrix.data = kept.ctypes.data
        arena.schedule(self)

    def packed_bytes(self) -> memoryview:
        """All of it, as it is packed. It keeps the memory alive."""
        if self._piece is not None:
            return self._piece.bytes_at(self.matrix.data, self.nbytes).numpy().data
        return cast(np.ndarray, self._kept).data

    def _copy(self, kept: np.ndarray) -> None:
        self._piece, address = arena.allocate(self.nbytes)
        ctypes.memmove(address, kept.ctypes.data, self.nbytes)
        self.matrix.data = address
        arena.release(kept.ctypes.data, self.nbytes)

    def move(self) -> None:
        """Safe during concurrent products: a packed panel equals its rows in the file, and both stay readable."""
        if self._kept is not None:
            self._copy(self._kept)
            return
        self._piece, self.matrix.data = arena.allocate(self.nbytes)
        some = max(1, MOVED * self.experts * self._panels // self.nbytes)
        given = [0] * len(self._in_place)
        while self.matrix.unpacked:
            self.library.grus_pack_more(self.handle, some, 1)  # the other threads are left to running requests
            expert, panel = divmod(self.experts * self._panels - self.matrix.unpacked, self._panels)
            for i, (stored, held, order) in enumerate(self._in_place):
                rows = expert * stored.rows + min(max(panel * PANEL - stored.first, 0), stored.rows)
                if order is None or rows == self.experts * stored.rows:
                    done = rows * (held.nbytes // (self.experts * stored.rows))
                    arena.release(stored.data + given[i], done - given[i])
                    given[i] = done

    # -- using

    def rows(self, ids: Tensor) -> Tensor:
        """`[n, columns]` f32; rows of all experts are numbered through."""
        ids = ids.to(torch.int64).contiguous()
        check_rows(ids, self.experts * self.rows_each)
        out = torch.empty(ids.numel(), self.columns)
        self.library.grus_rows(self.handle, ids.data_ptr(), ids.numel(), out.data_ptr(), torch.get_num_threads())
        return out

    def gather(self, x: Tensor, x_rows: Tensor, experts: Tensor, out_rows: Tensor, out: Tensor) -> None:
        """`out[out_rows[i]] = matrix[experts[i]] @ x[x_rows[i]]`; `experts` is sorted, all three are int64."""
        self.library.grus_gather(
            self.handle,
            x.data_ptr(),
            x.stride(0),
            x_rows.data_ptr(),
            experts.data_ptr(),
            out_rows.data_ptr(),
            experts.numel(),
            out.data_ptr(),
            out.stride(0),
            torch.get_num_threads(),
        )


def check_rows(ids: Tensor, rows: int) -> None:
    asked = ids.tolist()  # faster than to look for the least and the largest one
    if asked and not 0 <= min(asked) <= max(asked) < rows:
        raise IndexError(f"a row is asked for that is not in 0 .. {rows - 1}")


def _bytes(raw: Raw) -> np.ndarray:
    return np.frombuffer(raw.buffer, np.uint8)


def _in_a_file(part: Blocks) -> bool:
    raw = part.data
    if isinstance(raw, Reordered):
        # an order of rows, not of experts
        return (
            len(part.shape) == 2
            and len(raw.order) == part.shape[0]
            and type(raw.origin) is Raw
            and os.path.isfile(raw.path)
        )
    return type(raw) is Raw and os.path.isfile(raw.path)


def _address(raw: Raw, held: np.ndarray, index: int, nbytes: int) -> int:
    """Where matrix `index` begins in the bytes of `raw`, each being `nbytes` long."""
    if held.nbytes < max(raw.nbytes, (index + 1) * nbytes):
        raise BackendMissing(
            f"{raw.name} has {held.nbytes} bytes; its shape needs {(index + 1) * nbytes}. The file is damaged."
        )
    return int(held.__array_interface__["data"][0]) + index * nbytes


# Packs a matrix, by calling what packs its parts, or finds it in a file of what was packed before.
Fill = Callable[[PackedMatrix, Sequence[Weight], Callable[[], None]], None]


def fill_now(made: PackedMatrix, parts: Sequence[Weight], pack: Callable[[], None]) -> None:
    pack()


InFile = Callable[[PackedMatrix], None]  # called with each matrix that is used where its file has it


def pack(
    parts: Sequence[Weight], packing: PackedFormat, in_file: InFile = arena.schedule, fill: Fill = fill_now
) -> PackedMatrix:
    """Matrices of one packing, stacked along the output. What can be used in its file is, until it is packed in the background."""
    experts = parts[0].shape[0] if len(parts[0].shape) == 3 else 1
    made = PackedMatrix(packing, experts, sum(p.shape[-2] for p in parts), parts[0].shape[-1])
    in_place = [part for part in parts if isinstance(part, Blocks) and _in_a_file(part)]
    if len(in_place) == len(parts):
        made.use_in_place(in_place)
        in_file(made)
        return made

    def pack_parts() -> None:
        first = 0
        for part in parts:
            made.fill(part, first=first)
            first += part.shape[-2]

    fill(made, parts, pack_parts)
    return made
