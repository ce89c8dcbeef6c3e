"""Speech: text-to-speech models behind one interface, and a text of any length spoken in one voice and at one loudness.

`speak_long_form` streams the first passage as it is generated and synthesizes later passages ahead, several at a time in
one batch. `PassageJoiner` joins them without clicks, `LoudnessMatcher` levels them, and `VoiceExample` keeps a voice the same
that is only described. `SpeechQueue` speaks the sentences of a conversation.
"""

from __future__ import annotations

import copy
import secrets
import unicodedata
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, repeat
from typing import Any, Literal, Protocol

import numpy as np

from engine.errors import BadRequest, ErrorText, SpeechRanAway
from engine.media.stretch import Stretch
from engine.pipelines.speaking.pronunciation import NO_PRONUNCIATIONS, Pronunciations
from engine.pipelines.speaking.text import Passage, begun_soon, in_words, passages, plain
from engine.pipelines.speaking.voice import MODEL_DEFAULTS, Clone, OnCodes, SpeechSampling, SpokenPassage, VoiceSettings
from engine.tasks import CancelScope, EngineLike, Task
from engine.types import Done, Event, Failed, RequestHandle

# -- one passage: token frames to samples, with a silence gate, a repetition guard and retries
#
# A take is a generator of samples whose return value is its `End`. A take that runs away (endless silence, a repetition
# loop, far more frames than the text needs) is retried with another seed while none of it has been played. What an event's
# frames are, and how the codec renders them, the caller passes in.

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
    over: Callable[[], bool] = lambda: False,
) -> Take:
    """A running request's samples, chunk by chunk. Closing the generator cancels the request and the codec's task.

    `render(frames, last)` starts the codec on frames, or returns None if there is nothing to render. `sizes`: frames of the
    first chunks; the last number holds for all later ones. `begun`: a codec task that must end first. `over`: whether the frames so far are all that is wanted.
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
            if end is None and over():
                end = "whole"
            last = end in ("whole", "long")
            if not last and len(waiting) < size:
                continue
            if running is not None:
                running.result()
            running = render(waiting, last)
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


class SpeechModel(Protocol):
    """A text-to-speech model. Each architecture implements it in a module of its own."""

    engine: EngineLike

    @property
    def rate(self) -> int: ...
    @property
    def token_rate(self) -> float:
        """Tokens per second of sound, as `max_tokens` counts them."""

    @property
    def presets(self) -> Sequence[str]:
        """Names of the model's own voices."""

    @property
    def clones(self) -> bool:
        """True if the model clones voices from recordings."""

    def check(self, settings: VoiceSettings) -> None:
        """Raise BadRequest for settings that the model does not support."""

    def needs_example(self, settings: VoiceSettings) -> bool:
        """True if the voice differs from text to text unless `VoiceSettings.after` holds an earlier passage."""

    def speak(self, text: str, settings: VoiceSettings, *, seed: int | None = None,
              sampling: SpeechSampling = MODEL_DEFAULTS, buffered: bool = False,
              on_codes: OnCodes | None = None) -> Iterator[np.ndarray]:  # fmt: skip
        """Samples at `rate`, chunk by chunk. `buffered`: only once they are all generated, so that a bad take is never
        played. `on_codes` receives the frames of a text spoken to its end, if the voice needs an example."""

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        """A voice from mono samples at `rate` and their transcript."""


# -- long-form synthesis

LONGEST = 1_000_000  # characters of a text: a thick book
TOGETHER = 3  # passages that are synthesized at once


@dataclass(frozen=True)
class SpeechOptions:
    """How a text is spoken. `spell`: numbers and dates are written out in words first; `markdown`: Markdown marks are removed."""

    speed: float = 1.0
    seed: int | None = None
    temperature: float | None = None
    spell: bool = False
    markdown: bool = False
    top_p: float | None = None
    repetition_penalty: float | None = None
    max_tokens: int | None = None  # of the whole text
    pronunciations: Pronunciations = NO_PRONUNCIATIONS

    @property
    def sampling(self) -> SpeechSampling:
        return SpeechSampling(self.temperature, self.top_p, self.repetition_penalty, self.max_tokens)


