"""`grus info MODEL`: what a model is, what it needs, and what would run it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from app.commands.options import add_model, load_options
from app.runtime.recommended import RecommendedModel, read_catalogue
from engine.describe import AdapterDescription, Description, describe, describe_adapter
from engine.errors import GrusError
from engine.hub.resolve import resolve
from engine.loading import LoadOptions, fetch, gigabytes
from engine.machine import Machine, look, needed_bytes
from engine.weights.lora import is_adapter

_EXPERTS_STAY = "experts stay in the file, and replies are as slow as the disk"


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "info",
        help="what a model is and whether it runs here",
        description="Shows what a model is, what memory it needs, and which backend would run it, without loading it. "
        "A recommended model that is not here yet is described as far as that is known before a download. Exits with 2 when it cannot run here.",
    )
    add_model(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(command=info)


def info(options: argparse.Namespace) -> int:
    where = load_options(options)
    choice = to_download(options.model, where)
    if choice is not None:
        machine = look(where)
        runs = choice.fit(machine) != "too large"
        show(before_download(choice, machine), as_dict(choice, machine) if options.json else None)
    elif adapter_here(options.model, where):
        about = describe_adapter(options.model, where)
        runs = True
        show(adapter_lines(about), about.as_dict() if options.json else None)
    else:
        found = describe(options.model, where)
        runs = found.runs
        show(lines(found), found.as_dict() if options.json else None)
    return 0 if runs else 2


def show(labelled: Iterable[tuple[str, str]], as_json: dict[str, Any] | None) -> None:
    if as_json is not None:
        print(json.dumps(as_json, ensure_ascii=False))
        return
    rows = list(labelled)
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        print(f"{label:<{width}}  {value}")


def to_download(name: str, where: LoadOptions) -> RecommendedModel | None:
    """The catalogue's entry of a model that is not on this machine."""
    choice = next((choice for choice in read_catalogue() if choice.repo == name), None)
    if choice is None:
        return None
    try:
        resolve(name, where.cache_dir, download=False, weights=where.format)
    except GrusError:
        return choice
    return None


def adapter_here(name: str, where: LoadOptions) -> bool:
    """Whether it is an adapter. Brings it, or the model that it is, to this machine."""
    return is_adapter(fetch(name, where))


def adapter_lines(found: AdapterDescription) -> Iterator[tuple[str, str]]:
    yield "Adapter", found.name
    yield "Folder", found.place
    yield "Kind", f"LoRA ({found.form}), rank {', '.join(map(str, found.ranks))}"
    yield "Made for", found.base or "unknown: its files do not say"
    yield "Changes", f"{found.matrices} matrices: {', '.join(found.targets)}"
    yield "Size", gigabytes(found.stored_bytes)
    yield "Use", f"grus run MODEL PROMPT --adapter {found.name}; grus serve --model MODEL --adapter NAME={found.name}"


# the commands that download a model of a task
_BEGINS = {
    "chat": "`grus run` and `grus chat` begin",
    "read": "`grus read` begins",
    "listen": "`grus listen` begins",
    "speak": "`grus speak` begins",
    "embed": "`grus embed` and `grus index --embed` begin",
    "rank": "`grus rerank` and `grus ask --rerank` begin",
}


def before_download(choice: RecommendedModel, machine: Machine) -> Iterator[tuple[str, str]]:
    yield "Model", f"{choice.name} ({choice.repo})"
    yield "Does", choice.does
    yield (
        "Download",
        f"about {gigabytes(choice.size)}, {choice.format}; {_BEGINS.get(choice.task, _BEGINS['chat'])} with it",
    )
    yield "Licence", choice.licence + (", to be accepted on huggingface.co first" if choice.gated else "")
    yield "Memory", f"about {gigabytes(needed_bytes(choice.size))} with a conversation"
    if speed := choice.speed(machine):
        yield "Speed", f"about {spoken(speed)} tokens/s here"
    fit = choice.fit(machine)
    yield "Runs here", "no" if fit == "too large" else "yes"
    if fit == "tight":
        yield "Tight", f"models may use {gigabytes(machine.allowed)} of this machine's {gigabytes(machine.memory)}"
    elif fit == "from disk":
        yield "From disk", f"this machine has {gigabytes(machine.memory)}: {_EXPERTS_STAY}"
    elif fit == "too large":
        yield "Why not", f"This machine has {gigabytes(machine.memory)}."


def as_dict(choice: RecommendedModel, machine: Machine) -> dict[str, Any]:
    return asdict(choice) | {
        "downloaded": False,
        "memory_needed": needed_bytes(choice.size),
        "memory_total": machine.memory,
        "tokens_per_second": round(choice.speed(machine), 1),
        "runs": choice.fit(machine) != "too large",
    }


def spoken(speed: float) -> str:
    return f"{speed:.0f}" if speed >= 1 else f"{speed:.1f}"


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
            f"{count(found.parameters)} parameters, {gigabytes(found.stored_bytes)} stored as {found.stored_as}"
            + (f", of which a token reads {gigabytes(found.read_bytes)}" if found.read_bytes else ""),
        )
    if found.context:
        yield "Context", f"{found.context} tokens, {_context_memory(found)}"
    for adapter in found.adapters:
        ranks = ", ".join(map(str, adapter.ranks))
        yield "Adapter", f"{adapter.name}: rank {ranks}, {adapter.matrices} matrices, {gigabytes(adapter.stored_bytes)}"
    if found.memory_needed:
        form = f" as {found.quant}" if found.quant else f" in {found.dtype}" if found.dtype else ""
        talk = f" with {found.talk} tokens of conversation" if found.talk else ""
        yield "Memory", f"{gigabytes(found.memory_needed)}{form}{talk}"
    if found.file_bytes:
        yield (
            "From disk",
            f"{gigabytes(found.file_bytes)} have no room in memory: {_EXPERTS_STAY}",
        )
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


def _context_memory(found: Description) -> str:
    per_thousand = gigabytes(found.bytes_per_prompt_token * 1000)
    if found.bytes_per_token == found.bytes_per_prompt_token:
        return f"{per_thousand} of memory per 1,000"
    reply = gigabytes(found.bytes_per_token * 1000) if found.bytes_per_token else "none"
    return f"{per_thousand} of memory per 1,000 of the prompt, {reply} per 1,000 of a long reply"


def count(n: int) -> str:
    if n >= 1e9:
        return f"{n / 1e9:.1f} billion"
    return f"{n / 1e6:.1f} million" if n >= 1e6 else f"{n:,}"
