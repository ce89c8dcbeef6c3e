"""All conversations, or everything, to another machine as one file and back; secrets stay behind."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.gui.preferences import Preferences
from app.gui.store import archive, conversations, memories, messages, projects, records
from app.gui.store.messages import Attachment, StoredMessage
from app.gui.store.records import Preset, StoredResult
from app.gui.store.worker import AppStore
from app.gui.viewmodels.transfer import Transfer
from engine.errors import BadRequest
from tests.app.gui.media import AtOnce


class Grus:
    """A store with its folder and settings, on a machine of its own."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.data.mkdir(parents=True)
        self.posted: list[Callable[[], None]] = []
        self.store = AppStore(self.data / "grus.sqlite3", self.posted.append)
        self.preferences = Preferences(folder / "preferences.json")
        self.said: list[str] = []
        self.imports = 0
        self.transfer = Transfer(
            self.store,
            AtOnce(),
            self.preferences,
            self.data,
            lambda sentence, **more: self.said.append(sentence),
            self._came,
        )

    def _came(self) -> None:
        self.imports += 1

    def settle(self) -> None:
        for _ in range(6):
            self.store.wait()
            while self.posted:
                self.posted.pop(0)()

    def ask(self, question: Callable[[Any], Any]) -> Any:
        self.settle()
        return self.store.ask(question).result()


def filled(folder: Path) -> Grus:
    grus = Grus(folder)
    picture = grus.data / "attachments" / "abc.png"
    voice = grus.data / "voices" / "mine" / "voice.json"
    for file in (picture, voice):
        file.parent.mkdir(parents=True)
        file.write_bytes(b"bytes of " + file.name.encode())

    def write(db: Any) -> None:
        room = projects.create(db, "Birds")
        notes = Attachment("notes.txt", "text", str(grus.data / "attachments" / "notes.txt"), 5, "Notes")
        projects.configure(db, room, system="Be kind.", files=(notes,), tools=("date",))
        id = conversations.create(db, "tiny", "Be brief.", {"temperature": 0.2}, room, title="Cranes")
        file = Attachment("crane.png", "image", str(picture), 9)
        first = messages.add(db, id, StoredMessage(0, None, "user", "Look {grus}/", attachments=(file,)))
        for text in ("one", "two"):
            leaf = messages.add(db, id, StoredMessage(0, first.id, "assistant", text, model="tiny"))
        messages.show(db, id, leaf.id - 1)
        memories.add(db, "The person likes cranes.", id)
        memories.delete(db, memories.add(db, "A slip"))
        gone = conversations.create(db, "tiny", title="Deleted")
        conversations.delete(db, gone)
        records.keep_preset(db, Preset("Calm", {"temperature": 0.1}, "Hush."))
        result = StoredResult(0, "read", "a.pdf", "/elsewhere/a.pdf", {"pages": [], "copy": str(picture)})
        records.add_result(db, result)

    grus.ask(write)
    grus.preferences.put("appearance", "dark")
    grus.preferences.put("backend", "mlx")
    grus.preferences.put("server", {"port": 9, "keys": ["grus-secret"], "host": "0.0.0.0", "origins": []})
    return grus


def test_everything_goes_to_another_machine_as_one_file(tmp_path: Path) -> None:
    here, there = filled(tmp_path / "here"), Grus(tmp_path / "there")
    there.preferences.put("server", {"port": 8080, "keys": ["own"]})
    own = there.ask(lambda db: conversations.create(db, "tiny", title="Own"))
    file = tmp_path / "all.grus.zip"
    here.transfer.export(file, everything=True)
    here.settle()
    assert "It does not contain server keys, the Hugging Face token or models." in here.said[-1]
    with zipfile.ZipFile(file) as packed:
        assert sorted(packed.namelist()) == ["attachments/abc.png", "content.json", "voices/mine/voice.json"]
        content = packed.read("content.json").decode()
    assert ("grus-secret" in content, str(tmp_path) in content) == (False, False)
    assert file.stat().st_mode & 0o077 == 0
    there.transfer.take(file)
    there.settle()
    assert (there.said, there.imports) == (["1 conversation imported."], 1)
    assert (there.preferences.get("appearance"), there.preferences.get("backend")) == ("dark", None)
    assert there.preferences.get("server") == {"port": 9, "keys": ["own"], "origins": []}
    listed = {each.title: each.id for each in there.ask(conversations.listed)}
    assert set(listed) == {"Own", "Cranes"}
    assert listed["Own"] == own
    head = there.ask(lambda db: conversations.head(db, listed["Cranes"]))
    assert (head.model, head.system, head.sampling) == ("tiny", "Be brief.", {"temperature": 0.2})
    first, one, two = there.ask(lambda db: messages.all_of(db, listed["Cranes"]))
    assert (first.text, one.text, two.text, head.leaf) == ("Look {grus}/", "one", "two", one.id)
    assert (one.parent, two.parent) == (first.id, first.id)
    assert Path(first.attachments[0].path) == there.data / "attachments" / "abc.png"
    assert Path(first.attachments[0].path).read_bytes() == b"bytes of abc.png"
    assert (there.data / "voices" / "mine" / "voice.json").is_file()
    (birds,) = there.ask(projects.listed)
    assert (birds.name, birds.system, birds.tools) == ("Birds", "Be kind.", ("date",))
    assert [file.path for file in birds.files] == [str(there.data / "attachments" / "notes.txt")]
    (fact,) = there.ask(memories.listed)
    assert (fact.text, fact.title, fact.conversation) == ("The person likes cranes.", "Cranes", listed["Cranes"])
    assert there.ask(records.presets) == [Preset("Calm", {"temperature": 0.1}, "Hush.")]
    (result,) = there.ask(lambda db: records.results(db, "read"))
    assert (result.source, result.body["copy"]) == ("/elsewhere/a.pdf", first.attachments[0].path)
    again = tmp_path / "again.grus.zip"  # what came in goes out again the same
    there.ask(lambda db: conversations.delete(db, own))
    there.transfer.export(again, everything=True)
    there.settle()
    titles = [[m["text"] for m in archive.read(each).rows["messages"]] for each in (file, again)]
    assert titles[0] == titles[1]


