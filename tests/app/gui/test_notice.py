"""The sentence above the content: it covers nothing, expires, and an error goes when what failed works."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect

from app.gui.viewmodels.notice import CurrentNotice
from tests.app.gui.conftest import Opened


def test_every_sentence_expires_errors_later() -> None:
    notice = CurrentNotice()
    notice.say("Copied.", level="ok")
    notice.tick(9)
    assert notice.sentence
    notice.tick(2)
    assert not notice.sentence
    notice.say("That file is damaged.", level="error")
    notice.tick(30)
    assert notice.sentence
    notice.tick(31)
    assert not notice.sentence


def test_a_later_success_resolves_an_error_and_nothing_else() -> None:
    notice = CurrentNotice()
    for level, left in (("error", ""), ("warning", "Look."), ("info", "Look.")):
        notice.say("Look.", level=level)  # type: ignore[arg-type]
        notice.say("", level="ok")
        assert notice.sentence == left
    notice.say("Saved.", level="ok")
    assert notice.sentence == "Saved."


def test_a_notice_lies_above_the_content_and_covers_nothing(grus: Opened) -> None:
    window = grus.window
    window.say("A long sentence about what happened. " * 4, level="error")
    grus.until(window.notice.isVisible)
    place = QRect(window.notice.mapTo(window, QPoint(0, 0)), window.notice.size())
    for part in (window.stack, window.panes["chat"].composer, window.status_bar, window.rail):
        assert not place.intersects(QRect(part.mapTo(window, QPoint(0, 0)), part.size()))
    assert place.top() < window.stack.mapTo(window, QPoint(0, 0)).y()


def test_an_error_goes_when_the_next_message_is_answered(grus: Opened) -> None:
    pane = grus.window.panes["chat"]
    grus.until(lambda: pane.talk.head.model)
    grus.context.show_error("The file could not be read.")
    pane.talk.send("Hello")
    grus.until(lambda: pane.talk.path and not pane.talk.writing)
    grus.until(lambda: not grus.window.notice.isVisible())


def test_an_attachment_that_failed_is_forgotten_when_one_is_read(grus: Opened, tmp_path: object) -> None:
    from pathlib import Path

    pane, folder = grus.window.panes["chat"], Path(str(tmp_path))
    (folder / "broken.png").write_bytes(b"no picture")
    (folder / "notes.txt").write_text("Cranes dance.")
    pane.draft.add([folder / "broken.png"])
    grus.until(lambda: "damaged" in grus.window.notice.sentence.text())
    pane.draft.add([folder / "notes.txt"])
    grus.until(lambda: pane.draft.files and not grus.window.notice.isVisible())
