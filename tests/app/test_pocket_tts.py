"""Pocket-TTS through every door: a new process on both backends, the server, the window's list; with a tiny random model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.gui.viewmodels.speak import SpeakSettings
from app.gui.viewmodels.speak_options import offered
from app.runtime.catalogue import Catalogue, capabilities_of
from tests.app.server.live import Live
from tests.app.speaking import spoken, spoken_by_both, spoken_over_http, voice_server, voices_over_http
from tests.pocket_checkpoints import save_pocket

TEXT = "Good morning! The cranes are back."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_pocket(tmp_path_factory.mktemp("speaks") / "pocket")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_it_speaks_in_a_new_process_on_both_backends(folder: Path, tmp_path: Path) -> None:
    """In any voice, a quantized talker too."""
    spoken_by_both(TEXT, folder, tmp_path, "--voice", "marius", within=0.02, least=100)
    quantized = spoken(TEXT, folder, tmp_path / "quantized.wav", "--voice", "marius", "--quant", "q8_0")
    assert len(quantized) > 100


@pytest.fixture(scope="module")
def live(folder: Path) -> Iterator[Live]:
    with voice_server("pocket", folder) as up:
        yield up


def test_the_server_speaks_with_it(live: Live) -> None:
    body = {"model": "pocket", "input": TEXT, "voice": "alba"}
    made = spoken_over_http(live, body, [({"voice": "nobody"}, "voice"), ({"language": "german"}, "language")])
    assert len(made) > 300
    assert {"alba", "marius"} <= voices_over_http(live, "pocket")


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
