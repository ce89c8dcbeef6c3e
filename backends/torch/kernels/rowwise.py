"""A dense matrix that is multiplied row by row as it is stored, without being packed. Where a model wants 16 bits and the file
holds others, its rows are brought into that form once; bf16 comes to lie in twelve bits a number (twelve.py).

Rows go to huge pages, from where they are read half as fast again as from a mapped file: at once where there is no file, else
later (moving.py). f32 rows of a large file stay mapped, since a copy would take longer than many a reply, and memory that the
system can take back is worth more then. The same face as `packed.PackedMatrix`, without experts.
"""

from __future__ import annotations

import ctypes
import os

import psutil
import torch
from torch import Tensor

from backends.base import Raw
from backends.torch.kernels import arena, formats, moving, twelve
from backends.torch.kernels.library import Matrix, has_matrix_unit, library
from backends.torch.kernels.packed import check_rows
from backends.torch.load import STORED, mapped

TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
SMALL = 1 << 30  # bytes of a file whose f32 rows move too
MANY = (
    128  # tokens from which torch multiplies f32 rows as fast or faster, where there is no matrix unit (src/thirds.hpp)
)


class RowMatrix:
    """`[rows, columns]`, columns next to each other. A model that computes in f32 takes rows of any float."""

    def __init__(self, raw: Raw, dtype: torch.dtype = torch.float32) -> None:
        self.raw = raw
        in_file = type(raw) is Raw and os.path.isfile(raw.path)
        if dtype not in (torch.float32, TYPES[raw.dtype]):
            w, in_file = self._brought_to(dtype), False
        else:
            w = mapped(raw) if in_file or raw.dtype == "F32" else self._on_huge_pages()
        self.w = w  # kept: the kernels hold its address
        self.rows_each, self.columns = w.shape
        self.library = library()
        packing = formats.PACKINGS[next(name for name, kept in TYPES.items() if kept == w.dtype)]
        row_bytes = w.stride(0) * w.itemsize
        self.matrix = Matrix(packing.format, 1, self.rows_each, self.columns, w.data_ptr(), None, row_bytes)
        self.handle = ctypes.byref(self.matrix)
        self.nbytes = w.nbytes
        self.twelve: twelve.TwelveRows | None = None
        self.bias: Tensor | None = None
        if in_file and (raw.dtype != "F32" or _worth_a_copy(raw.path)):
            moving.later(self)

    def _on_huge_pages(self) -> Tensor:
        self._piece, address = arena.take(self.raw.nbytes)
        place = self._piece.bytes_at(address, self.raw.nbytes)
        _read(self.raw, memoryview(place.numpy()))
        return place.view(STORED[self.raw.dtype]).view(self.raw.shape)

    def _brought_to(self, dtype: torch.dtype) -> Tensor:
        stored = mapped(self.raw)
        nbytes = stored.numel() * dtype.itemsize
        self._piece, address = arena.take(nbytes)
        return self._piece.bytes_at(address, nbytes).view(dtype).view(stored.shape).copy_(stored)

    def move(self) -> None:
        """Safe while another thread multiplies: both places hold the same, and the old one stays readable."""
        if self.w.dtype == torch.bfloat16 and self.w.numel() >= twelve.LEAST and (made := twelve.to_twelve(self.w)):
            self.matrix.twelve = made.address  # before `rows` looks there
            self.twelve = made
            arena.give_back(self.w.data_ptr(), self.w.nbytes)
            return
        self._before = self.w
        self.w = self._on_huge_pages()
        self.matrix.data = self.w.data_ptr()
        arena.give_back(self._before.data_ptr(), self._before.nbytes)

    def set_bias(self, bias: Tensor) -> None:
        padded = torch.zeros(-(-self.rows_each // formats.PANEL) * formats.PANEL)
        padded[: self.rows_each] = bias
        self.bias = padded
        self.matrix.bias = padded.data_ptr()

    def matmul(self, x: Tensor, out: Tensor) -> None:
        """`out[t] = matrix @ x[t]`; f32, two axes, columns next to each other, rows any distance apart."""
        if len(x) >= MANY and self.w.dtype == torch.float32 and not has_matrix_unit():
            mine = out[:, : self.rows_each]
            torch.mm(x, self.w.t(), out=mine)
            if self.bias is not None:
                mine += self.bias[: self.rows_each]
            return
        self.library.grus_matmul(
            self.handle,
            x.data_ptr(),
            x.shape[0],
            x.stride(0),
            out.data_ptr(),
            out.stride(0),
            torch.get_num_threads(),
        )

    def rows(self, ids: Tensor) -> Tensor:
        """`[n, columns]` f32"""
        if self.twelve is None:
            return self.w.index_select(0, ids).float()
        check_rows(ids, self.rows_each)
        ids, found = ids.to(torch.int64).contiguous(), torch.empty(len(ids), self.columns)
        self.library.grus_rows_of_twelve(self.handle, ids.data_ptr(), len(ids), found.data_ptr())
        return found


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
