"""The panel beside a conversation that shows a code block: a picture, a table, a page for the browser, or what code printed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSize, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QImage, QPainter, QPixmap, QResizeEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QStackedWidget,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.gui.look import restate
from app.gui.pane import AppContext
from app.gui.store.database import DRAGGED, private_file
from app.gui.texts import mark, tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.preview import Preview, PreviewBlock, drawable, page, rows
from app.gui.widgets import icon_button, label, text_button

_TITLES = {"svg": mark("Picture"), "csv": mark("Table"), "html": mark("Web page"), "python": mark("Code")}
_SHARPEST = 2000  # pixels of a side


class PreviewPanel(QWidget):
    def __init__(self, context: AppContext, preview: Preview) -> None:
        super().__init__()
        self._context, self.preview = context, preview
        self.setProperty("kind", "side")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(240)
        self._shown: PreviewBlock | None = None
        self._image = QImage()
        self.title = label(kind="heading")
        self.before = icon_button(context.look, "left", tr("Previous version"), partial(preview.turn, -1), size=16)
        self.which = label(kind="second")
        self.after = icon_button(context.look, "right", tr("Next version"), partial(preview.turn, 1), size=16)
        self.shut = icon_button(context.look, "close", tr("Close the preview"), preview.close, size=16)
        self.picture = QLabel()
        self.picture.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignHCenter)
        self.picture.setAccessibleName(tr("Picture"))
        self.picture.setMinimumSize(1, 1)
        self.table = QTableWidget()
        self.table.setProperty("kind", "plain")
        self.table.setAccessibleName(tr("Table"))
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.output = QPlainTextEdit()
        self.output.setReadOnly(True)
        self.output.setAccessibleName(tr("Output"))
        self.act = text_button(tr("Run in the sandbox"), self.run)
        self.about = label(kind="second", wrap=True)
        self.middle = QStackedWidget()
        self.middle.setProperty("kind", "side")
        self.blank = QWidget()
        for part in (self.blank, self.picture, self.table, self.output):
            self.middle.addWidget(part)
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        for part in (self.before, self.which, self.after, self.shut):
            head.addWidget(part)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID * 2, GRID * 2, GRID * 2, GRID * 2)
        column.setSpacing(GRID)
        column.addLayout(head)
        column.addWidget(self.about)
        column.addWidget(self.act, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.middle, 1)
        preview.changed.connect(self._show)
        context.look.on_change(self, self._dress)
        context.look.language_changed.connect(self._show)
        self._show()

    def run(self) -> None:
        """What the button does: open the page in the browser, run the code, or stop it."""
        block = self.preview.block
        if block is None:
            return
        if block.kind == "html":
            file = self._context.places.data / DRAGGED / f"preview-{block.message}-{self.preview.at + 1}.html"

            def write() -> Path:
                private_file(file).write_text(page(block.text), encoding="utf-8")
                return file

            self._context.work.run(write, _open, self._context.show_error)
        elif not self.preview.stop():
            self.preview.run()

    # -- what is shown

    def _show(self) -> None:
        preview, block = self.preview, self.preview.block
        self.setVisible(block is not None)
        if block is None:
            self._shown = None
            return
        count = len(preview.versions)
        self.title.setText(tr(_TITLES[block.kind]))
        self.which.setText(f"{preview.at + 1}/{count}")
        self.before.setEnabled(preview.at > 0)
        self.after.setEnabled(preview.at + 1 < count)
        for part in (self.before, self.which, self.after):
            part.setVisible(count > 1)
        self._say("")
        self.act.setVisible(block.kind in ("html", "python"))
        if block.kind == "html":
            self._name(tr("Open in the browser"))
            self._say(tr("The page can load nothing from the network and send nothing."))
            self.middle.setCurrentWidget(self.blank)
        elif block.kind == "python":
            self._name(tr("Stop") if preview.running else tr("Run in the sandbox"))
            self._say(tr("Without network and without your files, with limits on time and memory."))
            self.output.setFont(self._context.look.mono)
            self.output.setPlainText(tr("Running the code.") if preview.running else preview.output)
            restate(self.output, level="error" if preview.failed else "")
            self.middle.setCurrentWidget(self.output)
        elif block != self._shown:
            self.middle.setCurrentWidget(self.blank)
            (self._draw if block.kind == "svg" else self._fill)(block)
        self._shown = block

    def _name(self, title: str) -> None:
        self.act.setText(title)
        self.act.setAccessibleName(title)

    def _say(self, sentence: str, level: str = "") -> None:
        self.about.setText(sentence)
        self.about.setVisible(bool(sentence))
        restate(self.about, level=level)

    def _dress(self) -> None:
        self.output.setFont(self._context.look.mono)

    def _draw(self, block: PreviewBlock) -> None:
        def drawn(image: QImage) -> None:
            if self.preview.block == block:
                self._image = image
                self.middle.setCurrentWidget(self.picture)
                self._fit()

        self._context.work.run(lambda: _rendered(block.text), drawn, self._refused(block))

    def _fill(self, block: PreviewBlock) -> None:
        def filled(found: list[list[str]]) -> None:
            if self.preview.block != block:
                return
            head, body = (found[0], found[1:]) if found else ([], [])
            self.table.clear()
            self.table.setColumnCount(max(map(len, found), default=0))
            self.table.setRowCount(len(body))
            self.table.setHorizontalHeaderLabels(head)
            for at, row in enumerate(body):
                for column, cell in enumerate(row):
                    self.table.setItem(at, column, QTableWidgetItem(cell))
            self.table.resizeColumnsToContents()
            self.middle.setCurrentWidget(self.table)

        self._context.work.think(lambda: rows(block.text), filled, self._refused(block))

    def _refused(self, block: PreviewBlock) -> Any:
        def failed(sentence: str) -> None:
            if self.preview.block == block:
                self._say(sentence, "error")

        return failed

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self.middle.size()
        if not self._image.isNull() and self.middle.currentWidget() is self.picture:
            ratio = self.devicePixelRatioF()
            keep, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            image = self._image.scaled(room * ratio, keep, smooth)
            image.setDevicePixelRatio(ratio)
            self.picture.setPixmap(QPixmap.fromImage(image))


def _rendered(text: str) -> QImage:
    """Off the UI thread. Raises BadRequest."""
    from engine.errors import BadRequest

    try:
        renderer = QSvgRenderer(QByteArray(drawable(text)))
    except ValueError as error:
        raise BadRequest(str(error)) from None
    size = renderer.defaultSize()
    if not renderer.isValid() or size.isEmpty():
        raise BadRequest(tr("This picture cannot be drawn."))
    size = size.scaled(QSize(_SHARPEST, _SHARPEST), Qt.AspectRatioMode.KeepAspectRatio)
    image = QImage(size.expandedTo(QSize(1, 1)), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    return image


def _open(file: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))
