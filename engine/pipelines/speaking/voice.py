"""Who speaks, in the words of the app: a preset of the model, a voice cloned from a recording, or a description.

Plain data that can be saved: no array of a device, no path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Said = Callable[[np.ndarray], None]  # is given frames, [frames, groups]


@dataclass(frozen=True)
class SpeechSampling:
    """Sampling parameters of speech. None: as the model's authors say. `max_tokens` bounds one call of `speak`."""

    temperature: float | None = None
    top_p: float | None = None
    repetition_penalty: float | None = None
    max_tokens: int | None = None

    @property
    def given(self) -> dict[str, Any]:
        """What was asked for, by the names of `engine.types.SamplingParams`, without the bound."""
        asked = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "repetition_penalty": self.repetition_penalty,
        }
        return {name: value for name, value in asked.items() if value is not None}

    def most(self, usual: int) -> int:
        """Tokens of one passage, where `usual` is enough for its text."""
        return usual if self.max_tokens is None else min(usual, self.max_tokens)


MODEL_DEFAULTS = SpeechSampling()


@dataclass(frozen=True, eq=False)
class Clone:
    """A voice taken from a recording.

    With `codes` and `text` the model hears the recording itself and goes on in its manner; with the vector alone it only
    knows the voice's colour.
    """

    vector: np.ndarray  # [D] f32: what the speaker encoder says (of Spark-TTS: a voice's tokens, whole numbers)
    codes: np.ndarray | None = None  # [frames, groups]
    text: str | None = None  # what is said in them

    @property
    def heard(self) -> bool:
        return self.codes is not None


@dataclass(frozen=True, eq=False)
class Spoken:
    """What a voice has said itself, whole."""

    text: str
    codes: np.ndarray  # [frames, groups]


@dataclass(frozen=True, eq=False)
class Manner:
    """How something is to be spoken."""

    preset: str | None = None  # a voice that the model knows by name
    clone: Clone | None = None
    instructions: str | None = None  # "cheerful, a bit hoarse": what a voice is like, or how it speaks
    language: str = "auto"  # a name or an ISO code
    after: Spoken | None = None  # a voice that is only described goes on from this, and stays the same voice
