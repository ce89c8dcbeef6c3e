"""Where somebody speaks: on the command line, over HTTP, and from Python, without any model of a user's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import soundfile

import grus
from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.errors import BadRequest
from engine.loading import LoadOptions, load_any
from engine.types import Settings
from tests.app.server.live import Live, serving
from tests.engine.pipelines.listening.conftest import RATE, silence, talk, voice

# what `talk(2)` is made of: 0.8 s of silence, 1.2 s of a voice, 0.9 s of silence, 1.5 s of another, 0.9 s of silence
EXPECTED = [(0.8, 2.0), (2.9, 4.4)]
NEAR = 0.25


def near(spans: list[tuple[float, float]]) -> None:
    assert len(spans) == len(EXPECTED)
    for found, expected in zip(spans, EXPECTED):
        assert found == pytest.approx(expected, abs=NEAR)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("activity") / "talk.wav"
    soundfile.write(path, talk(2), RATE)
    return path


@pytest.fixture(scope="module", params=["torch", "mlx"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def live(backend: str) -> Iterator[Live]:
    where = LoadOptions(backend=backend, device="cpu", download=False)
    settings = Settings(gpu_memory_limit="1G")
    with serving(
        lambda of: Engine(of, settings), lambda name: load_any(name, where), Catalogue({}, use_cache=False)
    ) as up:
        yield up


def ask(live: Live, sound: Path, **form: Any) -> httpx.Response:
    return httpx.post(
        f"{live.url}/v1/audio/activity", files={"file": (sound.name, sound.read_bytes())}, data=form, timeout=60
    )


def test_spans_over_http_on_a_server_without_models(live: Live, sound: Path) -> None:
    reply = ask(live, sound)
    assert reply.status_code == 200, reply.text
    found = reply.json()
    near([(span["start"], span["end"]) for span in found["spans"]])
    assert found["duration"] == pytest.approx(5.3, abs=0.01)
    assert found["speech_seconds"] == pytest.approx(sum(s["end"] - s["start"] for s in found["spans"]), abs=0.01)


def test_labels(live: Live, sound: Path) -> None:
    srt = ask(live, sound, response_format="srt").text
    assert srt.count("-->") == srt.count("speech") == 2
    assert srt.startswith("1\n00:00:0")
    assert ask(live, sound, response_format="vtt").text.startswith("WEBVTT\n")
    rows = [line.split("\t") for line in ask(live, sound, response_format="text").text.splitlines()]
    near([(float(start), float(end)) for start, end, label in rows if label == "speech"])


def test_what_counts_as_speech_can_be_said(live: Live, sound: Path) -> None:
    assert len(ask(live, sound, min_silence_seconds=2).json()["spans"]) == 1
    assert ask(live, sound, min_speech_seconds=5).json()["spans"] == []
    plain, padded = (ask(live, sound, pad_seconds=pad).json()["spans"][0] for pad in (0, 0.2))
    assert padded["start"] == pytest.approx(plain["start"] - 0.2, abs=0.002)
    for field, value in (("threshold", 0), ("threshold", 1.5), ("min_speech_seconds", -1), ("pad_seconds", 90)):
        reply = ask(live, sound, **{field: value})
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, field)
    assert ask(live, sound, response_format="xml").status_code == 400


def test_long_speech_is_one_span_and_silence_none(live: Live, tmp_path: Path) -> None:
    for name, samples, count in (("long", np.concatenate([voice(1.5)] * 17), 1), ("silent", silence(2.0), 0)):
        soundfile.write(tmp_path / name, samples, RATE, format="WAV")
        assert len(ask(live, tmp_path / name).json()["spans"]) == count
    (tmp_path / "none").write_bytes(b"no sound")
    assert ask(live, tmp_path / "none").status_code == 400


def test_spans_from_python(backend: str, sound: Path) -> None:
    options = {"backend": backend, "device": "cpu"}
    spans = grus.speech_spans(sound, options=options)
    near([(span.start, span.end) for span in spans])
    samples = talk(2)
    assert grus.speech_spans(samples, rate=RATE, options=options) == spans
    stereo = np.stack([samples, samples], axis=1)
    assert grus.speech_spans(stereo, rate=RATE, options=options) == spans
    with pytest.raises(BadRequest, match="rate"):
        grus.speech_spans(samples, options=options)
    grus.unload()


def listen(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app.cli", "listen", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ))


def test_spans_on_the_command_line(backend: str, sound: Path, tmp_path: Path) -> None:
    where = ("--backend", backend, "--device", "cpu")
    done = listen(sound, "--activity", *where)
    assert done.returncode == 0, done.stderr
    near([(span["start"], span["end"]) for span in json.loads(done.stdout)["spans"]])
    target = tmp_path / "labels.srt"
    done = listen(sound, "--activity", "--format", "srt", "-o", target, *where)
    assert done.returncode == 0, done.stderr
    assert target.read_text().count("speech") == 2


@pytest.mark.parametrize("arguments", [("--activity", "--mic"), ("--activity", "--model", "m", "a.wav"), ("a.wav",)])
def test_what_does_not_go_together(arguments: tuple[str, ...]) -> None:
    done = listen(*arguments)
    assert done.returncode == 2
    assert "--model" in done.stderr
    assert "Traceback" not in done.stderr
