"""Sits in the real app's process and does what a person would, with keys alone: `python -m tests.app.gui.person TASK ...`.

What follows the task is the app's own command line. A task is a generator: it yields what it waits for. What it has
seen is printed, one word or one line of JSON at a time.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTextEdit

import app.main
from app.cli import main
from app.gui.chat.message_view import ProseWidget, UserTextWidget
from app.gui.chat.passage_list import SourcesWidget

QUESTION = "What can you do?"
LINE = "The crane dances."
DRAFT = "an unfinished thought"
CTRL = Qt.KeyboardModifier.ControlModifier

Waits = Iterator[Callable[[], Any]]


def say(what: Any) -> None:
    print(what, flush=True)


def work(window: Any) -> Waits:
    """Ask the Guide, read the page that a second start hands over, speak a line, begin another message."""
    chat = window.pane("chat")
    yield lambda: chat.talk.head.model
    QTest.keyClicks(chat.composer.field, QUESTION)
    QTest.keyClick(chat.composer.field, Qt.Key.Key_Return)
    yield lambda: chat.talk.path and chat.talk.path[-1].state == "done"
    say("answered")
    yield lambda: window.shown == "read"
    read = window.pane("read")
    yield lambda: read.results.items and read.results.items[0].state in ("done", "failed")
    say(f"read: {read.results.items[0].state} {read.results.items[0].error}")
    QTest.keyClick(window, Qt.Key.Key_3, CTRL)
    yield lambda: window.shown == "speak"
    speak = window.pane("speak")
    yield lambda: speak.model_box.name and speak.voice.count()
    QTest.keyClicks(speak.text, LINE)
    QTest.keyClick(speak.text, Qt.Key.Key_Return, CTRL)
    yield lambda: speak.results.items and speak.results.items[0].state != "speaking"
    say(f"spoken: {speak.results.items[0].state} {speak.results.items[0].error}")
    QTest.keyClick(window, Qt.Key.Key_1, CTRL)
    yield lambda: window.shown == "chat"
    QTest.keyClicks(chat.composer.field, DRAFT)
    say("typed")


def first_voice(window: Any) -> Waits:
    """Speak a line in a window that has no model but those of the system and of Grus."""
    speak = window.open_pane("speak")
    yield lambda: speak.model_box.name and speak.voice.count() > 1
    QTest.keyClicks(speak.text, LINE)
    QTest.mouseClick(speak.go, Qt.MouseButton.LeftButton)
    yield lambda: speak.results.items and speak.results.items[0].state != "speaking"
    take = speak.results.items[0]
    say(f"spoken: {speak.model_box.name} {take.state} {take.seconds} {take.error}")


def libraries(window: Any) -> Waits:
    """Give Libraries the folder of the environment, search it, ask it in Chat, and open the page of the first source."""
    folder = Path(os.environ["GRUS_TEST_FOLDER"])
    window.raise_up()  # keys go to the active window
    yield lambda: window.isActiveWindow() and window.pane("chat").talk.head.model
    QTest.keyClick(window, Qt.Key.Key_8, CTRL)
    yield lambda: window.shown == "libraries"
    pane = window.pane("libraries")
    pane.results.add([folder])
    yield lambda: pane.results.items and pane.results.items[0].state == "done"
    say(f"indexed: {pane.results.items[0].status()}")
    QTest.keyClicks(pane.field, "fuse amperes")
    yield lambda: pane.found.count()
    say(f"found: {pane.found.item(0).text().splitlines()[0]}")
    QTest.mouseClick(pane.ask_button, Qt.MouseButton.LeftButton)
    yield lambda: window.shown == "chat" and window.pane("chat").talk.head.model
    chat = window.pane("chat")
    QTest.keyClicks(chat.composer.field, "How many amperes is the fuse rated at?")
    QTest.keyClick(chat.composer.field, Qt.Key.Key_Return)
    yield (
        lambda: (
            chat.talk.path and chat.talk.path[-1].state not in ("writing",) and chat.talk.path[-1].role == "assistant"
        )
    )
    say(f"answered: {chat.talk.path[-1].state} {chat.talk.path[-1].passages[0].where}")
    yield lambda: any(isinstance(view, SourcesWidget) for view in chat.transcript.widgets.values())
    sources = next(view for view in chat.transcript.widgets.values() if isinstance(view, SourcesWidget))
    sources.lines[0].setFocus()
    QTest.keyClick(sources.lines[0], Qt.Key.Key_Space)
    read = window.pane("read")
    yield lambda: window.shown == "read" and read.blocks.current in read.blocks.blocks
    say(f"marked: {read.results.current.page_number} {read.blocks.text_of(read.blocks.current)}")


def look(window: Any) -> Waits:
    """Open every pane that holds something, and tell what is on the screen."""
    chat = window.pane("chat")
    QTest.keyClick(window, Qt.Key.Key_1, CTRL)
    yield lambda: len(chat.talk.path) == 2 and chat.composer.field.toPlainText()
    yield lambda: any(isinstance(view, ProseWidget) for view in chat.transcript.widgets.values())
    views = [chat.transcript.widgets[i] for i in sorted(chat.transcript.widgets)]
    seen: dict[str, Any] = {
        "chat": [view.text.toPlainText() for view in views if isinstance(view, UserTextWidget | ProseWidget)],
        "draft": chat.composer.field.toPlainText(),
    }
    QTest.keyClick(window, Qt.Key.Key_2, CTRL)
    read = window.pane("read")
    yield lambda: read.blocks.blocks and read.page.paper.image is not None
    seen["read"] = [field.toPlainText() for field in read.blocks.findChildren(QTextEdit)]
    seen["page"] = list(read.page.paper.page)
    QTest.keyClick(window, Qt.Key.Key_3, CTRL)
    speak = window.pane("speak")
    yield lambda: speak.results.items and speak.results.playback.seconds > 0
    seen["spoken"] = [speak.list.model().index(0, 0).data(), speak.results.playback.seconds]
    seen["heard"] = len(speak.results.playback.samples)
    say("seen " + json.dumps(seen))


def update(window: Any) -> Waits:
    """Begin a message, let Grus look for updates, and install the one that it finds: the window closes, and the new version opens."""
    QTest.keyClicks(window.pane("chat").composer.field, DRAFT)
    updates = window.open_pane("settings").updates
    say(f"allowed before: {updates.allowed.isChecked()}")
    updates.allowed.click()
    yield lambda: updates.get.isVisible() or updates.status.property("level") == "error"
    say(f"offered: {updates.notes.text().strip()}")
    QTest.mouseClick(updates.get, Qt.MouseButton.LeftButton)
    yield lambda: updates.install.isVisible() or updates.status.property("level") == "error"
    say(f"downloaded: {updates.status.text()}")
    if updates.install.isVisible():
        QTest.mouseClick(updates.install, Qt.MouseButton.LeftButton)
    else:
        window.close()


def updated(window: Any) -> Waits:
    """What a person finds after the new version has opened by itself. Closes the window."""
    updates = window.open_pane("settings").updates
    listed = window.pane("chat").conversation_list_view.list.model()
    yield lambda: listed.rowCount() >= 2
    titles = sorted(str(listed.index(row, 0).data()) for row in range(listed.rowCount()))
    say(f"restarted: {updates.allowed.isChecked()} {titles}")
    window.close()


def unopened(window: Any) -> Waits:
    """What the bar above the panes says of a file of conversations that cannot be opened. Closes the window."""
    yield lambda: window.save_bar.isVisible() and window.save_bar.sentence.text()
    say(f"sentence: {window.save_bar.sentence.text()}")
    window.close()


def follow(steps: Waits) -> None:
    """Go on as soon as what a task waits for is there."""
    ready = next(steps, None)

    def try_it() -> None:
        nonlocal ready
        while ready is not None and ready():
            ready = next(steps, None)
        if ready is not None:
            QTimer.singleShot(20, try_it)

    try_it()


if __name__ == "__main__":
    tasks = (work, look, first_voice, libraries, update, updated, unopened)
    task = {task.__name__: task for task in tasks}[sys.argv[1]]
    announce = app.main._announce
    app.main._announce = lambda window: (announce(window), follow(task(window)))[0]
    sys.exit(main(["app", *sys.argv[2:]]))
