"""The log on this machine: what went wrong, in a rotating file, and beside it the stack of a crash.

Two files in one folder, for people to read and to send with a bug report. So neither holds what people write, say or
read: of an error it is the kind and the stack, and its words only where they cannot be a person's. Does not import Qt.
"""

from __future__ import annotations

import atexit
import copy
import faulthandler
import linecache
import logging
import logging.handlers
import os
import platform
import re
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

OWN = logging.getLogger("grus.log")
_NBYTES, _COPIES = 1_000_000, 3
_SHOWN = 200_000  # bytes of each file that are shown
_OURS = ("grus",)
# Their words are Python's own: names of attributes, numbers of arguments, never what a person gave.
_HARMLESS = (
    AttributeError, ImportError, IndexError, MemoryError, NameError, NotImplementedError, RecursionError, TypeError,
    ZeroDivisionError,
)  # fmt: skip
_SECRET = re.compile(r"\b(hf_|sk-|gsk_|ghp_)[\w-]{8,}|(?<=[Bb]earer )\S+")


class Log:
    """The log of one process. A folder that cannot be written leaves `problem`, and everything else works."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.problem = folder, ""
        self.file, self.crash = folder / f"{name}.log", folder / f"{name}-crash.log"
        self._seen = folder / f"{name}-crash.seen"
        self._handler: logging.Handler | None = None
        self._stacks: TextIO | None = None
        self._name = name
        self.crashed = ""  # of the session before: what its stack begins with
        try:
            self._open()
            self.crashed = self._look()
        except OSError as error:
            self.problem = f"The log cannot be written to {folder}: {error.strerror or error}."
            return
        self._note_beginning()
        atexit.register(self.close)

    def close(self) -> None:
        """The end of a session that did not crash."""
        with suppress(OSError):
            if self._stacks is not None:
                self._mark_seen()
        self._release()

    def reopen_or_release(self) -> None:
        """Everything that is kept is about to be deleted, this folder too; or it was, and the log begins anew."""
        if self._stacks is not None:
            self._release()
            return
        try:
            self._open()
        except OSError as error:
            self.problem = f"The log cannot be written to {self.folder}: {error.strerror or error}."

    def _open(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in (self.file, self.crash):
            os.close(_private(str(file)))
        if self.crash.stat().st_size > _NBYTES:
            self.crash.replace(self.crash.with_name(self.crash.name + ".1"))
        self._handler = _File(self.file)
        for logger in (logging.getLogger(), OWN):
            logger.addHandler(self._handler)
        OWN.setLevel(logging.INFO)
        OWN.propagate = False
        self._stacks = os.fdopen(_private(str(self.crash)), "a", encoding="utf-8")
        faulthandler.enable(self._stacks)

    def _release(self) -> None:
        if self._handler is not None:
            for logger in (logging.getLogger(), OWN):
                logger.removeHandler(self._handler)
            self._handler.close()
        if self._stacks is not None:
            faulthandler.disable()
            self._stacks.close()
        self._handler = self._stacks = None

    def _look(self) -> str:
        """What the crash file has that was not reported yet."""
        try:
            seen = int(self._seen.read_text(encoding="ascii"))
        except (OSError, ValueError):
            seen = 0
        size = self.crash.stat().st_size
        if size <= seen:
            if size < seen:
                self._mark_seen()
            return ""
        with self.crash.open("rb") as file:
            file.seek(seen)
            first = file.readline().decode("utf-8", "replace").strip()
        self._mark_seen()
        return first or "a crash without a word"

    def _mark_seen(self) -> None:
        with os.fdopen(_private(str(self._seen), os.O_TRUNC), "w", encoding="ascii") as file:
            file.write(str(self.crash.stat().st_size))

    def _note_beginning(self) -> None:
        if self.crashed:
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.crash.stat().st_mtime))
            OWN.error("The session before crashed (%s): %s. The stack is in %s.", when, self.crashed, self.crash.name)
        OWN.info("%s begins: %s", self._name, facts())


def keep_log(folder: Path, name: str) -> Log:
    """From now on what goes wrong in this process is written there: also of threads, and of crashes."""
    log = Log(folder, name)
    if log.problem:
        print(f"grus: {log.problem}", file=sys.stderr)
        return log
    at_main, at_thread, at_nobody = sys.excepthook, threading.excepthook, sys.unraisablehook

    def main(kind: type[BaseException], error: BaseException, stack: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            _log_error("An error that nobody foresaw.", (kind, error, stack))
        at_main(kind, error, stack)

    def thread(given: Any) -> None:
        if given.exc_value is not None and not issubclass(given.exc_type, SystemExit):
            name = given.thread.name if given.thread is not None else "?"
            _log_error(
                f"An error that nobody foresaw, in the thread {name}.",
                (given.exc_type, given.exc_value, given.exc_traceback),
            )
        at_thread(given)

    def nobody(given: Any) -> None:
        if given.exc_value is not None:
            _log_error("An error where nobody could be told.", (given.exc_type, given.exc_value, given.exc_traceback))
        at_nobody(given)

    def _log_error(words: str, error: Any) -> None:
        """Write to the file only: the hook before this one writes to the terminal."""
        if log._handler is not None:
            log._handler.handle(logging.LogRecord("grus.uncaught", logging.ERROR, "", 0, words, (), error))

    sys.excepthook, threading.excepthook, sys.unraisablehook = main, thread, nobody
    return log


def shown(folder: Path, name: str = "app") -> str:
    """What a person is shown: the stacks of crashes, then the log, each from its end."""
    parts = []
    for file in (folder / f"{name}-crash.log", folder / f"{name}.log"):
        with suppress(OSError):
            text = _end_of(file)
            if text.strip():
                parts.append(f"== {file.name}\n\n{text.rstrip()}\n")
    return _at_home("\n".join(parts))


def export(folder: Path, target: Path, name: str = "app") -> Path:
    """All of it as one text, with what the machine is."""
    files = [folder / f"{name}-crash.log.1", folder / f"{name}-crash.log"]
    files += [folder / f"{name}.log.{number}" for number in range(_COPIES, 0, -1)] + [folder / f"{name}.log"]
    parts = [f"Grus log, exported {time.strftime('%Y-%m-%d %H:%M:%S')}", facts()]
    for file in files:
        with suppress(FileNotFoundError):
            parts.append(f"\n== {file.name}\n\n{file.read_text(encoding='utf-8', errors='replace').rstrip()}")
    target.write_text(_at_home("\n".join(parts)) + "\n", encoding="utf-8")
    return target


def facts() -> str:
    """Versions and the machine, in one line."""
    from importlib.metadata import PackageNotFoundError, version

    found = []
    for package in ("grus", "PySide6", "torch", "mlx"):
        with suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    return ", ".join([*found, f"Python {platform.python_version()}", platform.platform()])


def _end_of(file: Path) -> str:
    with file.open("rb") as opened:
        start = max(0, opened.seek(0, os.SEEK_END) - _SHOWN)
        opened.seek(start)
        text = opened.read().decode("utf-8", "replace")
    return text if not start else "…\n" + text.partition("\n")[2]


def _at_home(text: str) -> str:
    """A home folder has a person's name."""
    home = str(Path.home())
    return text.replace(home, "~") if len(home) > 1 else text


