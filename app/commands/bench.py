"""`grus bench MODEL`: how fast a model is on this machine, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import grus
from app.commands.bench_media import listening, reading, speaking
from app.commands.options import add_model, add_profile, check_profile, load_options, say_quantized
from app.runtime.catalogue import capabilities_of, main_use
from engine.benchmark import Figure, Say, TextBenchmark
from engine.describe import describe
from engine.errors import BadRequest
from engine.loading import LoadedModel, LoadOptions, fetch

DESCRIPTION = """\
Measures a model on this machine, through the engine, as it is used: a model that chats (reading a prompt, answering one or
many at once, going on with a conversation), one that speaks (the first sound, work per second of sound), one that listens
(the real-time factor) or one that reads pages (pages a minute, tokens a second). Takes a minute or more on a CPU.

  grus bench Qwen/Qwen3-0.6B
  grus bench ./qwen3-tts --voice vivian --streams 1,2
  grus bench ./qwen3-tts-base --clone me.wav
  grus bench ./moonshine-base --input talk.mp3
  grus bench ./paddleocr-vl --input report.pdf
  grus bench ./qwen3-vl --kind read"""
KINDS = ("auto", "chat", "speak", "listen", "read")
_NOT_BY_ITSELF = "is a part of other models (a codec, a layout), and is not measured by itself."


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "bench",
        help="how fast a model is here",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model(command)
    command.add_argument(
        "--kind", choices=KINDS, default="auto", help="what it is measured at (default: auto, what the model is for)"
    )
    command.add_argument(
        "--streams", metavar="N,N", help="answers, voices or sounds at once (default: 1,4,8,16; of sound 1,4)"
    )
    command.add_argument("--runs", type=int, default=3, metavar="N", help="runs a figure is the median of (default: 3)")
    add_profile(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    chat = command.add_argument_group("models that chat")
    chat.add_argument("--prompt", type=int, default=512, metavar="N", help="tokens of prompt to read (default: 512)")
    chat.add_argument("--reply", type=int, default=32, metavar="N", help="tokens of each answer (default: 32)")
    media = command.add_argument_group("models that speak, listen or read")
    media.add_argument(
        "--input",
        type=Path,
        metavar="FILE",
        help="a text that is spoken, a recording that is listened to, or an image or PDF that is read (default: an example)",
    )
    media.add_argument("--voice", metavar="NAME", help="a preset of the model, or a saved voice (default: its first)")
    media.add_argument("--clone", metavar="WAV", type=Path, help="speak in the voice of this recording")
    media.add_argument("--instructions", metavar="TEXT", help="how it is said, or what the voice is like")
    command.set_defaults(command=bench)


def bench(options: argparse.Namespace) -> int:
    streams = None if options.streams is None else counts(options.streams)
    for name in ("runs", "prompt", "reply"):
        if not 1 <= getattr(options, name) <= 1_000_000:
            raise BadRequest(f"--{name} must be a number from 1 on, not {getattr(options, name)}.", name)
    check_profile(options.profile)
    load = load_options(options)
    kind = options.kind if options.kind != "auto" else main_use(capabilities_of(str(fetch(options.model, load))))
    if kind in ("part", "layout", "diarize", "verify", "align"):
        raise BadRequest(f"{options.model} {_NOT_BY_ITSELF}", "model")
    measure = {"speak": speaking, "listen": listening, "read": reading}.get(kind, _chat)
    # what a model that speaks has beside it, a codec, is of another type
    alone = load if kind == "chat" else replace(load, model_type="auto", format="auto", mmproj="auto")
    loaded, memory, found = measure(options, alone, streams, _say)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    found.append(Figure("memory of this process", memory / 1e6, "MB"))
    backend = loaded.backend
    if options.json:
        report = {
            "model": options.model,
            "kind": kind,
            "backend": {"name": backend.name, "device": backend.device, "dtype": backend.dtype},
            "machine": backend.describe(),
            "figures": [figure.as_dict() for figure in found],
        }
        print(json.dumps(report, ensure_ascii=False))
    else:
        print(f"{options.model} on {backend.describe()}, {backend.name} in {backend.dtype}")
        width = max(len(figure.what) for figure in found)
        for figure in found:
            print(f"  {figure.what:<{width}}  {_number(figure.value):>10} {figure.unit}")
    return 0


def _chat(
    options: argparse.Namespace, load: LoadOptions, streams: list[int] | None, say: Say
) -> tuple[LoadedModel, int, list[Figure]]:
    with grus.Model(options.model, load, profile=options.profile) as model:
        say_quantized(model.loaded.quant, options.quant)
        found = [Figure("load", model.loaded.load_seconds, "s")]
        if read := describe(options.model, load).read_bytes:
            found.append(Figure("weights that a token reads", read / 1e6, "MB"))
        measure = TextBenchmark(model.engine, model.loaded, say)
        found += measure.all(options.prompt, options.reply, streams or (1, 4, 8, 16), options.runs)
        return model.loaded, model.engine.stats().process_memory, found


def _say(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[Kmeasuring: {what}", end="", file=sys.stderr, flush=True)


def _number(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def counts(text: str) -> list[int]:
    """Numbers of streams, as `1,4,8`."""
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(1 <= n <= 1024 for n in found):
        raise BadRequest(f"--streams takes whole numbers from 1 to 1024, as in 1,4,8. It got {text!r}.", "streams")
    return found
