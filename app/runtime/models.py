"""What handlers may ask of the engine: a model by name, a reply to a request, figures. The only file that knows both.

A model is loaded when it is first asked for. Everything that takes long runs in a thread, so that the event loop stays
free for the other clients.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, cast

from app.runtime.catalogue import Catalogue, KnownModel
from app.runtime.replies import ReplyEvent, ReplyParser
from app.server import account
from app.server.errors import unsupported
from app.server.kinds import Kind, need
from app.server.metrics import Meters
from engine.errors import GrusError, ModelNotFound
from engine.loaded import LoadedPart, Loader
from engine.loading import LoadedModel, split_piece
from engine.metrics import EngineStats, RequestMetrics
from engine.tasks import Task, Work
from engine.types import Done, Event, Failed, Request, RequestHandle, Timings

log = logging.getLogger("grus.server")


class EngineLike(Protocol):
    """The part of the engine that a server needs."""

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
MakeEngine = Callable[[LoadModel], EngineLike]


class RunningRequest:
    """A request that was submitted: its parts as they come, bound to whoever reads them."""

    def __init__(self, handle: RequestHandle, reader: ReplyParser, ended: Callable[[RunningRequest], None]) -> None:
        self.id = handle.id
        self.reader = reader
        self.timings = Timings()
        self.model = ""
        self.began = time.monotonic()
        self._handle = handle
        self._events = handle.__aiter__()
        self._first: asyncio.Task[Event] | None = None
        self._ended = ended

    def cancel(self) -> None:
        """Also the end of one that nobody will read any further."""
        self._handle.cancel()
        self._ended(self)

    async def begun(self, patience: float) -> None:
        """Wait for the first sign of life, so that what fails at once fails with a status; but not longer than this."""
        self._first = asyncio.ensure_future(anext(self._events))
        await asyncio.wait({self._first}, timeout=patience)
        if self._first.done() and isinstance(event := self._first.result(), Failed):
            self._seen(event)

    async def events(self) -> AsyncIterator[Event]:
        """Up to and with Done. Raises the error of a request that failed."""
        if self._first is not None:
            first, self._first = self._first, None
            yield self._seen(await first)
        async for event in self._events:
            yield self._seen(event)

    async def parts(self) -> AsyncGenerator[ReplyEvent, None]:
        async for event in self.events():
            for part in self.reader.read(event):
                yield part

    async def streamed(self) -> AsyncGenerator[ReplyEvent, None]:
        """For those who have told already what came before: a call that is taken back can only be followed by text."""
        async for part in self.parts():
            yield replace(part, kind="answer") if part.kind == "broken" else part

    def _seen(self, event: Event) -> Event:
        if isinstance(event, Done | Failed):
            self._ended(self)
        if isinstance(event, Failed):
            raise event.error
        if isinstance(event, Done):
            self.timings = event.timings
        return event


class _Models(Loader):
    """A service's models, as its engine asks for them."""

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
        meters: Meters,
        fetch: Callable[[str], object] = lambda source: None,
        size: Callable[[str], int | None] = lambda source: None,
    ) -> None:
        """`load` reads the model at a path or repository id that the catalogue gave. It runs on the engine's thread, where
        all replies are made: what it would have to wait for is brought before by `fetch`, on the thread of who asks. `size`: bytes
        that a model's weights will take, where that is known without loading it."""
        self.catalogue = catalogue
        self.log_prompts = False
        self.meters = meters
        self._load = load
        self._fetch = fetch
        self._size = size
        self._models: dict[str, Any] = {}
        self._beside: set[str] = set()  # what served models need beside them, by a name that no client can say
        self._guard = threading.Lock()
        # by event loop too: a server that is started again has a new one
        self._loading: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Lock] = {}
        self._running: set[RunningRequest] = set()
        self._sounds: dict[str, Callable[[], object]] = {}  # how voices and transcriptions are stopped, by request id
        self.engine = make_engine(_Models(self))

    def _loaded_for_engine(self, name: str) -> Loaded:
        """Called by the engine, on a thread of its own, also when it brings a model back that it had unloaded."""
        source, served = self._source_of(name)
        loaded = self._load(source)
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
            return self._source_beside(name), False

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

    def _source_beside(self, name: str) -> str:
        """A piece of a served model lies where the model does; all else is told by its own name."""
        whole, piece = split_piece(name)
        try:
            return f"{self.catalogue.look_up(whole).source}#{piece}" if piece else name
        except ModelNotFound:
            return name

    def allow_beside(self, name: str) -> None:
        """A model that served ones need, such as a draft model: the engine may load it, and no client may name it."""
        self._beside.add(name)

    def source_of(self, name: str) -> str:
        """What to load for a served model's name, or for one that is needed beside them."""
        return self._source_beside(name)

    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]:
        """Work beside requests. `model` is a name that `find` gave, or what such a model needs beside it: never the
        word of a client."""
        if model not in self._models:
            self._beside.add(model)
        try:
            return self.engine.task(model, work, admitted=admitted)
        except GrusError as error:
            self.meters.refused(error)
            raise

    async def find(self, name: str | None, kind: Kind = "text") -> tuple[str, LoadedModel]:
        """The served name and the facts of a model of this kind, loaded if it was not. Raises ModelNotFound."""
        found, loaded = await self.find_any(name)
        need(kind, found, loaded)
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

    def _bring(self, name: str) -> None:
        if name not in self._models:
            self._fetch(self.catalogue.look_up(name).source)
        self.engine.load(name)

    def load_now(self, name: str) -> Any:
        """The same for those who may wait, beside the event loop."""
        while True:
            self._bring(name)
            if (loaded := self._models.get(name)) is not None:  # else it was unloaded at the same moment
                return loaded

    def known(self, name: str | None) -> KnownModel:
        name = name or self.catalogue.default
        if name is None:
            raise unsupported("model", "No model was named, and the server was started without one.")
        if name in self._models:
            return KnownModel(name, name)
        return self.catalogue.look_up(name)

    @property
    def loaded(self) -> dict[str, Any]:
        """Facts of every model that is loaded, or being loaded."""
        with self._guard:
            return dict(self._models)

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

    def submit(self, request: Request, reader: ReplyParser | None = None, *, admitted: bool = False) -> RunningRequest:
        if self.log_prompts and (loaded := self._models.get(request.model)) is not None:
            log.info("%s asks: %s", request.id, loaded.tokenizer.decode(request.prompt_ids))
        return self.follow(self.start(request, admitted=admitted), request.model, reader or ReplyParser())

    def follow(self, handle: RequestHandle, model: str, reader: ReplyParser) -> RunningRequest:
        """A reply that is being made, for a client."""
        account.add(handle)
        running = RunningRequest(handle, reader, self._running.discard)
        running.model = model
        self._running.add(running)
        return running

    def start(self, request: Request, *, admitted: bool = False) -> RequestHandle:
        """For pipelines that read a request's events themselves, in a thread of their own."""
        try:
            return self.engine.submit(request, admitted=admitted)
        except GrusError as error:
            self.meters.refused(error)
            raise

    @property
    def running(self) -> list[RunningRequest]:
        """Requests of clients, the oldest first."""
        return sorted(self._running.copy(), key=lambda running: running.began)

    def abort(self, id: str | None) -> int:
        """Cancel the request of this id, or all. Returns how many were found."""
        found = [running for running in self._running.copy() if id is None or running.id == id]
        for running in found:
            running.cancel()
        sounds = [stop for sound, stop in self._sounds.copy().items() if id is None or sound == id]
        for stop in sounds:
            stop()
        return len(found) + len(sounds)

    def sound_begins(self, id: str, stop: Callable[[], object]) -> None:
        """A voice or a transcription: from now on `abort` stops it."""
        self._sounds[id] = stop

    def sound_ends(self, id: str) -> None:
        self._sounds.pop(id, None)

    def engine_settings(self) -> dict[str, Any]:
        settings = getattr(self.engine, "settings", None)
        return {k: str(v) if isinstance(v, Path) else v for k, v in vars(settings).items()} if settings else {}

    def resident(self) -> set[str]:
        """Names of the models that are in memory now."""
        return {model.name for model in self.engine.models()}

    def stats(self) -> dict[str, Any]:
        return dataclasses.asdict(self.engine.stats())

    def close(self) -> None:
        self.engine.close()


class Direct:
    """The service as pipelines want an engine: a model has one name for all of them, and so is loaded once."""

    def __init__(self, service: ModelService) -> None:
        self._service = service

    def submit(self, request: Request, *, admitted: bool = False) -> RequestHandle:
        return self._service.start(request, admitted=admitted)

    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]:
        return self._service.task(model, work, admitted=admitted)
