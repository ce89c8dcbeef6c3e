"""A folder that is watched: which of its files are whole and not read yet, and where their results go.

What was read is kept in a file beside the results, so that a new start reads nothing twice. A file is whole once its size and time have
stayed the same for two seconds; one that changes after it was read is read again. One that cannot be read is tried again only when it
changes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import BadRequest, ErrorText
from engine.file_lock import exclusive
from engine.pipelines.reading.formats.detection import DOCUMENTS
from engine.pipelines.reading.reader import ReadOptions
from engine.pipelines.reading.session import PICTURES, OutputTarget, write_atomically
from engine.pipelines.reading.writers import FORMATS, ExportOptions, Format

POLL = 0.5  # seconds between two looks at a watched folder
SETTLED = 2.0  # seconds without a change
ENDINGS = (".pdf", *PICTURES, *DOCUMENTS)  # plain texts, which may be results of reading, are left out
_STATE, _LOCK = ".grus-read.json", ".grus-read.lock"


@dataclass(frozen=True)
class WholeFile:
    """A file that is to be read, as it was when it was found."""

    path: Path
    size: int
    changed: int  # nanoseconds


def result_settings(model: str | None, layout: str | None, reading: ReadOptions, style: ExportOptions) -> str:
    """What results depend on beside their format: see `WatchedFolder`."""
    options = f"{reading.task}|{reading.pages}|{reading.text_layer}|{reading.rotate}|{reading.dots}"
    return f"{model}|{layout}|{options}|{style.margins}|{style.rejoin}"


class WatchedFolder:
    def __init__(
        self, folder: Path, out: Path, kind: Format, settings: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`settings`: what the results depend on; with other ones every file is read again."""
        self.folder, self._out, self._kind, self._clock = folder, out, kind, clock
        self._settings = f"{kind}|{settings}"
        self._since: dict[str, tuple[WholeFile, float]] = {}  # when a file was first seen as it is
        self._read: dict[str, dict[str, Any]] = {}
        self._unwritten: set[WholeFile] = set()  # whose results could not be written: a new start tries again

    @contextmanager
    def held(self) -> Iterator[None]:
        """While this process watches the folder, no other does."""
        if not self.folder.is_dir():  # else it would be made
            raise BadRequest(ErrorText("There is no folder {path}.", path=self.folder), "files")
        self._out.mkdir(parents=True, exist_ok=True)
        with exclusive(self._out / _LOCK, self._refuse):
            self._read = _kept(self._out / _STATE)
            yield

    def _refuse(self) -> None:
        raise BadRequest(f"Another grus watches {self.folder} already.", "files")

    def ready(self) -> list[WholeFile]:
        """The files that are whole and not read, the oldest first."""
        now, found = self._clock(), []
        for file in self._inside():
            seen, since = self._since.get(file.path.name, (None, now))
            if seen != file:
                since = now
            self._since[file.path.name] = (file, since)
            if now - since >= SETTLED and file.size and not self._is_read(file) and _is_free(file.path):
                found.append(file)
        return sorted(found, key=lambda file: (file.changed, file.path.name))

    def target(self, file: WholeFile) -> OutputTarget:
        """`scan.pdf` becomes `scan.pdf.md`: no other file's result has this name, and no document of the person's own."""
        return OutputTarget(self._out / f"{file.path.name}.{self._kind}", self._kind)

    def finish(self, file: WholeFile, error: str | None, *, written: bool = True) -> None:
        """The file was read, or could not be. One that has changed meanwhile is read again."""
        if not written:
            self._unwritten.add(file)
        if not written or _seen(file.path) != file:
            return
        self._read[file.path.name] = {
            "size": file.size, "changed": file.changed, "settings": self._settings, "error": error,
        }  # fmt: skip
        write_atomically(self._out / _STATE, json.dumps(self._read, ensure_ascii=False, indent=1).encode())

    def _is_read(self, file: WholeFile) -> bool:
        if file in self._unwritten:
            return True
        known = self._read.get(file.path.name)
        return known is not None and (known.get("size"), known.get("changed"), known.get("settings")) == (
            file.size, file.changed, self._settings,
        )  # fmt: skip

    def _inside(self) -> Iterator[WholeFile]:
        try:
            names = os.listdir(self.folder)
        except OSError as error:
            raise BadRequest(
                ErrorText("{path} cannot be read: {reason}.", path=self.folder, reason=error.strerror or error),
                "files",
            ) from None
        there = set(names)
        self._since = {name: seen for name, seen in self._since.items() if name in there}
        for name in names:
            if name.startswith((".", "~$")) or Path(name).suffix.lower() not in ENDINGS or self._is_result(name, there):
                continue
            file = _seen(self.folder / name)
            if file is not None:
                yield file

    def _is_result(self, name: str, there: set[str]) -> bool:
        source, _, ending = name.rpartition(".")
        return (
            ending in FORMATS and Path(source).suffix.lower() in ENDINGS and (source in there or source in self._read)
        )


def _seen(path: Path) -> WholeFile | None:
    try:
        if not path.is_file():
            return None
        state = path.stat()
    except OSError:  # it went away
        return None
    return WholeFile(path, state.st_size, state.st_mtime_ns)


def _is_free(path: Path) -> bool:
    """On Windows, the program that writes a file may hold it alone."""
    if sys.platform != "win32":
        return True
    try:
        with path.open("rb"):
            return True
    except PermissionError:
        return False
    except OSError:
        return True  # reading it will say what is wrong


def _kept(file: Path) -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return {name: one for name, one in found.items() if isinstance(one, dict)} if isinstance(found, dict) else {}
