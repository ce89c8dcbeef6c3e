"""Takes of a voice: one that runs away is started again with another seed, where nothing of it has been heard.

A take is a generator of samples whose return value says how it ended. Knows no model.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Literal

import numpy as np

from engine.errors import SpeechRanAway

TRIES = 3
End = Literal["whole", "silent", "repeats", "long"]
Take = Generator[np.ndarray, None, End]
WHY = {
    "silent": "it fell silent",
    "repeats": "it repeated itself",
    "long": "it went on far longer than the text",
}


def spoken(take: Callable[[int], Take], tries: int, patient: bool) -> Iterator[np.ndarray]:
    """The first take that ends well. `patient`: its sound comes all at once, so that a bad take is never heard."""
    end: End = "long"
    for attempt in range(tries):
        kept: list[np.ndarray] = []
        end = yield from _given(take(attempt), kept, patient)
        if end == "whole" or (end == "silent" and kept and not patient):
            if patient:
                yield from kept
            return
        if kept and not patient:
            break
    raise SpeechRanAway(f"The voice did not come to an end: {WHY[end]}. Try another seed, or a shorter text.")


def _given(voice: Take, kept: list[np.ndarray], patient: bool) -> Generator[np.ndarray, None, End]:
    """Hand a voice's sound on, or keep it until its end is known. `kept` tells whether there was any."""
    try:
        while True:
            chunk = next(voice)
            kept.append(chunk if patient else chunk[:0])
            if not patient:
                yield chunk
    except StopIteration as stop:
        end: End = stop.value
        return end
    finally:
        voice.close()
