"""Which shared libraries an ELF file asks the loader for. Reads the file itself: no `readelf` is needed."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

LOAD, DYNAMIC = 1, 2  # kinds of program header
NEEDED, STRINGS = 1, 5  # tags of the dynamic section


def needed(path: Path) -> list[str]:
    """The names under NEEDED of a 64-bit little-endian file; nothing for a file of another kind."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        return []
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    # kind, flags, offset in the file, address, physical address, size in the file, size in memory, alignment
    headers = [struct.unpack_from("<IIQQQQQQ", data, start + i * size) for i in range(count)]
    tags: list[tuple[int, int]] = []
    for header in headers:
        if header[0] == DYNAMIC:
            tags = list(struct.iter_unpack("<qQ", data[header[2] : header[2] + header[5] // 16 * 16]))
    address = dict(tags).get(STRINGS)
    if address is None:
        return []
    strings = next(h[2] + address - h[3] for h in headers if h[0] == LOAD and h[3] <= address < h[3] + h[5])
    return [_string(data, strings + value) for tag, value in tags if tag == NEEDED]


def _string(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()


def closure(files: Iterable[Path], bundled: dict[str, Path]) -> tuple[set[Path], dict[str, set[str]]]:
    """All files that loading these loads from the bundle, and what they ask the system for: library -> who asks."""
    loaded: set[Path] = set()
    outside: dict[str, set[str]] = {}
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        if path in loaded:
            continue
        loaded.add(path)
        for name in needed(path):
            if name in bundled:
                waiting.append(bundled[name])
            else:
                outside.setdefault(name, set()).add(path.name)
    return loaded, outside
