"""The window's client of the runtime: the engine is started in the background, models are loaded, replies asked for.

Nothing here waits on the UI thread: jobs run on `Work`'s threads and answer through callbacks. The server beside a window
has the same `ModelService`, so that both share what is loaded. No Qt.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from app.explain import explained
from app.gui.texts import size, tr
from app.gui.viewmodels.signal import Signal
from app.option_values import kept_speculation
from app.window_reply import FrameSink, PendingReply, ReplyListener, ReplyRequest, make_reply
from engine.errors import BadRequest, EngineStopped, GrusError
from engine.tasks import CancelScope

if TYPE_CHECKING:
    from app.gui.preferences import Preferences
    from app.runtime.catalogue import Capability
    from app.runtime.models import ModelService
    from app.runtime.tools.open_tools import OpenTools
    from engine.loading import LoadedModel
    from engine.tasks import Task
    from engine.tasks import Work as TaskWork
    from engine.types import Request, RequestHandle


# -- long work beside the UI thread that yields results as it proceeds, such as pages, sound or captions
#
# Results reach the UI thread at most once a frame.


class Cancellable(Protocol):
    def cancel(self) -> None: ...


class StreamRunner(Protocol):
    """What runs such work (`app.window_engine.WindowEngine`)."""

    def stream(
        self, work: Callable[[Any], Iterator[Any]], receive: Callable[[list[Any]], Any], ended: Callable[[str], Any]
    ) -> Cancellable: ...


class BackgroundStream:
    """Calls `receive(items)` with results and `ended(problem)` once at the end, both on the UI thread. An empty problem: success.

    After `cancel` neither is called any more. What the work waits for is cancelled, and its iterator is closed.
    """

    def __init__(
        self,
        work: Callable[[], Iterator[Any]],
        frames: Callable[[Callable[[list[Any]], None]], FrameSink],
        receive: Callable[[list[Any]], Any],
        ended: Callable[[str], Any],
        over: Callable[[BackgroundStream], Any] = lambda stream: None,
        cancel: Callable[[], None] = lambda: None,
    ) -> None:
        """`cancel` ends what the work is waiting for."""
        self._work, self._receive, self._ended, self._over, self._cancel = work, receive, ended, over, cancel
        self._cancelled = threading.Event()
        self._gather = frames(self._deliver)

    def start(self) -> None:
        threading.Thread(target=self._run, name="grus-stream", daemon=True).start()

    def cancel(self) -> None:
        self._cancelled.set()
        self._cancel()

    def _run(self) -> None:
        problem = ""
        try:
            items = self._work()
            try:
                for item in items:
                    if self._cancelled.is_set():
                        break
                    self._gather.put(("item", item))
            finally:
                if (close := getattr(items, "close", None)) is not None:
                    close()
        except BaseException as error:
            problem = explained(error)
            if not isinstance(error, GrusError | OSError) and not self._cancelled.is_set():
                log.exception("long work failed")
        self._gather.put(("end", problem))

    def _deliver(self, items: list[Any]) -> None:
        given = [item for kind, item in items if kind == "item"]
        ends = [problem for kind, problem in items if kind == "end"]
        if given and not self._cancelled.is_set():
            self._receive(given)
        if ends:
            self._over(self)
            if not self._cancelled.is_set():
                self._ended(ends[0])


log = logging.getLogger("grus.window")
_T = TypeVar("_T")


class JobRunner(Protocol):
    """What runs jobs beside the UI thread (`app.bridge.Work`)."""

    @property
    def post(self) -> Callable[[Callable[[], None]], None]: ...
    def run(
        self,
        job: Callable[[], _T],
        then: Callable[[_T], Any] | None = None,
        failed: Callable[[str], Any] | None = None,
    ) -> Future[_T]: ...


@dataclass(frozen=True)
class EngineState:
    """What the status strip shows."""

    phase: Literal["starting", "ready", "failed"] = "starting"
    model: str = ""  # the one used last
    device: str = ""
    loading: str = ""  # a sentence, while a model is loaded
    problem: str = ""
    memory: int = 0  # bytes of this process
    rate: float = 0.0  # tokens a second, now
    active: int = 0  # requests
    beyond: str = ""  # what leaves this machine, or may be reached from outside: a sentence, else nothing


class WindowEngine:
    """The engine, as panes use it. `changed` fires when `state` differs. `make_service` is called once, off the UI thread."""

    def __init__(
        self,
        work: JobRunner,
        make_service: Callable[[], ModelService],
        frames: Callable[[Callable[[list[Any]], None]], FrameSink],
    ) -> None:
        self._work = work
        self._make_service = make_service
        self._frames = frames
        self._service: Future[ModelService] = Future()
        self._speaking: set[PendingReply] = set()
        self._streams: set[BackgroundStream] = set()
        self._ended = threading.Event()
        self._reaches: dict[str, str] = {}
        # what a person set for a model: fields of SamplingParams, and `thinking`
        self.defaults_of: Callable[[str], Mapping[str, Any]] = lambda model: {}
        self.read_own_words: Callable[[], str] = lambda: ""
        self.state = EngineState()
        self.changed = Signal()

    def start(self, after: float = 0.0) -> None:
        """Make the engine. It is imported `after` some seconds, so that the window is painted before."""

        def make() -> None:
            try:
                if self._ended.wait(after):
                    raise EngineStopped("The window was closed.")
                service = self._make_service()
            except BaseException as error:
                self._service.set_exception(error)
                raise
            self._service.set_result(service)
            if self._ended.is_set():  # `close` may have come too early to close it
                service.close()

        def failed(sentence: str) -> None:
            self.update(phase="failed", problem=sentence)

        self._work.run(make, lambda _: self.update(phase="ready"), failed)

    def update(self, **changes: Any) -> None:
        """Change the state, on the UI thread."""
        state = replace(self.state, **changes)
        if state != self.state:
            self.state = state
            self.changed()

    @property
    def busy(self) -> bool:
        """Whether a reply, pages or sound are being made."""
        return bool(self._speaking or self._streams or self.state.active)

    def reach(self, what: str, sentence: str) -> None:
        """Say that something reaches beyond this machine: a server, a download. An empty sentence ends it."""
        self._reaches = {key: text for key, text in {**self._reaches, what: sentence}.items() if text}
        self.update(beyond=" ".join(dict.fromkeys(self._reaches.values())))

    def use(
        self,
        job: Callable[[ModelService], _T],
        then: Callable[[_T], Any] | None = None,
        failed: Callable[[str], Any] | None = None,
    ) -> Future[_T]:
        """Run `job(service)` beside the UI thread, once the engine is there."""
        return self._work.run(lambda: job(self._service.result()), then, failed)

    def models(
        self,
        then: Callable[[dict[str, frozenset[Capability]]], Any],
        failed: Callable[[str], Any] | None = None,
    ) -> None:
        """All models with what each can do: those in memory first, those of servers elsewhere last."""

        def find(service: ModelService) -> dict[str, frozenset[Capability]]:
            from app.runtime.catalogue import abilities

            resident, found = service.resident(), abilities(service.catalogue)

            def order(name: str) -> tuple[bool, bool]:
                return "remote" in found[name], service.model_of(name) not in resident

            return {name: found[name] for name in sorted(found, key=order)}

        self.use(find, then, failed)

    def load(
        self, name: str, then: Callable[[LoadedModel], Any] | None = None, failed: Callable[[str], Any] | None = None
    ) -> None:
        """Load a model now; the status strip shows it."""
        self.use(lambda service: self._load(service, name), then, failed)

    def unload(
        self, name: str, then: Callable[[None], Any] | None = None, failed: Callable[[str], Any] | None = None
    ) -> None:
        self.use(lambda service: service.engine.unload(service.model_of(name), cancel=True), then, failed)

    @property
    def own_words(self) -> str:
        return self.read_own_words()

    def transcribe(self, file: Path, then: Callable[[str], Any], failed: Callable[[str], Any]) -> None:
        """Transcribe a sound file with a speech recognition model."""

        def listen(service: ModelService) -> str:
            from app.runtime.pipelines import listener
            from engine.media.sound import SoundStream
            from engine.pipelines.listening.transcription import SAMPLE_RATE

            return listener(self, "").listen(SoundStream(file, SAMPLE_RATE)).text

        self.use(listen, then, failed)

    def read_text(self, file: Path, then: Callable[[str], Any], failed: Callable[[str], Any]) -> None:
        """The text of a picture, read by a model that reads pages."""

        def read(service: ModelService) -> str:
            from app.runtime.pipelines import layout, recognizer
            from engine.pipelines.reading.reader import DocumentReader, PageRead
            from engine.pipelines.reading.writers import ExportOptions, page_text

            reader = DocumentReader(recognizer(self, ""), layout(self))
            pages = tuple(event.page for event in reader.read([file]) if isinstance(event, PageRead))
            text = page_text(pages, "md", ExportOptions()).strip()
            if not text:
                raise BadRequest(tr("No text was found in {name}.", name=file.name))
            return text

        self.use(read, then, failed)

    def poll(self) -> None:
        """Bring memory and speed in the state up to date."""
        if not self._service.done() or self._service.exception():
            return

        def look(service: ModelService) -> tuple[int, float, int]:
            import psutil

            stats = service.engine.stats()
            memory = stats.process_memory or psutil.Process().memory_info().rss
            return memory, stats.tokens_per_second if stats.active else 0.0, stats.active

        self.use(look, lambda seen: self.update(memory=seen[0], rate=seen[1], active=seen[2]))

    def reply(self, ask: ReplyRequest, listener: ReplyListener) -> PendingReply:
        """ReplyRequest for a reply. Its words come to the listener, a frame at a time."""
        speaking = PendingReply(listener, self._speaking.discard, lambda sentence: self.reach("tools", sentence))
        speaking.gather = self._frames(speaking.hand_over)
        self._speaking.add(speaking)

        def speak() -> None:
            try:
                make_reply(self, ask, speaking)
            except BaseException as error:
                if not isinstance(error, GrusError):
                    log.exception("a reply failed")
                speaking.gather.put(("failed", explained(error)))

        threading.Thread(target=speak, name="grus-reply", daemon=True).start()
        return speaking

    def stream(
        self, work: Callable[[Scoped], Iterator[Any]], receive: Callable[[list[Any]], Any], ended: Callable[[str], Any]
    ) -> BackgroundStream:
        """Long work that gives something as it goes; see `app.window_engine`. `work` runs beside the UI thread; what it asks of
        the engine is cancelled with it."""
        scoped = Scoped(self)
        stream = BackgroundStream(
            lambda: work(scoped), self._frames, receive, ended, self._streams.discard, scoped.cancel
        )
        if self._ended.is_set():  # an answer of the store that came after the end asked for it
            stream.cancel()
            return stream
        self._streams.add(stream)
        stream.start()
        return stream

    @property
    def service(self) -> ModelService:
        """Beside the UI thread: the engine and its models. Waits until they are there."""
        return self._service.result()

    @cached_property
    def tools(self) -> OpenTools:
        """The tools that were added, and the servers that run for conversations."""
        from app.runtime.tools.open_tools import OpenTools

        return OpenTools()

    @property
    def engine(self) -> ModelService:
        """Beside the UI thread: what computes."""
        return self.service

    def bring(self, name: str) -> LoadedModel:
        """Beside the UI thread: a model, loaded if it was not. The status strip shows it."""
        return self._load(self.service, name)

    def close(self) -> None:
        self._ended.set()
        for speaking in tuple(self._speaking):
            speaking.cancel()
        for stream in tuple(self._streams):
            stream.cancel()
        if (tools := self.__dict__.get("tools")) is not None:
            tools.close()
        if self._service.done() and not self._service.exception():
            self._service.result().close()

    def silence(self) -> None:
        """After `close`, when the last words have been delivered: the window goes, and what still comes has no listener."""
        for speaking in tuple(self._speaking):
            speaking.silence()

    # -- beside the UI thread

    def _load(self, service: ModelService, name: str) -> LoadedModel:
        resident = service.is_ready(name)
        if not resident:
            self._work.post(lambda: self.update(loading=tr("Loading {model}.", model=name)))
        try:
            loaded = service.load_now(name)
        finally:
            if not resident:
                self._work.post(lambda: self.update(loading=""))
        device = loaded.backend.describe()
        self._work.post(lambda: self.update(model=name, device=device))
        return loaded


class Scoped:
    """The window's engine for one piece of long work: whatever the work asked of it ends when the work is cancelled."""

    def __init__(self, engine: WindowEngine) -> None:
        self._engine = engine
        self._scope = CancelScope(_WhenReady(engine))

    @property
    def service(self) -> ModelService:
        return self._engine.service

    @property
    def engine(self) -> CancelScope:
        _ = self._engine.service  # wait for the engine to start here, not while the scope is locked
        return self._scope

    def bring(self, name: str) -> LoadedModel:
        return self._engine.bring(name)

    @property
    def own_words(self) -> str:
        return self._engine.own_words

    def cancel(self) -> None:
        """From any thread. What still waits for the engine gets CancelledError, or the end of what was made."""
        self._scope.cancel()


