"""The window on a fresh machine, for the README: the Guide answers, the Reader reads, and nothing is scripted.

Made by `make screenshots`, without a screen.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from screenshots import SIZE, shot, until

ASKED = ("What can you do?", "how do i read a pdf?", "What is the capital of France?")


def fresh(app: Any, folder: Path) -> Any:
    from app.gui.preferences import Preferences, places_under
    from app.main import Start, open_window

    places = places_under(folder / "grus").make()
    preferences = Preferences(places.preferences)
    preferences.put("appearance", "light")
    preferences.put("language", "en")
    preferences.put("cache_dir", str(folder / "cache"))
    window = open_window(app, Start(), places)
    window.resize(*SIZE)
    return window


def conversation(app: Any, window: Any) -> None:
    pane = window.open_pane("chat")
    until(app, lambda: pane.talk.head.model, 120)
    for number, question in enumerate(ASKED, 1):
        pane.talk.send(question)
        until(app, lambda n=2 * number: len(pane.talk.path) == n and not pane.talk.writing, 120)


def page(app: Any, window: Any) -> None:
    from engine.starter import PAGE

    pane = window.open_pane("read")
    pane.results.add([PAGE])
    until(app, lambda: pane.results.items and pane.results.items[0].state in ("done", "failed"), 240)
    until(app, lambda: pane.page.paper.image is not None, 60)


def take(app: Any) -> None:
    from app.main import close_context

    with tempfile.TemporaryDirectory() as name:
        window = fresh(app, Path(name))
        conversation(app, window)
        shot(app, window, "guide-light")
        page(app, window)
        shot(app, window, "reader-light")
        window.close()
        close_context(window)


if __name__ == "__main__":
    from PySide6.QtWidgets import QApplication

    take(QApplication([]))
