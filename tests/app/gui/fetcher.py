"""Sits in the real app's process and gets models as a person would, with keys and clicks: `python -m tests.app.gui.fetcher
TASK ...`; see `person.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

import app.main
from app.cli import main
from tests.app.gui.person import CTRL, Waits, follow, say

REPO = "org/model"


def find(window: Any) -> Waits:
    """Search for it and choose it."""
    yield window.isActiveWindow
    QTest.keyClick(window, Qt.Key.Key_5, CTRL)
    yield lambda: window.shown == "models"
    pane = window.pane("models")
    QTest.keyClick(pane, Qt.Key.Key_F, CTRL)
    QTest.keyClicks(pane.field, "model")
    QTest.keyClick(pane.field, Qt.Key.Key_Return)
    yield lambda: not pane.finding.searching
    if pane.list.row_of(REPO) < 0:
        say(f"found nothing: {pane.state.text()}")
        return
    pane.list.setCurrentRow(pane.list.row_of(REPO))
    yield lambda: pane.view.buttons


def press(pane: Any, action: str) -> Waits:
    yield lambda: action in pane.view.buttons
    QTest.mouseClick(pane.view.buttons[action], Qt.MouseButton.LeftButton)


def download(window: Any) -> Waits:
    """Begin, pause with Esc, and when the test says so, go on."""
    yield from find(window)
    pane = window.pane("models")
    yield from press(pane, "download")
    yield lambda: pane.downloads.items and pane.downloads.items[0].done > 1_000_000
    QTest.keyClick(window, Qt.Key.Key_Escape)
    say(f"{pane.downloads.items[0].state}: {pane.view.working.text()}")
    yield lambda: (Path(sys.argv[-1]) / "go on").exists()
    yield from press(pane, "resume")
    say(pane.downloads.items[0].state)


def resume(window: Any) -> Waits:
    """What the last start left is on the list."""
    yield window.isActiveWindow
    QTest.keyClick(window, Qt.Key.Key_5, CTRL)
    pane = window.pane("models")
    yield lambda: pane.list.row_of(REPO) >= 0
    say("listed under " + pane.list.lines[0].title)
    pane.list.setCurrentRow(pane.list.row_of(REPO))
    yield from press(pane, "resume")
    yield lambda: "load" in pane.view.buttons
    say(f"here: {window.notice.sentence.text()}")


def gated(window: Any) -> Waits:
    """Refused without a token; it is given in the settings, and opens it."""
    yield from find(window)
    pane = window.pane("models")
    yield lambda: "accept its terms" in pane.view.problem.text()
    yield from press(pane, "download")
    yield lambda: pane.downloads.items and pane.downloads.items[0].state == "broken"
    say(f"refused: {pane.view.working.text()}")
    QTest.keyClick(window, Qt.Key.Key_7, CTRL)
    yield lambda: window.shown == "settings"
    settings = window.pane("settings")
    yield lambda: settings.access.kept is not None and not settings.access.busy
    QTest.keyClicks(settings.network.token, "hf_TheTokenOfATest0123456789")
    say(f"field shows {settings.network.token.displayText()[:3]}")
    QTest.keyClick(settings.network.token, Qt.Key.Key_Return)
    yield lambda: settings.access.removable and not settings.access.busy
    say(f"kept: {settings.network.about_token.text()}")
    QTest.keyClick(window, Qt.Key.Key_5, CTRL)
    yield from press(pane, "resume")
    yield lambda: "load" in pane.view.buttons
    say("here")
    QTest.keyClick(window, Qt.Key.Key_7, CTRL)
    QTest.mouseClick(settings.network.remove, Qt.MouseButton.LeftButton)
    yield lambda: not settings.access.removable and not settings.access.busy
    say(f"removed: {settings.network.about_token.text()}")


def offline(window: Any) -> Waits:
    """Nothing is asked; the settings say why."""
    yield from find(window)
    pane = window.pane("models")
    pane.downloads.start(REPO)
    yield lambda: pane.downloads.items[0].state == "broken"
    say(f"refused: {pane.downloads.items[0].problem}")
    QTest.keyClick(window, Qt.Key.Key_7, CTRL)
    yield lambda: window.shown == "settings"
    network = window.pane("settings").network
    say(f"switch: {network.offline.isChecked()} {network.offline.isEnabled()} {network.about_offline.text()}")


if __name__ == "__main__":
    task = {"download": download, "resume": resume, "gated": gated, "offline": offline}[sys.argv[1]]
    announce = app.main._announce
    app.main._announce = lambda window: (announce(window), follow(task(window)))[0]
    sys.exit(main(["app", *sys.argv[2:]]))
