"""A folder as a library: where its index lies, what brings it up to date, and what searches it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from app.runtime.library.indexer import IndexControl, Indexer, IndexProgress, IndexReport, IndexTools
from app.runtime.library.search import LibrarySearch
from app.runtime.library.store import FoundPassage, LibraryStore
from engine.errors import BadRequest, ErrorText


def index_place(folder: Path, data: Path | None = None) -> Path:
    """The file of a folder's index, among the application's data: nothing is written into the folder itself."""
    from platformdirs import PlatformDirs

    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:24]
    return (data or Path(PlatformDirs("Grus", appauthor=False).user_data_dir)) / "libraries" / f"{name}.sqlite3"


class FolderLibrary:
    """Close it, or use it in a `with` block."""

    def __init__(self, folder: Path, file: Path | None = None, *, must_exist: bool = False) -> None:
        """`must_exist`: a folder that was never indexed is an error."""
        self.folder = folder.expanduser()
        if not self.folder.is_dir():
            raise BadRequest(ErrorText("There is no folder {path}.", path=self.folder), "folder")
        place = file or index_place(self.folder)
        if must_exist and not place.exists():
            raise BadRequest(f"{self.folder} is not indexed yet: grus index {self.folder}", "folder")
        self.store = LibraryStore(place)
        self.report = IndexReport()

    def __enter__(self) -> FolderLibrary:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.store.close()

    def update(self, tools: IndexTools | None = None, control: IndexControl | None = None) -> Iterator[IndexProgress]:
        """Brings the index up to date; `report` has what changed. Raises IndexingCancelled."""
        indexer = Indexer(self.folder, self.store, tools)
        try:
            yield from indexer.run(control)
        finally:
            self.report = indexer.report

    def find(self, question: str, top: int = 5) -> list[FoundPassage]:
        """By full text alone."""
        return LibrarySearch(self.store).find(question, top)
