"""The status strip: the lock, the model, the device, memory, and tokens a second."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.gui.buttons import label
from app.gui.icons import pixmap
from app.gui.look import Look
from app.gui.texts import number, size, tr
from app.gui.theme import GRID
from app.window_engine import WindowEngine

_EVERY = 1000  # milliseconds between two looks at memory and speed


class Strip(QWidget):
    def __init__(self, look: Look, core: WindowEngine) -> None:
        super().__init__()
        self.setProperty("kind", "strip")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Status"))
        self._look, self._core = look, core
        self._lock = QLabel()
        self.trust = label(kind="second")
        self.working = label(kind="second")
        self.model, self.device, self.memory, self.rate = (label(kind="second") for _ in range(4))
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID * 2, 3, GRID * 2, 3)
        row.setSpacing(GRID)
        row.addWidget(self._lock)
        row.addWidget(self.trust)
        row.addStretch(1)
        for part in (self.working, self.model, self.device, self.memory, self.rate):
            row.addSpacing(GRID)
            row.addWidget(part)
        look.on_change(self, self.tell)
        core.changed.connect(self.tell)
        self._timer = QTimer(self)
        self._timer.setInterval(_EVERY)
        self._timer.timeout.connect(core.poll)
        self._timer.start()

    def tell(self) -> None:
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
