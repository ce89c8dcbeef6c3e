"""A text of any length as one sound: spoken passage by passage in a steady voice, joined without clicks.

The first sound comes with the first passage's first frames. Later passages are made ahead, several at a time, because
voices share steps; each is heard only when it is whole, so that a bad take is never heard.
"""

from __future__ import annotations

import copy
import secrets
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from engine.errors import BadRequest
from engine.media.stretch import Stretch
from engine.pipelines.speaking.leash import Leash
from engine.pipelines.speaking.passages import Passage, passages
from engine.pipelines.speaking.speakers import Voice
from engine.pipelines.speaking.spelling import in_words, plain
from engine.pipelines.speaking.voice import Manner

LONGEST = 1_000_000  # characters: a thick book
TOGETHER = 3  # passages that are made at once
_FADE = 0.005  # seconds at both ends of a passage
_QUIET = 0.004  # of full scale: what counts as silence before a passage's first word
_LEAD = 0.06  # seconds of it that stay
_STEP = 0.02  # of full scale: more at once, out of silence, is heard as a click


@dataclass(frozen=True)
class Wishes:
    """How a text is read. `spell`: numbers and dates become words first; `markdown`: its marks are not read."""

    speed: float = 1.0
    seed: int | None = None
    temperature: float | None = None
    spell: bool = False
    markdown: bool = False


def tell(voice: Voice, text: str, manner: Manner, wishes: Wishes = Wishes(), *,
         progress: Callable[[int, int], None] = lambda done, total: None,
         leash: Leash | None = None) -> Iterator[np.ndarray]:  # fmt: skip
    """Samples at `voice.rate`, as they are made. What cannot be is raised before the first. Closing the iterator stops
    everything, and so does cutting `leash`, from any thread; `progress` is told how many characters of how many have
    been spoken."""
    parts = prepared(text, manner, wishes)
    voice.check(manner)
    stretch = Stretch(wishes.speed, voice.rate)
    held = copy.copy(voice)
    held.engine = leash = leash or Leash(voice.engine)
    return _told(held, leash, parts, manner, wishes, stretch, progress)


def prepared(text: str, manner: Manner, wishes: Wishes) -> list[Passage]:
    if len(text) > LONGEST:
        raise BadRequest(f"The text has {len(text)} characters; the most is {LONGEST}.", "input")
    if wishes.markdown:
        text = plain(text)
    if wishes.spell:
        text = in_words(text, manner.language)
    parts = passages(text)
    if not parts:
        raise BadRequest("There is nothing to say: the text is empty.", "input")
    return parts


def _told(voice: Voice, leash: Leash, parts: list[Passage], manner: Manner, wishes: Wishes, stretch: Stretch,
          progress: Callable[[int, int], None]) -> Iterator[np.ndarray]:  # fmt: skip
    seed = secrets.randbits(31) if wishes.seed is None else wishes.seed
    total, done = sum(len(part.text) for part in parts), 0

    def whole(part: Passage) -> np.ndarray:
        chunks = voice.speak(part.text, manner, seed=seed, temperature=wishes.temperature, patient=True)
        made = list(chunks)
        return np.concatenate(made) if made else np.zeros(0, np.float32)

    with ThreadPoolExecutor(TOGETHER, thread_name_prefix="grus-voice") as pool:
        waiting: deque[Future[np.ndarray]] = deque()
        rest = iter(parts[1:])
        try:
            first = voice.speak(parts[0].text, manner, seed=seed, temperature=wishes.temperature,
                                patient=False)  # fmt: skip
            for chunk in _softened(first, voice.rate):
                if not waiting:  # the first sound goes before everything else
                    waiting.extend(pool.submit(whole, part) for part in _some(rest, TOGETHER))
                yield stretch.push(chunk)
            for i, part in enumerate(parts):
                if i:
                    made = waiting.popleft().result()
                    waiting.extend(pool.submit(whole, following) for following in _some(rest, 1))
                    for chunk in _softened(iter([made]), voice.rate):
                        yield stretch.push(chunk)
                elif not waiting:
                    waiting.extend(pool.submit(whole, following) for following in _some(rest, TOGETHER))
                done += len(part.text)
                progress(done, total)
                if part.pause:
                    yield stretch.push(np.zeros(int(part.pause * voice.rate), np.float32))
            yield stretch.finish()
        finally:
            leash.cut()
            for future in waiting:
                future.cancel()


def _some(rest: Iterator[Passage], count: int) -> Iterator[Passage]:
    for _ in range(count):
        part = next(rest, None)
        if part is None:
            return
        yield part


def _softened(chunks: Iterator[np.ndarray], rate: int) -> Iterator[np.ndarray]:
    """Without the silence before its first word, faded in and out: the last moment of each chunk is held back, because it
    may be the end."""
    fade = int(_FADE * rate)
    rise = np.linspace(0.0, 1.0, fade, dtype=np.float32)
    begun, held = False, np.zeros(0, np.float32)
    for chunk in chunks:
        held = np.concatenate((held, chunk))
        if not begun:
            loud = np.flatnonzero(np.abs(held) > _QUIET)
            if not len(loud):
                continue
            start = max(0, int(loud[0]) - int(_LEAD * rate))
            onset = int(loud[0]) - start
            if len(held) - start < onset + 2 * fade:
                continue
            held = held[start:].copy()
            # a sound that sets in at once, out of silence, is faded where it does; else what is cut here
            rises = slice(onset, onset + fade) if abs(held[onset]) > _STEP else slice(0, fade)
            held[rises] *= rise
            begun = True
        if len(held) > fade:
            yield held[:-fade]
            held = held[-fade:]
    if len(held):
        last = held.copy()
        count = min(fade, len(last))
        last[-count:] *= rise[::-1][-count:]
        yield last
