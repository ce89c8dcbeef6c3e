"""The facts of a loaded model live exactly as long as the model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.runtime.catalogue import Catalogue
from app.runtime.models import ModelService
from engine.engine import Engine
from engine.loading import LoadOptions, load_any, weight_bytes
from engine.tasks import Task
from engine.types import Request, SamplingParams, Settings
from tests.app.server.live import Live, serving
from tests.app.server.scripted import until
from tests.app.server.test_audio import wav
from tests.checkpoints import save
from tests.engine.pipelines.listening.conftest import talk
from tests.speech_checkpoints import save as save_ears

BACKENDS = ["torch", "mlx"]


@pytest.fixture(params=["torch", pytest.param("mlx", marks=pytest.mark.slow)])
def live(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Live]:
    named = {"text": str(save("qwen3", tmp_path / "text")), "ears": str(save_ears("moonshine", tmp_path / "ears"))}
    where = LoadOptions(backend=request.param, device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    settings = Settings(gpu_memory_limit="1G", max_models=1)  # not even voice activity may stay beside it
    catalogue = Catalogue(named, use_cache=False)
    with serving(lambda of: Engine(of, settings), lambda name: load_any(name, where), catalogue) as up:
        yield up


def transcribe(live: Live) -> httpx.Response:
    file = {"file": ("talk.wav", wav(talk(1)))}
    return httpx.post(f"{live.url}/v1/audio/transcriptions", files=file, data={"model": "ears"}, timeout=60)


def chat(live: Live, **more: Any) -> httpx.Response:
    body = {"model": "text", "messages": [{"role": "user", "content": "Hello"}], "options": {"num_predict": 2}}
    return httpx.post(f"{live.url}/api/chat", json=body | {"stream": False} | more, timeout=60)


def by_keep_alive(live: Live) -> None:
    live.engine.keep("ears", 0)


def by_the_models_pane(live: Live) -> None:
    live.engine.unload("ears", cancel=True)


def by_room(live: Live) -> None:
    assert chat(live).status_code == 200


SLOW = pytest.mark.slow  # their tests take as long again, and differ only in who unloads


@pytest.mark.parametrize(
    "unload", [by_keep_alive, pytest.param(by_the_models_pane, marks=SLOW), pytest.param(by_room, marks=SLOW)]
)
def test_a_model_that_went_listens_again_when_it_is_asked(live: Live, unload: Any) -> None:
    assert transcribe(live).status_code == 200
    assert "ears" in live.service.loaded
    unload(live)
    until(lambda: "ears" not in live.service.resident())
    until(lambda: "ears" not in live.service.loaded)
    reply = transcribe(live)
    assert reply.status_code == 200, reply.text
    assert live.service.resident() >= {"ears"}


def test_a_chat_that_is_kept_for_no_time_can_be_asked_again(live: Live) -> None:
    for _ in range(3):
        assert chat(live, keep_alive=0).json()["eval_count"] == 2
        until(lambda: "text" not in live.service.loaded)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_task_waits_for_room_without_loading_its_model(tmp_path: Path, backend: str) -> None:
    named = {
        "text": str(save("qwen3", tmp_path / "text", max_position_embeddings=4096)),
        "other": str(save("qwen3", tmp_path / "other", intermediate_size=8192)),
    }
    where = LoadOptions(backend=backend, device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    size, large = weight_bytes(named["text"], where), weight_bytes(named["other"], where)
    assert size is not None
    assert large is not None
    loads: list[str] = []

    def load(source: str) -> Any:
        loads.append(Path(source).name)
        return load_any(source, where)

    settings = Settings(gpu_memory_limit=f"{large + 1000}")  # room for one of the two
    service = ModelService(
        lambda of: Engine(of, settings),
        load,
        Catalogue(named, use_cache=False),
        size=lambda source: weight_bytes(source, where),
    )
    try:
        facts = service.load_now("text")
        assert facts.weight_bytes == size
        params = SamplingParams(temperature=0.0, max_tokens=300, ignore_eos=True)
        busy = service.submit(Request("text", [5, 6, 7], params))
        events = iter(busy)
        next(events)
        task: Task[str] = service.task("other", _named)
        taken = sum(1 for _ in zip(events, range(50)))
        assert taken == 50
        assert loads == ["text"]
        assert task.result(60) == "other"
        assert busy.result(0).reason == "length"
        assert loads == ["text", "other"]
    finally:
        service.close()


def _named(loaded: Any) -> Any:
    return loaded.name
    yield
