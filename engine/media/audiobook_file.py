"""Writes audiobooks: AAC (m4b, m4a), MP3 or Opus with chapter marks, cover and tags, through PyAV's encoders and muxers."""

from __future__ import annotations

import base64
import io
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import BadRequest, ErrorText
from engine.whole_file import whole_file

# by ending: the container, the encoder, bits a second, and the rate that the encoder needs (None: the sound's own)
_KINDS: dict[str, tuple[str, str, int, int | None]] = {
    "m4b": ("mp4", "aac", 80_000, None),
    "m4a": ("mp4", "aac", 80_000, None),
    "mp3": ("mp3", "libmp3lame", 80_000, None),
    "opus": ("ogg", "libopus", 40_000, 48_000),
}
ENDINGS = tuple(_KINDS)
_BLOCK = 1 << 14  # samples that are encoded at once
_AUDIOBOOK = "2"  # the kind of medium, as MP4 files number them


@dataclass(frozen=True)
class ChapterMark:
    title: str
    start: float  # seconds
    end: float


@dataclass(frozen=True)
class AudiobookTags:
    title: str
    author: str = ""
    album: str = ""  # the book, where the file is a chapter of it
    track: str = ""  # of a chapter: its number and theirs, as in 3/20
    language: str = ""
    cover: bytes = b""  # a JPEG file


def audiobook_ending(path: Path) -> str:
    """The kind of file that a name asks for. Raises BadRequest for one that is not written, and where PyAV is missing."""
    ending = path.suffix.lower().lstrip(".")
    if ending not in _KINDS:
        raise BadRequest(
            ErrorText(
                "An audiobook is written as {kinds}, not as {ending}.", kinds=", ".join(ENDINGS), ending=repr(ending)
            ),
            "output",
        )
    if find_spec("av") is None:
        raise BadRequest(
            ErrorText("Audiobooks are written through PyAV, which is missing here: pip install av"), "output"
        )
    return ending


def write_audiobook(
    path: Path, chunks: Iterable[np.ndarray], rate: int, tags: AudiobookTags, marks: Sequence[ChapterMark] = ()
) -> None:
    """Write mono samples. `path` appears when the file is complete."""
    import av

    ending = audiobook_ending(path)
    try:
        with whole_file(path) as part:
            _write(av, part, ending, chunks, rate, tags, marks)
    except (av.FFmpegError, OSError) as error:
        reason = str(getattr(error, "strerror", "") or error)
        raise BadRequest(
            ErrorText("{path} could not be written: {reason}.", path=path, reason=reason), "output"
        ) from None


def _write(
    av: Any, path: Path, ending: str, chunks: Iterable[np.ndarray], rate: int, tags: AudiobookTags,
    marks: Sequence[ChapterMark],
) -> None:  # fmt: skip
    container, codec, bits, needed = _KINDS[ending]
    options = {"brand": "M4B "} if ending == "m4b" else {}
    with av.open(str(path), "w", format=container, options=options) as file:
        sound = file.add_stream(codec, rate=needed or rate, layout="mono", bit_rate=bits)
        if tags.language:
            sound.metadata["language"] = tags.language
        file.metadata.update(_metadata(tags, ending))
        picture = None
        if tags.cover and container != "ogg":  # which keeps it among its tags
            width, height = _size(tags.cover)
            picture = file.add_mux_stream("mjpeg", width=width, height=height)
            picture.disposition = av.stream.Disposition.attached_pic
        file.set_chapters([
            {"id": number, "start": round(mark.start * 1000), "end": round(mark.end * 1000),
             "time_base": Fraction(1, 1000), "metadata": {"title": mark.title}}
            for number, mark in enumerate(marks)
        ])  # fmt: skip
        if picture is not None:
            packet = av.Packet(tags.cover)
            packet.stream, packet.time_base, packet.pts, packet.dts = picture, Fraction(1, 1000), 0, 0
            packet.is_keyframe = True
            file.mux(packet)
        at = 0
        for chunk in chunks:
            for begin in range(0, len(chunk), _BLOCK):
                block = np.clip(chunk[begin : begin + _BLOCK].astype(np.float32, copy=False), -1.0, 1.0)
                frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(block)[None], format="fltp", layout="mono")
                frame.sample_rate, frame.pts, frame.time_base = rate, at, Fraction(1, rate)
                at += len(block)
                file.mux(sound.encode(frame))
        file.mux(sound.encode(None))


def _metadata(tags: AudiobookTags, ending: str) -> dict[str, str]:
    named = {
        "title": tags.title, "artist": tags.author, "album_artist": tags.author, "album": tags.album or tags.title,
        "track": tags.track, "genre": "Audiobook",
    }  # fmt: skip
    if ending in ("m4b", "m4a"):
        named["media_type"] = _AUDIOBOOK
    if ending == "opus" and tags.cover:
        named["METADATA_BLOCK_PICTURE"] = base64.b64encode(_picture_block(tags.cover)).decode("ascii")
    return {name: text for name, text in named.items() if text}


def _picture_block(cover: bytes) -> bytes:
    """A front cover as FLAC and Ogg keep it."""
    mime, (width, height) = b"image/jpeg", _size(cover)
    return struct.pack(">II", 3, len(mime)) + mime + struct.pack(">IIIIII", 0, width, height, 24, 0, len(cover)) + cover


def _size(cover: bytes) -> tuple[int, int]:
    from PIL import Image

    with Image.open(io.BytesIO(cover), formats=("JPEG",)) as image:
        return image.size
