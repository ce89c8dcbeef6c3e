"""Messages over a pipe between a leader and one of its ranks: a length, then plain data. Nothing that is read is ever run."""

from __future__ import annotations

import marshal
import struct
from threading import Lock
from typing import IO, Any

_LENGTH = struct.Struct("<Q")


class PipeWriter:
    """Written to by several threads."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._lock = file, Lock()
        self.messages = self.bytes = 0

    def write(self, message: Any) -> None:
        """Raises OSError or ValueError where nobody reads any more."""
        data = marshal.dumps(message)
        with self._lock:
            self._file.write(_LENGTH.pack(len(data)) + data)
            self._file.flush()
            self.messages += 1
            self.bytes += len(data) + _LENGTH.size


def read_message(file: IO[bytes]) -> Any:
    """The next message; EOFError where the other end has gone."""
    data = file.read(_LENGTH.size)
    if len(data) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(data)
    data = file.read(length)
    if len(data) < length:
        raise EOFError
    return marshal.loads(data)
