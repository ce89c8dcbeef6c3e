"""Kokoro through every door: a new process on both backends, the server, the window's list; with a tiny random model."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
import soundfile

from app.gui.viewmodels.speak import SpeakSettings
from app.gui.viewmodels.speak_options import offered
from app.runtime.catalogue import Catalogue, capabilities_of
from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.types import Settings
from tests.app.server.live import Live, serving
from tests.kokoro_checkpoints import save_kokoro
from tests.needs import need_program

TEXT = "Good morning. The cranes are back."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_kokoro(tmp_path_factory.mktemp("speaks") / "kokoro")


@pytest.mark.timeout(300)
def test_it_speaks_in_a_new_process_on_both_backends(folder: Path, tmp_path: Path) -> None:
    need_program("espeak-ng")
    heard = []
    for backend in ("torch", "mlx"):
        target = tmp_path / f"{backend}.wav"
        command = [sys.executable, "-m", "app.cli", "speak", TEXT, "--model", str(folder), "--voice", "bf_emma"]
        done = subprocess.run(
            [*command, "--seed", "3", "--speed", "0.8", "-o", str(target), "--backend", backend, "--device", "cpu"],
            capture_output=True,
            text=True,
            timeout=280,
        )
        assert done.returncode == 0, done.stderr
        samples, rate = soundfile.read(target)
        assert rate == 24000
        heard.append(samples)
    assert len(heard[0]) == len(heard[1]) > 1000
    assert np.sqrt(np.mean((heard[0] - heard[1]) ** 2)) < 0.05 * np.sqrt(np.mean(heard[0] ** 2))


@pytest.fixture(scope="module")
def live(folder: Path) -> Iterator[Live]:
    where = LoadOptions(backend="auto", device="cpu", download=False)
    catalogue = Catalogue({"kokoro": str(folder)}, use_cache=False)
    with serving(lambda of: Engine(of, Settings()), lambda name: load_any(name, where), catalogue) as up:
        yield up


def test_the_server_speaks_with_it(live: Live) -> None:
    need_program("espeak-ng")
    body = {"model": "kokoro", "input": TEXT, "voice": "am_adam", "response_format": "wav", "stream": False}
    reply = httpx.post(f"{live.url}/v1/audio/speech", json=body, timeout=120)
    assert reply.status_code == 200, reply.text
    assert len(reply.content) > 2000
    voices = httpx.get(f"{live.url}/v1/audio/voices", params={"model": "kokoro"}, timeout=120).json()
    assert {"af_heart", "bf_emma"} <= {card["id"] for card in voices["data"]}
    for change, param in (({"voice": "nobody"}, "voice"), ({"language": "japanese"}, "language")):
        refused = httpx.post(f"{live.url}/v1/audio/speech", json=body | change, timeout=120)
        assert (refused.status_code, json.loads(refused.text)["error"]["param"]) == (400, param)


def test_the_window_offers_its_voices(folder: Path) -> None:
    assert capabilities_of(str(folder)) == {"speak"}
    offer = offered(Catalogue({"kokoro": str(folder)}, use_cache=False), "kokoro")
    assert offer.presets == ("af_heart", "am_adam", "bf_emma", "ff_siwis")
    assert "french" in offer.languages
    assert offer.problem(SpeakSettings()) == ""
    assert "cloning" in offer.problem(SpeakSettings(saved="Anna"))
