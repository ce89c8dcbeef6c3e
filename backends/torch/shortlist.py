"""The largest logit of each row without all logits, for a head of f32 rows.

Greedy decoding asks only which logit is the largest. A copy of the head in bytes, which is a quarter of it to read, tells every
logit within a bound that holds for certain; the few rows that can still be the largest are then multiplied as they are. So
the token and its logit are the very ones that all logits would have given (src/shortlist.cpp).
"""

from __future__ import annotations

import ctypes

import psutil
import torch

from backends.base import Dense
from backends.torch.kernels import library, moving
from backends.torch.kernels.formats import PACKINGS
from backends.torch.kernels.linear import AnyMatrix
from backends.torch.kernels.packed import pack
from backends.torch.kernels.rowwise import RowMatrix

LEAST = 1 << 22  # numbers of a head that is worth it
CLOSER = 1 / 32  # of the rows may be looked at as they are
ROUNDING = 2e-5  # of a sum in f32, as a part of the lengths that are multiplied: a hundred times what it is
AT_ONCE = 4096  # rows that are compared at once
HIGHEST = 1e30  # f32 has room above


class Shortlist:
    """Knows nothing until its copy is made, for which there is time once the model runs (moving.py)."""

    def __init__(self, head: RowMatrix) -> None:
        self.head = head
        self._coarse: _Coarse | None = None
        moving.later(self)

    def move(self) -> None:
        coarse = _Coarse(self.head)
        if coarse.struct.longest_input > 0:  # not so where something is no number
            self._coarse = coarse

    def tell(self, *asked: int | None) -> bool:
        """What `grus_best_of_product` does with the head, asked as that is (greedy.py), but for the mass, which is nearly right.
        False where that takes all logits: the copy is not made, too many rows are near the largest, something is no number,
        or so many tokens come that they are not multiplied in bytes."""
        if self._coarse is None:
            return False
        found: bool = library.library().grus_shortlist(ctypes.byref(self._coarse.struct), *asked)
        return found


class _Coarse:
    """The head in bytes, and how far each of its rows is from the row that it stands for."""

    def __init__(self, head: RowMatrix) -> None:
        self.matrix = pack([Dense(head.raw, "Q8_0")], PACKINGS["Q8_0"])
        self.length, self.off = torch.empty(head.rows_each), torch.empty(head.rows_each)
        for first in range(0, head.rows_each, AT_ONCE):
            some = slice(first, first + AT_ONCE)
            exact = head.w[some]
            coarse = self.matrix.rows(torch.arange(first, first + len(exact)))
            self.length[some] = coarse.norm(dim=-1)
            self.off[some] = (exact - coarse).norm(dim=-1) + ROUNDING * (exact.norm(dim=-1) + self.length[some])
        longest = float(torch.maximum(self.length, self.off).max())
        self.struct = library.Shortlist(
            ctypes.addressof(head.matrix),
            ctypes.addressof(self.matrix.matrix),
            self.off.data_ptr(),
            self.length.data_ptr(),
            HIGHEST / longest if 0 < longest < HIGHEST else 0,
            int(head.rows_each * CLOSER),
        )


def shortlist_for(head: AnyMatrix) -> Shortlist | None:
    """For a large matrix of f32, where memory has room for its copy."""
    if not isinstance(head, RowMatrix) or head.w.dtype != torch.float32 or head.bias is not None:
        return None
    if head.w.numel() < LEAST or head.nbytes > psutil.virtual_memory().available:
        return None
    return Shortlist(head)
