"""Where somebody speaks in a sound, for Python and for the command line. Its model comes with Grus."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import numpy as np

from app.sdk.opening import open_engine
from engine.errors import BadRequest
from engine.loading import LoadOptions
from engine.media.sound import from_array, read_sound
from engine.models.moonshine import SAMPLE_RATE
from engine.pipelines.listening.voice_activity import VOICE_ACTIVITY, Speech, speech_in, speech_rules


class VoiceActivity:
    """The model with an engine of its own. Close it, or use it in a `with` block."""

    def __init__(self, options: LoadOptions | None = None, profile: Path | None = None) -> None:
        """`profile`: where a Chrome trace of everything the engine did is written at the end."""
        self.engine, _ = open_engine(VOICE_ACTIVITY, options, None, profile)

    def find(
        self,
        sound: str | Path | bytes | np.ndarray,
        *,
        rate: int | None = None,
        threshold: float | None = None,
        min_speech_seconds: float | None = None,
        min_silence_seconds: float | None = None,
        pad_seconds: float | None = None,
    ) -> Speech:
        """In a file, in a file's bytes, or in samples (then with their `rate`). `threshold`: how sure the model must be."""
        rules = speech_rules(threshold, min_speech_seconds, min_silence_seconds, pad_seconds)
        if isinstance(sound, np.ndarray):
            if rate is None:
                raise BadRequest("Samples need their rate.", "rate")
            audio = from_array(sound, rate, SAMPLE_RATE)
        else:
            audio = read_sound(sound, SAMPLE_RATE)
        return speech_in(self.engine, audio, rules)

    def close(self) -> None:
        self.engine.close()

    def __enter__(self) -> VoiceActivity:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
