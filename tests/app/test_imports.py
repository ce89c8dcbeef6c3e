"""Conversations of other applications: their exports as they come, with branches and pictures; hostile and malformed ones."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from app.gui.preferences import AppFolders, places_under
from app.gui.store import conversations, messages
from app.gui.store.messages import StoredMessage
from app.gui.store.worker import AppStore
from app.gui.viewmodels.importing import ImportOutcome, import_export
from app.runtime.imports import export_file
from app.runtime.imports.conversation import ImportedMessage, ImportedTree, seconds, split_reasoning
from app.runtime.imports.exports import is_export
from engine.errors import BadRequest
from tests.app.fresh import grus, several
from tests.asserting import every


def png(colour: str = "red") -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (3, 2), colour).save(made, "PNG")
    return made.getvalue()


def node(id: str, parent: str | None, role: str = "", *parts: Any, **more: Any) -> dict[str, Any]:
    message = None
    if role:
        content = more.pop("content", {"content_type": "text", "parts": list(parts)})
        message = {
            "id": id,
            "author": {"role": role},
            "create_time": 1700000000.5,
            "content": content,
            "metadata": {},
            **more,
        }
    return {"id": id, "parent": parent, "children": [], "message": message}


def chatgpt(id: str = "c1", title: str = "Boats") -> dict[str, Any]:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-AbC1"}
    drawn = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_0001"}
    nodes = [
        node("root", None),
        node("sys", "root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
        node("own", "sys", "user", content={"content_type": "user_editable_context", "user_instructions": "Be brief."}, metadata={"is_visually_hidden_from_conversation": True}),
        node("u1", "own", "user", picture, "What is this?", metadata={"attachments": [{"id": "file-AbC1", "name": "boat.png"}, {"id": "file-gone", "name": "lost.docx"}]}),
        node("t1", "u1", "assistant", content={"content_type": "thoughts", "thoughts": [{"summary": "Looking", "content": "Red."}]}),
        node("a1", "t1", "assistant", "A boat.", metadata={"model_slug": "gpt-4o"}),
        node("a2", "u1", "assistant", "A red boat.", metadata={"model_slug": "gpt-5"}),
        node("u2", "a2", "user", "Draw it"),
        node("call", "u2", "assistant", recipient="dalle.text2im", content={"content_type": "code", "text": '{"prompt": "boat"}'}),
        node("tool", "call", "tool", content={"content_type": "multimodal_text", "parts": [drawn]}),
        node("a3", "tool", "assistant", "Here."),
    ]  # fmt: skip
    return {
        "title": title, "create_time": 1700000000.0, "update_time": 1700000100.0, "conversation_id": id,
        "mapping": {one["id"]: one for one in nodes}, "current_node": "a1", "default_model_slug": "gpt-4o",
    }  # fmt: skip


def claude(id: str = "k1") -> dict[str, Any]:
    def message(id: str, parent: str, sender: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"uuid": id, "parent_message_uuid": parent, "sender": sender, "text": "", "content": list(content), "created_at": "2024-05-01T10:00:00.000000Z", **more}  # fmt: skip

    said = lambda text: {"type": "text", "text": text}  # noqa: E731
    return {
        "uuid": id, "name": "Notes", "created_at": "2024-05-01T10:00:00.000000Z", "updated_at": "2024-05-02T10:00:00Z",
        "chat_messages": [
            message("h1", "00000000-0000-4000-8000-000000000000", "human", said("Sum it up"), attachments=[{"file_name": "notes.pdf", "extracted_content": "Sail on"}]),
            message("r1", "h1", "assistant", {"type": "thinking", "thinking": "Hm."}, said("Sail."), {"type": "tool_use", "id": "x", "name": "search", "input": {"q": "sail"}}),
            message("r2", "h1", "assistant", said("On.")),
            message("h2", "r2", "human", said("Thanks"), files=[{"file_name": "gone.png", "file_uuid": "11112222"}]),
        ],
    }  # fmt: skip


def lmstudio() -> dict[str, Any]:
    def steps(text: str, thought: str = "") -> dict[str, Any]:
        block = {"type": "contentBlock", "content": [{"type": "text", "text": text}]}
        thinks = {"type": "contentBlock", "style": {"type": "thinking"}, "content": [{"type": "text", "text": thought}]}
        return {"type": "multiStep", "role": "assistant", "steps": [*([thinks] if thought else []), block, {"type": "debugInfoBlock"}], "senderInfo": {"senderName": "qwen3"}}  # fmt: skip

    asks = {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "file", "fileIdentifier": "17000-1.png"}]}  # fmt: skip
    return {
        "name": "Local", "createdAt": 1700000000000, "systemPrompt": "Be kind.", "lastUsedModel": {"identifier": "qwen3-8b"}, "pinned": True,
        "messages": [
            {"versions": [asks], "currentlySelected": 0},
            {"versions": [steps("One"), steps("Two", "Let me see.")], "currentlySelected": 1},
            {"versions": [{"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "More"}]}], "currentlySelected": 0},
        ],
    }  # fmt: skip


def open_webui(id: str = "w1") -> dict[str, Any]:
    address = f"data:image/png;base64,{base64.b64encode(png('blue')).decode()}"
    reasoning = '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>\n> 1 &lt; 2\n> so\n</details>\nTwo.'
    written = {
        "m1": {"id": "m1", "parentId": None, "role": "user", "content": "Which?", "files": [{"type": "image", "url": address}], "timestamp": 1700000000},
        "m2": {"id": "m2", "parentId": "m1", "role": "assistant", "content": reasoning, "model": "llama3"},
        "m3": {"id": "m3", "parentId": "m1", "role": "assistant", "content": "Three.", "model": "qwen3"},
    }  # fmt: skip
    chat = {"title": "Choice", "models": ["llama3", "qwen3"], "params": {"system": "Choose."}, "history": {"messages": written, "currentId": "m2"}}  # fmt: skip
    return {"id": id, "title": "Choice", "created_at": 1700000000, "updated_at": 1700000200, "chat": chat}


JAN = {"id": "jan_1", "object": "thread", "title": "Thread", "assistants": [{"model": {"id": "phi"}, "instructions": "Short."}], "created": 1700000000, "updated": 1700000300}  # fmt: skip


def jan_lines() -> str:
    def line(id: str, role: str, *content: Any) -> str:
        return json.dumps(
            {"id": id, "object": "thread.message", "role": role, "content": content, "created_at": 1700000000000}
        )

    text = lambda value: {"type": "text", "text": {"value": value, "annotations": []}}  # noqa: E731
    address = f"data:image/jpeg;base64,{base64.b64encode(png()).decode()}"
    picture = {"type": "image_url", "image_url": {"url": address}}
    return "\n".join(
        [line("1", "user", text("See"), picture), line("2", "assistant", text("<think>Well.</think>\n\nYes")), line("2", "assistant", text("<think>Well.</think>\n\nYes!"))]
    )  # fmt: skip


def zipped(file: Path, content: dict[str, bytes | str | Any]) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in content.items():
            out.writestr(name, data if isinstance(data, bytes | str) else json.dumps(data))
    return file


class Kept:
    """A Grus with its store."""

    def __init__(self, places: AppFolders) -> None:
        self.places = places.make()
        self.store = AppStore(self.places.database)

    def take(self, file: Path) -> ImportOutcome:
        return import_export(file, self.store, self.places.attachments)

    def all(self) -> list[Any]:
        return self.store.ask(conversations.listed).result()

    def whole(self, title: str) -> tuple[Any, list[StoredMessage]]:
        (id,) = [one.id for one in self.all() if one.title == title]
        return self.store.ask(lambda db: (conversations.head(db, id), messages.all_of(db, id))).result()

    def branch(self, title: str) -> list[str]:
        """The texts of the branch that is shown."""
        head, every = self.whole(title)
        by_id = {one.id: one for one in every}
        at, texts = head.leaf, []
        while at is not None:
            texts.append(by_id[at].text)
            at = by_id[at].parent
        return texts[::-1]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    made = Kept(places_under(tmp_path / "grus"))
    yield made
    made.store.close()


def test_chatgpt_with_branches_pictures_and_tools(kept: Kept, tmp_path: Path) -> None:
    drawn = png("blue")
    file = zipped(tmp_path / "export.zip", {
        "conversations.json": [chatgpt()], "user.json": {"id": "u"}, "chat.html": "<html>",
        "file-AbC1-boat.png": png(), "dalle-generations/file_0001.dat": drawn, "file-AbC1x.png": b"another",
    })  # fmt: skip
    outcome = kept.take(file)
    assert (outcome.application, len(outcome.added), outcome.unreadable) == ("ChatGPT", 1, [])
    head, every = kept.whole("Boats")
    assert (head.model, head.system) == ("gpt-4o", "Be brief.")
    assert kept.branch("Boats") == ["What is this?\n\n[lost.docx]", "A boat."]
    by_text = {one.text: one for one in every}
    asked = by_text["What is this?\n\n[lost.docx]"]
    assert {one.text for one in every if one.parent == asked.id} == {"A boat.", "A red boat."}
    assert (by_text["A boat."].reasoning, by_text["A boat."].model) == ("Looking\nRed.", "gpt-4o")
    assert by_text["A red boat."].reasoning == ""
    (picture,) = asked.attachments
    assert (picture.kind, Path(picture.path).read_bytes()) == ("image", png())
    (call,) = [one for one in every if one.calls]
    assert (call.calls[0].name, call.calls[0].arguments) == ("dalle.text2im", '{"prompt": "boat"}')
    (tool,) = [one for one in every if one.role == "tool"]
    assert (tool.parent, tool.attachments[0].kind) == (call.id, "image")
    assert Path(tool.attachments[0].path).read_bytes() == drawn
    assert by_text["Here."].created == 1700000000.5


def test_claude_with_thinking_and_the_text_of_attachments(kept: Kept, tmp_path: Path) -> None:
    kept.take(zipped(tmp_path / "data.zip", {"conversations.json": [claude()], "users.json": [], "projects.json": []}))
    _, every = kept.whole("Notes")
    assert kept.branch("Notes") == ["Sum it up", "On.", "Thanks\n\n[gone.png]"]
    (attached,) = every[0].attachments
    assert (attached.name, attached.kind, attached.text) == ("notes.pdf", "text", "Sail on")
    (reply,) = [one for one in every if one.text == "Sail."]
    assert (reply.reasoning, reply.calls[0].name, json.loads(reply.calls[0].arguments)) == (
        "Hm.",
        "search",
        {"q": "sail"},
    )
    (line,) = kept.all()
    assert line.changed == seconds("2024-05-02T10:00:00Z") > 0


def test_lm_studio_s_folder_with_versions(kept: Kept, tmp_path: Path) -> None:
    folder = tmp_path / "lmstudio"
    (folder / "conversations" / "work").mkdir(parents=True)
    (folder / "conversations/work/1700.conversation.json").write_text(json.dumps(lmstudio()), encoding="utf-8")
    (folder / "user-files").mkdir()
    (folder / "user-files/17000-1.png").write_bytes(png())
    assert kept.take(folder).application == "LM Studio"
    head, every = kept.whole("Local")
    assert (head.model, head.system) == ("qwen3-8b", "Be kind.")
    assert kept.branch("Local") == ["Hi", "Two", "More"]
    assert [one.text for one in every if one.parent == every[0].id] == ["One", "Two"]
    assert ({one.text: one.reasoning for one in every}["Two"], every[0].attachments[0].kind) == ("Let me see.", "image")
    assert kept.all()[0].pinned
    alone = tmp_path / "1700.conversation.json"
    alone.write_text(json.dumps(lmstudio()), encoding="utf-8")
    assert kept.take(alone).there == 1  # the same, given as one file


def test_jan_and_open_webui(kept: Kept, tmp_path: Path) -> None:
    assert kept.take(zipped(tmp_path / "jan.zip", {"jan/threads/jan_1/thread.json": JAN, "jan/threads/jan_1/messages.jsonl": jan_lines()})).application == "Jan"  # fmt: skip
    head, every = kept.whole("Thread")
    assert (head.model, head.system) == ("phi", "Short.")
    assert [(one.text, one.reasoning, len(one.attachments)) for one in every] == [("See", "", 1), ("Yes!", "Well.", 0)]
    file = tmp_path / "chat-export-1.json"
    file.write_text(json.dumps([open_webui(), open_webui("w2")]), encoding="utf-8")
    assert len(kept.take(file).added) == 2
    for one in kept.all():
        if one.title == "Choice":
            every = kept.store.ask(lambda db, id=one.id: messages.all_of(db, id)).result()
            assert [(m.text, m.reasoning, m.model) for m in every] == [("Which?", "", ""), ("Two.", "1 < 2\nso", "llama3"), ("Three.", "", "qwen3")]  # fmt: skip
            assert [m.parent for m in every] == [None, every[0].id, every[0].id]
            assert Path(every[0].attachments[0].path).read_bytes() == png("blue")


def test_what_is_imported_twice_is_there_once_and_comes_back_once_it_is_deleted(kept: Kept, tmp_path: Path) -> None:
    file = zipped(tmp_path / "export.zip", {"conversations-000.json": [chatgpt()], "conversations-001.json": [chatgpt("c2", "Planes")]})  # fmt: skip
    first, again = kept.take(file), kept.take(file)
    assert (len(first.added), first.there, again.added, again.there) == (2, 0, [], 2)
    kept.store.ask(lambda db: conversations.delete(db, first.added[0])).result()
    third = kept.take(file)
    assert (len(third.added), third.there) == (1, 1)
    assert sorted(one.title for one in kept.all()) == ["Boats", "Planes"]


BROKEN: list[Callable[[dict[str, Any]], Any]] = [
    lambda one: one["mapping"]["a1"]["message"].pop("author"),
    lambda one: one["mapping"]["u1"].update(message=5),
    lambda one: one.update(mapping={"x": None}),
    lambda one: one.update(mapping={}),
    lambda one: one["mapping"]["a1"]["message"].update(content=["text"]),
]


@pytest.mark.parametrize("harm", BROKEN)
def test_malformed_conversations_are_named_and_the_others_kept(
    harm: Callable[..., Any], kept: Kept, tmp_path: Path
) -> None:
    bad = chatgpt("c9", "Broken")
    harm(bad)
    outcome = kept.take(zipped(tmp_path / "e.zip", {"conversations.json": [chatgpt(), bad, 7, claude()]}))
    assert outcome.unreadable == ["Broken", "conversations.json, 3"]
    assert sorted(one.title for one in kept.all()) == ["Boats", "Notes"]


def test_nodes_in_a_circle_and_double_ones_end(kept: Kept, tmp_path: Path) -> None:
    bad = chatgpt("c8", "Circle")
    bad["mapping"] = {"a": node("a", "b", "user", "x"), "b": node("b", "a", "assistant", "y")}
    assert kept.take(zipped(tmp_path / "e.zip", {"conversations.json": [bad]})).unreadable == ["Circle"]
    tree = ImportedTree()
    tree.add("a", None, ImportedMessage("a", None, "user", "x"))
    with pytest.raises(ValueError, match="two messages"):
        tree.add("a", None, None)
    deep = ImportedTree()
    for at in range(20_000):
        deep.add(str(at), str(at - 1) if at else None, ImportedMessage(str(at), None, "user", "x"))
    assert len(deep.messages()) == 20_000


@pytest.mark.parametrize(
    "name", ["../../evil.json", "/etc/evil.json", "a/../../evil.png", "C:\\evil.png", "..\\evil.png"]
)
def test_a_name_that_leads_outside_refuses_the_whole(name: str, kept: Kept, tmp_path: Path) -> None:
    file = zipped(tmp_path / "e.zip", {"conversations.json": [chatgpt()], name: b"evil"})
    with pytest.raises(BadRequest, match="leads out of its folder"):
        kept.take(file)
    assert kept.all() == []


def test_a_zip_bomb_is_refused_by_what_comes_out_of_it(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_file, "_UNSUSPECTED", 1 << 20)
    bomb = "[" + " " * (8 << 20) + "]"
    with pytest.raises(BadRequest, match="unpacks to more than an export can be"):
        kept.take(zipped(tmp_path / "bomb.zip", {"conversations.json": bomb}))
    monkeypatch.setattr(export_file, "_LARGEST_FILE", 1000)
    big = {"conversations.json": [chatgpt()], "file-AbC1.png": bytes(2000), "file_0001.png": png()}
    with pytest.raises(BadRequest, match="unpacks to more"):
        export_file.ExportFile(zipped(tmp_path / "big.zip", big)).read("file-AbC1.png")
    kept.take(tmp_path / "big.zip")  # such a picture alone is left out
    assert "[file-AbC1.png]" in "".join(kept.branch("Boats"))


def test_an_export_with_a_broken_part_is_said_to_be_damaged(kept: Kept, tmp_path: Path) -> None:
    """Each byte of what is packed in turn: a stream that cannot be unpacked has an error of its own."""
    whole = zipped(tmp_path / "whole.zip", {"conversations.json": [chatgpt()]})
    with zipfile.ZipFile(whole) as archive:
        info = archive.getinfo("conversations.json")
        assert info.compress_type == zipfile.ZIP_DEFLATED
    start, broken = 30 + len(info.filename), tmp_path / "broken.zip"
    said: list[str] = []
    places = range(start, start + info.compress_size, 7)
    for at in places:
        data = bytearray(whole.read_bytes())
        data[at] ^= 0xFF
        broken.write_bytes(data)
        try:
            read = export_file.ExportFile(broken).read("conversations.json")
        except BadRequest as error:
            said.append(str(error))
        else:  # the last byte's bits that fill it up mean nothing
            assert json.loads(read) == [chatgpt()]
    assert len(said) >= len(places) - 1
    assert every("damaged" in words for words in said)


def test_what_is_no_export_is_said(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "note.json").write_text('{"messages": []}', encoding="utf-8")
    (tmp_path / "cut.zip").write_bytes(
        zipped(tmp_path / "whole.zip", {"conversations.json": [chatgpt()]}).read_bytes()[:-40]
    )
    empty = zipped(tmp_path / "empty.zip", {"readme.txt": "x"})
    for file in (tmp_path / "note.json", tmp_path / "cut.zip", empty, tmp_path / "absent.zip"):
        with pytest.raises(BadRequest):
            kept.take(file)
        assert not is_export(file)
    broken = zipped(tmp_path / "broken.zip", {"conversations.json": '[{"mapping"'})
    assert kept.take(broken).unreadable == ["conversations.json"]
    assert kept.all() == []


def test_reasoning_is_told_from_the_reply() -> None:
    assert split_reasoning("<think>a\nb</think>\n\nc") == ("a\nb", "c")
    assert split_reasoning("no <b>marks</b>") == ("", "no <b>marks</b>")
    assert [seconds(one) for one in (None, "x", 1700000000123, 1700000000, True)] == [
        0,
        0,
        1700000000.123,
        1700000000,
        0,
    ]


def test_the_command_imports_and_says_what_it_left_out(tmp_path: Path) -> None:
    file = zipped(tmp_path / "export.zip", {"conversations.json": [chatgpt(), {"title": "Odd", "mapping": {"x": 1}}]})
    one = grus("import", file, "--folder", tmp_path / "grus")
    assert (one.code, one.out) == (0, "ChatGPT: 1 conversation added, 0 imported before.\n")
    assert one.err == "Left out, because it is malformed: Odd\n"
    again, wrong, absent = several(
        ["import", file, "--folder", tmp_path / "grus", "--json"], ["import", __file__, "--folder", tmp_path / "grus"],
        ["import", tmp_path / "absent.zip", "--folder", tmp_path / "grus"],
    )  # fmt: skip
    assert json.loads(again.out) == {"application": "ChatGPT", "added": 0, "there": 1, "unreadable": ["Odd"]}
    assert (wrong.code, absent.code) == (2, 2)
    assert "is no export of ChatGPT, Claude, LM Studio, Jan or Open WebUI" in wrong.err
