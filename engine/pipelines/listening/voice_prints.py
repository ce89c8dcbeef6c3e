"""Voice prints: a vector for each speaker of a recording, and who of those that are known they are.

A speaker's vector is the mean over what they say longest without interruption. Vectors of the same person lie close together, so a
speaker gets the name of the known voice that is near, unless another name or another speaker is about as near.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from engine.errors import BadRequest, ErrorText
from engine.media.sound import SAMPLE_RATE, Audio, SoundStream
from engine.pipelines.listening import VERIFYING
from engine.pipelines.listening.transcript import TranscriptSegment
from engine.tasks import EngineLike

THRESHOLD = 0.86  # cosine from which two vectors are one person's; not measured on recordings of many people
MARGIN = 0.03  # cosine: a second voice that is nearer than this to the first leaves it open who speaks
_MOST = 30.0  # seconds of a speaker
_WINDOW = 6.0  # seconds heard at once
_SHORT = 1.0  # seconds: shorter stretches serve where there are no longer ones


@dataclass(frozen=True, eq=False)
class VoicePrint:
    vector: np.ndarray  # f32, of length one
    seconds: float  # heard


@dataclass(frozen=True)
class SpeakerPrints:
    """Of one recording, by speaker. `mark`: of the weights that made the vectors; those of others cannot be compared."""

    prints: Mapping[str, VoicePrint]
    mark: str


def joined(prints: Sequence[VoicePrint]) -> VoicePrint:
    """One of several, which count as long as they were heard."""
    total = np.sum([one.vector * one.seconds for one in prints], 0)
    length = max(float(np.linalg.norm(total)), 1e-12)
    return VoicePrint((total / length).astype(np.float32), sum(one.seconds for one in prints))


def speaker_prints(
    engine: EngineLike, model: str, sound: Audio | SoundStream, segments: Sequence[TranscriptSegment]
) -> SpeakerPrints:
    """`sound` is read once more, from the beginning; a speaker who says too little for a vector has none. Blocks."""
    chosen = _chosen(segments)
    last = max((end for spans in chosen.values() for _, end in spans), default=0.0)
    pieces: dict[tuple[float, float], list[np.ndarray]] = {span: [] for spans in chosen.values() for span in spans}
    at = 0
    for block in [sound.samples] if isinstance(sound, Audio) else sound:
        for start, end in pieces:
            first, behind = (round(time * SAMPLE_RATE) - at for time in (start, end))
            if first < len(block) and behind > 0:
                pieces[start, end].append(block[max(0, first) : behind].astype(np.float32))
        at += len(block)
        if at >= last * SAMPLE_RATE:
            break
    heard = {name: [np.concatenate(pieces[span]) for span in spans if pieces[span]] for name, spans in chosen.items()}
    return _embedded(engine, model, heard)


def reference_prints(engine: EngineLike, model: str, sounds: Mapping[str, np.ndarray]) -> SpeakerPrints:
    """Of recordings in which one person speaks, by name. Blocks."""
    made = _embedded(engine, model, {name: [samples] for name, samples in sounds.items()})
    if short := next((name for name in sounds if name not in made.prints), None):
        raise BadRequest(ErrorText("The recording of {name} is too short to know the voice again.", name=short), "file")
    return made


def recognized(found: Mapping[str, VoicePrint], known: Mapping[str, VoicePrint]) -> dict[str, str]:
    """The names of the speakers who are known. A speaker who resembles two of them about equally has none, and neither have two
    speakers who resemble one of them about equally."""
    near: dict[str, list[tuple[float, str]]] = {}  # by known name
    for speaker, own in found.items():
        scores = sorted(((float(own.vector @ one.vector), name) for name, one in known.items()), reverse=True)
        if scores and scores[0][0] >= THRESHOLD and (len(scores) == 1 or scores[0][0] - scores[1][0] >= MARGIN):
            near.setdefault(scores[0][1], []).append((scores[0][0], speaker))
    made = {}
    for name, speakers in near.items():
        speakers.sort(reverse=True)
        if len(speakers) == 1 or speakers[0][0] - speakers[1][0] >= MARGIN:
            made[speakers[0][1]] = name
    return made


def renamed(segment: TranscriptSegment, names: Mapping[str, str]) -> TranscriptSegment:
    name = names.get(segment.speaker, segment.speaker)
    words = [replace(word, speaker=names.get(word.speaker, word.speaker)) for word in segment.words]
    return replace(segment, speaker=name, words=tuple(words))


def _chosen(segments: Sequence[TranscriptSegment]) -> dict[str, list[tuple[float, float]]]:
    """Of each speaker the longest stretches, cut into windows."""
    spans: dict[str, list[tuple[float, float]]] = {}
    for segment in segments:
        if segment.speaker and segment.end > segment.start:
            spans.setdefault(segment.speaker, []).append((segment.start, segment.end))
    made: dict[str, list[tuple[float, float]]] = {}
    for name, own in spans.items():
        own.sort(key=lambda span: span[0] - span[1])
        long = [span for span in own if span[1] - span[0] >= _SHORT] or own[:3]
        left = _MOST
        for start, end in long:
            count = max(1, round((min(end, start + left) - start) / _WINDOW))
            edges = np.linspace(start, min(end, start + left), count + 1)
            made.setdefault(name, []).extend((float(a), float(b)) for a, b in pairwise(edges))
            left -= edges[-1] - start
            if left < _SHORT:
                break
    return made


def _embedded(engine: EngineLike, model: str, heard: Mapping[str, Sequence[np.ndarray]]) -> SpeakerPrints:
    def work(loaded: Any) -> Generator[None, None, SpeakerPrints]:
        if loaded.config.get("model_type") not in VERIFYING:
            raise BadRequest(
                ErrorText("{name} does not know voices again. WavLM models for x-vectors do.", name=model), "model"
            )
        even, made = _evens(loaded.folder), {}
        for name, parts in heard.items():
            prints = []
            for part in parts:
                if len(part) >= loaded.model.least:
                    given = (part - part.mean()) / np.sqrt(part.var() + 1e-7) if even else part
                    prints.append(VoicePrint((yield from loaded.model.embed(given)), len(part) / SAMPLE_RATE))
            if prints:
                made[name] = joined(prints)
        return SpeakerPrints(made, loaded.model.mark)

    found: SpeakerPrints = engine.task(model, work, admitted=True).result()
    return found


def _evens(folder: Any) -> bool:
    """Whether the model hears sounds of mean 0 and variance 1."""
    try:
        return json.loads((folder / "preprocessor_config.json").read_text("utf-8")).get("do_normalize") is True
    except (OSError, ValueError, AttributeError):
        return False
