"""The part of the Read pane that watches a folder: the switch, the folder, the format of results, and the state."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from app.gui.dialogs import choose_folder
from app.gui.flow import FlowRow
from app.gui.look import restate
from app.gui.pane import AppContext
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.read import FORMATS, ReadSettings
from app.gui.viewmodels.read_watch import FolderWatch
from app.gui.widgets import ElidedLabel, icon_button, label
from engine.pipelines.reading.watching import POLL


class WatchStrip(QWidget):
    def __init__(self, context: AppContext, watch: FolderWatch, settings: Callable[[], ReadSettings]) -> None:
        """`settings`: how files are to be read."""
        super().__init__()
        self.watch, self._settings = watch, settings
        self.switch = QCheckBox(tr("Watch a folder"))
        self.switch.setAccessibleName(tr("Watch a folder"))
        self.switch.setToolTip(tr("What appears in the folder is read, and the result is written beside its file."))
        self.format = QComboBox()
        self.format.setAccessibleName(tr("Format"))
        self.format.setToolTip(tr("Format"))
        for kind in FORMATS:
            self.format.addItem(f".{kind}", kind)
        self.format.setCurrentIndex(self.format.findData(watch.format))
        self.pick = icon_button(context.look, "folder", tr("Choose a folder"), self.choose)
        self.place = ElidedLabel("second")
        self.state = label(kind="second", wrap=True)
        row = FlowRow(GRID)
        for part in (self.switch, self.format):
            row.addWidget(part)
        folder = QHBoxLayout()
        folder.setSpacing(GRID // 2)
        folder.addWidget(self.pick)
        folder.addWidget(self.place, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID * 2, 0, GRID, GRID)
        column.setSpacing(GRID // 2)
        column.addLayout(row)
        column.addLayout(folder)
        column.addWidget(self.state)
        self._timer = QTimer(self)
        self._timer.setInterval(round(POLL * 1000))
        self._timer.timeout.connect(watch.look)
        self.switch.clicked.connect(self._switched)
        self.format.activated.connect(lambda _: watch.choose_format(self.format.currentData()))
        watch.changed.connect(self.show_state)
        context.look.language_changed.connect(self.show_state)
        self.show_state()

    def choose(self) -> None:
        choose_folder(self, tr("Choose a folder"), lambda folder: self.watch.choose(folder, self._settings()))

    def toggle(self) -> None:
        """Off, or on again; the first time a folder is asked for."""
        if self.watch.on:
            self.watch.stop()
        elif self.watch.folder is None:
            self.choose()
        else:
            self.watch.start(self._settings())

    def _switched(self) -> None:
        self.toggle()
        self.show_state()  # without a folder it stays off

    def show_state(self) -> None:
        watch = self.watch
        self.switch.setChecked(watch.on)
        self.place.setText(str(watch.folder or tr("Choose a folder")))
        self.state.setText(watch.status())
        self.state.setToolTip(watch.tooltip())
        self.state.setVisible(watch.on or bool(watch.problem))
        restate(self.state, level="error" if watch.problem else "")
        if watch.on != self._timer.isActive():
            self._timer.start() if watch.on else self._timer.stop()
