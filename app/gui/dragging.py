"""Results leave the window as files: dragged from a list into a folder, a mail, another program.

The file is written beside the UI thread when the drag begins, into a folder that is emptied when Grus ends or begins, and when
something is deleted.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QMimeData, QSize, Qt, QUrl
from PySide6.QtGui import QDrag, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QAbstractItemView

from app.gui.desk import Desk
from app.gui.store.files import DRAGGED, private_folder

_LONGEST = 80  # characters of a name
_NO_NAME = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')

Write = Callable[[Path], Any]  # into this file
Offer = Callable[[Any], "tuple[str, Write] | None"]  # of an item: the file's name, and how it is written


class DragOut:
    """For a view whose items can be dragged. `offer` gives None for one that has nothing to give yet."""

    def __init__(self, desk: Desk, view: QAbstractItemView, offer: Offer) -> None:
        self._desk, self._view, self._offer = desk, view, offer
        self._writing = False
        view.setDragEnabled(True)
        view.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)

    def begin(self, item: Any) -> None:
        """The button is down and the mouse has moved."""
        offered = self._offer(item)
        if offered is None or self._writing:
            return
        name, write = offered

        def make() -> Path:
            folder = private_folder(self._desk.places.data / DRAGGED)
            file = Path(tempfile.mkdtemp(dir=folder)) / file_name(name)
            write(file)
            return file

        def made(file: Path) -> None:
            self._writing = False
            if QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton:  # still wanted
                self._carry(file)

        def failed(sentence: str) -> None:
            self._writing = False
            self._desk.say(sentence, level="error")

        self._writing = True
        self._desk.work.run(make, made, failed)

    def _carry(self, file: Path) -> None:
        drag, data = QDrag(self._view), QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(file))])
        drag.setMimeData(data)
        drag.setPixmap(self._desk.look.icon("file").pixmap(QSize(32, 32)))
        drag.exec(Qt.DropAction.CopyAction)


def from_outside(event: QDropEvent) -> bool:
    """Files that come from elsewhere: what was dragged out of a list is no news to the pane it came from."""
    return event.mimeData().hasUrls() and event.source() is None


def file_name(title: str) -> str:
    """A title as a name that every system takes, its ending kept."""
    stem, dot, ending = title.rpartition(".")
    stem = " ".join(_NO_NAME.sub(" ", stem if dot else ending).split()).strip(". ")[:_LONGEST].strip(". ") or "Grus"
    return f"{stem}.{ending}" if dot else stem
