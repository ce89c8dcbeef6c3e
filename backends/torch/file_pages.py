"""Pages of a mapped file in place of memory of the KV cache.

A prefix from disk is hundreds of megabytes. To copy it, the system first has to clear as much fresh memory, which takes longer than all else: on
two cores of Zen 4, in a virtual machine, 0.2 to 7 seconds for 650 MB, where reading the mapped file takes 0.05. So the file's pages are mapped over
the slab's own, privately: what a step writes is copied page by page, and the file stays as it is.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from functools import cache
from typing import Any

from torch import Tensor

from backends.mapped_file import MappedFile

_READ_WRITE = 3
_PRIVATE_FIXED = 0x12  # MAP_PRIVATE | MAP_FIXED, on Linux and macOS
_FAILED = ctypes.c_void_p(-1).value


@cache
def _libc() -> Any:
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *3 * [ctypes.c_int], ctypes.c_int64]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return libc


def map_over(target: Tensor, source: Tensor, file: MappedFile) -> bool:
    """Give `target [heads, capacity, width]` the pages of `source [heads, n, width]`, which lies in `file`. False: nothing was done, since
    they do not begin at pages. Behind the n tokens the last page holds what it holds in the file."""
    if os.name != "posix" or not target.is_contiguous() or source.dtype != target.dtype:
        return False
    page, size = mmap.PAGESIZE, source.element_size()
    first = source.data_ptr() - file.address
    step, target_step = source.stride(0) * size, target.stride(0) * size
    nbytes = source.shape[1] * source.shape[2] * size
    whole = -(-nbytes // page) * page
    places = first, step, target.data_ptr(), target_step
    if nbytes < page or any(place % page for place in places) or not source[0].is_contiguous():
        return False
    if first < 0 or first + (len(source) - 1) * step + nbytes > len(file):
        return False
    for head in range(len(source)):
        start = target.data_ptr() + head * target_step
        made = _libc().mmap(start, whole, _READ_WRITE, _PRIVATE_FIXED, file.file.fileno(), first + head * step)
        if made == _FAILED:  # too many mappings; those that were made are copied over
            return False
        # The next tokens take ordinary pages: a huge one for each head would be as much fresh memory as is saved here.
        if hasattr(mmap, "MADV_NOHUGEPAGE") and whole < target_step:
            _libc().madvise(start + whole, target_step - whole, mmap.MADV_NOHUGEPAGE)
    return True
