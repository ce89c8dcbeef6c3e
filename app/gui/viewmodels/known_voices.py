"""The voices that a person has named in recordings, to be looked at and forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.gui.viewmodels.signal import Signal
from app.window_engine import JobRunner

if TYPE_CHECKING:
    from app.runtime.known_voices import KnownVoices


class KnownVoiceList:
    """`changed`: there are other names. The file is read and written off the UI thread."""

    def __init__(self, work: JobRunner, data: Path) -> None:
        self._work, self._data = work, data
        self.changed = Signal()
        self.names: list[str] = []

    def look(self) -> None:
        self._work.run(lambda: [one.name for one in self._voices().all()], self._show)

    def forget(self, name: str) -> None:
        def forgotten() -> list[str]:
            voices = self._voices()
            voices.delete(name)
            return [one.name for one in voices.all()]

        self._work.run(forgotten, self._show)

    def _voices(self) -> KnownVoices:
        from app.runtime.known_voices import KnownVoices

        return KnownVoices(self._data)

    def _show(self, names: list[str]) -> None:
        if names != self.names:
            self.names = names
            self.changed()
