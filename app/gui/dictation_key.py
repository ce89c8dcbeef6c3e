"""Dictation into any app: a key is held while one speaks, and the text appears at the cursor of the app in front. On X11."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QObject

from app.gui.hotkey import Combination, HotKey, X11Key, system
from app.gui.preferences import Preferences
from app.gui.sound import devices
from app.gui.texts import tr
from app.gui.viewmodels.listen import captioned
from app.window_engine import StreamRunner
from engine.errors import BackendUnavailable

OWN_WORDS = "listen.own_words"  # the preference of Listen, Talk and dictation alike


class DictationKey(HotKey):
    """The model is the one that Listen has chosen. What is said while an earlier text is still on its way follows it."""

    preference = "dictation.key"

    def __init__(
        self, preferences: Preferences, streams: StreamRunner, say: Callable[..., Any], parent: QObject
    ) -> None:
        self._streams, self._say = streams, say
        self._microphone: Any = None
        self._waiting: list[str] = []  # texts that are still to be pasted
        self._pasting = False
        self._sound: queue.SimpleQueue[np.ndarray | None] = queue.SimpleQueue()
        super().__init__(preferences, self.begin, parent)

    @property
    def possible(self) -> bool:
        return system() == "x11"

    @property
    def about(self) -> str:
        if self.problem:
            return self.problem
        if self.possible:
            return tr(
                "Hold it, speak, and let it go: the text appears at the cursor, in any app. Clear the field for none."
            )
        return tr("Dictation into other apps needs X11. In a message, Ctrl+Shift+V dictates.")

    @property
    def listening(self) -> bool:
        return self._microphone is not None

    def begin(self) -> None:
        """The key is held."""
        if self.listening:
            return
        sound: queue.SimpleQueue[np.ndarray | None] = queue.SimpleQueue()
        try:
            self._microphone = devices.Microphone(sound.put, self, self._lost)
        except BackendUnavailable as error:
            self._say(str(error), level="error")
            return
        self._sound = sound
        model, said = str(self._preferences.get("listen.model", "")), list[str]()

        def ended(problem: str) -> None:
            if self._sound is sound:  # it failed while the key is held
                self.end()
            if problem:
                self._say(problem, level="error")
            if text := " ".join(said):
                self._write(text)

        self._streams.stream(
            lambda core: captioned(core, model, sound, None),
            lambda captions: said.extend(caption.segment.text for caption in captions if caption.final),
            ended,
        )

    def end(self) -> None:
        """The key is let go: what was said until now becomes text."""
        if self._microphone is not None:
            self._microphone.stop()
            self._microphone = None
            self._sound.put(None)

    def release(self) -> None:
        self.end()
        super().release()

    def _grab(self, keys: Combination) -> Any:
        return X11Key(keys, self.begin, self, self.end)

    def _lost(self, sentence: str) -> None:
        self.end()
        self._say(sentence, level="error")

    def _write(self, text: str) -> None:
        self._waiting.append(text)
        if not self._pasting:
            self._paste()

    def _paste(self) -> None:
        """One after another: each gives the clipboard back before the next takes it."""
        from PySide6.QtGui import QGuiApplication

        from app.gui.x11_paste import X11Paste

        text = " ".join(self._waiting)
        self._waiting.clear()
        try:
            X11Paste(text, self, self._pasted)
            self._pasting = True
        except OSError as error:
            QGuiApplication.clipboard().setText(text)
            self._say(
                tr(
                    "The text cannot be typed ({error}); it is in the clipboard. On Debian, install libxtst6.",
                    error=error,
                ),
                level="error",
            )

    def _pasted(self) -> None:
        self._pasting = False
        if self._waiting:
            self._paste()
