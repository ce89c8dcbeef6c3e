"""bf16 rows in twelve bits a number, without loss: what a step reads is less by a quarter (src/formats/bf16_12bit.hpp)."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from backends.torch.kernels import arena
from backends.torch.kernels.formats import PANEL
from backends.torch.kernels.library import Twelve, library

LEAST = 1 << 16  # numbers of a matrix that is worth it
MOST = 1 / 64  # of the numbers may have exponents apart from the others'
LOOKED_AT = 64  # rows that tell whether so few have
COLUMNS, BYTES = 128, 192  # of a block


class TwelveRows:
    """What `Matrix.twelve` points to, as long as this object lives."""

    def __init__(
        self, columns: int, piece: arena.Piece, address: int, bases: Tensor, counts: Tensor, w: Tensor
    ) -> None:
        self._piece, self._bases = piece, bases
        ends = counts.cumsum(0)
        last = torch.arange(PANEL, len(w) + PANEL, PANEL).clamp_max(len(w)) - 1  # row of each panel
        self._starts = torch.cat((torch.zeros(1, dtype=torch.int64), ends[last]))
        self._odd = torch.empty(int(ends[-1]), dtype=torch.int64)  # GrusOdd: eight bytes each
        library().grus_odd_of_twelve(
            w.data_ptr(), len(w), columns, bases.data_ptr(), counts.data_ptr(), self._odd.data_ptr()
        )
        self.nbytes = len(w) * row_bytes(columns) + sum(t.nbytes for t in (bases, self._starts, self._odd))
        self._struct = Twelve(address, bases.data_ptr(), self._starts.data_ptr(), self._odd.data_ptr())
        self.address = ctypes.addressof(self._struct)


def row_bytes(columns: int) -> int:
    return -(-columns // COLUMNS) * BYTES


def to_twelve(w: Tensor) -> TwelveRows | None:
    """`w` bf16 `[rows, columns]` without gaps. None where too many of its exponents lie apart."""
    rows, columns = w.shape
    few = w[:LOOKED_AT]
    room = torch.empty(len(few) * row_bytes(columns), dtype=torch.uint8)
    if _encode(few, room.data_ptr())[1].sum() > few.numel() * MOST:
        return None
    piece, address = arena.take(rows * row_bytes(columns))
    bases, counts = _encode(w, address)
    if counts.sum() > w.numel() * MOST:
        return None
    return TwelveRows(columns, piece, address, bases, counts, w)


def _encode(w: Tensor, address: int) -> tuple[Tensor, Tensor]:
    """Each row's base, and how many of its numbers have no code."""
    bases, counts = torch.empty(len(w), dtype=torch.uint8), torch.empty(len(w), dtype=torch.int64)
    library().grus_to_twelve(w.data_ptr(), *w.shape, address, bases.data_ptr(), counts.data_ptr())
    return bases, counts
