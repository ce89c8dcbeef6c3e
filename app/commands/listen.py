"""`grus listen FILE...` or `--mic`: what was said, as text, subtitles or JSON."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grus
from app.commands.memory import add_folder
from app.commands.options import add_profile, add_where, check_profile, load_options, writable
from app.commands.sound_devices import pieces
from app.runtime.known_voices import KnownVoices, checked_name
from engine.errors import BadRequest, GrusError
from engine.media.recordings import mux_subtitles
from engine.pipelines.listening.glossary import read_glossary
from engine.pipelines.listening.speakers import SpeakerActivity
from engine.pipelines.listening.transcript import FORMATS, Transcript, TranscriptSegment, write
from engine.pipelines.listening.transcription import Captions, ListenOptions
from engine.pipelines.listening.voice_activity import FORMATS as SPEECH_FORMATS
from engine.whole_file import whole_file

DESCRIPTION = """\
Writes down what is said in sound files, or at the microphone while it is said.

  grus listen talk.mp3 --model UsefulSensors/moonshine-base
  grus listen *.wav --format srt --model ./moonshine-base          (talk.wav -> talk.srt)
  grus listen meeting.flac --format json --words -o meeting.json --model ./moonshine-base
  grus listen film.mkv --track 2 --subtitles --model openai/whisper-small       (film.mkv -> film.subtitled.mkv)
  grus listen interview.m4a --translate --model ggml-large-v3-turbo.bin
  grus listen meeting.m4a --model ./parakeet-tdt --speakers ./sortformer            (who said what)
  grus listen meeting.m4a --model ./parakeet-tdt --speakers ./sortformer --voice-prints ./wavlm-base-plus-sv --name 1=Anna
  grus listen --known-voices                                       (whose voices are remembered; --forget-voice deletes one)
  grus listen --mic --model ./moonshine-tiny
  grus listen --mic --model ./moonshine-tiny --speakers ./sortformer                (who says what, some seconds later)
  grus listen talk.mp3 --activity                                  (where somebody speaks; needs no model)

