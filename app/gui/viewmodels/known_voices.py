"""The voices that a person has named in recordings, to be looked at and forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.gui.texts import tr
from app.gui.viewmodels.signal import Signal
from app.window_engine import JobRunner

if TYPE_CHECKING:
    from app.runtime.known_voices import KnownVoices


class KnownVoiceList:
    """`changed`: there are other names. The file is read and written off the UI thread."""

    def __init__(self, work: JobRunner, data: Path, say: Callable[..., Any]) -> None:
        self._work, self._data, self._say = work, data, say
        self.changed = Signal()
        self.names: list[str] = []

    def look(self) -> None:
        self._work.run(lambda: [one.name for one in self._voices().all()], self._show)

    def forget(self, name: str) -> None:
        def forgotten() -> tuple[list[dict[str, Any]], list[str]]:
            voices = self._voices()
            return voices.delete(name), [one.name for one in voices.all()]

        def show(made: tuple[list[dict[str, Any]], list[str]]) -> None:
            gone, names = made
            self._show(names)
            if gone:
                self._say(
                    tr("The voice {name} was deleted.", name=name), undo=(tr("Undo"), lambda: self._bring_back(gone))
                )

        self._work.run(forgotten, show)

    def _bring_back(self, gone: list[dict[str, Any]]) -> None:
        def restored() -> list[str]:
            voices = self._voices()
            voices.restore(gone)
            return [one.name for one in voices.all()]

        self._work.run(restored, self._show)

    def _voices(self) -> KnownVoices:
        from app.runtime.known_voices import KnownVoices

        return KnownVoices(self._data)

    def _show(self, names: list[str]) -> None:
        if names != self.names:
            self.names = names
            self.changed()
