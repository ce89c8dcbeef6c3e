"""What `grus bench` does with a model that speaks, listens or reads: the input that it gets, and which figures are taken."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import grus
import resources
from engine.benchmark import TEXT, Figure, ListeningBenchmark, ReadingBenchmark, Say, SpeechBenchmark, voice_like
from engine.errors import BadRequest, UnreadableFile
from engine.loaded import LoadedPart
from engine.loading import LoadedModel, LoadOptions
from engine.media.sound import SAMPLE_RATE, read_sound
from engine.pipelines.speaking.voice import VoiceSettings

Measured = tuple[LoadedModel | LoadedPart, int, list[Figure]]  # the model, bytes of this process, figures
AT_ONCE = (1, 4)  # voices and sounds by default
_PAGES = 4  # of a document, so that a book does not take all night
_EXAMPLE = resources.path("starter", "page.png")


def speaking(options: argparse.Namespace, load: LoadOptions, streams: list[int] | None, say: Say) -> Measured:
    text = TEXT if options.input is None else _text(options.input)
    began = time.perf_counter()
    with grus.Speaker(options.model, load, profile=options.profile) as speaker:
        found = [Figure("load", time.perf_counter() - began, "s")]
        measure = SpeechBenchmark(speaker.voice, _voice_settings(speaker, options), text, say)
        found += measure.all(streams or AT_ONCE, options.runs)
        return speaker.loaded, speaker.engine.stats().process_memory, found


def _voice_settings(speaker: grus.Speaker, options: argparse.Namespace) -> VoiceSettings:
    """The voice that is asked for; else one that the model can speak in, because its speed does not depend on it."""
    if options.clone is not None:
        if options.voice is not None:
            raise BadRequest("Choose --voice or --clone, not both.", "voice")
        return speaker.voice_settings(speaker.clone(options.clone), instructions=options.instructions)
    settings = speaker.voice_settings(options.voice, instructions=options.instructions)
    try:
        speaker.voice.check(settings)
    except BadRequest:
        if options.voice is not None or options.instructions is not None:
            raise
        if speaker.voice.clones:
            return VoiceSettings(clone=speaker.voice.clone(voice_like(3.0, speaker.rate)))
        return speaker.voice_settings(instructions="A calm voice.")
    return settings


def listening(options: argparse.Namespace, load: LoadOptions, streams: list[int] | None, say: Say) -> Measured:
    audio = None if options.input is None else read_sound(options.input, SAMPLE_RATE)
    began = time.perf_counter()
    with grus.Ears(options.model, load, profile=options.profile) as ears:
        found = [Figure("load", time.perf_counter() - began, "s")]
        found += ListeningBenchmark(ears.listener, ears.engine, audio, say).all(streams or AT_ONCE, options.runs)
        return ears.loaded, ears.engine.stats().process_memory, found


def reading(options: argparse.Namespace, load: LoadOptions, streams: list[int] | None, say: Say) -> Measured:
    from app.runtime.reading import ReadingModels
    from engine.pipelines.reading.session import ReadingSession

    if streams is not None:
        raise BadRequest(
            "--streams is for models that chat, speak or listen. Regions of pages are read together.", "streams"
        )
    pages = _pages(options.input or _EXAMPLE)
    began = time.perf_counter()
    with ReadingModels(options.model, None, load, profile=options.profile) as models:
        found = [Figure("load", time.perf_counter() - began, "s")]
        found += ReadingBenchmark(ReadingSession(models.recognizer), models.engine, pages, say).all(options.runs)
        return models.loaded, models.engine.stats().process_memory, found


def _pages(file: Path) -> list[np.ndarray]:
    from contextlib import closing

    from engine.media.documents import open_document

    with closing(open_document(file)) as document:
        return [np.asarray(document.page(n + 1).image.convert("RGB")) for n in range(min(_PAGES, len(document)))]


def _text(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise UnreadableFile(f"{file} is no text in UTF-8.", "input") from None
    except OSError as error:
        raise UnreadableFile(f"{file} cannot be read: {error.strerror}.", "input") from None
    if not text:
        raise BadRequest(f"{file} holds no text.", "input")
    return text
