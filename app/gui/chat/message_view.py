"""The widgets of message views: rich text, code, reasoning, footers. A widget is rebound to another view as it scrolls."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMimeData, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QFontMetricsF,
    QPixmap,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QTextBrowser,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from app.gui.chat.message_buttons import MessageButtons
from app.gui.look import Look, restate
from app.gui.texts import size, tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.citations import PASSAGE, with_citations
from app.gui.viewmodels.chat.highlight import HighlightSpan, spans
from app.gui.viewmodels.chat.message_views import MessageView
from app.gui.viewmodels.chat.preview import kind_of
from app.gui.widgets import icon_button, label, text_button

if TYPE_CHECKING:
    from app.gui.chat.drawn import FormulaImages


def sheet(look: Look) -> str:
    """For a QTextDocument: Qt reads a part of CSS there."""
    theme, size = look.theme, look.font().pointSizeF()
    mono = look.mono.family()
    return f"""
        p {{ margin: 0 0 9px 0; line-height: 145%; }}
        li {{ margin: 2px 0; line-height: 145%; }}
        ul, ol {{ margin: 0 0 9px 0; }}
        li ul, li ol {{ margin: 0; }}
        h1 {{ font-size: {size * 1.35:.1f}pt; font-weight: 600; margin: 12px 0 8px 0; }}
        h2 {{ font-size: {size * 1.15:.1f}pt; font-weight: 600; margin: 10px 0 6px 0; }}
        h3 {{ font-size: {size:.1f}pt; font-weight: 600; margin: 8px 0 4px 0; }}
        a {{ color: {theme.text}; text-decoration: underline; }}
        code {{ font-family: '{mono}'; background-color: {theme.code}; }}
        pre {{ font-family: '{mono}'; background-color: {theme.code}; margin: 4px 0 9px 0; }}
        .footnote {{ font-size: {size * 0.9:.1f}pt; color: {theme.second}; }}
        td.quote {{ border-left: 3px solid {theme.line}; padding-left: 12px; color: {theme.second}; }}
        table {{ border-color: {theme.line}; border-collapse: collapse; border-style: solid; margin: 2px 0 10px 0; }}
        th {{ font-weight: 600; background-color: {theme.side}; }}
    """


class RichText(QTextBrowser):
    """Read-only; scrolls with what it lies in."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setProperty("kind", "bare")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setOpenLinks(False)
        self.cite: Callable[[int], Any] = lambda number: None  # a citation was clicked
        self.anchorClicked.connect(self._follow)
        self.setTabChangesFocus(True)
        self.setUndoRedoEnabled(False)
        self.document().setDocumentMargin(0)
        self.document().setIndentWidth(22)
        self.viewport().setAutoFillBackground(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)

    def _follow(self, target: QUrl) -> None:
        if target.scheme() == PASSAGE:
            self.cite(int(target.path()))
        else:
            ask_outside(self, target)

    def show_html(self, html: str) -> None:
        self.document().setDefaultStyleSheet(sheet(self._look))
        self.document().setDefaultFont(self._look.font())
        self.setHtml(html)

    def show_plain(self, text: str, before: str = "") -> None:
        """Plain text. `before`: the text shown now; when `text` continues it, only the rest is appended."""
        if before and text.startswith(before):
            end = QTextCursor(self.document())
            end.movePosition(QTextCursor.MoveOperation.End)
            end.insertText(text[len(before) :])
            return
        self.document().setDefaultFont(self._look.font())
        self.setPlainText(text)

    def height_for(self, width: int) -> int:
        document = self.document()
        if document.textWidth() != width:
            document.setTextWidth(width)
        return round(document.size().height() + 0.49)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Plain words: what is pasted elsewhere should not bring this window's colours."""
        data = QMimeData()
        data.setText(self.textCursor().selection().toPlainText())
        return data


