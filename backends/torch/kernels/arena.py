"""Memory for packed weights: many matrices in a few large pieces, on huge pages where the system has them.

A step reads every weight once, in order, so with ordinary pages the processor looks up an address every four kilobytes; on
a virtual machine that took 40 % of the rate at which one core reads. Memory goes back when the last matrix of a piece does.
"""

from __future__ import annotations

import ctypes
import mmap
import threading
import weakref

PIECE = 64 << 20
HUGE = 2 << 20
LINE = 64


class Piece:
    """`address`, aligned to a huge page, is good for `size` bytes as long as this object lives."""

    def __init__(self, size: int) -> None:
        private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
        self._map = mmap.mmap(-1, size + HUGE, **private)  # shared memory, the default, gets no huge pages
        if hasattr(mmap, "MADV_HUGEPAGE"):
            try:
                self._map.madvise(mmap.MADV_HUGEPAGE)
            except OSError:  # a system without them: the same memory, read more slowly
                pass
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self.address, self.size, self.used = -(-start // HUGE) * HUGE, size, 0


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