def speak_long_form(model: SpeechModel, text: str, settings: VoiceSettings, options: SpeechOptions = SpeechOptions(), *,
                    progress: Callable[[int, int], None] = lambda done, total: None, scope: CancelScope | None = None,
                    example: VoiceExample | None = None) -> Iterator[np.ndarray]:  # fmt: skip
    """Samples at `model.rate`, chunk by chunk. Bad input raises before the first chunk. Closing the iterator cancels all
    work, and so does cancelling `scope` from any thread. `progress` receives the characters spoken and their total.
    `example`: what the voice said earlier in a conversation, so that it stays the same voice."""
    parts = prepare_text(text, settings, options)
    if getattr(model, "heard_whole", False):
        parts = begun_soon(parts)
    check_voice(model, settings, options)
    scoped, stretched = at_speed(model, options.speed)
    stretch = Stretch(stretched, model.rate)
    scoped.engine = scope = scope or CancelScope.over(model.engine)
    sound = _synthesize(
        scoped, scope, parts, settings, options, stretch, progress, example or VoiceExample(model, settings)
    )
    if options.max_tokens is None:
        return sound
    return _limited(sound, int(options.max_tokens / model.token_rate * model.rate / options.speed))


def check_voice(model: SpeechModel, settings: VoiceSettings, options: SpeechOptions) -> None:
    """Raise BadRequest for what the model does not support."""
    model.check(settings)
    options.pronunciations.check(getattr(model, "reads_phonemes", False))


def at_speed(model: SpeechModel, speed: float) -> tuple[SpeechModel, float]:
    """A copy of the model, and how much its sound must be stretched: 1 where it speaks faster or slower by itself."""
    scoped = copy.copy(model)
    if not hasattr(scoped, "speed"):
        return scoped, speed
    scoped.speed = speed
    return scoped, 1.0


def prepare_text(text: str, settings: VoiceSettings, options: SpeechOptions) -> list[Passage]:
    """The passages of a text, normalized as the options ask."""
    if len(text) > LONGEST:
        raise BadRequest(
            ErrorText("The text has {length} characters; the most is {most}.", length=len(text), most=LONGEST), "input"
        )
    if options.markdown:
        text = plain(text)
    text = options.pronunciations.applied(text)
    if options.spell:
        text = in_words(text, settings.language)
    parts = passages(text)
    if not parts:
        raise BadRequest(ErrorText("There is nothing to say: the text is empty."), "input")
    return parts


def _limited(sound: Generator[np.ndarray, None, None], count: int) -> Iterator[np.ndarray]:
    """The first `count` samples; the rest is not generated."""
    left = count
    with closing(sound):
        for chunk in sound:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                return


def _synthesize(model: SpeechModel, scope: CancelScope, parts: list[Passage], settings: VoiceSettings, options: SpeechOptions,
                stretch: Stretch, progress: Callable[[int, int], None],
                example: VoiceExample) -> Generator[np.ndarray, None, None]:  # fmt: skip
    seed = secrets.randbits(31) if options.seed is None else options.seed
    total, done = sum(len(part.text) for part in parts), 0
    joiner, loudness = PassageJoiner(model.rate), LoudnessMatcher(model.rate)
    batched = getattr(model, "batched", True)

    def begin(part: Passage, buffered: bool) -> Iterator[np.ndarray]:
        on_codes = partial(example.add, part.text) if example.needed else None
        return model.speak(part.text, example.applied(settings), seed=seed, sampling=options.sampling,
                           buffered=buffered, on_codes=on_codes)  # fmt: skip

    def whole(part: Passage) -> np.ndarray:
        made = list(begin(part, True))
        return np.concatenate(made) if made else np.zeros(0, np.float32)

    with ThreadPoolExecutor(TOGETHER, thread_name_prefix="grus-voice") as pool:
        waiting: deque[Future[np.ndarray]] = deque()
        rest = iter(parts[1:])

        def look_ahead() -> None:
            room = (TOGETHER if example.enough and batched else 1) - len(waiting)
            waiting.extend(pool.submit(whole, part) for part in islice(rest, max(0, room)))

        try:
            first = []
            for chunk in joiner.passage(begin(parts[0], False)):
                if example.enough and batched:  # later passages start only after the first chunk, for a low latency
                    look_ahead()
                first.append(chunk)
                yield stretch.push(chunk)
            loudness.learn(np.concatenate(first) if first else np.zeros(0, np.float32))
            for i, part in enumerate(parts):
                if i:
                    made = loudness.match(waiting.popleft().result())
                    look_ahead()
                    for chunk in joiner.passage([made]):
                        yield stretch.push(chunk)
                else:
                    look_ahead()
                done += len(part.text)
                progress(done, total)
                joiner.pause(part.pause)
            yield stretch.finish()
        finally:
            scope.cancel()
            for future in waiting:
                future.cancel()


