"""Pocket-TTS through every door: a new process on both backends, the server, the window's list; with a tiny random model."""

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
from tests.pocket_checkpoints import save_pocket

TEXT = "Good morning! The cranes are back."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_pocket(tmp_path_factory.mktemp("speaks") / "pocket")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_it_speaks_in_a_new_process_on_both_backends(folder: Path, tmp_path: Path) -> None:
    """In any voice, a quantized talker too."""
    heard = []
    for backend, more in (("torch", []), ("mlx", []), ("torch", ["--quant", "q8_0"])):
        target = tmp_path / f"{backend}{len(more)}.wav"
        command = [sys.executable, "-m", "app.cli", "speak", TEXT, "--model", str(folder), "--voice", "marius", *more]
        done = subprocess.run(
            [*command, "--seed", "3", "-o", str(target), "--backend", backend, "--device", "cpu"],
            capture_output=True,
            text=True,
            timeout=280,
        )
        assert done.returncode == 0, done.stderr
        samples, rate = soundfile.read(target)
        assert rate == 24000
        heard.append(samples)
    assert len(heard[0]) == len(heard[1]) > 100
    assert np.sqrt(np.mean((heard[0] - heard[1]) ** 2)) < 0.02 * np.sqrt(np.mean(heard[0] ** 2))
    assert len(heard[2]) > 100


@pytest.fixture(scope="module")
def live(folder: Path) -> Iterator[Live]:
    where = LoadOptions(backend="auto", device="cpu", download=False)
    catalogue = Catalogue({"pocket": str(folder)}, use_cache=False)
    with serving(lambda of: Engine(of, Settings()), lambda name: load_any(name, where), catalogue) as up:
        yield up


def test_the_server_speaks_with_it(live: Live) -> None:
    body = {"model": "pocket", "input": TEXT, "voice": "alba", "response_format": "wav", "stream": False}
    reply = httpx.post(f"{live.url}/v1/audio/speech", json=body, timeout=120)
    assert reply.status_code == 200, reply.text
    assert len(reply.content) > 300
    voices = httpx.get(f"{live.url}/v1/audio/voices", params={"model": "pocket"}, timeout=120).json()
    assert {"alba", "marius"} <= {card["id"] for card in voices["data"]}
    for change, param in (({"voice": "nobody"}, "voice"), ({"language": "german"}, "language")):
        refused = httpx.post(f"{live.url}/v1/audio/speech", json=body | change, timeout=120)
        assert (refused.status_code, json.loads(refused.text)["error"]["param"]) == (400, param)


def test_the_window_offers_its_voices_and_cloning(folder: Path) -> None:
    assert capabilities_of(str(folder)) == {"speak"}
    offer = offered(Catalogue({"pocket": str(folder)}, use_cache=False), "pocket")
    assert offer.presets == ("alba", "marius")
    assert offer.clones
    assert offer.problem(SpeakSettings()) == ""
    (folder / "audio_tokenizer").rename(folder / "elsewhere")
    try:
        lacking = offered(Catalogue({"pocket": str(folder)}, use_cache=False), "pocket")
    finally:
        (folder / "elsewhere").rename(folder / "audio_tokenizer")
    assert lacking.lacks == "somebody/pocket-tts-audio-tokenizer"
