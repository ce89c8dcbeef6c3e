"""The switch beside the dictation key: a chat model corrects what is dictated; and the texts as they were spoken."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from app.gui.dictation_key import CLEAN_UP, DictationKey
from app.gui.pane import AppContext
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.widgets import label, text_button

_SHOWN = 60  # letters of a text in the menu


class DictationCleanup(QWidget):
    """Hidden where no text can be dictated into other apps."""

    def __init__(self, context: AppContext, key: DictationKey) -> None:
        super().__init__()
        self._context, self._key = context, key
        self.switch = QCheckBox(tr("Clean up dictation"))
        self.switch.toggled.connect(lambda on: context.preferences.put(CLEAN_UP, on))
        self.spoken = text_button(tr("Copy as spoken"), self._choose)
        self.menu = QMenu(self)
        context.look.dress(self.menu)
        self._note = label(
            tr("The chat model in memory corrects punctuation, capitals, filler words and slips. Without one, the text is typed as it was spoken. The last texts as they were spoken are kept here until Grus is closed."),
            "second", wrap=True,
        )  # fmt: skip
        row = QHBoxLayout()
        row.addWidget(self.switch, 1)
        row.addWidget(self.spoken)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addLayout(row)
        column.addWidget(self._note)
        context.preferences.changed.connect(lambda changed: self._show() if changed == CLEAN_UP else None)
        key.spoken_changed.connect(self._show)
        if not key.works:
            self.hide()
        self._show()

    def _show(self) -> None:
        self.switch.blockSignals(True)
        self.switch.setChecked(bool(self._context.preferences.get(CLEAN_UP, False)))
        self.switch.blockSignals(False)
        self.spoken.setEnabled(bool(self._key.spoken))

    def _choose(self) -> None:
        """One text is copied at once; of several a menu shows the beginnings."""
        texts = self._key.spoken
        if len(texts) == 1:
            self._context.copy(texts[0])
            return
        self.menu.clear()
        for text in texts:
            shown = text if len(text) <= _SHOWN else text[:_SHOWN].rstrip() + "…"
            self.menu.addAction(shown.replace("&", "&&"), partial(self._context.copy, text))
        self.menu.popup(self.spoken.mapToGlobal(self.spoken.rect().bottomLeft()))
