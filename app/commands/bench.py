"""`grus bench MODEL`: how fast a model is on this machine, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import grus
from app.commands.options import add_model, check_profile, load_options, say_quantized
from engine.errors import BadRequest
from engine.measure import Figure, Measure


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "bench",
        help="how fast a model is here",
        description="Measures a model on this machine, through the engine: reading a prompt, answering one or many at "
        "once, and going on with a conversation. Takes a minute or more on a CPU.",
    )
    add_model(command)
    command.add_argument("--prompt", type=int, default=512, metavar="N", help="tokens of prompt to read (default: 512)")
    command.add_argument("--reply", type=int, default=32, metavar="N", help="tokens of each answer (default: 32)")
    command.add_argument("--streams", default="1,4,8,16", metavar="N,N", help="answers at once (default: 1,4,8,16)")
    command.add_argument("--runs", type=int, default=3, metavar="N", help="runs a figure is the median of (default: 3)")
    command.add_argument("--profile", type=Path, metavar="FILE", help="write a Chrome trace to FILE")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(command=bench)


def bench(options: argparse.Namespace) -> int:
    streams = counts(options.streams)
    check_profile(options.profile)
    with grus.Model(options.model, load_options(options), profile=options.profile) as model:
        say_quantized(model.loaded.quant, options.quant)
        backend = model.loaded.backend

        def say(what: str) -> None:
            if sys.stderr.isatty():
                print(f"\r\x1b[Kmeasuring: {what}", end="", file=sys.stderr, flush=True)

        found = [Figure("load", model.loaded.load_seconds, "s")]
        found += Measure(model.engine, model.loaded, say).all(options.prompt, options.reply, streams, options.runs)
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr)
        stats = model.engine.stats()
        found.append(Figure("memory of this process", stats.process_memory / 1e6, "MB"))
        if options.json:
            report = {
                "model": options.model,
                "backend": {"name": backend.name, "device": backend.device, "dtype": backend.dtype},
                "machine": backend.describe(),
                "figures": [figure.as_dict() for figure in found],
            }
            print(json.dumps(report, ensure_ascii=False))
        else:
            print(f"{options.model} on {backend.describe()}, {backend.name} in {backend.dtype}")
            width = max(len(figure.what) for figure in found)
            for figure in found:
                print(f"  {figure.what:<{width}}  {figure.value:>10.1f} {figure.unit}")
    return 0


def counts(text: str) -> list[int]:
    """Numbers of streams, as `1,4,8`."""
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(1 <= n <= 1024 for n in found):
        raise BadRequest(f"--streams takes whole numbers from 1 to 1024, as in 1,4,8. It got {text!r}.", "streams")
    return found
