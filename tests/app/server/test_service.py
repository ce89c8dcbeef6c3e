"""The model service without HTTP: models are loaded and unloaded while others answer."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.runtime.catalogue import Catalogue
from app.runtime.models import ModelService
from engine.engine import Engine
from engine.errors import BadRequest
from engine.types import Done, Request, SamplingParams, Settings
from tests.app.server.fake_model import FakeServed
from tests.app.server.scripted import ScriptedEngine

NAMES = {"here": "here", "far": "far"}


def test_a_model_that_is_still_being_fetched_holds_up_no_reply(tmp_path: Path) -> None:
    models = {name: FakeServed(tmp_path / name) for name in NAMES}
    settings, arrived, asked = Settings(gpu_memory_limit="1T"), threading.Event(), []

    def fetch(source: str) -> None:
        asked.append(source)
        if source == "far":
            assert arrived.wait(20)

    service = ModelService(
        lambda load: Engine(load, settings), models.__getitem__, Catalogue(NAMES, use_cache=False), fetch
    )

    async def talk() -> None:
        bringing = asyncio.create_task(service.find("far"))
        await service.find("here")
        ask = Request("here", [40, 41, 42], SamplingParams(temperature=0.0, max_tokens=20, ignore_eos=True))
        *_, last = [event async for event in service.submit(ask)]
        assert isinstance(last, Done)
        assert last.timings.output_tokens == 20
        assert not bringing.done()
        assert service.resident() == {"here"}
        arrived.set()
        await bringing
        assert service.resident() == {"here", "far"}
        await service.find("far")

    try:
        asyncio.run(talk())
    finally:
        arrived.set()
        service.close()
    assert sorted(asked) == ["far", "here"]  # once each


def test_a_model_that_is_asked_for_while_it_goes_is_there_again() -> None:
    service = ModelService(
        ScriptedEngine,
        lambda source: SimpleNamespace(name=source, config={}),
        Catalogue(NAMES, use_cache=False),
    )
    engine: Any = service.engine
    let_go = engine.unload

    def unload(name: str) -> None:
        let_go(name)
        engine.load(name)  # for somebody else, before the service has heard that it went

    engine.unload = unload

    async def ask() -> None:
        await service.find_any("here")
        await service.unload("here")
        _, loaded = await service.find_any("here")
        assert loaded.name == "here"

    asyncio.run(ask())


def test_a_model_is_loaded_anew_where_a_client_wants_it_otherwise() -> None:
    seen: list[tuple[str, Any]] = []

    def load(source: str) -> SimpleNamespace:
        how = service.placed.get(source)
        seen.append((source, how))
        if how == {"quant": "wrong"}:
            raise BadRequest("There is no such quantization.", "quant")
        return SimpleNamespace(name=source, config={})

    service = ModelService(ScriptedEngine, load, Catalogue(NAMES, use_cache=False))

    async def ask() -> None:
        split = {"devices": ("cuda:0", "cuda:1"), "tensor_parallel": 2}
        await service.find_any("here")
        for how in ({}, split, split, {}):  # nothing said: as it is
            name, _ = await service.load_placed("here", how)
            assert name == "here"
        assert seen == [("here", None), ("here", split)]
        with pytest.raises(BadRequest, match="no such quantization"):
            await service.load_placed("here", {"quant": "wrong"})
        await service.find_any("here")
        assert seen[2:] == [("here", {"quant": "wrong"}), ("here", split)]

    asyncio.run(ask())
