"""The real app, which answers questions about itself: `python -m tests.app.gui.watched ARGUMENTS OF grus app`.

Every line on standard input is an expression; its value is printed as a line of JSON. Expressions see `window`, `place(name)` (the
middle of what is shown under a name, on the screen), `faults()`, `block()` (the longest that the UI thread worked in one turn
since the last call, in milliseconds) and `memory()` (MB). They look and change nothing: hands are xdotool's.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

import psutil
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QAbstractItemView, QApplication, QWidget

import app.main
from app.bridge import Poster
from app.cli import main
from tests.app.gui import clipping


class Heart:
    """Beats in every turn of the event loop."""

    def __init__(self) -> None:
        self._last, self._longest = time.thread_time(), 0.0
        self._timer = QTimer()
        self._timer.setInterval(1)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now = time.thread_time()
        self._longest, self._last = max(self._longest, now - self._last), now

    def block(self) -> float:
        longest, self._longest = self._longest, 0.0
        return round(1000 * longest, 1)


def place(name: str) -> list[int] | None:
    """Of a widget by its accessible name or its text, or of a line of a list by its words."""
    shown = [one for one in QApplication.allWidgets() if one.isVisible() and not one.visibleRegion().isEmpty()]
    for widget in shown:
        words = getattr(widget, "text", None)
        if name in (
            widget.accessibleName(),
            words() if callable(words) and not isinstance(widget, QAbstractItemView) else "",
        ):
            return _middle(widget, widget.visibleRegion().boundingRect().center())
    for view in (one for one in shown if isinstance(one, QAbstractItemView) and one.model() is not None):
        for row in range(view.model().rowCount()):
            index = view.model().index(row, 0)
            if str(index.data()) == name and not view.visualRect(index).isEmpty():
                return _middle(view.viewport(), view.visualRect(index).center())
    return None


def _middle(widget: QWidget, point: Any) -> list[int]:
    at = widget.mapToGlobal(point)
    return [at.x(), at.y()]


def answer(window: Any) -> None:
    heart, poster = Heart(), Poster(window)
    seen = {
        "window": window, "place": place, "block": heart.block, "faults": lambda: clipping.faults(window),
        "memory": lambda: psutil.Process().memory_info().rss // 1_000_000,
    }  # fmt: skip

    def tell(question: str) -> None:
        try:
            print(json.dumps(eval(question, seen), default=str), flush=True)
        except Exception as error:
            print(json.dumps({"error": repr(error)}), flush=True)

    def listen() -> None:
        for line in sys.stdin:
            poster.post(lambda question=line: tell(question))  # type: ignore[misc]

    threading.Thread(target=listen, daemon=True).start()
    print('"ready"', flush=True)


if __name__ == "__main__":
    announce = app.main._announce
    app.main._announce = lambda window: (announce(window), answer(window))[0]
    sys.exit(main(["app", *sys.argv[1:]]))
