"""`grus speak TEXT`: a text as sound, played, written to a file, or sent on while it is made."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import grus
from app.commands.audiobook import add_book, check_book, list_chapters, opened_book, speak_book
from app.commands.options import add_profile, add_where, check_profile, load_options, writable
from app.commands.sound_devices import opened, written
from app.runtime.voice import pronunciations_of
from engine.errors import BadRequest
from engine.media.sound import FORMATS, encoded, format_of, write_file
from engine.media.system_speech import HINT
from engine.pipelines.speaking.speech import SpeechOptions
from engine.pipelines.speaking.voice import SavedVoices
from engine.starter import SYSTEM, starter

DESCRIPTION = """\
Speaks a text. Without -o or --stream it is played.

  grus speak "Good morning."                        (a voice of the system; needs no model)
  grus speak "Good morning." --model Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice --voice vivian
  grus speak --file book.txt -o book.opus --markdown --model ./qwen3-tts --voice ryan
  grus speak "Hello." --clone me.wav --clone-text "What I say in it." --model ./qwen3-tts-base -o hello.wav
  grus speak --clone me.wav --clone-text "..." --save-voice me --model ./qwen3-tts-base
  grus speak "Hello." --voice me --stream --model ./qwen3-tts-base | aplay
  grus speak --voices
  grus speak --book cranes.epub                     (cranes.m4b, with chapters; the same command continues after a break)
  grus speak --book cranes.epub -o cranes.mp3 --per-chapter --subtitles --speaker anna=vivian --model ./qwen3-tts --voice ryan

