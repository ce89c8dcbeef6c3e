"""Transcripts: segments and words with times, written as plain text, subtitles or JSON."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from engine.errors import BadRequest


@dataclass(frozen=True)
class TranscriptWord:
    text: str
    start: float  # seconds from the start of the sound
    end: float
    speaker: str = ""  # where a model tells speakers apart


@dataclass(frozen=True)
class TextWord:
    """A word of a segment: its characters in the text, and when it is said."""

    begin: int
    end: int
    word: TranscriptWord


@dataclass(frozen=True)
class TranscriptToken:
    id: int
    data: bytes  # of the text, in UTF-8; a character may be spread over several
    logprob: float


@dataclass(frozen=True)
class TranscriptScores:
    """What a model's own rules for believing a transcript were decided by."""

    logprob: float  # the mean of its tokens
    temperature: float = 0.0
    compression: float | None = None  # of its tokens by zlib: the higher, the more they repeat
    no_speech: float | None = None  # the probability that nobody speaks


@dataclass(frozen=True)
class TranscriptSegment:
    """A segment of speech. `doubtful`: the text loops, and a retry did not help."""

    start: float
    end: float
    text: str
    confidence: float = 1.0  # the mean probability of its tokens
    words: Sequence[TranscriptWord] = field(default_factory=tuple)
    doubtful: bool = False
    tokens: Sequence[TranscriptToken] = field(default_factory=tuple)
    scores: TranscriptScores | None = None
    speaker: str = ""


@dataclass(frozen=True)
class Transcript:
    segments: Sequence[TranscriptSegment]
    seconds: float  # of the sound
    language: str

    @property
    def text(self) -> str:
        return " ".join(segment.text for segment in self.segments if segment.text)


def as_text(transcript: Transcript) -> str:
    return "".join(f"{_named(segment)}{segment.text}\n" for segment in transcript.segments if segment.text)


def _named(segment: TranscriptSegment) -> str:
    return f"{segment.speaker}: " if segment.speaker else ""


def as_srt(transcript: Transcript) -> str:
    lines = []
    for number, segment in enumerate((s for s in transcript.segments if s.text), 1):
        times = f"{clock(segment.start, ',')} --> {clock(segment.end, ',')}"
        lines.append(f"{number}\n{times}\n{_escaped(_named(segment) + segment.text)}\n")
    return "\n".join(lines)


def as_vtt(transcript: Transcript) -> str:
    lines = ["WEBVTT\n"]
    for segment in transcript.segments:
        if segment.text:
            text = _for_vtt(segment.text)
            if segment.speaker:
                text = f"<v {_for_vtt(segment.speaker)}>{text}"
            lines.append(f"{clock(segment.start, '.')} --> {clock(segment.end, '.')}\n{_escaped(text)}\n")
    return "\n".join(lines)


