"""What does not fit in a window, found in its tree of widgets: clipped texts, widgets on each other, widgets outside."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QStyle,
    QStyleOptionComboBox,
    QStyleOptionFrame,
    QTabBar,
    QTextEdit,
    QToolButton,
    QWidget,
)

from app.gui.widgets import ElidedLabel

_ON_TOP = ("floating",)  # cards that lie over the content
_SLACK = 1  # pixels of rounding
_EDGE = 6  # flat buttons stand out by what is free around their icon, so that the icon is in line with the text


def faults(window: QWidget) -> list[str]:
    """One line for each, with the way to the widget."""
    found = []
    for widget in seen(window):
        found += [f"{path(widget)}: {what}" for what in [*_outside(widget), *_on_another(widget), *_clipped(widget)]]
    return found


def seen(window: QWidget) -> Iterator[QWidget]:
    """Every widget that is shown, in part at least."""
    around = [window]
    while around:  # through what is shown alone: the panes that are not hold many times as many
        for widget in around.pop().children():
            if isinstance(widget, QWidget) and widget.isVisible() and not widget.isWindow():
                around.append(widget)
                if not widget.visibleRegion().isEmpty():
                    yield widget


def path(widget: QWidget) -> str:
    names, at = [], widget
    while at is not None and not at.isWindow():
        names.append(type(at).__name__)
        at = at.parentWidget()
    text = getattr(widget, "text", lambda: "")() if not isinstance(widget, QComboBox) else widget.currentText()
    return f"{'/'.join(reversed(names[:4]))} {widget.accessibleName() or text!r}"


def _scrolls(widget: QWidget) -> bool:
    """It lies in a viewport that moves it."""
    parent = widget.parentWidget()
    above = parent.parentWidget() if parent is not None else None
    return isinstance(above, QAbstractScrollArea) and above.viewport() is parent


def _outside(widget: QWidget) -> Iterator[str]:
    parent = widget.parentWidget()
    never = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    if (
        isinstance(widget, QScrollArea)
        and widget.horizontalScrollBarPolicy() == never
        and widget.widget() is not None
        and widget.widget().width() > widget.viewport().width()
    ):
        yield f"what it holds is {widget.widget().width()} wide, and {widget.viewport().width()} of it are seen"
    if parent is None or widget.isWindow() or _scrolls(widget):
        return
    room, place = parent.rect(), widget.geometry()
    if not room.adjusted(-_EDGE, -_SLACK, _EDGE, _SLACK).contains(place):
        yield f"outside its parent: {_shown(place)} in {_shown(room)}"


def _on_another(widget: QWidget) -> Iterator[str]:
    parent = widget.parentWidget()
    if (
        parent is None
        or widget.property("kind") in _ON_TOP
        or isinstance(parent, QLineEdit | QComboBox | QAbstractScrollArea)
    ):
        return
    after = [one for one in parent.children() if isinstance(one, QWidget)]
    for other in after[after.index(widget) + 1 :]:
        if other.isVisible() and not other.isWindow() and other.property("kind") not in _ON_TOP:
            both = widget.geometry().intersected(other.geometry())
            if both.width() > _SLACK and both.height() > _SLACK and not _decoration(widget, other):
                yield f"lies on {path(other)}: {_shown(both)}"


def _decoration(one: QWidget, other: QWidget) -> bool:
    """Handles and buttons that Qt lays over the edge of what they move."""
    return any("Splitter" in type(each).__name__ or each.objectName().startswith("qt_") for each in (one, other))


def _clipped(widget: QWidget) -> Iterator[str]:
    """Text without room."""
    metrics = widget.fontMetrics()
    if isinstance(widget, QLabel) and widget.text() and widget.pixmap().isNull():
        room = widget.contentsRect()
        if isinstance(widget, ElidedLabel) and widget.toolTip():
            return
        if widget.wordWrap():
            if widget.heightForWidth(widget.width()) > widget.height() + _SLACK:
                yield f"text of {widget.heightForWidth(widget.width())} in a height of {widget.height()}"
        elif _width(widget) > room.width() + _SLACK or widget.sizeHint().height() > widget.height() + _SLACK:
            yield f"text of {_width(widget)} in a width of {room.width()}"
    elif isinstance(widget, QPushButton | QCheckBox) and widget.text():
        wanted = widget.minimumSizeHint()
        if wanted.width() > widget.width() + _SLACK or wanted.height() > widget.height() + _SLACK:
            yield f"needs {wanted.width()} x {wanted.height()}, has {widget.width()} x {widget.height()}"
    elif isinstance(widget, QToolButton) and not widget.icon().isNull():
        if min(widget.width(), widget.height()) < min(widget.iconSize().width(), widget.iconSize().height()):
            yield f"an icon of {widget.iconSize().width()} in {widget.width()} x {widget.height()}"
    elif isinstance(widget, QComboBox):
        option = QStyleOptionComboBox()
        widget.initStyleOption(option)
        complex_control, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = widget.style().subControlRect(complex_control, option, part, widget)
        if (
            type(widget).paintEvent is QComboBox.paintEvent
            and metrics.horizontalAdvance(widget.currentText()) > room.width() + _SLACK
        ):
            yield f"entry of {metrics.horizontalAdvance(widget.currentText())} in a width of {room.width()}"
        if metrics.height() > room.height() + _SLACK:
            yield f"entry {metrics.height()} high in {room.height()}"
    elif isinstance(widget, QLineEdit):
        frame = QStyleOptionFrame()
        widget.initStyleOption(frame)
        room = widget.style().subElementRect(QStyle.SubElement.SE_LineEditContents, frame, widget)
        wanted = metrics.horizontalAdvance(widget.placeholderText()) if not widget.text() else 0
        if wanted + 4 > room.width() and not widget.toolTip():
            yield f"hint of {wanted} in a width of {room.width() - 4}"
        if metrics.height() > room.height() + _SLACK:
            yield f"text {metrics.height()} high in {room.height()}"
    elif isinstance(widget, QTextEdit) and widget.placeholderText():
        wanted = metrics.horizontalAdvance(widget.placeholderText()) + round(widget.document().documentMargin() * 2)
        if wanted > widget.viewport().width() and widget.document().isEmpty():
            yield f"hint of {wanted} in a width of {widget.viewport().width()}"
    elif isinstance(widget, QTabBar):
        for i in range(widget.count()):
            if not widget.tabToolTip(i) and metrics.horizontalAdvance(widget.tabText(i)) > widget.tabRect(i).width():
                yield f"tab {widget.tabText(i)!r} in a width of {widget.tabRect(i).width()}"
        last = widget.tabRect(widget.count() - 1)
        if last.right() > widget.width() + _SLACK:
            yield f"tabs to {last.right()} in a width of {widget.width()}"


def _width(label: QLabel) -> int:
    """Of its longest line, as it is drawn: a sentence with a link is HTML."""
    if label.textFormat() == Qt.TextFormat.RichText or "<" in QLabel.text(label):
        return label.sizeHint().width()
    return max(label.fontMetrics().horizontalAdvance(line) for line in label.text().split("\n"))


def _shown(place: QRect) -> str:
    corner: QPoint = place.topLeft()
    return f"{place.width()} x {place.height()} at {corner.x()}, {corner.y()}"
