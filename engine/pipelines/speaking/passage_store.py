"""The sound of a long text's passages in a folder, so that a process that was killed goes on where it was.

`passages.pcm` has a record for each passage that is whole, in order: its number, its count of samples, and these in 16 bits. A record
that was cut off, and what is behind it, is dropped when the folder is opened again. `work.json` says of which text and which voices
they are. A lock keeps a second process away.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import BadRequest, ErrorText
from engine.file_lock import exclusive
from engine.media.sound import to_pcm
from engine.pipelines.speaking.voice import SpokenPassage

_HEAD = struct.Struct("<II")  # number from 1 (a lost sector is zeros), samples
_VERSION = 1


class PassageStore:
    """Use it in a `with` block. `count`: passages that are there."""

    def __init__(self, folder: Path, work: Mapping[str, Any], *, restart: bool = False) -> None:
        """`work`: what the passages depend on. Raises BadRequest where the folder has other work, unless `restart` drops it."""
        self.folder, self._work, self._restart = folder, {"version": _VERSION, **work}, restart
        self.count = 0
        self._starts: list[tuple[int, int]] = []  # of each passage: where its samples are, and how many
        self._lock: AbstractContextManager[None] | None = None
        self._file: Any = None

    def __enter__(self) -> PassageStore:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = exclusive(self.folder / "lock", self._refuse)
            self._lock.__enter__()
            try:
                self._open()
            except BaseException:
                self._close()
                raise
        except OSError as error:
            raise BadRequest(
                ErrorText("{path} could not be written: {reason}.", path=self.folder, reason=error.strerror or error),
                "output",
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def add(self, samples: np.ndarray) -> None:
        """The next passage."""
        data = to_pcm(samples)
        try:
            at = self._file.seek(0, os.SEEK_END)
            self._file.write(_HEAD.pack(self.count + 1, len(samples)) + data)
            self._file.flush()
        except OSError as error:  # a full disk
            raise BadRequest(
                ErrorText("{path} could not be written: {reason}.", path=self.folder, reason=error.strerror or error),
                "output",
            ) from None
        self._starts.append((at + _HEAD.size, len(samples)))
        self.count += 1

    def read(self, number: int) -> np.ndarray:
        at, count = self._starts[number]
        self._file.seek(at)
        samples = np.frombuffer(self._file.read(2 * count), "<i2").astype(np.float32) / np.float32(32767)
        return np.asarray(samples, np.float32)

    def keep_example(self, number: int, example: SpokenPassage) -> None:
        """What a described voice continues from, of the voice with this number."""
        target = self.folder / f"example{number}.npz"
        fresh = target.with_suffix(".part.npz")
        np.savez(fresh, codes=example.codes, text=np.array(example.text))
        fresh.replace(target)

    def example(self, number: int) -> SpokenPassage | None:
        try:
            with np.load(self.folder / f"example{number}.npz", allow_pickle=False) as arrays:
                return SpokenPassage(str(arrays["text"]), arrays["codes"])
        except (OSError, ValueError, KeyError):
            return None

    def remove(self) -> None:
        """All is done: the folder goes."""
        self._close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _open(self) -> None:
        note = self.folder / "work.json"
        if self._restart:
            for old in self.folder.iterdir():
                if old.name != "lock":
                    old.unlink()
        kept = _read_json(note)
        if kept is not None and kept != json.loads(json.dumps(self._work)):
            raise BadRequest(
                ErrorText(
                    "{folder} holds an unfinished audiobook of another text, voice or settings. Delete it, or choose another name.",
                    folder=self.folder,
                ),
                "restart",
            )
        if kept is None:
            (self.folder / "passages.pcm").unlink(missing_ok=True)
            fresh = note.with_suffix(".part")
            fresh.write_text(json.dumps(self._work), encoding="utf-8")
            fresh.replace(note)
        self._file = (self.folder / "passages.pcm").open("a+b")
        self._find()

    def _find(self) -> None:
        """The passages that are whole; what is behind them is cut off."""
        size, at = os.fstat(self._file.fileno()).st_size, 0
        while at + _HEAD.size <= size:
            self._file.seek(at)
            number, count = _HEAD.unpack(self._file.read(_HEAD.size))
            if number != self.count + 1 or at + _HEAD.size + 2 * count > size:
                break
            self._starts.append((at + _HEAD.size, count))
            self.count += 1
            at += _HEAD.size + 2 * count
        self._file.truncate(at)

    def _refuse(self) -> None:
        raise BadRequest(
            ErrorText("Another process is making this audiobook now: {folder}.", folder=self.folder), "output"
        )

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._lock is not None:
            self._lock.__exit__(None, None, None)
            self._lock = None


def unfinished_folder(target: Path) -> Path:
    """Where the passages of a book lie until it is whole."""
    return target.with_name(f"{target.name}.unfinished")


def seed_of(folder: Path) -> int | None:
    """The seed of unfinished work, which a new process continues with."""
    kept = _read_json(folder / "work.json")
    return kept.get("seed") if kept is not None and isinstance(kept.get("seed"), int) else None


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        made = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return made if isinstance(made, dict) else None
