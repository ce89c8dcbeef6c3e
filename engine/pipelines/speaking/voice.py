"""SavedVoices: the settings of a voice, voices cloned from recordings, and saved voices on disk.

`VoiceSettings` and `Clone` are plain data without device arrays or paths. `SavedVoices` keeps a folder for each voice:

    NAME/voice.json     the model that it was made with, the text, the date
    NAME/voice.npz      the speaker vector, and the codes if the recording itself is imitated
    NAME/sample.wav     the recording
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import numpy as np
from platformdirs import PlatformDirs

from engine.errors import BadRequest, ErrorText

OnCodes = Callable[[np.ndarray], None]  # receives codes [frames, groups]


@dataclass(frozen=True)
class SpeechSampling:
    """Sampling parameters of speech. None: the model's default. `max_tokens` bounds one call of `speak`."""

    temperature: float | None = None
    top_p: float | None = None
    repetition_penalty: float | None = None
    max_tokens: int | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The parameters that are set, named as in `engine.types.SamplingParams`, without `max_tokens`."""
        asked = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "repetition_penalty": self.repetition_penalty,
        }
        return {name: value for name, value in asked.items() if value is not None}

    def most(self, usual: int) -> int:
        """The token limit of one passage, whose text needs at most `usual`."""
        return usual if self.max_tokens is None else min(usual, self.max_tokens)


MODEL_DEFAULTS = SpeechSampling()


@dataclass(frozen=True, eq=False)
class Clone:
    """A voice taken from a recording.

    With `codes` and `text` the model continues the recording itself (in-context cloning); with the vector alone it takes
    only the timbre.
    """

    vector: (
        np.ndarray
    )  # [D] f32, from the speaker encoder (Spark-TTS: global tokens, whole numbers; Chatterbox: all that it hears)
    codes: np.ndarray | None = None  # [frames, groups]
    text: str | None = None  # their transcript


@dataclass(frozen=True, eq=False)
class SpokenPassage:
    """A passage that the voice has spoken to its end."""

    text: str
    codes: np.ndarray  # [frames, groups]


@dataclass(frozen=True, eq=False)
class VoiceSettings:
    """Which voice speaks, and how."""

    preset: str | None = None  # a voice of the model, by name
    clone: Clone | None = None
    instructions: str | None = None  # a voice description or speaking style: "cheerful, a bit hoarse"
    language: str = "auto"  # a name or an ISO code
    after: SpokenPassage | None = None  # a described voice continues from this passage and so stays the same


SHORTEST_RECORDING, LONGEST_RECORDING = 0.5, 60.0  # seconds
_SILENT = 1e-3  # amplitude of a silent recording
_CEILING = 0.999  # of the largest amplitude: clipped samples lie above it
_CLIPPED = 0.05  # of all samples; a full-scale sine has 0.03 there, speech almost none


def checked_text(text: str, longest: int) -> str:
    """The words of a text of at most `longest` characters. Raises BadRequest for more, or none."""
    if not text.strip():
        raise BadRequest(ErrorText("There is no text to speak."), "input")
    if len(text) > longest:
        raise BadRequest(
            ErrorText("The text has {length} characters; {most} are spoken at once.", length=len(text), most=longest),
            "input",
        )
    return text.strip()


def checked_recording(samples: np.ndarray, rate: int) -> np.ndarray:
    """Mono f32 samples of a usable recording. Raises BadRequest if it is too short, too long, silent or clipped."""
    sound = np.asarray(samples, np.float32)
    if sound.ndim != 1 or not np.isfinite(sound).all():
        raise BadRequest(ErrorText("A recording must be one row of finite samples."), "voice")
    seconds = len(sound) / rate
    if not SHORTEST_RECORDING <= seconds <= LONGEST_RECORDING:
        raise BadRequest(
            ErrorText(
                "The recording lasts {seconds} seconds. A voice can be taken from {least} to {most}; 3 to 15 are best.",
                seconds=f"{seconds:.{(1 if seconds >= 1 else 2)}f}",
                least=f"{SHORTEST_RECORDING:g}",
                most=f"{LONGEST_RECORDING:g}",
            ),
            "voice",
        )
    sizes = np.abs(sound)
    if sizes.max() < _SILENT:
        raise BadRequest(ErrorText("The recording is silent."), "voice")
    share = float((sizes >= _CEILING * sizes.max()).mean())
    if share > _CLIPPED:
        raise BadRequest(
            ErrorText(
                "The recording is clipped: {share} of its samples are as loud as it goes. Record it again, quieter.",
                share=f"{share:.0%}",
            ),
            "voice",
        )
    return sound


_NAME = re.compile(r"[\w][\w .-]{0,63}")
_RESERVED_ON_WINDOWS = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_FILES = ("voice.json", "voice.npz", "sample.wav")


@dataclass(frozen=True)
class SavedVoice:
    """One entry in the list of saved voices."""

    name: str
    model: str
    text: str | None
    seconds: float
    made: str  # ISO 8601
    sample: Path


class SavedVoices:
    """A folder of voices. A voice is written to a temporary folder and renamed when complete; deletion renames it first."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(PlatformDirs("Grus", appauthor=False).user_data_dir) / "voices"

    def save(self, name: str, model: str, clone: Clone, samples: np.ndarray, rate: int, *,
             replace: bool = False) -> SavedVoice:  # fmt: skip
        from engine.media.sound import write_file

        target = self._path(name)
        if target.exists() and not replace:
            raise BadRequest(
                ErrorText(
                    "There is a voice called {name} already. Choose another name, or delete it first.", name=name
                ),
                "name",
            )
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=self.folder))
        try:
            write_clone(fresh / "voice.npz", clone)
            write_file(fresh / "sample.wav", [samples], rate, "wav")
            body = {"model": model, "text": clone.text, "seconds": round(len(samples) / rate, 2),
                    "made": datetime.now(UTC).isoformat(timespec="seconds")}  # fmt: skip
            (fresh / "voice.json").write_text(json.dumps(body, ensure_ascii=False, indent=1), encoding="utf-8")
            for part in fresh.iterdir():
                part.chmod(0o600)  # a voice is personal data
            if target.exists():
                self.delete(name)
            fresh.rename(target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        return self._saved(target)

    def list(self) -> list[SavedVoice]:
        """All saved voices by name. Folders that are not voices are skipped."""
        if not self.folder.is_dir():
            return []
        found = []
        for path in sorted(self.folder.iterdir(), key=lambda path: path.name.lower()):
            if not path.name.startswith(".") and (path / "voice.json").is_file():
                try:
                    found.append(self._saved(path))
                except BadRequest:
                    continue
        return found

    def load(self, name: str) -> Clone:
        path = self._existing(name)
        about = self._about(path)
        try:
            return read_clone(path / "voice.npz", about.get("text"))
        except ValueError:
            raise BadRequest(
                ErrorText(
                    "The voice {name} is damaged. Make it again from {sample}.", name=name, sample=path / "sample.wav"
                ),
                "voice",
            ) from None

    def settings(self, name: str | Clone | None, presets: Sequence[str], language: str = "auto",
               instructions: str | None = None) -> VoiceSettings:  # fmt: skip
        """Settings for a voice by name: one of the model's `presets`, or a saved one. A cloned voice needs no name."""
        if isinstance(name, Clone):
            return VoiceSettings(clone=name, instructions=instructions, language=language)
        if name is not None and name not in presets and self.has(name):
            return VoiceSettings(clone=self.load(name), instructions=instructions, language=language)
        return VoiceSettings(preset=name, instructions=instructions, language=language)

    def delete(self, name: str) -> None:
        path = self._existing(name)
        gone = Path(tempfile.mkdtemp(prefix=".old-", dir=self.folder))
        path.rename(gone / "voice")
        shutil.rmtree(gone, ignore_errors=True)

    def has(self, name: str) -> bool:
        return is_name(name) and (self.folder / name / "voice.json").is_file()

    def _existing(self, name: str) -> Path:
        path = self._path(name)
        if not self.has(name):
            known = ", ".join(saved.name for saved in self.list()) or "none yet"
            raise BadRequest(
                ErrorText("There is no saved voice called {name}. Saved: {known}.", name=repr(name), known=known),
                "voice",
            )
        return path

    def _path(self, name: str) -> Path:
        if not is_name(name):
            raise BadRequest(
                ErrorText(
                    "{name} is no name for a voice: letters, digits, spaces, dots and dashes, 64 at most.",
                    name=repr(name),
                ),
                "name",
            )
        return self.folder / name

    def _about(self, path: Path) -> Mapping[str, Any]:
        try:
            about = json.loads((path / "voice.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            about = None
        if not _is_about(about) or not all((path / name).is_file() for name in _FILES):
            raise BadRequest(ErrorText("The voice {name} is damaged: {path}.", name=path.name, path=path), "voice")
        return about  # type: ignore[no-any-return]

    def _saved(self, path: Path) -> SavedVoice:
        about = self._about(path)
        return SavedVoice(path.name, str(about.get("model", "")), about.get("text"), float(about.get("seconds", 0.0)),
                     str(about.get("made", "")), path / "sample.wav")  # fmt: skip


def is_name(name: str) -> bool:
    """True if `name` is a valid folder name on every system and contains no path."""
    return (
        _NAME.fullmatch(name) is not None and not name.endswith((" ", ".")) and not _RESERVED_ON_WINDOWS.fullmatch(name)
    )


def write_clone(target: Path | IO[bytes], clone: Clone) -> None:
    """Write the arrays of a cloned voice."""
    arrays = {"vector": clone.vector} | ({} if clone.codes is None else {"codes": clone.codes})
    np.savez(target, **arrays)  # type: ignore[arg-type]


def read_clone(source: Path | IO[bytes], text: str | None) -> Clone:
    """Read a cloned voice. Raises ValueError for other data; pickles are not loaded."""
    try:
        with np.load(source, allow_pickle=False) as arrays:
            vector, codes = arrays["vector"], arrays.get("codes")
    except (OSError, EOFError, KeyError, TypeError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(str(error)) from None
    if vector.ndim != 1 or vector.dtype.kind != "f" or not np.isfinite(vector).all():
        raise ValueError("The vector is no row of numbers.")
    if codes is not None and (codes.ndim != 2 or codes.dtype.kind not in "iu" or not text):
        raise ValueError("The codes are not a table of whole numbers, or their transcript is missing.")
    return Clone(vector.astype(np.float32), codes, text if codes is not None else None)


def _is_about(about: Any) -> bool:
    return (
        isinstance(about, dict)
        and isinstance(about.get("text"), str | None)
        and isinstance(about.get("seconds", 0.0), int | float)
    )
