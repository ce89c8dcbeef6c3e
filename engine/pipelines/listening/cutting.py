"""From probabilities of speech to segments of sound that a model can take one by one.

Plain arithmetic on positions. `Cutter` takes probabilities as they come, so files and microphones are cut alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rules:
    """Seconds, but for the thresholds."""

    threshold: float = 0.5  # speech begins
    release: float = 0.35  # speech may end
    least_speech: float = 0.25
    least_silence: float = 0.1
    pad: float = 0.03
    longest: float = 20.0  # of one segment


USUAL = Rules()


@dataclass(frozen=True)
class Span:
    """Samples from `start` to `stop`."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass
class _Speech:
    """A run of speech that has not ended yet."""

    start: int
    quiet_since: int | None = None
    pauses: list[Span] = field(default_factory=list)  # inside it, too short to end it


class Cutter:
    """Decides chunk by chunk. Spans come without padding; `padded` adds it."""

    def __init__(self, chunk: int, rate: int, rules: Rules = USUAL) -> None:
        self.rules = rules
        self._chunk = chunk
        self._rate = rate
        self._at = 0
        self._speech: _Speech | None = None

    @property
    def begun(self) -> int | None:
        """Where the running speech began."""
        return self._speech.start if self._speech is not None else None

    @property
    def spoken(self) -> int:
        """Samples of the running speech, without the pause that it may end with."""
        speech = self._speech
        if speech is None:
            return 0
        return (self._at if speech.quiet_since is None else speech.quiet_since) - speech.start

    def push(self, probability: float) -> list[Span]:
        """The segments that this chunk completes."""
        at, rules, speech = self._at, self.rules, self._speech
        self._at += self._chunk
        done: list[Span] = []
        if probability >= rules.threshold:
            if speech is None:
                self._speech = _Speech(at)
                return done
            if speech.quiet_since is not None:
                speech.pauses.append(Span(speech.quiet_since, at))
                speech.quiet_since = None
        if speech is None:
            return done
        if at - speech.start > rules.longest * self._rate - self._chunk - 2 * rules.pad * self._rate:
            done += self._kept(self._divide(speech, at))
            speech = self._speech
            assert speech is not None
        if probability < rules.release:
            if speech.quiet_since is None:
                speech.quiet_since = at
            if at - speech.quiet_since >= rules.least_silence * self._rate:
                done += self._kept(Span(speech.start, speech.quiet_since))
                self._speech = None
        return done

    def finish(self, length: int) -> list[Span]:
        """The sound is over, at this many samples."""
        speech, self._speech = self._speech, None
        return [] if speech is None else self._kept(Span(speech.start, max(speech.start, length)))

    def _divide(self, speech: _Speech, at: int) -> Span:
        """Cut a speech that is too long at its longest pause, or where it is."""
        pause = max(speech.pauses, key=len, default=Span(at, at))
        rest = [other for other in speech.pauses if other.start >= pause.stop]
        self._speech = _Speech(pause.stop, speech.quiet_since, rest)
        return Span(speech.start, pause.start)

    def _kept(self, span: Span) -> list[Span]:
        return [span] if len(span) > self.rules.least_speech * self._rate else []


def padded(spans: Sequence[Span], rate: int, length: int, pad: float = Rules.pad) -> list[Span]:
    """A little more on both sides; neighbours that are close meet in the middle."""
    wide = int(pad * rate)
    made: list[Span] = []
    for i, span in enumerate(spans):
        before = span.start if i == 0 else span.start - spans[i - 1].stop
        after = (length if i + 1 == len(spans) else spans[i + 1].start) - span.stop
        left = min(wide, before) if i == 0 else min(wide, before // 2)
        right = min(wide, after) if i + 1 == len(spans) else min(wide, after // 2)
        made.append(Span(span.start - left, span.stop + right))
    return made


def cut(probabilities: Iterable[float], chunk: int, rate: int, length: int, rules: Rules = USUAL) -> list[Span]:
    """All segments of a sound that is there as a whole."""
    cutter = Cutter(chunk, rate, rules)
    spans = [span for probability in probabilities for span in cutter.push(float(probability))]
    return padded(spans + cutter.finish(length), rate, length, rules.pad)
