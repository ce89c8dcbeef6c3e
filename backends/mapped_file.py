"""A file that is mapped copy-on-write, and how arrays over it lead back to it, so that a KV cache can take its pages as memory."""

from __future__ import annotations

import mmap
from typing import Any, BinaryIO

import numpy as np


class MappedFile(mmap.mmap):
    """The whole of a file. Writing to its memory changes no file. `file` stays open as long as the mapping."""

    file: BinaryIO

    def __new__(cls, file: BinaryIO) -> MappedFile:
        made = super().__new__(cls, file.fileno(), 0, access=mmap.ACCESS_COPY)
        made.file = file
        return made

    @property
    def address(self) -> int:
        return int(np.frombuffer(self, np.uint8, 1).ctypes.data)


def mapped_file_of(array: np.ndarray) -> MappedFile | None:
    """The mapped file in whose memory an array lies."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    found = base.obj if isinstance(base, memoryview) else base
    return found if isinstance(found, MappedFile) else None
