"""Memory for weights, keys and values: a few large pieces, on huge pages where the system has them.

A step reads all of them once, in order, so with ordinary pages the processor looks up an address every four kilobytes; on
a virtual machine that took 40 % of the rate at which one core reads. Memory goes back when the last user of a piece does,
and takes none before it is written to.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
import weakref
from contextlib import suppress

import torch
from torch import Tensor

PIECE = 64 << 20
HUGE = 2 << 20
LINE = 64


class Piece:
    """`address`, aligned to a huge page, is good for `size` bytes as long as this object lives."""

    def __init__(self, size: int) -> None:
        private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
        self._map = mmap.mmap(-1, size + HUGE, **private)  # shared memory, the default, gets no huge pages
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with suppress(OSError):  # a system without them: the same memory, read more slowly
                self._map.madvise(mmap.MADV_HUGEPAGE)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self.address, self.size, self.used = -(-self._start // HUGE) * HUGE, size, 0

    def bytes_at(self, address: int, nbytes: int) -> Tensor:
        """A tensor of these bytes, which keeps the piece."""
        return torch.frombuffer(memoryview(self._map), dtype=torch.uint8, count=nbytes, offset=address - self._start)


_lock = threading.Lock()
_open: weakref.ref[Piece] | None = None  # the piece that the next matrix may go into


def take(nbytes: int) -> tuple[Piece, int]:
    """An address aligned to a cache line, and what must be kept as long as it is used. The memory is zero."""
    global _open
    with _lock:
        piece = _open() if _open is not None else None
        if piece is None or piece.size - piece.used < nbytes:
            piece = Piece(max(PIECE, -(-nbytes // HUGE) * HUGE))
            _open = weakref.ref(piece)
        address = piece.address + piece.used
        piece.used += -(-nbytes // LINE) * LINE
        return piece, address


def zeros(nbytes: int) -> Tensor:
    """Bytes of their own."""
    piece = Piece(max(nbytes, 1))
    return piece.bytes_at(piece.address, max(nbytes, 1))


def give_back(address: int, nbytes: int) -> None:
    """The memory, not the address, of bytes in a mapped file: whoever still reads them fetches them again."""
    if not hasattr(mmap, "MADV_DONTNEED") or os.name != "posix":
        return
    first = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
    end = (address + nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if first < end:
        ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), mmap.MADV_DONTNEED)
