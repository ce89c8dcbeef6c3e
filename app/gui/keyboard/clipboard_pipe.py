"""Reads a pipe to its end, or writes one, without waiting: the desktop's portal gives the clipboard's contents through pipes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QSocketNotifier, QTimer

_LONGEST = 3000  # milliseconds; the other side is another program
_CHUNK = 1 << 16


class ClipboardReader(QObject):
    """`then(content)`; None where it is larger than `largest` or does not end in time. Closes the pipe."""

    def __init__(self, pipe: int, largest: int, parent: QObject, then: Callable[[bytes | None], Any]) -> None:
        super().__init__(parent)
        self._pipe, self._largest, self._then = pipe, largest, then
        self._content = bytearray()
        os.set_blocking(pipe, False)
        self._watch = QSocketNotifier(pipe, QSocketNotifier.Type.Read, self)
        self._watch.activated.connect(lambda *_: self._read())
        QTimer.singleShot(_LONGEST, self, lambda: self._end(None))

    def _read(self) -> None:
        try:
            found = os.read(self._pipe, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            self._end(None)
            return
        self._content += found
        if not found:
            self._end(bytes(self._content))
        elif len(self._content) > self._largest:
            self._end(None)

    def _end(self, content: bytes | None) -> None:
        if self._pipe >= 0:
            self._watch.setEnabled(False)
            os.close(self._pipe)
            self._pipe = -1
            self._then(content)
            self.deleteLater()


class ClipboardWriter(QObject):
    """`then(whether all was taken)`. Closes the pipe."""

    def __init__(self, pipe: int, content: bytes, parent: QObject, then: Callable[[bool], Any]) -> None:
        super().__init__(parent)
        self._pipe, self._left, self._then = pipe, memoryview(content), then
        os.set_blocking(pipe, False)
        self._watch = QSocketNotifier(pipe, QSocketNotifier.Type.Write, self)
        self._watch.activated.connect(lambda *_: self._write())
        QTimer.singleShot(_LONGEST, self, lambda: self._end(False))

    def _write(self) -> None:
        try:
            self._left = self._left[os.write(self._pipe, self._left[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            self._end(False)
            return
        if not self._left:
            self._end(True)

    def _end(self, good: bool) -> None:
        if self._pipe >= 0:
            self._watch.setEnabled(False)
            os.close(self._pipe)
            self._pipe = -1
            self._then(good)
            self.deleteLater()
