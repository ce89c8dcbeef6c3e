"""The model service: one engine, the catalogue of models that it may load, and what is known of those that are loaded.

The only place in the product that makes an `Engine`. It serves the window, the server, the command line and Python alike:
`find` and `load_now` load a model by name, `submit` and `task` are the engine's, for pipelines. A model is fetched on the
thread that asks for it and loaded on the engine's thread; what is known of it ends when the engine unloads it.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, cast

from app.runtime.catalogue import Capability, Catalogue, KnownModel, capabilities_of_loaded, require
from app.runtime.remote.servers import BETWEEN, RemoteServers
from engine.engine import Engine
from engine.errors import BadRequest, GrusError, ModelNotFound, Unsupported
from engine.load_options import eagle_folder
from engine.loaded import LoadedPart, Loader
from engine.loading import (
    LoadedModel,
    LoadOptions,
    fetch,
    fetch_adapter,
    load_any,
    split_piece,
    weight_bytes,
)
from engine.metrics import EngineStats, RequestMetrics
from engine.tasks import Task, Work
from engine.types import Request, RequestHandle, Result, Settings
from engine.weights.lora import LoraFiles, open_lora

if TYPE_CHECKING:
    import asyncio  # with TLS 6 MB, which a window without a server does not need

    from app.runtime.remote.model import RemoteModel


T = TypeVar("T")
UNUSED_SUMS = 4  # of adapters, that stay in memory for the next request that asks for them


async def _in_thread(work: Callable[..., T], *arguments: Any) -> T:
    import asyncio

    return await asyncio.to_thread(work, *arguments)


class ServiceEngine(Protocol):
    """The part of the engine that the service uses: the tests have one that follows a script."""

    def submit(self, request: Request, *, admitted: bool = False) -> RequestHandle: ...
    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]: ...
    def load(self, name: str) -> Any: ...
    def unload(self, name: str, *, cancel: bool = False) -> Any: ...
    def keep(self, name: str, seconds: float | None) -> Any: ...
    def clear_prefix_cache(self) -> int: ...
    def drop_adapter(self, model: str, key: str) -> None: ...
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
    """A service over a real engine. `options(source)`: how a model is loaded. `accept(source, loaded)` is called on the engine's thread with
    every loaded model; it may change its defaults, or refuse it by raising. `profile`: the file of a Chrome trace of the engine's work."""
    chosen = settings or Settings()

    def placed(source: str) -> LoadOptions:
        how = replace(options(source), **service.placed.get(source, {}))
        if how.devices:
            how = replace(how, device=how.devices[0])
        draft = None if chosen.draft_model is None else service.source_of(chosen.draft_model)
        if source == draft:
            how = replace(how, tensor_parallel=1, replicas=1, devices=())  # small; the first rank asks it
        eagle = eagle_folder(draft, options(draft)) if draft is not None and draft != source else None
        return replace(how, draft_head={"auto": None, "mtp": True}.get(chosen.speculation, False), eagle=eagle)

    def load(source: str) -> Loaded:
        how = placed(source)
        if how.memory_limit is None:
            how = replace(how, memory_limit=chosen.gpu_memory_limit)
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
        size=lambda source: weight_bytes(source, placed(source)),
        find_adapter=lambda source: fetch_adapter(source, options(source)),
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
    adapters: Mapping[str, Mapping[str, str]] | None = None,
) -> ModelService:
    """A service of models that are named by what they are loaded from (folders, files, repositories), none of them loaded
    yet. `options` are for these; models that they need beside them (a codec, a draft) say themselves what they are. `adapters`: of
    each model by name."""
    given = options or LoadOptions()
    plain = replace(given, model_type="auto", format="auto", mmproj="auto")
    return open_service(
        Catalogue(
            {name: name for name in names if BETWEEN not in name},
            cache_dir=given.cache_dir,
            use_cache=False,
            adapters=adapters or {},
            remotes=RemoteServers(allowed=given.download),
        ),
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


@dataclass(frozen=True)
class AdaptedModel:
    """A model with an adapter, under a name of its own, or under the model's own name with the sum of several. `key`: what the engine
    knows the adapter by."""

    known: KnownModel
    key: str
    files: Sequence[LoraFiles]


def _key_of(files: Sequence[LoraFiles]) -> str:
    return f"sum@{'+'.join(one.digest for one in files)}"


class ModelService:
    """One engine, the models it may load, and the facts about those that it holds."""

    def __init__(
        self,
        make_engine: MakeEngine,
        load: LoadModel,
        catalogue: Catalogue,
        fetch: Callable[[str], object] = lambda source: None,
        size: Callable[[str], int | None] = lambda source: None,
        find_adapter: Callable[[str], Path] = Path,
    ) -> None:
        """`load` reads the model at a path or repository id that the catalogue gave. It runs on the engine's thread, where
        all replies are made; downloads are done before by `fetch`, on the thread that asks. `size`: bytes that a model's
        weights will take, where that is known without loading it. `find_adapter`: where an adapter lies, downloaded where it may
        be. See `open_service`."""
        self.catalogue = catalogue
        self._load = load
        self._fetch = fetch
        self._size = size
        self._find_adapter = find_adapter
        self._adapted: dict[str, AdaptedModel] = {}  # adapters that are loaded, or are when their model is again
        self._scales: dict[str, dict[str, float]] = {}  # by model, the adapters that its own requests are computed with
        # names in `_adapted` of sums for single requests, least recently used first; their users
        self._sums: dict[str, int] = {}
        self._adapting = threading.Lock()
        # by source, what clients said about how it is loaded: fields of `LoadOptions`
        self.placed: dict[str, dict[str, Any]] = {}
        self._models: dict[str, Any] = {}
        self._capabilities: dict[str, frozenset[Capability]] = {}  # of those, for they are found on the disk
        self._elsewhere: dict[str, RemoteModel] = {}  # models of other servers, which take no place in memory
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
        require(capability, found, loaded, self._capabilities.get(self.model_of(found)))
        return found, cast(LoadedModel, loaded)

    async def find_any(self, name: str | None) -> tuple[str, Loaded]:
        """The same, whatever the model is for."""
        import asyncio

        known = self.known(name)
        if known.server is not None:
            return known.name, await _in_thread(self._model_elsewhere, known)
        loaded = self._models.get(known.model)
        if loaded is None:
            turn = (asyncio.get_running_loop(), known.model)
            async with self._loading.setdefault(turn, asyncio.Lock()):
                while (loaded := self._models.get(known.model)) is None:  # it may be unloaded at the same moment
                    await _in_thread(self._bring, known.model)
        if known.adapter is not None and known.name not in self._adapted:
            await _in_thread(self._bring_adapter, known)
        return known.name, loaded

    async def load_placed(self, name: str, how: Mapping[str, Any]) -> tuple[str, Loaded]:
        """As `find_any`, loaded with these fields of `LoadOptions`; anew, where it was loaded otherwise."""
        known = self.known(name)
        if known.server is not None:
            if how:
                raise Unsupported(
                    f"{known.name} is a model of another server, which decides how it is loaded.", next(iter(how))
                )
            return await self.find_any(name)
        source = self.catalogue.look_up(known.model).source
        before = self.placed.get(source)
        if how and dict(how) != before:
            if known.model in self.resident():
                await self.unload(known.model)
            self.placed[source] = dict(how)
        try:
            return await self.find_any(name)
        except GrusError:
            if before is None:
                self.placed.pop(source, None)
            else:
                self.placed[source] = before
            raise

    def load_now(self, name: str) -> Any:
        """The facts of a model, loaded if it was not. Blocks; not for an event loop."""
        known = self.known(name)
        if known.server is not None:
            return self._model_elsewhere(known)
        model = known.base or name
        while True:
            self._bring(model)
            if (loaded := self._models.get(model)) is not None:  # else it was unloaded at the same moment
                break
        if known.adapter is not None:
            self._bring_adapter(known)
        return loaded

    def _model_elsewhere(self, known: KnownModel) -> RemoteModel:
        """A model of another server, as its server is known now. Asks the server nothing. Blocks: the keyring may ask the
        person for the key."""
        from app.runtime.remote.client import RemoteClient
        from app.runtime.remote.model import RemoteModel

        assert known.server is not None
        assert self.catalogue.remotes is not None
        server = self.catalogue.remotes.get(known.server)
        with self._guard:
            model = self._elsewhere.get(known.name)
        if model is None or model.server != server:
            client = RemoteClient(server, allowed=self.catalogue.remotes.allowed)
            model = RemoteModel(known.name, server, server.offered(known.source), client)
            with self._guard:
                self._elsewhere[known.name] = model
        model.client.find_key()
        return model

    def facts_of(self, known: KnownModel) -> Any:
        """The facts of a model that is loaded or elsewhere; None of one that would have to be loaded first. Blocks."""
        return self._models.get(known.model) if known.server is None else self._model_elsewhere(known)

    def is_ready(self, name: str) -> bool:
        """Whether a model answers without being loaded first: it is in memory, or elsewhere."""
        return self.model_of(name) in self.resident() or self.known(name).server is not None

    def _bring(self, name: str) -> None:
        if name not in self._models:
            self._fetch(self.catalogue.look_up(name).source)
        self.engine.load(name)

    def _bring_adapter(self, known: KnownModel) -> None:
        """Load an adapter of a model that is loaded. Blocks."""
        assert known.base is not None
        assert known.adapter is not None
        with self._adapting:
            if known.name in self._adapted:
                return
            files = open_lora(self._find_adapter(known.adapter))
            self._put(AdaptedModel(known, f"{known.name.removeprefix(known.base + ':')}@{files.digest}", [files]))

    def _put(self, made: AdaptedModel) -> None:
        """Under `_adapting`. Blocks."""
        name = made.known.model

        def put(loaded: Any) -> Generator[None, None, None]:
            if not isinstance(loaded, LoadedModel):
                raise Unsupported(f"The model {name} writes no text, and takes no adapters.", "adapter")
            loaded.put_adapter(made.key, *made.files)
            yield

        self.engine.task(name, put, admitted=True).result()
        gone = self._adapted.get(made.known.name)
        self._adapted[made.known.name] = made
        self._drop(gone)

    def _drop(self, gone: AdaptedModel | None) -> None:
        """Free an adapter that is no longer in `_adapted`."""
        if gone is not None and all(other.key != gone.key for other in self._adapted.values()):
            self.engine.drop_adapter(gone.known.model, gone.key)

    def adapter_scales(self, model: str) -> dict[str, float]:
        """Of each adapter of a model, how strongly it takes part in requests to the model itself."""
        return {name: self._scales.get(model, {}).get(name, 0.0) for name in self.catalogue.adapters.get(model, {})}

    async def scale_adapters(self, model: str, scales: Mapping[str, float]) -> None:
        """Compute requests to the model itself with the sum of its adapters, each with a strength of its own; those at 0 take no part."""
        await self.find(model)
        await _in_thread(self._scale_adapters, model, scales)

    def _scale_adapters(self, model: str, scales: Mapping[str, float]) -> None:
        with self._adapting:
            used, files = self._scaled(model, scales)
            if files:
                known = KnownModel(model, self.catalogue.look_up(model).source)
                self._put(AdaptedModel(known, _key_of(files), files))
            else:
                self._drop(self._adapted.pop(model, None))
            self._scales[model] = used

    def _scaled(self, model: str, scales: Mapping[str, float]) -> tuple[dict[str, float], list[LoraFiles]]:
        """Those of a model's adapters whose scale is not 0."""
        own = self.catalogue.adapters.get(model, {})
        used = {name: scale for name, scale in scales.items() if scale and name in own}
        return used, [open_lora(self._find_adapter(own[name])).times(scale) for name, scale in used.items()]

    @asynccontextmanager
    async def adapter_sum(self, model: str, scales: Mapping[str, float]) -> AsyncIterator[str]:
        """`Request.adapter` of requests to a model that is loaded, which are submitted within the context: they are computed with the sum of its
        adapters, each with a strength of its own, whatever other requests to it are computed with."""
        name = await _in_thread(self._hold_sum, model, scales)
        try:
            yield "" if name is None else self._adapted[name].key
        finally:
            if name is not None:
                await _in_thread(self._release_sum, name)

    def _hold_sum(self, model: str, scales: Mapping[str, float]) -> str | None:
        """Its name in `_adapted`; None for the sum of none."""
        with self._adapting:
            _, files = self._scaled(model, scales)
            if not files:
                return None
            key = _key_of(files)
            name = f"{model}\0{key}"
            if name not in self._adapted:
                self._put(AdaptedModel(KnownModel(name, self.catalogue.look_up(model).source, base=model), key, files))
            self._sums[name] = self._sums.pop(name, 0) + 1
            return name

    def _release_sum(self, name: str) -> None:
        """The engine frees an adapter when the requests that use it have ended."""
        with self._adapting:
            self._sums[name] -= 1
            unused = [name for name, users in self._sums.items() if not users]
            for oldest in unused[: max(0, len(unused) - UNUSED_SUMS)]:
                del self._sums[oldest]
                self._drop(self._adapted.pop(oldest))

    def offer_adapter(self, model: str, name: str, source: str) -> None:
        """Let requests choose an adapter as `MODEL:NAME`."""
        own = self.catalogue.adapters.get(model, {})
        if own.get(name, source) != source:
            raise BadRequest(f"{model} has an adapter {name!r} already. Unload it first.", "lora_name")
        self.catalogue.adapters = {**self.catalogue.adapters, model: {**own, name: source}}

    def withdraw_adapter(self, model: str, name: str) -> None:
        """Requests no longer choose it; its memory is free when those that did have ended."""
        own = dict(self.catalogue.adapters.get(model, {}))
        if own.pop(name, None) is None:
            have = ", ".join(own) or "none"
            raise ModelNotFound(f"The model {model} has no adapter {name[:200]!r}. It has: {have}.")
        self.catalogue.adapters = {**self.catalogue.adapters, model: own}
        with self._adapting:
            self._drop(self._adapted.pop(f"{model}:{name}", None))
        if name in self._scales.get(model, {}):
            self._scale_adapters(model, self._scales[model])

    def model_of(self, name: str) -> str:
        """The loaded model behind a served name, which may be one with an adapter."""
        adapted = self._adapted.get(name)
        return name if adapted is None else adapted.known.model

    def has_adapter(self, name: str) -> bool:
        """Whether `MODEL:ADAPTER` is in memory, as far as its model is."""
        return name in self._adapted

    def addressed(self, request: Request) -> Request:
        """A request as the engine takes it: of a name `MODEL:ADAPTER` the two apart. An adapter of "" is none at all."""
        if request.adapter is not None:
            return replace(request, adapter=request.adapter or None)
        adapted = self._adapted.get(request.model)
        return request if adapted is None else replace(request, model=adapted.known.model, adapter=adapted.key)

    def known(self, name: str | None) -> KnownModel:
        name = name or self.catalogue.default
        if name is None:
            raise Unsupported("No model was named, and the server was started without one.", "model")
        if name in self._models:
            return KnownModel(name, name)
        if name in self._adapted:
            return self._adapted[name].known
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
        if known.server is not None:
            return
        model = known.model
        gone = self._models.get(model)
        await _in_thread(self.engine.unload, model)
        self._forget(model, gone)

    async def keep(self, name: str, seconds: float | None) -> None:
        """Unload the model when it was unused for so long; None: when its room is needed."""
        if name not in self._elsewhere:
            await _in_thread(self.engine.keep, self.model_of(name), seconds)

    async def clear_prefix_cache(self) -> int:
        """Of all models. Returns how many there were."""
        return await _in_thread(self.engine.clear_prefix_cache)

    # -- the engine, for pipelines: a model has one name for all of them, and so is loaded once

    def submit(self, request: Request, *, admitted: bool = False) -> RequestHandle:
        if (model := self._elsewhere.get(request.model)) is not None:
            return model.submit(request)
        return self.engine.submit(self.addressed(request), admitted=admitted)

    def batch(self, requests: Sequence[Request]) -> Sequence[Result | RequestHandle]:
        """Run many requests together, in their order. Models elsewhere queue them there."""
        if any(request.model in self._elsewhere for request in requests):
            return [self.submit(request) for request in requests]
        results = cast(Engine, self.engine).batch([self.addressed(request) for request in requests])
        return [result for result in results if isinstance(result, Result)]

    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]:
        """Work beside requests. `model` is a name that `find` gave, or what such a model needs beside it: never the
        word of a client."""
        if (elsewhere := self._elsewhere.get(model)) is not None:
            return elsewhere.task(work)
        if model not in self._models:
            self._beside.add(model)
        return self.engine.task(model, work, admitted=admitted)

    def stats(self) -> dict[str, Any]:
        return dataclasses.asdict(self.engine.stats())

    def engine_settings(self) -> dict[str, Any]:
        settings = getattr(self.engine, "settings", None)
        return {k: str(v) if isinstance(v, Path) else v for k, v in vars(settings).items()} if settings else {}

    def close(self) -> None:
        for model in tuple(self._elsewhere.values()):
            model.close()
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
        for adapted in self._adapted.values():
            if adapted.known.model == name and isinstance(loaded, LoadedModel):
                loaded.put_adapter(adapted.key, *adapted.files)
        if served:
            can = capabilities_of_loaded(loaded)
            with self._guard:
                self._models[name], self._capabilities[name] = loaded, can
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
        self._forget(gone.name, gone)

    def _forget(self, name: str, gone: Any) -> None:
        with self._guard:
            if gone is not None and self._models.get(name) is gone:  # else it has been loaded again meanwhile
                del self._models[name], self._capabilities[name]
