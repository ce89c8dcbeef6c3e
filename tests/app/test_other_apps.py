"""Models of other applications over HTTP and in the window: whose they are is said, and nothing of theirs is deleted."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from app.gui.viewmodels.models.card import ModelDetailsSource, _where
from app.gui.viewmodels.models.library import ModelLibrary, on_disk
from app.runtime.catalogue import Catalogue
from tests.app.server.live import serving
from tests.app.server.scripted import ScriptedEngine, scripted_model
from tests.engine.hub.test_other_apps import ollama


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRUS_OTHER_APPS", "on")
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "store"))
    monkeypatch.setenv("LLAMA_CACHE", str(tmp_path / "none"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "nobody")
    monkeypatch.setattr("engine.hub.other_apps._FRESH", -1.0)
    return ollama(tmp_path / "store", "registry.ollama.ai/library/tiny/1b")


def test_the_server_lists_and_serves_them(store: Path, tmp_path: Path) -> None:
    model, loaded = scripted_model(tmp_path / "m"), []
    catalogue = Catalogue({"mine": str(tmp_path / "m")}, cache_dir=str(tmp_path / "hf"))

    def load(source: str) -> object:
        loaded.append(source)
        return model

    with serving(ScriptedEngine, load, catalogue, voices_dir=str(tmp_path / "voices")) as live:
        listed = httpx.get(f"{live.url}/v1/models").json()["data"]
        assert {card["id"]: card["app"] for card in listed} == {"mine": None, "tiny:1b": "Ollama"}
        assert httpx.get(f"{live.url}/v1/models/tiny:1b").json()["app"] == "Ollama"
        assert "tiny:1b" in [entry["name"] for entry in httpx.get(f"{live.url}/api/tags").json()["models"]]
        body = {"model": "tiny:1b", "messages": [{"role": "user", "content": "Hi"}]}
        assert httpx.post(f"{live.url}/v1/chat/completions", json=body).status_code == 200
        assert loaded == [str(store)]


def test_the_window_shows_whose_they_are_and_offers_no_deletion(store: Path, tmp_path: Path) -> None:
    catalogue = Catalogue(cache_dir=str(tmp_path / "hf"))
    with serving(ScriptedEngine, lambda source: None, catalogue, voices_dir=str(tmp_path / "voices")) as live:
        (model,) = on_disk(live.service)
    assert (model.name, model.place, model.app, model.nbytes) == ("tiny:1b", "app", "Ollama", 4)
    assert _where(model) == f"Ollama, {store}"
    library = ModelLibrary.__new__(ModelLibrary)
    library.busy = {}
    library.remove(model)  # would need a service to delete or to forget it
    assert store.exists()
    details = ModelDetailsSource.__new__(ModelDetailsSource)
    details._described, details._choices, details._library = {}, {}, library
    assert details._here(model).actions == ["chat", "load"]
