"""Small controls that follow the theme: icon buttons, text buttons, labels, lines, and the empty state of a pane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QLabel,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
    QStylePainter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.explain import HAS_MORE, leads_to_log
from app.gui.look import Look, pixmap
from app.gui.texts import tr
from app.gui.theme import GRID, Theme

_LOG = "grus:log"


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
    """A button that is an icon; its title is its tooltip and what a screen reader says. No name: one that `wear` dresses."""
    button = QToolButton(parent)
    button.setProperty("kind", kind)
    button.setToolTip(title)
    button.setAccessibleName(title)
    button.setIconSize(QSize(size, size))
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    if name:
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


class Label(QLabel):
    """Where its sentence says that the log has more, these words open the log."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self._sentence = ""
        self.linkActivated.connect(lambda link: _show_log(self) if link == _LOG else None)
        self.setText(text)

    def setText(self, text: str) -> None:
        self._sentence = text
        if leads_to_log(text):
            words = tr(HAS_MORE)
            before, _, behind = text.partition(words)
            super().setText(f'{escape(before)}<a href="{_LOG}">{escape(words)}</a>{escape(behind)}')
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        else:
            super().setText(text)

    def clear(self) -> None:
        self.setText("")

    def text(self) -> str:
        """The sentence, without the link's marks."""
        return self._sentence


def _show_log(part: QWidget) -> None:
    if (show := getattr(part.window(), "show_log", None)) is not None:
        show()


def label(text: str = "", kind: str = "", *, wrap: bool = False) -> QLabel:
    made = Label(text)
    made.setProperty("kind", kind)
    made.setWordWrap(wrap)
    return made


