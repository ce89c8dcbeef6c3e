"""The server pane: the switch above, who may connect on the left, what goes on and how to use it on the right."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QFont, QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QListWidget,
    QPlainTextEdit,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.gui.actions import wear
from app.gui.buttons import icon_button, label, text_button
from app.gui.desk import Desk
from app.gui.pane import Pane
from app.gui.server.access import Access
from app.gui.server.plot import Plot
from app.gui.style import restate
from app.gui.texts import seconds, tr, trn
from app.gui.theme import GRID
from app.gui.viewmodels.server.hosting import Hosting
from app.gui.viewmodels.server.snippets import SNIPPETS, written
from app.gui.viewmodels.server.wishes import Wish, Wishes

_EVERY = 1000  # milliseconds between two looks at what goes on


def make(desk: Desk) -> Pane:
    return ServerPane(desk)


class ServerPane(Pane):
    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.wishes = Wishes(desk.preferences)
        self.hosting = Hosting(desk.core, desk.preferences, self.wishes)
        self._add_actions()
        self.access = Access(desk, self.wishes, self.hosting)
        self.switch = text_button("", self.turn, kind="main")
        self.state = label()
        self.state.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.problem = label(wrap=True)
        self.plot = Plot(desk.look)
        self.requests = QListWidget()
        self.quiet = label(tr("No request runs."), "second")
        self.program, self.model = QComboBox(), QComboBox()
        self.snippet, self.log = QPlainTextEdit(), QPlainTextEdit()
        self.where = label(kind="second")
        self._build()
        self._connect()
        self._timer = QTimer(self)
        self._timer.setInterval(_EVERY)
        self._timer.timeout.connect(self.hosting.poll)
        self._logged = 0
        self._show()
        if desk.preferences.get("server.on"):
            self.hosting.start()

    def _add_actions(self) -> None:
        group, add = tr("Server"), self.desk.actions.add
        add(self, "server.switch", tr("Start or stop the server"), self.turn, "Ctrl+Return", group, "play")
        add(self, "server.address", tr("Copy the address"), self.copy_address, "Ctrl+Shift+A", group, "copy")
        add(self, "server.key", tr("Make a key"), lambda: self.access.make_key(), "Ctrl+N", group, "key")
        add(self, "server.snippet", tr("Copy the lines"), self.copy_snippet, "Ctrl+Shift+C", group, "copy")
        add(self, "server.abort", tr("End the chosen request"), self.abort, "Del", group, "stop")

    def _build(self) -> None:
        self.copy_button = icon_button(self.desk.look, "copy", "", size=16)
        wear(self.copy_button, self.desk.actions["server.address"])
        head = QHBoxLayout()
        head.setContentsMargins(GRID * 3, GRID * 2, GRID * 3, GRID * 2)
        head.setSpacing(GRID * 2)
        head.addWidget(self.switch)
        head.addWidget(self.state)
        head.addWidget(self.copy_button)
        head.addWidget(self.problem, 1)
        head.addStretch(1)
        side = QScrollArea()
        side.setWidgetResizable(True)
        side.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        side.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.access.setProperty("kind", "side")
        self.access.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        side.setWidget(self.access)
        side.setMinimumWidth(280)
        side.setMaximumWidth(420)
        right = QScrollArea()
        right.setWidgetResizable(True)
        right.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        right.setWidget(self._right())
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setHandleWidth(1)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(side)
        splitter.addWidget(right)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([320, 760])
        main = QVBoxLayout(self)
        main.setContentsMargins(0, 0, 0, 0)
        main.setSpacing(0)
        main.addLayout(head)
        main.addWidget(splitter, 1)

    def _right(self) -> QWidget:
        body = QWidget()
        body.setProperty("kind", "window")
        column = QVBoxLayout(body)
        column.setContentsMargins(GRID * 3, GRID * 2, GRID * 3, GRID * 2)
        column.setSpacing(GRID)
        column.addWidget(label(tr("Tokens a second"), "heading"))
        column.addWidget(self.plot)
        column.addWidget(label(tr("Requests now"), "heading"))
        self.requests.setAccessibleName(tr("Requests now"))
        self.requests.setProperty("kind", "lines")
        self.requests.setMaximumHeight(72)
        column.addWidget(self.quiet)
        column.addWidget(self.requests)
        column.addSpacing(GRID)
        row = QHBoxLayout()
        row.addWidget(label(tr("Use it from"), "heading"))
        self.program.setAccessibleName(tr("Use it from"))
        for snippet in SNIPPETS:
            self.program.addItem(snippet.name)
        self.model.setAccessibleName(tr("Model"))
        self.model.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        row.addWidget(self.program)
        row.addWidget(self.model)
        row.addWidget(self.where)
        row.addStretch(1)
        wear(copy := icon_button(self.desk.look, "copy", "", size=16), self.desk.actions["server.snippet"])
        row.addWidget(copy)
        column.addLayout(row)
        for box, name, height in ((self.snippet, tr("Lines to copy"), 120), (self.log, tr("Log"), 96)):
            box.setReadOnly(True)
            box.setAccessibleName(name)
            box.setTabChangesFocus(True)
            box.setMinimumHeight(height)
            box.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        column.addWidget(self.snippet, 2)
        column.addSpacing(GRID)
        column.addWidget(label(tr("Log"), "heading"))
        self.log.setPlaceholderText(tr("One line for each request: never what it says."))
        column.addWidget(self.log, 1)
        self.desk.look.on_change(self, self._dress)
        return body

    def _dress(self) -> None:
        for box in (self.snippet, self.log):
            box.setFont(self.desk.look.mono)
        self.state.setFont(self.desk.look.font(1.0, QFont.Weight.DemiBold))

    def _connect(self) -> None:
        self.hosting.changed.connect(self._show)
        self.hosting.moved.connect(self._moved)
        self.wishes.changed.connect(self._show)
        self.desk.wiped.connect(self._begin_anew)
        self.program.currentIndexChanged.connect(lambda _: self._write())
        self.model.currentIndexChanged.connect(lambda _: self._write())

    # -- the pane

    def entered(self) -> None:
        self.switch.setFocus()

    def leaving(self) -> None:
        self.hosting.close()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.hosting.poll()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def _begin_anew(self) -> None:
        self.hosting.stop()
        self.wishes.set(**asdict(Wish()))

    # -- what a person does

    def turn(self) -> None:
        if self.hosting.state == "on":
            self.hosting.stop()
        else:
            self.hosting.start()

    def copy_address(self) -> None:
        if self.hosting.address:
            self._copy(self.hosting.address)

    def copy_snippet(self) -> None:
        self._copy(self.snippet.toPlainText())

    def abort(self) -> None:
        item = self.requests.currentItem()
        if item is not None:
            self.hosting.abort(item.data(Qt.ItemDataRole.UserRole))

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.desk.say(tr("Copied."))

    # -- drawing

    def _show(self) -> None:
        hosting = self.hosting
        words = {
            "off": (tr("Start the server"), tr("Off")),
            "starting": (tr("Start the server"), tr("Starting")),
            "on": (tr("Stop the server"), tr("Listens on {address}", address=hosting.address)),
            "stopping": (tr("Stop the server"), tr("Running replies may end")),
        }
        button, state = words[hosting.state]
        self.switch.setText(button)
        self.switch.setAccessibleName(button)
        self.switch.setEnabled(hosting.state in ("on", "off"))
        self.switch.setProperty("kind", "main" if hosting.state == "off" else "")
        self.state.setText(state)
        restate(self.state, level="ok" if hosting.state == "on" else "")
        restate(self.switch)
        self.copy_button.setVisible(bool(hosting.address))
        problem = hosting.problem if hosting.state == "off" else ""
        if hosting.state == "off" and self.wishes.problem:
            problem = self.wishes.problem
        self.problem.setText(problem)
        restate(self.problem, level="error" if problem else "")
        self._write()

    def _moved(self) -> None:
        hosting = self.hosting
        self.plot.show_rates(hosting.rates)
        chosen = self.requests.currentItem()
        kept: Any = chosen.data(Qt.ItemDataRole.UserRole) if chosen is not None else None
        self.requests.clear()
        for live in hosting.requests:
            self.requests.addItem(f"{live.model} · {seconds(live.seconds)}")
            item = self.requests.item(self.requests.count() - 1)
            item.setData(Qt.ItemDataRole.UserRole, live.id)
            if live.id == kept:
                self.requests.setCurrentItem(item)
        n = len(hosting.requests)
        self.requests.setVisible(n > 0)
        self.quiet.setText(trn("{n} request runs.", "{n} requests run.", n) if n else tr("No request runs."))
        log = "\n".join(hosting.log)
        if log != self.log.toPlainText():
            self.log.setPlainText(log)
            self.log.verticalScrollBar().setValue(self.log.verticalScrollBar().maximum())
        if [self.model.itemText(i) for i in range(self.model.count())] != hosting.models:
            self._fill_models()

    def _fill_models(self) -> None:
        chosen = self.model.currentText() or str(self.desk.preferences.get("model", ""))
        self.model.blockSignals(True)
        self.model.clear()
        self.model.addItems(self.hosting.models)
        self.model.setCurrentIndex(max(0, self.model.findText(chosen)))
        self.model.blockSignals(False)
        self._write()

    def _write(self) -> None:
        snippet = next(snippet for snippet in SNIPPETS if snippet.name == self.program.currentText())
        keys = self.wishes.wish.keys
        address = self.hosting.address or f"http://127.0.0.1:{self.wishes.wish.port}"
        text = written(snippet.name, address, keys[0] if keys else "", self.model.currentText())
        if text != self.snippet.toPlainText():
            self.snippet.setPlainText(text)
        self.where.setText(snippet.where)
