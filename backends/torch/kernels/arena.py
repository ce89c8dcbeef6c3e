"""Allocation of memory for weights and KV caches in large blocks, on huge pages where the system has them.

A step reads all of this memory once, in order. With ordinary pages the processor translates an address every four kilobytes; on
a virtual machine that took 40 % of one core's read bandwidth. A block is freed when its last user is, and takes no physical
memory before it is written to.
"""

from __future__ import annotations

import atexit
import ctypes
import mmap
import os
import threading
import time
import weakref
from collections import deque
from contextlib import suppress
from typing import Protocol

import torch
from torch import Tensor

BLOCK = 64 << 20
HUGE_PAGE = 2 << 20
CACHE_LINE = 64


class HugePageBlock:
    """`size` bytes of memory at `address`, aligned to a huge page, owned by this object."""

    def __init__(self, size: int) -> None:
        private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
        self._map = mmap.mmap(-1, size + HUGE_PAGE, **private)  # shared memory, the default, gets no huge pages
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with suppress(OSError):  # a system without them: the same memory, read more slowly
                self._map.madvise(mmap.MADV_HUGEPAGE)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self.address, self.size, self.used = -(-self._start // HUGE_PAGE) * HUGE_PAGE, size, 0

    def bytes_at(self, address: int, nbytes: int) -> Tensor:
        """A tensor over these bytes. It keeps the block alive."""
        return torch.frombuffer(memoryview(self._map), dtype=torch.uint8, count=nbytes, offset=address - self._start)


_lock = threading.Lock()
_open: weakref.ref[HugePageBlock] | None = None  # the block that the next allocation may go into


def allocate(nbytes: int) -> tuple[HugePageBlock, int]:
    """Allocate zeroed memory aligned to a cache line. Returns its block, which must be kept alive, and the address."""
    global _open
    with _lock:
        block = _open() if _open is not None else None
        if block is None or block.size - block.used < nbytes:
            block = HugePageBlock(max(BLOCK, -(-nbytes // HUGE_PAGE) * HUGE_PAGE))
            _open = weakref.ref(block)
        address = block.address + block.used
        block.used += -(-nbytes // CACHE_LINE) * CACHE_LINE
        return block, address


def zeros(nbytes: int) -> Tensor:
    """Zeroed bytes in a block of their own."""
    block = HugePageBlock(max(nbytes, 1))
    return block.bytes_at(block.address, max(nbytes, 1))


def release(address: int, nbytes: int) -> None:
    """Release the physical pages of a mapped file's bytes. The address stays valid; reading it loads them again."""
    if not hasattr(mmap, "MADV_DONTNEED") or os.name != "posix":
        return
    first = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
    end = (address + nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if first < end:
        ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), mmap.MADV_DONTNEED)


# -- background repacking: weights are used from the memory-mapped file at first, and are packed or copied to huge pages by one thread
# while the model already runs.
#
# Most of the time of opening a file goes into fresh memory, which the system clears page by page. The mapped file needs none; it is
# read a third more slowly, and blocks in it are packed at each use. So a model starts on the mapped file, and the thread repacks its
# matrices when no new one was scheduled for a while.

QUIET = 0.3  # seconds without a newly scheduled matrix: until then the model is still being loaded


class _Repackable(Protocol):
    def move(self) -> None: ...


_waiting: deque[weakref.ref[_Repackable]] = deque()
_last = 0.0
_thread: threading.Thread | None = None
_ending = threading.Event()


def schedule(matrix: _Repackable) -> None:
    """Call `matrix.move` in the background, unless the matrix has been freed by then."""
    global _last, _thread
    with _lock:
        _waiting.append(weakref.ref(matrix))
        _last = time.monotonic()
        if _thread is None or not _thread.is_alive():  # a forked child has none of its parent's threads
            _thread = threading.Thread(target=_move_all, name="grus-repack", daemon=True)
            _thread.start()


def _move_all() -> None:
    global _thread
    while True:
        while (left := _last + QUIET - time.monotonic()) > 0:
            if _ending.wait(left):
                break
        with _lock:
            if not _waiting or _ending.is_set():
                _thread = None
                return
            matrix = _waiting.popleft()()
        if matrix is not None:
            with suppress(MemoryError, OSError):  # then it stays where it is
                matrix.move()
        del matrix


def ending() -> bool:
    """Whether the process ends, and what is left to do in the background is left undone."""
    return _ending.is_set()


@atexit.register
def _end() -> None:
    """Stop the thread at exit: the interpreter would kill it inside torch, which aborts the process."""
    _ending.set()
    if (thread := _thread) is not None:
        thread.join()


def wait() -> None:
    """Wait until everything scheduled has been repacked."""
    while (thread := _thread) is not None and thread.is_alive():
        thread.join(0.05)
