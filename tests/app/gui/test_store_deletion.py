"""What is deleted goes from the disk: rows, words in unused pages, and files that nothing else refers to."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.gui.store import conversations, database, messages, records
from app.gui.store.messages import Attachment, StoredMessage
from app.gui.store.worker import AppStore
from app.gui.viewmodels.chat.draft import attach_bytes
from tests.app.test_imports import chatgpt

ON_POSIX = pytest.mark.skipif(os.name == "nt", reason="a user's folders are their own on Windows")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def open_store(data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AppStore]]:
    """A store with a short undo time; opening another one closes it."""
    opened: list[AppStore] = []
    monkeypatch.setattr("app.gui.store.worker._QUIET", 0.05)

    def open_it(undo: float = 0.2) -> AppStore:
        for store in opened:
            store.close()
        opened.clear()
        monkeypatch.setattr(database, "UNDO_SECONDS", undo)
        opened.append(AppStore(data / "grus.sqlite3"))
        opened[0].wait()
        return opened[0]

    yield open_it
    for store in opened:
        store.close()


def until(condition: Callable[[], Any], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def left(data: Path, *words: str) -> list[str]:
    """Those that are still in any file."""
    raw = b"".join(file.read_bytes() for file in data.rglob("*") if file.is_file())
    forms = ("utf-8", "utf-16-le", "utf-16-be")
    return [word for word in words if any(word.encode(form) in raw for form in forms)]


def talk(store: AppStore, text: str, *attachments: Attachment) -> int:
    def fill(db: Any) -> int:
        id = conversations.create(db, title="A talk")
        messages.add(db, id, StoredMessage(0, None, "user", text, attachments=attachments))
        return id

    return store.ask(fill).result()


def test_no_word_stays_in_any_page_of_the_file(open_store: Callable[..., AppStore], data: Path) -> None:
    """Rows that grow and move leave copies of themselves where `secure_delete` does not look."""
    store, dice = open_store(), random.Random(1)
    marks = [f"MARK{number:02}x" for number in range(40)]

    def live(db: Any) -> list[int]:
        ids = [conversations.create(db, title="t") for _ in marks]
        written: dict[int, list[int]] = {number: [] for number in range(len(marks))}
        for _ in range(2500):
            number = dice.randrange(len(marks))
            if written[number] and dice.random() < 0.5:
                text = marks[number] * dice.randint(1, 120)
                messages.update(db, StoredMessage(dice.choice(written[number]), None, "user", text))
            else:
                said = StoredMessage(0, None, "user", marks[number] * dice.randint(1, 30))
                written[number].append(messages.add(db, ids[number], said).id)
        return ids

    ids = store.ask(live).result()
    gone, stay = marks[::2], marks[1::2]
    assert left(data, *marks) == marks
    store.delete(lambda db: [conversations.delete(db, id) for id in ids[::2]])
    until(lambda: not left(data, *gone))
    assert left(data, *stay) == stay
    assert len(store.ask(conversations.listed).result()) == len(stay)


def test_until_the_undo_time_is_over_everything_can_be_brought_back(
    open_store: Callable[..., AppStore], data: Path
) -> None:
    store = open_store(undo=0.6)
    held = attach_bytes("crane.txt", b"the crane", data / "attachments")
    id = talk(store, "the marsh", held)
    database.release(held.path)
    store.delete(lambda db: conversations.delete(db, id))
    assert store.ask(conversations.listed).result() == []
    assert store.ask(lambda db: conversations.restore(db, id)).result()
    time.sleep(0.9)
    assert [line.id for line in store.ask(conversations.listed).result()] == [id]
    assert Path(held.path).exists()
    store.delete(lambda db: conversations.delete(db, id))
    until(lambda: not left(data, "the marsh", "the crane"))
    assert not Path(held.path).exists()
    assert not store.ask(lambda db: conversations.restore(db, id)).result()


def test_a_message_comes_back_with_all_its_branches(open_store: Callable[..., AppStore], data: Path) -> None:
    store = open_store(undo=0.6)
    id = talk(store, "a question")
    first = store.ask(lambda db: messages.all_of(db, id)).result()[0]

    def answer(db: Any) -> int:
        messages.add(db, id, StoredMessage(0, first.id, "assistant", "one answer"))
        return messages.add(db, id, StoredMessage(0, first.id, "assistant", "another answer")).id

    leaf = store.ask(answer).result()
    store.delete(lambda db: messages.remove(db, id, first.id, None))
    assert store.ask(lambda db: messages.all_of(db, id)).result() == []
    assert store.ask(lambda db: conversations.search(db, "another answer")).result() == []
    assert store.ask(lambda db: messages.restore(db, id, first.id, leaf)).result()
    texts = [message.text for message in store.ask(lambda db: messages.all_of(db, id)).result()]
    assert texts == ["a question", "one answer", "another answer"]
    assert store.ask(lambda db: conversations.head(db, id)).result().leaf == leaf
    store.delete(lambda db: messages.remove(db, id, first.id, None))
    until(lambda: not left(data, "a question", "one answer", "another answer"))
    assert not store.ask(lambda db: messages.restore(db, id, first.id, leaf)).result()


def test_a_shared_file_goes_with_its_last_user(open_store: Callable[..., AppStore], data: Path) -> None:
    store = open_store()
    held = attach_bytes("crane.txt", b"the crane", data / "attachments")
    one, other = talk(store, "the heron", held), talk(store, "the stork", held)
    copy = store.ask(lambda db: conversations.duplicate(db, other, "copy")).result()
    database.release(held.path)
    store.delete(lambda db: conversations.delete(db, one))
    until(lambda: not left(data, "the heron"))
    store.delete(lambda db: conversations.delete(db, other))
    until(lambda: store.ask(database.next_due).result() is None)
    assert Path(held.path).exists(), "a copy of the conversation uses it"
    store.ask(lambda db: records.keep_draft(db, "new", "typing", [held])).result()
    store.delete(lambda db: conversations.delete(db, copy))
    until(lambda: not left(data, "the stork"))
    assert Path(held.path).exists(), "a draft uses it"
    store.ask(lambda db: records.keep_draft(db, "new", "")).result()
    store.drop_files(held.path)
    until(lambda: not Path(held.path).exists())


def test_a_draft_goes_with_its_conversation(open_store: Callable[..., AppStore], data: Path) -> None:
    store = open_store()
    id = talk(store, "hello")
    store.ask(lambda db: records.keep_draft(db, str(id), "half a secret")).result()
    store.delete(lambda db: conversations.delete(db, id))
    until(lambda: not left(data, "half a secret"))


def test_files_of_a_person_are_never_deleted(open_store: Callable[..., AppStore], data: Path, tmp_path: Path) -> None:
    store = open_store()
    mine = tmp_path / "interview.wav"
    mine.write_bytes(b"mine")
    spoken = database.private_file(data / "spoken" / "a.wav")
    spoken.write_bytes(b"made")
    sneaky = str(data / "spoken" / ".." / "grus.sqlite3")
    for source in (str(mine), sneaky):
        result = records.StoredResult(0, "listen", "Interview", source, {"text": "x"}, str(spoken))
        id = store.ask(lambda db, result=result: records.add_result(db, result)).result()
        store.delete(lambda db, id=id: records.delete_result(db, id))
    until(lambda: not spoken.exists())
    assert mine.read_bytes() == b"mine"
    assert (data / "grus.sqlite3").exists()


def test_what_was_deleted_when_the_process_was_killed_goes_at_the_next_start(
    open_store: Callable[..., AppStore], data: Path, tmp_path: Path
) -> None:
    store = open_store(undo=1000)
    held = attach_bytes("crane.txt", b"the crane", data / "attachments")
    id = talk(store, "the marsh", held)
    database.release(held.path)
    store.delete(lambda db: conversations.delete(db, id))
    store.wait()
    assert left(data, "the marsh", "the crane") == ["the marsh", "the crane"]
    killed = tmp_path / "killed"
    shutil.copytree(data, killed / "data")  # what a killed process leaves
    assert left(killed / "data", "the marsh")
    shutil.rmtree(data)
    rows = "UPDATE messages SET attachments = replace(attachments, ?, ?)"
    db = sqlite3.connect(killed / "data" / "grus.sqlite3")
    with db:
        db.execute(rows, (str(data), str(killed / "data")))
    db.close()
    again = AppStore(killed / "data" / "grus.sqlite3")
    try:
        until(lambda: not left(killed / "data", "the marsh", "the crane"))
    finally:
        again.close()


def test_what_was_deleted_is_gone_when_the_window_has_closed(open_store: Callable[..., AppStore], data: Path) -> None:
    store = open_store(undo=1000)
    id = talk(store, "the marsh")
    store.delete(lambda db: conversations.delete(db, id))
    store.close()
    assert left(data, "the marsh") == []


def test_another_process_deletes_nothing_that_the_window_may_still_need(
    open_store: Callable[..., AppStore], data: Path, tmp_path: Path
) -> None:
    """`grus import` beside the window: what its Undo brings back stays, and a picture that has no row yet, and a copy that is dragged."""
    store = open_store(undo=1000)
    id = talk(store, "the marsh")
    store.delete(lambda db: conversations.delete(db, id))
    store.wait()
    begun(data, 100)
    pasted = age(database.keep_bytes(b"a picture", data / "attachments" / "crane.png"), 50)
    dragged = write(data / database.DRAGGED / "sound.wav")
    export = tmp_path / "conversations.json"
    export.write_text(json.dumps([chatgpt()]))
    command = [sys.executable, "-m", "app.cli", "import", str(export), "--folder", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert store.ask(lambda db: conversations.restore(db, id)).result()
    assert pasted.exists()
    assert dragged.exists()
    store.delete(lambda db: conversations.delete(db, id))
    store.close()  # nobody else has it open any longer
    assert left(data, "the marsh") == []
    assert not dragged.exists()
    database.release(pasted)


def age(file: Path, seconds: float) -> Path:
    os.utime(file, (time.time() - seconds, time.time() - seconds))
    return file


def begun(data: Path, seconds_ago: float) -> None:
    db = sqlite3.connect(data / "grus.sqlite3")
    with db:
        db.execute("INSERT OR REPLACE INTO facts VALUES ('created', ?)", (time.time() - seconds_ago,))
    db.close()


def write(file: Path) -> Path:
    database.private_file(file).write_bytes(b"sound")
    return file


def test_files_without_a_row_go_at_the_next_start_and_no_others(
    open_store: Callable[..., AppStore], data: Path
) -> None:
    store = open_store()
    held = attach_bytes("crane.txt", b"the crane", data / "attachments")
    dropped = attach_bytes("marsh.txt", b"the marsh", data / "attachments")
    for each in (held, dropped):
        database.release(each.path)
    store.ask(lambda db: records.keep_draft(db, "new", "typing", [dropped])).result()
    result = records.StoredResult(0, "speak", "A line", "", {}, str(write(data / "spoken" / "kept.wav")))
    id = store.ask(lambda db: records.add_result(db, result)).result()
    store.close()
    begun(data, 3600)
    orphans = [write(data / "spoken" / "orphan.wav"), write(data / "recordings" / "orphan.wav"), Path(held.path)]
    older = write(data / "spoken" / "older-than-the-database.wav")
    for file in (*orphans, Path(dropped.path), data / "spoken" / "kept.wav"):
        age(file, 60)
    age(older, 7200)
    young = write(data / "spoken" / "being-written.wav")
    os.utime(young, (time.time() + 5, time.time() + 5))
    open_store()
    assert [file.name for file in orphans if file.exists()] == []
    there = (older, young, Path(dropped.path), data / "spoken" / "kept.wav")
    assert [file.name for file in there if not file.exists()] == []
    assert id


def test_files_of_a_database_that_was_set_aside_stay(open_store: Callable[..., AppStore], data: Path) -> None:
    store = open_store()
    store.close()
    begun(data, 3600)
    orphan = age(write(data / "recordings" / "interview.wav"), 60)
    (data / "grus.damaged-20260101-000000.sqlite3").write_bytes(b"years of conversations")
    open_store()
    assert orphan.exists()
    (data / "grus.damaged-20260101-000000.sqlite3").unlink()
    open_store()
    assert not orphan.exists()


def test_a_file_that_a_job_holds_is_not_deleted(open_store: Callable[..., AppStore], data: Path) -> None:
    """Between the copy of a dropped file and the row of its draft."""
    store = open_store()
    first = attach_bytes("crane.txt", b"the crane", data / "attachments")
    database.release(first.path)
    id = talk(store, "the heron", first)
    second = attach_bytes("crane.txt", b"the crane", data / "attachments")
    assert second.path == first.path
    store.delete(lambda db: conversations.delete(db, id))
    until(lambda: store.ask(database.next_due).result() is None and not left(data, "the heron"))
    assert Path(second.path).exists()
    store.ask(lambda db: records.keep_draft(db, "new", "", [second])).result()
    database.release(second.path)
    store.drop_files(second.path)
    store.wait()
    assert Path(second.path).exists()


def test_an_id_is_never_given_again(open_store: Callable[..., AppStore]) -> None:
    """A reply that is still being written holds the ids of what was deleted."""
    store = open_store(undo=0.05)
    first = talk(store, "one")
    old = store.ask(lambda db: messages.all_of(db, first)).result()[0]
    store.delete(lambda db: conversations.delete(db, first))
    until(lambda: store.ask(lambda db: db.execute("SELECT count(*) FROM messages").fetchone()[0]).result() == 0)
    second = talk(store, "two")
    store.ask(lambda db: messages.update(db, StoredMessage(old.id, None, "user", "late"))).result()
    assert second != first
    assert [m.text for m in store.ask(lambda db: messages.all_of(db, second)).result()] == ["two"]


def test_a_database_of_an_older_grus_loses_what_was_deleted_in_it(
    open_store: Callable[..., AppStore], data: Path
) -> None:
    """It was written without `secure_delete`, and only marked results as deleted."""
    spoken = write(data / "spoken" / "a.wav")
    db = sqlite3.connect(data / "grus.sqlite3", isolation_level=None)
    db.execute("PRAGMA secure_delete = OFF")
    db.executescript(f"BEGIN; {database.MIGRATIONS[0]} PRAGMA user_version = 1; COMMIT;")
    db.execute("INSERT INTO conversations(id, title, created, changed) VALUES (1, 'kept title', 0, 0)")
    for number in range(50):
        text = f"DELETED{number:02}" * 500
        db.execute("INSERT INTO messages(conversation, role, text, created) VALUES (1, 'user', ?, 0)", (text,))
    db.execute("DELETE FROM messages")
    db.execute(
        "INSERT INTO results(kind, title, body, file, deleted, created, changed) VALUES ('speak', 'REMOVED', '{}', ?, ?, 0, 0)",
        (str(spoken), time.time() - 100),
    )
    db.close()
    marks = [f"DELETED{number:02}" for number in range(50)]
    assert len(left(data, *marks)) > 40
    store = open_store()
    until(lambda: not left(data, "REMOVED", *marks))
    assert not spoken.exists()
    assert [line.title for line in store.ask(conversations.listed).result()] == ["kept title"]


def test_a_question_does_not_wait_for_a_vacuum(
    open_store: Callable[..., AppStore], data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is interrupted, and begins again when nobody asks."""
    store = open_store(undo=0.0)

    def fill(db: Any) -> None:
        id = conversations.create(db, title="large")
        for _ in range(60):
            messages.add(db, id, StoredMessage(0, None, "user", "x" * 1_000_000))

    store.ask(fill).result()
    gone = talk(store, "MARK")
    asked: list[Any] = []

    def traced(statement: str) -> None:
        if statement == "VACUUM" and not asked:  # it has begun
            asked.append(store.ask(conversations.listed))

    store.ask(lambda db: db.set_trace_callback(traced)).result()
    with caplog.at_level("INFO", "grus.store"):
        store.delete(lambda db: conversations.delete(db, gone))
        until(lambda: asked)
        assert [line.title for line in asked[0].result(10)] == ["large"]
    assert "the VACUUM did not end" in caplog.text  # SQLite's own word for it differs by version
    until(lambda: not store.ask(database.needs_vacuum).result() or time.sleep(0.5))
    assert left(data, "MARK") == []


