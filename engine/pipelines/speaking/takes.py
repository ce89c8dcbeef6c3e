"""Takes of a voice: a request's frames as sound, and another take where one ran away before anything of it was heard.

A take is a generator of samples whose return value says how it ended. Knows no model: what an event's frames are, and how
a codec makes sound of them, it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from itertools import chain, repeat
from typing import Any, Literal

import numpy as np

from engine.errors import SpeechRanAway
from engine.pipelines.speaking.guard import LONGEST_PAUSE, Hush, Loops
from engine.tasks import Task
from engine.types import Done, Event, Failed, RequestHandle

TRIES = 3
End = Literal["whole", "silent", "repeats", "long"]
Take = Generator[np.ndarray, None, End]
WHY = {
    "silent": "it fell silent",
    "repeats": "it repeated itself",
    "long": "it went on far longer than the text",
}


def heard(
    handle: RequestHandle,
    frames_of: Callable[[Event], Iterable[np.ndarray]],
    render: Callable[[list[np.ndarray], bool], Task[np.ndarray] | None],
    sizes: tuple[int, ...],
    rate: int,
    loops: Loops,
    begun: Task[Any] | None = None,
) -> Take:
    """A running request's sound, chunk by chunk. Closing the generator cancels the request and what the codec does.

    `render` begins to make sound of frames and says with True that they are the last; None: there is nothing to make.
    `sizes`: frames of the first chunks, the last number for all that follow. `begun`: what the codec does before.
    """
    hush, many = Hush(rate), chain(sizes, repeat(sizes[-1]))
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
                if loops.add(frame):
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
            chunk = hush.push(running.result())
            running = None
            if len(chunk):
                yield chunk
            elif hush.seconds > LONGEST_PAUSE:
                end = "silent"
        if end == "whole" and not any_frame:
            return "silent"  # it ended without a word
        if end in ("whole", "silent") and len(tail := hush.finish()):
            yield tail
        return end
    finally:
        handle.cancel()
        if running is not None:
            running.cancel()


def spoken(take: Callable[[int], Take], tries: int, patient: bool, *, may_be_cut: bool = False) -> Iterator[np.ndarray]:
    """The first take that ends well. `patient`: its sound comes all at once, so that a bad take is never heard.
    `may_be_cut`: the caller set a limit below what the text needs, so reaching it is a good end."""
    end: End = "long"
    for attempt in range(tries):
        kept: list[np.ndarray] = []
        end = yield from _given(take(attempt), kept, patient)
        if end == "whole" or (end == "long" and may_be_cut) or (end == "silent" and kept and not patient):
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
