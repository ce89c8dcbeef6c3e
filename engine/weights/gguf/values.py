"""The typed values of a GGUF header, read from bytes that nobody vouches for.

Every length is checked against what is left of the file before anything is made of it. Arrays are measured, not read:
a vocabulary of a quarter of a million strings costs nothing until somebody asks for it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import WeightsError

STRING, ARRAY = 8, 9
SCALARS: dict[int, struct.Struct] = {
    0: struct.Struct("<B"),
    1: struct.Struct("<b"),
    2: struct.Struct("<H"),
    3: struct.Struct("<h"),
    4: struct.Struct("<I"),
    5: struct.Struct("<i"),
    6: struct.Struct("<f"),
    7: struct.Struct("<?"),
    10: struct.Struct("<Q"),
    11: struct.Struct("<q"),
    12: struct.Struct("<d"),
}
_DTYPES = {0: "u1", 1: "i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "u1", 10: "<u8", 11: "<i8", 12: "<f8"}
_LENGTH = struct.Struct("<Q")
_KIND = struct.Struct("<I")

_DEEPEST = 4  # arrays of arrays of arrays of ...
_MOST_STRINGS = 10_000_000  # in one array; the largest vocabularies have a quarter of a million


class Cursor:
    """A place in a file. Every step forward is checked."""

    def __init__(self, path: str, data: memoryview, at: int = 0) -> None:
        self.path = path
        self.data = data
        self.at = at

    def broken(self, reason: str) -> WeightsError:
        return WeightsError(f"{self.path} is corrupt: {reason}.")

    def truncated(self, what: str) -> WeightsError:
        return WeightsError(f"{self.path} is truncated in its header, at {what}. Download it again.")

    @property
    def left(self) -> int:
        return len(self.data) - self.at

    def number(self, kind: int, what: str) -> Any:
        return self._unpack(SCALARS[kind], what)

    def length(self, what: str) -> int:
        return int(self._unpack(_LENGTH, what))

    def kind(self, what: str) -> int:
        return int(self._unpack(_KIND, what))

    def text(self, what: str) -> str:
        n = self.length(what)
        if n > self.left:
            raise self.truncated(f"{what}, a string of {n:,} bytes")
        raw = self.data[self.at : self.at + n]
        self.at += n
        try:
            return str(raw, "utf-8")
        except UnicodeDecodeError:
            raise self.broken(f"{what} is not valid UTF-8") from None

    def _unpack(self, form: struct.Struct, what: str) -> Any:
        if form.size > self.left:
            raise self.truncated(what)
        (value,) = form.unpack_from(self.data, self.at)
        self.at += form.size
        return value

    def value(self, kind: int, what: str) -> Any:
        """A scalar, a string, or a `Sequence` that is read when it is asked for."""
        if kind == STRING:
            return self.text(what)
        if kind == ARRAY:
            return self._array(what, 1)
        if kind not in SCALARS:
            raise self.broken(f"{what} has the unknown type {kind}")
        return self.number(kind, what)

    def _array(self, what: str, depth: int) -> Elements:
        kind, count = self.kind(what), self.length(what)
        begin = self.at
        if kind in SCALARS:
            size = count * SCALARS[kind].size
            if size > self.left:
                raise self.truncated(f"{what}, an array of {count:,} elements")
            self.at += size
        elif kind == STRING:
            self._pass_strings(count, what)
        elif kind == ARRAY:
            if depth == _DEEPEST:
                raise self.broken(f"{what} nests arrays more than {_DEEPEST} deep")
            self._check_count(count, 12, what)
            for _ in range(count):
                self._array(what, depth + 1)
        else:
            raise self.broken(f"{what} is an array of the unknown type {kind}")
        return Elements(self.path, self.data[begin : self.at], kind, count, what)

    def _check_count(self, count: int, least: int, what: str) -> None:
        if count * least > self.left:
            raise self.truncated(f"{what}, an array of {count:,} elements")
        if count > _MOST_STRINGS:
            raise self.broken(f"{what} is an array of {count:,} elements, more than any model has")

    def _pass_strings(self, count: int, what: str) -> None:
        self._check_count(count, 8, what)
        at, end, data, length = self.at, len(self.data) - 8, self.data, _LENGTH.unpack_from
        for _ in range(count):
            if at > end:
                raise self.truncated(f"{what}, an array of {count:,} strings")
            at += 8 + length(data, at)[0]
        if at > len(data):
            raise self.truncated(f"{what}, an array of {count:,} strings")
        self.at = at


@dataclass(frozen=True)
class Elements:
    """An array whose extent is checked and whose elements are still bytes."""

    path: str
    data: memoryview
    kind: int
    count: int
    what: str

    def __len__(self) -> int:
        return self.count

    def numbers(self) -> np.ndarray:
        if self.kind not in SCALARS:
            raise WeightsError(f"{self.path}: {self.what} must be an array of numbers.")
        return np.frombuffer(self.data, _DTYPES[self.kind], self.count)

    def strings(self) -> list[str]:
        """Bytes that are not UTF-8 come as U+FFFD: a vocabulary may hold halves of characters."""
        if self.kind != STRING:
            raise WeightsError(f"{self.path}: {self.what} must be an array of strings.")
        data, length = bytes(self.data), _LENGTH.unpack_from
        found, at = [], 0
        for _ in range(self.count):
            end = at + 8 + length(data, at)[0]
            found.append(data[at + 8 : end].decode("utf-8", "replace"))
            at = end
        return found
