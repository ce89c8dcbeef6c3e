"""Greedy decoding on a CPU: the largest logit of each row, for large f32 heads without computing all logits.

A copy of the head in 8 bits, a quarter of it to read, gives each logit within an error bound; only rows that can still be the
largest are multiplied exactly. The token and its logit are therefore exactly those of the full product (src/sampling/shortlist.cpp).
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import psutil
import torch
from torch import Tensor

from backends.base import Dense
from backends.torch.kernels import arena, library
from backends.torch.kernels.formats import PACKINGS
from backends.torch.kernels.linear import AnyMatrix, RowMatrix
from backends.torch.kernels.packed import pack
from backends.torch.program import Opcode
from backends.torch.tracing import ProgramTracer

GREEDY_TOKENS = 16  # at most: all their logits are kept as scratch memory
SHORTLIST_WEIGHTS = 1 << 22  # weights from which a head gets a shortlist
SHORTLIST_SHARE = 1 / 32  # the largest share of rows that may be multiplied exactly
SHORTLIST_ROUNDING = 2e-5  # bound on f32 rounding relative to the vectors' lengths: a hundred times the real error
AT_ONCE = 4096  # rows that are compared at once
HIGHEST = 1e30  # below f32's range


class Best(NamedTuple):
    logits: Tensor  # [N]
    places: Tensor  # [N]
    logprobs: Tensor | None  # [N]


class GreedyHead:
    def __init__(self, head: AnyMatrix) -> None:
        self.head = head
        self.library = library.library()
        self.shortlist = shortlist_for(head)

    @property
    def shortlist_address(self) -> int | None:
        """None as long as there is none."""
        return None if self.shortlist is None else self.shortlist.address

    def best(self, x: Tensor, likely: bool = False) -> Best:
        """The largest logit of each row of `x [N, D]` (f32) and its index. Ties go to the lower index; NaN where a row has one.
        With `likely` also the log probabilities, which are approximate with a shortlist."""
        x = x.contiguous()
        values, places = torch.empty(len(x)), torch.empty(len(x), dtype=torch.int64)
        mass = torch.empty(len(x)) if likely else None
        asked = (
            *(x.data_ptr(), len(x), x.stride(0), values.data_ptr(), places.data_ptr()),
            *(None if mass is None else mass.data_ptr(), torch.get_num_threads()),
        )
        if self.shortlist is None or not self.shortlist.argmax(*asked):
            self.library.grus_matmul_argmax(self.head.handle, *asked)
        return Best(values, places, None if mass is None else -mass.log_())


def greedy_head(tracer: ProgramTracer) -> GreedyHead | None:
    """None where the logits are not a plain product with one matrix."""
    plain = len(tracer.lines) == 1 and tracer.lines[0].opcode is Opcode.MULTIPLY
    return GreedyHead(tracer.lines[0].fields["matrix"]) if plain else None


class ArgmaxShortlist:
    """Finds each row's largest logit with the 8-bit copy of a head. Inactive until the copy is made, in idle time (arena.py)."""

    def __init__(self, head: RowMatrix) -> None:
        self.head = head
        self._coarse: _Coarse | None = None
        arena.schedule(self)

    def move(self) -> None:
        coarse = _Coarse(self.head)
        if coarse.struct.longest_input > 0:  # false where a weight is not finite
            self._coarse = coarse

    @property
    def address(self) -> int | None:
        return None if self._coarse is None else ctypes.addressof(self._coarse.struct)

    def argmax(self, *asked: int | None) -> bool:
        """Same arguments and results as the kernel `grus_matmul_argmax`, except that the mass is approximate. False where all
        logits are needed: the copy is not ready, too many rows are near the largest, a value is not finite, or there are too
        many tokens to multiply in 8 bits."""
        if self._coarse is None:
            return False
        found: bool = library.library().grus_shortlist(ctypes.byref(self._coarse.struct), *asked)
        return found


class _Coarse:
    """The head in 8 bits, and the error bound of each of its rows."""

    def __init__(self, head: RowMatrix) -> None:
        self.matrix = pack([Dense(head.raw, "Q8_0")], PACKINGS["Q8_0"])
        self.length, self.off = torch.empty(head.rows_each), torch.empty(head.rows_each)
        for first in range(0, head.rows_each, AT_ONCE):
            some = slice(first, first + AT_ONCE)
            exact = head.w[some]
            coarse = self.matrix.rows(torch.arange(first, first + len(exact)))
            self.length[some] = coarse.norm(dim=-1)
            self.off[some] = (exact - coarse).norm(dim=-1) + SHORTLIST_ROUNDING * (
                exact.norm(dim=-1) + self.length[some]
            )
        longest = float(torch.maximum(self.length, self.off).max())
        self.struct = library.ShortlistParams(
            ctypes.addressof(head.matrix),
            ctypes.addressof(self.matrix.matrix),
            self.off.data_ptr(),
            self.length.data_ptr(),
            HIGHEST / longest if 0 < longest < HIGHEST else 0,
            int(head.rows_each * SHORTLIST_SHARE),
        )


def shortlist_for(head: AnyMatrix) -> ArgmaxShortlist | None:
    """A shortlist for a large f32 matrix, if memory has room for its copy."""
    if not isinstance(head, RowMatrix) or head.w.dtype != torch.float32 or head.bias is not None:
        return None
    if head.w.numel() < SHORTLIST_WEIGHTS or head.nbytes > psutil.virtual_memory().available:
        return None
    return ArgmaxShortlist(head)