def ask_outside(parent: QWidget, target: QUrl) -> None:
    """A link of a reply leads to the person's own browser, only to the web or to mail, and after the whole address was shown."""
    if target.scheme() not in ("http", "https", "mailto"):
        return
    asked = QMessageBox(QMessageBox.Icon.Question, tr("Open link"), target.toString(), parent=parent.window())
    asked.setInformativeText(tr("This address comes from the model. Open it in your browser?"))
    asked.setTextFormat(Qt.TextFormat.PlainText)
    asked.setStandardButtons(QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel)
    asked.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    asked.accepted.connect(lambda: QDesktopServices.openUrl(target))
    asked.open()


Do = Callable[..., Any]  # do("copy", message), do("turn", message, -1), ...
THUMB = 96
_PAD = 6  # what a flat button leaves free around its icon: it is moved left so that the icon stands in line


class MessageWidget(QWidget):
    """The base: remembers what it shows, so that the same row is not drawn twice."""

    above = GRID  # free space before it

    def __init__(self, look: Look, drawn: FormulaImages, do: Do) -> None:
        super().__init__()
        self.look, self.drawn, self.do = look, drawn, do
        self.view: MessageView | None = None
        self.waiting = False  # for formulas

    def bind(self, view: MessageView) -> None:
        if view != self.view or self.waiting:
            before, self.view = self.view, view
            self.fill(view, before)

    def reveal(self, on: bool) -> None:
        """Show what can be done with the message: the mouse or the keyboard is at it, or it is the last."""

    @property
    def searched(self) -> QTextEdit | QPlainTextEdit | None:
        """What holds the text that is searched."""
        return None

    def mark(self, wanted: str, at: int | None) -> float | None:
        """Mark a text wherever it occurs, one occurrence more. Returns how far below the top that one lies."""
        part = self.searched
        if part is None:
            return None
        found, place = list[QTextEdit.ExtraSelection](), None
        theme = self.look.theme
        for i, cursor in enumerate(_occurrences(part.document(), wanted)):
            selection: Any = QTextEdit.ExtraSelection()
            selection.cursor = cursor
            selection.format.setBackground(QColor(theme.accent if i == at else theme.selected))
            selection.format.setForeground(QColor(theme.on_accent if i == at else theme.text))
            found.append(selection)
            if i == at:
                place = float(part.mapTo(self, part.cursorRect(cursor).topLeft()).y())
        if found or part.extraSelections():
            part.setExtraSelections(found)
        return place

    def forget(self) -> None:
        """It shows nothing any more: the next `bind` fills it from nothing."""
        self.view = None

    @abstractmethod
    def fill(self, view: MessageView, before: MessageView | None) -> None: ...

    @abstractmethod
    def measure(self, width: int) -> int: ...


def _occurrences(document: QTextDocument, wanted: str) -> Iterator[QTextCursor]:
    cursor = document.find(wanted) if wanted else QTextCursor()
    while not cursor.isNull():
        yield QTextCursor(cursor)
        cursor = document.find(wanted, cursor)


_HEAD = 32
_COLOURED_EVERY = 250  # milliseconds, while code is being written
_PAUSE = 8  # times as long as it took: colours for long code take a share of the machine, not all of it


