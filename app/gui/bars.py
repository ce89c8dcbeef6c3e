"""The bars of the window: the rail on the left, the status bar, the notice, and the bar shown while nothing can be saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.gui.look import Look, pixmap
from app.gui.pane import PaneSpec
from app.gui.store.worker import AppStore
from app.gui.texts import number, size, tr
from app.gui.theme import GRID, RAIL
from app.gui.viewmodels.notice import CurrentNotice
from app.gui.widgets import ElidedLabel, icon_button, label, text_button
from app.window_engine import WindowEngine

_BELOW = "settings"  # apart, at the bottom
_ROOM_BESIDE = 1300  # pixels that the content needs before the rail has names


class Rail(QWidget):
    def __init__(
        self, look: Look, specs: Sequence[PaneSpec], actions: dict[str, QAction], choose: Callable[[str], object]
    ) -> None:
        super().__init__()
        self.setProperty("kind", "rail")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(RAIL)  # also with names: else a wide window could not be made narrow in one step
        self.setMaximumWidth(RAIL)
        self.setAccessibleName(tr("Panes"))
        self._look = look
        self._buttons: dict[str, QToolButton] = {}
        self._group = QButtonGroup(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID - 1, GRID, GRID, GRID)
        column.setSpacing(GRID // 2)
        for spec in specs:
            if spec.name == _BELOW:
                column.addStretch(1)
            column.addWidget(self._button(spec, actions[spec.name].toolTip(), choose))
        if _BELOW not in self._buttons:
            column.addStretch(1)
        look.on_change(self, self._colour)

    def _button(self, spec: PaneSpec, tip: str, choose: Callable[[str], object]) -> QToolButton:
        button = QToolButton()
        button.setProperty("kind", "rail")
        button.setCheckable(True)
        button.setFixedSize(RAIL - 2 * GRID, RAIL - 2 * GRID)
        button.setIconSize(QSize(22, 22))
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setText(tr(spec.title))
        button.setAccessibleName(tr(spec.title))
        button.setToolTip(tip)
        button.clicked.connect(lambda checked=False: choose(spec.name))
        self._group.addButton(button)
        self._buttons[spec.name] = button
        return button

    def widen(self, room: int) -> None:
        """With the panes' names where the window has room for them."""
        buttons = self._buttons.values()
        metrics = self.fontMetrics()
        wide = RAIL + GRID + max(metrics.horizontalAdvance(button.text()) for button in buttons)
        named = room - wide >= _ROOM_BESIDE
        style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if named else Qt.ToolButtonStyle.ToolButtonIconOnly
        width = wide if named else RAIL
        if width == self.width() and all(button.toolButtonStyle() == style for button in buttons):
            return
        self.setMaximumWidth(width)
        for button in buttons:
            button.setToolButtonStyle(style)
            button.setFixedSize(width - 2 * GRID, RAIL - 2 * GRID)
        self.resize(width, self.height())

    def show_chosen(self, name: str) -> None:
        self._buttons[name].setChecked(True)
        self._colour()

    def button(self, name: str) -> QToolButton:
        return self._buttons[name]

    def _colour(self) -> None:
        for name, button in self._buttons.items():
            button.setIcon(self._look.icon(name, "accent" if button.isChecked() else "second"))


_EVERY = 1000  # milliseconds between two looks at memory and speed