class _WhenReady:
    """The service of an engine that may not have started yet."""

    def __init__(self, engine: WindowEngine) -> None:
        self._engine = engine

    def submit(self, request: Request, *, admitted: bool = False) -> RequestHandle:
        return self._engine.service.submit(request, admitted=admitted)

    def task(self, model: str, work: TaskWork[Any], *, admitted: bool = False) -> Task[Any]:
        return self._engine.service.task(model, work, admitted=admitted)


def local_service(
    preferences: Preferences,
    models: Mapping[str, str],
    report: Callable[[str], None] = lambda sentence: None,
    packed: Path | None = None,
) -> ModelService:
    """The service as the preferences have it. `models`: names and sources that may be downloaded. `report` gets the progress
    of downloads as sentences. `packed`: the folder of packed weights."""
    from app.runtime.catalogue import Catalogue
    from app.runtime.models import open_service
    from app.runtime.remote.servers import RemoteServers
    from engine.loading import PACKED_LIMIT, LoadOptions
    from engine.types import Settings

    def options(source: str) -> LoadOptions:
        return LoadOptions(
            backend=preferences.get("backend", "auto"),
            device=preferences.get("device", "auto"),
            replicas=preferences.get("replicas", 1),
            tensor_parallel=preferences.get("tensor_parallel", 1),
            cache_dir=preferences.get("cache_dir"),
            packed_folder=None if packed is None else str(packed),
            packed_limit=preferences.get("packed_limit", PACKED_LIMIT),
            download=source in models.values(),
            progress=DownloadProgress(report, source),
        )

    named = {**models, **dict(preferences.get("models", {}))}
    folder = preferences.get("models_folder")
    catalogue = Catalogue(named, Path(folder).expanduser() if folder else None, preferences.get("cache_dir"))
    catalogue.remotes = RemoteServers()
    catalogue.more_folders = [Path(more) for more in preferences.get("model_folders", [])]
    limit = preferences.get("memory_limit") or Settings.gpu_memory_limit
    kind, draft = kept_speculation(preferences.get("speculation"), preferences.get("draft_model"))
    threads = preferences.get("battery_threads") or None
    settings = Settings(gpu_memory_limit=limit, speculation=kind, draft_model=draft, battery_threads=threads)
    return open_service(catalogue, options, settings)


class DownloadProgress:
    """A download's progress as sentences, a few times a second."""

    def __init__(self, report: Callable[[str], None], name: str) -> None:
        self._report, self._name = report, name
        self._began = self._last = time.monotonic()
        self._waits = False

    def waiting(self, sentence: str) -> None:
        self._waits = bool(sentence)
        if sentence:
            self._report(sentence)

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._waits or (now - self._last < 0.25 and done < total):
            return
        self._last = now
        left = (total - done) * (now - self._began) / max(1, done)
        self._report(
            tr(
                "Downloading {model}: {done} of {total}, about {left} s left.",
                model=self._name,
                done=size(done),
                total=size(total),
                left=round(left),
            )
        )
