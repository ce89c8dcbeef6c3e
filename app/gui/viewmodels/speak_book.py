"""Audiobooks in the Speak pane: what is made of which document, and the work beside the UI thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.runtime.pipelines import Host
    from engine.pipelines.speaking.voice import VoiceSettings


@dataclass(frozen=True)
class BookWork:
    """Plain data, which is stored with the result."""

    source: str  # the document
    target: str  # the audiobook
    chapters: str = ""  # their numbers, as in 2-5,9; empty: all
    per_chapter: bool = False
    subtitles: bool = False


@dataclass(frozen=True)
class BookShare:
    """`share` of the text is spoken, `before` of it by an earlier process. `chapter`: the one at work, from 1."""

    share: float
    before: float
    chapter: int
    chapters: int


def work_from_record(kept: Mapping[str, Any] | None) -> BookWork | None:
    """What was stored, also by another version."""
    known = {field.name for field in fields(BookWork)}
    try:
        return BookWork(**{key: value for key, value in kept.items() if key in known}) if kept else None
    except TypeError:
        return None


def chapter_numbers(chosen: list[int], count: int) -> str:
    """Numbers from 1 as a range; empty for all."""
    return "" if len(chosen) == count else ",".join(map(str, chosen))


def spoken_book(
    host: Host, work: BookWork, model: str, settings: VoiceSettings, pronunciations: str = ""
) -> Iterator[BookShare | float]:
    """Runs off the UI thread. How far it is, and at last the seconds of its sound. `pronunciations`: the lines of a list."""
    from app.runtime import pipelines
    from app.runtime.voice import chosen_chapters
    from engine.pipelines.reading.book import open_book
    from engine.pipelines.speaking.audiobook import BookOptions, MadeBook, speak_book
    from engine.pipelines.speaking.pronunciation import Pronunciations
    from engine.pipelines.speaking.speech import SpeechOptions

    book = chosen_chapters(open_book(work.source), work.chapters or None)
    name = pipelines.chosen(host, "speak", model)
    speech = SpeechOptions(pronunciations=Pronunciations.parsed(pronunciations))
    options = BookOptions(settings, speech=speech, per_chapter=work.per_chapter, subtitles=work.subtitles)
    for step in speak_book(pipelines.speaker(host, name), name, book, Path(work.target), options):
        if isinstance(step, MadeBook):
            yield step.seconds
        else:
            yield BookShare(step.done / step.total, step.before / step.total, step.chapter + 1, len(book.chapters))
