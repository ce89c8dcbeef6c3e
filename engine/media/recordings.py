"""Recordings and videos in containers that libsndfile does not read: m4a, aac, mp4, mov, mkv, webm, amr, wma and others.

FFmpeg, which PyAV brings, decodes them in a process of its own (`ffmpeg_child.py`): a file that breaks or occupies its parsers
ends that process and nothing else. Samples come block by block, so that memory does not grow with the length.
"""

from __future__ import annotations

import json
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from engine.child import child_command, child_environment
from engine.errors import BadRequest, ErrorText
from engine.whole_file import whole_file

_STALLED = 60.0  # seconds without a block
_LARGEST = 1 << 24  # bytes of a piece; more is no piece of the child's

# what people record and keep, by its ending: for file dialogs and folders
MEDIA = (
    *(".m4a", ".aac", ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".mka", ".3gp", ".amr", ".wma", ".wmv", ".avi", ".ts"),
    *(".mpg", ".flv", ".ac3", ".ape", ".wv"),
)


class NotARecording(Exception):
    """Why FFmpeg does not read it, in a few words."""


@dataclass(frozen=True)
class Recording:
    """What is in a container, and the samples of one of its tracks: `blocks` of f32 `[frames, channels]`."""

    rate: int
    seconds: float  # as the container says; 0 where it does not
    blocks: Iterator[np.ndarray]
    tracks: tuple[str, ...]  # of sound, for people


@contextmanager
def recording(source: Path | str | bytes, name: str, track: int = 1, start: float = 0.0) -> Iterator[Recording]:
    """Open track number `track` (from 1) from `start` seconds on. Raises NotARecording for what is none, and for a damaged file
    while its blocks are read."""
    with ExitStack() as stack:
        pieces = stack.enter_context(_child("decode", _path(source, stack), str(track), repr(float(start))))
        first = next(pieces, {})
        facts = first if isinstance(first, Mapping) else {}
        tracks = tuple(_title(one) for one in facts.get("tracks", ()))
        if facts.get("missing"):
            raise BadRequest(f"{name} has no sound track {track}. It has: {', '.join(tracks)}.", "track")
        _check(facts)
        seconds = max(0.0, float(facts["seconds"]))
        yield Recording(int(facts["rate"]), seconds, _blocks(pieces, int(facts["channels"])), tracks)


def mux_subtitles(source: Path, target: Path, lines: Iterable[tuple[float, float, str]], language: str) -> None:
    """Write `target`, a copy of the video with subtitles `(start, end, text)` in it. It appears when it is whole."""
    given = {
        "language": language,
        "lines": [{"start": start, "end": end, "text": text} for start, end, text in lines],
    }
    try:
        with (
            whole_file(target) as part,
            _child("mux", str(source), str(part), target.suffix.lower(), send=json.dumps(given)) as pieces,
        ):
            end = next(pieces, {})
            _check(end if isinstance(end, Mapping) else {})
    except NotARecording as error:
        raise BadRequest(
            ErrorText("{path} could not be written: {reason}.", path=target, reason=str(error)), "output"
        ) from None


def _path(source: Path | str | bytes, stack: ExitStack) -> str:
    """FFmpeg needs a file: an mp4's index may be at its end."""
    if not isinstance(source, bytes):
        return str(Path(source).absolute())
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="grus-", ignore_cleanup_errors=True)))
    (folder / "recording").write_bytes(source)
    return str(folder / "recording")


def _title(track: Mapping[str, Any]) -> str:
    named = ", ".join(str(part) for part in (track["language"], track["title"], track["codec"]) if part)
    return f"{track['number']} ({named})"


def _check(facts: Mapping[str, Any]) -> None:
    if facts.get("lacks"):
        raise NotARecording("PyAV is missing here: pip install av")
    if facts.get("error") or not facts:
        raise NotARecording(str(facts.get("error") or "its decoder stopped")[:200])


def _blocks(pieces: Iterator[Mapping[str, Any] | bytes], channels: int) -> Iterator[np.ndarray]:
    for piece in pieces:
        if isinstance(piece, bytes):
            yield np.frombuffer(piece, "<f4").reshape(-1, channels)
        elif piece.get("error"):
            raise NotARecording(str(piece["error"])[:200])
        else:
            return
    raise NotARecording("its decoder stopped")


@contextmanager
def _child(*arguments: str, send: str | None = None) -> Iterator[Iterator[Mapping[str, Any] | bytes]]:
    """The pieces that the program sends. It ends with the context."""
    command = child_command("engine.media.ffmpeg_child", *arguments)
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    given: int | IO[bytes] = subprocess.DEVNULL
    with tempfile.TemporaryFile() as text:
        if send is not None:
            text.write(send.encode())
            text.seek(0)
            given = text
        with subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=flags,
            env=child_environment(),
        ) as child:
            try:
                yield _pieces(child)
            finally:
                child.kill()


def _pieces(child: subprocess.Popen[bytes]) -> Iterator[Mapping[str, Any] | bytes]:
    while True:
        watch = threading.Timer(_STALLED, child.kill)
        watch.daemon = True
        watch.start()
        try:
            letter, data = _piece(child.stdout)
        finally:
            watch.cancel()
        if letter == b"D":
            yield data
        elif letter == b"J":
            yield json.loads(data)
        else:
            return


def _piece(pipe: IO[bytes] | None) -> tuple[bytes, bytes]:
    head = pipe.read(5) if pipe is not None else b""
    if len(head) < 5:
        return b"", b""
    (size,) = struct.unpack("<I", head[1:])
    if size > _LARGEST or pipe is None:
        return b"", b""
    data = pipe.read(size)
    return (head[:1], data) if len(data) == size else (b"", b"")
