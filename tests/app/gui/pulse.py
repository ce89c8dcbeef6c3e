"""A PulseAudio daemon of the test's own, with null sinks for loudspeakers and one for a microphone.

Programs that have `environment` in theirs find it. What reaches a null sink is recorded at its monitor.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RATE = 24_000
MISSING = next((f"{name} is not installed" for name in ("pulseaudio", "pactl", "parec") if not shutil.which(name)), "")
_LOUD = 0.01
_MOUTH = "mouth"  # the null sink whose monitor the microphone hears


class Pulse:
    """The daemon. Its folder is short: a socket's path holds 100 letters."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="grus-"))
        self.environment = {
            "HOME": str(self.folder),
            "XDG_RUNTIME_DIR": str(self.folder),
            "PULSE_SERVER": f"unix:{self.folder}/native",
        }
        self._log = (self.folder / "log").open("w")
        self._process: subprocess.Popen[Any] | None = None
        self.start()

    def start(self) -> None:
        environment = {**os.environ, **self.environment}
        for variable in ("PULSE_SERVER", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS"):
            environment.pop(variable, None)
        self._process = subprocess.Popen(
            ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--disable-shm=yes", "--use-pid-file=no",
             f"--load=module-native-protocol-unix socket={self.folder}/native auth-anonymous=1",
             "--load=module-null-sink sink_name=one", "--load=module-null-sink sink_name=two"],
            env=environment, stdout=self._log, stderr=self._log,
        )  # fmt: skip
        wait_for(self._answers, "the daemon answers")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            (self.folder / "native").unlink(missing_ok=True)

    def close(self) -> None:
        self.stop()
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self) -> bool:
        """Recorders follow the default source: it does not follow the default sink."""
        return (
            subprocess.run(
                ["pactl", "set-default-source", "one.monitor"],
                env={**os.environ, **self.environment},
                capture_output=True,
            ).returncode
            == 0
        )


# What a test's child process does with the daemon that its environment names.


def pactl(*words: str) -> str:
    return subprocess.run(["pactl", *words], check=True, capture_output=True, text=True, timeout=20).stdout.strip()


def plug(name: str) -> None:
    pactl("load-module", "module-null-sink", f"sink_name={name}")


def unplug(name: str) -> None:
    for line in pactl("list", "short", "modules").splitlines():
        number, _, arguments = line.partition("\t")
        if f"sink_name={name}" in arguments.split() or f"source_name={name}" in arguments.split():
            pactl("unload-module", number)


def plug_microphone() -> None:
    """A null sink gives what it has every two seconds, or as often as its quickest listener wants it."""
    if f"\t{_MOUTH}\t" not in pactl("list", "short", "sinks"):
        default = pactl("get-default-sink")
        plug(_MOUTH)
        pactl("set-default-sink", default)
        quick = ["parec", "-d", f"{_MOUTH}.monitor", "--latency-msec=20", "--raw"]
        subprocess.Popen(quick, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # ends with the daemon
    pactl("load-module", "module-remap-source", f"master={_MOUTH}.monitor", "source_name=microphone")
    pactl("set-default-source", "microphone")


def say(sound: np.ndarray, rate: int) -> subprocess.Popen[bytes]:
    """Into the microphone, in real time."""
    player = subprocess.Popen(
        ["pacat", "-d", _MOUTH, "--raw", "--format=float32le", f"--rate={rate}", "--channels=1"],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert player.stdin is not None
    player.stdin.write(sound.astype("<f4").tobytes())
    player.stdin.close()
    return player


class Recorder:
    """What a loudspeaker plays, from now on."""

    def __init__(self, sink: str, file: Path) -> None:
        self._file = file.open("wb")
        self._path = file
        self._process = subprocess.Popen(
            ["parec", "-d", f"{sink}.monitor", "--raw", "--format=float32le", f"--rate={RATE}", "--channels=1",
             "--latency-msec=20"], stdout=self._file, stderr=subprocess.DEVNULL,
        )  # fmt: skip

        self._from = 0

    def begin(self) -> None:
        """`samples` are those from now on."""
        self._from = self._path.stat().st_size // 4 * 4

    @property
    def running(self) -> bool:
        return self._path.stat().st_size > 0

    @property
    def samples(self) -> np.ndarray:
        data = self._path.read_bytes()[self._from :]
        return np.frombuffer(data[: len(data) // 4 * 4], "<f4")

    def quiet(self, seconds: float = 0.3) -> bool:
        """Something was played, and nothing is any more."""
        samples = self.samples
        loud = np.flatnonzero(np.abs(samples) > _LOUD)
        return len(loud) > 0 and len(samples) - loud[-1] > seconds * RATE

    def loud(self, seconds: float = 0.0) -> bool:
        return measured(self.samples, RATE)[0] > seconds

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(10)
        self._file.close()


def measured(samples: np.ndarray, rate: int) -> tuple[float, float]:
    """In pieces of 5 ms: how many seconds of them sound, gaps not counted, and how loud they are."""
    step = rate // 200
    levels = np.sqrt(np.mean(np.square(samples[: len(samples) // step * step].reshape(-1, step)), axis=1))
    loud = levels[levels > _LOUD]
    return (len(loud) / 200, float(np.median(loud))) if len(loud) else (0.0, 0.0)


def tone(seconds: float, rate: int = RATE) -> np.ndarray:
    return (0.5 * np.sin(np.arange(round(seconds * rate)) * 2 * np.pi * 440 / rate)).astype(np.float32)


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not in time: {what}"
        time.sleep(0.05)