A saved voice is a folder with what was learned and a sample; --voices lists them. Nothing leaves this machine."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "speak",
        help="speak a text",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("text", nargs="?", metavar="TEXT", help="what is said; - reads it from standard input")
    command.add_argument("--file", type=Path, metavar="FILE", help="a text file instead")
    command.add_argument(
        "--model",
        metavar="M",
        help=f"a model that speaks: a folder or a repository id (default: {SYSTEM}, the system's own)",
    )
    command.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help=f"a file: {', '.join(FORMATS)}, by its ending"
    )
    command.add_argument("--stream", action="store_true", help="write WAV to standard output while it is made")
    voice = command.add_argument_group("the voice")
    voice.add_argument("--voice", metavar="NAME", help="a preset of the model, or a saved voice")
    voice.add_argument("--language", default="auto", metavar="L", help="auto, or a name or code such as german or de")
    voice.add_argument("--instructions", metavar="TEXT", help="how it is said, or what the voice is like")
    voice.add_argument("--clone", metavar="WAV", type=Path, help="speak in the voice of this recording")
    voice.add_argument(
        "--clone-text", metavar="TEXT", help="what is said in the recording: then it is imitated closely"
    )
    voice.add_argument("--save-voice", metavar="NAME", help="keep the voice of --clone under this name")
    voice.add_argument("--voices", action="store_true", help="list the voices of the model, and those that are saved")
    how = command.add_argument_group("how it is read")
    how.add_argument("--speed", type=float, default=1.0, metavar="X", help="0.25 to 4, at the same pitch (default: 1)")
    how.add_argument("--spell", action="store_true", help="write numbers, dates and money as words first")
    how.add_argument("--markdown", action="store_true", help="do not read Markdown's marks")
    how.add_argument(
        "--pronunciations", type=Path, metavar="FILE", help="how words are said: a file with lines such as SQL = sequel"
    )
    how.add_argument("--temperature", type=float, metavar="T", help="0 always takes the likeliest sound")
    how.add_argument("--seed", type=int, metavar="S", help="the same seed gives the same sound")
    add_book(command)
    add_profile(command)
    add_where(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    if options.list_chapters:
        list_chapters(options)
        return 0
    if options.voices and options.model is None:
        _list([])
        return 0
    check_book(options)
    if options.model is None and starter(SYSTEM) is None:
        raise BadRequest(
            f"This system has no program that speaks ({HINT}). Install it, or say which model speaks: --model "
            "Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice, for example.",
            "model",
        )
    options.model = options.model or SYSTEM
    speech = SpeechOptions(
        options.speed, options.seed, options.temperature, options.spell, options.markdown,
        pronunciations=pronunciations_of(options.pronunciations),
    )  # fmt: skip
    book = opened_book(options) if options.book is not None else None
    silent = options.voices or book is not None or (options.save_voice and not _given(options))
    text = None if silent else _text(options)
    if options.output is not None and book is None:
        format_of(writable(options.output))  # what cannot be is said before anything is loaded
    if options.clone is None and (options.save_voice is not None or options.clone_text is not None):
        given = "--save-voice" if options.save_voice is not None else "--clone-text"
        raise BadRequest(f"{given} goes with --clone, the recording of a voice.", "voice")
    check_profile(options.profile)
    with grus.Speaker(options.model, load_options(options), profile=options.profile) as speaker:
        if options.voices:
            _list(speaker.voice.presets)
            return 0
        voice: Any = options.voice
        if options.clone is not None:
            voice = _cloned(speaker, options)
        if book is not None:
            speak_book(speaker, book, voice, speech, options)
        elif text is not None:
            _speak(speaker, text, voice, speech, options)
    return 0


def _given(options: argparse.Namespace) -> bool:
    return options.text is not None or options.file is not None


def _text(options: argparse.Namespace) -> str:
    if (options.text is None) == (options.file is None):
        raise BadRequest("Give a text, or --file: one of the two.")
    if options.text == "-":
        return sys.stdin.read()
    if options.text is not None:
        return str(options.text)
    try:
        return options.file.read_text(encoding="utf-8")  # type: ignore[no-any-return]
    except UnicodeDecodeError:
        raise BadRequest(f"{options.file} is no text in UTF-8.", "file") from None
    except OSError as error:
        raise BadRequest(f"{options.file} cannot be read: {error.strerror}.", "file") from None


def _cloned(speaker: grus.Speaker, options: argparse.Namespace) -> Any:
    if options.voice is not None:
        raise BadRequest("Choose --voice or --clone, not both.", "voice")
    if options.save_voice is None:
        return speaker.clone(options.clone, options.clone_text)
    saved = speaker.save_voice(options.save_voice, options.clone, options.clone_text)
    print(f"Saved as {saved.name}: {saved.sample.parent}", file=sys.stderr)
    return saved.name


def _speak(speaker: grus.Speaker, text: str, voice: Any, speech: SpeechOptions, options: argparse.Namespace) -> None:
    settings = speaker.voice_settings(voice, options.language, options.instructions)
    progress = _Progress()
    chunks = speaker.stream(text, settings, speech, progress=progress)
    began, count = time.monotonic(), 0
    if options.output is not None:
        count = write_file(options.output, chunks, speaker.rate, format_of(options.output))
    elif options.stream:
        count = _send(chunks, speaker.rate)
    else:
        count = _play(chunks, speaker.rate)
    progress.clear()
    seconds, spent = count / speaker.rate, time.monotonic() - began
    print(f"{seconds:.1f} s of sound in {spent:.1f} s", file=sys.stderr)


def _send(chunks: Iterator[np.ndarray], rate: int) -> int:
    """Standard output becomes a WAV stream."""
    count = 0

    def counted() -> Iterable[np.ndarray]:
        nonlocal count
        for chunk in chunks:
            count += len(chunk)
            yield chunk

    for data in encoded(counted(), rate, "wav"):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return count


def _play(chunks: Iterator[np.ndarray], rate: int) -> int:
    stream = opened(rate)
    count = 0
    with stream:  # which plays what the device holds still, before it closes
        for chunk in chunks:
            written(stream, chunk)
            count += len(chunk)
    return count


class _Progress:
    """A line on stderr once it takes longer than two seconds: how far, and how long still."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._shown = 0

    def __call__(self, done: int, total: int) -> None:
        spent = time.monotonic() - self._began
        if not sys.stderr.isatty() or spent < 2.0 or not done:
            return
        line = f"{done / total:4.0%} spoken, {spent / done * (total - done):.0f} s left"
        print(f"\r{line:<{self._shown}}", end="", file=sys.stderr, flush=True)
        self._shown = len(line)

    def clear(self) -> None:
        if self._shown:
            print(f"\r{' ' * self._shown}\r", end="", file=sys.stderr, flush=True)


def _list(presets: Sequence[str]) -> None:
    for name in presets:
        print(name)
    kept = SavedVoices().list()
    if not (presets or kept):
        print(
            "No voice is saved. --clone with --save-voice keeps one; --model M lists those of a model.", file=sys.stderr
        )
    for saved in kept:
        print(f"{saved.name}{os.sep}  saved, {saved.seconds:g} s, from {saved.model}")
