"""The box that says which model answers, and offers the others on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QComboBox, QFileDialog

from app.gui.desk import Desk
from app.gui.texts import tr

_FOLDER = "\0folder"
_ROOM = 60  # pixels for the arrow and the edges


class ModelBox(QComboBox):
    """`picked(name)`: a person chose a model. `known`: all names."""

    picked = Signal(str)
    listed = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.setProperty("kind", "flat")
        self.setAccessibleName(tr("Model"))
        self.setToolTip(tr("Which model answers"))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.view().setMinimumWidth(280)
        self._desk = desk
        self._wanted = ""
        self.known: list[str] = []
        self._fill()
        self.activated.connect(self._activated)
        desk.models_changed.connect(self.look)
        self.look()

    def look(self) -> None:
        """Read which models there are."""
        self._desk.core.models(self._got, lambda sentence: self._desk.say(sentence, level="error"))

    def show_model(self, name: str) -> None:
        """The model of the open conversation, whether it is still here or not."""
        self._wanted = name
        self._fill()

    def usual(self) -> str:
        """The one for a new conversation: chosen last, else the first there is."""
        chosen = str(self._desk.preferences.get("model", ""))
        return chosen if chosen in self.known or not self.known else self.known[0]

    def _got(self, names: list[str]) -> None:
        self.known = names
        self._fill()
        self.listed.emit()

    def _fill(self) -> None:
        self.blockSignals(True)
        self.clear()
        names = list(self.known)
        if self._wanted and self._wanted not in names:
            names.insert(0, self._wanted)
        for name in names:
            self.addItem(name, name)
        if not names:
            self.addItem(tr("No model yet"), "")
        self.insertSeparator(self.count())
        self.addItem(tr("Choose a folder with a model…"), _FOLDER)
        self.setCurrentIndex(max(0, self.findData(self._wanted)))
        self.blockSignals(False)
        self._fit()

    def _fit(self) -> None:
        """As wide as the name that is shown, not as the longest in the list."""
        font = self.font()
        font.setBold(True)
        self.setFixedWidth(min(320, QFontMetrics(font).horizontalAdvance(self.currentText()) + _ROOM))

    def _activated(self, index: int) -> None:
        name = self.itemData(index)
        if name == _FOLDER:
            self._fill()
            self.choose_folder()
        elif name:
            self.pick(name)

    def pick(self, name: str) -> None:
        self.show_model(name)
        self._desk.preferences.put("model", name)
        self.picked.emit(name)

    def choose_folder(self) -> None:
        """A folder with config.json and weights, or with a GGUF file."""
        dialog = QFileDialog(self.window(), tr("Choose a folder with a model"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda chosen: self.add_folder(Path(chosen)))
        dialog.open()

    def add_folder(self, folder: Path) -> None:
        name = folder.name

        def add(service: Any) -> None:
            from engine.model_files import open_model

            open_model(folder)  # says in plain words what is wrong with it
            service.catalogue.named[name] = str(folder)

        def added(_: None) -> None:
            kept = dict(self._desk.preferences.get("models", {}))
            self._desk.preferences.put("models", {**kept, name: str(folder)})
            self._desk.models_changed()
            self.pick(name)

        self._desk.core.use(add, added, lambda sentence: self._desk.say(sentence, level="error"))
