"""Dictation: what is said into the microphone comes into the message field, a sentence at a time."""

from __future__ import annotations

import queue
from typing import Any

import numpy as np
from PySide6.QtCore import QObject

from app.gui.chat.composer import Composer
from app.gui.desk import Desk
from app.gui.sound import devices
from app.gui.texts import tr
from app.gui.viewmodels.listen.listening import captioned
from engine.errors import BackendUnavailable


class Dictation(QObject):
    """`toggle` begins and ends it. What was being said when it ends still comes."""

    def __init__(self, desk: Desk, composer: Composer) -> None:
        super().__init__(composer)
        self._desk, self._composer = desk, composer
        self._microphone: Any = None
        self._sound: queue.SimpleQueue[np.ndarray | None] = queue.SimpleQueue()

    @property
    def running(self) -> bool:
        return self._microphone is not None

    def toggle(self) -> None:
        if not self.stop():
            self._begin()

    def stop(self) -> bool:
        """False when nothing was dictated."""
        if self._microphone is None:
            return False
        self._microphone.stop()
        self._microphone = None
        self._sound.put(None)
        self._show()
        return True

    def _begin(self) -> None:
        sound: queue.SimpleQueue[np.ndarray | None] = queue.SimpleQueue()
        try:
            self._microphone = devices.Microphone(sound.put, self, self._lost)
        except BackendUnavailable as error:
            self._composer.complain(str(error))
            return
        self._sound = sound
        model = str(self._desk.preferences.get("listen.model", ""))
        self._desk.core.stream(lambda core: captioned(core, model, sound, None), self._hear, self._ended)
        self._composer.complain("")
        self._desk.say(tr("Dictating. Press again to end it."))
        self._show()

    def _hear(self, captions: list[Any]) -> None:
        field = self._composer.field
        for caption in captions:
            if caption.final:
                before = field.toPlainText()[: field.textCursor().position()]
                space = " " if before and not before[-1].isspace() else ""
                field.insertPlainText(space + caption.segment.text)

    def _lost(self, sentence: str) -> None:
        self.stop()
        self._composer.complain(sentence)

    def _ended(self, problem: str) -> None:
        if problem:
            self._composer.complain(problem)
            self.stop()

    def _show(self) -> None:
        title = tr("Stop dictating") if self.running else tr("Dictate")
        button = self._composer.dictate
        button.setAccessibleName(title)
        button.setToolTip(f"{title} (Ctrl+Shift+V)")
        button.setIcon(self._desk.look.icon("stop" if self.running else "mic"))
