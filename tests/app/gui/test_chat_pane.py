"""The chat pane as a person uses it: typing, clicking, dropping, pasting, shortcuts. The engine is scripted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QMessageBox

from app.gui.chat import message_view
from app.gui.chat.message_view import CodeWidget, FooterWidget, ProseWidget, UserTextWidget
from app.gui.chat.pane import ChatPane
from app.gui.store import records
from app.gui.store.messages import StoredMessage
from app.gui.viewmodels.chat.history import for_model
from engine.errors import OutOfMemory
from tests.app.gui.conftest import Opened

CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)
LEFT = Qt.MouseButton.LeftButton

REPLY = """## Title

Some *words*, see [there](https://example.org/x).

```python
print("hello")
```

| a | b |
|---|---|
| 1 | 2 |
"""


def chat(grus: Opened) -> ChatPane:
    pane = grus.window.pane("chat")
    assert isinstance(pane, ChatPane)
    grus.until(lambda: pane.talk.head.model)
    return pane


def send(grus: Opened, text: str, reply: str = "Fine.") -> ChatPane:
    pane = chat(grus)
    grus.engine.reply = reply
    grus.qtbot.keyClicks(pane.composer.field, text)
    before = len(pane.talk.path)
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Return)
    grus.until(lambda: len(pane.talk.path) == before + 2 and not pane.talk.writing)
    grus.settle()
    return pane


def views(pane: ChatPane, kind: type) -> list[Any]:
    return [view for _, view in sorted(pane.transcript.widgets.items()) if isinstance(view, kind)]


def test_a_message_is_typed_sent_answered_and_shown(grus: Opened) -> None:
    pane = send(grus, "Hello there", REPLY)
    assert views(pane, UserTextWidget)[0].text.toPlainText() == "Hello there"
    prose = views(pane, ProseWidget)
    assert "Some words, see there." in prose[0].text.toPlainText()
    code = views(pane, CodeWidget)[0]
    assert code.language.text() == "python"
    grus.qtbot.mouseClick(code.copy, LEFT)
    assert QGuiApplication.clipboard().text() == 'print("hello")'
    assert views(pane, FooterWidget)[0].view.figures.startswith("121 tokens")  # under "…"
    assert pane.composer.field.toPlainText() == ""
    assert pane.conversation_list.lines[1].title == "Hello there"


def test_shift_enter_breaks_the_line(grus: Opened) -> None:
    field = chat(grus).composer.field
    grus.qtbot.keyClicks(field, "a")
    grus.qtbot.keyClick(field, Qt.Key.Key_Return, SHIFT)
    grus.qtbot.keyClicks(field, "b")
    assert field.toPlainText() == "a\nb"


def test_nested_lists_are_indented(grus: Opened) -> None:
    pane = send(grus, "List", "1. one\n   - inner\n     - deeper\n2. two")
    block = views(pane, ProseWidget)[0].text.document().begin()
    indents = []
    while block.isValid():
        if block.textList() is not None:
            indents.append((block.text(), block.textList().format().indent()))
        block = block.next()
    assert indents == [("one", 1), ("inner", 2), ("deeper", 3), ("two", 1)]


def test_links_open_outside_and_only_to_the_web(grus: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(message_view.QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    pane = send(grus, "Link", REPLY)
    view = views(pane, ProseWidget)[0].text
    view.anchorClicked.emit(QUrl("https://example.org/x"))
    asked = grus.window.findChild(QMessageBox)
    assert (asked.text(), opened) == ("https://example.org/x", [])
    asked.accept()
    view.anchorClicked.emit(QUrl("file:///etc/passwd"))
    assert opened == ["https://example.org/x"]


def test_stop_by_escape_and_continue_by_shortcut(grus: Opened) -> None:
    pane = chat(grus)
    grus.engine.pause = 0.02
    grus.engine.reply = "word " * 200
    grus.qtbot.keyClicks(pane.composer.field, "Talk")
    grus.qtbot.mouseClick(pane.composer.go, LEFT)
    grus.until(lambda: pane.talk.path and len(pane.talk.path[-1].text) > 10)
    assert pane.composer.go.accessibleName() == "Stop (Esc)"
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Escape)
    grus.until(lambda: not pane.talk.writing)
    said = pane.talk.path[-1]
    assert said.state == "stopped"
    assert grus.engine.cancelled
    grus.engine.pause, grus.engine.reply = 0.0, "and on."
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Return, CTRL | SHIFT)
    grus.until(lambda: pane.talk.path[-1].text.endswith("and on."))
    assert pane.talk.path[-1].text == said.text + "and on."


def test_edit_makes_a_branch_and_arrows_walk_between(grus: Opened) -> None:
    pane = send(grus, "Old", "First.")
    said = views(pane, UserTextWidget)[0]
    grus.qtbot.mouseClick(said.bar.buttons["edit"], LEFT)
    assert pane.composer.field.toPlainText() == "Old"
    grus.qtbot.keyClicks(pane.composer.field, " and new")
    grus.engine.reply = "Second."
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Return)
    grus.until(lambda: [m.text for m in pane.talk.path] == ["Old and new", "Second."])
    grus.until(lambda: not pane.talk.writing)
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Left, ALT)
    assert [m.text for m in pane.talk.path] == ["Old", "First."]
    said = views(pane, UserTextWidget)[0]
    assert said.bar.which.text() == "1/2"
    grus.qtbot.mouseClick(said.bar.after, LEFT)
    assert [m.text for m in pane.talk.path] == ["Old and new", "Second."]


def test_escape_ends_an_edit_and_changes_nothing(grus: Opened) -> None:
    pane = send(grus, "Question")
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_E, CTRL)
    assert pane.composer.mode.isVisible()
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Escape)
    assert not pane.composer.mode.isVisible()
    assert pane.composer.field.toPlainText() == ""
    assert len(pane.talk.tree) == 2


@pytest.mark.parametrize("end", [Qt.Key.Key_Escape, Qt.Key.Key_Return])
def test_a_draft_is_there_again_after_an_edit(grus: Opened, end: Qt.Key) -> None:
    pane = send(grus, "Question")
    grus.qtbot.keyClicks(pane.composer.field, "half a thought")
    grus.qtbot.mouseClick(views(pane, UserTextWidget)[0].bar.buttons["edit"], LEFT)
    assert pane.composer.field.toPlainText() == "Question"
    grus.qtbot.keyClick(pane.composer.field, end)
    grus.until(lambda: not pane.talk.writing)
    grus.settle()
    assert pane.composer.field.toPlainText() == "half a thought"
    kept_text = grus.context.store.ask(lambda db: records.draft(db, str(pane.talk.id))).result().text
    assert kept_text == "half a thought"


def test_answer_again_by_button(grus: Opened) -> None:
    pane = send(grus, "Q", "First.")
    grus.engine.reply = "Second."
    grus.qtbot.mouseClick(views(pane, FooterWidget)[0].bar.buttons["regenerate"], LEFT)
    grus.until(lambda: pane.talk.path[-1].text == "Second.")
    assert pane.talk.versions(pane.talk.path[-1].id) == (2, 2)


def test_a_failure_is_shown_where_the_answer_would_be(grus: Opened) -> None:
    grus.engine.error = OutOfMemory("There is no room for this. Close another model.")
    pane = send(grus, "Q")
    foot = views(pane, FooterWidget)[0]
    assert foot.summary.text() == "There is no room for this. Close another model."
    assert foot.summary.property("level") == "error"


def test_files_are_dropped_and_pasted_into_the_message(grus: Opened, tmp_path: Path) -> None:
    pane = chat(grus)
    file = tmp_path / "notes.txt"
    file.write_text("The crane stands on one leg.")
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(str(file))])
    pane.composer.field.insertFromMimeData(dropped)
    pasted = QMimeData()
    picture = QImage(8, 8, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.red)
    pasted.setImageData(picture)
    pane.composer.field.insertFromMimeData(pasted)
    grus.until(lambda: len(pane.draft.files) == 2)
    assert {file.kind for file in pane.draft.files} == {"text", "image"}
    image = next(file for file in pane.draft.files if file.kind == "image")
    pane.draft.remove(image)
    pane = send(grus, "Which leg?")
    prompt = grus.engine.requests[-1].prompt_ids
    text = grus.engine.models_loaded["tiny"].tokenizer.decode(prompt)
    assert "The crane stands on one leg." in text
    assert views(pane, UserTextWidget)[0].files.text().startswith("notes.txt")


def test_sound_needs_a_model_that_listens_and_is_written_down_then(grus: Opened, tmp_path: Path) -> None:
    pane = chat(grus)
    sound = tmp_path / "memo.wav"
    sound.write_bytes(b"RIFF")
    pane.draft.add([sound])
    grus.until(lambda: grus.window.notice.sentence.text())
    assert "No speech recognition model is installed" in grus.window.notice.sentence.text()
    assert pane.draft.files == []
    pane.draft._files._transcribe = lambda file, then, failed: then("Cranes call at dawn.")
    pane.draft.add([sound])
    grus.until(lambda: pane.draft.files)
    assert pane.draft.files[0].text == "Cranes call at dawn."


def test_a_model_that_hears_gets_the_sound_itself(grus: Opened, tmp_path: Path) -> None:
    pane = chat(grus)
    grus.until(lambda: "tiny" in pane.model_box.abilities)
    pane.model_box.abilities["tiny"] = frozenset({"chat", "hear"})
    sound = tmp_path / "memo.wav"
    sound.write_bytes(b"RIFF")
    pane.draft.add([sound])
    grus.until(lambda: pane.draft.files)
    assert (pane.draft.files[0].kind, pane.draft.files[0].text) == ("sound", "")
    (made,) = for_model("", [StoredMessage(1, None, "user", "What is said?", attachments=tuple(pane.draft.files))])
    assert [part["type"] for part in made["content"]] == ["audio", "text"]


def test_a_picture_for_a_text_model_is_said_when_attached_and_loses_nothing(grus: Opened) -> None:
    pane = chat(grus)
    grus.until(lambda: "tiny" in pane.model_box.abilities)
    picture = QImage(8, 8, QImage.Format.Format_RGB32)
    pasted = QMimeData()
    pasted.setImageData(picture)
    pane.composer.field.insertFromMimeData(pasted)
    grus.until(lambda: pane.draft.files)
    assert pane.picture_bar.sentence.text() == "tiny does not support images."
    assert pane.picture_bar.other.text() == "Get a vision model"
    grus.context.core.read_text = lambda file, then, failed: then("Cranes call at dawn.")
    grus.qtbot.mouseClick(pane.picture_bar.read, LEFT)
    grus.until(lambda: pane.draft.files[0].text)
    assert "receives the text" in pane.picture_bar.sentence.text()
    send(grus, "What is this?")
    decode = grus.engine.models_loaded["tiny"].tokenizer.decode
    assert "Cranes call at dawn." in decode(grus.engine.requests[-1].prompt_ids)
    send(grus, "And now?")  # every later message is answered, too
    assert [m.state for m in pane.talk.path] == ["done"] * 4
    assert grus.context.store.ask(lambda db: records.draft(db, str(pane.talk.id))).result().attachments == ()


def test_a_file_that_cannot_be_read_is_told_above_the_field(grus: Opened, tmp_path: Path) -> None:
    pane = chat(grus)
    file = tmp_path / "x.bin"
    file.write_bytes(b"\0\0\0")
    pane.draft.add([file])
    grus.until(lambda: grus.window.notice.sentence.text())
    assert "not supported" in grus.window.notice.sentence.text()


def test_everything_is_there_after_a_restart(open_grus: Callable[..., Opened]) -> None:
    grus = open_grus()
    send(grus, "Remember me", "I will.")
    pane = chat(grus)
    grus.qtbot.keyClicks(pane.composer.field, "half a thou")
    grus.settle()
    grus = open_grus()
    pane = chat(grus)
    grus.until(lambda: pane.talk.path)
    grus.until(lambda: pane.composer.field.toPlainText())
    assert [m.text for m in pane.talk.path] == ["Remember me", "I will."]
    assert pane.composer.field.toPlainText() == "half a thou"


def test_what_is_typed_while_the_first_message_is_stored_stays(grus: Opened) -> None:
    pane = chat(grus)
    grus.qtbot.keyClicks(pane.composer.field, "First")
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Return)
    grus.qtbot.keyClicks(pane.composer.field, "next")
    grus.until(lambda: pane.talk.path and not pane.talk.writing)
    grus.settle()
    assert pane.composer.field.toPlainText() == "next"
    kept_text = grus.context.store.ask(lambda db: records.draft(db, str(pane.talk.id))).result().text
    assert kept_text == "next"


def test_conversations_are_searched_stepped_through_and_deleted_with_undo(grus: Opened) -> None:
    pane = send(grus, "About cranes", "They dance.")
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_N, CTRL)
    assert pane.talk.path == []
    send(grus, "About herons", "They wait.")
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_PageDown, CTRL)
    grus.until(lambda: pane.talk.path and pane.talk.path[0].text == "About cranes")
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_F, CTRL)
    grus.qtbot.keyClicks(pane.conversation_list_view.field, "wait")
    grus.until(lambda: len(pane.conversation_list.lines) == 2)
    assert pane.conversation_list.lines[1].title == "About herons"
    pane.conversation_list_view.field.clear()
    grus.until(lambda: len(pane.conversation_list.lines) == 3)
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Backspace, CTRL | SHIFT)
    grus.until(lambda: len(pane.conversation_list.lines) == 2)
    grus.qtbot.mouseClick(grus.window.notice.undo, LEFT)
    grus.until(lambda: len(pane.conversation_list.lines) == 3)


def test_a_conversation_is_renamed_in_its_place(grus: Opened) -> None:
    pane = send(grus, "Old name")
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_F2)
    editor = QApplication.focusWidget()
    assert editor is not None
    editor.setText("New name")  # type: ignore[attr-defined]
    grus.qtbot.keyClick(editor, Qt.Key.Key_Return)
    grus.until(lambda: pane.conversation_list.lines and pane.conversation_list.lines[1].title == "New name")


def test_export_and_import(grus: Opened, tmp_path: Path) -> None:
    pane = send(grus, "Question", REPLY)
    id = pane.talk.id
    assert id is not None
    for kind in ("md", "json", "pdf"):
        pane.files.write(id, kind, tmp_path / f"out.{kind}")
    grus.until(lambda: all((tmp_path / f"out.{kind}").exists() for kind in ("md", "json", "pdf")))
    grus.until(lambda: "Saved" in grus.window.notice.sentence.text())
    assert (tmp_path / "out.md").read_text().startswith("# Question")
    grus.until(lambda: (tmp_path / "out.pdf").read_bytes().startswith(b"%PDF"))
    pane.files.read(tmp_path / "out.json", pane.imported)
    grus.until(lambda: pane.talk.id != id)
    assert [m.role for m in pane.talk.path] == ["user", "assistant"]


def test_settings_of_a_conversation_reach_the_engine(grus: Opened) -> None:
    pane = chat(grus)
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Period, CTRL)
    assert pane.panel.isVisible()
    grus.qtbot.keyClicks(pane.panel.system, "Answer in verse.")
    grus.qtbot.keyClicks(pane.panel.fields["temperature"], "0.3")
    grus.qtbot.keyClicks(pane.panel.fields["max_tokens"], "9")
    grus.qtbot.keyClicks(pane.panel.fields["reasoning_tokens"], "40")
    pane.panel.name.setText("Poet")
    grus.qtbot.keyClick(pane.panel.name, Qt.Key.Key_Return)
    grus.until(lambda: pane.panel.preset.findText("Poet") >= 0)
    send(grus, "Hi")
    request = grus.engine.requests[-1]
    assert (request.sampling.temperature, request.sampling.max_tokens) == (0.3, 9)
    assert request.sampling.reasoning is not None
    assert request.sampling.reasoning.tokens == 40
    assert "Answer in verse." in grus.engine.models_loaded["tiny"].tokenizer.decode(request.prompt_ids)
    pane.begin()
    assert pane.panel.fields["temperature"].text() == ""
    pane.panel._take_preset(pane.panel.preset.findText("Poet"))
    assert pane.talk.head.system == "Answer in verse."


def test_an_impossible_number_is_told_and_not_taken(grus: Opened) -> None:
    pane = chat(grus)
    pane.toggle_panel()
    grus.qtbot.keyClicks(pane.panel.fields["temperature"], "9")
    assert "between 0 and 2" in pane.panel.problem.text()
    assert "temperature" not in pane.talk.head.sampling


def test_another_model_is_chosen(open_grus: Callable[..., Opened]) -> None:
    grus = open_grus(names=("tiny", "other"))
    pane = chat(grus)
    grus.until(lambda: "other" in pane.model_box.known)
    pane.model_box.pick("other")
    send(grus, "Hi")
    assert grus.engine.requests[-1].model == "other"
    assert pane.talk.path[-1].model == "other"


def test_adapters_are_listed_beneath_their_model(open_grus: Callable[..., Opened]) -> None:
    grus = open_grus(names=("tiny", "other"))
    catalogue = grus.window.context.core.service.catalogue
    catalogue.adapters = {"tiny": {"sql": "./sql", "law": "./law"}}
    pane = chat(grus)
    pane.model_box.look()
    grus.until(lambda: pane.model_box.known == ["tiny", "tiny:sql", "tiny:law", "other"])
    assert [pane.model_box.itemText(i) for i in range(4)] == pane.model_box.known


def test_formulas_are_drawn_in_their_line(grus: Opened) -> None:
    pane = send(grus, "Formula", "Here $x^2$ and\n\n$$\\frac{a}{b}$$\n")

    def drawn() -> int:
        return sum(view.text.toPlainText().count("\ufffc") for view in views(pane, ProseWidget))

    grus.until(lambda: drawn() == 2)


def test_messages_are_walked_by_keyboard_and_copied(grus: Opened) -> None:
    pane = send(grus, "First question", "First answer.")
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Up, ALT)
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Up, ALT)
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_C, CTRL | SHIFT)
    assert QGuiApplication.clipboard().text() == "First question"


def test_the_end_stays_in_sight_unless_a_person_scrolls(grus: Opened) -> None:
    pane = send(grus, "Long", "A line of words.\n\n" * 120)
    bar = pane.transcript.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    bar.setValue(0)
    assert not pane.transcript.stick
    first = views(pane, UserTextWidget)[0]
    assert first.text.toPlainText() == "Long"
    assert first.mapTo(pane.transcript.viewport(), QPoint(0, 0)).y() >= 0


def test_only_what_is_in_sight_has_widgets(grus: Opened) -> None:
    pane = send(grus, "Very long", ("word " * 300 + "\n\n") * 2)
    pane.talk.tree.put(replace(pane.talk.path[-1], text=("word " * 300 + "\n\n") * 60))
    pane.talk.changed()
    transcript = pane.transcript
    assert len(transcript.views) > 30
    assert len(transcript.widgets) < 15
    for value in range(transcript.verticalScrollBar().maximum(), 0, -900):
        transcript.verticalScrollBar().setValue(value)
    made = sum(len(spare) for spare in transcript._spare.values()) + len(transcript.widgets)
    assert made < 25
    tops = [view.y() for _, view in sorted(transcript.widgets.items())]
    assert tops == sorted(tops)
