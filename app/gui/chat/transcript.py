"""The conversation, drawn only where it is in sight: however long it is, a screenful of widgets is all there is.

Rows outside have a guessed height until they were seen once; when a guess was wrong, what a person looks at stays where
it is. While the end is in sight, it stays in sight as the reply grows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, takewhile
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.gui.chat.drawn import FormulaImages
from app.gui.chat.message_view import (
    CodeWidget,
    FooterWidget,
    MessageWidget,
    ProseWidget,
    ReasoningWidget,
    UserTextWidget,
)
from app.gui.chat.passage_list import SourcesWidget
from app.gui.chat.tool_call import ToolCallWidget
from app.gui.look import Look
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.find import FoundPlace
from app.gui.viewmodels.chat.message_views import MessageView
from app.gui.widgets import icon_button

READING = 72  # characters in a line
_WIDE = 760  # pixels that the column takes where there is room
_KINDS: dict[str, type[MessageWidget]] = {
    "said": UserTextWidget,
    "reasoning": ReasoningWidget,
    "prose": ProseWidget,
    "code": CodeWidget,
    "call": ToolCallWidget,
    "sources": SourcesWidget,
    "footer": FooterWidget,
}
_NEAR = 8  # pixels from the end that count as the end


class TranscriptView(QAbstractScrollArea):
    """`menu_wanted(message, global position)`: a right click on a row."""

    menu_wanted = Signal(int, object)

    def __init__(
        self,
        look: Look,
        drawn: FormulaImages,
        do: Callable[..., Any],
        read: Callable[[int], Sequence[MessageView]] = lambda message: (),
    ) -> None:
        """`read(message)`: the rows that an unread row stands for."""
        super().__init__()
        self._read = read
        self.setProperty("kind", "plain")
        self.setAccessibleName(tr("Conversation"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.verticalScrollBar().setSingleStep(48)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self._look, self._drawn, self._do = look, drawn, do
        self.views: list[MessageView] = []
        self._heights: list[float] = []
        self._tops: list[float] = [0.0]
        self._seen: dict[tuple[int, str, int], tuple[MessageView, int, float]] = {}  # measured: row, width, height
        self.widgets: dict[int, MessageWidget] = {}  # by index
        self._spare: dict[str, list[MessageWidget]] = {}
        self.stick = True  # the end stays in sight
        self._placing = False
        self.chosen: int | None = None  # the message that the keyboard is at
        self._over: int | None = None  # the one that the mouse is at
        self._focused: int | None = None  # the one with a button that has the focus
        self._wanted, self._place_wanted = "", FoundPlace(0, 0)  # the text that is searched, and the place looked at
        self.latest = icon_button(look, "down", tr("Jump to the latest message (Ctrl+End)"), self.to_end, parent=self)
        self.latest.setProperty("kind", "floating")
        self.latest.hide()
        drawn.ready.connect(self._again)
        look.on_change(self, self.redraw)

    # -- what is shown

    def show_views(self, views: Sequence[MessageView], to_end: bool = False) -> None:
        """Another list of rows. Views of rows that are still there stay where they are."""
        kept = {widget.view.key: widget for widget in self.widgets.values() if widget.view is not None}
        self.views = list(views)
        self.widgets = {}
        for i, view in enumerate(self.views):
            if view.key in kept and _KINDS[view.kind] is type(kept[view.key]):
                self.widgets[i] = kept.pop(view.key)
        for widget in kept.values():
            self._put_away(widget)
        self._guess_all()
        if to_end:
            self.stick = True
        self._place()

    def replace(self, message: int, views: Sequence[MessageView]) -> None:
        """The rows of one message are others: it grew. All that lies before it is left alone."""
        end = next((i + 1 for i in range(len(self.views) - 1, -1, -1) if self.views[i].message == message), None)
        if end is None:
            return
        first = end
        while first > 0 and self.views[first - 1].message == message:
            first -= 1
        if end != len(self.views):
            self.show_views([*self.views[:first], *views, *self.views[end:]])
            return
        kept = {
            widget.view.key: self.widgets.pop(i)
            for i, widget in list(self.widgets.items())
            if i >= first and widget.view
        }
        width, line = self.column[1], self._line
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(self.views[first:], views, strict=False)))
        for i, view in enumerate(views, first):
            if view.key in kept and _KINDS[view.kind] is type(kept[view.key]):
                self.widgets[i] = kept.pop(view.key)
        for widget in kept.values():
            self._put_away(widget)
        start = first + same
        self.views[start:] = views[same:]
        self._heights[start:] = [self._guess(view, width, line) for view in views[same:]]
        self._tops[start:] = accumulate(self._heights[start:], initial=self._tops[start])
        self._place()

    def forget(self) -> None:
        """Another conversation: what was measured is of no use any more."""
        self._seen.clear()

    def redraw(self) -> None:
        """Colours or sizes changed: fill, measure and place everything again."""
        self._seen = {}
        for widget in [*self.widgets.values(), *(one for spare in self._spare.values() for one in spare)]:
            widget.forget()
        self._guess_all()
        self._place()

    def discard(self) -> None:
        """Everything was deleted: views that wait to be used again still hold its words."""
        for widget in [*self.widgets.values(), *(one for spare in self._spare.values() for one in spare)]:
            widget.hide()  # it goes with the next turn of the event loop, and must not be seen until then
            widget.deleteLater()
        self.widgets, self._spare, self._seen = {}, {}, {}
        self._guess_all()
        self._place()

    def choose(self, message: int | None) -> None:
        """Mark a message, and bring it into sight."""
        self.chosen = message
        if message is not None:
            first = next((i for i, view in enumerate(self.views) if view.message == message), None)
            if first is not None:
                top, height = self._tops[first], self.viewport().height()
                if not self.verticalScrollBar().value() <= top <= self.verticalScrollBar().value() + height * 0.6:
                    self.verticalScrollBar().setValue(round(top - GRID * 2))
        self._reveal()
        self.viewport().update()

    def to_end(self) -> None:
        self.stick = True
        self._place()

    def mark(self, wanted: str, place: FoundPlace | None = None) -> None:
        """Mark a text in what is in sight, and bring a place of it into sight."""
        self._wanted, self._place_wanted = wanted, place or FoundPlace(0, 0)
        if place is not None:
            self.stick = False
            self._go_to(place)
        self._reveal()

    def _go_to(self, place: FoundPlace) -> None:
        bar = self.verticalScrollBar()
        for _ in range(2):  # rows that come into sight are read, and get other heights
            row = self._row_with(place)
            if row is None:
                return
            bar.setValue(round(self._tops[row[0]] - self.viewport().height() / 3))
            self._place()
        row = self._row_with(place)
        if row is not None and (widget := self.widgets.get(row[0])) is not None:
            below = widget.mark(self._wanted, row[1]) or 0.0
            bar.setValue(round(self._tops[row[0]] + widget.above + below - self.viewport().height() / 3))

    def _row_with(self, place: FoundPlace) -> tuple[int, int] | None:
        """The row of a place, and which of the row's occurrences it is."""
        left, last = place.occurrence, None
        for i, view in enumerate(self.views):
            if view.message != place.message or view.kind not in ("said", "prose", "code", "unread"):
                continue
            count = view.text.casefold().count(self._wanted.casefold())
            if left < count:
                return i, left
            left -= count
            last = i
        return (last, 0) if last is not None else None

    @property
    def column(self) -> tuple[int, int]:
        """Where the reading column begins, and how wide it is."""
        return self.column_in(self.viewport().width())

    def column_in(self, whole: int) -> tuple[int, int]:
        room, reading = whole - 4 * GRID, round(QFontMetricsF(self._look.font()).averageCharWidth() * READING * 1.12)
        width = min(room, max(_WIDE, reading))
        return (whole - width) // 2, max(120, width)

    # -- where everything lies

    def _guess_all(self) -> None:
        width, line = self.column[1], self._line
        self._heights = [self._guess(view, width, line) for view in self.views]
        self._tops = [0.0, *accumulate(self._heights)]

    @property
    def _line(self) -> float:
        return QFontMetricsF(self._look.font()).lineSpacing()

    def _guess(self, view: MessageView, width: int, line: float) -> float:
        seen = self._seen.get(view.key)
        if seen is not None and seen[1] == width and (seen[0] is view or seen[0] == view):
            return seen[2]
        if view.kind == "unread":
            return 60 + (len(view.text) / READING + view.text.count("\n") * 0.8) * line * 1.3
        if view.kind == "footer":
            return 30.0
        if view.kind == "sources":
            return len(view.passages) * line * 1.5
        if view.kind == "call":
            return 36.0 if view.question is None else 300.0
        if view.kind == "code":
            return 64 + (view.text.count("\n") + 1) * line
        if view.kind == "reasoning":
            return 2 * GRID + 28.0 + (len(view.text) / READING + view.text.count("\n")) * line
        lines = len(view.text) / READING + view.text.count("\n") * 0.7 + 1
        return _KINDS[view.kind].above + lines * line * 1.45

    def _place(self) -> None:
        if self._placing:
            return
        self._placing = True
        try:
            self._settle()
        finally:
            self._placing = False

    def _settle(self) -> None:
        bar, view_height = self.verticalScrollBar(), self.viewport().height()
        left, width = self.column
        for _ in range(8):
            self._set_range()
            if self.stick:
                bar.setValue(bar.maximum())
            top = bar.value()
            moved = self._read_in_sight(top, view_height)
            wrong = bool(moved)
            for i in self._in_sight(top, view_height):
                height = self._measured(i, width)
                if abs(height - self._heights[i]) > 0.5:
                    if self._tops[i] < top:
                        moved += height - self._heights[i]
                    self._heights[i] = height
                    wrong = True
            if not wrong:
                break
            self._tops = [0.0, *accumulate(self._heights)]
            self._set_range()
            if not self.stick and moved:
                bar.setValue(round(top + moved))
        self._put_in_place(bar.value(), view_height, left, width)

    def _read_in_sight(self, top: int, height: int) -> float:
        """Put the rows of replies that come into sight in place of their stand-ins. Returns how far that moves what is
        looked at."""
        moved = 0.0
        width, line = self.column[1], self._line
        while (i := next((i for i in self._in_sight(top, height) if self.views[i].kind == "unread"), None)) is not None:
            views = list(self._read(self.views[i].message))
            heights = [self._guess(view, width, line) for view in views]
            if self._tops[i] < top:
                moved += sum(heights) - self._heights[i]
            by = len(views) - 1
            self.widgets = {at if at < i else at + by: widget for at, widget in self.widgets.items()}
            self.views[i : i + 1], self._heights[i : i + 1] = views, heights
            self._tops = [0.0, *accumulate(self._heights)]
        return moved

    def _set_range(self) -> None:
        height = self.viewport().height()
        total = self._tops[-1] + GRID * 4
        self.verticalScrollBar().setPageStep(round(height * 0.9))
        self.verticalScrollBar().setRange(0, max(0, round(total - height)))

    def _in_sight(self, top: float, height: int) -> range:
        """Rows in sight, and half a screen around it."""
        first = max(0, bisect_right(self._tops, top - height / 2) - 1)
        last = bisect_right(self._tops, top + height * 1.5)
        return range(first, min(len(self.views), last))

    def _measured(self, i: int, width: int) -> float:
        view = self.views[i]
        widget = self._view(i)
        seen = self._seen.get(view.key)
        if widget.view == view and seen is not None and seen[1] == width and seen[0] == view and not widget.waiting:
            return seen[2]
        widget.bind(view)
        widget.resize(width, widget.height())
        height = float(widget.measure(width) + widget.above)
        self._seen[view.key] = (view, width, height)
        return height

    def _view(self, i: int) -> MessageWidget:
        widget = self.widgets.get(i)
        if widget is None:
            view = self.views[i]
            spare = self._spare.get(view.kind)
            widget = spare.pop() if spare else self._make(view.kind)
            self.widgets[i] = widget
            widget.bind(view)
            widget.measure(self.column[1])
        return widget

    def _make(self, kind: str) -> MessageWidget:
        widget = _KINDS[kind](self._look, self._drawn, self._do)
        widget.setParent(self.viewport())
        for part in (widget, *widget.findChildren(QWidget)):
            part.installEventFilter(self)
        return widget

    def _put_in_place(self, top: int, height: int, left: int, width: int) -> None:
        sight = self._in_sight(top, height)
        for i in [i for i in self.widgets if i not in sight]:
            self._put_away(self.widgets.pop(i))
        for i in sight:
            widget = self.widgets.get(i)
            if widget is not None:
                y = round(self._tops[i] + widget.above) - top
                widget.setGeometry(left, y, width, round(self._heights[i] - widget.above))
                widget.show()
        self._reveal()
        self.viewport().update()

    def _reveal(self) -> None:
        """What can be done with a message is shown where the mouse or the keyboard is, and under the last one."""
        at = {self._over, self._focused, self.chosen}
        place = self._row_with(self._place_wanted) if self._wanted else None
        for i, widget in self.widgets.items():
            if (view := widget.view) is not None:
                widget.reveal(view.last or view.message in at)
                widget.mark(self._wanted, place[1] if place is not None and place[0] == i else None)
        self.latest.setVisible(not self.stick and self.verticalScrollBar().maximum() > 0)

    def _put_away(self, widget: MessageWidget) -> None:
        focused = self.focusWidget()
        if focused is not None and widget.isAncestorOf(focused):
            self.setFocus()
        widget.hide()
        kind = next(kind for kind, type_of in _KINDS.items() if type_of is type(widget))
        self._spare.setdefault(kind, []).append(widget)

    # -- events

    def _scrolled(self) -> None:
        if not self._placing:
            bar = self.verticalScrollBar()
            self.stick = bar.value() >= bar.maximum() - _NEAR
            self._place()

    def _again(self) -> None:
        """Formulas were rendered: message views that waited for them are bound again."""
        if any(widget.waiting for widget in self.widgets.values()):
            for widget in self.widgets.values():
                if widget.waiting and widget.view is not None:
                    self._seen.pop(widget.view.key, None)
            self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.latest.adjustSize()
        self.latest.move((self.width() - self.latest.width()) // 2, self.height() - self.latest.height() - GRID)
        self._guess_all()
        self._place()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Everything is placed by `_place`."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ContextMenu:
            view = self._row_of(watched)
            if view is not None:
                self.menu_wanted.emit(view.message, event.globalPos())  # type: ignore[attr-defined]
                return True
        if event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._went_to(watched, event.type())
        if isinstance(event, QWheelEvent) and event.type() == QEvent.Type.Wheel:
            event.ignore()
        return super().eventFilter(watched, event)

    def _went_to(self, watched: QObject, how: QEvent.Type) -> None:
        view = self._row_of(watched)
        if how == QEvent.Type.Enter:
            self._over = view.message if view is not None else None
        else:
            self._focused = view.message if view is not None and how == QEvent.Type.FocusIn else None
        self._reveal()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._over = None
        self._reveal()

    def _row_of(self, watched: QObject) -> MessageView | None:
        widget: Any = watched
        while widget is not None and not isinstance(widget, MessageWidget):
            widget = widget.parent()
        return widget.view if widget is not None else None

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.chosen is None:
            return
        painter = QPainter(self.viewport())
        left, _ = self.column
        top = self.verticalScrollBar().value()
        for i, widget in self.widgets.items():
            if self.views[i].message == self.chosen:
                y = round(self._tops[i] + widget.above) - top
                painter.fillRect(left - GRID * 2, y, 3, round(self._heights[i] - widget.above), self._accent())
        painter.end()

    def _accent(self) -> Any:
        return self.palette().accent()
