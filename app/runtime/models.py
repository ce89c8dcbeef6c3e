"""The model service: one engine, the catalogue of models that it may load, and what is known of those that are loaded.

The only place in the product that makes an `Engine`. It serves the window, the server, the command line and Python alike:
`find` and `load_now` load a model by name, `submit` and `task` are the engine's, for pipelines. A model is fetched on the
thread that asks for it and loaded on the engine's thread; what is known of it ends when the engine unloads it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, Self, cast

from app.runtime.catalogue import Capability, Catalogue, KnownModel, require
from engine.engine import Engine
from engine.errors import GrusError, ModelNotFound, Unsupported
from engine.loaded import LoadedPart, Loader
from engine.loading import LoadedModel, LoadOptions, fetch, load_any, pick_backend, split_piece, weight_bytes
from engine.metrics import EngineStats, RequestMetrics
from engine.tasks import Task, Work
from engine.types import Request, RequestHandle, Settings, memory_limit


class ServiceEngine(Protocol):
    """The part of the engine that the service uses: the tests have one that follows a script."""

    def submit(self, request: Request, *, admitted: bool = False) -> RequestHandle: ...
    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]: ...
    def load(self, name: str) -> Any: ...
    def unload(self, name: str, *, cancel: bool = False) -> Any: ...
    def keep(self, name: str, seconds: float | None) -> Any: ...
    def clear_prefix_cache(self) -> int: ...
    def models(self) -> Sequence[Any]: ...
    def stats(self) -> EngineStats: ...
    @property
    def request_metrics(self) -> RequestMetrics: ...
    def close(self, grace: float = 0.0) -> Any: ...


Loaded = LoadedModel | LoadedPart
LoadModel = Callable[[str], Any]
MakeEngine = Callable[[LoadModel], ServiceEngine]
Accept = Callable[[str, Loaded], None]


def open_service(
    catalogue: Catalogue,
    options: Callable[[str], LoadOptions],
    settings: Settings | None = None,
    *,
    profile: Path | None = None,
    accept: Accept = lambda source, loaded: None,
) -> ModelService:
    """A service over a real engine. `options(source)`: how a model is loaded. `accept(source, loaded)` is called on the
    engine's thread with every model that was loaded; it may change the model's defaults, or raise to refuse it.
    `profile`: the file that gets a Chrome trace of the engine's work at the end."""
    chosen = settings or Settings()

    def load(source: str) -> Loaded:
        how = options(source)
        if how.memory_limit is None:
            limit = memory_limit(chosen.gpu_memory_limit, pick_backend(how).memory().total)
            how = replace(how, memory_limit=limit)
        loaded = load_any(source, how)
        if chosen.max_seq_len and isinstance(loaded, LoadedModel) and loaded.context:
            loaded.context = min(loaded.context, chosen.max_seq_len)
        try:
            accept(source, loaded)
        except BaseException:
            loaded.close()
            loaded.backend.release()
            raise
        return loaded

    def bring(source: str) -> None:
        fetch(source, options(source))
        if chosen.draft_model is not None:
            draft = service.source_of(chosen.draft_model)
            fetch(draft, options(draft))

    service = ModelService(
        lambda loader: Engine(loader, chosen, profile=profile),
        load,
        catalogue,
        fetch=bring,
        size=lambda source: weight_bytes(source, options(source)),
    )
    if chosen.draft_model is not None:
        service.allow_beside(chosen.draft_model)
    return service


def open_models(
    names: Sequence[str],
    options: LoadOptions | None = None,
    settings: Settings | None = None,
    *,
    profile: Path | None = None,
    accept: Accept = lambda source, loaded: None,
) -> ModelService:
    """A service of models that are named by what they are loaded from (folders, files, repositories), none of them loaded
    yet. `options` are for these; models that they need beside them (a codec, a draft) say themselves what they are."""
    given = options or LoadOptions()
    plain = replace(given, model_type="auto", format="auto")
    return open_service(
        Catalogue({name: name for name in names}, cache_dir=given.cache_dir, use_cache=False),
        lambda source: given if split_piece(source)[0] in names else plain,
        settings,
        profile=profile,
        accept=accept,
    )


@contextmanager
def closed_on_error(service: ModelService) -> Iterator[ModelService]:
    """Closes the service where what is made over it fails."""
    try:
        yield service
    except BaseException:
        service.close()
        raise


class ServiceOwner:
    """Base of the classes of the Python interface: each has a service of its own. Close it, or use it in a `with` block."""

    service: ModelService

    @property
    def engine(self) -> Engine:
        return self.service.engine  # type: ignore[return-value]  # scripted engines are the tests' own

    def close(self) -> None:
        self.service.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Models(Loader):
    """The service's models, as its engine asks for them."""

    def __init__(self, service: ModelService) -> None:
        super().__init__(service._loaded_for_engine)
        self._service = service

    def size(self, name: str) -> int | None:
        return self._service._size_for_engine(name)

    def unloaded(self, loaded: Any) -> None:
        self._service._unloaded(loaded)


