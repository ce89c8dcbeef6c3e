"""Speech synthesis of one passage: token frames to samples, with a silence gate, a repetition guard and retries.

A take is a generator of samples whose return value is its `End`. A take that runs away (endless silence, a repetition
loop, far more frames than the text needs) is retried with another seed while none of it has been played. What an event's
frames are, and how the codec renders them, the caller passes in.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from itertools import chain, repeat
from typing import Any, Literal

import numpy as np

from engine.errors import SpeechRanAway
from engine.tasks import Task
from engine.types import Done, Event, Failed, RequestHandle

FRAME_RATE = 12.5
GRACE = 5 * FRAME_RATE  # frames in addition to those that the text needs
FRAMES_PER_CHARACTER = {"letter": 3.0, "sign": 8.0, "digit": 10.0, "other": 3.0}  # at a very slow speaking rate

LOOP = 4  # frames of the longest repeated pattern that is detected
LOOP_LASTS = 38  # frames, three seconds: long vowels and pauses repeat too

AUDIBLE = 0.003  # root mean square of a block of samples, about -50 dB
BLOCK = 1920
LONGEST_PAUSE = 4.0  # seconds
TAIL = 0.25  # seconds of silence kept at the end


def max_frames(text: str) -> int:
    """The largest number of frames that a text can need."""
    return int(GRACE + sum(FRAMES_PER_CHARACTER[_kind(character)] for character in text))


def _kind(character: str) -> str:
    if character.isdigit():
        return "digit"
    if not character.isalpha():
        return "other"
    syllables = unicodedata.name(character, "").startswith(("CJK", "HANGUL", "HIRAGANA", "KATAKANA"))
    return "sign" if syllables else "letter"


class RepetitionGuard:
    """Detects a pattern of at most `period` frames that repeats for `lasts` frames."""

    def __init__(self, period: int = LOOP, lasts: int = LOOP_LASTS) -> None:
        self._period, self._lasts = period, lasts
        self._seen: list[bytes] = []
        self._run = [0] * (period + 1)  # by period: consecutive frames equal to the one `period` frames earlier

    def add(self, frame: np.ndarray) -> bool:
        """True once the frames repeat."""
        code = frame.tobytes()
        for period in range(1, self._period + 1):
            same = len(self._seen) >= period and self._seen[-period] == code
            self._run[period] = self._run[period] + 1 if same else 0
        self._seen = [*self._seen[-self._period :], code]
        return max(self._run) >= self._lasts


class SilenceGate:
    """Holds silence back until sound follows it, so that endless silence is never played."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._held = np.zeros(0, np.float32)

    @property
    def seconds(self) -> float:
        """Length of the silence held back."""
        return len(self._held) / self._rate

    def push(self, samples: np.ndarray) -> np.ndarray:
        """The samples that can be played now."""
        end = 0
        for start in range(0, len(samples), BLOCK):
            block = samples[start : start + BLOCK]
            if float(np.sqrt(np.mean(block * block))) > AUDIBLE:
                end = start + len(block)
        if not end:
            self._held = np.concatenate((self._held, samples))
            return samples[:0]
        ready = np.concatenate((self._held, samples[:end]))
        self._held = samples[end:]
        return ready

    def finish(self) -> np.ndarray:
        """The silence that the end keeps."""
        return self._held[: int(TAIL * self._rate)]


TRIES = 3
End = Literal["whole", "silent", "repeats", "long"]
Take = Generator[np.ndarray, None, End]
WHY = {
    "silent": "it fell silent",
    "repeats": "it repeated itself",
    "long": "it went on far longer than the text",
}


def stream_take(
    handle: RequestHandle,
    frames_of: Callable[[Event], Iterable[np.ndarray]],
    render: Callable[[list[np.ndarray], bool], Task[np.ndarray] | None],
    sizes: tuple[int, ...],
    rate: int,
    guard: RepetitionGuard,
    begun: Task[Any] | None = None,
) -> Take:
    """A running request's samples, chunk by chunk. Closing the generator cancels the request and the codec's task.

    `render(frames, last)` starts the codec on frames, or returns None if there is nothing to render. `sizes`: frames of the
    first chunks; the last number holds for all later ones. `begun`: a codec task that must end first.
    """
    gate, many = SilenceGate(rate), chain(sizes, repeat(sizes[-1]))
    waiting: list[np.ndarray] = []
    end: End | None = None
    size, running, any_frame = next(many), begun, False
    try:
        events = iter(handle)
        while end is None:
            event = next(events)
            if isinstance(event, Failed):
                raise event.error
            if isinstance(event, Done):
                if event.reason == "cancelled":
                    raise CancelledError
                end = "long" if event.reason == "length" else "whole"
            for frame in frames_of(event):
                any_frame = True
                waiting.append(frame)
                if guard.add(frame):
                    end = "repeats"
            over = end in ("whole", "long")
            if not over and len(waiting) < size:
                continue
            if running is not None:
                running.result()
            running = render(waiting, over)
            waiting, size = [], next(many)
            if running is None:
                continue
            chunk = gate.push(running.result())
            running = None
            if len(chunk):
                yield chunk
            elif gate.seconds > LONGEST_PAUSE:
                end = "silent"
        if end == "whole" and not any_frame:
            return "silent"  # no frame was generated
        if end in ("whole", "silent") and len(tail := gate.finish()):
            yield tail
        return end
    finally:
        handle.cancel()
        if running is not None:
            running.cancel()


def retry_takes(
    take: Callable[[int], Take], tries: int, buffered: bool, *, may_be_cut: bool = False
) -> Iterator[np.ndarray]:
    """The samples of the first take that ends well. `buffered`: they come only when the take is whole, so that a bad take is
    never played. `may_be_cut`: the caller set a limit below what the text needs, so reaching it is a good end."""
    end: End = "long"
    for attempt in range(tries):
        kept: list[np.ndarray] = []
        end = yield from _forward(take(attempt), kept, buffered)
        if end == "whole" or (end == "long" and may_be_cut) or (end == "silent" and kept and not buffered):
            if buffered:
                yield from kept
            return
        if kept and not buffered:
            break
    raise SpeechRanAway(f"The voice did not come to an end: {WHY[end]}. Try another seed, or a shorter text.")


def _forward(take: Take, kept: list[np.ndarray], buffered: bool) -> Generator[np.ndarray, None, End]:
    """Yield a take's chunks, or keep them if `buffered`. `kept` is empty if there were none."""
    try:
        while True:
            chunk = next(take)
            kept.append(chunk if buffered else chunk[:0])
            if not buffered:
                yield chunk
    except StopIteration as stop:
        end: End = stop.value
        return end
    finally:
        take.close()
