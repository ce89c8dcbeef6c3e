"""`grus info MODEL`: what a model is, what it needs, and what would run it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from app.commands.options import add_model, load_options
from engine.describe import Description, describe
from engine.loading import gigabytes


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "info",
        help="what a model is and whether it runs here",
        description="Shows what a model is, what memory it needs, and which backend would run it, without loading it. "
        "Exits with 2 when it cannot run here.",
    )
    add_model(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(command=info)


def info(options: argparse.Namespace) -> int:
    found = describe(options.model, load_options(options))
    if options.json:
        print(json.dumps(found.as_dict(), ensure_ascii=False))
    else:
        width = max(len(label) for label, _ in lines(found))
        for label, value in lines(found):
            print(f"{label:<{width}}  {value}")
    return 0 if found.runs else 2


def lines(found: Description) -> Iterator[tuple[str, str]]:
    """Label and value, in reading order; what is unknown is left out."""
    yield "Model", found.name
    yield "Folder", found.folder
    yield "Architecture", found.architecture + (f" ({found.layers} layers)" if found.layers else "")
    if found.through:
        yield "Through", found.through
    if found.parameters:
        yield (
            "Size",
            f"{count(found.parameters)} parameters, {gigabytes(found.stored_bytes)} stored as {found.stored_as}",
        )
    if found.context:
        yield "Context", f"{found.context} tokens, {gigabytes(found.bytes_per_token * 1000)} of memory per 1,000"
    if found.memory_needed:
        form = f"as {found.quant}" if found.quant else f"in {found.dtype}"
        talk = f" with {found.talk} tokens of conversation" if found.talk else ""
        yield "Memory", f"{gigabytes(found.memory_needed)} {form}{talk}"
    if found.tokenizer:
        yield "Tokenizer", found.tokenizer
        yield "Chat template", found.template
    if found.sees:
        yield "Sees", found.sees
    if found.sampling:
        yield "Sampling", ", ".join(f"{key} {value:g}" for key, value in found.sampling.items())
    if found.backend:
        yield "Backend", f"{found.backend} on {found.device} in {found.dtype}: {found.backend_reason}"
    if found.runs_on:
        yield "Runs on", found.runs_on
    for change in found.kept_as:
        yield "Kept as", change
    yield "Runs here", "yes" if found.runs else "no"
    for reason in found.why_not:
        yield "Why not", reason


def count(n: int) -> str:
    if n >= 1e9:
        return f"{n / 1e9:.1f} billion"
    return f"{n / 1e6:.1f} million" if n >= 1e6 else f"{n:,}"