class StatusBar(QWidget):
    def __init__(self, look: Look, core: WindowEngine) -> None:
        super().__init__()
        self.setProperty("kind", "strip")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Status"))
        self._look, self._core = look, core
        self._lock = QLabel()
        self.trust = label(kind="second")
        self.memory, self.rate = label(kind="second"), label(kind="second")
        self.working, self.model, self.device = (ElidedLabel("second") for _ in range(3))  # of any length
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID * 2, 3, GRID * 2, 3)
        row.setSpacing(GRID)
        row.addWidget(self._lock)
        row.addWidget(self.trust)
        row.addStretch(1)
        for part in (self.working, self.model, self.device, self.memory, self.rate):
            row.addSpacing(GRID)
            row.addWidget(part)
        look.on_change(self, self.update_state)
        look.language_changed.connect(self.update_state)
        core.changed.connect(self.update_state)
        self._timer = QTimer(self)
        self._timer.setInterval(_EVERY)
        self._timer.timeout.connect(core.poll)
        self._timer.start()

    def update_state(self) -> None:
        state, theme = self._core.state, self._look.theme
        ratio = self.devicePixelRatioF()
        self._lock.setPixmap(
            pixmap("unlock" if state.beyond else "lock", theme.warning if state.beyond else theme.second, 14, ratio)
        )
        _say(self.trust, state.beyond or tr("Everything stays on this machine"))
        busy = state.loading or (tr("The engine is starting.") if state.phase == "starting" else state.problem)
        _say(self.working, busy)
        _say(self.model, state.model)
        _say(self.device, state.device)
        _say(self.memory, size(state.memory) if state.memory else "")
        _say(self.rate, tr("{rate} tokens/s", rate=number(state.rate)) if state.rate >= 0.05 else "")


def _say(part: QLabel, text: str) -> None:
    if part.text() != text:
        part.setText(text)
    part.setVisible(bool(text))


_ICONS = {"info": "info", "ok": "check", "warning": "warning", "error": "error"}
_TICK = 1000  # milliseconds


class Notice(QWidget):
    """What the window has to say, above the content: nothing lies under it. Its time passes while the window is in use and
    the mouse is elsewhere."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setProperty("kind", "notice")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._look = look
        self.current = CurrentNotice()
        self._icon = QLabel()
        self.sentence = label(wrap=True)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.undo = QPushButton(tr("Undo"))
        self.undo.clicked.connect(lambda checked=False: self.current.take_back())
        self.close_button = icon_button(look, "close", tr("Close this message"), self.current.close, size=14)
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID * 2, GRID // 2, GRID, GRID // 2)
        row.setSpacing(GRID)
        row.addWidget(self._icon)
        row.addWidget(self.sentence, 1)
        row.addWidget(self.undo)
        row.addWidget(self.close_button)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK)
        self._timer.timeout.connect(self._tick)
        self.current.changed.connect(self._show)
        look.on_change(self, self._colour)
        self.hide()

    def _tick(self) -> None:
        if self.window().isActiveWindow() and not self.underMouse():
            self.current.tick(_TICK / 1000)

    def _show(self) -> None:
        current = self.current
        self.setVisible(bool(current.sentence))
        self.sentence.setText(current.sentence)
        if not current.sentence:
            self._timer.stop()
            return
        self.setAccessibleName(current.sentence)
        self.undo.setVisible(current.undo is not None)
        if current.undo is not None:
            self.undo.setText(current.undo[0])
            self.undo.setAccessibleName(current.undo[0])
        self._colour()
        self._timer.start()

    def _colour(self) -> None:
        theme, level = self._look.theme, self.current.level
        colour = {"info": theme.second, "ok": theme.ok, "warning": theme.warning, "error": theme.error}[level]
        self._icon.setPixmap(pixmap(_ICONS[level], colour, 18, self.devicePixelRatioF()))


class SaveBar(QWidget):
    """Stays for as long as it is true, whatever else the window has to say."""

    def __init__(self, look: Look, store: AppStore) -> None:
        super().__init__()
        self.setProperty("kind", "notice")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._look = look
        self._icon = QLabel()
        self.sentence = label(wrap=True)
        self.again = text_button(tr("Save now"), store.save_now)
        self.again.setToolTip(tr("Retry now. Grus also retries automatically."))
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        row.setSpacing(GRID)
        row.addWidget(self._icon)
        row.addWidget(self.sentence, 1)
        row.addWidget(self.again)
        look.on_change(self, self._colour)
        self.hide()

    def show_problem(self, sentence: str) -> None:
        """Show why nothing can be saved. An empty sentence: everything is saved."""
        self.sentence.setText(sentence)
        self.setAccessibleName(sentence)
        self.setVisible(bool(sentence))

    def _colour(self) -> None:
        self._icon.setPixmap(pixmap("warning", self._look.theme.warning, 18, self.devicePixelRatioF()))
