"""The voices that a person has named, so that they are known again in the next recording: a small file that only its owner reads.

It holds vectors, not sound. No export contains it, no server reads it, and "Delete all" removes it.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import PlatformDirs

from engine.errors import BadRequest, ErrorText
from engine.file_lock import exclusive
from engine.media.sound import Audio, SoundStream
from engine.pipelines.listening.transcript import TranscriptSegment
from engine.pipelines.listening.voice_prints import VoicePrint, joined, recognized, speaker_prints
from engine.secret_store import write_private
from engine.tasks import EngineLike

FILE = "voice-prints.json"
_MOST = 10  # recordings of a voice that count, the last ones
_LONGEST = 100  # letters of a name
_KEYS = {"name", "mark", "recording", "seconds", "vector"}
_guard = threading.Lock()
_PATIENCE = 10.0  # seconds for another process that changes the file


@dataclass(frozen=True)
class KnownVoice:
    name: str
    recordings: int  # in which it was named


class KnownVoices:
    """Voices by name. Each recording in which somebody was named adds a vector to theirs, and takes it back when it is corrected."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: where Grus keeps a person's data."""
        self.file = (folder or Path(PlatformDirs("Grus", appauthor=False).user_data_dir)) / FILE

    def all(self) -> list[KnownVoice]:
        names = [entry["name"] for entry in self._read()]
        return [KnownVoice(name, names.count(name)) for name in sorted(set(names), key=str.casefold)]

    def prints(self, mark: str) -> dict[str, VoicePrint]:
        """Of the voices whose vectors a model with these weights made."""
        found: dict[str, list[VoicePrint]] = {}
        for entry in self._read():
            if entry["mark"] == mark:
                vector = np.array(entry["vector"], np.float32)
                found.setdefault(entry["name"], []).append(VoicePrint(vector, float(entry["seconds"])))
        return {name: joined(prints) for name, prints in found.items()}

    def keep(self, name: str, mark: str, recording: str, own: VoicePrint, instead: str = "") -> None:
        """The voice of `name` in a recording. `instead`: whose it was said to be before, which is corrected by this."""
        name = checked_name(name)
        entry = {"name": name, "mark": mark, "recording": recording, "seconds": round(own.seconds, 3),
                 "vector": [round(float(value), 6) for value in own.vector]}  # fmt: skip
        with self._changing():
            there = [one for one in self._kept() if one["recording"] != recording or one["name"] not in (name, instead)]
            same = [one for one in there if one["name"] == name][-_MOST + 1 :]
            self._write([*(one for one in there if one["name"] != name), *same, entry])

    def delete(self, name: str, recording: str | None = None) -> list[dict[str, Any]]:
        """What was kept of this voice, of one recording or of all: for `restore`. Empty: there was nothing."""
        if not self.file.exists():
            return []

        def goes(one: Mapping[str, Any]) -> bool:
            return one["name"] == name and recording in (None, one["recording"])

        with self._changing():
            there = self._kept()
            if gone := [one for one in there if goes(one)]:
                self._write([one for one in there if not goes(one)])
            return gone

    def restore(self, gone: Sequence[Mapping[str, Any]]) -> None:
        """What `delete` took away, but for recordings in which the voice was named since."""
        with self._changing():
            there = self._kept()
            known = {(one["name"], one["recording"]) for one in there}
            self._write([*(one for one in gone if (one["name"], one["recording"]) not in known), *there])

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """No other thread and no other process reads the file to write it again meanwhile."""
        until = time.monotonic() + _PATIENCE

        def waiting() -> None:
            if time.monotonic() > until:
                raise BadRequest(
                    ErrorText("{file} is being changed by another program. Try again in a moment.", file=self.file)
                )

        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _guard, exclusive(self.file.with_suffix(".lock"), waiting):
            yield

    def _kept(self) -> list[dict[str, Any]]:
        """To write it again: a file that cannot be read now is not replaced by an empty one."""
        found = self._read()
        if not found and self.file.exists():
            raise BadRequest(
                ErrorText("{file} cannot be read, so no voice was changed. Move it away to begin anew.", file=self.file)
            )
        return found

    def _read(self) -> list[dict[str, Any]]:
        try:
            found = json.loads(self.file.read_text("utf-8"))["voices"]
            return [one for one in found if isinstance(one, dict) and set(one) >= _KEYS]
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def _write(self, entries: Sequence[Mapping[str, Any]]) -> None:
        try:
            write_private(self.file, json.dumps({"voices": list(entries)}, ensure_ascii=False) if entries else None)
        except OSError as error:
            raise BadRequest(
                ErrorText("{file} could not be written: {reason}.", file=self.file, reason=error.strerror)
            ) from None


def checked_name(name: str) -> str:
    plain = " ".join(name.split())
    if not plain or len(plain) > _LONGEST:
        raise BadRequest(f"A speaker's name has 1 to {_LONGEST} letters.", "name")
    return plain


def recording_mark(source: str | Path | bytes | np.ndarray) -> str:
    """Tells one recording from another, and nothing else of it."""
    data = source if isinstance(source, bytes) else (
        source.tobytes() if isinstance(source, np.ndarray) else str(Path(source).resolve()).encode())  # fmt: skip
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def known_names(
    engine: EngineLike,
    model: str,
    sound: Audio | SoundStream,
    segments: Sequence[TranscriptSegment],
    known: KnownVoices,
) -> dict[str, str]:
    """The names of a recording's speakers who were named before. Blocks."""
    if not known.all():
        return {}
    found = speaker_prints(engine, model, sound, segments)
    return recognized(found.prints, known.prints(found.mark))


def keep_voice(
    engine: EngineLike, model: str, sound: Audio | SoundStream, segments: Sequence[TranscriptSegment], speaker: str,
    recording: str, known: KnownVoices, instead: str = "", wanted: Callable[[], bool] = lambda: True,
) -> bool:  # fmt: skip
    """Keep the voice of one who is named in these segments. False: they say too little, or it is not `wanted` any more once the voice
    was heard. Blocks."""
    found = speaker_prints(engine, model, sound, [one for one in segments if one.speaker == speaker])
    if not wanted():
        return False
    for own in found.prints.values():
        known.keep(speaker, found.mark, recording, own, instead)
    return bool(found.prints)
