"""The form for a new voice: a name, a recording from a file or the microphone, and its transcript."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.gui.dialogs import choose_files
from app.gui.look import restate
from app.gui.pane import AppContext
from app.gui.sound import devices
from app.gui.texts import seconds, tr
from app.gui.theme import GRID
from app.gui.viewmodels.speak import SpeakResults
from app.gui.widgets import label, text_button
from engine.errors import BackendUnavailable


class VoicePanel(QWidget):
    """`made(name)`: a voice was saved. `left`: the person changed their mind."""

    made = Signal(str)
    left = Signal()

    def __init__(self, context: AppContext, studio: SpeakResults, model: Any) -> None:
        super().__init__()
        self.setProperty("kind", "bubble")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._context, self._studio, self._model = context, studio, model
        self.microphone: Any = None
        self._heard: list[np.ndarray] = []
        self._file: Path | None = None
        self.name = QLineEdit()
        self.name.setPlaceholderText(tr("Name of the voice"))
        self.name.setAccessibleName(tr("Name of the voice"))
        self.said = QLineEdit()
        self.said.setPlaceholderText(tr("Transcript of the recording, for a closer voice"))
        self.said.setAccessibleName(tr("Transcript of the recording"))
        self.file = text_button(tr("Choose a file"), self.choose)
        self.record = text_button(tr("Record"), self.toggle)
        self.told = label(tr("3 to 15 seconds of one voice are best."), "second", wrap=True)
        self.save = text_button(tr("Save the voice"), self.keep, kind="main")
        cancel = text_button(tr("Cancel"), self.leave)
        source = QHBoxLayout()
        source.addWidget(self.file)
        source.addWidget(self.record)
        source.addWidget(self.told, 1)
        ends = QHBoxLayout()
        ends.addStretch(1)
        ends.addWidget(cancel)
        ends.addWidget(self.save)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        column.setSpacing(GRID)
        for row in (self.name, source, self.said, ends):
            column.addWidget(row) if isinstance(row, QWidget) else column.addLayout(row)
        self._show()

    def choose(self) -> None:
        choose_files(self, tr("Choose a file"), lambda files: self.take(files[0]), many=False)

    def take(self, file: Path) -> None:
        """A recording that was chosen or dropped."""
        self._file, self._heard = file, []
        self._tell(file.name)

    def toggle(self) -> None:
        if self.microphone is not None:
            self._end()
            return
        try:
            self.microphone = devices.Microphone(self._hear, self, self._lost)
        except BackendUnavailable as error:
            self._tell(str(error), "error")
            return
        self._file, self._heard = None, []
        self.record.setText(tr("Stop recording"))

    def keep(self) -> None:
        self._end()
        sound: Any = self._file if self._file is not None else np.concatenate(self._heard) if self._heard else None
        if sound is None or not self.name.text().strip():
            self._tell(tr("A voice needs a name and a recording."), "error")
            return
        self.save.setEnabled(False)
        self._tell(tr("Analyzing the recording."))
        self._studio.clone(self.name.text(), sound, self.said.text(), self._model(), self._saved, self._failed)

    def leave(self) -> None:
        self._end()
        self._clear()
        self.left.emit()

    def _saved(self, name: str) -> None:
        self._clear()
        self.made.emit(name)

    def _failed(self, sentence: str) -> None:
        self._show()
        self._tell(sentence, "error")

    def _clear(self) -> None:
        self._file, self._heard = None, []
        self.name.clear()
        self.said.clear()
        self._tell(tr("3 to 15 seconds of one voice are best."))
        self._show()

    def _hear(self, samples: np.ndarray) -> None:
        self._heard.append(samples)
        self._tell(tr("Recording: {time}", time=seconds(sum(map(len, self._heard)) / devices.HEARD)))

    def _end(self) -> None:
        if self.microphone is not None:
            self.microphone.stop()
            self.microphone = None
            self.record.setText(tr("Record"))

    def _lost(self, sentence: str) -> None:
        self._end()
        self._tell(sentence, "error")

    def _tell(self, sentence: str, level: str = "") -> None:
        self.told.setText(sentence)
        restate(self.told, level=level)

    def _show(self) -> None:
        self.save.setEnabled(True)
