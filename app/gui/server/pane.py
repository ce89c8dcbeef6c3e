"""The server pane: the switch above, access on the left, activity and client snippets on the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QFont,
    QGuiApplication,
    QHideEvent,
    QIntValidator,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QMenu,
    QPlainTextEdit,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.client_lines import client_lines
from app.gui.actions import ActionSpec, wear
from app.gui.flow import FlowRow
from app.gui.look import Look, restate
from app.gui.pane import AppContext, Pane
from app.gui.texts import mark, number, seconds, tr, trn
from app.gui.theme import GRID
from app.gui.viewmodels.agents import AgentEntry, AgentMenu
from app.gui.viewmodels.models.library import badges
from app.gui.viewmodels.server import (
    EVERYWHERE,
    HERE,
    ServerAccess,
    ServerControl,
    ServerPreferences,
    address_for,
    masked,
    written,
)
from app.gui.widgets import BadgeBox, ElidedBox, icon_button, label, text_button

_HEIGHT = 132
_SCALES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


def scale_for(most: float) -> int:
    """The top of the axis: a round number above the highest value."""
    return next((scale for scale in _SCALES if scale >= most * 1.05), round(most * 1.1))


class Plot(QWidget):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.rates: Sequence[float] = ()
        self.setFixedHeight(_HEIGHT)
        self.setAccessibleName(tr("Tokens per second"))
        look.on_change(self, self.update)

    def show_rates(self, rates: Sequence[float]) -> None:
        self.rates = list(rates)
        now = self.rates[-1] if self.rates else 0.0
        self.setAccessibleDescription(tr("{now} now, at most {most} in the last two minutes", now=number(now),
                                         most=number(max(self.rates, default=0.0))))  # fmt: skip
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._look.font(0.9))
        top = scale_for(max(self.rates, default=0.0))
        edge = painter.fontMetrics().horizontalAdvance(f"{top}") + GRID
        text = painter.fontMetrics().height()
        room = QRectF(edge, text / 2, self.width() - edge - 1, self.height() - text * 1.75)
        painter.setPen(QPen(QColor(theme.line), 1))
        for share in (0.0, 0.5, 1.0):
            y = room.bottom() - share * room.height()
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
        painter.setPen(QColor(theme.second))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, room.top() - text / 2, edge - GRID, text), right, f"{top}")
        painter.drawText(QRectF(0, room.bottom() - text / 2, edge - GRID, text), right, "0")
        below = QRectF(room.left(), room.bottom() + 2, room.width(), text)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, tr("2 minutes ago"))
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, tr("now"))
        if len(self.rates) > 1:
            self._curve(painter, room, top)
        painter.end()

    def _curve(self, painter: QPainter, room: QRectF, top: int) -> None:
        step = room.width() / (len(self.rates) - 1)
        points = [
            QPointF(room.left() + i * step, room.bottom() - min(1.0, rate / top) * room.height())
            for i, rate in enumerate(self.rates)
        ]
        fill = QColor(self._look.theme.accent)
        fill.setAlpha(40)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawPolygon(QPolygonF([room.bottomLeft(), *points, room.bottomRight()]))
        painter.setPen(QPen(QColor(self._look.theme.accent), 1.5))
        painter.drawPolyline(QPolygonF(points))


class TextLines(QPlainTextEdit):
    """Lines to read and copy, as high as they are: at least `least` of them, at most `most`."""

    def __init__(self, name: str, least: int, most: int) -> None:
        super().__init__()
        self._least, self._most = least, most
        self.setReadOnly(True)
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.document().blockCountChanged.connect(lambda _: self.updateGeometry())
        self.horizontalScrollBar().rangeChanged.connect(lambda *_: self.updateGeometry())  # a bar needs room, too

    def sizeHint(self) -> QSize:
        lines = min(self._most, max(self._least, self.blockCount()))
        text = lines * self.fontMetrics().lineSpacing() + 3 * round(self.document().documentMargin())
        bar = self.horizontalScrollBar()
        margins = self.contentsMargins()
        height = text + margins.top() + margins.bottom() + (bar.sizeHint().height() if bar.maximum() > 0 else 0)
        return QSize(super().sizeHint().width(), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), self.sizeHint().height())


class AccessPanel(QWidget):
    def __init__(self, context: AppContext, server_preferences: ServerPreferences, hosting: ServerControl) -> None:
        super().__init__()
        self._context, self._server_preferences, self._hosting = context, server_preferences, hosting
        self.host = ElidedBox()
        self.host.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.host.setAccessibleName(tr("Address"))
        for title, value in ((tr("This machine only"), HERE), (tr("Other machines too"), EVERYWHERE)):
            self.host.addItem(title, value)
        self.host.activated.connect(lambda _: server_preferences.set(host=self.host.currentData()))
        self.port = QLineEdit()
        self.port.setAccessibleName(tr("Port"))
        context.look.hold_width(self.port, 104)
        self.port.setValidator(QIntValidator(0, 65535, self.port))
        self.port.textEdited.connect(self._port_typed)
        self.origins = QLineEdit()
        self.origins.setAccessibleName(tr("Allowed web origins (CORS)"))
        self.origins.setPlaceholderText(tr("None. For example https://app.example"))
        self.origins.setToolTip(tr("None. For example https://app.example"))
        self.origins.editingFinished.connect(lambda: server_preferences.set_origins(self.origins.text()))
        self.make = text_button(tr("Create key"), self.make_key)
        self._keys = QVBoxLayout()
        self._keys.setSpacing(GRID // 2)
        self.hint = label(tr("Stop the server to change these."), "second", wrap=True)
        self._build()
        server_preferences.changed.connect(self.show_access)
        hosting.changed.connect(self.show_access)
        self.show_access()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID * 2, GRID * 2, GRID * 2, GRID * 2)
        column.setSpacing(GRID)
        column.addWidget(label(tr("Access"), "heading"))
        for title, field in ((tr("Address"), self.host), (tr("Port"), self.port)):
            column.addWidget(label(title, "second"))
            column.addWidget(field)
        column.addSpacing(GRID)
        column.addWidget(label(tr("Keys"), "heading"))
        note = tr("Programs must send one of these keys. Without keys, every program on this machine can connect.")
        column.addWidget(label(note, "second", wrap=True))
        column.addLayout(self._keys)
        column.addWidget(self.make, 0, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(GRID)
        column.addWidget(label(tr("Allowed web origins (CORS)"), "heading", wrap=True))
        column.addWidget(label(tr("Separate origins with commas. * allows all."), "second", wrap=True))
        column.addWidget(self.origins)
        column.addWidget(self.hint)
        column.addStretch(1)

    def make_key(self) -> None:
        if self._hosting.state == "off":
            self.copy(self._server_preferences.make_key())

    def copy(self, key: str) -> None:
        QGuiApplication.clipboard().setText(key)
        self._context.say(tr("The key is copied."))

    def show_access(self) -> None:
        off, access = self._hosting.state == "off", self._server_preferences.access
        if self.host.findData(access.host) < 0:
            self.host.addItem(access.host, access.host)
        self.host.setCurrentIndex(self.host.findData(access.host))
        if not self.port.hasFocus():
            self.port.setText(str(access.port))
        if not self.origins.hasFocus():
            self.origins.setText(", ".join(access.origins))
        for part in (self.host, self.port, self.origins, self.make):
            part.setEnabled(off)
        self.hint.setVisible(not off)
        while (item := self._keys.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for key in access.keys:
            self._keys.addWidget(self._line(key, off))

    def _line(self, key: str, off: bool) -> QWidget:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        shown = label(masked(key))
        self._context.look.on_change(shown, lambda: shown.setFont(self._context.look.mono))
        row.addWidget(shown, 1)
        row.addWidget(icon_button(self._context.look, "copy", tr("Copy the key"), _with(self.copy, key), size=16))
        drop = icon_button(
            self._context.look, "trash", tr("Delete the key"), _with(self._server_preferences.drop_key, key), size=16
        )
        drop.setEnabled(off)
        row.addWidget(drop)
        return line

    def _port_typed(self, text: str) -> None:
        if self.port.hasAcceptableInput():
            self._server_preferences.set(port=int(text))


def _with(run: Callable[[str], object], key: str) -> Callable[[], object]:
    return lambda: run(key)


_EVERY = 1000  # milliseconds between two polls of the server's activity


ACTIONS = (
    ActionSpec("switch", mark("Start or stop server"), "Ctrl+Return", "play", lambda pane: pane.turn()),
    ActionSpec("address", mark("Copy the address"), "Ctrl+Shift+A", "copy", lambda pane: pane.copy_address()),
    ActionSpec("key", mark("Create key"), "Ctrl+N", "key", lambda pane: pane.access.make_key()),
    ActionSpec("snippet", mark("Copy snippet"), "Ctrl+Shift+C", "copy", lambda pane: pane.copy_snippet()),
    ActionSpec("agent", mark("Connect an agent"), "Ctrl+Shift+G", "tool", lambda pane: pane.list_agents()),
    ActionSpec("abort", mark("Cancel the selected request"), "Del", "stop", lambda pane: pane.abort()),
)  # fmt: skip


def make(context: AppContext) -> Pane:
    return ServerPane(context)


class ServerPane(Pane):
    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self.server_preferences = ServerPreferences(context.preferences)
        self.hosting = ServerControl(context.core, context.preferences, self.server_preferences)
        self.agents = AgentMenu(
            context.places.settings, context.work.run, lambda *words, **more: context.say(*words, **more)
        )
        self.agent_menu: QMenu | None = None
        context.actions.add_table(self, "server", tr("Server"), ACTIONS)
        self.access = AccessPanel(context, self.server_preferences, self.hosting)
        self.switch = text_button("", self.turn, kind="main")
        self.state = label()
        self.state.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.problem = label(wrap=True)
        self.plot = Plot(context.look)
        self.requests = QListWidget()
        self.quiet = label(tr("No active requests."), "second")
        self.program, self.model = ElidedBox(), BadgeBox(context.look)
        self.snippet, self.log = TextLines(tr("Snippet"), 2, 10), TextLines(tr("Log"), 4, 4)
        self.where = label(kind="second")
        self._build()
        self._connect()
        self._timer = QTimer(self)
        self._timer.setInterval(_EVERY)
        self._timer.timeout.connect(self.hosting.poll)
        self._listed: dict[str, frozenset[Any]] = {}  # in the box of models
        self._show()
        if context.preferences.get("server.on"):
            self.hosting.start()

    def _build(self) -> None:
        self.copy_button = icon_button(self.context.look, "copy", "", size=16)
        wear(self.copy_button, self.context.actions["server.address"])
        head = FlowRow(GRID * 2)
        head.setContentsMargins(GRID * 3, GRID * 2, GRID * 3, GRID * 2)
        for part in (self.switch, self.state, self.copy_button):
            head.addWidget(part)
        self.problem.setContentsMargins(GRID * 3, 0, GRID * 3, GRID * 2)
        side = QScrollArea()
        side.setWidgetResizable(True)
        side.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        side.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.access.setProperty("kind", "side")
        self.access.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        side.setWidget(self.access)
        side.setMinimumWidth(280)
        self.context.look.limit_width(side, 420)
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
        splitter.setSizes([self.context.look.grown(320), 760])
        self.context.look.on_change(
            self.access, lambda: side.setMinimumWidth(max(280, self.access.minimumSizeHint().width()))
        )
        main = QVBoxLayout(self)
        main.setContentsMargins(0, 0, 0, 0)
        main.setSpacing(0)
        main.addLayout(head)
        main.addWidget(self.problem)
        main.addWidget(splitter, 1)

    def _right(self) -> QWidget:
        body = QWidget()
        body.setProperty("kind", "window")
        column = QVBoxLayout(body)
        column.setContentsMargins(GRID * 3, GRID * 2, GRID * 3, GRID * 2)
        column.setSpacing(GRID)
        column.addWidget(label(tr("Tokens per second"), "heading"))
        column.addWidget(self.plot)
        column.addWidget(label(tr("Active requests"), "heading"))
        self.requests.setAccessibleName(tr("Active requests"))
        self.requests.setProperty("kind", "lines")
        self.requests.setMaximumHeight(72)
        column.addWidget(self.quiet)
        column.addWidget(self.requests)
        column.addSpacing(GRID)
        row = FlowRow(GRID)
        row.addWidget(label(tr("Connect from"), "heading"))
        self.program.setAccessibleName(tr("Connect from"))
        self.program.addItems(self.hosting.programs)
        self.model.setAccessibleName(tr("Model"))
        for choice in (self.program, self.model):  # as wide as their entries, and narrower where there is no room
            choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            self.context.look.limit_width(choice, 240)
        row.addWidget(self.program)
        row.addWidget(self.model)
        row.addWidget(self.where)
        row.begin_right()
        wear(copy := icon_button(self.context.look, "copy", "", size=16), self.context.actions["server.snippet"])
        row.addWidget(copy)
        self.agent_button = text_button("")
        wear(self.agent_button, self.context.actions["server.agent"], icon_only=False)
        row.addWidget(self.agent_button)
        column.addLayout(row)
        column.addWidget(self.snippet)
        column.addSpacing(GRID)
        column.addWidget(label(tr("Log"), "heading"))
        self.log.setPlaceholderText(tr("One line per request, without its content."))
        for area in (self.snippet, self.log):
            self.context.look.write_mono(area)
        column.addWidget(self.log, 1)
        self.context.look.on_change(self, self._dress)
        return body

    def _dress(self) -> None:
        self.state.setFont(self.context.look.font(1.0, QFont.Weight.DemiBold))

    def _connect(self) -> None:
        self.hosting.changed.connect(self._show)
        self.hosting.moved.connect(self._moved)
        self.server_preferences.changed.connect(self._show)
        self.context.wiped.connect(self._reset)
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

    def _reset(self) -> None:
        self.hosting.stop()
        self.server_preferences.set(**asdict(ServerAccess()))

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

    def list_agents(self) -> None:
        self.agents.list(self._show_agents)

    def _show_agents(self, entries: Sequence[AgentEntry]) -> None:
        menu = self.agent_menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for entry in entries:
            action = menu.addAction(entry.title)
            action.setEnabled(entry.enabled)
            action.triggered.connect(_with(self._choose_agent, entry.name))
        button = self.agent_button
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

    def _choose_agent(self, name: str) -> None:
        address, key = self._reached()
        self.agents.choose(name, address, key, self.model.currentText())

    def abort(self) -> None:
        item = self.requests.currentItem()
        if item is not None:
            self.hosting.abort(item.data(Qt.ItemDataRole.UserRole))

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.context.say(tr("Copied."))

    # -- drawing

    def _show(self) -> None:
        hosting = self.hosting
        words = {
            "off": (tr("Start server"), tr("Off")),
            "starting": (tr("Start server"), tr("Starting")),
            "on": (tr("Stop server"), tr("Running on {address}", address=hosting.address)),
            "stopping": (tr("Stop server"), tr("Finishing running requests")),
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
        if hosting.state == "off" and self.server_preferences.problem:
            problem = self.server_preferences.problem
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
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
        self.quiet.setText(trn("{n} active request.", "{n} active requests.", n) if n else tr("No active requests."))
        log = "\n".join(hosting.log)
        if log != self.log.toPlainText():
            self.log.setPlainText(log)
            self.log.verticalScrollBar().setValue(self.log.verticalScrollBar().maximum())
        if hosting.models != self._listed:
            self._fill_models()
        if [self.program.itemText(i) for i in range(self.program.count())] != hosting.programs:
            self._fill_programs()

    def _fill_programs(self) -> None:
        chosen = self.program.currentText()
        self.program.blockSignals(True)
        self.program.clear()
        self.program.addItems(self.hosting.programs)
        self.program.setCurrentIndex(max(0, self.program.findText(chosen)))
        self.program.blockSignals(False)
        self._write()

    def _fill_models(self) -> None:
        chosen = self.model.currentText() or str(self.context.preferences.get("model", ""))
        self.model.blockSignals(True)
        self.model.clear()
        for name, can in self.hosting.models.items():
            self.model.add_model(name, name, badges(can))
        self.model.fit_list()
        self._listed = dict(self.hosting.models)
        self.model.setCurrentIndex(max(0, self.model.findText(chosen)))
        self.model.blockSignals(False)
        self._write()

    def _write(self) -> None:
        lines = client_lines()[self.program.currentText()]
        text = written(lines.name, *self._reached(), self.model.currentText())
        if text != self.snippet.toPlainText():
            self.snippet.setPlainText(text)
        self.where.setText(lines.where)

    def _reached(self) -> tuple[str, str]:
        """Where programs reach the server, and with which key."""
        access = self.server_preferences.access
        return self.hosting.address or address_for(access, access.port), access.keys[0] if access.keys else ""
