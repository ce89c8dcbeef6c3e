"""What models can do, told from their configs; and the panes' work over one real service with tiny checkpoints."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import numpy as np
import pytest

from app.gui.preferences import Preferences
from app.gui.store.worker import AppStore
from app.gui.viewmodels.listen import ListenResults
from app.gui.viewmodels.models.library import badges
from app.gui.viewmodels.read import ReadResults, ReadSettings
from app.gui.viewmodels.speak import SpeakResults, SpeakSettings
from app.runtime import catalogue, pipelines
from app.server.app import create_app
from app.server.config import ServerSettings
from app.server.listening import Listener
from app.window_engine import WindowEngine, local_service
from engine.errors import BadRequest
from engine.starter import READER, SYSTEM, starter, starters
from tests import speech_checkpoints
from tests.app.gui.media import AtOnce
from tests.checkpoints import save
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.engine.pipelines.reading.sheets import Sheet
from tests.qwen3_tts_cases import checkpoint
from tests.reading_checkpoints import save_paddleocr_vl, save_pp_doclayout


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WindowEngine]:
    folder = tmp_path_factory.mktemp("models")
    models = {
        "chat": str(save("qwen3", folder / "chat")),
        "ears": str(speech_checkpoints.save("moonshine", folder / "ears")),
        "eyes": str(save_paddleocr_vl(folder / "eyes")),
        "layout": str(save_pp_doclayout(2, folder / "layout")),
        "voice": str(checkpoint("custom_voice", folder / "voice")),
        **starters(),
    }
    preferences = Preferences(folder / "preferences.json")
    preferences.put("backend", "auto")
    preferences.put("device", "cpu")
    preferences.put("cache_dir", str(folder / "cache"))
    streams = AtOnce()
    made = WindowEngine(
        streams, lambda: local_service(preferences, models), lambda deliver: SimpleNamespace(put=lambda i: None)
    )
    made.start()
    yield made
    made.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AppStore]:
    made = AppStore(tmp_path / "grus.sqlite3")
    yield made
    made.close()


class Streams(AtOnce):
    """Long work at once, over the real core."""

    def __init__(self, core: WindowEngine) -> None:
        super().__init__(hold=True)
        self.service, self.engine, self.bring = core.service, core.engine, core.bring
        self.own_words = ""


def test_each_model_is_offered_for_what_it_can_do(core: WindowEngine) -> None:
    found = {
        ability: catalogue.able(core.service.catalogue, ability) for ability in ("read", "layout", "listen", "speak")
    }  # type: ignore[arg-type]
    assert found == {
        "read": ["eyes", READER],
        "layout": ["layout"],
        "listen": ["ears"],
        "speak": ["voice", *([SYSTEM] if starter(SYSTEM) else [])],
    }


def test_decoders_that_were_trained_for_vectors_and_ranks_do_not_chat(tmp_path: Path) -> None:
    """As Qwen3-Embedding and Qwen3-Reranker are published: their config is that of a Qwen3 which chats."""
    config = {"model_type": "qwen3"}
    assert catalogue.capabilities(config, tmp_path) == {"chat", "embed"}
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_lasttoken": true}')
    assert catalogue.capabilities(config, tmp_path) == {"embed"}
    snapshot = tmp_path / "models--Qwen--Qwen3-Reranker-0.6B" / "snapshots" / "0"
    assert catalogue.capabilities(config, snapshot) == {"rank"}
    assert badges({"chat", "embed"}) == ("Chat",)
    assert badges({"embed"}) == ("Embedding",)
    assert badges({"rank"}) == ("Reranking",)


def test_what_is_missing_is_said(core: WindowEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "able", lambda service, ability: [])
    for make, said in ((pipelines.recognizer, "PaddleOCR-VL"), (pipelines.listener, "moonshine"),
                       (pipelines.speaker, "Qwen3-TTS")):  # fmt: skip
        with pytest.raises(BadRequest, match=said):
            make(core, "")


def test_a_page_is_read_by_a_real_model(core: WindowEngine, store: AppStore, tmp_path: Path) -> None:
    sheet = Sheet((300, 200))
    sheet.line(20, 40, "The crane", 30)
    sheet.image.save(tmp_path / "page.png")
    streams = Streams(core)
    reading = ReadResults(store, streams, streams, lambda *a, **m: None, tmp_path)
    reading.settings = ReadSettings(task="text", model="eyes")
    reading.add([tmp_path / "page.png"])
    store.wait()
    streams.held[0].finish()
    item = reading.items[0]
    assert (item.state, item.error) == ("done", "")
    assert item.read[1].reader == "eyes"


def test_a_sound_is_heard_by_a_real_model(core: WindowEngine, store: AppStore, tmp_path: Path) -> None:
    import soundfile

    soundfile.write(tmp_path / "talk.wav", talk(1), RATE)
    streams = Streams(core)
    listening = ListenResults(store, streams, lambda *a, **m: None, tmp_path)
    listening.add([tmp_path / "talk.wav"])
    store.wait()
    streams.held[0].finish()
    assert listening.items[0].state == "done", listening.items[0].error
    assert len(listening.items[0].segments) == 1


def test_a_text_is_spoken_by_a_real_model(core: WindowEngine, store: AppStore, tmp_path: Path) -> None:
    streams = Streams(core)
    studio = SpeakResults(store, streams, streams, lambda *a, **m: None, tmp_path)
    preset = pipelines.speaker(core, "voice").presets[0]
    take = studio.speak("Hello.", SpeakSettings("voice", preset=preset))
    assert take is not None
    while not studio.playback.seconds:
        streams.held[0].step()
    studio.stop()
    assert np.isfinite(studio.playback.samples).all()
    assert catalogue.capabilities_of("no/such-model") == {"chat", "embed"}


def test_window_and_server_share_a_voice(core: WindowEngine, store: AppStore, tmp_path: Path) -> None:
    service = core.service
    before = service.resident()
    streams = Streams(core)
    studio = SpeakResults(store, streams, streams, lambda *a, **m: None, tmp_path)
    preset = pipelines.speaker(core, "voice").presets[0]
    studio.speak("Hello.", SpeakSettings("voice", preset=preset))
    while not studio.playback.seconds:
        streams.held[0].step()
    studio.stop()
    here = service.resident()
    assert "voice" in here
    settings = ServerSettings(port=0)
    listener = Listener(create_app(service, settings), settings)
    thread = threading.Thread(target=listener.run, daemon=True)
    thread.start()
    try:
        address = f"http://127.0.0.1:{listener.wait_until_open(10)}"
        body = {"model": "voice", "input": "Hello.", "voice": preset, "seed": 3, "response_format": "pcm"}
        with httpx.stream("POST", f"{address}/v1/audio/speech", json=body, timeout=60) as reply:
            assert reply.status_code == 200
            assert next(reply.iter_bytes())
    finally:
        listener.stop()
        thread.join(20)
    assert service.resident() == here
    assert len(here - before) <= 2  # the voice and its codec


def test_the_built_in_reader_reads_print(
    core: WindowEngine, store: AppStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipelines, "layout", lambda core: None)  # the one here has random weights
    sheet = Sheet((700, 300))
    sheet.line(40, 60, "The crane stands in the marsh", 32)
    sheet.line(40, 120, "and waits for the morning.", 32)
    sheet.image.save(tmp_path / "page.png")
    streams = Streams(core)
    reading = ReadResults(store, streams, streams, lambda *a, **m: None, tmp_path)
    reading.settings = ReadSettings(model=READER)
    reading.add([tmp_path / "page.png"])
    store.wait()
    streams.held[0].finish()
    item = reading.items[0]
    assert (item.state, item.error) == ("done", "")
    text = " ".join(" ".join(element.text for element in item.read[1].elements).split())
    assert text == "The crane stands in the marsh and waits for the morning."
