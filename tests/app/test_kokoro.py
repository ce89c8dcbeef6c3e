"""Kokoro through every door: a new process on both backends, the server, the window's list; with a tiny random model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.gui.viewmodels.speak import SpeakSettings
from app.gui.viewmodels.speak_options import offered
from app.runtime.catalogue import Catalogue, capabilities_of
from tests.app.server.live import Live
from tests.app.speaking import spoken_by_both, spoken_over_http, voice_server, voices_over_http
from tests.kokoro_checkpoints import save_kokoro
from tests.needs import need_program

TEXT = "Good morning. The cranes are back."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_kokoro(tmp_path_factory.mktemp("speaks") / "kokoro")


@pytest.mark.timeout(300)
def test_it_speaks_in_a_new_process_on_both_backends(folder: Path, tmp_path: Path) -> None:
    need_program("espeak-ng")
    spoken_by_both(TEXT, folder, tmp_path, "--voice", "bf_emma", "--speed", "0.8", within=0.05, least=1000)


@pytest.fixture(scope="module")
def live(folder: Path) -> Iterator[Live]:
    with voice_server("kokoro", folder) as up:
        yield up


def test_the_server_speaks_with_it(live: Live) -> None:
    need_program("espeak-ng")
    body = {"model": "kokoro", "input": TEXT, "voice": "am_adam"}
    made = spoken_over_http(live, body, [({"voice": "nobody"}, "voice"), ({"language": "japanese"}, "language")])
    assert len(made) > 2000
    assert {"af_heart", "bf_emma"} <= voices_over_http(live, "kokoro")


def test_the_window_offers_its_voices(folder: Path) -> None:
    assert capabilities_of(str(folder)) == {"speak"}
    offer = offered(Catalogue({"kokoro": str(folder)}, use_cache=False), "kokoro")
    assert offer.presets == ("af_heart", "am_adam", "bf_emma", "ff_siwis")
    assert "french" in offer.languages
    assert offer.problem(SpeakSettings()) == ""
    assert "cloning" in offer.problem(SpeakSettings(saved="Anna"))