_EXAMPLE_FRAMES = 3 * FRAME_RATE  # enough to define a voice; a title alone is not


class VoiceExample:
    """Keeps a described voice the same: each passage continues from what the voice has said first.

    A preset or a recording is the same voice for every text; from a description a model makes another voice each time.
    One example belongs to one text, or to all answers of a conversation."""

    def __init__(self, model: SpeechModel, settings: VoiceSettings) -> None:
        self.needed = model.needs_example(settings)
        self._example: SpokenPassage | None = None

    @property
    def enough(self) -> bool:
        """Can passages be synthesized independently of each other?"""
        return not self.needed or (self._example is not None and len(self._example.codes) >= _EXAMPLE_FRAMES)

    @property
    def passage(self) -> SpokenPassage | None:
        """What it is so far."""
        return self._example

    def applied(self, settings: VoiceSettings) -> VoiceSettings:
        """The settings of the next passage."""
        return replace(settings, after=self._example) if self._example is not None else settings

    def add(self, text: str, codes: np.ndarray) -> None:
        """Append a passage that was spoken to its end."""
        if self.enough or not len(codes):
            return
        if (before := self._example) is not None:
            text, codes = f"{before.text} {text}", np.concatenate((before.codes, codes))
        self._example = SpokenPassage(text, codes)


_BLOCK = 0.05  # seconds, of one measurement
_SPOKEN = 0.1  # of the loudest block's amplitude: quieter blocks are pauses
_ENOUGH = 3.0  # seconds of speech that define the loudness; a title alone is not enough
MOST = 2.0  # largest gain and its inverse, 6 dB; larger differences are intended
_CEILING = 0.98  # of full scale, for amplified samples


