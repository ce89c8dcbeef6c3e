"""The real app, which answers questions about itself: `python -m tests.app.gui.watched ARGUMENTS OF grus app`.

Every line on standard input is an expression; its value is printed as a line of JSON. Expressions see `window`, `place(name)` (the
middle of what is shown under a name, on the screen), `faults()`, `block()` (the longest that the UI thread worked in one turn
since the last call, in milliseconds, and what it did then) and `memory()` (MB). They look and change nothing: hands are xdotool's.
"""

from __future__ import annotations

import json
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import psutil
from PySide6.QtCore import QPoint, QTimer
from PySide6.QtWidgets import QAbstractItemView, QApplication, QCheckBox, QLabel, QWidget

import app.main
from app.bridge import Poster
from app.cli import main
from tests.app.gui import clipping


class Heart:
    """Beats in every turn of the event loop. A thread notes what the UI thread does in turns that are long."""

    def __init__(self) -> None:
        self._last, self._longest, self._beats = time.thread_time(), (0.0, ""), 0
        self._doing: tuple[int, list[str]] = (0, [])
        self._ui = threading.get_ident()
        self._timer = QTimer()
        self._timer.setInterval(1)
        self._timer.timeout.connect(self.beat)
        self._timer.start()
        threading.Thread(target=self._watch, daemon=True).start()

    def beat(self) -> None:
        now = time.thread_time()
        took = round(1000 * (now - self._last), 1)
        if took > self._longest[0]:
            self._longest = took, " / ".join(self._doing[1]) if self._doing[0] == self._beats else ""
        self._last, self._beats = now, self._beats + 1

    def skip(self) -> None:
        """What was done since the last beat does not count: it was an answer to a question."""
        self._last = time.thread_time()

    def _watch(self) -> None:
        while True:
            beats = self._beats
            time.sleep(0.02)
            if beats == self._beats:
                stack = traceback.extract_stack(sys._current_frames()[self._ui])[-5:]
                before = self._doing[1] if self._doing[0] == beats else []
                self._doing = (
                    beats,
                    [*before, " > ".join(f"{Path(f.filename).stem}:{f.lineno} {f.name}" for f in stack)],
                )

    def block(self) -> tuple[float, str]:
        longest, self._longest = self._longest, (0.0, "")
        return longest


def place(name: str) -> list[int] | None:
    """Of a widget by its accessible name or its text, or of a line of a list by its words."""
    shown = [one for one in QApplication.allWidgets() if one.isVisible() and not one.visibleRegion().isEmpty()]
    shown.sort(key=lambda one: isinstance(one, QLabel))  # a control rather than the label beside it
    for widget in shown:
        words = getattr(widget, "text", None)
        if name in (
            widget.accessibleName(),
            words() if callable(words) and not isinstance(widget, QAbstractItemView) else "",
        ):
            seen = widget.visibleRegion().boundingRect()
            return _middle(
                widget,
                seen.center() if not isinstance(widget, QCheckBox) else seen.topLeft() + QPoint(12, seen.height() // 2),
            )
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

    def respond(question: str) -> None:
        heart.beat()
        try:
            print(json.dumps(eval(question, seen), default=str), flush=True)
        except Exception as error:
            print(json.dumps({"error": repr(error)}), flush=True)
        heart.skip()

    def listen() -> None:
        for line in sys.stdin:
            poster.post(lambda question=line: respond(question))  # type: ignore[misc]

    threading.Thread(target=listen, daemon=True).start()
    print('"ready"', flush=True)


if __name__ == "__main__":
    announce = app.main._announce
    app.main._announce = lambda window: (announce(window), answer(window))[0]
    sys.exit(main(["app", *sys.argv[1:]]))