def _for_vtt(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_markdown(transcript: Transcript) -> str:
    """A paragraph for each stretch of one speaker, or for each segment where speakers are not told apart."""
    made: list[tuple[TranscriptSegment, list[str]]] = []
    for segment in transcript.segments:
        if segment.text and made and segment.speaker and segment.speaker == made[-1][0].speaker:
            made[-1][1].append(segment.text)
        elif segment.text:
            made.append((segment, [segment.text]))
    return "\n".join(
        " ".join(f"**{_for_markdown(first.speaker)}** [{clock(first.start, '.')[:8]}] {' '.join(texts)}".split()) + "\n"
        if first.speaker
        else " ".join(f"[{clock(first.start, '.')[:8]}] {' '.join(texts)}".split()) + "\n"
        for first, texts in made
    )


def _for_markdown(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)


def as_json(transcript: Transcript) -> str:
    body = {"text": transcript.text, "language": transcript.language, "duration": round(transcript.seconds, 3)}
    segments = [as_dict(segment) for segment in transcript.segments]
    for timed in (*segments, *(word for segment in segments for word in segment["words"])):
        timed["start"], timed["end"] = round(timed["start"], 3), round(timed["end"], 3)  # as subtitles have them
    return json.dumps(body | {"segments": segments}, ensure_ascii=False, indent=1) + "\n"


def as_dict(segment: TranscriptSegment) -> dict[str, Any]:
    """What is said and when, and by whom where that is known, without the tokens behind it."""
    made = asdict(replace(segment, tokens=(), scores=None))
    for named in (made, *made["words"]):
        if not named["speaker"]:
            del named["speaker"]
    return {key: value for key, value in made.items() if key not in ("tokens", "scores")}


FORMATS: dict[str, Callable[[Transcript], str]] = {
    "txt": as_text,
    "srt": as_srt,
    "vtt": as_vtt,
    "json": as_json,
    "md": as_markdown,
}


def write(transcript: Transcript, format: str) -> str:
    if format not in FORMATS:
        raise BadRequest(f"A transcript is written as {', '.join(FORMATS)}, not as {format!r}.", "format")
    return FORMATS[format](transcript)


def clock(seconds: float, point: str) -> str:
    """00:01:02,345"""
    milliseconds = round(max(0.0, seconds) * 1000)
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{rest // 1000:02d}{point}{rest % 1000:03d}"


def _escaped(text: str) -> str:
    """One line without arrows: an empty line would end the subtitle, an arrow would start another."""
    return " ".join(text.split()).replace("-->", "->")


SHORTEST = 0.02  # seconds per word; in shorter segments all words are equally long


def words_in_time(segment: TranscriptSegment, ids: Sequence[int], times: np.ndarray,
                  decode: Callable[[Sequence[int]], str]) -> list[TranscriptWord]:  # fmt: skip
    """The segment's words with their times.

    Words are contiguous: each ends half-way between its last token and the next word's first. `times`: when each token is
    said, as a share of the segment, not decreasing. The segment's text may be shorter than the decoded `ids`."""
    wanted = list(split(segment.text))
    if not wanted:
        return []
    ends = _complete(len(wanted), ids, decode)
    span = segment.end - segment.start

    def moment(end: int) -> float:
        return segment.start + span * float(times[end - 1] + times[end]) / 2

    least = min(SHORTEST, span / len(wanted))
    stop = segment.end if ends[-1] >= len(ids) else max(moment(ends[-1]), segment.start + least * len(wanted))
    known, borders = [0], [segment.start]
    for i, end in enumerate(ends[:-1], 1):
        # a token that starts several words, or has no time of its own: its words share the time around it
        if not 0 < end < len(ids):
            continue
        border = moment(end)
        if borders[-1] + least * (i - known[-1]) <= border <= stop - least * (len(wanted) - i):
            known.append(i)
            borders.append(border)
    edges = np.interp(np.arange(len(wanted) + 1), [*known, len(wanted)], [*borders, stop]).tolist()
    return [TranscriptWord(word, begin, end) for word, begin, end in zip(wanted, edges, edges[1:])]


def split(text: str) -> Iterator[str]:
    """Words of a text, split at spaces; in scripts without spaces each character is a word."""
    for run in text.split():
        word = ""
        for sign in run:
            before = next(
                (one for one in reversed(word) if one.isalnum()), ""
            )  # punctuation belongs to the character beside it
            if before and sign.isalnum() and (_spaceless(sign) or _spaceless(before)):
                yield word
                word = ""
            word += sign
        yield word


def placed_words(segment: TranscriptSegment) -> list[TextWord]:
    """With the model's times where it gave some; else a word's share of the segment is that of its letters."""
    found = list(_places(segment.text))
    if len(segment.words) == len(found):
        return [TextWord(begin, end, word) for (begin, end), word in zip(found, segment.words)]
    total = sum(end - begin for begin, end in found)
    made, passed = [], 0
    for begin, end in found:
        start, stop = (
            segment.start + (segment.end - segment.start) * share / total for share in (passed, passed + end - begin)
        )
        made.append(TextWord(begin, end, TranscriptWord(segment.text[begin:end], start, stop)))
        passed += end - begin
    return made


def _places(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for word in split(text):
        begin = text.index(word, at)
        at = begin + len(word)
        yield begin, at


def _spaceless(sign: str) -> bool:
    return unicodedata.name(sign, "").startswith(("CJK", "HIRAGANA", "KATAKANA"))


def _complete(count: int, ids: Sequence[int], decode: Callable[[Sequence[int]], str]) -> list[int]:
    """For each of the first `count` words, the number of tokens after which it is complete."""
    ends: list[int] = []
    for taken in range(1, len(ids) + 1):
        begun = sum(1 for _ in split(decode(ids[:taken])))
        while len(ends) < min(begun - 1, count):
            ends.append(taken - 1)
    return ends + [len(ids)] * (count - len(ends))
