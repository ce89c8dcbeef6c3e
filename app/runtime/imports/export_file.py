"""An export as a person has it: a ZIP file, a JSON file or a folder. It is read with limits, and nothing in it is unpacked by its own name."""

from __future__ import annotations

import bisect
import re
import zipfile
from pathlib import Path, PurePosixPath, PureWindowsPath

from engine.errors import BadRequest, ErrorText
from engine.zip_file import BoundedZip, OversizedZip, ZipRefused

_MOST_FILES = 500_000
_LARGEST_JSON, _LARGEST_FILE, _LARGEST_EXPORT = 2 << 30, 256 << 20, 32 << 30  # bytes, as they are when unpacked
_UNSUSPECTED, _DENSEST = 32 << 20, 200  # above so many bytes, unpacked must be at most so many times packed


class ExportFile:
    """`names` are the files of the export. `read` may be called from any thread, one at a time."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._zip: BoundedZip | None = None
        if file.is_dir():
            self.names = sorted(
                one.relative_to(file).as_posix() for one in file.rglob("*") if one.is_file() and not one.is_symlink()
            )
        elif not file.is_file():
            raise BadRequest(ErrorText("There is no file {path}.", path=str(file)), "file")
        elif zipfile.is_zipfile(file):
            self.names = self._opened()
        else:
            self.names = [file.name]
        self._by_end = sorted((name.rpartition("/")[2], name) for name in self.names)

    def _opened(self) -> list[str]:
        try:
            self._zip = BoundedZip(
                self.file, parts=_MOST_FILES, whole=_LARGEST_EXPORT, unsuspected=_UNSUSPECTED, densest=_DENSEST
            )
        except ZipRefused as error:
            raise self._explained(error) from None
        for name in self._zip.names:
            parts = {*PurePosixPath(name).parts, *PureWindowsPath(name).parts}
            if ".." in parts or name.startswith("/") or PureWindowsPath(name).drive:
                raise BadRequest(
                    ErrorText(
                        "{file} holds {name}, which leads out of its folder. It is not imported.",
                        file=self.file.name,
                        name=name,
                    ),
                    "file",
                )
        if self._zip.encrypted:
            raise BadRequest(
                ErrorText("{file} is encrypted. Unpack it, and import what is in it.", file=self.file.name), "file"
            )
        return list(self._zip.names)

    def close(self) -> None:
        if self._zip is not None:
            self._zip.close()

    def text(self, name: str) -> str:
        """A text file of the export."""
        return self._bytes(name, _LARGEST_JSON).decode("utf-8-sig")

    def read(self, name: str) -> bytes:
        """A picture or another file of a message."""
        return self._bytes(name, _LARGEST_FILE)

    def find(self, id: str) -> str | None:
        """The file whose name begins with `id`, in whichever folder."""
        if len(id) < 4 or "/" in id:
            return None
        at = bisect.bisect_left(self._by_end, (id, ""))
        for end, name in self._by_end[at : at + 50]:
            if end.startswith(id) and not re.match(r"\w", end[len(id) :]):
                return name
        return None

    def _bytes(self, name: str, most: int) -> bytes:
        if self._zip is None:
            path = self.file / name if self.file.is_dir() else self.file
            if path.stat().st_size > most:
                raise self._bomb()
            return path.read_bytes()
        try:
            return self._zip.read(name, most)
        except ZipRefused as error:
            raise self._explained(error) from None

    def _explained(self, error: ZipRefused) -> BadRequest:
        return self._bomb() if isinstance(error, OversizedZip) else self._damaged()

    def _bomb(self) -> BadRequest:
        return BadRequest(
            ErrorText("{file} unpacks to more than an export can be. It is not imported.", file=self.file.name), "file"
        )

    def _damaged(self) -> BadRequest:
        return BadRequest(
            ErrorText("{file} is damaged: it cannot be unpacked as a whole.", file=self.file.name), "file"
        )
