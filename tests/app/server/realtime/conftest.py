"""Fixtures: a server with tiny ASR and TTS models. The chat model is scripted, or tiny too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.types import Request, Settings
from tests.app.server.live import Live, serving
from tests.app.server.scripted import ScriptedEngine
from tests.checkpoints import save
from tests.qwen3_tts_cases import checkpoint, ending
from tests.speech_checkpoints import save as save_ears

WHERE = LoadOptions(backend="auto", device="cpu", dtype="f32", memory_limit=1 << 30, download=False)


class Prompted(Engine):
    """The real engine, but for requests to "scripted", which are answered as a test wrote."""

    def __init__(self, load: Any) -> None:
        super().__init__(load, Settings(gpu_memory_limit="1G", max_concurrent=4))
        self.script = ScriptedEngine(load)

    def load(self, name: str) -> Any:
        if name != "scripted":
            return super().load(name)
        return self.script.load(name)

    def submit(self, request: Request, *, admitted: bool = False) -> Any:
        if request.model == "scripted":
            return self.script.submit(request, admitted=admitted)
        return super().submit(request, admitted=admitted)


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("talking")
    text = str(save("qwen3", folder / "text", max_position_embeddings=2048))
    named = {
        "scripted": text,
        "text": text,
        "ears": str(save_ears("moonshine", folder / "moonshine-tiny")),
        "voice": str(ending(checkpoint("custom_voice", folder / "voice"))),
    }
    catalogue = Catalogue(named, use_cache=False)
    with serving(Prompted, lambda source: load_any(source, WHERE), catalogue, voices_dir=str(folder / "saved")) as up:
        yield up


@pytest.fixture
def talking(served: Live) -> Live:
    script = served.engine.script
    script.reply, script.script, script.pause = "Good morning. How are you?", None, 0.0
    script.requests.clear()
    return served
