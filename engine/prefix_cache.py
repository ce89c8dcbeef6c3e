"""A model's memory for sequences, the prefix cache that fills what is free of it, and its offload to disk.

`PrefixCache` keeps the KV cache of finished sequences, so that a request with a known beginning need not compute it
again. An attention-only model can reuse any common prefix: the cached slot is truncated, or its rows are copied. A
recurrent state cannot be truncated, nor can a sliding window that has moved on. Such a sequence keeps state checkpoints at
some lengths, and only those, or its whole length, can be resumed from. `PrefixOffload` writes evicted entries to disk and finds them after a restart.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
import uuid
from collections import abc
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import KVCache, KVSnapshot, Slot, StateSpec
from backends.kv_cache import WINDOW_STEP, may_forget, windowed
from engine.errors import BadRequest, OutOfMemory
from engine.metrics import Counters
from engine.sequence import HostState, Sequence

log = logging.getLogger("grus.engine")


class SequenceMemory:
    """One model's KV cache with its byte budget. Opens and closes all slots, so that leaked ones can be found."""

    def __init__(self, kv: KVCache) -> None:
        self.kv = kv
        self.loaded_budget = kv.budget
        # a KV cache without specs (another library's) may hold recurrent states, and cannot be exported
        self.recurrent = not kv.specs or any(isinstance(spec, StateSpec) for spec in kv.specs)
        self.movable = bool(kv.specs)
        self.open_slots: set[Slot] = set()
        self._allowed = kv.budget
        self._snapshot_bytes = 0

    @property
    def used(self) -> int:
        return self.kv.used + self.snapshot_bytes

    @property
    def snapshot_bytes(self) -> int:
        """Bytes of snapshots beside the slots, under the same limit: slots may use what they free."""
        return self._snapshot_bytes

    @snapshot_bytes.setter
    def snapshot_bytes(self, nbytes: int) -> None:
        self._snapshot_bytes = nbytes
        self.kv.budget = max(0, self._allowed - nbytes)

    def allow(self, nbytes: int) -> None:
        """Set the bytes that slots and snapshots of this model may use."""
        self._allowed = nbytes
        self.kv.budget = max(0, nbytes - self._snapshot_bytes)

    def open(self, n: int) -> Slot | None:
        try:
            slot = self.kv.open(n)
        except (MemoryError, OutOfMemory):
            return None
        if slot is not None:
            self.open_slots.add(slot)
        return slot

    def grow(self, slot: Slot, n: int) -> bool:
        try:
            return slot.capacity >= n or self.kv.grow(slot, n)
        except (MemoryError, OutOfMemory):
            return False

    def close(self, slot: Slot) -> None:
        self.open_slots.discard(slot)
        self.kv.close(slot)

    def may_forget(self, slot: Slot) -> bool:
        """Whether earlier lengths of the slot may need a state checkpoint."""
        return may_forget(self.kv.specs, slot.capacity)

    def step_limit(self, slot: Slot) -> int:
        """The most tokens that one step may add to the slot."""
        return WINDOW_STEP if windowed(self.kv.specs) and self.may_forget(slot) else slot.capacity

    def leaked(self, owned: Iterable[Slot]) -> list[Slot]:
        """Open slots without an owner."""
        return sorted(self.open_slots.difference(owned), key=lambda slot: slot.id)


_LEAST = 4  # tokens; a shorter match is not worth its copy
_MAX_ENTRIES = 64  # bounds the time of a search
_BLOCK = 256


def common_prefix(a: abc.Sequence[int], b: abc.Sequence[int]) -> int:
    """The number of leading tokens that are equal."""
    end = min(len(a), len(b))
    at = 0
    while at < end and a[at : at + _BLOCK] == b[at : at + _BLOCK]:
        at += _BLOCK
    if at >= end:
        return end
    while at < end and a[at] == b[at]:
        at += 1
    return at


