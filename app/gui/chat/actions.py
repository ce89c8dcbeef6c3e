"""The chat pane's actions: their table, context menus, and export and import of conversations as files."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, Qt, QUrl
from PySide6.QtGui import QCursor, QImage, QPageLayout, QPageSize, QPainter, QPdfWriter, QTextDocument
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QMenu, QWidget

from app.gui.actions import ActionSpec
from app.gui.dialogs import choose_files, choose_target
from app.gui.pane import AppContext
from app.gui.store import conversations, messages
from app.gui.store.conversations import ConversationHead
from app.gui.store.messages import StoredMessage
from app.gui.texts import mark, tr
from app.gui.viewmodels.chat import exchange
from app.gui.viewmodels.chat.conversation import MessageTree
from app.gui.viewmodels.chat.conversation_list import ConversationLine
from app.gui.viewmodels.chat.highlight import draw
from app.gui.viewmodels.chat.markdown import Formula, as_source, pieces
from app.gui.viewmodels.chat.message_views import figures_of
from app.gui.viewmodels.chat.preview import kind_of
from app.gui.viewmodels.transfer import Transfer
from app.runtime.imports.exports import is_export
from engine.whole_file import whole_file

ACTIONS = (
    ActionSpec("new", mark("New conversation"), "Ctrl+N", "compose", lambda chat: chat.pane.begin()),
    ActionSpec("new_project", mark("New project"), "Ctrl+Alt+N", "folder", lambda chat: chat.pane.projects.add()),
    ActionSpec("project", mark("Project settings"), "Ctrl+Alt+P", "folder", lambda chat: chat.pane.projects.show_own_settings()),
    ActionSpec("search", mark("Search in all conversations"), "Ctrl+F", "search", lambda chat: chat.pane.search()),
    ActionSpec("find", mark("Find in this conversation"), "Ctrl+Shift+F", "search", lambda chat: chat.pane.find_bar.open()),
    ActionSpec("latest", mark("Jump to the latest message"), "Ctrl+End", "down", lambda chat: chat.pane.transcript.to_end()),
    ActionSpec("type", mark("Go to the message field"), "Ctrl+L", "", lambda chat: chat.pane.composer.field.setFocus()),
    ActionSpec("above", mark("Previous conversation"), "Ctrl+PgUp", "", lambda chat: chat.pane.step(-1)),
    ActionSpec("below", mark("Next conversation"), "Ctrl+PgDown", "", lambda chat: chat.pane.step(1)),
    ActionSpec("rename", mark("Rename the conversation"), "F2", "edit", lambda chat: chat.on_open(chat.pane.rename)),
    ActionSpec("pin", mark("Pin or unpin the conversation"), "Ctrl+Shift+P", "pin", lambda chat: chat.on_open(chat.pin)),
    ActionSpec("duplicate", mark("Duplicate the conversation"), "Ctrl+D", "copy", lambda chat: chat.on_open(chat.duplicate)),
    ActionSpec("delete", mark("Delete the conversation"), "Ctrl+Shift+Backspace", "trash", lambda chat: chat.on_open(chat.pane.conversation_list.delete)),
    ActionSpec("export_md", mark("Export as Markdown"), "Ctrl+S", "save", lambda chat: chat.on_open(chat.exports("md"))),
    ActionSpec("export_json", mark("Export as JSON"), "Ctrl+Shift+S", "save", lambda chat: chat.on_open(chat.exports("json"))),
    ActionSpec("export_pdf", mark("Export as PDF"), "Ctrl+P", "save", lambda chat: chat.on_open(chat.exports("pdf"))),
    ActionSpec("export_all", mark("Export all conversations"), "Ctrl+Alt+S", "download", lambda chat: chat.pane.files.export_all()),
    ActionSpec("import", mark("Import conversation"), "Ctrl+O", "upload", lambda chat: chat.pane.files.choose_import(chat.pane.imported)),
    ActionSpec("attach", mark("Attach files"), "Ctrl+Shift+A", "attach", lambda chat: chat.attach()),
    ActionSpec("libraries", mark("Use a library"), "Ctrl+Shift+I", "libraries", lambda chat: chat.pane.uses.choose_libraries()),
    ActionSpec("tools", mark("Use tools"), "Ctrl+Shift+U", "tool", lambda chat: chat.pane.uses.choose_tools()),
    ActionSpec("resource", mark("Attach a resource"), "Ctrl+Alt+A", "attach", lambda chat: chat.pane.uses.attach_resource()),
    ActionSpec("prompt", mark("Use a prompt"), "Ctrl+Alt+I", "tool", lambda chat: chat.pane.uses.use_prompt()),
    ActionSpec("dictate", mark("Dictate"), "Ctrl+Shift+V", "mic", lambda chat: chat.pane.dictate()),
    ActionSpec("talk", mark("Talk"), "Ctrl+Shift+T", "talk", lambda chat: chat.pane.talk_aloud()),
    ActionSpec("interrupt", mark("Interrupt the voice"), "Ctrl+Shift+X", "", lambda chat: chat.pane.talk_bar.handsfree.interrupt()),
    ActionSpec("model", mark("Choose the model"), "Ctrl+M", "models", lambda chat: chat.pane.model_box.showPopup()),
    ActionSpec("compare", mark("Compare models"), "Ctrl+Alt+C", "compare", lambda chat: chat.pane.uses.choose_compared(chat.pane.compare_button, chat.pane.model_box.known or ())),
    ActionSpec("compare_1", mark("Continue with the first reply"), "Ctrl+Alt+1", "", lambda chat: chat.pane.go_on_with(0)),
    ActionSpec("compare_2", mark("Continue with the second reply"), "Ctrl+Alt+2", "", lambda chat: chat.pane.go_on_with(1)),
    ActionSpec("compare_3", mark("Continue with the third reply"), "Ctrl+Alt+3", "", lambda chat: chat.pane.go_on_with(2)),
    ActionSpec("panel", mark("System prompt and sampling"), "Ctrl+.", "sliders", lambda chat: chat.pane.toggle_panel()),
    ActionSpec("before", mark("Previous message"), "Alt+Up", "", lambda chat: chat.pane.choose(-1)),
    ActionSpec("after", mark("Next message"), "Alt+Down", "", lambda chat: chat.pane.choose(1)),
    ActionSpec("copy", mark("Copy the message"), "Ctrl+Shift+C", "copy", lambda chat: chat.on_message(chat.copy)),
    ActionSpec("copy_code", mark("Copy the last code"), "Ctrl+Shift+K", "copy", lambda chat: chat.on_message(chat.copy_code)),
    ActionSpec("preview", mark("Preview the last code"), "Ctrl+Alt+V", "eye", lambda chat: chat.on_message(chat.preview_code)),
    ActionSpec("preview_before", mark("Previous version of the preview"), "Ctrl+Alt+Left", "", lambda chat: chat.pane.preview.turn(-1)),
    ActionSpec("preview_after", mark("Next version of the preview"), "Ctrl+Alt+Right", "", lambda chat: chat.pane.preview.turn(1)),
    ActionSpec("preview_run", mark("Run or open the preview"), "Ctrl+Alt+Return", "", lambda chat: chat.pane.preview_panel.run()),
    ActionSpec("edit", mark("Edit the message"), "Ctrl+E", "edit", lambda chat: chat.on_message(chat.edit, "user")),
    ActionSpec("regenerate", mark("Regenerate"), "Ctrl+R", "retry", lambda chat: chat.on_message(chat.pane.talk.regenerate)),
    ActionSpec("continue", mark("Continue the answer"), "Ctrl+Shift+Return", "continue", lambda chat: chat.on_message(chat.pane.talk.go_on)),
    ActionSpec("remove", mark("Delete the message"), "Ctrl+Shift+D", "trash", lambda chat: chat.on_message(chat.pane.talk.remove)),
    ActionSpec("version_before", mark("Previous branch"), "Alt+Left", "left", lambda chat: chat.turn(-1)),
    ActionSpec("version_after", mark("Next branch"), "Alt+Right", "right", lambda chat: chat.turn(1)),
    ActionSpec("fold", mark("Show or hide reasoning"), "Ctrl+T", "thought", lambda chat: chat.on_message(chat.pane.fold)),
)  # fmt: skip


class ChatActions:
    """Each action works on the chosen message, or on the last; on the open conversation, where it is about one."""

    def __init__(self, pane: Any) -> None:  # the ChatPane, whose file imports this one
        self.pane = pane
        registry, group = pane.context.actions, tr("Chat")
        registry.note(group, tr("Send"), "Enter")
        registry.note(group, tr("New line"), "Shift+Enter")
        registry.add_table(pane, "chat", group, ACTIONS, self)

    # -- on which message, on which conversation

    def on_message(self, run: Callable[[int], Any], role: str = "assistant") -> None:
        pane = self.pane
        chosen = pane.transcript.chosen
        if chosen is None or chosen not in pane.talk.tree:
            last = next((m for m in reversed(pane.talk.path) if m.role == role), None)
            chosen = last.id if last is not None else None
        if chosen is not None:
            run(chosen)

    def on_open(self, run: Callable[[int], Any]) -> None:
        if self.pane.talk.id is not None:
            run(self.pane.talk.id)

    def turn(self, by: int) -> None:
        """The chosen message's version, else that of the last message that has several."""
        talk = self.pane.talk
        chosen = self.pane.transcript.chosen
        if chosen in talk.tree and chosen is not None:
            talk.turn(chosen, by)
            return
        several = next((m for m in reversed(talk.path) if talk.versions(m.id)[1] > 1), None)
        if several is not None:
            talk.turn(several.id, by)

    # -- what they do

    def perform(self, what: str, message: int, *more: Any) -> None:
        """What a button in a row asks for."""
        talk, pane = self.pane.talk, self.pane
        if what == "work":
            job, then = more
            pane.context.work.think(job, then)
        elif what == "copy_text":
            self.pane.context.copy(more[0])
        else:
            actions: dict[str, Callable[..., Any]] = {
                "copy": self.copy,
                "edit": self.edit,
                "regenerate": talk.regenerate,
                "continue": talk.go_on,
                "delete": talk.remove,
                "turn": talk.turn,
                "fold": pane.fold,
                "fold_call": pane.fold_call,
                "permit": pane.permit,
                "answer": pane.answer_call,
                "show": self.show,
                "figures": self.figures,
                "passage": pane.open_passage,
                "preview": pane.preview.open,
            }
            actions[what](message, *more)

    def show(self, id: int, action: str) -> None:
        """What the Guide speaks of: its pane is opened, and its key pressed."""
        context, pane = self.pane.context, action.partition(".")[0]
        if pane not in ("window", "pane"):
            context.open_pane(pane)
        context.actions[action].trigger()

    def figures(self, id: int) -> None:
        """Tokens and time of a reply, and whether they are shown under every one."""
        menu = QMenu(self.pane)
        for line in figures_of(self.pane.talk.tree[id]).split(" · "):
            menu.addAction(line).setEnabled(False)
        menu.addSeparator()
        menu.addAction(tr("Show under every reply"), lambda: self.pane.context.preferences.put("chat.figures", True))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(QCursor.pos())

    def copy(self, id: int) -> None:
        self.pane.context.copy(self.pane.talk.tree[id].text)

    def copy_code(self, id: int) -> None:
        blocks = [piece.text for piece in pieces(self.pane.talk.tree[id].text) if piece.kind == "code"]
        if blocks:
            self.pane.context.copy(blocks[-1])

    def preview_code(self, id: int) -> None:
        """The last block of the message that has a preview."""
        codes = [piece for piece in pieces(self.pane.talk.tree[id].text) if piece.kind == "code"]
        for piece in reversed(codes):
            if kind_of(piece.language, piece.text) is not None:
                self.pane.preview.open(id, piece.language, piece.text)
                return

    def edit(self, id: int) -> None:
        self.pane.edit(id)

    def pin(self, id: int) -> None:
        line = next((line for line in self.pane.conversation_list.all if line.id == id), None)
        if line is not None:
            self.pane.conversation_list.pin(id, not line.pinned)

    def duplicate(self, id: int) -> None:
        self.pane.conversation_list.duplicate(id, self.pane.talk.open)

    def exports(self, kind: str) -> Callable[[int], Any]:
        return lambda id: self.pane.files.export(id, kind)

    def attach(self) -> None:
        choose_files(self.pane, tr("Attach files"), self.pane.draft.add)

    # -- menus

    def list_menu(self, line: ConversationLine, where: Any) -> None:
        pane, conversation_list = self.pane, self.pane.conversation_list
        menu = QMenu(pane)
        if (project := line.project) is not None:
            menu.addAction(tr("New conversation in this project"), lambda: pane.begin(project))
            menu.addAction(tr("Project settings…"), lambda: pane.projects.show_settings(project.id))
            menu.addAction(tr("Rename the project"), lambda: pane.conversation_list_view.edit_project(project.id))
            menu.addAction(tr("Remove the project"), lambda: conversation_list.remove_project(project.id))
            menu.popup(where)
            return
        assert line.conversation is not None
        id, summary = line.conversation.id, line.conversation
        menu.addAction(tr("Rename"), lambda: pane.conversation_list_view.edit_name(id))
        menu.addAction(
            tr("Unpin") if summary.pinned else tr("Pin"), lambda: conversation_list.pin(id, not summary.pinned)
        )
        projects = menu.addMenu(tr("Move to"))
        for one in conversation_list.projects:
            projects.addAction(one.name.replace("&", "&&"), partial(conversation_list.move, id, one.id))
        if conversation_list.projects:
            projects.addSeparator()
        ask = pane.conversation_list_view.edit_project  # its name, in its place
        projects.addAction(tr("New project…"), lambda: conversation_list.add_project(tr("New project"), ask, id))
        if conversation_list.project(summary.project) is not None:
            projects.addAction(tr("No project"), lambda: conversation_list.move(id, None))
        menu.addAction(tr("Duplicate"), lambda: self.duplicate(id))
        export = menu.addMenu(tr("Export"))
        for kind, title in (("md", tr("Markdown")), ("html", tr("HTML")), ("json", tr("JSON")), ("pdf", tr("PDF"))):
            export.addAction(title, partial(pane.files.export, id, kind))
        menu.addSeparator()
        menu.addAction(tr("Delete"), lambda: conversation_list.delete(id))
        menu.popup(where)

    def message_menu(self, id: int, where: Any) -> None:
        talk = self.pane.talk
        if id not in talk.tree:
            return
        message: StoredMessage = talk.tree[id]
        menu = QMenu(self.pane)
        menu.addAction(tr("Copy"), lambda: self.copy(id))
        if not talk.writing:
            if message.role != "tool":
                menu.addAction(tr("Edit"), lambda: self.edit(id))
            menu.addAction(tr("Regenerate"), lambda: talk.regenerate(id))
            if message.role == "assistant":
                menu.addAction(tr("Continue"), lambda: talk.go_on(id))
            menu.addSeparator()
            menu.addAction(tr("Delete"), lambda: talk.remove(id))
        menu.popup(where)


