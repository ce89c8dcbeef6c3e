"""The file of a model's packed matrices: a header in JSON, and each matrix at a page of its own, so that it can be mapped.

The header tells matrices by what they are made of, has the key of all that they depend on, and the files that they were made from.
"""

from __future__ import annotations

import json
import mmap
import os
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_MAGIC = b"GRUSPK01"
_ALIGNED = 16384  # bytes of the largest page of memory
_WRITTEN = 16 << 20  # bytes at a time, between which the end of the process is looked for

PART = ".part"  # how a file ends while it is written

Source = tuple[str, int, int]  # a file, its size, and when it was changed (st_mtime_ns)


@dataclass(frozen=True)
class PackedPlace:
    """Where a model's packed weights are kept on disk."""

    file: Path
    key: str  # of whatever they are made from; another one's file is not used
    sources: Sequence[Source]
    make_room: Callable[[int], bool]  # for so many bytes, before they are written; False: there is none


def read(path: Path, key: str) -> defaultdict[str, deque[np.ndarray]]:
    """The bytes of each matrix in the file, mapped, by what it is made of. Empty where the file is not there, not whole or of another key."""
    found: defaultdict[str, deque[np.ndarray]] = defaultdict(deque)
    header = _header_of(path)
    if header is None or header.key != key:
        return found
    with suppress(OSError), path.open("rb") as file:
        if os.fstat(file.fileno()).st_size != header.size:
            return found
        mapping = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        os.utime(path)  # what was not used for longest goes first
        for what, offset, nbytes in header.matrices:
            found[what].append(mapping[offset : offset + nbytes])
    return found


@dataclass(frozen=True)
class _Header:
    key: str
    size: int  # of the whole file
    sources: list[Source]
    matrices: list[tuple[str, int, int]]  # what each is made of, where it begins, and its bytes


def _header_of(path: Path) -> _Header | None:
    """What a file says about itself; None where it is none of these."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC) + 8)
            if not start.startswith(_MAGIC):
                return None
            found = json.loads(file.read(int.from_bytes(start[len(_MAGIC) :], "little")))
        sources = [(str(path), int(size), int(time)) for path, size, time in found["sources"]]
        matrices = [(str(what), int(at), int(nbytes)) for what, at, nbytes in found["matrices"]]
        return _Header(str(found["key"]), int(found["size"]), sources, matrices)
    except (OSError, ValueError, TypeError, KeyError, MemoryError, OverflowError):
        return None


def _header(place: PackedPlace, names: Sequence[str], sizes: Sequence[int]) -> tuple[bytes, list[int], int]:
    """The file's beginning, where each matrix lies, and the size of the whole."""

    def placed(start: int) -> list[int]:
        offsets = []
        for nbytes in sizes:
            offsets.append(start)
            start += -(-nbytes // _ALIGNED) * _ALIGNED
        return [*offsets, start]

    def made(start: int) -> bytes:
        *offsets, size = placed(start)
        facts = {"key": place.key, "size": size, "sources": place.sources, "matrices": list(zip(names, offsets, sizes))}
        text = json.dumps(facts).encode()
        return _MAGIC + len(text).to_bytes(8, "little") + text

    start = -(-len(made(1 << 50)) // _ALIGNED) * _ALIGNED  # offsets have fewer digits than these
    *offsets, size = placed(start)
    return made(start), offsets, size


def write(
    place: PackedPlace,
    names: Sequence[str],
    sizes: Sequence[int],
    bytes_of: Callable[[int], memoryview | None],
    ends: Callable[[], bool],
) -> bool:
    """Write matrix i from `bytes_of(i)`. False, and no file: one of them is gone, or the process `ends`. Raises OSError."""
    header, offsets, size = _header(place, names, sizes)
    if not place.make_room(size):
        return False
    part = place.file.with_name(f"{place.file.name}.{uuid.uuid4().hex}{PART}")
    try:
        with part.open("xb", buffering=0) as file:
            file.write(header)
            for i, offset in enumerate(offsets):
                if (data := bytes_of(i)) is None:
                    return False
                file.seek(offset)
                for at in range(0, len(data), _WRITTEN):
                    if ends():
                        return False
                    left = data[at : at + _WRITTEN]
                    while left:
                        left = left[file.write(left) :]
            file.truncate(size)
            os.fsync(file.fileno())
        os.replace(part, place.file)
    finally:
        with suppress(OSError):
            part.unlink()
    return True


def sources_of(path: Path) -> list[Source] | None:
    """The files that a file's matrices were made from; None where it is no such file."""
    header = _header_of(path)
    return None if header is None else header.sources
