"""The log in a card over the window: read it, copy it, export it. Opened from Settings, by F12, and wherever a sentence
says that the log has more."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app.gui.dialogs import choose_target
from app.gui.pane import AppContext
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.widgets import icon_button, label, text_button
from app.logfile import export, shown

_MOST = 760  # pixels
_FATAL = "Fatal Python error"  # how a stack begins


class LogView(QWidget):
    def __init__(self, window: QWidget, context: AppContext) -> None:
        super().__init__(window)
        self.setProperty("kind", "floating")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Log"))
        self._context = context
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(tr("Log"))
        self.text.setPlaceholderText(tr("No errors so far."))
        context.look.write_mono(self.text)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.about = label(tr("Errors and crashes of Grus on this machine. The log contains nothing that you write, say or "
                              "read, and is never sent anywhere."), "second", wrap=True)  # fmt: skip
        self.save = text_button(tr("Export"), self.choose, kind="main")
        self.copy = text_button(tr("Copy"), self.copy_all)
        self.folder = text_button(tr("Show folder"), self.show_folder)
        self._build()
        self.hide()

    def _build(self) -> None:
        title = label(tr("Log"), "heading")
        self._context.look.on_change(title, lambda: title.setFont(self._context.look.font(1.15)))
        head = QHBoxLayout()
        head.addWidget(title)
        head.addStretch(1)
        head.addWidget(icon_button(self._context.look, "close", tr("Close"), self.hide, size=16))
        ends = QHBoxLayout()
        ends.setSpacing(GRID)
        ends.addWidget(self.folder)
        ends.addStretch(1)
        ends.addWidget(self.copy)
        ends.addWidget(self.save)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID * 3, GRID * 2, GRID * 2, GRID * 2)
        column.setSpacing(GRID)
        column.addLayout(head)
        column.addWidget(self.about)
        column.addWidget(self.text, 1)
        column.addLayout(ends)

    def open(self, crash: bool = False) -> None:
        """At its end; or (`crash`) where the last crash stands."""
        window = self.window()
        width, height = min(_MOST, window.width() - 8 * GRID), min(620, window.height() - 8 * GRID)
        self.setGeometry((window.width() - width) // 2, (window.height() - height) // 2, width, height)
        self.show()
        self.raise_()
        self.text.setFocus()
        folder = self._context.places.logs
        self._context.work.run(lambda: shown(folder), lambda text: self._fill(text, crash), self._context.show_error)

    def _fill(self, text: str, crash: bool) -> None:
        self.text.setPlainText(text)
        bar = self.text.verticalScrollBar()
        at = text.rfind(_FATAL) if crash else -1
        bar.setValue(text.count("\n", 0, at) if at >= 0 else bar.maximum())
        self.text.horizontalScrollBar().setValue(0)

    # -- what a person does

    def choose(self) -> None:
        choose_target(self, tr("Export the log"), self.write, {"txt": "Text (*.txt)"}, "grus-log")

    def write(self, file: Path) -> None:
        folder = self._context.places.logs
        self._context.save(lambda: export(folder, file))

    def copy_all(self) -> None:
        self._context.copy(self.text.toPlainText())

    def show_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._context.places.logs)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)
