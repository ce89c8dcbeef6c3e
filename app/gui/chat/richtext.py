"""Prose in a row: rich text that can be selected, whose links open outside, and whose height follows its width."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from app.gui.look import Look


def sheet(look: Look) -> str:
    """For a QTextDocument: Qt reads a part of CSS there."""
    theme, size = look.theme, look.font().pointSizeF()
    mono = look.mono.family()
    return f"""
        p {{ margin: 0 0 9px 0; line-height: 145%; }}
        li {{ margin: 2px 0; line-height: 145%; }}
        ul, ol {{ margin: 0 0 9px 0; -qt-list-indent: 1; }}
        h1 {{ font-size: {size * 1.35:.1f}pt; font-weight: 600; margin: 12px 0 8px 0; }}
        h2 {{ font-size: {size * 1.15:.1f}pt; font-weight: 600; margin: 10px 0 6px 0; }}
        h3 {{ font-size: {size:.1f}pt; font-weight: 600; margin: 8px 0 4px 0; }}
        a {{ color: {theme.text}; text-decoration: underline; }}
        code {{ font-family: '{mono}'; background-color: {theme.code}; }}
        pre {{ font-family: '{mono}'; background-color: {theme.code}; margin: 4px 0 9px 0; }}
        blockquote {{ margin: 0 0 9px 16px; color: {theme.second}; }}
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
        self.anchorClicked.connect(open_outside)
        self.setTabChangesFocus(True)
        self.setUndoRedoEnabled(False)
        self.document().setDocumentMargin(0)
        self.document().setIndentWidth(22)
        self.viewport().setAutoFillBackground(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)

    def show_html(self, html: str) -> None:
        self.document().setDefaultStyleSheet(sheet(self._look))
        self.document().setDefaultFont(self._look.font())
        self.setHtml(html)

    def show_plain(self, text: str, before: str = "") -> None:
        """Words as they are. `before`: what is shown now, if `text` may go on from there; the rest is then added."""
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


def open_outside(target: QUrl) -> None:
    """A link leads to the person's own browser, and only to the web or to mail."""
    if target.scheme() in ("http", "https", "mailto"):
        QDesktopServices.openUrl(target)
