"""Indexes and searches the vector stores of a server: the library of each, a thread that brings them up to date, and what a search finds."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from app.runtime.catalogue import can
from app.runtime.library.folders import FolderLibrary
from app.runtime.library.indexer import IndexControl, IndexingCancelled, IndexTools
from app.runtime.library.search import LibrarySearch, highest_score
from app.runtime.library.store import FoundPassage
from app.runtime.models import ModelService
from app.runtime.vectors import library_embedding
from app.server.openai.file_store import FileStore, StoreMember
from engine.errors import GrusError
from engine.pipelines.reading.recognizer import Recognizer
from engine.pipelines.reading.text_lines import recognizer_of

log = logging.getLogger("grus.server")
T = TypeVar("T")
Keep = Callable[[Mapping[str, Any]], bool]  # whether a file with these attributes is searched


@dataclass(frozen=True)
class FoundInFile:
    """`score`: 1 for a passage that is the first by words and by meaning."""

    passage: FoundPassage
    member: StoreMember
    filename: str
    score: float


class _OpenStore:
    """A vector store that was used: its library and search stay open."""

    def __init__(self, files: FileStore, id: str) -> None:
        self.library = FolderLibrary(files.documents(id), files.index(id))
        self.search = LibrarySearch(self.library.store)
        self.control: IndexControl | None = None

    def close(self) -> None:
        self.library.close()


class VectorIndex:
    """Scanned pages are read by the first served model that can."""

    def __init__(self, files: FileStore, service: ModelService) -> None:
        self.files = files
        self._service = service
        self._lock = threading.Lock()
        self._open: dict[str, _OpenStore] = {}
        self._due: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._searching = ThreadPoolExecutor(2, "grus-file-search")
        for store in files.waiting():
            self.update(store)

    def close(self) -> None:
        """What is not indexed yet is continued by the next server."""
        with self._lock:
            controls = [one.control for one in self._open.values()]
            thread = self._thread
        for control in controls:
            if control is not None:
                control.cancel()
        self._searching.shutdown(wait=True, cancel_futures=True)
        if thread is not None:
            self._due.put(None)
            thread.join()
        for one in self._open.values():
            one.close()
        self.files.close()

    def _opened(self, id: str) -> _OpenStore:
        with self._lock:
            if id not in self._open:
                self._open[id] = _OpenStore(self.files, id)
            return self._open[id]

    def delete(self, id: str) -> None:
        """A vector store with its library."""
        self.files.delete_store(id)
        with self._lock:
            gone = self._open.pop(id, None)
        if gone is not None:
            if gone.control is not None:
                gone.control.cancel()
            gone.close()
        self.files.delete_library(id)

    # -- indexing

    def update(self, id: str) -> None:
        """Bring the library of a vector store up to date, after what is being done."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="grus-vector-stores", daemon=True)
                self._thread.start()
        self._due.put(id)

    def _run(self) -> None:
        while (id := self._due.get()) is not None:
            try:
                if self.files.store(id) is not None:
                    self._index(id)
            except Exception as error:  # the store may be deleted at any moment, and the thread must go on
                if self.files.store(id) is not None:
                    log.warning("The vector store %s could not be indexed: %s", id, error)
                    paths = [member.path for member in self.files.members(id)]
                    why = error.text if isinstance(error, GrusError) else "A fault of the server."
                    self.files.settle(id, paths, "failed", "server_error", why)

    def _index(self, id: str) -> None:
        one, store = self._opened(id), self.files.store(id)
        assert store is not None
        waiting = [member.path for member in self.files.members(id) if member.status == "in_progress"]
        one.control = IndexControl()
        embed = library_embedding(self._service, store.model, "document") if store.model else None
        tools = IndexTools(self._recognizer, embed=embed, embedder=store.model)
        try:
            for progress in one.library.update(tools, one.control):
                if progress.error:
                    self.files.settle(id, [progress.name], "failed", "invalid_file", progress.error)
                elif embed is None and progress.name:
                    self.files.settle(id, [progress.name], "completed")
        except IndexingCancelled:
            return
        finally:
            one.control = None
        errors = {file.path: file.error for file in one.library.store.files()}
        for path in waiting:
            if path in errors:
                why = errors[path]
                self.files.settle(id, [path], "failed" if why else "completed", "invalid_file" if why else "", why)

    def _recognizer(self) -> Recognizer | None:
        catalogue = self._service.catalogue
        able = (name for name in catalogue.named if can(catalogue.look_up(name).source, "read", catalogue.cache_dir))
        name = next(able, None)
        return None if name is None else recognizer_of(self._service, self._service.load_now(name))

    # -- searching

    def search(
        self, ids: Sequence[str], queries: Sequence[str], most: int, keep: Keep | None = None, least: float = 0.0
    ) -> Future[list[FoundInFile]]:
        """Best first, of all stores and queries. `least`: scores below it are left out."""
        return self._searching.submit(self._found, ids, queries, most, keep, least)

    def texts(self, id: str, path: str) -> Future[list[str]]:
        """The passages of a document, in their order."""
        return self._searching.submit(lambda: self._opened(id).library.store.texts(path))

    def _found(
        self, ids: Sequence[str], queries: Sequence[str], most: int, keep: Keep | None, least: float
    ) -> list[FoundInFile]:
        best: dict[tuple[str, int], FoundInFile] = {}
        vectors: dict[tuple[str, str], Any] = {}
        for id in ids:
            if (store := self.files.store(id)) is None:
                continue  # it was deleted meanwhile
            one = self._opened(id)
            members = {member.path: member for member in self.files.members(id)}
            chosen = None
            if keep is not None:
                chosen = [path for path, member in members.items() if keep(member.attributes)]
            for query in queries:
                vector = None
                if store.model:
                    if (store.model, query) not in vectors:
                        made = library_embedding(self._service, store.model, "query")([query])
                        vectors[store.model, query] = made[0]
                    vector = vectors[store.model, query]
                top = highest_score(1 if vector is None else 2)
                for found in one.search.find(query, most, vector=vector, files=chosen):
                    member = members.get(found.path)
                    if member is None or (file := self.files.file(member.file)) is None:
                        continue  # it was removed, and the library has not followed yet
                    score = min(1.0, found.score / top)
                    key = id, found.id
                    if score >= least and (key not in best or best[key].score < score):
                        best[key] = FoundInFile(found, member, file.name, score)
            self.files.change_store(id, {})
        return sorted(best.values(), key=lambda one: -one.score)[:most]
