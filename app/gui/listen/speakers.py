"""Speakers in the Listen pane: whether they are told apart, their colours, and the menu that corrects one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QCheckBox, QMenu, QWidget

from app.explain import ADVICE
from app.gui.model_box import ModelBox
from app.gui.pane import AppContext
from app.gui.texts import tr
from app.gui.theme import Theme
from app.gui.viewmodels.transcript_edits import speakers_of
from engine.pipelines.listening.transcript import TranscriptSegment

_KEY, _NAMES = "listen.speakers", "listen.names"  # in the preferences
_MOST = 12  # names that are remembered


class SpeakerBox(QCheckBox):
    """Whether speakers are told apart; kept in the preferences. Without a model for it, it leads to one. `chosen(bool)`: a person changed
    it."""

    chosen = Signal(bool)

    def __init__(self, context: AppContext, models: ModelBox) -> None:
        super().__init__(tr("Speakers"))
        self.setToolTip(tr("Tell speakers apart"))
        self._context, self._models = context, models
        self.setChecked(bool(context.preferences.get(_KEY, False)))
        self.clicked.connect(self._clicked)

    def _clicked(self, on: bool) -> None:
        if on and not any("diarize" in found for found in self._models.abilities.values()):
            from app.runtime.catalogue import RECOMMENDED

            self.setChecked(False)
            self._context.say(tr(ADVICE["diarize"]), level="warning")
            self._context.open_pane("models").offer(RECOMMENDED["diarize"])
            return
        self._context.preferences.put(_KEY, on)
        self.chosen.emit(on)


def speaker_colors(theme: Theme, segments: Sequence[TranscriptSegment]) -> dict[str, QColor]:
    """Of each speaker, in the order in which they are heard. The colours are legible as text; names stand beside them."""
    colors = (theme.code_name, theme.code_word, theme.code_text, theme.code_number)
    return {name: QColor(colors[i % len(colors)]) for i, name in enumerate(speakers_of(segments))}


def remembered(context: AppContext) -> list[str]:
    """Names that were given, the last one first."""
    return [str(name) for name in context.preferences.get(_NAMES, [])]


def remember(context: AppContext, name: str) -> None:
    context.preferences.put(_NAMES, [name, *(one for one in remembered(context) if one != name)][:_MOST])


class SpeakerMenu(QMenu):
    """Another speaker for one segment, or another name in the whole recording: one that was given before, or a new one."""

    assigned = Signal(str)
    renamed = Signal(str)
    name_asked = Signal()

    def __init__(self, parent: QWidget, context: AppContext, segments: Sequence[TranscriptSegment], row: int) -> None:
        super().__init__(parent)
        self.aboutToHide.connect(self.deleteLater)
        here, own = speakers_of(segments), segments[row].speaker
        for name in here:
            entry = self.addAction(name, partial(self.assigned.emit, name))
            entry.setCheckable(True)
            entry.setChecked(name == own)
        self.addSeparator()
        self.names = self.addMenu(tr("Rename in the whole recording"))
        for name in remembered(context):
            if name not in here:
                self.names.addAction(name, partial(self.renamed.emit, name))
        self.names.addSeparator()
        self.names.addAction(tr("Another name"), self.name_asked.emit)
        self.names.setEnabled(bool(own))
