"""`grus run [MODEL] PROMPT`: one prompt, one answer, streamed; figures on stderr. Without MODEL the Guide answers."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grus
from app.commands.options import (
    add_conversation,
    add_model,
    check_profile,
    engine_settings,
    load_options,
    reasoning,
    sampling,
    say_guide,
    say_notes,
    say_quantized,
)
from app.runtime.chat import ReplyParser
from engine.errors import BadRequest
from engine.hub.cache import parse
from engine.starter import GUIDE, starter
from engine.types import Event, Failed, RequestHandle, Timings

DESCRIPTION = """\
Answers one prompt and streams the answer to standard output. Speed goes to standard error.

  grus run "How do I read a PDF?"
  grus run Qwen/Qwen3-0.6B "Why is the sky blue?"
  cat report.txt | grus run ./my-model - --system "Summarize in three sentences."
  grus run ./my-vision-model "What is in this picture?" --image cat.jpg
  grus run ./my-model --raw "Once upon a time" --json"""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "run",
        help="answer one prompt",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model(command, GUIDE)
    command.add_argument("prompt", metavar="PROMPT", help="the prompt; - reads it from standard input")
    command.add_argument("--raw", action="store_true", help="continue the prompt as it is, without the chat template")
    add_conversation(command)
    command.add_argument("--json", action="store_true", help="print one JSON object when the answer is complete")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    params, reasons = sampling(options), reasoning(options)
    _check_prompt(options)
    text = sys.stdin.read() if options.prompt == "-" else options.prompt
    if options.raw and options.system is not None:
        raise BadRequest("--raw sends the prompt as it is, so it cannot be used with --system.", "system")
    if options.raw and options.image:
        raise BadRequest("--raw sends the prompt as it is, so it cannot be used with --image.", "image")
    if options.raw and any(value is not None for value in reasons.values()):
        raise BadRequest("--raw sends the prompt as it is: reasoning is a matter of the chat template.", "raw")
    with opened(options) as model:
        prepared = model.prepare(text, params, raw=options.raw, system=options.system, images=options.image, **reasons)
        say_notes(prepared.prompt.notes)
        handle = model.service.submit(prepared.request)
        printer = ReplyPrinter(
            prepared.reader, answer=not options.json, reasoning=not (options.json or options.hide_reasoning)
        )
        try:
            printer.follow(handle)
        except KeyboardInterrupt:
            handle.cancel()
            print()
            raise
        result = handle.result()
        timings = result.timings
        if options.json:
            backend = model.loaded.backend
            report = {
                "text": printer.answer,
                "reasoning": printer.reasoning,
                "prompt_ids": prepared.prompt.ids,
                "output_ids": list(result.ids),
                "finish_reason": result.reason,
                "timings": timing_report(timings, model.loaded.load_seconds),
                "model": options.model,
                "backend": {"name": backend.name, "device": backend.device, "dtype": backend.dtype},
            }
            print(json.dumps(report, ensure_ascii=False))
        else:
            print()
            print(figures(timings), file=sys.stderr)
    return 0


@contextmanager
def opened(options: argparse.Namespace) -> Iterator[grus.Model]:
    """The model that answers; what the person should know of it is said."""
    check_profile(options.profile)
    settings = engine_settings(options)
    with grus.Model(options.model, load_options(options), settings, options.profile) as model:
        say_quantized(model.loaded.quant, options.quant)
        say_guide(options.model)
        yield model


class ReplyPrinter:
    """Prints a reply while it streams: its reasoning, an empty line, its answer. Keeps both."""

    def __init__(self, reader: ReplyParser, answer: bool = True, reasoning: bool = True) -> None:
        self._reader = reader
        self._shown = {"answer": answer, "reasoning": reasoning}
        self._texts: dict[str, str] = {"answer": "", "reasoning": ""}

    @property
    def answer(self) -> str:
        return self._texts["answer"]

    @property
    def reasoning(self) -> str:
        return self._texts["reasoning"]

    def follow(self, handle: RequestHandle) -> None:
        """To the reply's end. Raises the error of one that failed."""
        for event in handle:
            if isinstance(event, Failed):
                raise event.error
            self._print(event)

    def _print(self, event: Event) -> None:
        for part in self._reader.read(event):
            if part.kind not in self._texts or not part.text:
                continue
            if self._shown[part.kind]:
                between = part.kind == "answer" and not self.answer and self.reasoning and self._shown["reasoning"]
                print("\n\n" if between else "", part.text, sep="", end="", flush=True)
            self._texts[part.kind] += part.text


def _check_prompt(options: argparse.Namespace) -> None:
    """Of two words, only the prompt must be given; a lone model's name was hardly meant as the prompt."""
    lone = options.prompt
    if options.model == GUIDE and not lone.strip():
        raise BadRequest('The prompt is empty. Say what to ask: grus run "How do I read a PDF?"', "prompt")
    if options.model == GUIDE and (parse(lone) or starter(lone) or Path(lone).expanduser().is_dir()):
        raise BadRequest(f'Say what to ask, too: grus run {lone} "Why is the sky blue?"', "prompt")


def timing_report(timings: Timings, load_seconds: float) -> dict[str, float | int]:
    return {"load_seconds": round(load_seconds, 4), **timings.report()}


def figures(timings: Timings) -> str:
    """One line for people: tokens, speed, time to first token."""
    rate = f"{timings.decode_rate:.1f} tokens/s, " if timings.decode_rate else ""
    count = "1 token" if timings.output_tokens == 1 else f"{timings.output_tokens} tokens"
    return f"{count}, {rate}first token after {timings.first_token:.2f} s ({timings.prompt_tokens} tokens of prompt)"
