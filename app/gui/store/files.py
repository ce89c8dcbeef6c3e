"""The files that Grus made beside its database: who may read them, which are in use, and how they are deleted.

Files of a person, elsewhere on the disk, are never touched, whatever a row says. Deleting is unlinking: what the disk keeps
of an unlinked file is the file system's business.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

OWN_FOLDERS = ("attachments", "recordings", "spoken")  # beside the database; every file in them is Grus's own
DRAGGED = "dragged"  # results that were dragged out of the window
_FILE, _FOLDER = 0o600, 0o700

_guard = threading.RLock()
_in_use: Counter[str] = Counter()  # by a job of this process, and not yet in a row


# -- who may read them


def private_folder(folder: Path) -> Path:
    """The folder, made if it is missing; only its owner may open it."""
    folder.mkdir(parents=True, exist_ok=True, mode=_FOLDER)
    _restrict(folder, _FOLDER)
    return folder


def private_file(file: Path) -> Path:
    """The file, empty if it was missing; only its owner may read it."""
    private_folder(file.parent)
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, _FILE))
    _restrict(file, _FILE)
    return file


def repair(folders: Iterable[Path]) -> None:
    """Everything in these folders for their owner alone: earlier versions left it to be read by everyone."""
    for folder in folders:
        for inside, _, names in os.walk(folder):
            _restrict(Path(inside), _FOLDER)
            for name in names:
                _restrict(Path(inside, name), _FILE)


def _restrict(path: Path, mode: int) -> None:
    if os.name == "nt":
        return  # a user's folders are their own there
    with contextlib.suppress(OSError):  # gone meanwhile, or of another owner
        if not path.is_symlink() and path.stat().st_mode & 0o777 != mode:
            path.chmod(mode)


# -- which are in use


def keep_bytes(data: bytes, path: Path) -> Path:
    """Write a file whose name says what is in it, once. It is in use until `release`."""
    with _guard:
        _in_use[str(path)] += 1
        try:
            os.utime(path)  # there already, and now as young as its next user
        except FileNotFoundError:
            fresh = path.with_name(f"{path.name}.{os.getpid()}")
            try:
                private_file(fresh).write_bytes(data)
                os.replace(fresh, path)
            except OSError:
                fresh.unlink(missing_ok=True)
                release(path)
                raise
    return path


def release(path: Path | str) -> None:
    """A row refers to it now, or it is no longer needed."""
    with _guard:
        _in_use[str(path)] -= 1
        if _in_use[str(path)] <= 0:
            del _in_use[str(path)]


# -- how they are deleted


def remove(data: Path, files: Iterable[str]) -> None:
    """Delete those that are Grus's own and not in use. `data`: the database's folder."""
    with _guard:
        for file in files:
            if _is_own(data, Path(file)) and file not in _in_use:
                _unlink(Path(file))


def sweep(data: Path, referenced: Iterable[str], since: float, until: float) -> None:
    """Delete what no row refers to: files that a process wrote and was killed before it could store their row.

    Only files that were written between the database's beginning and this process's: an older one belongs to a database
    that was set aside or moved away, a newer one may be in use.
    """
    if any(data.glob("*.damaged-*")):
        return  # its rows may refer to any of them
    used = {_key(Path(file)) for file in referenced}
    for folder in OWN_FOLDERS:
        for file in _children(data / folder):
            with _guard, contextlib.suppress(OSError):
                orphan = file.is_file() and not file.is_symlink() and _key(file) not in used
                if orphan and since <= file.stat().st_mtime < until and str(file) not in _in_use:
                    _unlink(file)
    for rest in (*_children(data / "voices", ".new-*"), *_children(data / "voices", ".old-*")):
        with contextlib.suppress(OSError):
            if rest.stat().st_mtime < until:
                shutil.rmtree(rest, ignore_errors=True)


def clear_dragged(data: Path) -> None:
    """Copies of results that were dragged out of the window."""
    shutil.rmtree(data / DRAGGED, ignore_errors=True)


def _key(file: Path) -> tuple[str, str]:
    """The data folder may be moved: rows then hold the old paths."""
    return file.parent.name, file.name


def _is_own(data: Path, file: Path) -> bool:
    with contextlib.suppress(OSError):
        place = file.resolve()
        return any(place.parent == (data / folder).resolve() for folder in OWN_FOLDERS) and file.is_file()
    return False


def _children(folder: Path, pattern: str = "*") -> list[Path]:
    with contextlib.suppress(OSError):
        return list(folder.glob(pattern))
    return []


def _unlink(file: Path) -> None:
    with contextlib.suppress(OSError):  # open elsewhere (Windows): the next start finds it without a row
        file.unlink()
