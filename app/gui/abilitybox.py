"""The box that says which model reads, listens or speaks: only models that can, found on this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QComboBox, QFileDialog

from app.explain import ADVICE
from app.gui.desk import Desk
from app.gui.texts import tr
from app.runtime import capabilities
from app.runtime.capabilities import RECOMMENDED, Capability

if TYPE_CHECKING:
    from app.runtime.models import ModelService

_FOLDER, _GET = "\0folder", "\0get"
_ROOM = 60  # pixels for the arrow and the edges


class AbilityBox(QComboBox):
    """`picked(name)`: a person chose. `listed`: `known` is another. Remembered as `<ability>.model`."""

    picked = Signal(str)
    listed = Signal()

    def __init__(self, desk: Desk, ability: Capability) -> None:
        super().__init__()
        self._desk, self._ability = desk, ability
        self.known: list[str] | None = None  # None: not looked yet
        self.setProperty("kind", "flat")
        self.setAccessibleName(tr("Model"))
        self.setToolTip(tr("Which model does it"))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.view().setMinimumWidth(280)
        self.activated.connect(self._activated)
        desk.models_changed.connect(self.look)
        self._fill()
        self.look()

    @property
    def name(self) -> str:
        """The one that is chosen; empty: none."""
        wanted = str(self._desk.preferences.get(f"{self._ability}.model", ""))
        known = self.known or []
        return wanted if wanted in known else known[0] if known else ""

    @property
    def advice(self) -> str:
        """What to get, once it is known that there is none."""
        return tr(ADVICE[self._ability]) if self.known == [] else ""

    def look(self) -> None:
        def got(names: list[str]) -> None:
            self.known = names
            self._fill()
            self.listed.emit()

        self._desk.core.use(
            lambda service: capabilities.able(service, self._ability), got,
            lambda sentence: self._desk.say(sentence, level="error"),
        )  # fmt: skip

    def pick(self, name: str) -> None:
        self._desk.preferences.put(f"{self._ability}.model", name)
        self._fill()
        self.picked.emit(name)

    def get_one(self) -> None:
        """To Models, where the usual one to begin with is a click away."""
        self._desk.open_pane("models").offer(RECOMMENDED[self._ability])

    def choose_folder(self) -> None:
        dialog = QFileDialog(self.window(), tr("Choose a folder with a model"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda chosen: self.add_folder(Path(chosen)))
        dialog.open()

    def add_folder(self, folder: Path) -> None:
        """Only one that can do what is wanted here."""
        name = folder.name
        if not capabilities.can(str(folder), self._ability):
            self._desk.say(tr("{name} cannot do this.", name=name) + " " + tr(ADVICE[self._ability]), level="error")
            return
        self._desk.core.use(partial(_offer, name, str(folder)))
        kept = dict(self._desk.preferences.get("models", {}))
        self._desk.preferences.put("models", {**kept, name: str(folder)})
        self._desk.preferences.put(f"{self._ability}.model", name)
        self._desk.models_changed()
        self.picked.emit(name)

    def _fill(self) -> None:
        self.blockSignals(True)
        self.clear()
        for name in self.known or []:
            self.addItem(name.rsplit("/", 1)[-1], name)
        if not self.known:
            self.addItem(tr("No model yet"), "")
        self.insertSeparator(self.count())
        self.addItem(tr("Get a model…"), _GET)
        self.addItem(tr("Choose a folder with a model…"), _FOLDER)
        self.setCurrentIndex(max(0, self.findData(self.name)))
        self.blockSignals(False)
        font = self.font()
        font.setBold(True)
        self.setFixedWidth(min(240, QFontMetrics(font).horizontalAdvance(self.currentText()) + _ROOM))

    def _activated(self, index: int) -> None:
        name = self.itemData(index)
        if name == _FOLDER:
            self._fill()
            self.choose_folder()
        elif name == _GET:
            self._fill()
            self.get_one()
        elif name:
            self.pick(name)


def _offer(name: str, source: str, service: ModelService) -> None:
    service.catalogue.named = {**service.catalogue.named, name: source}
