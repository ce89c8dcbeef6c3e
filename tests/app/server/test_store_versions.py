"""What the server keeps on disk: a store of every earlier version opens with all that it holds, one of a newer version is refused unharmed.

tests/data/schemas has a dump of each version, made when it was the newest. A new version needs one: `python -m tests.app.server.test_store_versions`.
"""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.server.openai import file_store, responses_store
from app.server.openai.file_store import FileStore, NewMember
from app.server.openai.responses_store import ResponseStore
from engine.errors import BadRequest
from tests.app.fresh import several

FOLDER = Path(__file__).resolve().parents[2] / "data" / "schemas"
UNVERSIONED = "PRAGMA user_version = 0;"  # files from before versions were written have the tables of version 1


def versions(kind: str, newest: int) -> list[str]:
    files = [FOLDER / f"{kind}-v{number}.sql" for number in range(1, newest + 1)]
    assert sorted(FOLDER.glob(f"{kind}-v*.sql")) == files
    texts = [path.read_text(encoding="utf-8") for path in files]
    return [texts[0] + UNVERSIONED, *texts]


def written(file: Path, dump: str) -> Path:
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as db:
        db.executescript(dump)
    return file


def test_responses_of_every_version_are_continued(tmp_path: Path) -> None:
    for number, dump in enumerate(versions("responses", responses_store.VERSION)):
        store = ResponseStore(str(written(tmp_path / str(number) / "kept.db", dump)), longest=float("inf"))
        found = store.get("resp-1")
        assert found is not None
        assert (found.response["output"], found.items[0]["content"]) == ("South.", "Where do cranes go?")
        store.put({"id": "resp-2"}, [{"id": "item-2"}])
        assert store.get("resp-2") is not None
        store.close()


def test_files_and_vector_stores_of_every_version_are_there(tmp_path: Path) -> None:
    for number, dump in enumerate(versions("files", file_store.VERSION)):
        folder = written(tmp_path / str(number) / "files.sqlite3", dump).parent
        store = FileStore(str(folder))
        [kept] = store.files()
        assert (kept.name, kept.nbytes) == ("lease.md", 6)
        [papers] = store.stores()
        assert (papers.name, papers.metadata) == ("Papers", {"of": "mill"})
        assert [member.file for member in store.members(papers.id)] == [kept.id]
        assert store.upload("new.md", "assistants", io.BytesIO(b"New"), None).number == kept.number + 1
        store.close()


def test_stores_of_a_newer_version_are_refused_without_harm(tmp_path: Path) -> None:
    newer = "PRAGMA user_version = 99;"
    responses = written(tmp_path / "responses" / "kept.db", versions("responses", responses_store.VERSION)[-1] + newer)
    files = written(tmp_path / "files" / "files.sqlite3", versions("files", file_store.VERSION)[-1] + newer)
    before = responses.read_bytes(), files.read_bytes()
    with pytest.raises(BadRequest, match="written by a newer Grus and stays as it is"):
        ResponseStore(str(responses))
    with pytest.raises(BadRequest, match="written by a newer Grus and stays as it is"):
        FileStore(str(files.parent))
    ends = several(["serve", "--port", "0"], GRUS_RESPONSES_FILE=str(responses))
    ends += several(["serve", "--port", "0"], GRUS_FILES_DIR=str(files.parent))
    for end, place in zip(ends, (responses, files.parent), strict=True):
        assert (end.code, end.err.splitlines()[-1]) == (
            2, f"grus: {place} was written by a newer Grus and stays as it is. Update Grus, or choose another place."
        )  # fmt: skip
    assert (responses.read_bytes(), files.read_bytes()) == before


def write(folder: Path) -> None:
    """The dumps of the newest versions."""
    responses = ResponseStore(str(folder / "kept.db"))
    items = [{"id": "item-1", "type": "message", "role": "user", "content": "Where do cranes go?"}]
    responses.put({"id": "resp-1", "output": "South."}, items)
    responses.close()
    files = FileStore(str(folder))
    kept = files.upload("lease.md", "assistants", io.BytesIO(b"Lease\n"), None)
    papers = files.create_store("Papers", None, {"of": "mill"}, None, "")
    files.add_members(papers.id, [NewMember(kept.id)], False)
    files.close()
    for file, kind, version in (
        ("kept.db", "responses", responses_store.VERSION),
        ("files.sqlite3", "files", file_store.VERSION),
    ):
        with closing(sqlite3.connect(folder / file)) as db:
            text = "\n".join([*db.iterdump(), f"PRAGMA user_version = {version};", ""])
        (FOLDER / f"{kind}-v{version}.sql").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        write(Path(temporary))
