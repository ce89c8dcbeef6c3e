"""`Results[T]`, the behaviour that the Read, Listen and Speak panes share: a list of results that are made, shown and kept.

A result is inserted at the top, saved at every change, removed with an Undo and restored at the next start. What a result is
and how it is made is the subclass's: `read.py`, `listen.py`, `speak.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from app.gui.store import records
from app.gui.store.database import OWN_FOLDERS
from app.gui.store.worker import AppStore
from app.gui.texts import tr
from app.gui.viewmodels.signal import Signal
from app.window_engine import Cancellable, StreamRunner


class ListedResult(ABC):
    """The base of all items. `id` is 0 until it is stored; `state` is "waiting", "done", "stopped", "failed" or the pane's own."""

    id: int
    title: str
    state: Any

    @property
    def failed(self) -> bool:
        return self.state in ("failed", "locked")

    @property
    @abstractmethod
    def share(self) -> float | None:
        """How much of it is made; None: it is not being made now."""

    @abstractmethod
    def status(self) -> str:
        """One line about it."""

    def tooltip(self) -> str:
        return f"{self.title}, {self.status()}"


T = TypeVar("T", bound=ListedResult)


class Results(ABC, Generic[T]):
    """`listed`: the list changed. `changed(item)`: state or progress of one item. `shown`: another item is looked at."""

    kind: ClassVar[str]  # in the store

    def __init__(self, store: AppStore, streams: StreamRunner, say: Callable[..., Any]) -> None:
        self._store, self._streams, self._say = store, streams, say
        self.listed, self.changed, self.shown = Signal(), Signal(), Signal()
        self.items: list[T] = []  # newest first
        self.current: T | None = None
        self._running: dict[T, Cancellable] = {}
        self._writing: set[int] = set()

    # -- what a kind of result defines

    @abstractmethod
    def to_record(self, item: T) -> records.StoredResult: ...

    @abstractmethod
    def from_record(self, record: records.StoredResult) -> T:
        """What was running when the process ended becomes stopped."""

    @abstractmethod
    def file_of(self, item: T) -> Path:
        """The file that the item is of: Grus's own copy, or a file of the person's."""

    @abstractmethod
    def cancel(self, item: T) -> bool:
        """Stop one. False when it neither ran nor waited."""

    # -- the list

    def look(self) -> None:
        """Load what is stored."""

        def got(records: list[records.StoredResult]) -> None:
            known = {item.id for item in self.items}
            self.items += [self.from_record(record) for record in records if record.id not in known]
            self.listed()
            if self.current is None and self.items:
                self.choose(self.items[0])

        self._store.ask(lambda db: records.results(db, self.kind), got)

    def _insert(
        self, item: T, stored: Callable[[], Any] = lambda: None, removed: Callable[[], Any] = lambda: None
    ) -> None:
        """At the top. `stored()` once it has an id; `removed()` instead where it was removed before that."""

        def got(id: int) -> None:
            item.id = id
            if item in self.items:
                stored()
            else:
                self._delete(item)
                removed()

        self.items.insert(0, item)
        self._store.ask(lambda db: records.add_result(db, self.to_record(item)), got)

    def choose(self, item: T | None) -> None:
        if item is not self.current:
            self.current = item
            self.shown()

    def step(self, by: int) -> None:
        """To the item above or below."""
        if self.items:
            at = self.items.index(self.current) + by if self.current in self.items else 0
            self.choose(self.items[max(0, min(len(self.items) - 1, at))])

    def remove(self, item: T) -> None:
        """Gone at once, with an Undo; the row and Grus's own files are deleted for good later (`store/database.py`)."""
        self.cancel(item)
        at = self.items.index(item)
        self.items.remove(item)
        if self.current is item:
            self.choose(self.items[min(at, len(self.items) - 1)] if self.items else None)
        self.listed()
        self._delete(item)

        def put_back(there: bool = True) -> None:
            if there:
                self.items.insert(min(at, len(self.items)), item)
                self.listed()
                self.choose(item)

        def undo() -> None:
            if item.id:
                self._store.ask(lambda db: records.delete_result(db, item.id, False), put_back)
            else:
                put_back()

        self._say(self.removed_sentence(item), undo=(tr("Undo"), undo))

    def removed_sentence(self, item: T) -> str:
        if any(self.file_of(item).parent == self._store.folder / folder for folder in OWN_FOLDERS):
            return tr("“{title}” was deleted.", title=item.title)
        return tr("“{title}” was removed from the list. The file was not deleted.", title=item.title)

    def forget(self) -> None:
        """Everything was deleted."""
        for running in self._running.values():
            running.cancel()
        self._running.clear()
        self.items, self.current = [], None
        self.listed()
        self.shown()

    # -- work

    def stop(self) -> bool:
        """Stop all: those that wait first, so that none of them begins. False when there was nothing to stop."""
        waiting = [item for item in self.items if item.state == "waiting"]
        stopped = [self.cancel(item) for item in (*waiting, *self.items)]
        return any(stopped)

    def _start(
        self,
        item: T,
        work: Callable[[Any], Iterator[Any]],
        receive: Callable[[list[Any]], Any],
        ended: Callable[[str], Any],
    ) -> None:
        """Run `work` off the UI thread. `_running` holds it until it has ended."""
        over = False

        def end(problem: str) -> None:
            nonlocal over
            over = True
            self._running.pop(item, None)
            if not problem:
                self._say("", level="ok")
            ended(problem)

        stream = self._streams.stream(work, receive, end)
        if not over:
            self._running[item] = stream

    def _cancel_running(self, item: T) -> None:
        if (running := self._running.pop(item, None)) is not None:
            running.cancel()

    # -- the store

    def _keep(self, item: T) -> None:
        """Save. One write of an item at a time: what changes meanwhile is saved with it."""
        if item.id in self._writing or not item.id:
            return
        self._writing.add(item.id)

        def write(db: Any) -> None:
            self._writing.discard(item.id)
            records.update_result(db, self.to_record(item))

        self._store.ask(write)

    def _delete(self, item: T) -> None:
        if item.id:
            self._store.delete(lambda db: records.delete_result(db, item.id))

    def _show_error(self, sentence: str) -> None:
        self._say(sentence, level="error")
