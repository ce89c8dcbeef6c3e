"""Evicted prefixes on disk: one file a prefix, found again after a restart.

A file holds the prefix's tokens, its KV cache and, of a model that cannot go back by itself (recurrent states, sliding windows), the
states at one more length: the last state checkpoint of the prompt. Chat templates often change how a reply is shown in the next turn, and the
next turn then begins there. Arrays are aligned and have a checksum each. So a prefix is mapped, not read, its arrays are checked by
several threads, and the states that are not asked for are not touched. Each head's rows begin at a page of memory: a KV cache may take the
file's pages as its own (`backends/torch/file_pages.py`).
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import operator
import os
import threading
import time
import uuid
from collections import abc
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import KVCache, KVSnapshot, Slot
from backends.mapped_file import MappedFile
from engine.errors import BadRequest
from engine.sequence import HostState

log = logging.getLogger("grus.engine")

_KIND = b"GRUSKV"  # of any version
_MAGIC = _KIND + b"03"
_SUFFIX = ".prefix"
_ALIGNED = 64  # bytes
_PAGE = 16384  # bytes of the largest page of memory for which a file is laid out
_BLOCK = 4096  # bytes that have a sum
_LEAST_STORED = 32  # tokens; a shorter prefix is recomputed faster than it is read
_MAX_PENDING = 4  # prefixes in host memory that wait to be written
_STALE_SECONDS = 3600.0  # age at which a half-written file is deleted
_CLOSE = 16  # tokens; of two checkpoints that lie no further apart the earlier one serves for both
_THREADS = 4  # that verify checksums


def offload_key(fingerprint: str, variant: str | None) -> str:
    """What must be equal, besides the tokens, for an offloaded prefix to be reusable."""
    return json.dumps([fingerprint, variant])


@dataclass
class StoredPrefix:
    """A prefix in host arrays: its rows and the states behind its last token, and states at earlier lengths."""

    arrays: list[np.ndarray]
    states: list[tuple[int, list[np.ndarray]]] = field(default_factory=list)


def export_prefix(kv: KVCache, slot: Slot, checkpoints: abc.Sequence[KVSnapshot]) -> StoredPrefix:
    """What is written of a cached prefix: the slot, and one of its state checkpoints."""
    stored = StoredPrefix(kv.export_snapshot(kv.snapshot(slot)))
    earlier = sorted((one for one in checkpoints if one.length < slot.length), key=lambda one: one.length)
    while len(earlier) > 1 and earlier[-1].length - earlier[-2].length <= _CLOSE:
        earlier.pop()
    if earlier:
        stored.states.append((earlier[-1].length, kv.export_snapshot(earlier[-1])))
    return stored


@dataclass
class _Entry:
    path: Path
    key: str
    tokens: np.ndarray
    lengths: list[int]  # at which there are states, beside the whole length
    nbytes: int


class PrefixOffload:
    """Evicted prefixes in a folder on disk, found again after a restart.

    A file is named by a hash of (model fingerprint, variant, tokens), written aside and renamed into place. So two
    processes can share the folder without locks: a reader sees a whole file or none. The content is verified by its checksums
    before use. Reads and writes run on the helper thread.
    """

    def __init__(self, folder: Path, limit: int, least: int = _LEAST_STORED) -> None:
        self._folder = folder
        self._limit = limit
        self._least = least
        self._waiting: set[str] = set()  # names of prefixes that are still to be written
        self._guard = threading.Lock()  # over `_waiting`: the engine's thread adds, the helper thread removes
        self._entries: dict[str, _Entry] = {}
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # private: it holds conversations
        except OSError as error:
            why = "it is a file" if folder.is_file() else error.strerror or str(error)
            raise BadRequest(f"Prefixes cannot be kept in the folder {folder}: {why}.", "kv_offload_dir") from None
        self._refresh()

    @property
    def nbytes(self) -> int:
        return sum(entry.nbytes for entry in list(self._entries.values()))

    def store(self, key: str, tokens: abc.Sequence[int], export: Callable[[], StoredPrefix], helper: Executor,
              hurry: bool = True) -> None:  # fmt: skip
        """Write a prefix unless it is stored already. `export` is called now, the file is written on the helper thread.
        In a `hurry` the prefix is skipped when the helper cannot keep up; not so when the model is unloaded."""
        name = self._name(key, tokens)
        if len(tokens) < self._least or name in self._entries or name in self._waiting:
            return
        if hurry and self.pending >= _MAX_PENDING:
            return
        stored = export()
        with self._guard:
            self._waiting.add(name)
        helper.submit(self._write, name, key, np.asarray(tokens, dtype=np.int64), stored)

    @property
    def pending(self) -> int:
        """Prefixes in memory that wait to be written."""
        with self._guard:
            return len(self._waiting)

    def finder(
        self, fingerprint: str, can_truncate: Callable[[int, int], bool]
    ) -> Callable[[list[int], str | None], HostState | None]:
        """`find(tokens, variant)`: the stored prefix with the most common tokens. `can_truncate(length, shorter)`: whether one of
        `length` tokens serves for the first `shorter` of them."""

        def find(tokens: list[int], variant: str | None) -> HostState | None:
            return self._find(offload_key(fingerprint, variant), tokens, can_truncate)

        return find

    def clear(self, fingerprint: str | None) -> int:
        """Delete the prefixes of a model, or all; returns their number. Call it on the helper thread, so that pending
        writes are deleted too."""
        self._refresh()
        gone = [name for name, entry in self._entries.items() if fingerprint in (None, json.loads(entry.key)[0])]
        for name in gone:
            self._drop(name)
        return len(gone)

    # -- on the helper thread

    @staticmethod
    def _name(key: str, tokens: abc.Sequence[int]) -> str:
        digest = hashlib.sha256(key.encode() + np.asarray(tokens, dtype=np.int64).tobytes())
        return digest.hexdigest()[:40] + _SUFFIX

    def _write(self, name: str, key: str, tokens: np.ndarray, stored: StoredPrefix) -> None:
        try:
            self._written(name, key, tokens, stored)
        finally:
            with self._guard:
                self._waiting.discard(name)

    def _written(self, name: str, key: str, tokens: np.ndarray, stored: StoredPrefix) -> None:
        given = [*stored.arrays, *(array for _, arrays in stored.states for array in arrays)]
        arrays = [np.ascontiguousarray(array) for array in given]
        header = {
            "key": key,
            "tokens": len(tokens),
            "checksum": _digest(tokens),
            "arrays": [[a.dtype.str, list(a.shape), digest] for a, digest in zip(arrays, _digests(arrays))],
            "states": [[length, len(some)] for length, some in stored.states],
        }
        text = json.dumps(header).encode()
        text += b" " * (-(len(_MAGIC) + 8 + len(text)) % _ALIGNED)
        places = _placed([(a.dtype, a.shape) for a in arrays], len(_MAGIC) + 8 + len(text) + tokens.nbytes)
        size = places[-1].end
        if size > self._limit:
            return
        self._make_place(size)
        aside = self._folder / f".{uuid.uuid4().hex}.part"
        try:
            with aside.open("wb") as file:
                file.write(_MAGIC + len(text).to_bytes(8, "little") + text)
                file.write(_bytes_of(tokens))
                for place, array in zip(places, arrays):
                    for at, part in place.parts(array):
                        file.seek(at)
                        file.write(_bytes_of(part))
                file.truncate(size)
            aside.replace(self._folder / name)
            lengths = [length for length, _ in stored.states]
            self._entries[name] = _Entry(self._folder / name, key, tokens, lengths, size)
        except OSError as error:
            log.warning("a prefix could not be written to %s: %s", self._folder, error)
            aside.unlink(missing_ok=True)

    def _make_place(self, size: int) -> None:
        """Delete what was not used for longest, until `size` more bytes fit."""
        self._refresh()
        aged = sorted((self._age(entry), name) for name, entry in self._entries.items())
        held = self.nbytes
        for _, name in aged:
            if held + size <= self._limit:
                return
            held -= self._entries[name].nbytes
            self._drop(name)

    @staticmethod
    def _age(entry: _Entry) -> float:
        try:
            return entry.path.stat().st_mtime
        except OSError:
            return 0.0

    def _drop(self, name: str) -> None:
        self._entries.pop(name, None)
        _unlink(self._folder / name)

    def _refresh(self) -> None:
        """Learn what other processes have written or deleted."""
        try:
            found = {item.name: item for item in os.scandir(self._folder)}
        except OSError as error:
            log.warning("the folder %s cannot be read: %s", self._folder, error)
            found = {}
        for name in set(self._entries) - set(found):
            del self._entries[name]
        for name, item in found.items():
            if name.endswith(_SUFFIX) and name not in self._entries:
                entry = self._read_entry(Path(item.path))
                if entry is not None:
                    self._entries[name] = entry
            elif name.endswith(".part"):
                self._drop_if_stale(Path(item.path))

    @staticmethod
    def _drop_if_stale(path: Path) -> None:
        try:
            if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                path.unlink(missing_ok=True)
        except OSError as error:
            log.debug("%s went away: %s", path, error)

    def _read_entry(self, path: Path) -> _Entry | None:
        try:
            with path.open("rb") as file:
                head = file.read(len(_MAGIC) + 8)
                if head.startswith(_KIND) and not head.startswith(_MAGIC):
                    _unlink(path)  # of an earlier version, which nothing reads and nothing else would delete
                    return None
                head += file.read(min(int.from_bytes(head[len(_MAGIC) :], "little"), 1 << 24))
                header = _Header.read(memoryview(head))
                tokens = np.frombuffer(file.read(8 * header.tokens), dtype=np.int64)
            if len(tokens) != header.tokens:
                raise ValueError("the file is cut off")
            lengths = [length for length, _ in header.states]
            return _Entry(path, header.key, tokens, lengths, path.stat().st_size)
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.info("%s is left out: %s", path.name, error)
            return None

    def _find(self, key: str, tokens: list[int], can_truncate: Callable[[int, int], bool]) -> HostState | None:
        self._refresh()
        wanted = np.asarray(tokens[:-1], dtype=np.int64)
        best, most = None, self._least - 1
        for name, entry in self._entries.items():
            if entry.key != key:
                continue
            n = min(len(entry.tokens), len(wanted))
            differ = np.flatnonzero(entry.tokens[:n] != wanted[:n])
            shared = int(differ[0]) if len(differ) else n
            if not can_truncate(len(entry.tokens), shared):
                shared = max((length for length in entry.lengths if length <= shared), default=0)
            if shared > most:
                best, most = name, shared
        return self._load(best, most) if best is not None else None

    def _load(self, name: str, shared: int) -> HostState | None:
        path = self._entries[name].path
        try:
            mapped = memoryview(MappedFile(path.open("rb")))
            length, arrays = _Header.read(mapped).arrays_at(mapped, shared)
            os.utime(path)
        except FileNotFoundError:
            self._entries.pop(name, None)  # another process deleted it to make room
            return None
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            log.warning("the stored prefix %s is not used: %s", name, error)
            self._drop(name)
            return None
        return HostState(length, arrays, sum(array.nbytes for array in arrays), shared)


@dataclass
class _Header:
    """What a file says of its content, which begins at `start`."""

    key: str
    tokens: int
    checksum: str
    arrays: list[tuple[np.dtype[Any], tuple[int, ...], str]]
    states: list[tuple[int, int]]  # a length, and how many of the last arrays are of it
    start: int

    @staticmethod
    def read(raw: memoryview) -> _Header:
        """Raises ValueError, KeyError or TypeError for what is not a prefix file."""
        at = len(_MAGIC) + 8
        if bytes(raw[: len(_MAGIC)]) != _MAGIC:
            raise ValueError("not a prefix file")
        start = at + int.from_bytes(raw[len(_MAGIC) : at], "little")
        found = json.loads(bytes(raw[at:start]))
        arrays = [(np.dtype(kind), tuple(map(int, shape)), str(digest)) for kind, shape, digest in found["arrays"]]
        states = [(int(length), int(count)) for length, count in found["states"]]
        return _Header(str(found["key"]), int(found["tokens"]), str(found["checksum"]), arrays, states, start)

    def arrays_at(self, raw: memoryview, shared: int) -> tuple[int, list[np.ndarray]]:
        """The length and the arrays, checked, of the prefix that serves for its first `shared` tokens: the whole one, or rows up to a length
        at which there are states."""
        forms = [(dtype, shape) for dtype, shape, _ in self.arrays]
        places = _placed(forms, self.start + 8 * self.tokens)
        if places and places[-1].end > len(raw):
            raise ValueError("the file is cut off")
        views = [
            np.ndarray(shape, dtype, raw, place.start, place.strides) for (dtype, shape), place in zip(forms, places)
        ]
        first = whole = len(views) - sum(count for _, count in self.states)  # where the next length's states begin
        length, rows, chosen = self.tokens, whole, list(range(whole))
        for states_length, count in self.states:
            if states_length == shared:  # in place of the last arrays, which are the states behind the last token
                length, rows = shared, whole - count
                chosen = [*range(rows), *range(first, first + count)]
            first += count
        tokens = np.frombuffer(raw, np.int64, self.tokens, self.start)
        if _digests([tokens, *(views[i] for i in chosen)]) != [self.checksum, *(self.arrays[i][2] for i in chosen)]:
            raise ValueError("its checksum does not match")
        if length == self.tokens:
            return length, [views[i] for i in chosen]
        return length, [views[i][..., :length, :] if i < rows else views[i] for i in chosen]


@dataclass(frozen=True)
class _Place:
    """Where an array lies in a file."""

    start: int
    strides: tuple[int, ...]
    end: int
    apart: bool  # the matrices of its last two axes begin at a page each

    def parts(self, array: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """What lies in one piece, and where that begins."""
        for index in np.ndindex(array.shape[:-2]) if self.apart else [()]:
            yield self.start + sum(map(operator.mul, index, self.strides)), array[index]


def _placed(forms: abc.Iterable[tuple[np.dtype[Any], tuple[int, ...]]], at: int) -> list[_Place]:
    """Of arrays that lie one after the other behind `at`."""
    places = []
    for dtype, shape in forms:
        apart = _apart(dtype, shape)
        unit = dtype.itemsize
        strides: list[int] = []
        for axis, count in reversed(list(enumerate(shape))):
            strides.insert(0, unit)
            unit *= count
            if apart and axis == len(shape) - 2:
                unit = _rounded(unit, _PAGE)
        start = _rounded(at, _PAGE if apart else _ALIGNED)
        at = start + unit
        places.append(_Place(start, tuple(strides), at, apart))
    return places


def _apart(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bool:
    """Whether an array's matrices are large enough to be given pages of their own."""
    return len(shape) > 2 and math.prod(shape[-2:]) * dtype.itemsize >= _PAGE


def _rounded(nbytes: int, unit: int) -> int:
    return -(-nbytes // unit) * unit


def _bytes_of(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _digest(array: np.ndarray) -> str:
    """A checksum: a hash of the sums of blocks of words, and of the bytes that are left. It is there for what disks and crashes do to a file, not
    for people, who could write another checksum; a hash of all bytes would take longer than all else that reading a prefix takes."""
    digest = hashlib.sha256()
    for index in np.ndindex(array.shape[:-2]) if _apart(array.dtype, array.shape) else [()]:
        raw = array[index].reshape(-1).view(np.uint8)
        whole = len(raw) // _BLOCK * _BLOCK
        sums = raw[:whole].view(np.uint64).reshape(-1, _BLOCK // 8).sum(1)  # modulo 2**64
        digest.update(sums.tobytes() + raw[whole:].tobytes())
    return digest.hexdigest()


def _digests(arrays: abc.Sequence[np.ndarray]) -> list[str]:
    """Of each. Sums let other threads run, and a long prefix is hundreds of megabytes."""
    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as pool:
        return list(pool.map(_digest, arrays))


def _unlink(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        log.warning("%s could not be deleted: %s", path.name, error)