def test_all_conversations_alone(tmp_path: Path) -> None:
    here, there = filled(tmp_path / "here"), Grus(tmp_path / "there")
    file = tmp_path / "talks.zip"
    here.transfer.export(file, everything=False)
    here.settle()
    assert set(archive.read(file).rows) == {"folders", "conversations", "messages"}
    for _ in range(2):  # what is taken in is added: nothing that is there is replaced
        there.transfer.take(file)
        there.settle()
    assert [each.title for each in there.ask(conversations.listed)] == ["Cranes", "Cranes"]
    assert [project.name for project in there.ask(projects.listed)] == ["Birds"]
    assert (there.preferences.all(), there.ask(records.presets)) == ({}, [])


@pytest.mark.parametrize(
    "content", ["{}", "not json", json.dumps({"format": "grus-archive", "version": 99, "rows": {}})]
)
def test_what_is_no_archive_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.zip"
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("content.json", content)
    with pytest.raises(BadRequest):
        archive.read(file)
    file.write_bytes(b"no zip")
    with pytest.raises(BadRequest, match="not a Grus archive"):
        archive.read(file)


def test_an_archive_writes_nothing_outside_its_folders(tmp_path: Path) -> None:
    grus, file = Grus(tmp_path / "grus"), tmp_path / "bad.zip"
    rows = {"messages": [{"id": 1, "conversation": 7, "parent": None, "state": "done"}]}
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("content.json", json.dumps({"format": "grus-archive", "version": 1, "rows": rows}))
        for name in (
            "attachments/../../evil",
            "../evil",
            "/evil",
            "attachments/a/b",
            "grus.sqlite3",
            "attachments/good",
        ):
            packed.writestr(name, b"x")
    found = archive.read(file)
    assert list(found.files) == ["attachments/good"]
    with pytest.raises(BadRequest, match="is damaged"):
        grus.ask(lambda db: archive.add(db, found, grus.data))
    assert grus.ask(conversations.listed) == []


def _with_attachment(file: Path, data: bytes, broken: bool = False) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("content.json", json.dumps({"format": "grus-archive", "version": 1, "rows": {}}))
        packed.writestr("attachments/a.png", data)
        start = packed.getinfo("attachments/a.png").header_offset + 30 + len("attachments/a.png")
    if broken:
        whole = bytearray(file.read_bytes())
        whole[start] = 0x07  # a block of a type that deflate does not have
        file.write_bytes(whole)


def test_a_broken_part_is_said_and_leaves_no_part_of_a_file(tmp_path: Path) -> None:
    file, data = tmp_path / "a.zip", tmp_path / "data"
    content = bytes(range(256)) * 20_000
    _with_attachment(file, content, broken=True)
    with pytest.raises(BadRequest, match="is damaged"):
        archive.unpack(file, archive.read(file), data)
    assert [each for each in data.rglob("*") if each.is_file()] == []
    _with_attachment(file, content)
    archive.unpack(file, archive.read(file), data)
    assert (data / "attachments" / "a.png").read_bytes() == content


def test_an_archive_with_a_bomb_for_its_content_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_LARGEST_CONTENT", 1 << 20)
    file = tmp_path / "bomb.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("content.json", "[" * (4 << 20))
    with pytest.raises(BadRequest, match="is damaged"):
        archive.read(file)
    monkeypatch.setattr(archive, "_LARGEST_CONTENT", 8 << 20)
    with pytest.raises(BadRequest, match="is damaged"):  # too deep for the parser
        archive.read(file)


def test_what_the_disk_has_no_room_for_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, data = tmp_path / "a.zip", tmp_path / "data"
    _with_attachment(file, b"x" * 1000)
    monkeypatch.setattr(archive, "_SPARE", 1 << 60)
    with pytest.raises(BadRequest, match="too little room"):
        archive.unpack(file, archive.read(file), data)
    assert list(data.iterdir()) == []
