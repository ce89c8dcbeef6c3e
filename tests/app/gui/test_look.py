"""Switching colours and the size of text: quick with every pane open, the right icons, every widget in the new look."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QPlainTextEdit, QSplitterHandle, QToolButton, QWidget

from app.gui.look import icon
from app.gui.theme import DARK
from tests.app.gui.conftest import Opened

MOST = 0.05  # seconds of the UI thread
TRIES = 3  # the quickest counts: the machine has more to do than this


def open_all(grus: Opened) -> None:
    """Every pane has been seen, and the first is shown."""
    for spec in grus.window.specs:
        grus.window.open_pane(spec.name)
        QApplication.processEvents()
    grus.window.open_pane("chat")
    settle(grus)


def settle(grus: Opened) -> None:
    grus.context.look.settle()
    QApplication.processEvents()


def drawn(button: QAbstractButton) -> QImage:
    return button.icon().pixmap(QSize(24, 24)).toImage()


def worked(do: Callable[[], object]) -> float:
    """Seconds of work of this thread until all is on the screen."""
    began = time.thread_time()
    do()
    QApplication.processEvents()
    return time.thread_time() - began


@pytest.mark.parametrize("pane", ["read", "speak", "listen"])
def test_a_toolbar_keeps_its_icons(grus: Opened, pane: str) -> None:
    grus.window.open_pane(pane)
    buttons = [one for one in grus.window.panes[pane].findChildren(QToolButton) if not one.icon().isNull()]
    before = [drawn(one) for one in buttons]
    assert len(buttons) >= 4
    grus.window.switch_appearance()
    settle(grus)
    dots = icon("more", grus.context.look.theme.second, grus.context.look.theme.second).pixmap(QSize(24, 24)).toImage()
    assert [one.accessibleName() for one in buttons if drawn(one) == dots] == []
    grus.window.switch_appearance()
    settle(grus)
    assert [drawn(one) for one in buttons] == before


@pytest.mark.slow
def test_colours_and_size_change_at_once_with_every_pane_open(grus: Opened) -> None:
    open_all(grus)
    took: dict[str, tuple[float, float]] = {}
    for spec in grus.window.specs:
        grus.window.open_pane(spec.name)
        QApplication.processEvents()
        colours, size = [], []
        for change in (0.1, -0.1, 0.1)[:TRIES]:
            colours.append(worked(grus.window.switch_appearance))
            settle(grus)
            size.append(worked(lambda by=change: grus.window.scale_text(by)))  # type: ignore[misc]
            settle(grus)
        took[spec.name] = min(colours), min(size)
    assert {name: each for name, each in took.items() if max(each) >= MOST} == {}


def test_ten_steps_of_size_take_less_than_a_second(grus: Opened) -> None:
    open_all(grus)
    took = sum(worked(lambda: grus.window.scale_text(0.1)) for _ in range(10))
    assert took < 1
    assert grus.context.look.scale == 2.0


def test_every_part_comes_into_the_new_look(grus: Opened) -> None:
    open_all(grus)
    base = QApplication.font().pointSizeF()
    grus.window.switch_appearance()
    grus.window.scale_text(0.5)
    look = grus.context.look
    QApplication.processEvents()
    chat = grus.window.panes["chat"].parts
    assert [part.styleSheet() == look._sheet for part in chat] == [part.isVisible() for part in chat]
    assert [part.isVisible() for part in chat].count(False) >= 2  # its settings and previews come later
    assert not look.settled
    grus.until(lambda: look.settled)
    assert {part.styleSheet() for part in look._parts} == {look._sheet}
    small = {
        f"{type(one).__name__} {one.accessibleName()}"
        for pane in grus.window.panes.values()
        for one in pane.findChildren(QWidget)
        # what holds no text: containers in a scroll area, and lines between columns
        if type(one) not in (QWidget, QSplitterHandle) and one.font().pointSizeF() <= base
    }
    assert small == set()


def test_the_hints_of_logs_grow_with_the_text(grus: Opened) -> None:
    server = grus.window.open_pane("server")
    grus.window.show_log()

    def inked(area: QPlainTextEdit) -> int:
        """Rows of pixels with letters."""
        seen = area.viewport().grab().toImage()
        paper = seen.pixel(seen.width() - 1, seen.height() - 1)
        return sum(any(seen.pixel(x, y) != paper for x in range(seen.width())) for y in range(seen.height()))

    areas = (server.log, grus.window.log.text)
    QApplication.processEvents()
    before = [inked(area) for area in areas]
    grus.window.scale_text(1.0)
    settle(grus)
    for area, rows in zip(areas, before, strict=True):
        assert inked(area) > 1.5 * rows > 0


def test_what_is_in_sight_of_a_long_pane_changes_first(grus: Opened) -> None:
    open_all(grus)
    sections = [part for part in grus.window.open_pane("settings").parts if part.isVisible()]
    settle(grus)
    grus.window.switch_appearance()
    new = [part.styleSheet() == grus.context.look._sheet for part in sections]
    assert new[0]
    assert not all(new)
    settle(grus)
    assert {part.styleSheet() for part in sections} == {grus.context.look._sheet}


def test_a_pane_that_was_hidden_is_shown_in_the_new_look(grus: Opened) -> None:
    """Before its turn has come."""
    open_all(grus)
    grus.context.preferences.put("appearance", "dark")
    QApplication.processEvents()  # the palette; a part's turn comes later
    assert not grus.context.look.settled
    grus.window.open_pane("settings")
    parts = grus.window.panes["settings"].parts
    assert {part.styleSheet() for part in parts if part.isVisible()} == {grus.context.look._sheet}
    shown = grus.window.grab().toImage()
    ratio = shown.devicePixelRatio()
    place = grus.window.panes["settings"].mapTo(grus.window, grus.window.panes["settings"].rect().bottomRight())
    assert (
        shown.pixelColor(round((place.x() - 30) * ratio), round((place.y() - 4) * ratio)).name().upper() == DARK.window
    )
