"""The chat pane's actions: their names, shortcuts and what they do. Each works on the chosen message, or on the last."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu

from app.gui.store.messages import Message
from app.gui.texts import tr
from app.gui.viewmodels.chat.markdown import pieces
from app.gui.viewmodels.chat.shelf import Line

if TYPE_CHECKING:
    from app.gui.chat.pane import ChatPane


class Deeds:
    def __init__(self, pane: ChatPane) -> None:
        self.pane = pane
        self._add_all()

    def _add_all(self) -> None:
        pane, actions = self.pane, self.pane.desk.actions
        group, talk = tr("Chat"), self.pane.talk

        def add(name: str, title: str, run: Callable[[], Any], keys: str, icon: str = "") -> None:
            actions.add(pane, f"chat.{name}", title, run, keys, group, icon)

        actions.note(group, tr("Send"), "Enter")
        actions.note(group, tr("New line"), "Shift+Enter")
        add("new", tr("New conversation"), pane.begin, "Ctrl+N", "compose")
        add("search", tr("Search in all conversations"), pane.search, "Ctrl+F", "search")
        add("type", tr("Go to the message field"), pane.composer.field.setFocus, "Ctrl+L")
        add("above", tr("Conversation above"), lambda: pane.step(-1), "Ctrl+PgUp")
        add("below", tr("Conversation below"), lambda: pane.step(1), "Ctrl+PgDown")
        add("rename", tr("Rename the conversation"), self._on_open(pane.rename), "F2", "edit")
        add("pin", tr("Pin or unpin the conversation"), self._on_open(self.pin), "Ctrl+Shift+P", "pin")
        add("duplicate", tr("Duplicate the conversation"), self._on_open(self.duplicate), "Ctrl+D", "copy")
        add("delete", tr("Delete the conversation"), self._on_open(pane.shelf.delete), "Ctrl+Shift+Backspace", "trash")
        add("export_md", tr("Export as markdown"), self._on_open(self._exports("md")), "Ctrl+S", "save")
        add("export_json", tr("Export as JSON"), self._on_open(self._exports("json")), "Ctrl+Shift+S", "save")
        add("export_pdf", tr("Export as PDF"), self._on_open(self._exports("pdf")), "Ctrl+P", "save")
        add("import", tr("Import a conversation"), lambda: pane.files.choose_import(pane.imported), "Ctrl+O", "upload")
        add("attach", tr("Attach files"), self.attach, "Ctrl+Shift+A", "attach")
        add("dictate", tr("Dictate"), pane.dictate, "Ctrl+Shift+V", "mic")
        add("talk", tr("Talk"), pane.talk_aloud, "Ctrl+Shift+T", "talk")
        add("interrupt", tr("Interrupt the voice"), pane.talk_bar.handsfree.interrupt, "Ctrl+Shift+X")
        add("model", tr("Choose the model"), pane.model_box.showPopup, "Ctrl+M", "models")
        add("panel", tr("System prompt and sampling"), pane.toggle_panel, "Ctrl+.", "sliders")
        add("before", tr("Message before"), lambda: pane.choose(-1), "Alt+Up")
        add("after", tr("Message after"), lambda: pane.choose(1), "Alt+Down")
        add("copy", tr("Copy the message"), lambda: self._on(self.copy), "Ctrl+Shift+C", "copy")
        add("copy_code", tr("Copy the last code"), lambda: self._on(self.copy_code), "Ctrl+Shift+K", "copy")
        add("edit", tr("Edit the message"), lambda: self._on(self.edit, "user"), "Ctrl+E", "edit")
        add("regenerate", tr("Answer again"), lambda: self._on(talk.regenerate), "Ctrl+R", "retry")
        add("continue", tr("Continue the answer"), lambda: self._on(talk.go_on), "Ctrl+Shift+Return", "continue")
        add("remove", tr("Delete the message"), lambda: self._on(talk.remove), "Ctrl+Shift+D", "trash")
        add("version_before", tr("Version before"), lambda: self._turn(-1), "Alt+Left", "left")
        add("version_after", tr("Next version"), lambda: self._turn(1), "Alt+Right", "right")
        add("fold", tr("Show or hide the thoughts"), lambda: self._on(pane.fold), "Ctrl+T", "thought")

    # -- on which message, on which conversation

    def _on(self, run: Callable[[int], Any], role: str = "assistant") -> None:
        pane = self.pane
        chosen = pane.transcript.chosen
        if chosen is None or chosen not in pane.talk.tree:
            last = next((m for m in reversed(pane.talk.path) if m.role == role), None)
            chosen = last.id if last is not None else None
        if chosen is not None:
            run(chosen)

    def _on_open(self, run: Callable[[int], Any]) -> Callable[[], Any]:
        return lambda: run(self.pane.talk.id) if self.pane.talk.id is not None else None

    def _turn(self, by: int) -> None:
        """The chosen message's version, else that of the last message that has several."""
        talk = self.pane.talk
        chosen = self.pane.transcript.chosen
        if chosen in talk.tree and chosen is not None:
            talk.turn(chosen, by)
            return
        several = next((m for m in reversed(talk.path) if talk.versions(m.id)[1] > 1), None)
        if several is not None:
            talk.turn(several.id, by)

    # -- deeds

    def perform(self, what: str, message: int, *more: Any) -> None:
        """What a button in a row asks for."""
        talk, pane = self.pane.talk, self.pane
        if what == "work":
            job, then = more
            pane.desk.work.think(job, then)
        elif what == "copy_text":
            self._copy(more[0])
        else:
            deeds: dict[str, Callable[..., Any]] = {
                "copy": self.copy,
                "edit": self.edit,
                "regenerate": talk.regenerate,
                "continue": talk.go_on,
                "delete": talk.remove,
                "turn": talk.turn,
                "fold": pane.fold,
                "answer": pane.answer_call,
            }
            deeds[what](message, *more)

    def copy(self, id: int) -> None:
        self._copy(self.pane.talk.tree[id].text)

    def copy_code(self, id: int) -> None:
        blocks = [piece.text for piece in pieces(self.pane.talk.tree[id].text) if piece.kind == "code"]
        if blocks:
            self._copy(blocks[-1])

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.pane.desk.say(tr("Copied."), level="ok")

    def edit(self, id: int) -> None:
        self.pane.edit(id)

    def pin(self, id: int) -> None:
        line = next((line for line in self.pane.shelf.all if line.id == id), None)
        if line is not None:
            self.pane.shelf.pin(id, not line.pinned)

    def duplicate(self, id: int) -> None:
        self.pane.shelf.duplicate(id, self.pane.talk.open)

    def _exports(self, kind: str) -> Callable[[int], Any]:
        return lambda id: self.pane.files.export(id, kind)

    def attach(self) -> None:
        from pathlib import Path

        dialog = QFileDialog(self.pane.window(), tr("Attach files"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda chosen: self.pane.draft.add([Path(file) for file in chosen]))
        dialog.open()

    # -- menus

    def list_menu(self, line: Line, where: Any) -> None:
        pane, shelf = self.pane, self.pane.shelf
        menu = QMenu(pane)
        if line.folder is not None:
            folder = line.folder.id
            menu.addAction(tr("Rename the folder"), lambda: pane.shelf_view.edit_folder(folder))
            menu.addAction(tr("Remove the folder"), lambda: shelf.delete_folder(folder))
            menu.popup(where)
            return
        assert line.conversation is not None
        id, summary = line.conversation.id, line.conversation
        menu.addAction(tr("Rename"), lambda: pane.shelf_view.edit_name(id))
        menu.addAction(tr("Unpin") if summary.pinned else tr("Pin"), lambda: shelf.pin(id, not summary.pinned))
        folders = menu.addMenu(tr("Move to"))
        for folder_of in shelf.folders:
            folders.addAction(folder_of.name, partial(shelf.move, id, folder_of.id))
        if shelf.folders:
            folders.addSeparator()
        folders.addAction(tr("New folder"), lambda: shelf.move_to_new(id, tr("New folder")))
        if summary.folder is not None:
            folders.addAction(tr("No folder"), lambda: shelf.move(id, None))
        menu.addAction(tr("Duplicate"), lambda: self.duplicate(id))
        export = menu.addMenu(tr("Export"))
        for kind, title in (("md", tr("Markdown")), ("json", tr("JSON")), ("pdf", tr("PDF"))):
            export.addAction(title, partial(pane.files.export, id, kind))
        menu.addSeparator()
        menu.addAction(tr("Delete"), lambda: shelf.delete(id))
        menu.popup(where)

    def message_menu(self, id: int, where: Any) -> None:
        talk = self.pane.talk
        if id not in talk.tree:
            return
        message: Message = talk.tree[id]
        menu = QMenu(self.pane)
        menu.addAction(tr("Copy"), lambda: self.copy(id))
        if not talk.writing:
            if message.role != "tool":
                menu.addAction(tr("Edit"), lambda: self.edit(id))
            menu.addAction(tr("Answer again"), lambda: talk.regenerate(id))
            if message.role == "assistant":
                menu.addAction(tr("Continue"), lambda: talk.go_on(id))
            menu.addSeparator()
            menu.addAction(tr("Delete"), lambda: talk.remove(id))
        menu.popup(where)
