"""A text of any length as one sound: spoken passage by passage, in one voice and as loud throughout, joined without clicks.

The first sound comes with the first passage's first frames. Later passages are made ahead, several at a time, because
voices share steps; each is heard only when it is whole, so that a bad take is never heard.
"""

from __future__ import annotations

import copy
import secrets
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from engine.cancel import CancelScope
from engine.errors import BadRequest
from engine.media.stretch import Stretch
from engine.pipelines.speaking.example import Example
from engine.pipelines.speaking.joins import Joints
from engine.pipelines.speaking.level import Level
from engine.pipelines.speaking.passages import Passage, passages
from engine.pipelines.speaking.speakers import Voice
from engine.pipelines.speaking.spelling import in_words, plain
from engine.pipelines.speaking.voice import Manner, SpeechSampling

LONGEST = 1_000_000  # characters: a thick book
TOGETHER = 3  # passages that are made at once


@dataclass(frozen=True)
class Wishes:
    """How a text is read. `spell`: numbers and dates become words first; `markdown`: its marks are not read."""

    speed: float = 1.0
    seed: int | None = None
    temperature: float | None = None
    spell: bool = False
    markdown: bool = False
    top_p: float | None = None
    repetition_penalty: float | None = None
    max_tokens: int | None = None  # of the whole sound

    @property
    def sampling(self) -> SpeechSampling:
        return SpeechSampling(self.temperature, self.top_p, self.repetition_penalty, self.max_tokens)


def tell(voice: Voice, text: str, manner: Manner, wishes: Wishes = Wishes(), *,
         progress: Callable[[int, int], None] = lambda done, total: None,
         scope: CancelScope | None = None, example: Example | None = None) -> Iterator[np.ndarray]:  # fmt: skip
    """Samples at `voice.rate`, as they are made. What cannot be is raised before the first. Closing the iterator stops
    everything, and so does cancelling `scope`, from any thread; `progress` is told how many characters of how many have
    been spoken. `example`: of the voice, where it has spoken before and is to stay the same."""
    parts = prepared(text, manner, wishes)
    voice.check(manner)
    stretch = Stretch(wishes.speed, voice.rate)
    held = copy.copy(voice)
    held.engine = scope = scope or CancelScope.over(voice.engine)
    sound = _told(held, scope, parts, manner, wishes, stretch, progress, example or Example(voice, manner))
    if wishes.max_tokens is None:
        return sound
    return _limited(sound, int(wishes.max_tokens / voice.token_rate * voice.rate / wishes.speed))


def _limited(sound: Generator[np.ndarray, None, None], most: int) -> Iterator[np.ndarray]:
    """The first `most` samples. What would follow is not made."""
    left = most
    with closing(sound):
        for chunk in sound:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                return


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


def _told(voice: Voice, scope: CancelScope, parts: list[Passage], manner: Manner, wishes: Wishes, stretch: Stretch,
          progress: Callable[[int, int], None],
          example: Example) -> Generator[np.ndarray, None, None]:  # fmt: skip
    seed = secrets.randbits(31) if wishes.seed is None else wishes.seed
    total, done = sum(len(part.text) for part in parts), 0
    joints, level = Joints(voice.rate), Level(voice.rate)

    def begun(part: Passage, patient: bool) -> Iterator[np.ndarray]:
        said = partial(example.add, part.text) if example.needed else None
        return voice.speak(part.text, example.followed(manner), seed=seed, sampling=wishes.sampling,
                           patient=patient, said=said)  # fmt: skip

    def whole(part: Passage) -> np.ndarray:
        made = list(begun(part, True))
        return np.concatenate(made) if made else np.zeros(0, np.float32)

    with ThreadPoolExecutor(TOGETHER, thread_name_prefix="grus-voice") as pool:
        waiting: deque[Future[np.ndarray]] = deque()
        rest = iter(parts[1:])

        def look_ahead() -> None:
            room = (TOGETHER if example.enough else 1) - len(waiting)
            waiting.extend(pool.submit(whole, part) for part in islice(rest, max(0, room)))

        try:
            first = []
            for chunk in joints.passage(begun(parts[0], False)):
                if example.enough:  # the first sound goes before everything else
                    look_ahead()
                first.append(chunk)
                yield stretch.push(chunk)
            level.heard(np.concatenate(first) if first else np.zeros(0, np.float32))
            for i, part in enumerate(parts):
                if i:
                    made = level.matched(waiting.popleft().result())
                    look_ahead()
                    for chunk in joints.passage([made]):
                        yield stretch.push(chunk)
                else:
                    look_ahead()
                done += len(part.text)
                progress(done, total)
                joints.pause(part.pause)
            yield stretch.finish()
        finally:
            scope.cancel()
            for future in waiting:
                future.cancel()
