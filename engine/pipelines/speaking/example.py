"""A voice that is only described is another one in every passage, unless the passages go on from what it said first.

Presets and recordings are the same voice whatever they say; of a description a model makes a voice anew each time. What was
said first then stands before every other passage, as if the voice had just spoken it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from engine.pipelines.speaking.guard import FRAME_RATE
from engine.pipelines.speaking.voice import Manner, Spoken

if TYPE_CHECKING:
    from engine.pipelines.speaking.speakers import Voice

_EXAMPLE_FRAMES = 3 * FRAME_RATE  # frames that show what a voice is like: a title alone would not


class Example:
    """Belongs to one voice that is described once: to a telling, or to all answers of a conversation."""

    def __init__(self, voice: Voice, manner: Manner) -> None:
        self.needed = voice.improvises(manner)
        self._said: Spoken | None = None

    @property
    def enough(self) -> bool:
        """May passages be made that do not know of each other?"""
        return not self.needed or (self._said is not None and len(self._said.codes) >= _EXAMPLE_FRAMES)

    def followed(self, manner: Manner) -> Manner:
        """For the next passage."""
        return replace(manner, after=self._said) if self._said is not None else manner

    def add(self, text: str, codes: np.ndarray) -> None:
        """A passage that was spoken to its end, behind those before it."""
        if self.enough or not len(codes):
            return
        if (before := self._said) is not None:
            text, codes = f"{before.text} {text}", np.concatenate((before.codes, codes))
        self._said = Spoken(text, codes)
