"""Opens a GGUF file, or the shards of one: typed metadata, and one `Raw` a tensor. Nothing is copied or trusted.

Knows the container: header, alignment, tensor table, shards. Does not know what metadata means to a model, nor how a
block is decoded. A tensor's `Raw.dtype` is the name of its block type, `Raw.shape` counts weights, outermost first.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import Raw
from engine.errors import WeightsError
from engine.weights.gguf import ternary
from engine.weights.gguf.types import NUMBERS, OTHER_NAMES, TERNARY_42, TYPES, ternary_order
from engine.weights.safetensors import map_file

# -- the typed values of a GGUF header, read from bytes that nobody vouches for
#
# Every length is checked against what is left of the file before anything is made of it. Arrays are measured, not read:
# a vocabulary of a quarter of a million strings costs nothing until somebody asks for it.

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


MAGIC = b"GGUF"
VERSIONS = (2, 3)
ALIGNMENT = 32  # unless the file says otherwise

_MOST_KEYS = 100_000
_MOST_TENSORS = 100_000
_MOST_DIMENSIONS = 4
_LEAST_KEY = 8 + 4 + 1  # bytes: an empty name, a type, a byte
_LEAST_TENSOR = 8 + 4 + 8 + 4 + 8
_SAMPLE_BLOCKS = 256
_SHARD = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf")


@dataclass(frozen=True)
class GgufFile:
    path: Path  # of the first shard
    metadata: Mapping[str, Any]
    tensors: Mapping[str, Raw]

    @property
    def nbytes(self) -> int:
        return sum(raw.nbytes for raw in self.tensors.values())


@dataclass(frozen=True)
class _Entry:
    """A line of the tensor table."""

    name: str
    shape: tuple[int, ...]
    number: int  # of its type
    offset: int  # from where the data begins


def read(path: str | Path) -> GgufFile:
    """Open a file. Of a sharded one any shard may be named; all must be there."""
    path = Path(path)
    shards = _shards(path)
    first = _read_one(shards[0])
    count = first.metadata.get("split.count", 1)
    if count != len(shards) and (count != 1 or len(shards) > 1):
        raise WeightsError(
            f"{shards[0]} says that it is one of {count} files, but its name says one of {len(shards)}. "
            "Download the model again, without renaming its files."
        )
    tensors = dict(first.tensors)
    for number, shard in enumerate(shards[1:], 1):
        part = _read_one(shard)
        if part.metadata.get("split.no", number) != number:
            raise WeightsError(f"{shard} is not shard {number + 1} of {len(shards)}, as its name says.")
        for name, raw in part.tensors.items():
            if name in tensors:
                raise WeightsError(f"Tensor {name} is in both {tensors[name].path} and {shard}.")
            tensors[name] = raw
    total = first.metadata.get("split.tensors.count", len(tensors))
    if len(shards) > 1 and total != len(tensors):
        raise WeightsError(f"{path} and its shards hold {len(tensors):,} tensors, but should hold {total:,}.")
    return GgufFile(shards[0], first.metadata, tensors)


def _shards(path: Path) -> list[Path]:
    match = _SHARD.fullmatch(path.name)
    if not match:
        return [path]
    stem, _, count = match.groups()
    names = [f"{stem}-{n:05}-of-{count}.gguf" for n in range(1, int(count) + 1)] or [path.name]
    absent = [name for name in names if not (path.parent / name).is_file()]
    if absent:
        more = f" and {len(absent) - 20:,} more" if len(absent) > 20 else ""
        raise WeightsError(f"{path.parent} lacks {', '.join(absent[:20])}{more}. Download the model again.")
    return [path.parent / name for name in names]


def _read_one(path: Path) -> GgufFile:
    data = memoryview(map_file(path))
    cursor = Cursor(str(path), data)
    keys, tensors = _counts(cursor)
    metadata = _metadata(cursor, keys)
    entries = [_entry(cursor) for _ in range(tensors)]
    repeated = [name for name, n in Counter(entry.name for entry in entries).items() if n > 1]
    if repeated:
        raise cursor.broken(f"it has two tensors named {repeated[0]}")
    alignment = metadata.get("general.alignment", ALIGNMENT)
    if type(alignment) is not int or not 1 <= alignment <= 1 << 16 or alignment & (alignment - 1):
        raise cursor.broken(f"general.alignment is {alignment!r}, which is not a power of two")
    begin = -(-cursor.at // alignment) * alignment
    if entries and begin > len(data):
        raise cursor.truncated("the end of its header")
    return GgufFile(path, metadata, _locate(cursor, entries, data[begin:], begin, alignment))


def _counts(cursor: Cursor) -> tuple[int, int]:
    """How many keys and tensors follow."""
    magic = bytes(cursor.data[:4])
    if magic != MAGIC:
        if magic == b"vers":
            raise WeightsError(f"{cursor.path} is a git-lfs pointer, not the file itself. Download the file.")
        raise WeightsError(f"{cursor.path} is not a GGUF file.")
    cursor.at = 4
    version = cursor.kind("its version")
    if version not in VERSIONS:
        if version & 0xFFFF == 0 and version:
            raise WeightsError(f"{cursor.path} is a big-endian GGUF file. Choose a little-endian one.")
        raise WeightsError(f"{cursor.path} is GGUF version {version}. Versions 2 and 3 are supported.")
    tensors, keys = cursor.length("its number of tensors"), cursor.length("its number of keys")
    for count, most, least, what in (
        (keys, _MOST_KEYS, _LEAST_KEY, "keys"),
        (tensors, _MOST_TENSORS, _LEAST_TENSOR, "tensors"),
    ):
        if count > most:
            raise cursor.broken(f"it claims to have {count:,} {what}")
        if count * least > cursor.left:
            raise cursor.truncated(f"its {count:,} {what}")
    return keys, tensors


def _metadata(cursor: Cursor, count: int) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    for _ in range(count):
        key = cursor.text("the name of a key")
        if key in metadata:
            raise cursor.broken(f"it has the key {key} twice")
        metadata[key] = cursor.value(cursor.kind(key), key)
    return metadata


def _entry(cursor: Cursor) -> _Entry:
    name = cursor.text("the name of a tensor")
    dimensions = cursor.kind(f"tensor {name}")
    if not 1 <= dimensions <= _MOST_DIMENSIONS:
        raise cursor.broken(f"tensor {name} has {dimensions} dimensions")
    shape = tuple(cursor.length(f"tensor {name}") for _ in range(dimensions))[::-1]
    if 0 in shape:
        raise cursor.broken(f"tensor {name} has the impossible shape {list(shape)}")
    return _Entry(name, shape, cursor.kind(f"tensor {name}"), cursor.length(f"tensor {name}"))


def _locate(cursor: Cursor, entries: list[_Entry], data: memoryview, begin: int, alignment: int) -> dict[str, Raw]:
    """Check that each tensor lies inside the data, alone, and make its `Raw`."""
    found: dict[str, Raw] = {}
    ordered = sorted(entries, key=lambda entry: entry.offset)
    bounds = [entry.offset for entry in ordered[1:]] + [len(data)]
    for entry, bound in zip(ordered, bounds):
        if entry.offset % alignment:
            raise cursor.broken(f"tensor {entry.name} begins at {entry.offset:,}, which is not aligned to {alignment}")
        if entry.offset > len(data):
            raise _cut_off(cursor, entry)
        kind = _type_of(cursor, entry, data[entry.offset : max(bound, entry.offset)], alignment)
        nbytes = _nbytes(kind, entry)
        end = entry.offset + nbytes
        if end > len(data):
            raise _cut_off(cursor, entry)
        buffer = data[entry.offset : end]
        found[entry.name] = Raw(entry.name, cursor.path, begin + entry.offset, nbytes, kind, entry.shape, buffer)
    for entry, other in pairwise(ordered):
        if entry.offset + found[entry.name].nbytes > other.offset:
            raise cursor.broken(f"the tensors {entry.name} and {other.name} overlap")
    return {entry.name: found[entry.name] for entry in entries}


def _cut_off(cursor: Cursor, entry: _Entry) -> WeightsError:
    return WeightsError(
        f"{cursor.path} is truncated: tensor {entry.name} ends beyond the file's end. Download it again."
    )


def _rows(entry: _Entry) -> int:
    rows = 1
    for n in entry.shape[:-1]:
        rows *= n
    return rows


def _type_of(cursor: Cursor, entry: _Entry, room: memoryview, alignment: int) -> str:
    """The name of a tensor's type. `room` is what lies between it and the next tensor."""
    kind = NUMBERS.get(entry.number)
    if kind is None:
        known = OTHER_NAMES.get(entry.number)
        raise WeightsError(
            f"{cursor.path}: tensor {entry.name} is stored as {known or f'type {entry.number}'}, which is not "
            f"supported. Choose another quantization of the model, for example Q8_0 or Q4_K_M."
        )
    if entry.number == TERNARY_42:
        kind = _ternary(entry, room, alignment)
    weights = ternary.BLOCK if kind == ternary.I2_S else TYPES[kind].weights
    if entry.shape[-1] % weights:
        raise cursor.broken(
            f"tensor {entry.name} has rows of {entry.shape[-1]:,} weights, which blocks of {weights} ({kind}) do not divide"
        )
    return kind


def _nbytes(kind: str, entry: _Entry) -> int:
    rows, columns = _rows(entry), entry.shape[-1]
    return ternary.stored_bytes(rows, columns) if kind == ternary.I2_S else rows * TYPES[kind].row_bytes(columns)


def _ternary(entry: _Entry, room: memoryview, alignment: int) -> str:
    """What number 42 means here: by size, then by the order of the bytes in a block."""
    rows, columns = _rows(entry), entry.shape[-1]
    narrow, wide = TYPES["Q2_0"], TYPES["PQ2_0"]

    def fits(size: int) -> bool:
        return len(room) in (size, -(-size // alignment) * alignment)

    if fits(rows * narrow.row_bytes(columns)) or columns % wide.weights or not fits(rows * wide.row_bytes(columns)):
        return narrow.name
    sample = room[: min(rows * wide.row_bytes(columns), _SAMPLE_BLOCKS * wide.nbytes)]
    return ternary_order(np.frombuffer(sample, np.uint8))
