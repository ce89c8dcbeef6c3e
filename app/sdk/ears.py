"""A model that listens, for Python and for the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import cast

import numpy as np

from app.sdk.opening import open_engine
from engine.errors import BadRequest
from engine.loading import LoadedModel, LoadOptions
from engine.media.sound import from_array, read_sound
from engine.models.moonshine import SAMPLE_RATE
from engine.pipelines.listening.transcript import Transcript
from engine.pipelines.listening.transcription import Transcriber, asr_model
from engine.settings import Settings


class Ears:
    """A model that listens, with an engine of its own. Close it, or use it in a `with` block."""

    def __init__(self, name: str, options: LoadOptions | None = None, settings: Settings | None = None,
                 profile: Path | None = None) -> None:  # fmt: skip
        self.engine, loaded = open_engine(name, options, settings, profile)
        self.loaded = cast(LoadedModel, loaded[name])
        try:
            self.listener = Transcriber(self.engine, asr_model(name, loaded[name]))
        except BaseException:
            self.engine.close()
            raise

    def listen(
        self,
        sound: str | Path | bytes | np.ndarray,
        *,
        rate: int | None = None,
        language: str | None = None,
        words: bool = False,
        progress: Callable[[float], None] = lambda share: None,
    ) -> Transcript:
        """What is said in a file, in a file's bytes, or in samples (then with their `rate`)."""
        if isinstance(sound, np.ndarray):
            if rate is None:
                raise BadRequest("Samples need their rate.", "rate")
            audio = from_array(sound, rate, SAMPLE_RATE)
        else:
            audio = read_sound(sound, SAMPLE_RATE)
        return self.listener.listen(audio, language=language, words=words, progress=progress)

    def close(self) -> None:
        self.engine.close()

    def __enter__(self) -> Ears:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
