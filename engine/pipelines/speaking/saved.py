"""Saved voices: a folder each, with what the model needs of it, what was said, and a sample to hear.

    NAME/voice.json     the model that it was made with, the text, when
    NAME/voice.npz      the vector, and the codes where the recording itself is imitated
    NAME/sample.wav     the recording

A voice is written beside its place and moved there when it is whole; deleting moves it out of sight first.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import numpy as np
from platformdirs import PlatformDirs

from engine.errors import BadRequest
from engine.media.sound import write_file
from engine.pipelines.speaking.voice import Clone, Manner

_NAME = re.compile(r"[\w][\w .-]{0,63}")
_KEPT_BY_WINDOWS = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_FILES = ("voice.json", "voice.npz", "sample.wav")


@dataclass(frozen=True)
class Saved:
    """What a list of voices shows."""

    name: str
    model: str
    text: str | None
    seconds: float
    made: str  # ISO 8601
    sample: Path


class Voices:
    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(PlatformDirs("Grus", appauthor=False).user_data_dir) / "voices"

    def save(self, name: str, model: str, clone: Clone, samples: np.ndarray, rate: int, *,
             replace: bool = False) -> Saved:  # fmt: skip
        target = self._path(name)
        if target.exists() and not replace:
            raise BadRequest(
                f"There is a voice called {name} already. Choose another name, or delete it first.", "name"
            )
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=self.folder))
        try:
            write_clone(fresh / "voice.npz", clone)
            write_file(fresh / "sample.wav", [samples], rate, "wav")
            body = {"model": model, "text": clone.text, "seconds": round(len(samples) / rate, 2),
                    "made": datetime.now(UTC).isoformat(timespec="seconds")}  # fmt: skip
            (fresh / "voice.json").write_text(json.dumps(body, ensure_ascii=False, indent=1), encoding="utf-8")
            for part in fresh.iterdir():
                part.chmod(0o600)  # a person's voice is nobody else's business
            if target.exists():
                self.delete(name)
            fresh.rename(target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        return self._saved(target)

    def list(self) -> list[Saved]:
        """By name. A folder that is no voice is left out."""
        if not self.folder.is_dir():
            return []
        found = []
        for path in sorted(self.folder.iterdir(), key=lambda path: path.name.lower()):
            if not path.name.startswith(".") and (path / "voice.json").is_file():
                try:
                    found.append(self._saved(path))
                except BadRequest:
                    continue
        return found

    def load(self, name: str) -> Clone:
        path = self._there(name)
        about = self._about(path)
        try:
            return read_clone(path / "voice.npz", about.get("text"))
        except ValueError:
            raise BadRequest(
                f"The voice {name} is damaged. Make it again from {path / 'sample.wav'}.", "voice"
            ) from None

    def manner(self, name: str | None, presets: Sequence[str], language: str = "auto",
               instructions: str | None = None) -> Manner:  # fmt: skip
        """A voice by name: one of the model's own, `presets`, or a saved one."""
        if name is not None and name not in presets and self.has(name):
            return Manner(clone=self.load(name), instructions=instructions, language=language)
        return Manner(preset=name, instructions=instructions, language=language)

    def delete(self, name: str) -> None:
        path = self._there(name)
        gone = Path(tempfile.mkdtemp(prefix=".old-", dir=self.folder))
        path.rename(gone / "voice")
        shutil.rmtree(gone, ignore_errors=True)

    def has(self, name: str) -> bool:
        return is_name(name) and (self.folder / name / "voice.json").is_file()

    def _there(self, name: str) -> Path:
        path = self._path(name)
        if not self.has(name):
            known = ", ".join(saved.name for saved in self.list()) or "none yet"
            raise BadRequest(f"There is no saved voice called {name!r}. Saved: {known}.", "voice")
        return path

    def _path(self, name: str) -> Path:
        if not is_name(name):
            raise BadRequest(
                f"{name!r} is no name for a voice: letters, digits, spaces, dots and dashes, 64 at most.", "name"
            )
        return self.folder / name

    def _about(self, path: Path) -> Mapping[str, Any]:
        try:
            about = json.loads((path / "voice.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            about = None
        if not _is_about(about) or not all((path / name).is_file() for name in _FILES):
            raise BadRequest(f"The voice {path.name} is damaged: {path}.", "voice")
        return about  # type: ignore[no-any-return]

    def _saved(self, path: Path) -> Saved:
        about = self._about(path)
        return Saved(path.name, str(about.get("model", "")), about.get("text"), float(about.get("seconds", 0.0)),
                     str(about.get("made", "")), path / "sample.wav")  # fmt: skip


def is_name(name: str) -> bool:
    """Of a voice: a folder's name on every system, and nothing that leads elsewhere."""
    return _NAME.fullmatch(name) is not None and not name.endswith((" ", ".")) and not _KEPT_BY_WINDOWS.fullmatch(name)


def write_clone(target: Path | IO[bytes], clone: Clone) -> None:
    """The arrays of a voice."""
    arrays = {"vector": clone.vector} | ({} if clone.codes is None else {"codes": clone.codes})
    np.savez(target, **arrays)  # type: ignore[arg-type]


def read_clone(source: Path | IO[bytes], text: str | None) -> Clone:
    """Raises ValueError for what is no voice; nothing that it holds is run."""
    try:
        with np.load(source, allow_pickle=False) as arrays:
            vector, codes = arrays["vector"], arrays.get("codes")
    except (OSError, EOFError, KeyError, TypeError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(str(error)) from None
    if vector.ndim != 1 or vector.dtype.kind != "f" or not np.isfinite(vector).all():
        raise ValueError("The vector is no row of numbers.")
    if codes is not None and (codes.ndim != 2 or codes.dtype.kind not in "iu" or not text):
        raise ValueError("The codes are no table of whole numbers, or nothing tells what is said in them.")
    return Clone(vector.astype(np.float32), codes, text if codes is not None else None)


def _is_about(about: Any) -> bool:
    return (
        isinstance(about, dict)
        and isinstance(about.get("text"), str | None)
        and isinstance(about.get("seconds", 0.0), int | float)
    )
