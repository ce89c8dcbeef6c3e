"""Dictation into any app: a key is held while one speaks, and the text appears at the cursor of the app in front."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject

from app.gui.hotkey import HotKey, command
from app.gui.keyboard.clipboard_paste import PasteError
from app.gui.keyboard.combination import KeyUse
from app.gui.keyboard.systems import paste, system
from app.gui.preferences import Preferences
from app.gui.sound import devices
from app.gui.texts import tr
from app.gui.viewmodels.listen import captioned
from app.gui.viewmodels.signal import Signal
from app.window_engine import StreamRunner
from engine.errors import BackendUnavailable

if TYPE_CHECKING:
    from app.gui.keyboard.wayland_typing import WaylandTyping

OWN_WORDS = "listen.own_words"  # the preference of Listen, Talk and dictation alike
CLEAN_UP = "dictation.clean_up"  # the preference: the chat model in memory corrects what is dictated
KEPT = 10  # texts as they were spoken


@dataclass
class _Dictation:
    """One time that the key was held. `text`: what is typed, once that is certain."""

    text: str | None = None


@dataclass(frozen=True)
class _Cleaned:
    text: str


class DictationKey(HotKey):
    """The model is the one that Listen has chosen. What is said while an earlier text is still on its way follows it.

    `spoken`: the last texts that a chat model changed, as they were spoken, the newest first; in memory alone. `spoken_changed` follows.
    """

    preference = "dictation.key"

    def __init__(
        self, preferences: Preferences, streams: StreamRunner, say: Callable[..., Any], parent: QObject
    ) -> None:
        self._streams, self._say = streams, say
        self._microphone: Any = None
        self.spoken: list[str] = []
        self.spoken_changed = Signal()
        self._dictations: list[_Dictation] = []  # in the order in which they were spoken
        self._waiting: list[str] = []  # texts that are still to be pasted
        self._pasting = False
        self._wayland: WaylandTyping | None = None
        self._sound: queue.SimpleQueue[np.ndarray | None] = queue.SimpleQueue()
        super().__init__(preferences, self.begin, parent)
        preferences.changed.connect(lambda key: self._prepare() if key == self.preference else None)

    @property
    def about(self) -> str:
        if self.problem:
            return self.problem
        if self.possible:
            return tr(
                "Hold it, speak, and let it go: the text appears at the cursor, in any app. Clear the field for none."
            )
        if system() == "wayland":
            return tr(
                "This desktop does not let apps see a key that is held. In its keyboard settings, add a shortcut for the "
                "command {command}, which begins dictation, and the next time ends it.",
                command=f"{command()} app --dictate",
            )
        return tr("Dictation into other apps needs a desktop. In a message, Ctrl+Shift+V dictates.")

    @property
    def works(self) -> bool:
        """Whether a text can be dictated into other apps here, by the key or by the desktop's own shortcut."""
        return system() != "none"

    @property
    def listening(self) -> bool:
        return self._microphone is not None

    def toggle(self) -> None:
        """A shortcut of the desktop's, which has no release."""
        if self.listening:
            self.end()
        else:
            self.begin()

    def begin(self) -> None:
        """The key is held."""
        if self.listening:
            return
        self._prepare()
        sound: queue.SimpleQueue[np.ndarray | None] = queue.SimpleQueue()
        try:
            self._microphone = devices.Microphone(sound.put, self, self._lost)
        except BackendUnavailable as error:
            self._say(str(error), level="error")
            return
        self._sound = sound
        model, said, cleaned = str(self._preferences.get("listen.model", "")), list[str](), list[str]()
        chat_model = str(self._preferences.get("model", "")) if self._preferences.get(CLEAN_UP, False) else None
        dictation = _Dictation()
        self._dictations.append(dictation)

        def receive(items: list[Any]) -> None:
            cleaned.extend(item.text for item in items if isinstance(item, _Cleaned))
            said.extend(item.segment.text for item in items if not isinstance(item, _Cleaned) and item.final)

        def ended(problem: str) -> None:
            if self._sound is sound:  # it failed while the key is held
                self.end()
            if problem:
                self._say(problem, level="error")
            spoken = " ".join(said)
            dictation.text = cleaned[0] if cleaned else spoken
            if dictation.text != spoken:
                self.spoken = [spoken, *self.spoken][:KEPT]
                self.spoken_changed()
            self._write_in_order()

        self._streams.stream(lambda core: _heard(core, model, sound, chat_model), receive, ended)

    def end(self) -> None:
        """The key is let go: what was said until now becomes text."""
        if self._microphone is not None:
            self._microphone.stop()
            self._microphone = None
            self._sound.put(None)

    def forget(self) -> None:
        """All stored data is being deleted."""
        self.spoken = []
        self.spoken_changed()

    def release(self) -> None:
        self.end()
        super().release()

    def close(self) -> None:
        """Grus ends."""
        self.release()
        if self._wayland is not None:
            self._wayland.release()

    def use(self) -> KeyUse:
        return KeyUse("dictation", tr("Dictation"), self.begin, self.end, self.lose)

    def _lost(self, sentence: str) -> None:
        self.end()
        self._say(sentence, level="error")

    def _write_in_order(self) -> None:
        """A text whose clean-up takes long is typed before those that were spoken after it."""
        while self._dictations and (text := self._dictations[0].text) is not None:
            self._dictations.pop(0)
            if text:
                self._write(text)

    def _write(self, text: str) -> None:
        self._waiting.append(text)
        if not self._pasting:
            self._paste()

    def _paste(self) -> None:
        """One after another: each gives the clipboard back before the next takes it."""
        text = " ".join(self._waiting)
        self._waiting.clear()
        self._pasting = True
        try:
            if system() == "wayland":
                self._wayland_typing().paste(text, lambda problem: self._pasted(text, problem))
            else:
                paste(text, self, lambda problem: self._pasted(text, problem))
        except PasteError as error:
            self._pasted(text, str(error))

    def _pasted(self, text: str, problem: str = "") -> None:
        self._pasting = False
        if problem:
            _copy(text)
            self._say(problem, level="error", undo=(tr("Copy"), lambda: _copy(text)))
        if self._waiting:
            self._paste()

    def _prepare(self) -> None:
        """A desktop of Wayland may ask the person: when a key is chosen rather than in the middle of the first dictation."""
        if system() == "wayland" and self._preferences.get(self.preference):
            self._wayland_typing().prepare()

    def _wayland_typing(self) -> WaylandTyping:
        if self._wayland is None:
            from app.gui.keyboard.wayland_typing import WaylandTyping

            self._wayland = WaylandTyping(self._preferences, self)
        return self._wayland


def _copy(text: str) -> None:
    from PySide6.QtGui import QGuiApplication

    QGuiApplication.clipboard().setText(text)


def _heard(core: Any, model: str, sound: queue.SimpleQueue[np.ndarray | None], chat_model: str | None) -> Iterator[Any]:
    """Runs off the UI thread: captions until the key is let go, then the whole text, cleaned up by `chat_model` where it is in memory,
    else by another one that is. None: no clean-up."""
    said: list[str] = []
    for caption in captioned(core, model, sound, None):
        if caption.final:
            said.append(caption.segment.text)
        yield caption
    if chat_model is not None and said:
        from app.runtime.dictation_cleanup import clean_up

        yield _Cleaned(clean_up(core, " ".join(said), chat_model))