class ModelService:
    """One engine, the models it may load, and the facts about those that it holds."""

    def __init__(
        self,
        make_engine: MakeEngine,
        load: LoadModel,
        catalogue: Catalogue,
        fetch: Callable[[str], object] = lambda source: None,
        size: Callable[[str], int | None] = lambda source: None,
    ) -> None:
        """`load` reads the model at a path or repository id that the catalogue gave. It runs on the engine's thread, where
        all replies are made; downloads are done before by `fetch`, on the thread that asks. `size`: bytes that a model's
        weights will take, where that is known without loading it. See `open_service`."""
        self.catalogue = catalogue
        self._load = load
        self._fetch = fetch
        self._size = size
        self._models: dict[str, Any] = {}
        self._beside: set[str] = set()  # models that others need, under names that no client can use
        self._guard = threading.Lock()
        # by event loop too: a server that is started again has a new one
        self._loading: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Lock] = {}
        self.engine = make_engine(_Models(self))

    # -- loading

    async def find(self, name: str | None, capability: Capability = "chat") -> tuple[str, LoadedModel]:
        """The served name and the facts of a model that can do this, loaded if it was not. Raises ModelNotFound, or
        MissingCapability."""
        found, loaded = await self.find_any(name)
        require(capability, found, loaded)
        return found, cast(LoadedModel, loaded)

    async def find_any(self, name: str | None) -> tuple[str, Loaded]:
        """The same, whatever the model is for."""
        known = self.known(name)
        loaded = self._models.get(known.name)
        if loaded is None:
            turn = (asyncio.get_running_loop(), known.name)
            async with self._loading.setdefault(turn, asyncio.Lock()):
                while (loaded := self._models.get(known.name)) is None:  # it may be unloaded at the same moment
                    await asyncio.to_thread(self._bring, known.name)
        return known.name, loaded

    def load_now(self, name: str) -> Any:
        """The facts of a model, loaded if it was not. Blocks; not for an event loop."""
        while True:
            self._bring(name)
            if (loaded := self._models.get(name)) is not None:  # else it was unloaded at the same moment
                return loaded

    def _bring(self, name: str) -> None:
        if name not in self._models:
            self._fetch(self.catalogue.look_up(name).source)
        self.engine.load(name)

    def known(self, name: str | None) -> KnownModel:
        name = name or self.catalogue.default
        if name is None:
            raise Unsupported("No model was named, and the server was started without one.", "model")
        if name in self._models:
            return KnownModel(name, name)
        return self.catalogue.look_up(name)

    @property
    def loaded(self) -> dict[str, Any]:
        """Facts of every model that is loaded, or being loaded."""
        with self._guard:
            return dict(self._models)

    def resident(self) -> set[str]:
        """Names of the models that are in memory now."""
        return {model.name for model in self.engine.models()}

    async def unload(self, name: str) -> None:
        known = self.known(name)
        gone = self._models.get(known.name)
        await asyncio.to_thread(self.engine.unload, known.name)
        with self._guard:
            if self._models.get(known.name) is gone:  # else it has been loaded again meanwhile
                self._models.pop(known.name, None)

    async def keep(self, name: str, seconds: float | None) -> None:
        """Unload the model when it was unused for so long; None: when its room is needed."""
        await asyncio.to_thread(self.engine.keep, name, seconds)

    async def clear_prefix_cache(self) -> int:
        """Of all models. Returns how many there were."""
        return await asyncio.to_thread(self.engine.clear_prefix_cache)

    # -- the engine, for pipelines: a model has one name for all of them, and so is loaded once

    def submit(self, request: Request, *, admitted: bool = False) -> RequestHandle:
        return self.engine.submit(request, admitted=admitted)

    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]:
        """Work beside requests. `model` is a name that `find` gave, or what such a model needs beside it: never the
        word of a client."""
        if model not in self._models:
            self._beside.add(model)
        return self.engine.task(model, work, admitted=admitted)

    def stats(self) -> dict[str, Any]:
        return dataclasses.asdict(self.engine.stats())

    def engine_settings(self) -> dict[str, Any]:
        settings = getattr(self.engine, "settings", None)
        return {k: str(v) if isinstance(v, Path) else v for k, v in vars(settings).items()} if settings else {}

    def close(self) -> None:
        self.engine.close()

    # -- models that others need beside them

    def allow_beside(self, name: str) -> None:
        """A model that served ones need, such as a draft model: the engine may load it, and no client may name it."""
        self._beside.add(name)

    def source_of(self, name: str) -> str:
        """Where a model lies that others need: a piece of a served model beside the model, else what it is called."""
        whole, piece = split_piece(name)
        try:
            return f"{self.catalogue.look_up(whole).source}#{piece}" if piece else name
        except ModelNotFound:
            return name

    # -- for the engine

    def _loaded_for_engine(self, name: str) -> Loaded:
        """Called on the engine's thread, also when it loads a model again that it had unloaded."""
        source, served = self._source_of(name)
        loaded: Loaded = self._load(source)
        loaded.name = name
        if served:
            with self._guard:
                self._models[name] = loaded
        return loaded

    def _source_of(self, name: str) -> tuple[str, bool]:
        """Where a model lies, and whether it is served under its name."""
        try:
            return self.catalogue.look_up(name).source, True
        except ModelNotFound:
            if name not in self._beside:
                raise
            return self.source_of(name), False

    def _size_for_engine(self, name: str) -> int | None:
        try:
            return self._size(self._source_of(name)[0])
        except GrusError:
            return None  # loading says what is wrong

    def _unloaded(self, gone: Any) -> None:
        """The engine has closed it: what was known of it is not true of the next one."""
        name = gone.name
        with self._guard:
            if self._models.get(name) is gone:
                del self._models[name]
