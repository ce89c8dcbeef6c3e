"""Prefixes on disk: what memory gave up is kept in a folder, and found again after a restart.

One file a prefix, named by a hash of (model fingerprint, adapter, tokens), written aside and renamed into place, so that
two processes can share the folder without locks: a reader sees a whole file or none, and a file that vanishes is simply
not found. The content is checked by hash before it is used. Runs on the helper thread; knows no slots, only arrays.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import BadRequest
from engine.sequence import Kept

log = logging.getLogger("grus.engine")

_MAGIC = b"GRUSKV01"
_SUFFIX = ".prefix"
_LEAST = 32  # tokens; a shorter prefix is computed faster than it is read
_MOST_PENDING = 4  # prefixes that wait to be written, all in host memory
_STALE_SECONDS = 3600.0  # after which a half-written file belongs to nobody


def shared_key(fingerprint: str, adapter: str | None) -> str:
    """What must be equal, besides tokens, for a memory to be reusable."""
    return json.dumps([fingerprint, adapter])


@dataclass
class _Entry:
    path: Path
    key: str
    tokens: np.ndarray
    nbytes: int


class Spill:
    def __init__(self, folder: Path, limit: int, least: int = _LEAST) -> None:
        self._folder = folder
        self._limit = limit
        self._least = least
        self._waiting: set[str] = set()  # names of prefixes that the helper has yet to write
        self._guard = threading.Lock()  # over it: the engine's thread adds, the helper's removes
        self._entries: dict[str, _Entry] = {}
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # it tells what was talked about
        except OSError as error:
            why = "it is a file" if folder.is_file() else error.strerror or str(error)
            raise BadRequest(f"Prefixes cannot be kept in the folder {folder}: {why}.", "kv_offload_dir") from None
        self._refresh()

    @property
    def nbytes(self) -> int:
        return sum(entry.nbytes for entry in list(self._entries.values()))

    def store(self, key: str, tokens: Sequence[int], export: Callable[[], list[np.ndarray]], helper: Executor,
              hurry: bool = True) -> None:  # fmt: skip
        """Write a prefix unless it is there already. `export` is called now, the writing happens on the helper.
        In a `hurry` a prefix is left out when the helper cannot keep up; not so when the model is unloaded."""
        name = self._name(key, tokens)
        if len(tokens) < self._least or name in self._entries or name in self._waiting:
            return
        if hurry and self.pending >= _MOST_PENDING:
            return
        arrays = export()
        with self._guard:
            self._waiting.add(name)
        helper.submit(self._write, name, key, np.asarray(tokens, dtype=np.int64), arrays)

    @property
    def pending(self) -> int:
        """Prefixes that wait in memory to be written."""
        with self._guard:
            return len(self._waiting)

    def finder(self, fingerprint: str, whole_only: bool) -> Callable[[list[int], str | None], Kept | None]:
        """`find(tokens, adapter)`: the stored memory that shares most with them (`whole_only`: all of its own tokens)."""

        def find(tokens: list[int], adapter: str | None) -> Kept | None:
            return self._find(shared_key(fingerprint, adapter), tokens, whole_only)

        return find

    def forget(self, fingerprint: str | None) -> int:
        """Delete what is stored of a model, or everything; returns how many prefixes. Call it on the helper thread, so
        that what waits there to be written is deleted too."""
        self._refresh()
        gone = [name for name, entry in self._entries.items() if fingerprint in (None, json.loads(entry.key)[0])]
        for name in gone:
            self._drop(name)
        return len(gone)

    # -- on the helper thread

    @staticmethod
    def _name(key: str, tokens: Sequence[int]) -> str:
        digest = hashlib.sha256(key.encode() + np.asarray(tokens, dtype=np.int64).tobytes())
        return digest.hexdigest()[:40] + _SUFFIX

    def _write(self, name: str, key: str, tokens: np.ndarray, arrays: list[np.ndarray]) -> None:
        try:
            self._written(name, key, tokens, arrays)
        finally:
            with self._guard:
                self._waiting.discard(name)

    def _written(self, name: str, key: str, tokens: np.ndarray, arrays: list[np.ndarray]) -> None:
        parts = [tokens.tobytes(), *(np.ascontiguousarray(array).tobytes() for array in arrays)]
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part)
        shapes = [[array.dtype.str, list(array.shape)] for array in arrays]
        header = json.dumps(
            {"key": key, "tokens": len(tokens), "arrays": shapes, "sha256": digest.hexdigest()}
        ).encode()
        size = len(_MAGIC) + 8 + len(header) + sum(map(len, parts))
        if size > self._limit:
            return
        self._make_place(size)
        aside = self._folder / f".{uuid.uuid4().hex}.part"
        try:
            with aside.open("wb") as file:
                file.write(_MAGIC + len(header).to_bytes(8, "little") + header)
                for part in parts:
                    file.write(part)
            aside.replace(self._folder / name)
            self._entries[name] = _Entry(self._folder / name, key, tokens, size)
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
        try:
            (self._folder / name).unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s could not be deleted: %s", name, error)

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

    @staticmethod
    def _header(raw: memoryview) -> tuple[dict[str, Any], int]:
        """The header and where the content begins. Raises ValueError or KeyError for what is not a prefix file."""
        start = len(_MAGIC) + 8
        if bytes(raw[: len(_MAGIC)]) != _MAGIC:
            raise ValueError("not a prefix file")
        end = start + int.from_bytes(raw[len(_MAGIC) : start], "little")
        header = json.loads(bytes(raw[start:end]))
        return {"key": header["key"], "tokens": int(header["tokens"]), "arrays": header["arrays"],
                "sha256": header["sha256"]}, end  # fmt: skip

    def _read_entry(self, path: Path) -> _Entry | None:
        try:
            with path.open("rb") as file:
                head = file.read(len(_MAGIC) + 8)
                head += file.read(min(int.from_bytes(head[len(_MAGIC) :], "little"), 1 << 24))
                header, _ = self._header(memoryview(head))
                tokens = np.frombuffer(file.read(8 * header["tokens"]), dtype=np.int64)
            if len(tokens) != header["tokens"]:
                raise ValueError("the file is cut off")
            return _Entry(path, header["key"], tokens, path.stat().st_size)
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.info("%s is left out: %s", path.name, error)
            return None

    def _find(self, key: str, tokens: list[int], whole_only: bool) -> Kept | None:
        self._refresh()
        wanted = np.asarray(tokens[:-1], dtype=np.int64)
        best, most = None, self._least - 1
        for name, entry in self._entries.items():
            if entry.key != key:
                continue
            n = min(len(entry.tokens), len(wanted))
            differ = np.flatnonzero(entry.tokens[:n] != wanted[:n])
            shared = int(differ[0]) if len(differ) else n
            if shared > most and not (whole_only and shared < len(entry.tokens)):
                best, most = name, shared
        return self._load(best, most) if best is not None else None

    def _load(self, name: str, shared: int) -> Kept | None:
        path = self._entries[name].path
        try:
            raw = memoryview(path.read_bytes())
            header, at = self._header(raw)
            if hashlib.sha256(raw[at:]).hexdigest() != header["sha256"]:
                raise ValueError("its hash does not match")
            at += 8 * header["tokens"]
            arrays = []
            for kind, shape in header["arrays"]:
                dtype, count = np.dtype(kind), int(np.prod(shape, dtype=np.int64))
                arrays.append(np.frombuffer(raw, dtype, count, at).reshape(shape))
                at += count * dtype.itemsize
            os.utime(path)
        except FileNotFoundError:
            self._entries.pop(name, None)  # another process made place
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("the stored prefix %s is not used: %s", name, error)
            self._drop(name)
            return None
        return Kept(header["tokens"], arrays, sum(array.nbytes for array in arrays), shared)
