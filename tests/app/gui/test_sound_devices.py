"""Sound with real devices, in a process of its own: a PulseAudio daemon with null sinks, whose monitors are recorded.

A process that crashes ends with a negative code, and fails its test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import soundfile

from app.gui.places import places_under
from app.gui.preferences import Preferences
from app.gui.store import kept
from app.gui.store.worker import Store
from tests import speech_checkpoints
from tests.app.gui.pulse import MISSING, RATE, Pulse, tone
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
    store = Store(places.database, lambda work: work())
    body = {"seconds": SECONDS, "segments": [{"start": 0.0, "end": SECONDS, "text": "A tone."}], "text": "A tone."}
    store.ask(lambda db: kept.add_result(db, kept.Result(0, kind, "A tone", str(sound), body, str(sound))))
    store.wait()
    store.close()
    return folder


def told(pulse: Pulse, task: str, folder: Path, *more: str) -> dict[str, dict[str, Any]]:
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
    assert ended.returncode == 0, (
        f"{ended.returncode}, behind {[line['what'] for line in lines]}\n{ended.stderr[-6000:]}"
    )
    return {line["what"]: line for line in lines}


def is_whole(heard: dict[str, Any], seconds: float = SECONDS, slack: float = 0.06) -> None:
    assert heard["seconds"] == pytest.approx(seconds, abs=slack)
    assert heard["level"] == pytest.approx(LEVEL, rel=0.05)


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
    seen = told(pulse, "speak", kept_sound(tmp_path / "grus", "speak"))
    played(seen)
    assert seen["no microphone"]["told"] == "No microphone was found. Connect one, then try again."
    assert "was disconnected" in seen["microphone unplugged"]["told"]
    assert seen["microphone unplugged"]["seconds"] > 0.5
    assert seen["recorded"]["seconds"] > 0.5


def test_listen_plays_and_records_whatever_happens_to_the_devices(pulse: Pulse, tmp_path: Path, ears: Path) -> None:
    seen = told(pulse, "listen", kept_sound(tmp_path / "grus", "listen", ears=ears))
    played(seen)
    assert (seen["recorded"]["state"], seen["recorded"]["error"]) == ("done", "")
    is_whole(seen["recorded"], 1.0)
    assert seen["unplugged"]["state"] == "done"
    assert "The microphone was disconnected." in seen["unplugged"]["notice"]
    assert seen["unplugged"]["kept"] > 0.5


def test_talk_listens_and_speaks_until_a_device_is_unplugged(pulse: Pulse, tmp_path: Path, ears: Path) -> None:
    voices = ending(checkpoint("custom_voice", tmp_path / "voices"))
    folder = kept_sound(tmp_path / "grus", "speak", ears=ears, voices=voices)
    seen = told(pulse, "talk", folder)
    assert seen["answered"]["problem"] == ""
    assert seen["answered"]["roles"][:2] == ["user", "assistant"]
    assert 0.05 < seen["spoken"]["seconds"] < 5.0  # then it was interrupted
    assert "The microphone was disconnected." in seen["microphone unplugged"]["problem"]
    assert "disconnected" in seen["loudspeaker unplugged"]["problem"]
