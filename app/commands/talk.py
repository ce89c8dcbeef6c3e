"""`grus talk`: a conversation by voice, at the microphone or with a recorded question."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import grus
from app.commands.options import add_where, load_options, writable
from app.commands.sound_devices import RATE, TerminalLoudspeaker, pieces
from engine.errors import BadRequest
from engine.media.sound import FORMATS, format_of, read_sound, write_file
from engine.pipelines.speaking.speech import SpeechOptions
from engine.pipelines.voice_chat import Answered, Heard, Interrupted, Reply, TalkEvent, Voiced
from engine.starter import GUIDE, SYSTEM

DESCRIPTION = """\
Talks with a model: what you say is written down, answered and spoken. Who begins to speak stops the voice.

  grus talk --ears UsefulSensors/moonshine-base --voice-model Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice --voice vivian
  grus talk question.wav -o answer.wav --ears ./moonshine-base --voice-model ./qwen3-tts --voice vivian --model ./qwen3

The microphone must not hear the loudspeaker: use headphones. Nothing leaves this machine."""
_PIECE = RATE // 10


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "talk",
        help="talk with a model by voice",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="a recorded question instead of the microphone"
    )
    command.add_argument("--ears", required=True, metavar="M", help="a model that listens: a folder or a repository id")
    command.add_argument(
        "--voice-model",
        default=SYSTEM,
        metavar="M",
        help=f"a model that speaks (default: {SYSTEM}, the system's own voices)",
    )
    command.add_argument(
        "--model", default=GUIDE, metavar="M", help=f"a model that answers (default: {GUIDE}, which is in Grus)"
    )
    command.add_argument("--voice", metavar="NAME", help="a preset of the model that speaks, or a saved voice")
    command.add_argument("--language", default="auto", metavar="L", help="that is spoken: auto, or a name or code")
    command.add_argument("--instructions", metavar="TEXT", help="how it is said, or what the voice is like")
    command.add_argument("--system", metavar="TEXT", help="a system prompt for the model that answers")
    command.add_argument("--seed", type=int, metavar="S", help="the same seed gives the same answer in the same voice")
    command.add_argument("--max-tokens", type=int, metavar="N", help="of one answer")
    command.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help=f"write the voice to a file: {', '.join(FORMATS)}"
    )
    add_where(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    if options.output is not None:
        if options.file is None:
            raise BadRequest("-o writes the answer to a recorded question: give the FILE too.", "output")
        format_of(writable(options.output))
    sound = None if options.file is None else _recorded(options.file)
    with grus.Talker(
        ears=options.ears, voice_model=options.voice_model, model=options.model, voice=options.voice,
        language=options.language, instructions=options.instructions, system=options.system,
        max_tokens=options.max_tokens, seed=options.seed, speech=SpeechOptions(seed=options.seed), options=load_options(options),
    ) as talker:  # fmt: skip
        if options.output is not None:
            assert sound is not None
            voice = _voice(talker.talk(sound), options.file)
            write_file(options.output, voice, talker.rate, format_of(options.output))
            return 0
        with TerminalLoudspeaker(talker.rate) as speaker:
            return _aloud(talker, sound, speaker)


def _recorded(file: Path) -> Iterator[np.ndarray]:
    samples = read_sound(file, RATE).samples
    return (samples[at : at + _PIECE] for at in range(0, len(samples), _PIECE))


def _voice(events: Iterator[TalkEvent], file: Path) -> Iterator[np.ndarray]:
    """The sound of the last reply. An earlier reply, to a question that continued after a pause, is left out."""
    made: list[np.ndarray] = []
    answered = False
    for event in events:
        _show(event)
        answered |= isinstance(event, Heard)
        if isinstance(event, Interrupted):
            made.clear()
        elif isinstance(event, Voiced):
            made.append(event.samples)
        elif isinstance(event, Answered) and event.error is not None:
            raise event.error
    if not answered:
        raise BadRequest(f"No speech was heard in {file}, so there is nothing to answer.", "file")
    return iter(made)


def _aloud(talker: grus.Talker, sound: Iterator[np.ndarray] | None, speaker: TerminalLoudspeaker) -> int:
    listening = lambda: print("Listening. Ctrl-C ends it.", file=sys.stderr)  # noqa: E731
    try:
        for event in talker.talk(pieces(listening) if sound is None else sound):
            _show(event)
            if isinstance(event, Interrupted):
                speaker.stop()
            elif isinstance(event, Voiced):
                speaker.play(event.samples)
        speaker.finish()
    except KeyboardInterrupt:
        speaker.stop()
    return 0


def _show(event: TalkEvent) -> None:
    if isinstance(event, Heard) and event.final:
        print(f"> {event.text}", flush=True)
    elif isinstance(event, Reply):
        print(event.text, flush=True)
    elif isinstance(event, Answered) and event.error is not None:
        print(f"grus: {event.error}", file=sys.stderr)
