"""The model chooser of a pane: the models on this machine that have its capability, adding a folder, and getting one."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QComboBox, QFileDialog

from app import abilities
from app.abilities import ADVICE, FIRST, Ability
from app.gui.pane import Desk
from app.gui.texts import tr

if TYPE_CHECKING:
    from app.server.service import Service

_FOLDER, _GET = "\0folder", "\0get"
_ROOM = 60  # pixels for the arrow and the edges


class AbilityBox(QComboBox):
    """`picked(name)`: a person chose. `listed`: `known` is another. Remembered as `<ability>.model`."""

    picked = Signal(str)
    listed = Signal()

    def __init__(self, desk: Desk, ability: Ability) -> None:
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
            lambda service: abilities.names(service, self._ability), got,
            lambda sentence: self._desk.say(sentence, level="error"),
        )  # fmt: skip

    def pick(self, name: str) -> None:
        self._desk.preferences.put(f"{self._ability}.model", name)
        self._fill()
        self.picked.emit(name)

    def get_one(self) -> None:
        """To Models, where the usual one to begin with is a click away."""
        self._desk.open_pane("models").offer(FIRST[self._ability])

    def choose_folder(self) -> None:
        dialog = QFileDialog(self.window(), tr("Choose a folder with a model"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda chosen: self.add_folder(Path(chosen)))
        dialog.open()

    def add_folder(self, folder: Path) -> None:
        """Only one that can do what is wanted here."""
        name = folder.name
        if not abilities.can(str(folder), self._ability):
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


def _offer(name: str, source: str, service: Service) -> None:
    service.catalogue.named = {**service.catalogue.named, name: source}


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
            from engine.opening import open_model

            open_model(folder)  # says in plain words what is wrong with it
            service.catalogue.named[name] = str(folder)

        def added(_: None) -> None:
            kept = dict(self._desk.preferences.get("models", {}))
            self._desk.preferences.put("models", {**kept, name: str(folder)})
            self._desk.models_changed()
            self.pick(name)

        self._desk.core.use(add, added, lambda sentence: self._desk.say(sentence, level="error"))