class CodeWidget(MessageWidget):
    def __init__(self, look: Look, drawn: FormulaImages, do: Do) -> None:
        super().__init__(look, drawn, do)
        self.box = QWidget(self)
        self.box.setProperty("kind", "codebox")
        self.box.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.language = label(kind="second")
        self.language.setParent(self.box)
        self.copy = icon_button(look, "copy", tr("Copy the code"), self._copy, size=16, parent=self.box)
        self.preview = icon_button(look, "eye", tr("Preview"), self._preview, size=16, parent=self.box)
        self.code = _Code(self.box)
        self.colours = _Colours(self.code.document(), look)
        self._version = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_COLOURED_EVERY)
        self._timer.timeout.connect(self._find_colours)

    @property
    def searched(self) -> QPlainTextEdit:
        return self.code

    def _copy(self) -> None:
        if self.view is not None:
            self.do("copy_text", self.view.message, self.view.text)

    def _preview(self) -> None:
        if self.view is not None and self.view.piece is not None:
            self.do("preview", self.view.message, self.view.piece.language, self.view.text)

    def fill(self, view: MessageView, before: MessageView | None) -> None:
        piece = view.piece
        assert piece is not None
        self.preview.setVisible(not piece.open and kind_of(piece.language, view.text) is not None)
        self.language.setText(piece.language or tr("Code"))
        self.code.setFont(self.look.mono)
        same = before is not None and before.key == view.key and before.text and view.text.startswith(before.text)
        if same:
            cursor = QTextCursor(self.code.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(view.text[len(before.text) :] if before else view.text)
            if not self._timer.isActive():
                self._timer.start()
        else:
            self.colours.show([])
            self.code.setPlainText(view.text)
            self._find_colours()

    def _find_colours(self) -> None:
        view = self.view
        if view is None or view.piece is None:
            return
        self._version += 1
        version, language, text = self._version, view.piece.language, view.text

        def find() -> tuple[Sequence[HighlightSpan], float]:
            began = time.thread_time()
            return spans(text, language), time.thread_time() - began

        def found(answer: tuple[Sequence[HighlightSpan], float]) -> None:
            if version == self._version and isValid(self.code):
                self.colours.show(answer[0])
                self._timer.setInterval(max(_COLOURED_EVERY, round(1000 * _PAUSE * answer[1])))

        self.do("work", view.message, find, found)

    def measure(self, width: int) -> int:
        lines = self.code.document().blockCount()
        height = round(lines * self.code.fontMetrics().lineSpacing()) + 2 * GRID + 2
        widest = max((len(line) for line in (self.view.text if self.view else "").split("\n")), default=0)
        if widest * self.code.fontMetrics().averageCharWidth() > width - 3 * GRID:
            height += 12  # the bar below
        head = max(_HEAD, self.language.sizeHint().height() + 2)
        self.box.setGeometry(0, 0, width, head + height)
        self.language.setGeometry(GRID * 2, 2, width - 92, head - 2)
        self.preview.setGeometry(width - 60, 2, 28, 28)
        self.copy.setGeometry(width - 32, 2, 28, 28)
        self.code.setGeometry(GRID, head, width - 2 * GRID, height - 2)
        return head + height + GRID


class _Code(QPlainTextEdit):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setProperty("kind", "bare")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        self.setUndoRedoEnabled(False)
        self.setAccessibleName(tr("Code"))
        self.viewport().setAutoFillBackground(False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()


class _Colours(QSyntaxHighlighter):
    """Applies spans that were found elsewhere."""

    def __init__(self, document: QTextDocument, look: Look) -> None:
        super().__init__(document)
        self._look = look
        self._lines: dict[int, list[HighlightSpan]] = {}

    def show(self, found: Sequence[HighlightSpan]) -> None:
        before = self._lines
        self._lines = {}
        for span in found:
            self._lines.setdefault(span.line, []).append(span)
        block = self.document().begin()
        while block.isValid():
            number = block.blockNumber()
            if before.get(number) != self._lines.get(number):
                self.rehighlightBlock(block)
            block = block.next()

    def highlightBlock(self, text: str) -> None:
        for span in self._lines.get(self.currentBlock().blockNumber(), ()):
            style = QTextCharFormat()
            style.setForeground(QColor(getattr(self._look.theme, span.kind)))
            self.setFormat(span.start, span.length, style)


class ProseWidget(MessageWidget):
    above = 2

    def __init__(self, look: Look, drawn: FormulaImages, do: Do) -> None:
        super().__init__(look, drawn, do)
        self.text = RichText(look, self)
        self.text.setAccessibleName(tr("Reply"))
        self.text.cite = lambda number: self.view and self.do("passage", self.view.message, number)

    @property
    def searched(self) -> QTextEdit:
        return self.text

    def fill(self, view: MessageView, before: MessageView | None) -> None:
        assert view.piece is not None
        html, self.waiting = self.drawn.html(view.piece, self.text.document(), self.devicePixelRatioF())
        self.text.show_html(with_citations(html, len(view.passages)))

    def measure(self, width: int) -> int:
        height = self.text.height_for(width)
        self.text.setGeometry(0, 0, width, height)
        return height


def thumbnail(parent: QWidget, path: str, name: str) -> QLabel:
    shown = QLabel(parent)
    ratio = parent.devicePixelRatioF()
    picture = QPixmap(path)
    if picture.isNull():
        shown.setText(name)
    else:
        side = round(THUMB * ratio)
        picture = picture.scaled(
            QSize(side * 2, side), Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
        picture.setDevicePixelRatio(ratio)
        shown.setPixmap(picture)
    shown.setAccessibleName(name)
    shown.setToolTip(name)
    shown.adjustSize()
    shown.show()
    return shown


class UserTextWidget(MessageWidget):
    """A user message: plain text in a bubble on the right, attachments above, buttons below."""

    above = GRID * 3

    def __init__(self, look: Look, drawn: FormulaImages, do: Do) -> None:
        super().__init__(look, drawn, do)
        self.bubble = QWidget(self)
        self.bubble.setProperty("kind", "bubble")
        self.bubble.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.text = RichText(look, self.bubble)
        self.text.setAccessibleName(tr("You"))
        self.files = QLabel(self)
        self.files.setProperty("kind", "second")
        self.files.setWordWrap(True)
        self.pictures: list[QLabel] = []
        self.fold = text_button(tr("Show less"), lambda: self.view and self.do("fold", self.view.message), kind="fold")
        self.fold.setParent(self.bubble)
        self.bar = MessageButtons(look, lambda *what: self._act(*what), ("copy", "edit", "delete"), self)

    @property
    def searched(self) -> QTextEdit:
        return self.text

    def reveal(self, on: bool) -> None:
        self.bar.reveal(on)

    def _act(self, *what: Any) -> None:
        if self.view is not None:
            self.do(what[0], self.view.message, *what[1:])

    def fill(self, view: MessageView, before: MessageView | None) -> None:
        self.text.show_plain(view.text)
        self.fold.setText(view.title if view.folds else tr("Show less"))
        self.fold.setAccessibleName(self.fold.text())
        self.fold.setVisible(view.folds)
        others = [f for f in view.files if f.kind != "image"]
        names = [f"{f.name}, {size(f.nbytes)}" + (f". {f.note}" if f.note else "") for f in others]
        self.files.setText("\n".join([*names, *filter(None, [view.title])]))
        for picture in self.pictures:
            picture.deleteLater()
        self.pictures = [thumbnail(self, f.path, f.name) for f in view.files if f.kind == "image"]
        self.bar.bind(view)

    def measure(self, width: int) -> int:
        y, right = 0, width
        for picture in reversed(self.pictures):
            right -= picture.width() + GRID
            picture.move(right + GRID, 0)
            y = max(y, picture.height() + GRID)
        if self.files.text():
            self.files.setAlignment(Qt.AlignmentFlag.AlignRight)
            height = self.files.heightForWidth(width)
            self.files.setGeometry(0, y, width, height)
            y += height + GRID // 2
        self.files.setVisible(bool(self.files.text()))
        shown = bool(self.view and self.view.text)
        self.bubble.setVisible(shown)
        if shown:
            pad, widest = GRID * 2, round(width * 0.85)
            document = self.text.document()
            document.setTextWidth(-1)
            inner = min(widest - 2 * pad, round(document.idealWidth()) + 2)
            below = self.fold.sizeHint() if self.view is not None and self.view.folds else QSize(0, 0)
            inner = max(inner, below.width())
            height = self.text.height_for(inner)
            whole = height + 2 * GRID + 4 + below.height()
            self.bubble.setGeometry(width - inner - 2 * pad, y, inner + 2 * pad, whole)
            self.text.setGeometry(pad, GRID + 2, inner, height)
            self.fold.setGeometry(pad - _PAD, GRID + 2 + height, below.width(), below.height())
            y += self.bubble.height()
        self.bar.adjustSize()
        self.bar.setGeometry(width - self.bar.sizeHint().width() + _PAD, y + 2, self.bar.sizeHint().width(), 28)
        return y + 30


class ReasoningWidget(MessageWidget):
    """Reasoning, folded until a person wants to read it."""

    above = GRID * 2

    def __init__(self, look: Look, drawn: FormulaImages, do: Do) -> None:
        super().__init__(look, drawn, do)
        self.head = QPushButton(self)
        self.head.setProperty("kind", "fold")
        self.head.setIconSize(QSize(14, 14))
        self.head.clicked.connect(lambda checked=False: self.view and self.do("fold", self.view.message))
        self.text = RichText(look, self)
        self.text.setAccessibleName(tr("Reasoning"))

    def fill(self, view: MessageView, before: MessageView | None) -> None:
        self.head.setText(view.title)
        self.head.setIcon(self.look.icon("down" if view.open else "right"))
        self.head.setToolTip(tr("Hide reasoning") if view.open else tr("Show reasoning"))
        self.head.setAccessibleName(f"{view.title}. {self.head.toolTip()}")
        self.text.setVisible(view.open)
        if view.open:
            shown = before.text if before is not None and before.key == view.key else ""
            if not shown:
                self.text.setTextColor(self.palette().placeholderText().color())
            self.text.show_plain(view.text, shown)

    def measure(self, width: int) -> int:
        hint = self.head.sizeHint()
        self.head.setGeometry(-_PAD, 0, min(width, hint.width()), hint.height())
        y = hint.height() + _PAD
        if self.view is not None and self.view.open:
            height = self.text.height_for(width - GRID * 3)
            self.text.setGeometry(GRID * 3, y + 4, width - GRID * 3, height)
            y += height + GRID
        return y


class FooterWidget(MessageWidget):
    """Under a reply: what it took, and what can be done with it."""

    above = 2

    def __init__(self, look: Look, drawn: FormulaImages, do: Do) -> None:
        super().__init__(look, drawn, do)
        self.summary = label(wrap=True)
        self.summary.setParent(self)
        self.summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = MessageButtons(
            look, self._act, ("copy", "regenerate", "continue", "edit", "delete", "figures"), self
        )
        self.show_me = text_button(tr("Show me"), lambda: self._act("show", self.view.shows if self.view else ""))
        self.show_me.setParent(self)

    def reveal(self, on: bool) -> None:
        self.bar.reveal(on)

    def _act(self, *what: Any) -> None:
        if self.view is not None:
            self.do(what[0], self.view.message, *what[1:])

    def fill(self, view: MessageView, before: MessageView | None) -> None:
        self.summary.setText(view.text)
        restate(self.summary, kind="figures", level=view.level)
        self.bar.bind(view)
        self.show_me.setVisible(bool(view.shows))

    def measure(self, width: int) -> int:
        if self.view is None or not self.view.shows:
            return self._measure_bar(width, 0)
        size = self.show_me.sizeHint()
        self.show_me.setGeometry(0, GRID // 2, size.width(), size.height())
        return self._measure_bar(width, size.height() + GRID)

    def _measure_bar(self, width: int, top: int) -> int:
        view = self.view
        bar = self.bar.sizeHint().width() if view is not None and view.can else 0
        self.bar.setVisible(bar > 0)
        self.bar.setGeometry(-_PAD, top, bar, 28)
        one_line = QFontMetricsF(self.summary.font()).horizontalAdvance(self.summary.text()) + 8
        if one_line <= width - bar - GRID * 2:
            self.summary.setGeometry(bar + (GRID if bar else 0), top, width - bar - GRID, 28)
            return top + 28
        height = self.summary.heightForWidth(width)
        self.summary.setGeometry(0, top + (28 if bar else 0), width, height)
        return top + (28 if bar else 0) + height + 4
