"""The voices of the operating system, as samples: a program of it writes what it speaks, and nothing is played.

Linux has espeak-ng, macOS `say`, Windows System.Speech. The text goes to the program's standard input.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import BadRequest, ErrorText

if TYPE_CHECKING:
    import numpy as np

RATE = 22_050
HINT = "on Linux: espeak-ng"
_BLOCK = 1 << 15  # bytes
_LONGEST_HEADER = 1 << 12
_PATIENCE = 30.0  # seconds for a list of voices

_LIST_WINDOWS = (
    "Add-Type -AssemblyName System.Speech; (New-Object System.Speech.Synthesis.SpeechSynthesizer).GetInstalledVoices() | "
    'ForEach-Object { $_.VoiceInfo.Name + "`t" + $_.VoiceInfo.Culture.Name }'
)
_SPEAK_WINDOWS = (
    "Add-Type -AssemblyName System.Speech; [Console]::InputEncoding = [Text.Encoding]::UTF8; "
    "$s = New-Object System.Speech.Synthesis.SpeechSynthesizer; if ($args[1]) {{ $s.SelectVoice($args[1]) }}; "
    "$f = New-Object System.Speech.AudioFormat.SpeechAudioFormatInfo({rate}, 'Sixteen', 'Mono'); "
    "$s.SetOutputToWaveFile($args[0], $f); $s.Speak([Console]::In.ReadToEnd()); $s.Dispose()"
)


@dataclass(frozen=True)
class SystemVoiceName:
    name: str
    language: str  # a code, such as en or en-GB


@dataclass(frozen=True)
class _Program:
    """How a system's program is called."""

    listing: Sequence[str]
    read: Callable[[str], list[SystemVoiceName]]
    speaking: Callable[[str | None, str], Sequence[str]]  # of a voice's name, and the file that is written
    to_file: bool = True  # else to standard output, while it speaks


def can_speak() -> bool:
    return _program() is not None


@cache
def voices() -> tuple[SystemVoiceName, ...]:
    program = _needed()
    try:
        listed = subprocess.run(
            program.listing,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            stdin=subprocess.DEVNULL,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = {voice.name: voice for voice in reversed(program.read(listed))}
    return tuple(reversed(found.values()))


def spoken(text: str, voice: str | None) -> Iterator[np.ndarray]:
    """Samples at `RATE`, block by block. Closing the iterator ends the program."""
    program = _needed()
    with tempfile.TemporaryDirectory(prefix="grus-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "spoken.wav"
        (Path(folder) / "text").write_text(text, encoding="utf-8")
        with (Path(folder) / "text").open("rb") as given:
            child = subprocess.Popen(
                program.speaking(voice, str(file)),
                stdin=given,
                stdout=subprocess.DEVNULL if program.to_file else subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
            try:
                if program.to_file:
                    child.wait()
                source = file.open("rb") if program.to_file else child.stdout
                assert source is not None
                with source:
                    yield from _samples(iter(lambda: source.read(_BLOCK), b""))
                child.wait()
            except FileNotFoundError:  # it wrote none, and its status says so
                child.wait()
            finally:
                if child.poll() is None:
                    child.kill()
                    child.wait()
        if child.returncode:
            raise BadRequest(
                ErrorText("The system's voice failed ({reason}).", reason=f"status {child.returncode}"), "voice"
            )


def _samples(blocks: Iterator[bytes]) -> Iterator[np.ndarray]:
    """Of a WAV file of 16 bits, whose lengths may be unknown."""
    import numpy as np

    kept, begun = b"", False
    for block in blocks:
        kept += block
        if not begun:
            at = kept.find(b"data")
            if at < 0 or len(kept) < at + 8:
                if len(kept) > _LONGEST_HEADER:
                    return
                continue
            kept, begun = kept[at + 8 :], True
        whole = len(kept) // 2 * 2
        if whole:
            yield np.frombuffer(kept[:whole], "<i2").astype(np.float32) / 32768
        kept = kept[whole:]


def _needed() -> _Program:
    program = _program()
    if program is None:
        raise BadRequest(ErrorText("This system has no program that speaks ({hint}).", hint=HINT), "model")
    return program


def _program() -> _Program | None:
    if sys.platform == "darwin" and (say := shutil.which("say")):
        form = ["--file-format=WAVE", f"--data-format=LEI16@{RATE}", "-f", "-"]
        named = lambda voice: ["-v", voice] if voice else []  # noqa: E731
        return _Program([say, "-v", "?"], _of_say, lambda voice, file: [say, *named(voice), "-o", file, *form])
    if sys.platform == "win32" and (shell := shutil.which("powershell")):
        run = [shell, "-NoProfile", "-NonInteractive", "-Command"]
        script = "& {" + _SPEAK_WINDOWS.format(rate=RATE) + "}"
        return _Program([*run, _LIST_WINDOWS], _of_windows, lambda voice, file: [*run, script, file, voice or ""])
    espeak = shutil.which("espeak-ng")
    if espeak is None:
        return None
    flags = ["--stdin", "--stdout", "-b", "1"]  # UTF-8
    return _Program(
        [espeak, "--voices"], _of_espeak, lambda voice, file: [espeak, *flags, *(["-v", voice] if voice else [])], False
    )


def _of_espeak(listed: str) -> list[SystemVoiceName]:
    """`priority language age/gender name file (other languages)`; voices of MBROLA need files that it has not."""
    rows = [line.split() for line in listed.splitlines()[1:]]
    return [SystemVoiceName(row[1], row[1]) for row in rows if len(row) >= 5 and not row[4].startswith("mb/")]


def _of_say(listed: str) -> list[SystemVoiceName]:
    """`Name  en_US    # an example`; a name may have spaces."""
    rows = [line.split("#")[0].split() for line in listed.splitlines()]
    return [SystemVoiceName(" ".join(row[:-1]), row[-1].replace("_", "-")) for row in rows if len(row) >= 2]


def _of_windows(listed: str) -> list[SystemVoiceName]:
    rows = [line.split("\t") for line in listed.splitlines()]
    return [SystemVoiceName(row[0].strip(), row[1].strip()) for row in rows if len(row) == 2]
