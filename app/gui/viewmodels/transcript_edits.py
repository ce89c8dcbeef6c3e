"""Edits of a transcript's segments: words under the pointer, merging, splitting, replacing; and the history that undoes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from engine.pipelines.listening.transcript import TranscriptSegment, TranscriptWord, placed_words, split

_MOST = 200  # edits that can be undone


def word_at(segment: TranscriptSegment, position: int) -> TranscriptWord | None:
    """The word at a position of the text, or None between words and outside."""
    return next((one.word for one in placed_words(segment) if one.begin <= position < one.end), None)


def rewritten(segment: TranscriptSegment, text: str) -> TranscriptSegment:
    """With another text. As many words as before keep their times; what a person wrote is not doubtful."""
    words = list(split(text))
    timed = len(words) == len(segment.words)
    kept = tuple(replace(old, text=new) for old, new in zip(segment.words, words)) if timed else ()
    return replace(segment, text=text, words=kept, doubtful=False, confidence=1.0, tokens=(), scores=None)


def merged(first: TranscriptSegment, second: TranscriptSegment) -> TranscriptSegment:
    """Both as one. Words have times only where both have them."""
    text = f"{first.text} {second.text}".strip()
    words = (*first.words, *second.words) if first.words and second.words else ()
    lasted = [max(one.end - one.start, 1e-6) for one in (first, second)]
    confidence = (first.confidence * lasted[0] + second.confidence * lasted[1]) / sum(lasted)
    doubtful = first.doubtful or second.doubtful
    return TranscriptSegment(
        first.start, max(first.end, second.end), text, confidence, words, doubtful, speaker=first.speaker
    )


def parted(segment: TranscriptSegment, position: int) -> tuple[TranscriptSegment, TranscriptSegment] | None:
    """Two segments, the second from the word at or behind a position of the text; None where either would be empty."""
    placed = placed_words(segment)
    number = next((i for i, one in enumerate(placed) if one.end > position), len(placed))
    if not 0 < number < len(placed):
        return None
    cut = placed[number]
    words = tuple(segment.words) if len(segment.words) == len(placed) else ()
    plain = replace(segment, tokens=(), scores=None)
    return (
        replace(plain, end=cut.word.start, text=segment.text[: cut.begin].rstrip(), words=words[:number]),
        replace(plain, start=cut.word.start, text=segment.text[cut.begin :].strip(), words=words[number:]),
    )


def speakers_of(segments: Sequence[TranscriptSegment]) -> list[str]:
    """In the order in which they are heard."""
    return list(dict.fromkeys(segment.speaker for segment in segments if segment.speaker))


def spoken_by(segment: TranscriptSegment, speaker: str) -> TranscriptSegment:
    words = tuple(replace(word, speaker=speaker) for word in segment.words)
    return replace(segment, speaker=speaker, words=words)


def pattern_of(find: str, match_case: bool) -> re.Pattern[str] | None:
    """What finds these characters; None for none."""
    return re.compile(re.escape(find), 0 if match_case else re.IGNORECASE) if find.strip() else None


class SegmentEdit(NamedTuple):
    """A part of a list of segments, and what replaced it. `renamed`: the names of a speaker before and after, where that was the edit."""

    at: int
    old: tuple[TranscriptSegment, ...]
    new: tuple[TranscriptSegment, ...]
    renamed: tuple[str, str] | None = None


@dataclass
class SegmentHistory:
    """Changes of a list of segments. What is appended later stays."""

    _done: list[SegmentEdit] = field(default_factory=list)
    _undone: list[SegmentEdit] = field(default_factory=list)

    def change(
        self,
        segments: list[TranscriptSegment],
        at: int,
        count: int,
        new: Sequence[TranscriptSegment],
        renamed: tuple[str, str] | None = None,
    ) -> None:
        """Put `new` in the place of `count` segments."""
        self._done.append(SegmentEdit(at, tuple(segments[at : at + count]), tuple(new), renamed))
        del self._done[:-_MOST]
        self._undone.clear()
        segments[at : at + count] = new

    def undo(self, segments: list[TranscriptSegment]) -> SegmentEdit | None:
        """The edit that was taken back."""
        if not self._done:
            return None
        edit = self._done.pop()
        self._undone.append(edit)
        segments[edit.at : edit.at + len(edit.new)] = edit.old
        return edit

    def redo(self, segments: list[TranscriptSegment]) -> SegmentEdit | None:
        if not self._undone:
            return None
        edit = self._undone.pop()
        self._done.append(edit)
        segments[edit.at : edit.at + len(edit.old)] = edit.new
        return edit

    @property
    def can_undo(self) -> bool:
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        return bool(self._undone)
