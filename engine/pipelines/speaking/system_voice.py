"""The operating system's own voices as a speech model: they need no download, and every passage is spoken by the system's program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from engine.errors import BadRequest, ErrorText
from engine.media import system_speech
from engine.pipelines.speaking.speech import FRAME_RATE
from engine.pipelines.speaking.voice import MODEL_DEFAULTS, Clone, OnCodes, SpeechSampling, VoiceSettings
from engine.tasks import CancelScope, EngineLike

_NAMES = {
    "arabic": "ar", "chinese": "cmn", "czech": "cs", "danish": "da", "dutch": "nl", "english": "en", "finnish": "fi",
    "french": "fr", "german": "de", "greek": "el", "hindi": "hi", "hungarian": "hu", "italian": "it", "japanese": "ja",
    "korean": "ko", "norwegian": "nb", "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru",
    "spanish": "es", "swedish": "sv", "turkish": "tr", "ukrainian": "uk", "vietnamese": "vi", "zh": "cmn", "no": "nb",
}  # fmt: skip


def spoken_languages() -> tuple[str, ...]:
    """The names of the languages that the system has a voice for."""
    known = {voice.language.lower().partition("-")[0] for voice in system_speech.voices()}
    return tuple(name for name, code in _NAMES.items() if code in known and len(name) > 2)


class SystemVoice:
    """Implements `speech_models.SpeechModel`."""

    rate = system_speech.RATE
    token_rate = FRAME_RATE  # it has no tokens; a limit in tokens is one of so many parts of a second
    clones = False

    def __init__(self, engine: EngineLike) -> None:
        self.engine = engine

    @property
    def presets(self) -> Sequence[str]:
        return [voice.name for voice in system_speech.voices()]

    def check(self, settings: VoiceSettings) -> None:
        if settings.clone is not None:
            raise BadRequest(
                ErrorText("The system's voices clone none. Choose a Qwen3-TTS Base model to clone."), "voice"
            )
        if settings.instructions is not None:
            raise BadRequest(ErrorText("The system's voices take no instructions."), "instructions")
        if settings.preset is not None and settings.preset not in self.presets:
            raise BadRequest(
                ErrorText(
                    "The system has no voice {name}. It has: {voices}.",
                    name=repr(settings.preset),
                    voices=", ".join(self.presets),
                ),
                "voice",
            )
        self._voice(settings)

    def _voice(self, settings: VoiceSettings) -> str | None:
        """The voice that was named, else the first of the language; None: the system's choice."""
        if settings.preset is not None or settings.language in ("auto", ""):
            return settings.preset
        asked = settings.language.lower().replace("_", "-")
        code = _NAMES.get(asked, asked)
        known = [(voice.language.lower(), voice.name) for voice in system_speech.voices()]
        same = [name for language, name in known if language == code]
        near = [name for language, name in known if language.partition("-")[0] == code.partition("-")[0]]
        if not (same or near):
            raise BadRequest(
                ErrorText("The system has no voice that speaks {language}.", language=repr(settings.language)),
                "language",
            )
        return (same or near)[0]

    def needs_example(self, settings: VoiceSettings) -> bool:
        return False

    def speak(self, text: str, settings: VoiceSettings, *, seed: int | None = None,
              sampling: SpeechSampling = MODEL_DEFAULTS, buffered: bool = False,
              on_codes: OnCodes | None = None) -> Iterator[np.ndarray]:  # fmt: skip
        if not text.strip():
            raise BadRequest(ErrorText("There is no text to speak."), "input")
        for samples in system_speech.spoken(text, self._voice(settings)):
            if isinstance(self.engine, CancelScope) and self.engine.is_cancelled:
                return
            yield samples

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        raise BadRequest(ErrorText("The system's voices clone none. Choose a Qwen3-TTS Base model to clone."), "voice")