def power(samples: np.ndarray, rate: int) -> tuple[float, float]:
    """The mean square of the speech in `samples`, and its seconds."""
    size = int(_BLOCK * rate)
    whole = samples[: len(samples) // size * size].astype(np.float64).reshape(-1, size)
    blocks = (whole * whole).mean(1) if len(whole) else np.zeros(1)
    speech = blocks[blocks > _SPOKEN**2 * blocks.max()]
    return (float(speech.mean()), len(speech) * _BLOCK) if len(speech) else (0.0, 0.0)


class LoudnessMatcher:
    """Brings the passages of one text to one loudness. The first ones define it; later ones are scaled before they are played."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._power, self._seconds = 0.0, 0.0  # of the speech that defines the loudness

    def learn(self, samples: np.ndarray) -> None:
        """Measure the first passage, which is played as it is."""
        self._add(*power(samples, self._rate))

    def match(self, samples: np.ndarray) -> np.ndarray:
        """A passage at the loudness of the others."""
        own, seconds = power(samples, self._rate)
        if self._seconds < _ENOUGH:
            self._add(own, seconds)
        if own <= 0.0 or self._power <= 0.0:
            return samples
        gain = float(np.clip(np.sqrt(self._power / own), 1 / MOST, MOST))
        if gain > 1.0:
            gain = max(1.0, min(gain, _CEILING / float(np.abs(samples).max())))
        return samples * np.float32(gain)

    def _add(self, own: float, seconds: float) -> None:
        total = self._seconds + seconds
        if total > 0.0:
            self._power = (self._power * self._seconds + own * seconds) / total
            self._seconds = total


_FADE = 0.005  # seconds at both ends of a passage
_QUIET = 0.004  # of full scale: silence before the first word and after the last
_LEAD = 0.06  # seconds of silence that stay before the first word
_STEP = 0.02  # of full scale: a larger jump out of silence is audible as a click


class PassageJoiner:
    """Joins the passages of one text without clicks and with even pauses, whatever silence a model leaves at their ends."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._fade = int(_FADE * rate)
        self._rise = np.linspace(0.0, 1.0, self._fade, dtype=np.float32)
        self._quiet = 0  # samples of silence at the end of the output so far
        self._owed = 0  # samples of silence that the next passage's first word needs before it

    def pause(self, seconds: float) -> None:
        """Set the silence between the last word and the next passage's first word."""
        self._owed = int(seconds * self._rate)

    def passage(self, chunks: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        """A passage faded in and out. The end of the sound so far, and the silence after it, are held back: the passage may
        end there."""
        begun, held = False, np.zeros(0, np.float32)
        for chunk in chunks:
            held = np.concatenate((held, chunk))
            loud = loud_samples(held)
            if not begun:
                if not len(loud) or len(held) < int(loud[0]) + 2 * self._fade:
                    continue
                held, begun = self._faded_in(held, int(loud[0])), True
                loud = loud_samples(held)
            ready = (int(loud[-1]) + 1 if len(loud) else 0) - self._fade
            if ready > 0:
                yield self._emit(held[:ready])
                held = held[ready:]
        if not begun and len(loud := loud_samples(held)):
            held = self._faded_in(held, int(loud[0]))
        if len(held):
            yield self._emit(self._faded_out(held))

    def _faded_in(self, held: np.ndarray, first: int) -> np.ndarray:
        """Starts with the pause that is due, and with no more silence than that before the first word."""
        start = max(0, first - int(_LEAD * self._rate))
        onset, sound = first - start, held[start:].copy()
        # an abrupt onset is faded in there; else the fade is at the cut
        at = onset if abs(sound[onset]) > _STEP else 0
        count = min(self._fade, len(sound) - at)
        sound[at : at + count] *= self._rise[:count]
        missing, self._owed = max(0, self._owed - self._quiet - onset), 0
        return np.concatenate((np.zeros(missing, np.float32), sound))

    def _faded_out(self, held: np.ndarray) -> np.ndarray:
        loud, sound = loud_samples(held), held.copy()
        last = int(loud[-1]) + 1 if len(loud) else len(sound)
        # an abrupt end is faded out there; else the fade is at the end of the silence
        end = last if abs(sound[last - 1]) > _STEP else len(sound)
        count = min(self._fade, end)
        sound[end - count : end] *= self._rise[::-1][-count:]
        return sound

    def _emit(self, samples: np.ndarray) -> np.ndarray:
        loud = loud_samples(samples)
        self._quiet = len(samples) - 1 - int(loud[-1]) if len(loud) else self._quiet + len(samples)
        return samples


def loud_samples(samples: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.abs(samples) > _QUIET)


class SpeechQueue:
    """Speaks the sentences of a conversation one by one, all in the same voice. A call streams a sentence's samples at `rate`."""

    def __init__(self, model: SpeechModel, settings: VoiceSettings, options: SpeechOptions | None = None) -> None:
        """Raises BadRequest for settings that the model does not support."""
        model.check(settings)
        options = options or SpeechOptions()
        # one seed for all sentences keeps a described voice the same
        seed = secrets.randbits(31) if options.seed is None else options.seed
        self._model, self._settings = model, settings
        self._options = replace(options, seed=seed, markdown=True)
        self._example = VoiceExample(model, settings)
        self._scope: CancelScope | None = None

    @property
    def rate(self) -> int:
        return self._model.rate

    def __call__(self, sentence: str) -> Iterator[np.ndarray]:
        if not any(sign.isalnum() for sign in sentence):  # a line of dashes, the end of a code block
            return
        self._scope = scope = CancelScope(self._model.engine)
        try:
            yield from speak_long_form(self._model, sentence, self._settings, self._options, scope=scope,
                                       example=self._example)  # fmt: skip
        except CancelledError:
            return

    def stop(self) -> None:
        """Cancel the current sentence, from any thread."""
        if (scope := self._scope) is not None:
            scope.cancel()