_ENDINGS = {"md": "Markdown (*.md)", "html": "HTML (*.html)", "json": "JSON (*.json)", "pdf": "PDF (*.pdf)"}


class Files:
    def __init__(self, context: AppContext, window: QWidget) -> None:
        self._context, self._window = context, window
        data, preferences = context.places.data, context.preferences
        self._transfer = Transfer(context.store, context.work, preferences, data, context.say, context.reread)

    def export(self, id: int, kind: str) -> None:
        """Ask where to, then write."""

        def ask(found: tuple[ConversationHead | None, list[StoredMessage]]) -> None:
            head = found[0]
            if head is None:
                return
            then = lambda file: self.write(id, kind, file)  # noqa: E731
            title, name = tr("Export the conversation"), _file_name(head.title)
            choose_target(self._window, title, then, {kind: _ENDINGS[kind]}, name)

        self._context.store.ask(lambda db: (conversations.head(db, id), messages.all_of(db, id)), ask)

    def write(self, id: int, kind: str, file: Path) -> None:
        def make(found: tuple[ConversationHead | None, list[StoredMessage]]) -> None:
            head, every = found
            if head is None:
                return
            tree = MessageTree(every)
            path = tree.path(head.leaf if head.leaf in tree else tree.newest_leaf(tree.last))

            def save() -> Path:
                written = {"html": exchange.as_html, "md": exchange.as_markdown}
                if kind == "pdf":
                    data = as_pdf(head, path)
                else:
                    text = exchange.as_json(head, every) if kind == "json" else written[kind](head, path)
                    data = text.encode()
                with whole_file(file) as part:
                    part.write_bytes(data)
                return file

            self._context.save(save)

        self._context.store.ask(lambda db: (conversations.head(db, id), messages.all_of(db, id)), make)

    def export_all(self) -> None:
        then = lambda file: self._transfer.export(file, everything=False)  # noqa: E731
        choose_target(self._window, tr("Export all conversations"), then, {"zip": "ZIP (*.zip)"}, tr("Conversations"))

    def choose_import(self, then: Any) -> None:
        title = tr("Import conversation")
        choose_files(
            self._window, title, lambda files: self.read(files[0], then), "JSON, ZIP (*.json *.zip)", many=False
        )

    def read(self, file: Path, then: Any) -> None:
        """`then(id)` with the conversation that was made. A ZIP file is an archive of many, or another application's export, which
        may be JSON too."""
        if file.suffix.lower() == ".zip" or file.is_dir():
            self._transfer.take(file)
            return
        self._context.work.run(
            lambda: is_export(file),
            lambda foreign: self._transfer.take_export(file) if foreign else self._read_one(file, then),
            self._context.show_error,
        )

    def _read_one(self, file: Path, then: Any) -> None:

        def take(found: tuple[ConversationHead, list[StoredMessage]]) -> None:
            head, every = found

            def write(db: Any) -> int:
                id = conversations.create(db, head.model, head.system, head.sampling, title=head.title)
                messages.add_all(db, id, every)
                return id

            self._context.store.ask(write, then)

        self._context.work.run(
            lambda: exchange.read_json(file.read_text(encoding="utf-8")), take, self._context.show_error
        )


