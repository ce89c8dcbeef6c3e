"""ZIP files of strangers, read with limits: documents, exports of other applications, Grus's own archives.

What such a file says of itself may be wrong. Its directory is bounded before it is parsed, what comes out is counted as it comes, and only
stored and deflated parts are opened: Python's `zipfile` unpacks what one read of bzip2 or LZMA gives as a whole, however large it is.
Nothing is unpacked by its own name.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

_PIECE = 1 << 20
_DIRECTORY = 100  # bytes of the directory for each part that is allowed; an entry without a name takes 46
_ENCRYPTED = 0x1 | 0x40  # flags of a part
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError, OverflowError,
)  # fmt: skip


class ZipRefused(Exception):
    """Why a ZIP file, or a part of it, is not read."""


class DamagedZip(ZipRefused):
    """Broken, cut off, or packed by a method that is not opened. The message names the kind of damage."""


class ProtectedZip(ZipRefused):
    """Encrypted."""


class OversizedZip(ZipRefused):
    """More parts or more bytes than its reader allows."""


class BoundedZip:
    """The parts of a ZIP file. Raises ZipRefused. Any thread may read, one at a time."""

    def __init__(
        self, source: bytes | Path, *, parts: int, whole: int, unsuspected: int | None = None, densest: int = 200
    ) -> None:
        """`parts`: how many there may be. `whole`: bytes that may be unpacked, of all parts together. A part above `unsuspected` bytes
        may be at most `densest` times as large as it is packed."""
        self._left, self._unsuspected, self._densest = whole, unsuspected, densest
        try:
            raw = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb", buffering=0)
            self._file = _DirectoryGuard(raw)  # type: ignore[arg-type, unused-ignore]
        except OSError as error:
            raise DamagedZip(type(error).__name__) from None
        try:
            self._file.most = parts * _DIRECTORY
            self._zip = zipfile.ZipFile(self._file)
            self._file.most = None
            if len(self._zip.filelist) > parts:
                raise OversizedZip
        except BaseException as error:
            self._file.close()
            if isinstance(error, _BROKEN):
                raise DamagedZip(type(error).__name__) from None
            raise
        self.parts = tuple(info for info in self._zip.filelist if not info.is_dir())
        self.names = tuple(info.filename for info in self.parts)

    @property
    def encrypted(self) -> bool:
        """Whether any part is."""
        return any(info.flag_bits & _ENCRYPTED for info in self.parts)

    def read(self, name: str, most: int) -> bytes:
        """A part of at most so many bytes. Raises KeyError where there is none."""
        return b"".join(self.pieces(name, most))

    def pieces(self, name: str, most: int) -> Iterator[bytes]:
        """The same, one piece after another."""
        info = self._zip.getinfo(name)
        if info.flag_bits & _ENCRYPTED:
            raise ProtectedZip
        if info.compress_type not in _METHODS:
            raise DamagedZip(f"compression {info.compress_type}")
        size = 0
        try:
            with self._zip.open(info) as part:
                while piece := part.read(_PIECE):
                    size += len(piece)
                    self._left -= len(piece)
                    dense = self._unsuspected is not None and size > max(
                        self._unsuspected, info.compress_size * self._densest
                    )
                    if size > most or self._left < 0 or dense:
                        raise OversizedZip
                    yield piece
        except _BROKEN as error:
            raise DamagedZip(type(error).__name__) from None

    def close(self) -> None:
        self._zip.close()
        self._file.close()

    def __enter__(self) -> BoundedZip:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _DirectoryGuard(io.BufferedReader):
    """A file that refuses one read of more than `most` bytes: the directory, which zipfile reads and parses as a whole."""

    most: int | None = None

    def read(self, size: int | None = -1, /) -> bytes:
        if self.most is not None and size is not None and size > self.most:
            raise OversizedZip
        return super().read(size)