@dataclass(eq=False)
class CachedPrefix:
    """An entry of the prefix cache: the slot of a finished sequence and its tokens. `key` is as long as the slot; `variant`: see
    `Sequence.variant`."""

    key: list[int]
    variant: str | None
    slot: Slot
    checkpoints: list[KVSnapshot] = field(default_factory=list)


@dataclass
class PrefixMatch:
    """`length` tokens that can be reused from a cached prefix, or copied from a running sequence's slot."""

    length: int
    cached: CachedPrefix | None = None
    running: Slot | None = None
    checkpoint: KVSnapshot | None = None  # the state to return to; None: the slot as it is, or truncated

    @property
    def takes_all(self) -> bool:
        """Whether nearly all of the entry matches, so that its slot is continued instead of copied."""
        return self.cached is not None and self.length * 8 >= len(self.cached.key) * 7


class PrefixCache:
    """The KV cache of finished sequences, least recently used first, for reuse by requests with the same beginning."""

    def __init__(
        self,
        memory: SequenceMemory,
        offload: Callable[[CachedPrefix, bool], None] | None = None,
        counters: Counters | None = None,
    ) -> None:
        self._memory = memory
        self._offload = offload
        self._entries: list[CachedPrefix] = []
        self._counters = counters or Counters()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def slots(self) -> list[Slot]:
        return [prefix.slot for prefix in self._entries]

    @property
    def nbytes(self) -> int:
        """Bytes that evicting all entries would free."""
        kv = self._memory.kv
        states = sum(checkpoint.nbytes for prefix in self._entries for checkpoint in prefix.checkpoints)
        return states + sum(kv.bytes_for(prefix.slot.capacity) for prefix in self._entries)

    def match(self, key: abc.Sequence[int], variant: str | None, running: Iterable[Sequence]) -> PrefixMatch | None:
        """The longest reusable prefix of `key`, without its last token (which must be computed)."""
        usable = len(key) - 1
        best: PrefixMatch | None = None
        for prefix in reversed(self._entries):
            if prefix.variant == variant:
                found = self._within(prefix, min(common_prefix(prefix.key, key), usable))
                if found is not None and (best is None or found.length > best.length):
                    best = found
        if not self._memory.recurrent:
            for sequence in running:
                if sequence.slot is not None and sequence.variant == variant:
                    length = min(common_prefix(sequence.key, key), usable, sequence.slot.length)
                    longer = best is None or length > best.length
                    if longer and self._memory.kv.can_truncate(sequence.slot, length):
                        best = PrefixMatch(length, running=sequence.slot)
        return best if best is not None and best.length >= _LEAST else None

    def _within(self, prefix: CachedPrefix, shared: int) -> PrefixMatch | None:
        if self._memory.kv.can_truncate(prefix.slot, shared):
            return PrefixMatch(shared, prefix)
        checkpoints = [checkpoint for checkpoint in prefix.checkpoints if checkpoint.length <= shared]
        if not checkpoints:
            return None
        checkpoint = max(checkpoints, key=lambda one: one.length)
        return PrefixMatch(checkpoint.length, prefix, checkpoint=checkpoint)

    def insert(self, prefix: CachedPrefix) -> None:
        """Add an entry. An attention-only model drops the entries that it contains."""
        kv = self._memory.kv
        if not self._memory.recurrent:
            for other in [p for p in self._entries if p.variant == prefix.variant and len(p.key) <= len(prefix.key)]:
                contained = common_prefix(other.key, prefix.key) == len(other.key)
                if contained and kv.can_truncate(prefix.slot, len(other.key)):
                    self._close(other)  # the new entry contains it
        self._entries.append(prefix)
        if len(self._entries) > _MAX_ENTRIES:
            self.evict_oldest()

    def take(self, prefix: CachedPrefix) -> None:
        """Remove an entry without closing its slot, which a sequence continues."""
        self._entries.remove(prefix)

    def count_hit(self, tokens: int) -> None:
        """Count a prompt that began with so many cached tokens."""
        self._counters.prefix_hits += 1
        self._counters.prefix_tokens += tokens

    def touch(self, prefix: CachedPrefix) -> None:
        """Mark as most recently used."""
        self._entries.remove(prefix)
        self._entries.append(prefix)

    def evict_oldest(self, spare: CachedPrefix | None = None) -> bool:
        """Evict the least recently used entry, offloading it where that is on. False when there is none."""
        for prefix in self._entries:
            if prefix is not spare:
                if self._offload is not None:
                    self._offload(prefix, True)
                self._close(prefix)
                return True
        return False

    def _close(self, prefix: CachedPrefix) -> None:
        self._entries.remove(prefix)
        self._memory.snapshot_bytes -= sum(checkpoint.nbytes for checkpoint in prefix.checkpoints)
        self._memory.close(prefix.slot)

    def clear(self, *, offload: bool = True, hurry: bool = True) -> int:
        """Evict all entries and return their number. `offload`: write them to disk where that is on (see `hurry` of
        `PrefixOffload.store`)."""
        count = len(self._entries)
        for prefix in list(self._entries):
            if offload and self._offload is not None:
                self._offload(prefix, hurry)
            self._close(prefix)
        return count


