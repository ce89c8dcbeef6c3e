"""A database of every earlier version opens with all that it holds, and one of a newer version is refused unharmed. So do archives of
conversations and the indexes of libraries.

tests/data/schemas has a dump of each version, made when it was the newest. A new migration, or a new version of an archive or an index, needs
one: `python -m tests.app.gui.test_schemas`.
"""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from app.gui.store import archive
from app.gui.store.database import MIGRATIONS, NewerDatabase, migrate
from app.runtime.library import store as library_index
from app.runtime.library.passages import DocumentPassage
from app.runtime.library.store import IndexedFile, LibraryStore

FOLDER = Path(__file__).resolve().parents[2] / "data" / "schemas"
FILES = sorted(FOLDER.glob("v*.sql"))
TABLES = ("folders", "conversations", "messages", "drafts", "presets", "results", "voices")


def opened(file: Path, dump: str) -> sqlite3.Connection:
    db = sqlite3.connect(file)
    db.executescript(dump)
    return db


def shape(db: sqlite3.Connection) -> dict[str, list[tuple[str, str]]]:
    """Tables, and their columns with types."""
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return {name: [(row[1], row[2]) for row in db.execute(f"PRAGMA table_info({name})")] for name in names}


def test_there_is_a_file_of_every_version() -> None:
    assert [path.stem for path in FILES] == [f"v{number}" for number in range(1, len(MIGRATIONS) + 1)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_database_of_an_earlier_version_opens_with_all_that_it_holds(path: Path, tmp_path: Path) -> None:
    db = opened(tmp_path / "grus.sqlite3", path.read_text(encoding="utf-8"))
    assert db.execute("PRAGMA user_version").fetchone()[0] == int(path.stem[1:])
    before = {table: db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in TABLES}
    assert min(map(len, before.values())) > 0
    migrate(db)
    assert db.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
    fresh = sqlite3.connect(tmp_path / "fresh.sqlite3")
    migrate(fresh)
    assert shape(db) == shape(fresh)
    for table, rows in before.items():
        after = db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
        assert [row[: len(old)] for row, old in zip(after, rows, strict=True)] == rows
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_newer_database_is_refused_without_harm(tmp_path: Path) -> None:
    file = tmp_path / "grus.sqlite3"
    db = opened(file, FILES[-1].read_text(encoding="utf-8"))
    db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    db.commit()
    before = list(db.iterdump())
    with pytest.raises(NewerDatabase, match="newer Grus"):
        migrate(db)
    assert list(db.iterdump()) == before


def versions(pattern: str) -> list[str]:
    return sorted(path.name for path in FOLDER.glob(pattern))


def test_an_archive_of_every_version_is_read() -> None:
    assert versions("archive-*") == [f"archive-v{number}.zip" for number in range(1, archive.VERSION + 1)]
    for name in versions("archive-*"):
        found = archive.read(FOLDER / name)
        assert [row["title"] for row in found.rows["conversations"]] == ["Cranes", "鶴"]
        assert [row["text"] for row in found.rows["messages"]] == ["Where do they go?", "South."]
        assert [row["name"] for row in found.rows["presets"]] == ["calm"]
        assert found.settings == {"appearance": "dark"}


def test_the_index_of_a_library_of_every_version_is_searched(tmp_path: Path) -> None:
    assert versions("library-*") == [f"library-v{number}.sqlite3" for number in range(1, library_index.VERSION + 1)]
    for name in versions("library-*"):
        shutil.copy2(FOLDER / name, tmp_path / name)
        index = LibraryStore(tmp_path / name)
        try:
            [(id, _)] = index.match("wetland*", 5)
            found = index.passages([id])[id]
            assert (found.path, found.page, found.text) == ("birds/cranes.md", 2, "Cranes sleep in wetlands.")
            index.keep(IndexedFile(0, "new.md", 1, 1, b"2", "New", 1), [DocumentPassage(1, "page", "", "A new one.")])
            assert index.counts()[0] == 2
        finally:
            index.close()


CONTENT = """
INSERT INTO folders (id, name, place) VALUES (1, 'Ordner "Kraniche"', 1.5);
INSERT INTO conversations (id, title, folder, leaf, model, created, changed) VALUES (1, 'Cranes', 1, 2, 'guide', 1e9, 1e9), (2, '鶴', NULL, NULL, '', 2e9, 2e9);
INSERT INTO messages (id, conversation, parent, role, text, created) VALUES (1, 1, NULL, 'user', 'Where do they go?', 1e9), (2, 1, 1, 'assistant', 'South.', 1e9);
INSERT INTO drafts (place, text, changed) VALUES ('2', 'half a question', 1e9);
INSERT INTO presets (name, sampling, system) VALUES ('calm', '{"temperature": 0.2}', 'Be brief.');
INSERT INTO results (id, kind, title, body, created, changed) VALUES (1, 'read', 'page.png', '{}', 1e9, 1e9);
INSERT INTO voices (id, name, body, created) VALUES (1, 'mine', '{}', 1e9);
"""


def write() -> None:
    """The dump of the newest version."""
    number = len(MIGRATIONS)
    db = sqlite3.connect(":memory:")
    for migration in MIGRATIONS:
        db.executescript(migration)
    db.executescript(CONTENT)
    text = "\n".join([*db.iterdump(), f"PRAGMA user_version = {number};", ""])
    FOLDER.mkdir(exist_ok=True)
    FOLDER.joinpath(f"v{number}.sql").write_text(text, encoding="utf-8")
    db.row_factory = sqlite3.Row
    content = archive.collect(db, FOLDER, everything=True, settings={"appearance": "dark"})
    archive.write(content, FOLDER, FOLDER / f"archive-v{archive.VERSION}.zip")
    file = FOLDER / f"library-v{library_index.VERSION}.sqlite3"
    file.unlink(missing_ok=True)
    index = LibraryStore(file)
    passage = DocumentPassage(2, "page", "Rest", "Cranes sleep in wetlands.")
    index.keep(IndexedFile(0, "birds/cranes.md", 9, 1, b"1", "Cranes", 3), [passage])
    for words in ("PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512", "VACUUM"):  # all of it in one small file
        index.db.execute(words)
    index.close()


if __name__ == "__main__":
    write()
