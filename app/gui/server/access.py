"""Who may connect: address, port, keys, and the web pages that may call. Can be changed while the server is off."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QIntValidator
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.gui.buttons import icon_button, label, text_button
from app.gui.desk import Desk
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.server.hosting import Hosting
from app.gui.viewmodels.server.wishes import EVERYWHERE, HERE, Wishes, masked


class Access(QWidget):
    def __init__(self, desk: Desk, wishes: Wishes, hosting: Hosting) -> None:
        super().__init__()
        self._desk, self._wishes, self._hosting = desk, wishes, hosting
        self.host = QComboBox()
        self.host.setAccessibleName(tr("Address"))
        for title, value in ((tr("This machine only"), HERE), (tr("Other machines too"), EVERYWHERE)):
            self.host.addItem(title, value)
        self.host.activated.connect(lambda _: wishes.set(host=self.host.currentData()))
        self.port = QLineEdit()
        self.port.setAccessibleName(tr("Port"))
        self.port.setFixedWidth(104)
        self.port.setValidator(QIntValidator(0, 65535, self.port))
        self.port.textEdited.connect(self._port_typed)
        self.origins = QLineEdit()
        self.origins.setAccessibleName(tr("Web pages that may call"))
        self.origins.setPlaceholderText(tr("None. For example https://app.example"))
        self.origins.editingFinished.connect(lambda: wishes.set_origins(self.origins.text()))
        self.make = text_button(tr("Make a key"), self.make_key)
        self._keys = QVBoxLayout()
        self._keys.setSpacing(GRID // 2)
        self.hint = label(tr("Stop the server to change these."), "second", wrap=True)
        self._build()
        wishes.changed.connect(self.show_wish)
        hosting.changed.connect(self.show_wish)
        self.show_wish()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID * 2, GRID * 2, GRID * 2, GRID * 2)
        column.setSpacing(GRID)
        column.addWidget(label(tr("Who may connect"), "heading"))
        for title, field in ((tr("Address"), self.host), (tr("Port"), self.port)):
            column.addWidget(label(title, "second"))
            column.addWidget(field)
        column.addSpacing(GRID)
        column.addWidget(label(tr("Keys"), "heading"))
        told = tr("A program must send one of these. Without any, every program on this machine may connect.")
        column.addWidget(label(told, "second", wrap=True))
        column.addLayout(self._keys)
        column.addWidget(self.make, 0, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(GRID)
        column.addWidget(label(tr("Web pages that may call"), "heading"))
        column.addWidget(label(tr("By their origins (CORS), with commas between. * is all."), "second", wrap=True))
        column.addWidget(self.origins)
        column.addWidget(self.hint)
        column.addStretch(1)

    def make_key(self) -> None:
        if self._hosting.state == "off":
            self.copy(self._wishes.make_key())

    def copy(self, key: str) -> None:
        QGuiApplication.clipboard().setText(key)
        self._desk.say(tr("The key is copied."))

    def show_wish(self) -> None:
        off, wish = self._hosting.state == "off", self._wishes.wish
        if self.host.findData(wish.host) < 0:
            self.host.addItem(wish.host, wish.host)
        self.host.setCurrentIndex(self.host.findData(wish.host))
        if not self.port.hasFocus():
            self.port.setText(str(wish.port))
        if not self.origins.hasFocus():
            self.origins.setText(", ".join(wish.origins))
        for part in (self.host, self.port, self.origins, self.make):
            part.setEnabled(off)
        self.hint.setVisible(not off)
        while (item := self._keys.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for key in wish.keys:
            self._keys.addWidget(self._line(key, off))

    def _line(self, key: str, off: bool) -> QWidget:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        shown = label(masked(key))
        shown.setFont(self._desk.look.mono)
        row.addWidget(shown, 1)
        row.addWidget(icon_button(self._desk.look, "copy", tr("Copy the key"), _with(self.copy, key), size=16))
        drop = icon_button(self._desk.look, "trash", tr("Delete the key"), _with(self._wishes.drop_key, key), size=16)
        drop.setEnabled(off)
        row.addWidget(drop)
        return line

    def _port_typed(self, text: str) -> None:
        if self.port.hasAcceptableInput():
            self._wishes.set(port=int(text))


def _with(run: Callable[[str], object], key: str) -> Callable[[], object]:
    return lambda: run(key)
