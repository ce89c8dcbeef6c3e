"""What was said, and when: as plain text, subtitles or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from engine.errors import BadRequest


@dataclass(frozen=True)
class Word:
    text: str
    start: float  # seconds from the beginning of the sound
    end: float


@dataclass(frozen=True)
class Segment:
    """A stretch of speech. `doubtful`: the model repeated itself, and a second try did not help."""

    start: float
    end: float
    text: str
    confidence: float = 1.0  # the mean probability of its tokens
    words: Sequence[Word] = field(default_factory=tuple)
    doubtful: bool = False


@dataclass(frozen=True)
class Transcript:
    segments: Sequence[Segment]
    seconds: float  # of the sound
    language: str

    @property
    def text(self) -> str:
        return " ".join(segment.text for segment in self.segments if segment.text)


def as_text(transcript: Transcript) -> str:
    return "".join(f"{segment.text}\n" for segment in transcript.segments if segment.text)


def as_srt(transcript: Transcript) -> str:
    lines = []
    for number, segment in enumerate((s for s in transcript.segments if s.text), 1):
        times = f"{clock(segment.start, ',')} --> {clock(segment.end, ',')}"
        lines.append(f"{number}\n{times}\n{_escaped(segment.text)}\n")
    return "\n".join(lines)


def as_vtt(transcript: Transcript) -> str:
    lines = ["WEBVTT\n"]
    for segment in transcript.segments:
        if segment.text:
            text = segment.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
            lines.append(f"{clock(segment.start, '.')} --> {clock(segment.end, '.')}\n{_escaped(text)}\n")
    return "\n".join(lines)


def as_json(transcript: Transcript) -> str:
    body = {"text": transcript.text, "language": transcript.language, "duration": round(transcript.seconds, 3)}
    segments = [asdict(segment) for segment in transcript.segments]
    for timed in (*segments, *(word for segment in segments for word in segment["words"])):
        timed["start"], timed["end"] = round(timed["start"], 3), round(timed["end"], 3)  # as subtitles have them
    return json.dumps(body | {"segments": segments}, ensure_ascii=False, indent=1) + "\n"


FORMATS: dict[str, Callable[[Transcript], str]] = {"txt": as_text, "srt": as_srt, "vtt": as_vtt, "json": as_json}


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
    """An empty line would end the subtitle, an arrow would begin another."""
    return " ".join(text.split()).replace("-->", "->")
