"""Stop in Read, Listen and Speak, with an engine that never answers: whatever was asked of it ends at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import soundfile

from app.gui.store.worker import AppStore
from app.gui.viewmodels.listen import ListenResults
from app.gui.viewmodels.read import ReadResults, ReadSettings
from app.gui.viewmodels.speak import SpeakResults, SpeakSettings
from app.runtime import pipelines
from app.window_engine import WindowEngine
from engine.pipelines.listening.transcription import AsrModel, Transcriber
from engine.pipelines.reading.recognizer import Crop
from engine.tasks import Task
from engine.types import Done, Request, RequestHandle, SamplingParams, Text, Timings
from tests.app.gui.media import AtOnce
from tests.app.server.scripted import until
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.engine.pipelines.reading.sheets import Sheet


class Deaf:
    """Takes everything and gives nothing, until it is cancelled."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.cancelled: list[str] = []

    def submit(self, request: Request, *, admitted: bool = False) -> RequestHandle:
        def cancel() -> None:
            self.cancelled.append("request")
            handle.end(Done(request.id, "cancelled", Timings()))

        handle = RequestHandle(request.id, 16, cancel)
        self.asked.append("request")
        return handle

    def task(self, model: str, work: Any, *, admitted: bool = False) -> Task[Any]:
        task: Task[Any] = Task(model, work)

        def cancel() -> None:
            self.cancelled.append("task")
            task.fail(CancelledError())

        task.cancel = cancel  # type: ignore[method-assign]
        self.asked.append("task")
        return task


class Voice:
    rate = 24_000

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def check(self, settings: Any) -> None: ...

    def needs_example(self, settings: Any) -> bool:
        return False

    def speak(self, text: str, settings: Any, **more: Any) -> Iterator[np.ndarray]:
        yield self.engine.task("voice", lambda loaded: None).result()


class Eyes:
    name, by_line, whole_pages, tasks = "eyes", False, False, frozenset({"text"})

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def note(self, image: Any) -> None: ...

    def read(self, crops: list[Crop]) -> list[Any]:
        handle = self.engine.submit(Request("eyes", [1], SamplingParams()))
        words = (event for event in handle if isinstance(event, Text))
        return [_Reading(words, handle.cancel) for _ in crops]


class _Reading:
    truncated = False

    def __init__(self, words: Iterator[Any], cancel: Callable[[], None]) -> None:
        self._words, self.cancel = words, cancel

    def __iter__(self) -> Iterator[Any]:
        return self._words


@pytest.fixture
def engine() -> Deaf:
    return Deaf()


@pytest.fixture
def core(engine: Deaf, monkeypatch: pytest.MonkeyPatch) -> WindowEngine:
    ear = AsrModel("ears", 1, 64, "en", lambda ids: "", lambda id: b"", lambda text: [])
    monkeypatch.setattr(pipelines, "speaker", lambda core, wanted: Voice(core.engine))
    monkeypatch.setattr(pipelines, "listener", lambda core, wanted: Transcriber(core.engine, ear))
    monkeypatch.setattr(pipelines, "recognizer", lambda core, wanted: Eyes(core.engine))
    monkeypatch.setattr(pipelines, "layout", lambda core: None)
    service: Any = SimpleNamespace(engine=engine, submit=engine.submit, task=engine.task)
    made = WindowEngine(AtOnce(), lambda: service, lambda deliver: SimpleNamespace(put=lambda item: deliver([item])))
    made.start()
    return made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AppStore]:
    made = AppStore(tmp_path / "grus.sqlite3")
    yield made
    made.close()


def speak(core: WindowEngine, store: AppStore, folder: Path) -> SpeakResults:
    studio = SpeakResults(store, core, AtOnce(), lambda *a, **m: None, folder)
    studio.speak("The crane dances.", SpeakSettings())
    return studio


def listen(core: WindowEngine, store: AppStore, folder: Path) -> ListenResults:
    soundfile.write(folder / "talk.wav", talk(1), RATE)
    listening = ListenResults(store, core, lambda *a, **m: None, folder)
    listening.add([folder / "talk.wav"])
    return listening


def read(core: WindowEngine, store: AppStore, folder: Path) -> ReadResults:
    sheet = Sheet((300, 200))
    sheet.line(20, 40, "The crane", 30)
    sheet.image.save(folder / "page.png")
    reading = ReadResults(store, core, AtOnce(), lambda *a, **m: None, folder)
    reading.settings = ReadSettings(task="text")
    reading.add([folder / "page.png"])
    return reading


@pytest.mark.parametrize("begin", [speak, listen, read])
def test_stop_ends_what_the_engine_was_asked_for(
    core: WindowEngine, engine: Deaf, store: AppStore, tmp_path: Path, begin: Callable[..., Any]
) -> None:
    pane = begin(core, store, tmp_path)
    # the store answers on its own thread here, which a window does not: the work may ask before the pane knows that it began
    until(lambda: engine.asked and pane._running)
    working = [thread for thread in threading.enumerate() if thread.name in ("grus-stream", "grus-region_0")]
    assert working
    assert pane.stop()
    until(lambda: engine.cancelled, 2)  # whatever else happens
    until(lambda: not any(thread.is_alive() for thread in working), 2)
    until(lambda: len(engine.cancelled) >= len(engine.asked), 2)
    assert begin is not speak or len(engine.cancelled) == len(engine.asked)  # by one scope, not by two
    assert pane.items[0].state == "stopped"
    assert pane.items[0].error == ""
