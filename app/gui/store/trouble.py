"""Why the store cannot save, or cannot open its file, in a sentence. None of these says that the file is damaged."""

from __future__ import annotations

import errno
import sqlite3

from app.gui.store.database import primary_code
from app.gui.store.schema import Newer
from app.gui.texts import mark, tr

_FULL = mark("the disk is full")
_IO = mark("the disk reports an error")
_READ_ONLY = mark("it may only be read")
_LOCKED = mark("another program is using it")
_CLOSED = mark("the file cannot be opened")

_REASONS = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: _IO,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_AUTH: _READ_ONLY,
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_NOMEM: mark("there is too little memory"),
    sqlite3.SQLITE_NOLFS: _IO,
    sqlite3.SQLITE_PROTOCOL: _LOCKED,
}
_OF_THE_SYSTEM = {
    errno.ENOSPC: _FULL, errno.EDQUOT: _FULL, errno.EIO: _IO, errno.EROFS: _READ_ONLY, errno.EACCES: _READ_ONLY,
    errno.EPERM: _READ_ONLY,
}  # fmt: skip


def passes(error: BaseException) -> bool:
    """Whether the same may work later: the disk, the rights or another program are in the way."""
    if isinstance(error, sqlite3.Error):
        return primary_code(error) in _REASONS
    return isinstance(error, OSError)


def reason(error: BaseException) -> str:
    """A clause: "the disk is full"."""
    if isinstance(error, sqlite3.Error):
        return tr(_REASONS[primary_code(error)]) if passes(error) else str(error)
    known = _OF_THE_SYSTEM.get(error.errno or 0) if isinstance(error, OSError) else None
    return tr(known) if known is not None else str(getattr(error, "strerror", None) or error)


def unsaved(error: BaseException) -> str:
    """The file is open, and cannot be written."""
    return tr("Nothing can be saved: {reason}. What you do is kept in memory until it can be.", reason=reason(error))


def unopened(error: BaseException) -> str:
    """The file cannot be opened. It is not touched."""
    if isinstance(error, Newer):
        return tr(
            "A newer Grus saved your conversations. Install it again to see them; this one leaves the file as it is."
        )
    return tr(
        "Your conversations cannot be opened: {reason}. The file stays as it is, and Grus tries again.",
        reason=reason(error),
    )