def thin_checkpoints(checkpoints: list[KVSnapshot], most: int) -> list[KVSnapshot]:
    """At most `most` checkpoints: the newest two, and of the others those that lie furthest apart."""
    checkpoints = list(checkpoints)
    while len(checkpoints) > most:
        gaps = [
            checkpoints[i + 1].length - (checkpoints[i - 1].length if i else 0)
            for i in range(max(1, len(checkpoints) - 2))
        ]
        del checkpoints[gaps.index(min(gaps))]
    return checkpoints


_MAGIC = b"GRUSKV01"
_SUFFIX = ".prefix"
_LEAST_STORED = 32  # tokens; a shorter prefix is recomputed faster than it is read
_MAX_PENDING = 4  # prefixes in host memory that wait to be written
_STALE_SECONDS = 3600.0  # age at which a half-written file is deleted


def offload_key(fingerprint: str, variant: str | None) -> str:
    """What must be equal, besides the tokens, for an offloaded prefix to be reusable."""
    return json.dumps([fingerprint, variant])


@dataclass
class _Entry:
    path: Path
    key: str
    tokens: np.ndarray
    nbytes: int


class PrefixOffload:
    """Evicted prefixes in a folder on disk, found again after a restart.

    One file a prefix, named by a hash of (model fingerprint, variant, tokens), written aside and renamed into place. So two
    processes can share the folder without locks: a reader sees a whole file or none. The content is verified by its hash
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

    def store(self, key: str, tokens: abc.Sequence[int], export: Callable[[], list[np.ndarray]], helper: Executor,
              hurry: bool = True) -> None:  # fmt: skip
        """Write a prefix unless it is stored already. `export` is called now, the file is written on the helper thread.
        In a `hurry` the prefix is skipped when the helper cannot keep up; not so when the model is unloaded."""
        name = self._name(key, tokens)
        if len(tokens) < self._least or name in self._entries or name in self._waiting:
            return
        if hurry and self.pending >= _MAX_PENDING:
            return
        arrays = export()
        with self._guard:
            self._waiting.add(name)
        helper.submit(self._write, name, key, np.asarray(tokens, dtype=np.int64), arrays)

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
            if shared > most and can_truncate(len(entry.tokens), shared):
                best, most = name, shared
        return self._load(best, most) if best is not None else None

    def _load(self, name: str, shared: int) -> HostState | None:
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
            self._entries.pop(name, None)  # another process deleted it to make room
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("the stored prefix %s is not used: %s", name, error)
            self._drop(name)
            return None
        return HostState(header["tokens"], arrays, sum(array.nbytes for array in arrays), shared)
