"""A lock on a file that holds between processes and between threads, and ends with the process that holds it.

So a download that was killed leaves nothing locked. The file itself stays, empty: removing it would let two others lock
two different files of the same name.
"""

from __future__ import annotations

import errno
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_POLL = 0.1  # seconds between two attempts
_UNSUPPORTED = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}  # some network drives know no locks
_TAKEN = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}


@contextmanager
def exclusive(file: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock. While another holds it, `waiting` is called again and again; raising from it gives up."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+b") as stream:
        while not _take(stream):
            waiting()
            time.sleep(_POLL)
        try:
            yield
        finally:
            _release(stream)


class FileLock:
    """A lock that is tried for, and held until `release`."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._stream: BinaryIO | None = None

    def take(self) -> bool:
        """Whether it is held, now or since before."""
        if self._stream is None:
            stream = self.file.open("a+b")
            if not _take(stream):
                stream.close()
                return False
            self._stream = stream
        return True

    def release(self) -> None:
        if self._stream is not None:
            _release(self._stream)
            self._stream.close()
            self._stream = None


def _take(stream: BinaryIO) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            stream.seek(0)
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        if error.errno not in _UNSUPPORTED:
            raise
    return True


def _release(stream: BinaryIO) -> None:
    """Closing the file does it elsewhere."""
    if sys.platform == "win32":
        import contextlib
        import msvcrt

        with contextlib.suppress(OSError):
            stream.seek(0)
            msvcrt.locking(stream.fileno(), msvcrt.LK_UNLCK, 1)
