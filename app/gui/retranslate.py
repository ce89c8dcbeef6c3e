"""Renews what widgets show when the language changes: no widget has to remember where its text came from.

`texts` remembers what `tr` returned. A text that it knows is translated again, in place; what a view composes of several texts, or
paints itself, it renews on `Look.language_changed`. What a person typed is never touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QMenu, QTabBar

from app.gui.texts import again

_SETTERS = {
    "text": "setText",
    "toolTip": "setToolTip",
    "accessibleName": "setAccessibleName",
    "accessibleDescription": "setAccessibleDescription",
    "placeholderText": "setPlaceholderText",
    "title": "setTitle",
}


def retranslate(app: QApplication) -> None:
    """Every text of every widget and action, in the language that is installed now."""
    directly = Qt.FindChildOption.FindDirectChildrenOnly
    for widget in app.allWidgets():
        modules = list(_modules(widget))
        for part in (widget, *widget.findChildren(QAction, options=directly)):
            _renew(part, modules)
        widget.update()


def _renew(part: QObject, modules: list[str]) -> None:
    for getter, setter in _SETTERS.items():
        if getter == "text" and isinstance(part, QLineEdit):
            continue
        if callable(getattr(part, getter, None)) and hasattr(part, setter):  # a pane may name a field `text`
            _set(getattr(part, getter)(), getattr(part, setter), modules)
    if isinstance(part, QComboBox):
        for i in range(part.count()):
            _set(part.itemText(i), lambda text, i=i: part.setItemText(i, text), modules)
    elif isinstance(part, QTabBar):
        for i in range(part.count()):
            _set(part.tabText(i), lambda text, i=i: part.setTabText(i, text), modules)
            _set(part.tabToolTip(i), lambda text, i=i: part.setTabToolTip(i, text), modules)


def _set(old: Any, put: Any, modules: list[str]) -> None:
    if isinstance(old, str) and old and (new := again(old, modules)) != old:
        put(new)


def _modules(part: QObject) -> Iterator[str]:
    """Where the part and what it lies in are written: of two phrases with one translation, theirs is meant."""
    at: QObject | None = part
    while at is not None:
        module = type(at).__module__
        if module.startswith("app.") and not isinstance(at, QMenu):
            yield module
        at = at.parent()
