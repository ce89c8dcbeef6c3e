"""The Speak pane's pronunciation list: a field with a line for each word, checked while it is written and kept for every text."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app.gui.look import restate
from app.gui.preferences import Preferences
from app.gui.texts import in_language, tr, trn
from app.gui.theme import GRID
from app.gui.widgets import label, text_button
from engine.errors import BadRequest
from engine.pipelines.speaking.pronunciation import Pronunciations

PREFERENCE = "speak.pronunciations"
_EXAMPLE = "SQL = sequel\nGrus = /ɡɹˈus/"
_LINES = 6


class PronunciationPanel(QWidget):
    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self.setProperty("kind", "bubble")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._preferences = preferences
        self.field = QPlainTextEdit(str(preferences.get(PREFERENCE, "")))
        self.field.setAccessibleName(tr("Pronunciations"))
        self.field.setPlaceholderText(_EXAMPLE)
        self.field.setTabChangesFocus(True)
        self.field.setFixedHeight(self.field.fontMetrics().lineSpacing() * _LINES + 2 * GRID)
        self.note = label(kind="second", wrap=True)
        done = text_button(tr("Done"), self.hide)
        below = QHBoxLayout()
        below.addWidget(self.note, 1)
        below.addWidget(done)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        column.setSpacing(GRID)
        column.addWidget(label(tr("Pronunciations"), "heading"))
        column.addWidget(self.field)
        column.addLayout(below)
        self.field.textChanged.connect(self._changed)
        self._changed()

    def toggle(self) -> None:
        self.setVisible(self.isHidden())
        if self.isVisible():
            self.field.setFocus()

    def _changed(self) -> None:
        """A line that does not have the form is reported at once, and kept as it is written."""
        text = self.field.toPlainText()
        if text != str(self._preferences.get(PREFERENCE, "")):
            self._preferences.put(PREFERENCE, text)
        try:
            count, problem = len(Pronunciations.parsed(text).entries), ""
        except BadRequest as error:
            count, problem = 0, in_language(error.text)
        about = tr("A line for each word: word = how it is said. Phonemes between slashes are for Kokoro.")
        self.note.setText(problem or (trn("{n} word", "{n} words", count) if count else about))
        restate(self.note, level="error" if problem else "")
