"""The chat pane's actions: their table, context menus, and export and import of conversations as files."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMarginsF
from PySide6.QtGui import QGuiApplication, QPageLayout, QPageSize, QPdfWriter, QTextDocument
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app.gui.pane import Desk
from app.gui.store import conversations, messages
from app.gui.store.conversations import Head
from app.gui.store.messages import Message
from app.gui.texts import tr
from app.gui.viewmodels.chat import exchange
from app.gui.viewmodels.chat.conversation import Tree
from app.gui.viewmodels.chat.conversation_list import Line
from app.gui.viewmodels.chat.markdown import pieces

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


_ENDINGS = {"md": "Markdown (*.md)", "json": "JSON (*.json)", "pdf": "PDF (*.pdf)"}


class Files:
    def __init__(self, desk: Desk, window: QWidget) -> None:
        self._desk, self._window = desk, window

    def export(self, id: int, kind: str) -> None:
        """Ask where to, then write."""

        def ask(found: tuple[Head | None, list[Message]]) -> None:
            head = found[0]
            if head is None:
                return
            dialog = QFileDialog(self._window, tr("Export the conversation"))
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setNameFilter(_ENDINGS[kind])
            dialog.setDefaultSuffix(kind)
            dialog.selectFile(_file_name(head.title) + f".{kind}")
            dialog.fileSelected.connect(lambda chosen: self.write(id, kind, Path(chosen)))
            dialog.open()

        self._desk.store.ask(lambda db: (conversations.head(db, id), messages.all_of(db, id)), ask)

    def write(self, id: int, kind: str, file: Path) -> None:
        def make(found: tuple[Head | None, list[Message]]) -> None:
            head, every = found
            if head is None:
                return
            tree = Tree(every)
            path = tree.path(head.leaf if head.leaf in tree else tree.newest_leaf(tree.last))

            def save() -> None:
                if kind == "pdf":
                    _write_pdf(exchange.as_html(head, path), head.title, file)
                else:
                    text = exchange.as_json(head, every) if kind == "json" else exchange.as_markdown(head, path)
                    file.write_text(text, encoding="utf-8")

            self._desk.work.run(
                save, lambda _: self._desk.say(tr("Saved as {file}.", file=file), level="ok"), self._complain
            )

        self._desk.store.ask(lambda db: (conversations.head(db, id), messages.all_of(db, id)), make)

    def choose_import(self, then: Any) -> None:
        dialog = QFileDialog(self._window, tr("Import a conversation"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(_ENDINGS["json"])
        dialog.fileSelected.connect(lambda chosen: self.read(Path(chosen), then))
        dialog.open()

    def read(self, file: Path, then: Any) -> None:
        """`then(id)` with the conversation that was made."""

        def take(found: tuple[Head, list[Message]]) -> None:
            head, every = found

            def write(db: Any) -> int:
                id = conversations.create(db, head.model, head.system, head.sampling, title=head.title)
                messages.add_all(db, id, every)
                return id

            self._desk.store.ask(write, then)

        self._desk.work.run(lambda: exchange.read_json(file.read_text(encoding="utf-8")), take, self._complain)

    def _complain(self, sentence: str) -> None:
        self._desk.say(sentence, level="error")


def _write_pdf(html: str, title: str, file: Path) -> None:
    document = QTextDocument()
    document.setHtml(html)
    writer = QPdfWriter(str(file))
    writer.setTitle(title)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF(20, 20, 20, 20), QPageLayout.Unit.Millimeter)
    writer.setResolution(96)
    document.setPageSize(writer.pageLayout().paintRectPixels(96).size().toSizeF())
    document.print_(writer)
    if not file.exists():
        raise OSError(0, tr("The PDF could not be written"), str(file))


def _file_name(title: str) -> str:
    return re.sub(r"[^\w \-]+", "", title).strip()[:60] or tr("Conversation")