@ON_POSIX
def test_only_the_owner_can_read_what_is_kept(open_store: Callable[..., AppStore], data: Path) -> None:
    def modes() -> dict[str, int]:
        found = [data, *data.rglob("*")]
        return {path.name: stat.S_IMODE(path.stat().st_mode) for path in found}

    store = open_store(undo=1000)
    held = attach_bytes("crane.txt", b"the crane", data / "attachments")
    talk(store, "hello", held)
    expected = {
        "data": 0o700, "grus.sqlite3": 0o600, "grus.sqlite3-wal": 0o600, "grus.sqlite3-shm": 0o600,
        "grus.sqlite3.lock": 0o600, "attachments": 0o700, Path(held.path).name: 0o600,
    }  # fmt: skip
    assert modes() == expected
    for path in (data, *data.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)  # as an older Grus left them
    database.repair([data])
    assert modes() == expected
    database.release(held.path)


def test_everything_can_be_wiped_and_the_store_goes_on(open_store: Callable[..., AppStore], data: Path) -> None:
    store = open_store()
    talk(store, "the marsh")
    done: list[bool] = []
    store.wipe(lambda: done.append(True), lambda sentence: pytest.fail(sentence))
    store.wait()
    assert done == [True]
    assert left(data, "the marsh") == []
    assert store.ask(conversations.listed).result() == []
    talk(store, "a new beginning")
    assert len(store.ask(conversations.listed).result()) == 1
