"""Speculative decoding as the settings pane has it: where draft tokens come from. No Qt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.gui.texts import mark, tr
from app.gui.viewmodels.signal import Signal

if TYPE_CHECKING:
    from app.gui.preferences import Preferences
    from app.window_engine import WindowEngine

KINDS = (
    ("auto", mark("Automatic")),
    ("off", mark("Off")),
    ("ngram", mark("N-grams of the conversation")),
    ("mtp", mark("Multi-token prediction (MTP)")),
    ("draft", mark("Draft model")),
)
_KEYS = ("speculation", "draft_model")


class SpeculationSettings:
    """`changed`: a choice, or what is said of it, changed."""

    def __init__(self, core: WindowEngine, preferences: Preferences) -> None:
        self._core, self._preferences = core, preferences
        self.changed = Signal()
        self.problem = ""
        self._before = self._chosen()

    @property
    def kind(self) -> str:
        return str(self._preferences.get("speculation", "auto"))

    @property
    def draft(self) -> str:
        return str(self._preferences.get("draft_model") or "")

    @property
    def altered(self) -> bool:
        """Whether the engine was started with other choices."""
        return self._chosen() != self._before

    def choose(self, kind: str) -> None:
        self._preferences.put("speculation", kind)
        self._look()

    def set_draft(self, name: str) -> None:
        """A model's name, or the folder of one or of an EAGLE-3 head."""
        self._preferences.put("draft_model", name.strip() or None)
        self._look()

    def _look(self) -> None:
        """Say what is wrong with the draft model, which is read when a model is loaded."""
        self.problem, name = "", self.draft
        if self.kind == "draft" and not name:
            self.problem = tr("Enter the name of a model, or choose a folder. Until then nothing is drafted.")
        elif self.kind == "draft":
            self._core.use(lambda service: _find(service, name), failed=lambda sentence: self._missing(name, sentence))
        self.changed()

    def _missing(self, name: str, sentence: str) -> None:
        if self.kind == "draft" and self.draft == name:
            self.problem = sentence
            self.changed()

    def _chosen(self) -> list[Any]:
        return [self._preferences.get(key) for key in _KEYS]


def _find(service: Any, name: str) -> None:
    """Raises ModelNotFound for what is neither a folder nor a model on this machine."""
    if not Path(name).expanduser().is_dir():
        service.catalogue.look_up(name)
