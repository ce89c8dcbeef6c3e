"""The model chooser of a pane: the models on this machine that can do its task, adding a folder, and getting one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QComboBox

from app.explain import ADVICE
from app.gui.dialogs import choose_folder
from app.gui.pane import AppContext
from app.gui.texts import tr
from app.gui.viewmodels.models.library import badges
from app.gui.viewmodels.models.remote import answers_elsewhere, server_of
from app.gui.widgets import ARROW, BadgeBox
from engine.errors import BadRequest
from engine.starter import SYSTEM

if TYPE_CHECKING:
    from app.runtime.models import ModelService

_FOLDER, _GET = "\0folder", "\0get"


class ModelBox(BadgeBox):
    """`picked(name)`: a person chose. `listed`: `known` changed. The choice is stored in the preferences.

    `task` is "chat", "read", "listen" or "speak". In chat, every conversation has a model of its own (`show_model`), also
    one that is no longer here; elsewhere the chosen one holds for all that follows.
    """

    picked = Signal(str)
    listed = Signal()

    def __init__(self, context: AppContext, task: str) -> None:
        super().__init__(context.look)
        self._context = context
        self._task: Any = task
        self._chat = task == "chat"
        self._key = "model" if self._chat else f"{task}.model"  # in the preferences
        self._of_conversation = ""
        self.known: list[str] | None = None  # None: not listed yet
        self.abilities: dict[str, frozenset[Any]] = {}  # of all models, by name
        self.setProperty("kind", "flat")
        self.setAccessibleName(tr("Model"))
        self.setToolTip(tr("Model for this conversation") if self._chat else tr("Model to use"))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.activated.connect(self._activated)
        context.look.on_change(self, self._fit)
        context.models_changed.connect(self.look)
        self._fill()
        self.look()

    @property
    def name(self) -> str:
        """The chosen one that can be used, else one of this machine: nothing moves elsewhere by itself. Empty: none."""
        wanted, known = str(self._context.preferences.get(self._key, "")), self.known or []
        return wanted if wanted in known else next((name for name in known if not server_of(name)), "")

    @property
    def default(self) -> str:
        """For a new conversation: the model chosen last, also before it is known which there are."""
        return self.name if self.known else str(self._context.preferences.get(self._key, ""))

    @property
    def advice(self) -> str:
        """What to get, once it is known that there is none."""
        return tr(ADVICE[self._task]) if self.known is not None and not self.name and self._task in ADVICE else ""

    def look(self) -> None:
        """List the models again."""

        def got(found: dict[str, frozenset[Any]]) -> None:
            self.abilities = found
            self.known = [name for name, can in found.items() if self._task in can]
            self.known.sort(key=lambda name: name == SYSTEM)  # only where nobody got a better voice
            self._fill()
            self.listed.emit()

        if self._chat:
            self._context.core.models(got, self._context.show_error)
        else:
            self._context.core.use(_abilities, got, self._context.show_error)

    def show_model(self, name: str) -> None:
        """The model of the open conversation, whether it is still here or not."""
        self._of_conversation = name
        self._fill()

    def pick(self, name: str) -> None:
        self._of_conversation = name
        self._context.preferences.put(self._key, name)
        self._fill()
        self.picked.emit(name)

    def get_one(self) -> None:
        """To Models, where the recommended one is a click away."""
        from app.runtime.catalogue import RECOMMENDED

        models = self._context.open_pane("models")
        if self._chat:
            models.turn_to_recommended()
        else:
            models.offer(RECOMMENDED[self._task])

    def choose_folder(self) -> None:
        """A folder with config.json and weights, or with a GGUF file."""
        choose_folder(self, tr("Add a model folder"), self.add_folder)

    def add_folder(self, folder: Path) -> None:
        name = folder.name

        def add(service: ModelService) -> None:
            self._check(folder)
            service.catalogue.named = {**service.catalogue.named, name: str(folder)}

        def added(_: None) -> None:
            kept = dict(self._context.preferences.get("models", {}))
            self._context.preferences.put("models", {**kept, name: str(folder)})
            self._context.models_changed()
            self.pick(name)

        self._context.core.use(add, added, self._context.show_error)

    def _check(self, folder: Path) -> None:
        """Raises BadRequest, in plain words, for a folder whose model cannot be used here. Reads the disk."""
        from app.runtime.catalogue import can
        from engine.model_files import open_model

        if self._chat:
            open_model(folder)
        elif not can(str(folder), self._task):
            raise BadRequest(
                tr("The model {name} cannot be used here.", name=folder.name) + " " + tr(ADVICE[self._task])
            )

    def _fill(self) -> None:
        self.blockSignals(True)
        self.clear()
        names = list(self.known or [])
        shown = self._of_conversation if self._chat else self.name
        if shown and shown not in names:
            names.insert(0, shown)
        for name in names:
            title = name if self._chat else name.rsplit("/", 1)[-1]
            self.add_model(title, name, badges(self.abilities.get(name, ())))
        if not shown and all(map(server_of, names)):  # the first line is shown where none is chosen
            self.insertItem(0, tr("No model yet"), "")
        self.insertSeparator(self.count())
        self.addItem(tr("Get a model…"), _GET)
        self.addItem(tr("Add a model folder…"), _FOLDER)
        self.setCurrentIndex(max(0, self.findData(shown)))
        self._context.core.reach(f"remote {self._task}", answers_elsewhere(shown))
        self.blockSignals(False)
        self._fit()

    def _fit(self) -> None:
        """As wide as the name that is shown, not as the longest in the list."""
        look = self._context.look
        metrics = QFontMetrics(look.font(weight=QFont.Weight.DemiBold))
        self.fit_list()
        widest = round((320 if self._chat else 240) * max(1.0, look.scale))
        self.setFixedWidth(min(widest, metrics.horizontalAdvance(self.currentText()) + ARROW))

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


def _abilities(service: ModelService) -> dict[str, frozenset[Any]]:
    from app.runtime.catalogue import abilities

    return abilities(service.catalogue)
