"""The chat pane: the list of conversations, the open one, the message field, and the panel with its settings.

Connects views and view-models; the actions are in `actions.py`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.gui.actions import wear
from app.gui.chat.actions import ChatActions, Files
from app.gui.chat.composer import Composer, Dictation
from app.gui.chat.conversation_list import ConversationListView
from app.gui.chat.drawn import FormulaImages
from app.gui.chat.panel import Panel
from app.gui.chat.talk_bar import TalkBar
from app.gui.chat.transcript import TranscriptView
from app.gui.model_box import ModelBox
from app.gui.pane import AppContext, Pane
from app.gui.store import messages
from app.gui.store.messages import StoredMessage
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.conversation import OpenConversation
from app.gui.viewmodels.chat.conversation_list import ConversationList
from app.gui.viewmodels.chat.draft import MessageDraft, place_of
from app.gui.viewmodels.chat.markdown import IncrementalMarkdown, MessageView, MessageViews
from app.gui.widgets import EmptyState, icon_button, label


def reset(pane: ChatPane) -> None:
    pane.talk_bar.end()
    pane.dictation.stop()
    pane.talk.stop()
    pane.draft.forget()
    pane.conversation_list_view.field.clear()
    pane.begin()
    pane.transcript.redraw()  # views that wait to be used again still hold their words
    pane.conversation_list.forget()


def make(context: AppContext) -> Pane:
    return ChatPane(context)


def _later(seconds: float, run: Callable[[], None]) -> None:
    QTimer.singleShot(round(seconds * 1000), run)


class ChatPane(Pane):
    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self.talk = OpenConversation(context.store, context.core, _later, context.say)
        self.conversation_list = ConversationList(context.store, context.say, datetime.date.today)
        self.draft = MessageDraft(context.store, context.work, context.places.attachments, context.core.hear)
        self.files = Files(context, self)
        self.views = MessageViews()
        self._editing: int | None = None
        self._answering: int | None = None
        self.conversation_list_view = ConversationListView(context.look, self.conversation_list, self.begin)
        self.transcript = TranscriptView(
            context.look,
            FormulaImages(context.look, context.work),
            lambda *what: self.chat_actions.perform(*what),
            self._read,
        )
        self._shown: int | None = None  # which conversation the rows are of
        self.composer = Composer(context.look, self.draft)
        self.dictation = Dictation(context, self.composer)
        self.talk_bar = TalkBar(context, self.talk, self.composer.show_error)
        self.composer.put_above(self.talk_bar)
        self.model_box = ModelBox(context, "chat")
        self.panel = Panel(context.look, self.talk, context.store)
        self.empty = EmptyState(context.look, "crane", tr("Ask anything"), tr("The answer is made on this machine."))
        self.chat_actions = ChatActions(self)
        self._build()
        self._connect()
        context.store.ask(messages.settle)
        self.conversation_list.look()
        last = context.preferences.get("conversation")
        self.draft.open(last)
        if last is not None:
            self.talk.open(int(last))
        self._show_empty()

    def _build(self) -> None:
        self.title = label(kind="heading")
        wear(toggle := icon_button(self.context.look, "sliders", ""), self.context.actions["chat.panel"])
        wear(self.composer.attach, self.context.actions["chat.attach"])
        wear(self.composer.dictate, self.context.actions["chat.dictate"])
        wear(self.composer.talk, self.context.actions["chat.talk"])
        head = QHBoxLayout()
        head.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        head.addWidget(self.model_box)
        head.addStretch(1)
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(toggle)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self.transcript)
        middle = QWidget()
        middle.setMinimumWidth(360)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.stack, 1)
        self._composer_row = QHBoxLayout()
        self._composer_row.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID * 2)
        self._composer_row.addStretch(1)
        self._composer_row.addWidget(self.composer, 100)
        self._composer_row.addStretch(1)
        column.addLayout(self._composer_row)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        for part in (self.conversation_list_view, middle, self.panel):
            self.splitter.addWidget(part)
        self.conversation_list_view.setMinimumWidth(200)
        self.conversation_list_view.setMaximumWidth(400)
        self.panel.setMaximumWidth(400)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([*self.context.preferences.get("chat.widths", [264, 700, 300])])
        self.panel.setVisible(bool(self.context.preferences.get("chat.panel", False)))
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.splitter)

    def _connect(self) -> None:
        talk = self.talk
        talk.changed.connect(self._show)
        talk.grew.connect(self._grew)
        talk.busy.connect(self._show_busy)
        talk.begun.connect(self.draft.follow)
        talk.listed.connect(self.conversation_list.look)
        talk.configured.connect(self._show_settings)
        self.conversation_list.changed.connect(self._show_title)
        self.conversation_list.deleted.connect(lambda id: self.begin() if id == talk.id else None)
        self.conversation_list.restored.connect(self.open)
        self.conversation_list_view.chosen.connect(self.open)
        self.conversation_list_view.menu_wanted.connect(self.chat_actions.list_menu)
        self.transcript.menu_wanted.connect(self.chat_actions.message_menu)
        self.composer.send_wanted.connect(self.send)
        self.composer.stop_wanted.connect(self.stop)
        self.composer.edit_ended.connect(self._end_edit)
        self.model_box.picked.connect(lambda name: talk.configure(model=name))
        self.model_box.listed.connect(self._choose_default)
        self.splitter.splitterMoved.connect(
            lambda *_: self.context.preferences.put("chat.widths", self.splitter.sizes())
        )
        self.context.found.append(self._found)
        self.context.wiped.connect(lambda: reset(self))
        self.context.reread.connect(self.conversation_list.look)
        self.context.reread.connect(self.panel.read_presets)

    # -- the pane

    def entered(self) -> None:
        self.composer.field.setFocus()

    def take(self, files: Sequence[Path]) -> None:
        self.draft.add(files)
        self.composer.field.setFocus()

    def stop(self) -> bool:
        if self._editing is not None or self._answering is not None:
            self._end_edit()
            return True
        if self.talk_bar.end() or self.dictation.stop() or self.talk.stop():
            return True
        if self.transcript.chosen is not None:
            self.transcript.choose(None)
            return True
        return False

    def leaving(self) -> None:
        self.talk_bar.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            bar = self.transcript.verticalScrollBar()
            bar.setValue(bar.value() + (bar.pageStep() if event.key() == Qt.Key.Key_PageDown else -bar.pageStep()))
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._fit_composer()
        self._show_title()

    def _fit_composer(self) -> None:
        self.composer.setMaximumWidth(self.transcript.column[1] + GRID * 4)

    # -- conversations

    def begin(self) -> None:
        """A new conversation."""
        self._end_edit()
        self.talk.new(self.model_box.default)
        self.composer.field.setFocus()

    def open(self, id: int) -> None:
        if id != self.talk.id:
            self._end_edit()
            self.talk.open(id)

    def step(self, by: int) -> None:
        id = self.conversation_list.neighbour(self.talk.id, by)
        if id is not None:
            self.open(id)

    def search(self) -> None:
        self.conversation_list_view.field.setFocus()
        self.conversation_list_view.field.selectAll()

    def rename(self, id: int) -> None:
        self.conversation_list_view.edit_name(id)

    def imported(self, id: int) -> None:
        self.conversation_list.look()
        self.talk.open(id)

    def toggle_panel(self) -> None:
        shown = self.panel.isHidden()
        self.panel.setVisible(shown)
        self.context.preferences.put("chat.panel", shown)
        (self.panel.system if shown else self.composer.field).setFocus()

    # -- messages

    def talk_aloud(self) -> None:
        """Speech goes either to Talk or to dictation."""
        self.dictation.stop()
        self.talk_bar.toggle()

    def dictate(self) -> None:
        self.talk_bar.end()
        self.dictation.toggle()

    def send(self, text: str) -> None:
        if self._editing is not None:
            editing, self._editing = self._editing, None
            self._end_edit()
            self.talk.edit(editing, text)
        elif self._answering is not None:
            answering, self._answering = self._answering, None
            self._end_edit()
            self.talk.answer_call(answering, text)
        elif self.talk.send(text, self.draft.files):
            self.draft.clear()
        self.transcript.to_end()

    def edit(self, id: int) -> None:
        """Into the field with it; Enter makes the new version."""
        self._editing = id
        own = self.talk.tree[id].role == "user"
        self.composer.edit_mode(
            tr("Editing a message. The old one stays as another branch.") if own else tr("Editing this reply."),
            self.talk.tree[id].text,
        )
        self.composer.field.setFocus()

    def answer_call(self, id: int) -> None:
        self._answering = id
        self.composer.edit_mode(tr("Type the result of the tool call."))
        self.composer.field.setFocus()

    def _end_edit(self) -> None:
        if self.composer.mode.isVisibleTo(self.composer):
            self._editing = self._answering = None
            self.composer.edit_mode("")

    def choose(self, by: int) -> None:
        """Walk through the messages with the keyboard."""
        ids = [message.id for message in self.talk.path]
        if not ids:
            return
        chosen = self.transcript.chosen
        at = ids.index(chosen) + by if chosen in ids else len(ids) - 1 if by < 0 else 0
        self.transcript.choose(ids[max(0, min(len(ids) - 1, at))])

    def fold(self, id: int) -> None:
        self.views.unfolded ^= {id}
        self.transcript.show_views(self._all_views())

    # -- what is shown

    def _show(self) -> None:
        if self._shown != self.talk.id or self.talk.id is None:
            self._shown = self.talk.id
            self.views.forget()
            self.transcript.forget()
            self._read_ahead()
        self.transcript.chosen = None
        self.transcript.show_views(self._all_views(), to_end=True)
        self.stack.setCurrentWidget(self.transcript if self.talk.path else self.empty)
        self.conversation_list_view.show_current(self.talk.id)
        self.context.preferences.put("conversation", self.talk.id)
        self._keep_draft_place()
        self._show_title()
        self._show_busy()
        self._fit_composer()

    def _keep_draft_place(self) -> None:
        if self.draft.place != place_of(self.talk.id):
            self.draft.open(self.talk.id)

    def _all_views(self) -> list[MessageView]:
        path = self.talk.path
        views: list[MessageView] = []
        for i, message in enumerate(path):
            if self.views.has_made(message):
                views += self._views_of(message, i == len(path) - 1)
            else:
                views += self.views.unread(message)
        return views

    def _read(self, id: int) -> list[MessageView]:
        """A reply comes into sight."""
        return self._views_of(self.talk.tree[id], id == self.talk.head.leaf)

    def _read_ahead(self) -> None:
        """Replies are parsed off the UI thread, the last first, so that scrolling back finds them parsed. One asks for
        the next: what is in sight, formulas and colours, is drawn between them, and another conversation ends it."""
        shown, ahead = self._shown, list(self.talk.path)

        def next_one() -> None:
            while ahead and self.views.has_read(ahead[-1]):
                ahead.pop()
            if ahead:
                message = ahead.pop()
                self.context.work.think(lambda: IncrementalMarkdown(message.text), lambda read: taken(message.id, read))

        def taken(id: int, read: IncrementalMarkdown) -> None:
            if self._shown == shown:
                self.views.take(id, read)
                next_one()

        next_one()

    def _views_of(self, message: StoredMessage, last: bool) -> list[MessageView]:
        reply = self.talk.reply
        doing = reply.doing if reply is not None and reply.message.id == message.id else ""
        if message.id in self.talk.queued:
            doing = tr("Queued. It is sent when the reply has ended.")
        return self.views.of(message, *self.talk.versions(message.id), doing, last)

    def _grew(self, message: StoredMessage) -> None:
        path = self.talk.path
        if any(message.id == shown.id for shown in path):
            self.transcript.replace(message.id, self._views_of(message, message.id == path[-1].id))

    def _show_busy(self) -> None:
        self.composer.show_writing(self.talk.writing)

    def _show_settings(self) -> None:
        self.model_box.show_model(self.talk.head.model)
        self._show_empty()

    def _show_title(self) -> None:
        summary = next((line for line in self.conversation_list.all if line.id == self.talk.id), None)
        title = summary.title if summary is not None else self.talk.head.title
        room = max(0, min(360, self.stack.width() - self.model_box.width() - GRID * 12))
        shown = self.title.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, room)
        self.title.setText(shown if self.talk.id is not None else "")

    def _choose_default(self) -> None:
        if not self.talk.head.model and (default := self.model_box.default):
            self.talk.configure(model=default)
        self._show_empty()

    def _show_empty(self) -> None:
        """One action: a first question, or a first model."""
        if self.talk.head.model:
            question = tr("What can you help me with?")
            self.empty.offer(question, lambda: self.send(question))
        else:
            self.empty.offer(tr("Add a model folder"), self.model_box.choose_folder, main=True)

    def _found(self, typed: str) -> list[tuple[str, Callable[[], Any]]]:
        """For the palette: conversations and models."""
        lines = (
            [(line.title, self._opens(line.id)) for line in self.conversation_list.all[:200]] if typed.strip() else []
        )
        models = [(tr("Use {model}", model=name), self._picks(name)) for name in self.model_box.known or ()]
        return [*lines, *models]

    def _opens(self, id: int) -> Callable[[], Any]:
        return partial(self._in_front, partial(self.open, id))

    def _picks(self, name: str) -> Callable[[], Any]:
        return partial(self._in_front, partial(self.model_box.pick, name))

    def _in_front(self, act: Callable[[], Any]) -> None:
        self.context.open_pane("chat")
        act()
