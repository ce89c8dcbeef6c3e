"""The part of `grus speak` that makes audiobooks: `--book FILE`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import grus
from app.commands.options import writable
from app.runtime.voice import chosen_chapters
from engine.errors import BadRequest
from engine.hub.download import clock
from engine.pipelines.reading.book import Book, open_book
from engine.pipelines.speaking.audiobook import BOOK_ENDINGS, BookProgress, book_ending
from engine.pipelines.speaking.passage_store import unfinished_folder
from engine.pipelines.speaking.speech import SpeechOptions


def add_book(command: Any) -> None:
    book = command.add_argument_group(
        "a book", f"-o names a file that ends in {', '.join(BOOK_ENDINGS)}; without it, an m4b in the current folder"
    )
    book.add_argument(
        "--book", type=Path, metavar="FILE", help="make an audiobook of an epub, PDF, docx, Markdown or text file"
    )
    book.add_argument("--list-chapters", action="store_true", help="list the book's chapters, and make nothing")
    book.add_argument("--chapters", metavar="N", help="these chapters only: 2-5,9 or 7- (default: all)")
    book.add_argument(
        "--heading-level",
        type=int,
        metavar="N",
        help="headings down to this level begin a chapter (default: the highest level that there is more than one heading of)",
    )
    book.add_argument("--per-chapter", action="store_true", help="one file a chapter, in a folder of the name of -o")
    book.add_argument("--subtitles", action="store_true", help="write an SRT file beside each file, a line a sentence")
    book.add_argument(
        "--cover", type=Path, metavar="IMAGE", help="the cover (default: the book's own; a PDF's first page)"
    )
    book.add_argument(
        "--speaker",
        action="append",
        default=[],
        metavar="NAME=VOICE",
        help="who is in square brackets in the text, as in [anna], speaks in this voice until the paragraph ends; may be repeated",
    )
    book.add_argument(
        "--restart", action="store_true", help="drop what an interrupted command has spoken, and begin again"
    )


def check_book(options: argparse.Namespace) -> None:
    """Raise BadRequest for options that do not go together."""
    given = {
        "--chapters": options.chapters, "--heading-level": options.heading_level, "--per-chapter": options.per_chapter,
        "--subtitles": options.subtitles, "--cover": options.cover, "--speaker": options.speaker, "--restart": options.restart,
        "--list-chapters": options.list_chapters,
    }  # fmt: skip
    if options.book is None:
        alone = next((name for name, value in given.items() if value), None)
        if alone is not None:
            raise BadRequest(f"{alone} goes with --book.", "book")
        return
    if options.text is not None or options.file is not None:
        raise BadRequest("Give a text, --file or --book: one of them.", "book")
    if options.stream:
        raise BadRequest("--stream does not go with --book: chapter marks are written before the sound.", "stream")
    if options.markdown:
        raise BadRequest("--markdown does not go with --book: a book's marks are never read aloud.", "markdown")
    _speakers(options)
    book_ending(writable(_target(options)), options.per_chapter)
    if _target(options).exists() and options.book.exists() and _target(options).samefile(options.book):
        raise BadRequest(f"{_target(options)} is the book itself. Give the spoken one another name.", "output")
    if not options.per_chapter and _target(options).is_dir():
        raise BadRequest(f"{_target(options)} is a folder.", "output")


def opened_book(options: argparse.Namespace) -> Book:
    return chosen_chapters(open_book(options.book, options.heading_level), options.chapters, options.cover)


def list_chapters(options: argparse.Namespace) -> None:
    check_book(options)
    book = opened_book(options)
    print(f"{book.title}{f', {book.author}' if book.author else ''}", file=sys.stderr)
    width = len(str(len(book.chapters)))
    for number, chapter in enumerate(book.chapters, 1):
        print(f"{number:{width}}  {chapter.title}  ({chapter.words} words)")


def speak_book(
    speaker: grus.Speaker, book: Book, voice: Any, speech: SpeechOptions, options: argparse.Namespace
) -> None:
    target, bar, began = _target(options), _BookBar(book), time.monotonic()
    try:
        made = speaker.speak_book(
            book, target, speech, voice=voice, language=options.language, instructions=options.instructions,
            speakers=_speakers(options), per_chapter=options.per_chapter, subtitles=options.subtitles,
            restart=options.restart, progress=bar,
        )  # fmt: skip
    except KeyboardInterrupt:
        bar.clear()
        print(f"Stopped. The same command continues; {unfinished_folder(target)} has what is spoken.", file=sys.stderr)
        raise
    except BadRequest as error:
        if error.param != "restart":
            raise
        raise BadRequest(f"{error} --restart deletes it.", "restart") from None
    bar.clear()
    spent = time.monotonic() - began
    where = made.files[0].parent if options.per_chapter else made.files[0]
    print(f"{where}: {len(made.chapters)} chapters, {clock(made.seconds)} of sound in {spent:.1f} s", file=sys.stderr)
    for passage in made.skipped:
        print(f"Left out, because the voice came to no end: {passage}", file=sys.stderr)


def _target(options: argparse.Namespace) -> Path:
    return options.output if options.output is not None else Path(f"{options.book.stem}.m4b")


def _speakers(options: argparse.Namespace) -> Mapping[str, str]:
    named: dict[str, str] = {}
    for one in options.speaker:
        name, equals, voice = one.partition("=")
        if not (equals and name.strip() and voice.strip()):
            raise BadRequest(f"A speaker is NAME=VOICE, not {one!r}.", "speaker")
        named[name.strip()] = voice.strip()
    return named


class _BookBar:
    """A line on stderr: which chapter, how far, and how long still. Where stderr is no terminal, a line a chapter."""

    def __init__(self, book: Book) -> None:
        self._book, self._began, self._shown, self._chapter = book, time.monotonic(), 0, -1

    def __call__(self, now: BookProgress) -> None:
        title = f"Chapter {now.chapter + 1} of {len(self._book.chapters)}: {self._book.chapters[now.chapter].title}"
        if not sys.stderr.isatty():
            if now.chapter != self._chapter:
                self._chapter = now.chapter
                print(title, file=sys.stderr, flush=True)
            return
        spent, made = time.monotonic() - self._began, now.done - now.before
        left = f", {clock(spent / made * (now.total - now.done))} left" if made and spent > 2 else ""
        line = f"{now.done / now.total:4.0%}  {title}{left}"
        print(f"\r{line:<{self._shown}}", end="", file=sys.stderr, flush=True)
        self._shown = len(line)

    def clear(self) -> None:
        if self._shown:
            print(f"\r{' ' * self._shown}\r", end="", file=sys.stderr, flush=True)
            self._shown = 0
