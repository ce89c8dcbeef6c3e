"""Lossless 12-bit encoding of bf16 rows (`bf12` in identifiers): a step reads a quarter less memory (src/formats/bf16_12bit.hpp)."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from backends.torch.kernels import arena
from backends.torch.kernels.formats import PANEL
from backends.torch.kernels.library import Bf12Matrix, library

LEAST = 1 << 16  # numbers of a matrix that is encoded
MOST = 1 / 64  # of the numbers may be outliers
LOOKED_AT = 64  # rows that are sampled first
COLUMNS, BYTES = 128, 192  # of a block


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
    return -(-columns // COLUMNS) * BYTES


def encode_bf12(w: Tensor) -> Bf12Rows | None:
    """`w` bf16 `[rows, columns]` without gaps. None if there are too many outliers."""
    rows, columns = w.shape
    few = w[:LOOKED_AT]
    room = torch.empty(len(few) * row_bytes(columns), dtype=torch.uint8)
    if _encode(few, room.data_ptr())[1].sum() > few.numel() * MOST:
        return None
    piece, address = arena.allocate(rows * row_bytes(columns))
    bases, counts = _encode(w, address)
    if counts.sum() > w.numel() * MOST:
        return None
    return Bf12Rows(columns, piece, address, bases, counts, w)


def _encode(w: Tensor, address: int) -> tuple[Tensor, Tensor]:
    """The base exponent of each row, and its number of outliers."""
    bases, counts = torch.empty(len(w), dtype=torch.uint8), torch.empty(len(w), dtype=torch.int64)
    library().grus_bf12_encode(w.data_ptr(), *w.shape, address, bases.data_ptr(), counts.data_ptr())
    return bases, counts
