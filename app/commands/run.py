"""`grus run [MODEL] PROMPT`: one prompt, one answer, streamed; figures on stderr. Without MODEL the Guide answers."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
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
from app.commands.tool_use import ToolTerminal, add_tools, tool_terminal
from app.runtime.chat import ReplyCall, ReplyCollector, ReplyParser
from app.runtime.tools.loop import ModelReply
from engine.errors import BadRequest
from engine.hub.cache import parse
from engine.starter import GUIDE, starter
from engine.types import Event, Failed, RequestHandle, SamplingParams, Timings

DESCRIPTION = """\
Answers one prompt and streams the answer to standard output. Speed goes to standard error.

  grus run "How do I read a PDF?"
  grus run Qwen/Qwen3-0.6B "Why is the sky blue?"
  cat report.txt | grus run ./my-model - --system "Summarize in three sentences."
  grus run ./my-vision-model "What is in this picture?" --image cat.jpg
  grus run ./my-gemma-4-E2B "Write down what is said." --audio memo.mp3
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
    add_tools(command)
    command.add_argument("--json", action="store_true", help="print one JSON object when the answer is complete")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    params, reasons = sampling(options), reasoning(options)
    _check_prompt(options)
    text = sys.stdin.read() if options.prompt == "-" else options.prompt
    if options.raw and options.system is not None:
        raise BadRequest("--raw sends the prompt as it is, so it cannot be used with --system.", "system")
    for name in ("image", "audio"):
        if options.raw and getattr(options, name):
            raise BadRequest(f"--raw sends the prompt as it is, so it cannot be used with --{name}.", name)
    if options.raw and any(value is not None for value in reasons.values()):
        raise BadRequest("--raw sends the prompt as it is: reasoning is a matter of the chat template.", "raw")
    if options.raw and (options.tools or options.tool):
        raise BadRequest("--raw sends the prompt as it is: tools are a matter of the chat template.", "raw")
    with opened(options) as model, tool_terminal(options, model) as tools:
        if tools is not None:
            return _run_with_tools(options, model, tools, grus.with_images(text, options.image, options.audio))
        shown = dict(images=options.image, sounds=options.audio)
        prepared = model.prepare(text, params, raw=options.raw, system=options.system, **shown, **reasons)
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


def _run_with_tools(options: argparse.Namespace, model: grus.Model, tools: ToolTerminal, content: Any) -> int:
    replies = ToolReplies(model, sampling(options), reasoning(options), not options.json, options.hide_reasoning)
    system = [{"role": "system", "content": options.system}] if options.system else []
    result = tools.loop(replies.ask).run([*system, {"role": "user", "content": content}])
    if options.json:
        steps = [
            {"tool": one.name, "arguments": one.arguments, "outcome": one.outcome, "result": one.result}
            for one in result.steps
        ]
        print(json.dumps({"text": result.answer, "steps": steps, "complete": result.complete}, ensure_ascii=False))
    elif replies.timings is not None:
        print(figures(replies.timings), file=sys.stderr)
    return 0


class ToolReplies:
    """Gets the replies of a tool loop from a model, and prints them while they stream."""

    def __init__(
        self,
        model: grus.Model,
        params: SamplingParams,
        reasons: dict[str, Any],
        shown: bool = True,
        hides_reasoning: bool = False,
    ) -> None:
        self._model, self._params, self._reasons = model, params, reasons
        self._shown, self._reasoning = shown, shown and not hides_reasoning
        self._noted: set[str] = set()
        self.timings: Timings | None = None  # of the last reply
        self.stopped = ""  # what a reply said that Ctrl-C stopped

    def ask(self, messages: Sequence[Mapping[str, Any]], offered: Sequence[Mapping[str, Any]]) -> ModelReply:
        prepared = self._model.prepare(messages, self._params, tools=offered, **self._reasons)
        say_notes([note for note in prepared.prompt.notes if note not in self._noted])
        self._noted.update(prepared.prompt.notes)
        handle = self._model.service.submit(prepared.request)
        printer = ReplyPrinter(prepared.reader, answer=self._shown, reasoning=self._reasoning)
        try:
            printer.follow(handle)
        except KeyboardInterrupt:
            handle.cancel()
            self.stopped = printer.answer
            raise
        if self._shown and printer.answer:
            print()
        self.timings = handle.result().timings
        return ModelReply(printer.answer, printer.calls)


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
        self._collector = ReplyCollector()

    @property
    def answer(self) -> str:
        return self._texts["answer"]

    @property
    def reasoning(self) -> str:
        return self._texts["reasoning"]

    @property
    def calls(self) -> Sequence[ReplyCall]:
        return tuple(call for message in self._collector.messages() for call in message.calls)

    def follow(self, handle: RequestHandle) -> None:
        """To the reply's end. Raises the error of one that failed."""
        for event in handle:
            if isinstance(event, Failed):
                raise event.error
            self._print(event)

    def _print(self, event: Event) -> None:
        for part in self._reader.read(event):
            self._collector.add(part)
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
