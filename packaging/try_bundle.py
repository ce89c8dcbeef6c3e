"""Runs the application that `bundle.py app` made: what was left out of it must not be missed.

    python packaging/try_bundle.py

It imports everything that Grus imports anywhere, talks to the Guide, reads a page, speaks with a voice of the system, decodes a recording
by FFmpeg, and opens the window on no screen. Ends with 1 if anything fails.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import wave
from collections.abc import Sequence
from pathlib import Path

import bundle
import project

from app.bundle_check import OWN, is_optional

PATIENCE = (
    600  # seconds of one trial, for a machine that does other work too: a trial that succeeds or fails ends at once
)
PAGE = project.ROOT / "resources" / "starter" / "page.png"
SECONDS, RATE = 2, 8000  # of the recording


def program() -> Path:
    app = bundle.application()
    if sys.platform == "darwin":
        return app / "Contents" / "MacOS" / "grus"
    return app / ("grus.exe" if sys.platform == "win32" else "grus")


def tried(what: str, arguments: list[str], expect: str, given: str = "") -> bool:
    """One command; `expect` must match what it prints. It is ended as soon as that is there."""
    environment = {**os.environ, "GRUS_SAY_READY": "1", "QT_QPA_PLATFORM": "offscreen"}
    started, said = time.monotonic(), ""
    command = [str(program()), *arguments]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, env=environment, start_new_session=True, **pipes) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        patience = threading.Timer(PATIENCE, end, [running])
        patience.start()
        with contextlib.suppress(BrokenPipeError):  # it ended at once: what it printed says why
            running.stdin.write(given.encode())
            running.stdin.close()
        good = False
        while not good and (data := os.read(running.stdout.fileno(), 1 << 16)):
            said += data.decode("utf-8", "replace")
            good = re.search(expect, said) is not None
        patience.cancel()
        end(running)
    print(f"{what}: {'ok' if good else 'FAILED'} ({time.monotonic() - started:.1f} s)", flush=True)
    if not good:
        print("    " + "\n    ".join(said.strip().splitlines()[-15:]), flush=True)
    return good


def end(running: subprocess.Popen[bytes]) -> None:
    """With its children: one that lives on keeps the pipe open, and the trial waits for it."""
    if sys.platform == "win32":
        running.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)


def printed(arguments: list[str], **environment: str) -> tuple[str, str]:
    """What one command prints, which need not come to its end in time."""
    command, pipes = [str(program()), *arguments], {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env={**os.environ, **environment}, start_new_session=True, **pipes) as running:
        try:
            out, errors = running.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            end(running)
            return "", f"no end after {PATIENCE} s"
    return out.decode("utf-8", "replace"), errors.decode("utf-8", "replace")


def expected_modules() -> list[str]:
    """The modules of Grus in the source, without those that a bundle may lack."""
    files = (path.relative_to(project.ROOT) for name in OWN for path in (project.ROOT / name).rglob("*.py"))
    names = (".".join((path.parent if path.name == "__init__.py" else path.with_suffix("")).parts) for path in files)
    return sorted(name for name in names if not is_optional(name))


def complete() -> bool:
    """The bundle's own check of what it holds, and whether every module of the source is among it."""
    started = time.monotonic()
    out, errors = printed(["-m", "app.bundle_check"], QT_QPA_PLATFORM="offscreen")
    missing = {"the check": (out + errors).strip()[-2000:]}
    with contextlib.suppress(ValueError, KeyError):
        said = json.loads(out.splitlines()[0] if out else "")
        missing = dict.fromkeys(set(expected_modules()) - set(said["modules"]), "not in the bundle") | said["missing"]
    print(f"modules: {'FAILED' if missing else 'ok'} ({time.monotonic() - started:.1f} s)", flush=True)
    for name, why in sorted(missing.items()):
        print(f"    {name}: {why}", flush=True)
    return not missing


def loads_no_qt() -> bool:
    """Qt is loaded for the window alone: a hook of PyInstaller that loads it for every command costs each a third of a second."""
    if sys.platform != "linux":
        return True  # only this loader says what it loads
    out, errors = printed(["--version"], LD_DEBUG="files")
    loaded = sorted(set(re.findall(r"libQt\w+", errors)))
    good = out.startswith("grus ") and not loaded
    print(f"no Qt without a window: {'ok' if good else 'FAILED'}", *loaded, flush=True)
    return good


def main(arguments: Sequence[str] | None = None) -> int:
    argparse.ArgumentParser(description="Runs the application that bundle.py made.").parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        spoken, recording = Path(folder, "spoken.wav"), Path(folder, "recording.wav")
        with wave.open(str(recording), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes(bytes(2 * RATE * SECONDS))
        results = [
            tried("version", ["--version"], r"grus \d"),
            loads_no_qt(),
            complete(),
            tried(
                "chat", ["chat"], "Nothing that you write leaves this machine", "is anything sent over the network?\n"
            ),
            tried("read", ["read", str(PAGE)], "Every autumn the cranes"),
            tried("speak", ["speak", "Hello", "-o", str(spoken)], r"[\d.]+ s of sound"),
            tried(
                "decode",
                ["-m", "engine.media.ffmpeg_child", "decode", str(recording), "1", "0"],
                '"codec": "pcm_s16le"',
            ),
            tried("window", ["app", "--folder", folder], r"ready after [\d.]+ s"),
        ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
