"""A model that speaks, for Python and for the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import cast

import numpy as np

from app.sdk.opening import open_engine
from engine.errors import BadRequest
from engine.loading import LoadedModel, LoadOptions
from engine.media.sound import format_of, read_sound, write_file
from engine.pipelines.speaking.long_form import SpeechOptions, speak_long_form
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.speaking.voice import Clone, SavedVoice, SavedVoices, VoiceSettings
from engine.settings import Settings


@dataclass(frozen=True, eq=False)
class Spoken:
    """A sound, whole."""

    samples: np.ndarray  # f32, one channel
    rate: int

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    def save(self, path: str | Path) -> Path:
        """As WAV, PCM, MP3, FLAC or Opus, by the name's ending."""
        target = Path(path)
        write_file(target, [self.samples], self.rate, format_of(target))
        return target


class Speaker:
    """A model that speaks, with an engine of its own. Close it, or use it in a `with` block."""

    def __init__(self, name: str, options: LoadOptions | None = None, settings: Settings | None = None,
                 voices: SavedVoices | None = None, profile: Path | None = None) -> None:  # fmt: skip
        self.name = name
        self.voices = voices or SavedVoices()
        self.engine, loaded = open_engine(name, options, settings, profile)
        self.loaded = cast(LoadedModel, loaded[name])
        try:
            self.voice = speaker(self.engine, name)
        except BaseException:
            self.engine.close()
            raise

    @property
    def rate(self) -> int:
        return self.voice.rate

    def manner(
        self, voice: str | Clone | None = None, language: str = "auto", instructions: str | None = None
    ) -> VoiceSettings:
        """`voice`: a preset of the model, the name of a saved voice, or one that `clone` made."""
        if isinstance(voice, Clone):
            return VoiceSettings(clone=voice, instructions=instructions, language=language)
        return self.voices.settings(voice, self.voice.presets, language, instructions)

    def stream(self, text: str, manner: VoiceSettings | None = None, wishes: SpeechOptions | None = None, *,
               progress: Callable[[int, int], None] = lambda done, total: None) -> Iterator[np.ndarray]:  # fmt: skip
        """Samples while they are made. Closing the iterator stops the voice."""
        return speak_long_form(
            self.voice, text, manner or VoiceSettings(), wishes or SpeechOptions(), progress=progress
        )

    def say(self, text: str, manner: VoiceSettings | None = None, wishes: SpeechOptions | None = None) -> Spoken:
        return Spoken(np.concatenate(list(self.stream(text, manner, wishes))), self.rate)

    def clone(self, recording: str | Path | bytes, text: str | None = None) -> Clone:
        """A voice from a recording; with `text`, what is said in it, it is imitated and not only resembled."""
        return self.voice.clone(self._recorded(recording), text)

    def save_voice(self, name: str, recording: str | Path | bytes, text: str | None = None, *,
                   replace: bool = False) -> SavedVoice:  # fmt: skip
        """Clone a voice and keep it under a name."""
        if self.voices.has(name) and not replace:
            raise BadRequest(
                f"There is a voice called {name} already. Choose another name, or delete it first.", "name"
            )
        samples = self._recorded(recording)
        return self.voices.save(name, self.name, self.voice.clone(samples, text), samples, self.rate, replace=replace)

    def _recorded(self, recording: str | Path | bytes) -> np.ndarray:
        return read_sound(recording, self.rate).samples

    def close(self) -> None:
        self.engine.close()

    def __enter__(self) -> Speaker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
