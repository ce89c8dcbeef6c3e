"""Where somebody speaks in a sound, without what is said: voice activity as an ability of its own.

The model for it comes with Grus. `spans` gives positions in samples, as transcribing needs them; `speech_spans` gives
seconds, and does not cut a speech that is long.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import resources
from engine.errors import BadRequest
from engine.media.sound import Audio
from engine.models.moonshine import SAMPLE_RATE
from engine.pipelines.listening.cutting import Rules, Span, cut
from engine.pipelines.listening.transcript import Segment, Transcript, as_srt, as_vtt
from engine.tasks import Task, Work

VOICE_ACTIVITY = str(Path(resources.__path__[0]) / "silero_vad")
_LABEL = "speech"  # of a span, in formats that want words


class EngineLike(Protocol):
    def task(self, model: str, work: Work[Any]) -> Task[Any]: ...


@dataclass(frozen=True)
class SpeechSpan:
    """Seconds from the beginning of the sound."""

    start: float
    end: float


@dataclass(frozen=True)
class Speech:
    """All spans of a sound, in order."""

    spans: Sequence[SpeechSpan]
    seconds: float  # of the sound

    @property
    def speech_seconds(self) -> float:
        return sum(span.end - span.start for span in self.spans)


def spans(engine: EngineLike, audio: Audio, rules: Rules, vad: str = VOICE_ACTIVITY) -> list[Span]:
    """Waits for the model."""

    def work(loaded: Any) -> Generator[None, None, list[Span]]:
        chances = yield from loaded.model.probabilities(audio.samples, audio.rate)
        return cut(chances, loaded.model.chunk(audio.rate), audio.rate, len(audio.samples), rules)

    found: list[Span] = engine.task(vad, work).result()
    return found


def speech_rules(threshold: float | None = None, least_speech: float | None = None,
                 least_silence: float | None = None, pad: float | None = None) -> Rules:  # fmt: skip
    """None: as usual. Raises BadRequest for what cannot be."""
    usual = Rules()
    chosen = usual.threshold if threshold is None else threshold
    rules = Rules(
        threshold=chosen,
        release=max(0.01, chosen - (usual.threshold - usual.release)),
        least_speech=usual.least_speech if least_speech is None else least_speech,
        least_silence=usual.least_silence if least_silence is None else least_silence,
        pad=usual.pad if pad is None else pad,
        longest=math.inf,
    )
    if not 0 < rules.threshold < 1:
        raise BadRequest(f"threshold must be between 0 and 1, not {threshold!r}.", "threshold")
    for name, value in (
        ("min_speech_seconds", rules.least_speech),
        ("min_silence_seconds", rules.least_silence),
        ("pad_seconds", rules.pad),
    ):
        if not 0 <= value <= 60:
            raise BadRequest(f"{name} must be between 0 and 60, not {value!r}.", name)
    return rules


def speech_in(engine: EngineLike, audio: Audio, rules: Rules | None = None) -> Speech:
    """Of a sound at 16 kHz."""
    if audio.rate != SAMPLE_RATE:
        raise BadRequest(f"Voice activity is found at {SAMPLE_RATE} samples a second, not {audio.rate}.", "rate")
    found = spans(engine, audio, rules or speech_rules())
    return Speech([SpeechSpan(one.start / audio.rate, one.stop / audio.rate) for one in found], audio.seconds)


def as_dict(speech: Speech) -> dict[str, Any]:
    return {
        "duration": round(speech.seconds, 3),
        "speech_seconds": round(speech.speech_seconds, 3),
        "spans": [{"start": round(span.start, 3), "end": round(span.end, 3)} for span in speech.spans],
    }


def as_json(speech: Speech) -> str:
    return json.dumps(as_dict(speech), indent=1) + "\n"


def as_labels(speech: Speech) -> str:
    """A line a span, as audio editors read labels: start, end and a word, with tabs between them."""
    return "".join(f"{span.start:.3f}\t{span.end:.3f}\t{_LABEL}\n" for span in speech.spans)


def _labelled(speech: Speech) -> Transcript:
    return Transcript([Segment(span.start, span.end, _LABEL) for span in speech.spans], speech.seconds, "")


FORMATS: dict[str, Callable[[Speech], str]] = {
    "json": as_json,
    "txt": as_labels,
    "srt": lambda speech: as_srt(_labelled(speech)),
    "vtt": lambda speech: as_vtt(_labelled(speech)),
}
