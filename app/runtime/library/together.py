"""Several libraries that are asked together, such as those of a conversation in the window. They stay open between questions."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.runtime.library.folders import FolderLibrary, index_place
from app.runtime.library.search import LibrarySearch, highest_score
from app.runtime.library.store import FoundPassage

if TYPE_CHECKING:
    from app.runtime.models import ModelService


@dataclass(frozen=True)
class PassageInFolder:
    folder: Path
    passage: FoundPassage

    @property
    def file(self) -> Path:
        return self.folder / self.passage.path


class OpenLibraries:
    """`data`: the application's data, where the indexes lie. Thread-safe."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._lock = threading.Lock()
        self._open: dict[Path, tuple[FolderLibrary, LibrarySearch]] = {}

    def library(self, folder: Path) -> FolderLibrary:
        """Of a folder that is there. Raises BadRequest."""
        return self._opened(folder)[0]

    def _opened(self, folder: Path) -> tuple[FolderLibrary, LibrarySearch]:
        with self._lock:
            if folder not in self._open:
                library = FolderLibrary(folder, index_place(folder, self._data))
                self._open[folder] = library, LibrarySearch(library.store)
            return self._open[folder]

    def find(
        self, folders: Sequence[Path], question: str, top: int = 5, service: ModelService | None = None
    ) -> list[PassageInFolder]:
        """Best first, of all libraries. `service`: loads the embedding models of those that have vectors; without it full text alone is
        searched. A folder that is gone is left out."""
        from app.runtime.vectors import library_embedding

        found: list[tuple[float, PassageInFolder]] = []
        for folder in folders:
            if not folder.is_dir():
                continue
            library, search = self._opened(folder)
            name = library.store.value("model") if service is not None else ""
            vector = library_embedding(service, name, "query")([question])[0] if service is not None and name else None
            best = highest_score(1 if vector is None else 2)
            found += [
                (passage.score / best, PassageInFolder(folder, passage))
                for passage in search.find(question, top, vector=vector)
            ]
        found.sort(key=lambda one: -one[0])
        return [one for _, one in found[:top]]

    def forget(self, folder: Path) -> None:
        with self._lock:
            gone = self._open.pop(folder, None)
        if gone is not None:
            gone[0].close()

    def close(self) -> None:
        for folder in list(self._open):
            self.forget(folder)
