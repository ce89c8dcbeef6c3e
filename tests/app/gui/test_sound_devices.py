"""Sound with real devices, in a process of its own: a PulseAudio daemon with null sinks, whose monitors are recorded.

A process that crashes ends with a negative code, and fails its test.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import soundfile

from app.gui.preferences import Preferences, places_under
from app.gui.store import records
from app.gui.store.worker import AppStore
from tests import speech_checkpoints
from tests.app.gui.pulse import MISSING, RATE, Pulse, Recorder, measured, plug_microphone, say, tone, unplug, wait_for
from tests.engine.pipelines.listening.conftest import talk
from tests.qwen3_tts_cases import checkpoint, ending

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 1.0  # of the sound that is played
LEVEL = 0.5 / 2**0.5  # of a sine

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="PulseAudio is a sound system of Linux"),
    pytest.mark.skipif(bool(MISSING), reason=f"{MISSING}: packaging/system.txt names its package"),
]


@pytest.fixture
def pulse() -> Iterator[Pulse]:
    made = Pulse()
    yield made
    made.close()


@pytest.fixture(scope="module")
def ears(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return speech_checkpoints.save("moonshine", tmp_path_factory.mktemp("ears") / "moonshine-tiny")


def kept_sound(folder: Path, kind: str, **models: Path) -> Path:
    """An app's folder in which a pane has a sound from before."""
    places = places_under(folder).make()
    Preferences(places.preferences).put("models", {name: str(path) for name, path in models.items()})
    sound = places.data / "tone.wav"
    soundfile.write(sound, tone(SECONDS), RATE)
    store = AppStore(places.database, lambda work: work())
    body = {"seconds": SECONDS, "segments": [{"start": 0.0, "end": SECONDS, "text": "A tone."}], "text": "A tone."}
    store.ask(lambda db: records.add_result(db, records.StoredResult(0, kind, "A tone", str(sound), body, str(sound))))
    store.wait()
    store.close()
    return folder


def steps(pulse: Pulse, task: str, folder: Path, *more: str) -> dict[str, dict[str, Any]]:
    """What the app's process said, by the names of its steps."""
    ended = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "tests.app.gui.sounding", task, "--folder", str(folder), *more],
        cwd=ROOT,
        env={**os.environ, **pulse.environment, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith('{"what"')]
    crash = places_under(folder).logs / "app-crash.log"
    stack = crash.read_text() if crash.exists() else ""
    steps = [line["what"] for line in lines]
    assert ended.returncode == 0, f"{ended.returncode}, behind {steps}\n{ended.stderr[-3000:]}\n{stack}"
    return {line["what"]: line for line in lines}


def is_whole(played_sound: dict[str, Any], seconds: float = SECONDS, slack: float = 0.06) -> None:
    assert played_sound["seconds"] == pytest.approx(seconds, abs=slack)
    assert played_sound["level"] == pytest.approx(LEVEL, rel=0.05)


def played(seen: dict[str, dict[str, Any]]) -> None:
    """The player's steps, of whichever pane."""
    is_whole(seen["to the end"])
    assert seen["to the end"]["position"] == pytest.approx(SECONDS, abs=0.01)
    assert seen["paused"]["before"] == seen["paused"]["after"]
    is_whole(seen["paused and resumed"], slack=0.12)
    assert 0.3 < seen["sought"]["seconds"] < SECONDS - 0.1
    first, second = seen["switched from"], seen["switched to"]
    assert min(first["seconds"], second["seconds"]) > 0.1
    assert first["seconds"] + second["seconds"] == pytest.approx(SECONDS, abs=0.2)
    assert seen["unplugged, one is left"]["ended"]
    assert seen["unplugged, one is left"]["seconds"] > 0.3
    gone = seen["unplugged, none is left"]
    assert gone["notice"] == "The loudspeaker was disconnected. Connect one, then play again."
    assert not gone["ended"]
    assert 0.1 < gone["position"] < SECONDS
    assert seen["played with none"]["notice"] == "No loudspeaker was found. Connect one, then play again."
    assert not seen["played with none"]["playing"]
    assert seen["plugged in again"]["ended"]
    is_whole(seen["plugged in again"], SECONDS - gone["position"], 0.12)


def test_speak_plays_and_records_whatever_happens_to_the_devices(pulse: Pulse, tmp_path: Path) -> None:
    seen = steps(pulse, "speak", kept_sound(tmp_path / "grus", "speak"))
    played(seen)
    assert seen["no microphone"]["note"] == "No microphone was found. Connect one, then try again."
    assert "was disconnected" in seen["microphone unplugged"]["note"]
    assert seen["microphone unplugged"]["seconds"] > 0.5
    assert seen["recorded"]["seconds"] > 0.5


