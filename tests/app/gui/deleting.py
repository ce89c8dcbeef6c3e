"""Sits in the real app's process and deletes, with keys alone: `python -m tests.app.gui.deleting TASK UNDO_SECONDS ...`.

What follows is the app's own command line. What it has done or seen is printed, a word or a line of JSON at a time.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

import app.main
from app.cli import main
from app.gui.store import database
from tests.app.gui.person import CTRL, Waits, follow, say

SHIFT = Qt.KeyboardModifier.ShiftModifier
PANES = {"chat": Qt.Key.Key_1, "read": Qt.Key.Key_2, "speak": Qt.Key.Key_3, "listen": Qt.Key.Key_4}


def items(pane: Any) -> list[Any]:
    for name in ("results",):
        if hasattr(pane, name):
            return list(getattr(pane, name).items)
    return list(pane.conversation_list.all)


def open_all(window: Any) -> Waits:
    window.activateWindow()
    yield window.isActiveWindow
    for name, key in PANES.items():
        QTest.keyClick(window, key, CTRL)
        pane = window.pane(name)
        yield lambda pane=pane, name=name: window.shown == name and items(pane)
        say(f"opened {name}")
    yield lambda: window.pane("chat").talk.path


def delete(window: Any) -> Waits:
    """Everything in every list, one by one."""
    yield from open_all(window)
    for name, key in PANES.items():
        QTest.keyClick(window, key, CTRL)
        pane = window.pane(name)
        QTest.keyClick(window, Qt.Key.Key_Backspace, CTRL | SHIFT)
        yield lambda pane=pane: not items(pane)
    window.context.store.wait()
    say("deleted")


def take_back(window: Any) -> Waits:
    """Delete in every list, and press Undo."""
    yield from open_all(window)
    for name, key in PANES.items():
        QTest.keyClick(window, key, CTRL)
        pane = window.pane(name)
        QTest.keyClick(window, Qt.Key.Key_Backspace, CTRL | SHIFT)
        yield lambda pane=pane: not items(pane) and window.notice.undo.isVisible()
        QTest.mouseClick(window.notice.undo, Qt.MouseButton.LeftButton)
        yield lambda pane=pane: items(pane)
        say(f"back in {name}")
    window.context.store.wait()
    say("taken back")


def wipe(window: Any) -> Waits:
    """Delete all, and tell what is on the screen then, in panes that were open all the time."""
    yield from open_all(window)
    QTest.keyClicks(window.pane("chat").composer.field, "a kingfisher draft")
    QTest.keyClicks(window.pane("speak").text, "a kingfisher text")
    QTest.keyClick(window, Qt.Key.Key_7, CTRL)
    view = window.pane("settings").private
    QTest.mouseClick(view.begin, Qt.MouseButton.LeftButton)
    QTest.mouseClick(view.really, Qt.MouseButton.LeftButton)
    say("shown " + json.dumps({name: shown(window.pane(name)) for name in PANES}))
    yield lambda: "Everything was deleted" in window.notice.sentence.text()
    say("shown " + json.dumps({name: shown(window.pane(name)) for name in PANES}))


def full(window: Any) -> Waits:
    """The disk becomes full while a person types, and has room again: what the window says, and the draft on the disk."""
    window.activateWindow()
    yield window.isActiveWindow
    data, field = window.context.places.data, window.pane("chat").composer.field
    field.setFocus()
    window.context.store.wait()
    with (data / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while filler.write(bytes(4096)):
            pass
    field.insertPlainText("a long kingfisher " * 20_000)
    yield window.save_bar.isVisible
    field.insertPlainText("and the last word")
    say("bar " + json.dumps([window.save_bar.sentence.text(), window.save_bar.again.text()]))
    window.close()
    say("still " + json.dumps([window.isVisible(), window.notice.sentence.text()]))
    window.resize(1000, 700)
    window.grab().save(str(data.parent.parent / "full.png")) if "GRUS_GRAB" in os.environ else None
    (data / "filler").unlink()
    QTest.mouseClick(window.save_bar.again, Qt.MouseButton.LeftButton)
    yield lambda: window.save_bar.isHidden()
    window.context.store.wait()
    db = sqlite3.connect(data / "grus.sqlite3")
    (text,) = db.execute("SELECT text FROM drafts").fetchone()
    db.close()
    say("saved " + json.dumps([window.notice.sentence.text(), len(text), text[-17:], sorted(os.listdir(data))]))


def shown(pane: QWidget) -> list[str]:
    """Everything that can be read in a pane, and how much its lists and its player hold."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    texts = [part.text() for kind in (QLabel, QLineEdit) for part in pane.findChildren(kind)]
    texts += [part.toPlainText() for kind in (QTextEdit, QPlainTextEdit) for part in pane.findChildren(kind)]
    player = getattr(pane, "player", None)
    return [
        *(text for text in texts if "kingfisher" in text.lower()),
        *(str(item.title) for item in items(pane)),
        *([f"{player.playback.seconds} s"] if player is not None and player.playback.seconds else []),
    ]


if __name__ == "__main__":
    task = {"delete": delete, "take_back": take_back, "wipe": wipe, "full": full}[sys.argv[1]]
    database.UNDO_SECONDS = float(sys.argv[2])
    announce = app.main._announce
    app.main._announce = lambda window: (announce(window), follow(task(window)))[0]
    sys.exit(main(["app", *sys.argv[3:]]))