Recordings in WAV, FLAC, MP3, OGG, Opus, M4A, AAC, AIFF, CAF, AMR, WMA, and the sound of MP4, MOV, MKV, WebM, AVI. Nothing leaves
this machine."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "listen",
        help="write down what is said in a sound file, or at the microphone",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("files", nargs="*", metavar="FILE", type=Path, help="sound files")
    command.add_argument("--mic", action="store_true", help="listen to the microphone until Ctrl-C")
    command.add_argument("--model", metavar="M", help="a model that listens: a folder, a file or a repository id")
    command.add_argument("--activity", action="store_true", help="find where somebody speaks, and not what is said")
    command.add_argument(
        "--format", choices=tuple(FORMATS), help="what is written (default: txt; with --activity json)"
    )
    command.add_argument(
        "--language",
        metavar="L",
        help="the code of the language that is spoken; Whisper and Qwen3-ASR hear which it is",
    )
    command.add_argument("--translate", action="store_true", help="into English, with a Whisper model that can")
    command.add_argument(
        "--prompt", metavar="TEXT", help="what was said before, or names as they are spelled (Whisper, Qwen3-ASR)"
    )
    command.add_argument(
        "--own-words", metavar="W,...", default="", help="names and terms that the text is corrected to, with any model"
    )
    command.add_argument(
        "--track", type=int, default=1, metavar="N", help="of several sound tracks, from 1 (default: 1)"
    )
    command.add_argument(
        "--from", dest="start", type=float, default=0.0, metavar="S", help="leave out the first S seconds"
    )
    command.add_argument(
        "--speakers", metavar="M", help="a model that tells speakers apart, such as Sortformer: who said what"
    )
    command.add_argument(
        "--voice-prints",
        metavar="M",
        help="a model that knows voices again, such as WavLM: names those that --name named before",
    )
    command.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="N=NAME",
        help="what the Nth speaker is called; with --voice-prints it is remembered on this machine",
    )
    command.add_argument("--known-voices", action="store_true", help="list the voices that are remembered")
    command.add_argument("--forget-voice", metavar="NAME", help="delete a voice that is remembered")
    add_folder(command)
    command.add_argument(
        "--aligner",
        metavar="M",
        help="a model that times words, such as Qwen3-ForcedAligner, for --words and --speakers",
    )
    command.add_argument("--subtitles", action="store_true", help="a copy of the video with subtitles in it")
    command.add_argument("--words", action="store_true", help="the time of every word too (in json)")
    command.add_argument("-o", "--output", metavar="OUT", type=Path, help="a file, or a folder for several files")
    add_profile(command)
    add_where(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    if options.known_voices or options.forget_voice is not None:
        return _remembered(options)
    if options.mic == bool(options.files):
        raise BadRequest("Give sound files, or --mic: one of the two.")
    options.format = options.format or ("json" if options.activity else "txt")
    if not options.start >= 0 or options.track < 1:
        raise BadRequest("--from is 0 seconds or more, and --track 1 or more.")
    if options.subtitles and (options.mic or options.activity):
        raise BadRequest("--subtitles is for videos, and goes without --mic and --activity.")
    if options.activity and (options.mic or options.words or options.language or options.model or options.speakers):
        raise BadRequest(
            "--activity finds speech in files. It goes without --mic, --model, --language, --words and --speakers."
        )
    if options.activity and options.format not in SPEECH_FORMATS:
        raise BadRequest(f"With --activity, --format is {', '.join(SPEECH_FORMATS)}.", "format")
    if options.aligner and not (options.words or options.speakers):
        raise BadRequest("--aligner gives the times of words: it goes with --words or --speakers.")
    names = _names(options.name)
    if (names or options.voice_prints) and not options.speakers:
        raise BadRequest("--name and --voice-prints go with --speakers, which tells the speakers apart.")
    if names and len(options.files) > 1:
        raise BadRequest("--name is for one file: speakers are numbered in each anew.")
    if options.mic and (names or options.voice_prints):
        raise BadRequest("--name and --voice-prints are for files: a voice is known once all was heard.")
    if options.mic and options.aligner:
        raise BadRequest("--aligner is for files.")
    if not options.activity and options.model is None:
        raise BadRequest("Say which model listens: --model UsefulSensors/moonshine-base, for example.", "model")
    if options.words and options.format != "json":
        raise BadRequest("--words writes the time of every word, which only --format json can hold.")
    several = len(options.files) > 1
    if several and options.output is not None and options.output.exists() and not options.output.is_dir():
        raise BadRequest(f"{options.output} is a file; several transcripts need a folder.")
    if options.output is not None and not several:
        writable(options.output)
    check_profile(options.profile)
    if options.activity:
        with grus.VoiceActivity(load_options(options), options.profile) as finder:
            return _each(options, several, lambda file: SPEECH_FORMATS[options.format](finder.find(file)))
    with grus.Ears(
        options.model,
        load_options(options),
        profile=options.profile,
        speakers=options.speakers,
        aligner=options.aligner,
        voice_prints=options.voice_prints,
        known_voices=_voices(options),
    ) as ears:
        if options.mic:
            asked = ListenOptions(options.language, False, options.translate, options.prompt)
            ears.listener.options = ears.listener.timed(asked) if options.speakers else asked
            ears.listener.check(ears.listener.options)
            ears.listener.glossary = read_glossary(options.own_words)
            return _captions(ears)
        return _each(options, several, lambda file: _transcribed(ears, file, options))


def _voices(options: argparse.Namespace) -> KnownVoices:
    return KnownVoices(options.folder.expanduser() / "data" if options.folder else None)


def _remembered(options: argparse.Namespace) -> int:
    voices = _voices(options)
    if options.forget_voice is not None:
        if not voices.delete(options.forget_voice):
            raise BadRequest(f"No voice is remembered as {options.forget_voice!r}. --known-voices lists them.", "name")
        return 0
    print("\n".join(one.name for one in voices.all()) or "No voice is remembered.")
    return 0


def _names(given: Sequence[str]) -> dict[int, str]:
    """Of `1=Anna`."""
    made = {}
    for one in given:
        number, sign, name = one.partition("=")
        if not sign or not number.isdecimal() or not int(number):
            raise BadRequest(f"--name is like 1=Anna, not {one!r}.", "name")
        made[int(number)] = checked_name(name)
    return made


def _each(options: argparse.Namespace, several: bool, make: Callable[[Path], str]) -> int:
    failed = 0
    for file in options.files:
        try:
            _save(make(file), file, options, several)
        except GrusError as error:
            if not several:
                raise
            failed += 1
            print(f"grus: {error}", file=sys.stderr)
    return 2 if failed else 0


def _transcribed(ears: grus.Ears, file: Path, options: argparse.Namespace) -> str:
    with _bar(file.name) as progress:
        transcript = ears.listen(
            file,
            language=options.language,
            words=options.words,
            translate=options.translate,
            prompt=options.prompt,
            own_words=options.own_words,
            track=options.track,
            start=options.start,
            names=_names(options.name),
            progress=progress,
        )
    if options.subtitles:
        _subtitle(file, options.output, transcript)
    return write(transcript, options.format)


def _subtitle(file: Path, output: Path | None, transcript: Transcript) -> None:
    """A copy of the video beside it, or as `-o` says."""
    target = output if output is not None and not output.is_dir() else (output or file.parent) / _subtitled(file)
    lines = [(segment.start, segment.end, _line(segment)) for segment in transcript.segments if segment.text]
    mux_subtitles(file, target, lines, transcript.language)
    print(f"{file.name} -> {target}", file=sys.stderr)


def _subtitled(file: Path) -> str:
    return f"{file.stem}.subtitled{file.suffix}"


def _save(text: str, file: Path, options: argparse.Namespace, several: bool) -> None:
    if options.subtitles:
        return
    if options.output is None and not several:
        sys.stdout.write(text)
        return
    target = options.output or file.parent
    if several or target.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        target = target / f"{file.stem}.{options.format}"
    try:
        with whole_file(target) as part:
            part.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadRequest(f"{target} could not be written: {error.strerror or error}.", "output") from None
    print(f"{file.name} -> {target}", file=sys.stderr)


def _captions(ears: grus.Ears) -> int:
    voices = SpeakerActivity(ears.service, ears.speakers) if ears.speakers else None
    captions = Captions(ears.service, ears.listener, speakers=voices)
    shown = 0
    try:
        for samples in pieces(lambda: print("Listening. Ctrl-C ends it.", file=sys.stderr)):
            for caption in captions.feed(samples):
                line = _line(caption.segment)
                print(f"\r{line}{' ' * max(0, shown - len(line))}", end="\n" if caption.final else "", flush=True)
                shown = 0 if caption.final else len(line)
    except KeyboardInterrupt:
        for caption in captions.finish():
            print(f"\r{_line(caption.segment)}")
    return 0


def _line(segment: TranscriptSegment) -> str:
    return f"{segment.speaker}: {segment.text}" if segment.speaker else segment.text


@contextmanager
def _bar(name: str) -> Iterator[Any]:
    """A line on stderr with what is done and how long the rest takes, once it takes longer than two seconds."""
    began, shown = time.monotonic(), False

    def progress(share: float) -> None:
        nonlocal shown
        spent = time.monotonic() - began
        if sys.stderr.isatty() and spent > 2.0 and share > 0:
            left = spent / share * (1 - share)
            print(f"\r{name}: {share:4.0%}, {left:.0f} s left ", end="", file=sys.stderr, flush=True)
            shown = True

    yield progress
    if shown:
        print("\r" + " " * (len(name) + 30) + "\r", end="", file=sys.stderr, flush=True)
