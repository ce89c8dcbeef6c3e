"""The system's own voices, as the model `system`: the command, Python and the server, without any download."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
import soundfile

import grus
from app.cli import main
from app.runtime.catalogue import Catalogue, capabilities_of
from engine.engine import Engine
from engine.errors import BadRequest, GrusError
from engine.loading import LoadOptions, load_any
from engine.media import system_speech
from engine.types import Settings
from tests.app.server.live import Live, serving
from tests.needs import no_program

pytestmark = pytest.mark.skipif(bool(no_program("espeak-ng")), reason=no_program("espeak-ng"))

TEXT = "Good morning. The cranes come down from the north."


def voiced(samples: np.ndarray, rate: int) -> float:
    """Seconds that are not silent."""
    blocks = samples[: len(samples) // 400 * 400].reshape(-1, 400)
    return float((np.abs(blocks).max(1) > 0.02).sum() * 400 / rate)


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).resolve().parents[2])
    env = {**os.environ, "PYTHONPATH": root, **environment}
    command = [sys.executable, "-m", "app.cli", *arguments]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=250)


def test_a_text_is_spoken_into_a_file_without_any_model(tmp_path: Path) -> None:
    """In a fresh process, in an empty folder."""
    done = run("speak", TEXT, "-o", "said.wav", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    samples, rate = soundfile.read(tmp_path / "said.wav", dtype="float32")
    assert rate == 22050
    assert 1.5 < voiced(samples, rate) < 8
    faster = run("speak", TEXT, "-o", "fast.wav", "--speed", "2", "--model", "system", cwd=tmp_path)
    assert faster.returncode == 0, faster.stderr
    assert soundfile.info(tmp_path / "fast.wav").frames < 0.7 * len(samples)


def test_without_a_program_that_speaks_it_says_what_to_do(tmp_path: Path) -> None:
    done = run("speak", TEXT, cwd=tmp_path, PATH=str(tmp_path))
    assert done.returncode == 2
    assert "no program that speaks (on Linux: espeak-ng)" in done.stderr


def test_voices_are_listed_and_chosen(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["speak", "--voices", "--model", "system"]) == 0
    listed = capsys.readouterr().out.split()
    assert {"de", "fr-fr", "en-gb"} <= set(listed)
    sounds = []
    for voice in ("de", "en-us"):
        assert main(["speak", TEXT, "--voice", voice, "-o", str(tmp_path / f"{voice}.wav")]) == 0
        sounds.append((tmp_path / f"{voice}.wav").read_bytes())
    assert main(["speak", TEXT, "--language", "german", "-o", str(tmp_path / "german.wav")]) == 0
    assert sounds[0] != sounds[1]
    assert (tmp_path / "german.wav").read_bytes() == sounds[0]


@pytest.mark.parametrize(("settings", "message"), [
    (dict(voice="nobody"), "has no voice 'nobody'"),
    (dict(language="klingon"), "speaks 'klingon'"),
    (dict(instructions="Sadly."), "take no instructions"),
])  # fmt: skip
def test_what_it_cannot(settings: dict[str, str], message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        grus.speak("Hello.", **settings)


def test_python_needs_no_model(tmp_path: Path) -> None:
    spoken = grus.speak(TEXT, tmp_path / "said.flac")
    assert spoken.rate == 22050
    assert 1.5 < voiced(spoken.samples, spoken.rate) < 8
    assert soundfile.info(tmp_path / "said.flac").frames == len(spoken.samples)
    grus.unload()


def test_a_text_is_no_option_of_the_program() -> None:
    """Nor a command of its own."""
    for text in ("--version", "-w /tmp/x", "<speak>", "$(id)", "\x00 null", "日本語 und Ümläute"):
        assert sum(len(part) for part in system_speech.spoken(text, None)) >= 0


def test_a_voice_that_is_left_ends_its_program(tmp_path: Path) -> None:
    long = system_speech.spoken("word " * 20000, None)
    assert len(next(long))
    long.close()


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    where = LoadOptions(backend="auto", device="cpu", download=False)
    catalogue = Catalogue({}, use_cache=False)
    with serving(lambda of: Engine(of, Settings()), lambda name: load_any(name, where), catalogue) as up:
        yield up


def test_the_server_speaks_with_it(live: Live) -> None:
    body = {"model": "system", "input": TEXT, "voice": "en-gb", "response_format": "wav", "stream": False}
    reply = httpx.post(f"{live.url}/v1/audio/speech", json=body, timeout=120)
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "audio/wav"
    assert len(reply.content) > 2 * 22050
    plain = httpx.post(f"{live.url}/v1/audio/speech", json={**body, "voice": "alloy"}, timeout=120)
    assert plain.status_code == 200  # OpenAI's voices are the default one
    listed = {**body, "input": "I use SQL.", "pronunciations": {"SQL": "sequel"}}
    spelled = {**body, "input": "I use sequel."}
    sounds = [httpx.post(f"{live.url}/v1/audio/speech", json=one, timeout=120).content for one in (listed, spelled)]
    assert sounds[0] == sounds[1]
    phonemes = httpx.post(f"{live.url}/v1/audio/speech", json={**body, "pronunciations": {"a": "/b/"}}, timeout=120)
    assert (phonemes.status_code, phonemes.json()["error"]["param"]) == (400, "pronunciations")
    voices = httpx.get(f"{live.url}/v1/audio/voices", params={"model": "system"}, timeout=120).json()
    assert {"de", "en-gb"} <= {card["id"] for card in voices["data"]}
    refused = httpx.post(f"{live.url}/v1/audio/speech", json={**body, "voice": "nobody"}, timeout=120)
    assert (refused.status_code, json.loads(refused.text)["error"]["param"]) == (400, "voice")


def test_it_speaks_and_does_nothing_else() -> None:
    assert capabilities_of("system") == {"speak"}
    with pytest.raises(GrusError, match="writes no text"):
        grus.chat("Hello.", model="system")


@pytest.mark.parametrize(("read", "listed", "voices"), [
    (system_speech._of_say, "Anna  de_DE  # Hallo!\nBad News  en_US  # The light\n", [("Anna", "de-DE"), ("Bad News", "en-US")]),
    (system_speech._of_windows, "Microsoft Hedda Desktop\tde-DE\r\n", [("Microsoft Hedda Desktop", "de-DE")]),
    (system_speech._of_espeak, "Pty Language\n 5  de  --/M  German  gmw/de\n 5  de  --/M  x  mb/mb-de2\n", [("de", "de")]),
])  # fmt: skip
def test_the_lists_of_each_system(read: object, listed: str, voices: list[tuple[str, str]]) -> None:
    assert [(voice.name, voice.language) for voice in read(listed)] == voices  # type: ignore[operator]