_SHARP = 4  # pixels of a formula's picture for one of the page


def as_pdf(head: ConversationHead, path: Sequence[StoredMessage]) -> bytes:
    """By way of memory, since Qt does not say when a disk is full."""
    document = QTextDocument()

    def formula(each: Formula) -> str:
        drawing = draw(each.tex, each.display, exchange.SIZE, "#18181B")
        if drawing is None:
            return as_source(each)
        image = QImage(
            ceil(drawing.width * _SHARP), ceil(drawing.height * _SHARP), QImage.Format.Format_ARGB32_Premultiplied
        )
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        QSvgRenderer(QByteArray(drawing.svg.encode())).render(painter)
        painter.end()
        name = f"formula:{hash(each)}"
        document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name), image)
        return f'<img src="{name}" width="{drawing.width:.0f}" height="{drawing.height:.0f}" style="vertical-align:middle">'

    document.setHtml(exchange.as_html(head, path, formula))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(head.title)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF(20, 20, 20, 20), QPageLayout.Unit.Millimeter)
    writer.setResolution(96)
    document.setPageSize(writer.pageLayout().paintRectPixels(96).size().toSizeF())
    document.print_(writer)
    return bytes(buffer.data().data())


def _file_name(title: str) -> str:
    return re.sub(r"[^\w \-]+", "", title).strip()[:60] or tr("Conversation")
