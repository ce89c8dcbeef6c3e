"""The Libraries pane's behaviour: folders of documents that are indexed one after another, kept up to date, and searched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from app.gui.store.messages import GivenPassage
from app.gui.store.records import LIBRARY, StoredResult
from app.gui.store.worker import AppStore
from app.gui.texts import in_language, seconds, tr, trn
from app.gui.viewmodels.results import ListedResult, Results
from app.runtime.library.folders import index_place
from app.runtime.library.indexer import IndexControl, IndexingCancelled
from app.runtime.library.together import OpenLibraries, PassageInFolder
from app.window_engine import JobRunner, StreamRunner

if TYPE_CHECKING:
    from app.runtime.library.indexer import IndexProgress

MOST_PROBLEMS = 200  # documents that are named with what is wrong with them
State = Literal["waiting", "indexing", "paused", "done", "stopped", "failed"]


@dataclass(frozen=True)
class LibraryCounts:
    """What is in a library. `unread`: pages that no model was there to read. `problems`: documents, and why they could not be read."""

    documents: int = 0
    pages: int = 0
    unread: int = 0
    problems: tuple[tuple[str, str], ...] = ()


@dataclass(eq=False)
class IndexedFolder(ListedResult):
    folder: Path
    title: str
    id: int = 0
    state: State = "waiting"
    counts: LibraryCounts = field(default_factory=LibraryCounts)
    done: int = 0  # files of this run
    total: int = 0
    vectors_left: int = 0
    left: float | None = None  # seconds, estimated
    error: str = ""
    quiet: bool = False  # a look for changes, of which nothing is shown until there are some
    control: IndexControl = field(default_factory=IndexControl)

    @property
    def share(self) -> float | None:
        if self.state not in ("indexing", "paused") or self.quiet:
            return None
        return self.done / self.total if self.total else 0.0

    def status(self) -> str:
        """One line about it."""
        if self.state == "paused":
            return tr("Paused after {done} of {total} files", done=self.done, total=self.total)
        if self.state == "indexing" and not self.quiet:
            if self.vectors_left:
                return trn("{n} passage left to embed", "{n} passages left to embed", self.vectors_left)
            if not self.total:
                return tr("Looking for documents")
            progress = tr("{done} of {total} files", done=self.done, total=self.total)
            return progress if self.left is None else f"{progress} · " + tr("{time} left", time=seconds(self.left))
        words = {
            "waiting": "" if self.quiet else tr("Waiting"),
            "stopped": tr("Not complete"),
            "failed": tr("Could not be read"),
        }
        return " · ".join(filter(None, (self.size(), words.get(self.state, ""))))

    def size(self) -> str:
        counts = self.counts
        parts = [trn("{n} document", "{n} documents", counts.documents), trn("{n} page", "{n} pages", counts.pages)]
        if counts.problems:
            parts.append(trn("{n} not read", "{n} not read", len(counts.problems)))
        return " · ".join(parts)

    def tooltip(self) -> str:
        return f"{self.folder}\n{self.error or self.status()}"


class LibraryList(Results[IndexedFolder]):
    """`found(passages)`: the answer to the search of a person, newest question only."""

    kind = LIBRARY

    def __init__(
        self,
        store: AppStore,
        streams: StreamRunner,
        work: JobRunner,
        say: Callable[..., Any],
        libraries: OpenLibraries,
        data: Path,
    ) -> None:
        super().__init__(store, streams, say)
        self._work, self._libraries, self._data = work, libraries, data
        self._asked = 0

    def to_record(self, item: IndexedFolder) -> StoredResult:
        counts = item.counts
        body = {
            "documents": counts.documents,
            "pages": counts.pages,
            "unread": counts.unread,
            "problems": [list(one) for one in counts.problems],
            "error": item.error,
        }
        index = str(index_place(item.folder, self._data))
        return StoredResult(item.id, LIBRARY, item.title, str(item.folder), body, index, item.state)

    def from_record(self, record: StoredResult) -> IndexedFolder:
        """One that was indexed when the process ended is not complete."""
        body = record.body
        state: Any = record.state if record.state in ("done", "failed") else "stopped"
        problems = tuple((str(name), str(why)) for name, why in body.get("problems", ()))
        counts = LibraryCounts(body.get("documents", 0), body.get("pages", 0), body.get("unread", 0), problems)
        return IndexedFolder(Path(record.source), record.title, record.id, state, counts, error=body.get("error", ""))

    def file_of(self, item: IndexedFolder) -> Path:
        return item.folder

    def removed_sentence(self, item: IndexedFolder) -> str:
        return tr("“{title}” was removed. The folder and its documents were not changed.", title=item.title)

    # -- the list

    def add(self, paths: Sequence[Path]) -> None:
        """Folders; of a file its folder. One that is there already is brought up to date."""
        for path in paths:
            folder = path if path.is_dir() else path.parent
            folder = folder.resolve()
            known = next((item for item in self.items if item.folder == folder), None)
            if known is not None:
                self.choose(known)
                self.update(known)
                continue
            item = IndexedFolder(folder, folder.name or str(folder))
            self._insert(item, self._begin_next)
            self.listed()
            self.choose(item)

    def remove(self, item: IndexedFolder) -> None:
        super().remove(item)
        self._libraries.forget(item.folder)

    def forget(self) -> None:
        for item in self.items:
            item.control.cancel()
        super().forget()
        self._libraries.close()

    # -- indexing

    def update(self, item: IndexedFolder, quiet: bool = False) -> None:
        """Look for what is new, changed, moved or gone."""
        if item.state in ("waiting", "indexing", "paused"):
            return
        item.state, item.error, item.quiet = "waiting", "", quiet
        self.changed(item)
        self._begin_next()

    def update_all(self) -> None:
        """Those that are complete, without a word where nothing has changed."""
        for item in list(self.items):
            if item.state == "done" and item.folder.is_dir():
                self.update(item, quiet=True)

    def pause(self, item: IndexedFolder) -> None:
        if item.state == "indexing":
            item.control.pause()
            item.state, item.quiet = "paused", False
            self.changed(item)

    def resume(self, item: IndexedFolder) -> None:
        """Also what was left when Grus ended."""
        if item.state == "paused":
            item.state = "indexing"
            item.control.resume()
            self.changed(item)
        else:
            self.update(item)

    def cancel(self, item: IndexedFolder) -> bool:
        if item.state not in ("waiting", "indexing", "paused"):
            return False
        item.control.cancel()
        self._cancel_running(item)
        self._settle(item, "stopped")
        self._begin_next()
        return True

    def _begin_next(self) -> None:
        if not self._running:
            waiting = [item for item in reversed(self.items) if item.state == "waiting" and item.id]
            for item in waiting[:1]:
                self._begin(item)

    def _begin(self, item: IndexedFolder) -> None:
        item.state, item.control = "indexing", IndexControl()
        item.done = item.total = item.vectors_left = 0
        item.left = None
        control = item.control

        def receive(events: list[Any]) -> None:
            for event in events:
                self._take(item, event)

        def ended(problem: str) -> None:
            item.error = problem
            if item.state in ("indexing", "paused"):
                self._settle(item, "failed" if problem else "done")
            self._begin_next()

        self._start(item, lambda core: _indexed(core, self._libraries, item.folder, control), receive, ended)
        self.changed(item)

    def _take(self, item: IndexedFolder, event: IndexProgress | LibraryCounts) -> None:
        if isinstance(event, LibraryCounts):
            item.counts = event
            self._keep(item)
        else:
            item.done, item.total, item.left = event.done, event.total, event.seconds_left
            item.vectors_left, item.quiet = event.vectors_left, False
        self.changed(item)

    def _settle(self, item: IndexedFolder, state: State) -> None:
        item.state, item.quiet, item.left = state, False, None
        self._keep(item)
        self.changed(item)

    # -- searching

    def search(self, item: IndexedFolder, question: str, then: Callable[[list[PassageInFolder]], Any]) -> None:
        """By full text; an answer that a later question has overtaken is dropped."""
        self._asked += 1
        asked = self._asked

        def found(passages: list[PassageInFolder]) -> None:
            if asked == self._asked:
                then(passages)

        self._work.run(lambda: self._libraries.find([item.folder], question, 20), found, self._show_error)


def _indexed(core: Any, libraries: OpenLibraries, folder: Path, control: IndexControl) -> Iterator[Any]:
    """Off the UI thread: the progress of indexing, and what the library has now and again."""
    from app.runtime import pipelines
    from app.runtime.library.indexer import IndexTools
    from app.runtime.vectors import library_embedding
    from engine.errors import MissingCapability
    from engine.pipelines.reading.recognizer import Recognizer

    library = libraries.library(folder)

    def recognizer() -> Recognizer | None:
        try:
            return pipelines.recognizer(core, "")
        except MissingCapability:
            return None

    name = library.store.value("model")
    embed = library_embedding(core.service, name, "document") if name else None
    tools = IndexTools(recognizer, lambda: pipelines.layout(core), embed, name)
    try:
        for number, progress in enumerate(library.update(tools, control)):
            yield progress
            if number % 20 == 0:
                yield _counts(library)
    except IndexingCancelled:
        return
    yield _counts(library)


def given(one: PassageInFolder) -> GivenPassage:
    passage = one.passage
    return GivenPassage(str(one.file), passage.where, passage.page, passage.unit, passage.text)


def _counts(library: Any) -> LibraryCounts:
    files = library.store.files()
    problems = tuple((file.path, in_language(file.error)) for file in files if file.error)
    return LibraryCounts(
        len(files), sum(file.pages for file in files), sum(file.unread for file in files), problems[:MOST_PROBLEMS]
    )