@pytest.mark.slow
def test_listen_plays_and_records_whatever_happens_to_the_devices(pulse: Pulse, tmp_path: Path, ears: Path) -> None:
    seen = steps(pulse, "listen", kept_sound(tmp_path / "grus", "listen", ears=ears))
    played(seen)
    assert (seen["recorded"]["state"], seen["recorded"]["error"]) == ("done", "")
    is_whole(seen["recorded"], 1.0)
    assert seen["unplugged"]["state"] == "done"
    assert "The microphone was disconnected." in seen["unplugged"]["notice"]
    assert seen["unplugged"]["kept"] > 0.5


@pytest.mark.slow
def test_talk_listens_and_speaks_until_a_device_is_unplugged(pulse: Pulse, tmp_path: Path, ears: Path) -> None:
    voices = ending(checkpoint("custom_voice", tmp_path / "voices"))
    folder = kept_sound(tmp_path / "grus", "speak", ears=ears, voices=voices)
    seen = steps(pulse, "talk", folder)
    assert seen["answered"]["problem"] == ""
    assert seen["answered"]["roles"][:2] == ["user", "assistant"]
    assert 0.05 < seen["spoken"]["seconds"] < 5.0  # then it was interrupted
    assert "The microphone was disconnected." in seen["microphone unplugged"]["problem"]
    assert "disconnected" in seen["loudspeaker unplugged"]["problem"]


# -- the command line, which plays and records by PortAudio


@pytest.fixture
def portaudio(pulse: Pulse) -> dict[str, str]:
    """The environment of a command whose PortAudio comes to the daemon."""
    environment = {**os.environ, **pulse.environment}
    ask = "import sounddevice; print([device['name'] for device in sounddevice.query_devices()])"
    found = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, timeout=60)
    if "PortAudio library not found" in found.stderr:
        pytest.skip("libportaudio2 is not installed")
    if "'pulse'" not in found.stdout:
        pytest.skip("ALSA has no plugin for PulseAudio here: libasound2-plugins brings it")
    return environment


def test_grus_speak_plays_to_the_end_and_says_so_where_the_loudspeaker_goes(
    pulse: Pulse, portaudio: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    voices = ending(checkpoint("custom_voice", tmp_path / "voices"))
    for name, value in pulse.environment.items():
        monkeypatch.setenv(name, value)
    speak = [sys.executable, "-m", "app.cli", "speak", "--model", str(voices), "--voice", "vivian", "--seed", "1"]
    how: dict[str, Any] = {"cwd": ROOT, "env": portaudio, "stderr": subprocess.PIPE, "text": True}
    recorder = Recorder("one", tmp_path / "one.raw")
    wait_for(lambda: recorder.running, "the recorder")
    whole = subprocess.run([*speak, "The crane dances."], **how, timeout=120)
    assert whole.returncode == 0, whole.stderr
    wait_for(recorder.quiet, "the end of the sound")
    length = re.search(r"([\d.]+) s of sound", whole.stderr)
    assert length is not None
    assert measured(recorder.samples, RATE)[0] == pytest.approx(float(length[1]), abs=0.1)
    recorder.begin()
    cut = subprocess.Popen([*speak, "The crane dances. " * 40], **how)
    wait_for(recorder.loud, "the long text is heard", 60)
    for sink in ("one", "two"):
        unplug(sink)
    _, said = cut.communicate(timeout=60)
    recorder.stop()
    assert cut.returncode == 2
    assert "grus: The loudspeaker was disconnected. -o FILE writes the sound instead." in said


@pytest.mark.slow
def test_grus_listen_hears_the_microphone_until_ctrl_c(
    pulse: Pulse, portaudio: dict[str, str], ears: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in pulse.environment.items():
        monkeypatch.setenv(name, value)
    plug_microphone()
    listen = subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-u", "-m", "app.cli", "listen", "--mic", "--model", str(ears)], cwd=ROOT,
        env=portaudio, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert listen.stderr is not None
        assert any("Listening." in line for line in listen.stderr)
        assert say(talk(3), 16_000).wait(30) == 0
        time.sleep(2)
        listen.send_signal(signal.SIGINT)
        try:
            output, problem = listen.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            listen.send_signal(signal.SIGABRT)  # leaves the stacks of its threads
            pytest.fail(f"it does not end: {listen.communicate(timeout=30)}")
    finally:
        listen.kill()
    assert listen.returncode == 0, problem
    assert output.strip()
