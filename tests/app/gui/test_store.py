"""What is remembered survives: changes are on disk at once, a damaged file is set aside, deleting can be undone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.gui.store import conversations, database, messages, projects, records
from app.gui.store.messages import Attachment, ReplyStatistics, StoredMessage, ToolUse
from app.gui.store.projects import Project
from app.gui.store.worker import AppStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AppStore]:
    store = AppStore(tmp_path / "grus.sqlite3")
    yield store
    store.close()


def test_a_message_comes_back_with_everything_it_had(store: AppStore) -> None:
    said = StoredMessage(
        0,
        None,
        "assistant",
        "Hällo",
        "hm",
        (ToolUse("weather", '{"city": "Bonn"}', "c1"),),
        (Attachment("a.png", "image", "/x/a.png", 12),),
        ReplyStatistics(3, 1, 7, 0.1, 0.5, 14.0),
        "tiny",
        "stopped",
    )
    id = store.ask(lambda db: conversations.create(db, "tiny", "Be kind.", {"temperature": 0.5})).result()
    added = store.ask(lambda db: messages.add(db, id, said)).result()
    assert store.ask(lambda db: messages.all_of(db, id)).result() == [added]
    head = store.ask(lambda db: conversations.head(db, id)).result()
    assert head is not None
    assert (head.leaf, head.system, head.sampling) == (added.id, "Be kind.", {"temperature": 0.5})


def test_what_was_asked_is_on_disk_without_closing(store: AppStore, tmp_path: Path) -> None:
    """A killed process closes nothing."""
    store.ask(lambda db: conversations.create(db, title="Kept")).result()
    other = sqlite3.connect(store.file)
    assert other.execute("SELECT title FROM conversations").fetchall() == [("Kept",)]
    assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other.close()


def test_a_question_that_fails_changes_nothing(store: AppStore) -> None:
    def half(db: sqlite3.Connection) -> None:
        conversations.create(db, title="Half")
        raise RuntimeError("in between")

    with pytest.raises(RuntimeError):
        store.ask(half).result()
    assert store.ask(conversations.listed).result() == []


def test_a_damaged_file_is_set_aside_whole_and_said_so(tmp_path: Path) -> None:
    file = tmp_path / "grus.sqlite3"
    file.write_bytes(b"this is no database" * 100)
    store = AppStore(file)
    found = []
    store.opened(found.append)
    store.wait()
    assert found[0].set_aside is not None
    assert found[0].set_aside.read_bytes() == b"this is no database" * 100
    assert store.ask(conversations.listed).result() == []
    store.close()


def test_search_looks_into_all_text_whatever_the_case(store: AppStore) -> None:
    def fill(db: sqlite3.Connection) -> None:
        for title, text in (("Birds", "The red crown of the ÄRGERNIS crane"), ("Fish", "100% water_"), ("Other", "x")):
            id = conversations.create(db, title=title)
            messages.add(db, id, StoredMessage(0, None, "user", text))

    store.ask(fill).result()

    def found(words: str) -> list[str]:
        return [line.title for line in store.ask(lambda db: conversations.search(db, words)).result()]

    assert found("CROWN") == ["Birds"]
    assert found("ärgernis") == ["Birds"]
    assert found("birds crane") == ["Birds"]
    assert found("100% water_") == ["Fish"]
    assert found("%") == ["Fish"]
    assert found("nothing") == []


def test_a_duplicate_has_every_branch_and_is_its_own(store: AppStore) -> None:
    def fill(db: sqlite3.Connection) -> tuple[int, int]:
        id = conversations.create(db, title="One")
        root = messages.add(db, id, StoredMessage(0, None, "user", "hi"))
        messages.add(db, id, StoredMessage(0, root.id, "assistant", "first"))
        second = messages.add(db, id, StoredMessage(0, root.id, "assistant", "second"))
        assert second.parent == root.id
        return id, conversations.duplicate(db, id, "Two")

    id, copy = store.ask(fill).result()
    copied = store.ask(lambda db: messages.all_of(db, copy)).result()
    assert [m.text for m in copied] == ["hi", "first", "second"]
    assert {m.parent for m in copied[1:]} == {copied[0].id}
    assert store.ask(lambda db: conversations.head(db, copy)).result().leaf == copied[2].id
    store.ask(lambda db: messages.update(db, StoredMessage(copied[0].id, None, "user", "changed"))).result()
    assert store.ask(lambda db: messages.all_of(db, id)).result()[0].text == "hi"


def test_pinned_come_first_then_the_newest(store: AppStore) -> None:
    ids = [store.ask(lambda db, t=t: conversations.create(db, title=t)).result() for t in ("a", "b", "c")]
    store.ask(lambda db: conversations.pin(db, ids[0], True)).result()
    assert [line.title for line in store.ask(conversations.listed).result()] == ["a", "c", "b"]


def test_a_project_that_is_removed_leaves_its_conversations_and_can_be_brought_back(store: AppStore) -> None:
    project = store.ask(lambda db: projects.create(db, "Work")).result()
    store.ask(lambda db: projects.configure(db, project, system="Be brief.", tools=("date",))).result()
    id = store.ask(lambda db: conversations.create(db, title="In it", folder=project)).result()
    kept = store.ask(lambda db: conversations.head(db, id).project).result()
    assert kept == Project(project, "Work", "Be brief.", tools=("date",))
    store.ask(lambda db: projects.delete(db, project)).result()
    assert store.ask(projects.listed).result() == []
    assert store.ask(lambda db: conversations.head(db, id).project).result() is None
    assert store.ask(lambda db: projects.restore(db, project)).result()
    assert store.ask(lambda db: conversations.head(db, id).project).result() == kept
    store.ask(lambda db: projects.delete(db, project)).result()
    store.ask(lambda db: database.purge(db, float("inf"))).result()
    assert not store.ask(lambda db: projects.restore(db, project)).result()
    assert [(line.id, line.project) for line in store.ask(conversations.listed).result()] == [(id, None)]


def test_what_was_being_written_when_the_process_died_is_marked_as_stopped(store: AppStore) -> None:
    id = store.ask(conversations.create).result()
    store.ask(
        lambda db: messages.add(db, id, StoredMessage(0, None, "assistant", "half a sen", state="writing"))
    ).result()
    assert store.ask(messages.settle).result() == 1
    assert store.ask(lambda db: messages.all_of(db, id)).result()[0].state == "stopped"


def test_drafts_presets_and_results_are_kept(store: AppStore) -> None:
    store.ask(lambda db: records.keep_draft(db, "chat", "half", [Attachment("a.txt", "text", "/a.txt", text="A")]))
    store.ask(lambda db: records.keep_preset(db, records.Preset("Exact", {"temperature": 0})))
    result = store.ask(
        lambda db: records.add_result(db, records.StoredResult(0, "read", "Page", body={"text": "x"}))
    ).result()
    draft = store.ask(lambda db: records.draft(db, "chat")).result()
    assert (draft.text, draft.attachments[0].text) == ("half", "A")
    assert store.ask(records.presets).result() == [records.Preset("Exact", {"temperature": 0})]
    assert store.ask(lambda db: records.results(db, "read")).result()[0].body == {"text": "x"}
    store.ask(lambda db: records.delete_result(db, result))
    store.ask(lambda db: records.keep_draft(db, "chat", ""))
    assert store.ask(lambda db: records.results(db, "read")).result() == []
    assert store.ask(lambda db: records.draft(db, "chat")).result() == records.Draft()
    store.ask(lambda db: records.delete_result(db, result, deleted=False))
    assert len(store.ask(lambda db: records.results(db, "read")).result()) == 1