class ElidedLabel(QLabel):
    """One line that gives way to what stands beside it: three dots, and the whole in the tooltip."""

    def __init__(self, kind: str = "") -> None:
        super().__init__()
        self.setProperty("kind", kind)
        self.setTextFormat(Qt.TextFormat.PlainText)  # of models and people: nothing in it is a tag

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setToolTip(f"<p>{escape(text)}</p>" if "<" in text else text)

    def minimumSizeHint(self) -> QSize:
        few = self.fontMetrics().horizontalAdvance("0000…")
        return QSize(min(few, super().minimumSizeHint().width()), super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        room = self.rect().adjusted(max(0, self.indent()), 0, 0, 0)
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter = QPainter(self)
        role = self.foregroundRole()
        self.style().drawItemText(painter, room, self.alignment().value, self.palette(), self.isEnabled(), text, role)
        painter.end()


def line(vertical: bool = False) -> QFrame:
    """A hairline between two areas."""
    frame = QFrame()
    frame.setProperty("kind", "line")
    if vertical:
        frame.setFixedWidth(1)
    else:
        frame.setFixedHeight(1)
    return frame


class ElidedBox(QComboBox):
    """A drop-down list that is narrower than its entry says so with three dots."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        field = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        option.currentText = self.fontMetrics().elidedText(  # type: ignore[attr-defined]
            self.currentText(), Qt.TextElideMode.ElideRight, field.width()
        )
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


_WIDTH = 500  # pixels of the sentence
_NARROWEST = 240


def paint_row(painter: QPainter, theme: Theme, room: QRect, state: QStyle.StateFlag, chosen: bool) -> None:
    """The background of a row of a list: chosen, under the mouse, focused."""
    if chosen or state & QStyle.StateFlag.State_MouseOver:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.selected if chosen else theme.hover))
        painter.drawRoundedRect(room, 6, 6)
    if state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(QColor(theme.accent))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(room.adjusted(1, 1, -1, -1), 6, 6)


BADGES = Qt.ItemDataRole.UserRole + 7  # of a line: what a model can do, in words
_BADGE_SIZE = 0.85
_LIST = 280  # pixels of a list of models, at least
ARROW = 60  # pixels of a drop-down list's arrow and edges


def badges_width(metrics: QFontMetrics, words: Sequence[str]) -> int:
    """The room that they take at the end of a line, at the most."""
    return sum(metrics.horizontalAdvance(word) + GRID * 2 for word in words)


def paint_badges(painter: QPainter, look: Look, room: QRect, words: Sequence[str]) -> int:
    """At the right of a line. Returns how much of it they take."""
    font = look.font(_BADGE_SIZE)
    metrics, right = QFontMetrics(font), room.right()
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(font)
    for word in reversed(words):
        width = metrics.horizontalAdvance(word) + GRID
        place = QRect(right - width, room.center().y() - metrics.height() // 2 - 1, width, metrics.height() + 2)
        painter.setPen(QColor(look.theme.second))
        painter.drawRoundedRect(place, 4, 4)
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, word)
        right = place.left() - GRID // 2
    painter.restore()
    return room.right() - right


class BadgePainter(QStyledItemDelegate):
    """Lines of a drop-down with badges behind the name, and its separators, which Qt draws with a delegate of its own."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        if self._separates(index):
            painter.fillRect(option.rect.adjusted(GRID, 4, -GRID, -4), QColor(self._look.theme.line))
            return
        super().paint(painter, option, index)
        paint_badges(painter, self._look, option.rect.adjusted(GRID, 0, -GRID, 0), index.data(BADGES) or ())

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(1, 9) if self._separates(index) else super().sizeHint(option, index)

    def _separates(self, index: QModelIndex | QPersistentModelIndex) -> bool:
        return bool(index.data(Qt.ItemDataRole.AccessibleDescriptionRole) == "separator")


class BadgeBox(ElidedBox):
    """A drop-down list of models, each with what it can do."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.view().setItemDelegate(BadgePainter(look, self.view()))
        look.on_change(self, self.fit_list)

    def add_model(self, title: str, name: str, badges: Sequence[str]) -> None:
        self.addItem(title, name)
        self.setItemData(self.count() - 1, badges, BADGES)
        self.setItemData(self.count() - 1, ", ".join((title, *badges)), Qt.ItemDataRole.AccessibleTextRole)

    def fit_list(self) -> None:
        """The list that drops down is as wide as names and badges."""
        metrics = QFontMetrics(self._look.font(weight=QFont.Weight.DemiBold))
        rows = (
            metrics.horizontalAdvance(self.itemText(i)) + badges_width(metrics, self.itemData(i, BADGES) or ())
            for i in range(self.count())
        )
        self.view().setMinimumWidth(max(_LIST, max(rows, default=0) + ARROW))


class EmptyState(QWidget):
    """`offer` sets the action; without it there is none. `say` sets the sentence."""

    def __init__(self, look: Look, icon: str, title: str, sentence: str) -> None:
        super().__init__()
        self._look, self._icon = look, icon
        self.picture = QLabel()
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.title = label(title, "heading")
        self.title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sentence = label(sentence, "second", wrap=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.action = text_button("", lambda: self._run())
        self._run: Callable[[], Any] = lambda: None
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addStretch(2)
        column.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignCenter)
        column.addSpacing(GRID)
        column.addWidget(self.title)
        column.addWidget(self.sentence, 0, Qt.AlignmentFlag.AlignCenter)
        column.addSpacing(GRID)
        column.addWidget(self.action, 0, Qt.AlignmentFlag.AlignCenter)
        column.addStretch(3)
        self.action.hide()
        look.on_change(self, self._dress)
        look.language_changed.connect(self._dress)

    def offer(self, title: str, run: Callable[[], Any], main: bool = False) -> None:
        """The one action."""
        self._run = run
        self.action.setText(title)
        self.action.setAccessibleName(title)
        self.action.setProperty("kind", "main" if main else "")
        self.action.style().unpolish(self.action)
        self.action.style().polish(self.action)
        self.action.setVisible(bool(title))

    def hold(self, card: QWidget) -> None:
        """A card that stands in place of picture and sentence while it is shown (`show_card`)."""
        self.card = card
        if isinstance(column := self.layout(), QVBoxLayout):
            column.insertWidget(1, card, 0, Qt.AlignmentFlag.AlignCenter)

    def show_card(self, shown: bool) -> None:
        self.card.setVisible(shown)
        for part in (self.picture, self.title, self.sentence):
            part.setVisible(not shown)

    def say(self, sentence: str) -> None:
        self.sentence.setText(sentence)
        self._measure()

    def _measure(self) -> None:
        """The layout asks how high the sentence is at the pane's width, where it would need fewer lines."""
        width = max(_NARROWEST, min(_WIDTH, self.width() - 4 * GRID))
        self.sentence.setFixedWidth(width)  # first: a label answers for no less than the width that it has to have
        self.sentence.setFixedHeight(max(0, self.sentence.heightForWidth(width)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._measure()

    def minimumSizeHint(self) -> QSize:
        """The sentence takes more lines where the pane is narrow."""
        widest = max(_NARROWEST, self.title.minimumSizeHint().width(), self.action.minimumSizeHint().width())
        return QSize(widest + 4 * GRID, super().minimumSizeHint().height())

    def _dress(self) -> None:
        self.title.setFont(self._look.font(1.35, QFont.Weight.DemiBold))
        self.picture.setPixmap(pixmap(self._icon, self._look.theme.accent, 64, self.devicePixelRatioF()))
        self.say(self.sentence.text())
