"""Makes `a-passage-joined.wav`: tones in place of a voice, joined as the passages of a long text are.

    python docs/sounds/joining.py

The tones are cut off hard at both ends and have silence before them, which is how a model's passages come. No model is
involved; the sound shows what is done to a voice's passages, not how a voice sounds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.media.sound import write_file  # noqa: E402
from engine.pipelines.speaking.speech import SpeechOptions, speak_long_form  # noqa: E402
from engine.pipelines.speaking.voice import MODEL_DEFAULTS, Clone, OnCodes, SpeechSampling, VoiceSettings  # noqa: E402

RATE = 24000
CHORDS = {"One": (220, 277, 330), "Two": (247, 311, 370), "Three": (220, 277, 440)}
PASSAGES = "One.\n\nTwo.\n\nThree."


class NoEngine:
    """Tones need none."""

    def submit(self, request: object) -> object:
        raise NotImplementedError

    task = submit


class Tones:
    """In the place of a model."""

    rate = RATE
    presets = ("tones",)
    clones = False
    token_rate = 12.5
    engine = NoEngine()

    def check(self, settings: VoiceSettings) -> None:
        """Any settings will do."""

    def needs_example(self, settings: VoiceSettings) -> bool:
        return False

    def speak(self, text: str, settings: VoiceSettings, *, seed: int | None = None,
              sampling: SpeechSampling = MODEL_DEFAULTS, patient: bool = False,
              said: OnCodes | None = None) -> Iterator[np.ndarray]:  # fmt: skip
        t = np.arange(int(0.45 * RATE)) / RATE
        chord = sum(np.cos(2 * np.pi * tone * t) for tone in CHORDS[text.strip(".")])
        yield np.zeros(RATE // 5, np.float32)
        yield (0.15 * np.asarray(chord)).astype(np.float32)

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        raise NotImplementedError


if __name__ == "__main__":
    target = Path(__file__).parent / "a-passage-joined.wav"
    write_file(target, speak_long_form(Tones(), PASSAGES, VoiceSettings(), SpeechOptions()), RATE, "wav")
