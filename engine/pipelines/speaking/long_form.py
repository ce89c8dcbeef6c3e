"""Long-form synthesis: a text of any length spoken passage by passage, in one voice and at one loudness.

`speak_long_form` streams the first passage as it is generated and synthesizes later passages ahead, several at a time in
one batch. `PassageJoiner` joins them without clicks, `LoudnessMatcher` levels them, and `VoiceExample` keeps a voice the same
that is only described. `SpeechQueue` speaks the sentences of a conversation.
"""

from __future__ import annotations

import copy
import secrets
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np

from engine.errors import BadRequest
from engine.media.stretch import Stretch
from engine.pipelines.speaking.leash import Leash
from engine.pipelines.speaking.speech_models import SpeechModel
from engine.pipelines.speaking.synthesis import FRAME_RATE
from engine.pipelines.speaking.text import Passage, in_words, passages, plain
from engine.pipelines.speaking.voice import SpeechSampling, SpokenPassage, VoiceSettings

_FADE = 0.005  # seconds at both ends of a passage
_QUIET = 0.004  # of full scale: what counts as silence before a passage's first word and behind its last
_LEAD = 0.06  # seconds of silence that stay before the first word
_STEP = 0.02  # of full scale: more at once, out of silence, is heard as a click


class PassageJoiner:
    """Belongs to one telling: `passage` for each of its passages, `pause` between them."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._fade = int(_FADE * rate)
        self._rise = np.linspace(0.0, 1.0, self._fade, dtype=np.float32)
        self._quiet = 0  # samples of silence that what was given ends with
        self._owed = 0  # of them, what the next passage's first word is to have before it

    def pause(self, seconds: float) -> None:
        """Before the next passage's first word there are to be so many seconds of silence behind the last word."""
        self._owed = int(seconds * self._rate)

    def passage(self, chunks: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        """Faded in and out: the last moment of its sound, and the silence behind it, are held back, because that may be the
        end."""
        begun, held = False, np.zeros(0, np.float32)
        for chunk in chunks:
            held = np.concatenate((held, chunk))
            loud = _loud(held)
            if not begun:
                if not len(loud) or len(held) < int(loud[0]) + 2 * self._fade:
                    continue
                held, begun = self._begun(held, int(loud[0])), True
                loud = _loud(held)
            sure = (int(loud[-1]) + 1 if len(loud) else 0) - self._fade
            if sure > 0:
                yield self._given(held[:sure])
                held = held[sure:]
        if not begun and len(loud := _loud(held)):
            held = self._begun(held, int(loud[0]))
        if len(held):
            yield self._given(self._ended(held))

    def _begun(self, held: np.ndarray, first: int) -> np.ndarray:
        """With the pause before it that is owed, and no more silence than that before its first word."""
        start = max(0, first - int(_LEAD * self._rate))
        onset, sound = first - start, held[start:].copy()
        # a sound that sets in at once, out of silence, is faded where it does; else what is cut here
        at = onset if abs(sound[onset]) > _STEP else 0
        count = min(self._fade, len(sound) - at)
        sound[at : at + count] *= self._rise[:count]
        missing, self._owed = max(0, self._owed - self._quiet - onset), 0
        return np.concatenate((np.zeros(missing, np.float32), sound))

    def _ended(self, held: np.ndarray) -> np.ndarray:
        loud, sound = _loud(held), held.copy()
        last = int(loud[-1]) + 1 if len(loud) else len(sound)
        # a sound that ends at once is faded where it does; else where its last silence ends
        end = last if abs(sound[last - 1]) > _STEP else len(sound)
        count = min(self._fade, end)
        sound[end - count : end] *= self._rise[::-1][-count:]
        return sound

    def _given(self, samples: np.ndarray) -> np.ndarray:
        loud = _loud(samples)
        self._quiet = len(samples) - 1 - int(loud[-1]) if len(loud) else self._quiet + len(samples)
        return samples


def _loud(samples: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.abs(samples) > _QUIET)


_BLOCK = 0.05  # seconds of one measurement
_SPOKEN = 0.1  # of the loudest block: what is quieter is a pause and no speech
_ENOUGH = 3.0  # seconds of speech that say how loud a telling is: a title alone would not
MOST = 2.0  # times louder or quieter, at most: 6 dB. More is meant so
_CEILING = 0.98  # of full scale, for what is made louder


def power(samples: np.ndarray, rate: int) -> tuple[float, float]:
    """The mean square of what is speech in it, and how many seconds of it are speech."""
    size = int(_BLOCK * rate)
    whole = samples[: len(samples) // size * size].astype(np.float64).reshape(-1, size)
    blocks = (whole * whole).mean(1) if len(whole) else np.zeros(1)
    speech = blocks[blocks > _SPOKEN**2 * blocks.max()]
    return (float(speech.mean()), len(speech) * _BLOCK) if len(speech) else (0.0, 0.0)


class LoudnessMatcher:
    """Belongs to one telling."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._power, self._seconds = 0.0, 0.0  # of the speech that says how loud the telling is

    def heard(self, samples: np.ndarray) -> None:
        """A passage as it was heard, whole: the first one, which was not known before."""
        self._learn(*power(samples, self._rate))

    def matched(self, samples: np.ndarray) -> np.ndarray:
        """A passage as loud as the others."""
        own, seconds = power(samples, self._rate)
        if self._seconds < _ENOUGH:
            self._learn(own, seconds)
        if own <= 0.0 or self._power <= 0.0:
            return samples
        gain = float(np.clip(np.sqrt(self._power / own), 1 / MOST, MOST))
        if gain > 1.0:
            gain = max(1.0, min(gain, _CEILING / float(np.abs(samples).max())))
        return samples * np.float32(gain)

    def _learn(self, own: float, seconds: float) -> None:
        total = self._seconds + seconds
        if total > 0.0:
            self._power = (self._power * self._seconds + own * seconds) / total
            self._seconds = total


_EXAMPLE_FRAMES = 3 * FRAME_RATE  # frames that show what a voice is like: a title alone would not


class VoiceExample:
    """Belongs to one voice that is described once: to a telling, or to all answers of a conversation."""

    def __init__(self, voice: SpeechModel, manner: VoiceSettings) -> None:
        self.needed = voice.improvises(manner)
        self._said: SpokenPassage | None = None

    @property
    def enough(self) -> bool:
        """May passages be made that do not know of each other?"""
        return not self.needed or (self._said is not None and len(self._said.codes) >= _EXAMPLE_FRAMES)

    def followed(self, manner: VoiceSettings) -> VoiceSettings:
        """For the next passage."""
        return replace(manner, after=self._said) if self._said is not None else manner

    def add(self, text: str, codes: np.ndarray) -> None:
        """A passage that was spoken to its end, behind those before it."""
        if self.enough or not len(codes):
            return
        if (before := self._said) is not None:
            text, codes = f"{before.text} {text}", np.concatenate((before.codes, codes))
        self._said = SpokenPassage(text, codes)


LONGEST = 1_000_000  # characters: a thick book
TOGETHER = 3  # passages that are made at once


@dataclass(frozen=True)
class SpeechOptions:
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


def speak_long_form(voice: SpeechModel, text: str, manner: VoiceSettings, wishes: SpeechOptions = SpeechOptions(), *,
         progress: Callable[[int, int], None] = lambda done, total: None,
         leash: Leash | None = None, example: VoiceExample | None = None) -> Iterator[np.ndarray]:  # fmt: skip
    """Samples at `voice.rate`, as they are made. What cannot be is raised before the first. Closing the iterator stops
    everything, and so does cutting `leash`, from any thread; `progress` is told how many characters of how many have
    been spoken. `example`: of the voice, where it has spoken before and is to stay the same."""
    parts = prepared(text, manner, wishes)
    voice.check(manner)
    stretch = Stretch(wishes.speed, voice.rate)
    held = copy.copy(voice)
    held.engine = leash = leash or Leash(voice.engine)
    sound = _told(held, leash, parts, manner, wishes, stretch, progress, example or VoiceExample(voice, manner))
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


def prepared(text: str, manner: VoiceSettings, wishes: SpeechOptions) -> list[Passage]:
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


def _told(voice: SpeechModel, leash: Leash, parts: list[Passage], manner: VoiceSettings, wishes: SpeechOptions, stretch: Stretch,
          progress: Callable[[int, int], None],
          example: VoiceExample) -> Generator[np.ndarray, None, None]:  # fmt: skip
    seed = secrets.randbits(31) if wishes.seed is None else wishes.seed
    total, done = sum(len(part.text) for part in parts), 0
    joints, level = PassageJoiner(voice.rate), LoudnessMatcher(voice.rate)

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
            leash.cut()
            for future in waiting:
                future.cancel()


class SpeechQueue:
    """Called with a sentence, gives its samples at `rate` as they are made."""

    def __init__(self, voice: SpeechModel, manner: VoiceSettings, wishes: SpeechOptions | None = None) -> None:
        """Raises BadRequest for a manner that the voice does not have."""
        voice.check(manner)
        wishes = wishes or SpeechOptions()
        # a seed for all sentences: a voice that is made of words stays the same voice
        seed = secrets.randbits(31) if wishes.seed is None else wishes.seed
        self._voice, self._manner = voice, manner
        self._wishes = replace(wishes, seed=seed, markdown=True)
        self._example = VoiceExample(voice, manner)
        self._leash: Leash | None = None

    @property
    def rate(self) -> int:
        return self._voice.rate

    def __call__(self, sentence: str) -> Iterator[np.ndarray]:
        if not any(sign.isalnum() for sign in sentence):  # a line of dashes, the end of a code block
            return
        self._leash = leash = Leash(self._voice.engine)
        try:
            yield from speak_long_form(self._voice, sentence, self._manner, self._wishes, leash=leash,
                            example=self._example)  # fmt: skip
        except CancelledError:
            return

    def stop(self) -> None:
        """End the sentence that is being made, at once, from any thread."""
        if (leash := self._leash) is not None:
            leash.cut()
