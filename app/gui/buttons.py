"""Small controls that follow the theme: icon buttons with a name, and lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QToolButton, QWidget

from app.gui.look import Look


def icon_button(
    look: Look,
    name: str,
    title: str,
    run: Callable[[], Any] | None = None,
    *,
    kind: str = "flat",
    size: int = 18,
    colour: str = "second",
    parent: QWidget | None = None,
) -> QToolButton:
    """A button that is an icon; its title is its tooltip and what a screen reader says."""
    button = QToolButton(parent)
    button.setProperty("kind", kind)
    button.setToolTip(title)
    button.setAccessibleName(title)
    button.setIconSize(QSize(size, size))
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    look.on_change(button, lambda: button.setIcon(look.icon(name, colour)))
    if run is not None:
        button.clicked.connect(lambda checked=False: run())
    return button


def text_button(title: str, run: Callable[[], Any] | None = None, *, kind: str = "") -> QPushButton:
    """A button that is a verb."""
    button = QPushButton(title)
    button.setProperty("kind", kind)
    button.setAccessibleName(title.replace("&", ""))
    if run is not None:
        button.clicked.connect(lambda checked=False: run())
    return button


def label(text: str = "", kind: str = "", *, wrap: bool = False) -> QLabel:
    made = QLabel(text)
    made.setProperty("kind", kind)
    made.setWordWrap(wrap)
    return made


def line(vertical: bool = False) -> QFrame:
    """A hairline between two areas."""
    frame = QFrame()
    frame.setProperty("kind", "line")
    if vertical:
        frame.setFixedWidth(1)
    else:
        frame.setFixedHeight(1)
    return frame