def _private(file: str, flags: int = 0) -> int:
    opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | flags, 0o600)
    if hasattr(os, "fchmod"):
        os.fchmod(opened, 0o600)
    return opened


class _File(logging.handlers.RotatingFileHandler):
    """Warnings and errors of Grus and of Qt with their words; of others, whose words may be anything, where they arose."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, maxBytes=_NBYTES, backupCount=_COPIES, encoding="utf-8", errors="replace")
        self.setFormatter(_Form("%(asctime)s %(levelname)s %(name)s: %(message)s"))

    def _open(self) -> Any:
        return os.fdopen(_private(self.baseFilename), "a", encoding="utf-8", errors="replace")

    def filter(self, record: logging.LogRecord) -> Any:
        return record.name == OWN.name or record.levelno >= logging.WARNING

    def handleError(self, record: logging.LogRecord) -> None:
        """A full disk is reported where something is saved, not here."""


class _Form(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        safe = copy.copy(record)
        safe.exc_text = safe.stack_info = None
        if not record.name.startswith(_OURS):
            safe.msg, safe.args = f"({Path(record.pathname).name}, line {record.lineno})", None
        elif isinstance(record.args, tuple):
            safe.args = tuple(_Words(arg) if isinstance(arg, BaseException) else arg for arg in record.args)
        return _SECRET.sub("(left out)", super().format(safe))

    def formatException(self, given: Any) -> str:
        return "\n".join(_stack(given[1])) if given[1] is not None else ""


class _Words:
    """An error in place of itself, as far as it may be written down."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __repr__(self) -> str:
        return described(self._error)


def described(error: BaseException) -> str:
    """Its kind, and its words where they cannot be a person's."""
    kind = type(error).__qualname__
    if isinstance(error, OSError) and error.strerror:
        return f"{kind}: {error.strerror}"
    words = str(error).splitlines()[0] if type(error) in _HARMLESS and str(error) else ""
    return f"{kind}: {words}" if words else kind


def _stack(error: BaseException) -> list[str]:
    lines: list[str] = []
    seen: set[int] = set()
    chain: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        chain.append(at)
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)
    for one in reversed(chain):
        for frame in traceback.extract_tb(one.__traceback__, limit=-40):
            code = linecache.getline(frame.filename, frame.lineno or 0).strip()
            lines.append(f"  {frame.filename}:{frame.lineno} in {frame.name}" + (f": {code}" if code else ""))
        lines.append(described(one))
        if one is not error:
            lines.append("  then:")
    return lines
