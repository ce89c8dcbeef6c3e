"""A watched folder in the Read pane: what appears in it is read, and each result is written beside its file.

Which files are whole and which were read already is `engine/pipelines/reading/watching.py`, as for `grus read --watch`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.explain import explained
from app.gui.preferences import Preferences
from app.gui.texts import in_language, tr, trn
from app.gui.viewmodels.read import ReadSettings, recognizer_for
from app.gui.viewmodels.signal import Signal
from app.window_engine import Cancellable, JobRunner, StreamRunner
from engine.errors import GrusError
from engine.pipelines.reading.reader import DocumentRead, ReadOptions
from engine.pipelines.reading.session import ReadingSession
from engine.pipelines.reading.watching import WatchedFolder, WholeFile, result_settings
from engine.pipelines.reading.writers import FORMATS, ExportOptions, Format

ON, FOLDER, FORMAT, SETTINGS = "read.watches", "read.watched_folder", "read.watch_format", "read.watch_settings"


@dataclass(frozen=True)
class WatchedResult:
    """A file that was read; `error`: why it could not be."""

    name: str
    error: str = ""


class FolderWatch:
    """`changed`: the state is another. `look` is to be called every `POLL` seconds while `on`."""

    def __init__(self, preferences: Preferences, streams: StreamRunner, work: JobRunner) -> None:
        self._preferences, self._streams, self._work = preferences, streams, work
        self.changed = Signal()
        self.on = False
        self.reading = ""  # the name of the file that is being read
        self.problem = ""  # why the folder cannot be watched
        self.done: list[WatchedResult] = []  # since it was switched on
        self._watching: _Watching | None = None
        self._stream: Cancellable | None = None

    @property
    def folder(self) -> Path | None:
        kept = self._preferences.get(FOLDER)
        return Path(kept) if kept else None

    @property
    def format(self) -> Format:
        kept = self._preferences.get(FORMAT)
        return kept if kept in FORMATS else "md"

    def choose(self, folder: Path, settings: ReadSettings) -> None:
        """Watch this folder from now on."""
        self._preferences.put(FOLDER, str(folder))
        self.start(settings)

    def choose_format(self, kind: str) -> None:
        self._preferences.put(FORMAT, kind)
        if self.on:
            self.resume()

    def start(self, settings: ReadSettings) -> None:
        """`settings`: how files are read until it is switched off, after a restart too."""
        self._preferences.put(SETTINGS, {**vars(settings), "pages": ""})
        self.resume()

    def resume(self) -> None:
        """Go on as the preferences have it."""
        self.close()
        if self.folder is None:
            return
        settings = _settings(self._preferences.get(SETTINGS))
        reading, style = ReadOptions(settings.task, None, settings.text_layer), ExportOptions()  # type: ignore[arg-type]
        kept = WatchedFolder(
            self.folder, self.folder, self.format, result_settings(settings.model or None, None, reading, style)
        )
        self._watching = _Watching(kept, settings, reading, style)
        self.on, self.problem, self.done = True, "", []
        self._preferences.put(ON, True)
        self.changed()

    def stop(self) -> None:
        self._preferences.put(ON, False)
        self.close()
        self.changed()

    def forget(self) -> None:
        """Everything was deleted."""
        self._preferences.put(FOLDER, None)
        self.stop()

    def close(self) -> None:
        """The window is closed, and will watch again when it is opened."""
        if self._watching is not None:
            self._watching.end()
        if self._stream is not None:
            self._stream.cancel()
        self._watching = self._stream = None
        self.on, self.reading = False, ""

    def look(self) -> None:
        """Whether something new is there; it is read then."""
        watching = self._watching
        if watching is None or watching.looks or self._stream is not None:
            return
        watching.looks = True

        def found(files: Sequence[WholeFile]) -> None:
            watching.looks = False
            if watching is self._watching and files:
                self._read(watching, files)
            elif watching is self._watching and self.problem:  # a drive that was away is back
                self.problem = ""
                self.changed()

        def failed(sentence: str) -> None:
            watching.looks = False
            if watching is self._watching and sentence != self.problem:
                self.problem = sentence
                self.changed()

        self._work.run(watching.ready, found, failed)

    def _read(self, watching: _Watching, files: Sequence[WholeFile]) -> None:
        def receive(events: list[Any]) -> None:
            for event in events:
                self.reading = event if isinstance(event, str) else ""
                if isinstance(event, WatchedResult):
                    self.done.append(event)
            self.changed()

        def ended(problem: str) -> None:
            self._stream = None
            self.reading, self.problem = "", problem
            self.changed()

        self.problem = ""
        over = self._streams.stream(lambda core: watching.read(core, files), receive, ended)
        self._stream = over

    def status(self) -> str:
        """One line about it."""
        if self.problem:
            return self.problem
        if not self.on:
            return tr("Off")
        if self.reading:
            return tr("Reading {name}", name=self.reading)
        failed = sum(bool(one.error) for one in self.done)
        read = trn("{n} file read", "{n} files read", len(self.done) - failed)
        sentence = f"{tr('Watching')} · {read}"
        return f"{sentence} · " + trn("{n} not read", "{n} not read", failed) if failed else sentence

    def tooltip(self) -> str:
        """What could not be read, and why."""
        return "\n".join(f"{one.name}: {in_language(one.error)}" for one in self.done if one.error)


class _Watching:
    """A folder from the switch on to the switch off. Everything but `looks` and `end` belongs to threads beside the UI's."""

    def __init__(
        self, folder: WatchedFolder, settings: ReadSettings, reading: ReadOptions, style: ExportOptions
    ) -> None:
        self._folder, self._settings, self._reading, self._style = folder, settings, reading, style
        self.looks = False
        self._guard = threading.Lock()
        self._held: ExitStack | None = None
        self._ended = False

    def ready(self) -> list[WholeFile]:
        with self._guard:
            if self._ended:
                return []
            if self._held is None:
                with ExitStack() as stack:
                    stack.enter_context(self._folder.held())
                    self._held = stack.pop_all()
            return self._folder.ready()

    def end(self) -> None:
        """No file is begun any more, and another process may watch."""
        self._ended = True
        with self._guard:
            if self._held is not None:
                self._held.close()

    def read(self, core: Any, files: Sequence[WholeFile]) -> Iterator[str | WatchedResult]:
        from app.runtime import pipelines

        for file in files:
            if self._ended:
                return
            yield file.path.name
            error, written = None, True
            try:
                recognizer = recognizer_for(core, file.path, self._settings)
                layout = None if recognizer is None else pipelines.layout(core)
                session = ReadingSession(recognizer, layout, self._reading, self._style)
                for event in session.save([file.path], [self._folder.target(file)]):
                    if self._ended:
                        return
                    if isinstance(event, DocumentRead):
                        error = event.result.error
            except GrusError as problem:  # no model is there, or the result cannot be written
                error, written = explained(problem), False
            if self._ended:
                return
            self._folder.finish(file, error, written=written)
            yield WatchedResult(file.path.name, error or "")


def _settings(kept: Any) -> ReadSettings:
    try:
        return ReadSettings(**kept)
    except TypeError:  # of another version, or of none
        return ReadSettings()
