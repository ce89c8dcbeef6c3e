"""The chat pane, which connects the views of a conversation with their view-models. Its actions are in `actions.py`."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.gui.actions import wear
from app.gui.chat.actions import ChatActions, Files
from app.gui.chat.compare_view import CompareView
from app.gui.chat.composer import Composer, Dictation
from app.gui.chat.conversation_list import ConversationListView
from app.gui.chat.drawn import FormulaImages
from app.gui.chat.find_bar import FindBar
from app.gui.chat.offer import OfferView
from app.gui.chat.panel import Panel
from app.gui.chat.picture_bar import PictureBar
from app.gui.chat.preview_panel import PreviewPanel
from app.gui.chat.projects import ChatProjects
from app.gui.chat.talk_bar import TalkBar
from app.gui.chat.transcript import TranscriptView
from app.gui.chat.uses import ConversationUses
from app.gui.model_box import ModelBox
from app.gui.pane import AppContext, Pane
from app.gui.store import conversations, messages
from app.gui.store.conversations import ConversationSummary
from app.gui.store.messages import GivenPassage, StoredMessage
from app.gui.store.projects import Project
from app.gui.texts import mark, tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat import guide
from app.gui.viewmodels.chat.comparison import Comparison
from app.gui.viewmodels.chat.conversation import OpenConversation
from app.gui.viewmodels.chat.conversation_list import ConversationList
from app.gui.viewmodels.chat.draft import MessageDraft, picture_advice, place_of
from app.gui.viewmodels.chat.find import ConversationFind, phrase_in
from app.gui.viewmodels.chat.markdown import IncrementalMarkdown
from app.gui.viewmodels.chat.message_views import MessageView, MessageViews
from app.gui.viewmodels.chat.preview import Preview
from app.gui.viewmodels.models.library import badges
from app.gui.viewmodels.models.offer import ModelOffer
from app.gui.widgets import EmptyState, icon_button, label
from app.runtime.recommended import read_catalogue

if TYPE_CHECKING:
    from app.runtime.tools.permissions import PermissionAnswer

_QUESTION = mark("What can you help me with?")


def reset(pane: ChatPane) -> None:
    pane.talk_bar.end()
    pane.dictation.stop()
    pane.talk.stop()
    pane.draft.forget()
    pane.conversation_list_view.field.clear()
    pane.begin()
    pane.transcript.discard()
    pane.conversation_list.forget()


def make(context: AppContext) -> Pane:
    return ChatPane(context)


def _later(seconds: float, run: Callable[[], None]) -> None:
    QTimer.singleShot(round(seconds * 1000), run)


class ChatPane(Pane):
    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self.talk = OpenConversation(context.store, context.core, _later, context.say, self._find, context.memories)
        self.conversation_list = ConversationList(context.store, context.say, datetime.date.today)
        self.draft = MessageDraft(context.store, context.work, context.places.attachments, context.core.transcribe)
        self.draft.takes_sound = lambda: "hear" in self.model_box.abilities.get(self.talk.head.model, ())
        self.files = Files(context, self)
        self.views = MessageViews()
        self.views.figures = bool(context.preferences.get("chat.figures", False))
        self._editing: int | None = None
        self._answering: int | None = None
        self.conversation_list_view = ConversationListView(context.look, self.conversation_list, self.begin)
        formulas = FormulaImages(context.look, context.work)
        perform: Callable[..., Any] = lambda *what: self.chat_actions.perform(*what)  # noqa: E731
        self.transcript = TranscriptView(context.look, formulas, perform, self._read)
        self.comparison = Comparison(self.talk, context.say)
        rows = partial(self._views_of, last=False)
        self.compare_view = CompareView(context.look, formulas, perform, self.comparison, rows)
        self.finder = ConversationFind()
        self.find_bar = FindBar(context.look, self.finder, self._search_here)
        self._shown: int | None = None  # which conversation the rows are of
        self.composer = Composer(context.look, self.draft, lambda *what, **more: context.say(*what, **more))
        self.dictation = Dictation(context, self.composer)
        self.talk_bar = TalkBar(context, self.talk, self.composer.show_error)
        self.composer.put_above(self.talk_bar)
        self.picture_bar = PictureBar(context.look, self._read_pictures, self._use_model, self._get_vision)
        self.composer.put_above(self.picture_bar)
        self.model_box = ModelBox(context, "chat")
        self.projects = ChatProjects(
            context, self.talk, self.conversation_list, self, lambda: self.model_box.known or ()
        )
        self.uses = ConversationUses(context, self.talk, self.composer, self.projects, self.comparison, self.draft)
        self.preview = Preview(context.work, lambda: self.talk.path)
        self.preview_panel = PreviewPanel(context, self.preview)
        self.panel = Panel(context.look, self.talk, context.store)
        self.empty = EmptyState(context.look, "crane", tr("Ask anything"), tr("Replies are generated on this machine."))
        self.offer = ModelOffer(context.core, context.preferences, context.downloads, context.machinery, read_catalogue)
        self.empty.hold(OfferView(context.look, self.offer, lambda: context.open_pane("models").turn_to_recommended()))
        self.chat_actions = ChatActions(self)
        self._build()
        self._connect()
        context.store.ask(messages.settle)
        self.conversation_list.look()
        self.offer.look()
        last = context.preferences.get("conversation")
        self.draft.open(last)
        if last is not None:
            self.talk.open(int(last))
        self._show_empty()

    def _build(self) -> None:
        self.title = label(kind="heading")
        wear(toggle := icon_button(self.context.look, "sliders", ""), self.context.actions["chat.panel"])
        for name in ("attach", "libraries", "tools", "dictate", "talk"):
            wear(getattr(self.composer, name), self.context.actions[f"chat.{name}"])
        head = QHBoxLayout()
        head.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        self.compare_button = icon_button(self.context.look, "compare", "")
        wear(self.compare_button, self.context.actions["chat.compare"])
        head.addWidget(self.model_box)
        head.addWidget(self.compare_button)
        head.addStretch(1)
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(toggle)
        self.stack = QStackedWidget()
        self.stack.setMinimumWidth(360)  # not of the column: its head may need more in large text
        self.stack.installEventFilter(self)
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self.transcript)
        self.stack.addWidget(self.compare_view)
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.find_bar)
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
        for part in (self.conversation_list_view, middle, self.preview_panel, self.panel):
            self.splitter.addWidget(part)
        self.conversation_list_view.setMinimumWidth(200)
        self.context.look.limit_width(self.conversation_list_view, 400)
        self.context.look.limit_width(self.panel, 400)
        self.splitter.setStretchFactor(1, 1)
        widths = [*self.context.preferences.get("chat.widths", [])]
        self.splitter.setSizes(widths if len(widths) == 4 else [264, 700, 420, 300])
        self.panel.setVisible(bool(self.context.preferences.get("chat.panel", False)))
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.splitter)

    def _connect(self) -> None:
        talk = self.talk
        talk.changed.connect(self._show)
        talk.changed.connect(self.preview.look)
        talk.grew.connect(self._grew)
        talk.busy.connect(self._show_busy)
        talk.busy.connect(self._resolve)
        self.comparison.changed.connect(self._show_middle)
        talk.begun.connect(self.draft.follow)
        talk.listed.connect(self.conversation_list.look)
        talk.configured.connect(self._show_settings)
        self.conversation_list.changed.connect(self._show_title)
        self.conversation_list.deleted.connect(lambda id: self.begin() if id == talk.id else None)
        self.conversation_list.restored.connect(self.open)
        self.conversation_list_view.chosen.connect(self._open_line)
        self.finder.changed.connect(self._show_found)
        self.conversation_list_view.export_dropped.connect(lambda file: self.files.read(file, self.imported))
        self.conversation_list_view.menu_wanted.connect(self.chat_actions.list_menu)
        self.transcript.menu_wanted.connect(self.chat_actions.message_menu)
        self.composer.send_wanted.connect(self.send)
        self.composer.stop_wanted.connect(self.stop)
        self.composer.edit_ended.connect(self._end_edit)
        self.model_box.picked.connect(lambda name: talk.configure(model=name))
        self.model_box.listed.connect(self._choose_default)
        self.model_box.listed.connect(self._show_pictures)
        self.draft.files_changed.connect(self._show_pictures)
        self.offer.changed.connect(self._show_empty)
        for renew in (self._show_empty, self._show_pictures):
            self.context.look.language_changed.connect(renew)
        self.offer.ready.connect(self._model_ready)
        self.context.models_changed.connect(self.offer.look)
        self.splitter.splitterMoved.connect(
            lambda *_: self.context.preferences.put("chat.widths", self.splitter.sizes())
        )
        self.context.preferences.changed.connect(lambda key: self._show_figures() if key == "chat.figures" else None)
        self.context.found.append(self._found)
        self.context.wiped.connect(lambda: reset(self))
        self.context.reread.connect(self.conversation_list.look)
        self.context.reread.connect(self._leave_deleted)
        self.context.reread.connect(self.panel.read_presets)

    def _leave_deleted(self) -> None:
        """What is open may be gone: an import was taken back."""
        if (id := self.talk.id) is not None:
            look = lambda db: conversations.head(db, id) is None  # noqa: E731
            self.context.store.ask(look, lambda gone: self.begin() if gone and self.talk.id == id else None)

    # -- the pane

    @property
    def parts(self) -> Sequence[QWidget]:
        """The columns, of which the last two are rarely in sight, and the lines between them."""
        return self.splitter.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)

    def entered(self) -> None:
        self.composer.field.setFocus()

    def take(self, files: Sequence[Path]) -> None:
        self.draft.add(files)
        self.composer.field.setFocus()

    def stop(self) -> bool:
        if self._editing is not None or self._answering is not None:
            self._end_edit()
            return True
        if self.find_bar.shut():
            self.composer.field.setFocus()
            return True
        ends = (self.talk_bar.end, self.dictation.stop, self.talk.stop, self.comparison.close)
        if any(end() for end in (*ends, self.preview.stop, self.preview.close)):
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

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.stack and event.type() == QEvent.Type.Resize:
            self._fit_composer()
            self._show_title()
        return super().eventFilter(watched, event)

    def _fit_composer(self) -> None:
        shown = self.stack.currentWidget() is self.transcript  # else it has no width yet
        column = self.transcript.column if shown else self.transcript.column_in(self.stack.width())
        self.composer.setMaximumWidth(column[1] + GRID * 4)

    # -- conversations

    def begin(self, project: Project | None = None) -> None:
        """A new conversation, in this project."""
        self._end_edit()
        own = project.model if project is not None else ""
        self.talk.new(own or self.model_box.default, project)
        self.composer.field.setFocus()

    def open(self, id: int) -> None:
        if id != self.talk.id:
            self._end_edit()
            self.talk.open(id)

    # -- libraries

    def begin_with(self, folder: Path) -> None:
        """A new conversation that asks this library."""
        self.begin()
        self.talk.configure(libraries=(str(folder),))

    def _find(self, folders: Sequence[str], question: str, service: Any) -> list[GivenPassage]:
        """Off the UI thread."""
        from app.gui.viewmodels.libraries import given

        return [given(one) for one in self.context.libraries.find([*map(Path, folders)], question, service=service)]

    def open_passage(self, id: int, number: int) -> None:
        """The page that a reply cites, in Read."""
        passage = self.talk.tree[id].passages[number - 1]
        if not Path(passage.file).exists():
            self.context.show_error(tr("{file} is not there any more.", file=passage.file))
            return
        self.context.open_pane("read").show_passage(passage)

    def _open_line(self, summary: ConversationSummary) -> None:
        """Of a search: at the words that were found, which are marked."""
        words = self.conversation_list.words

        def jump() -> None:
            if summary.message is not None and summary.message in self.talk.tree:
                self.talk.show_message(summary.message)
            if phrase := phrase_in(words, self.talk.path):
                self.find_bar.open(phrase)
                self.finder.search(phrase, self.talk.path, summary.message)

        if not words.strip():
            self.open(summary.id)
        elif summary.id == self.talk.id:
            jump()
        else:
            self._end_edit()
            self.talk.open(summary.id, jump)

    def _search_here(self, text: str) -> None:
        self.finder.search(text, self.talk.path)

    def _show_found(self) -> None:
        place = self.finder.place
        if place is not None and place.message in self.talk.tree:
            message = self.talk.tree[place.message]
            if message.role != "assistant" and message.id not in self.views.unfolded:
                self.views.unfolded.add(message.id)  # a long message is shown whole
                self.transcript.show_views(self._all_views())
        self.transcript.mark(self.finder.text, place)

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
        elif self.comparison.active:
            self.context.say(tr("Choose the reply to continue with."), level="warning")
        elif (self.comparison if self.comparison.others else self.talk).send(text, self.draft.files):
            self.draft.clear()
        self.transcript.to_end()

    def edit(self, id: int) -> None:
        """Into the field with it; Enter makes the new version."""
        self._editing = id
        own = self.talk.tree[id].role == "user"
        self.composer.edit_mode(
            tr("Editing a message. The original stays as another branch.") if own else tr("Editing the reply."),
            self.talk.tree[id].text,
        )
        self.composer.field.setFocus()

    def answer_call(self, id: int) -> None:
        self._answering = id
        self.composer.edit_mode(tr("Type the result of the tool call."))
        self.composer.field.setFocus()

    def permit(self, id: int, answer: PermissionAnswer) -> None:
        self.talk.answer_permission(id, answer)
        self.composer.field.setFocus()

    def go_on_with(self, at: int) -> None:
        """With one of the replies that are side by side."""
        if at < len(self.comparison.shown):
            self.comparison.go_on_with(self.comparison.shown[at])
            self.composer.field.setFocus()

    def _show_middle(self) -> None:
        conversation = self.transcript if self.talk.path else self.empty
        self.stack.setCurrentWidget(self.compare_view if self.comparison.active else conversation)

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

    def fold_call(self, id: int, at: int) -> None:
        self.views.unfolded_calls ^= {(id, at)}
        self.transcript.show_views(self._all_views())

    # -- what is shown

    def _show_figures(self) -> None:
        self.views.figures = bool(self.context.preferences.get("chat.figures", False))
        self.transcript.show_views(self._all_views())

    def _show(self) -> None:
        if self._shown != self.talk.id or self.talk.id is None:
            self._shown = self.talk.id
            self.views.forget()
            self.transcript.forget()
            self.find_bar.shut()
            self._read_ahead()
        self.transcript.chosen = None
        self.transcript.show_views(self._all_views(), to_end=True)
        self._show_middle()
        self.conversation_list_view.show_current(self.talk.id)
        self.context.preferences.put("conversation", self.talk.id)
        self._keep_draft_place()
        self._show_pictures()
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
        own = reply if reply is not None and reply.message.id == message.id else None
        doing, question = (own.doing, own.question) if own is not None else ("", None)
        if message.id in self.talk.queued:
            doing = tr("Queued. It is sent when the reply has ended.")
        return self.views.of(message, *self.talk.versions(message.id), doing, last, question)

    def _grew(self, message: StoredMessage) -> None:
        self.compare_view.show_reply(message)
        path = self.talk.path
        if any(message.id == shown.id for shown in path):
            self.transcript.replace(message.id, self._views_of(message, message.id == path[-1].id))

    def _show_busy(self) -> None:
        self.composer.show_writing(self.talk.writing)

    def _resolve(self) -> None:
        """A reply that ended well resolves an error that is shown."""
        last = self.talk.last_reply
        if not self.talk.writing and last is not None and last.state == "done":
            self.context.say("", level="ok")

    def _show_pictures(self) -> None:
        """Said when a picture is attached, not when the reply fails."""
        talk, known = self.talk, self.model_box.abilities
        self.picture_bar.show_advice(picture_advice(talk.head.model, known, self.draft.files, talk.path))

    def _read_pictures(self) -> None:
        self.draft.read_pictures(self.picture_bar.advice.unread, self.context.core.read_text)

    def _use_model(self, name: str) -> None:
        self.model_box.pick(name)
        self.composer.field.setFocus()

    def _get_vision(self) -> None:
        self.context.open_pane("models").turn_to_recommended(tr("Vision"))

    def _show_settings(self) -> None:
        self.model_box.show_model(self.talk.head.model)
        self._show_pictures()
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

    def _model_ready(self, task: str, model: str) -> None:
        """A model that was offered is here: the first conversation with it waits."""
        if task != "chat":
            return
        self.context.preferences.put("model", model)
        if not self.talk.path and not self.talk.writing:
            self.model_box.pick(model)
            self.composer.field.setFocus()
        else:
            begin = (tr("New conversation"), partial(self._in_front, self.begin))
            self.context.say(tr("{model} is ready.", model=model), level="ok", undo=begin)

    def _show_empty(self) -> None:
        """The card of a model that is offered, and one action: a first question, or a first model."""
        self.empty.show_card(self.offer.card is not None)
        if model := self.talk.head.model:
            # the Guide knows English only
            question = _QUESTION if guide.is_guide(model) else tr(_QUESTION)
            self.empty.offer(question, lambda: self.send(question))
        else:
            self.empty.offer(tr("Add a model folder"), self.model_box.choose_folder, main=True)

    def _found(self, typed: str) -> list[tuple[str, Callable[[], Any], tuple[str, ...]]]:
        """For the palette: conversations and models."""
        lines = (
            [(line.title, self._opens(line.id), ()) for line in self.conversation_list.all[:200]]
            if typed.strip()
            else []
        )
        box = self.model_box
        models = [
            (tr("Use {model}", model=name), self._picks(name), badges(box.abilities.get(name, ())))
            for name in box.known or ()
        ]
        return [*lines, *models]

    def _opens(self, id: int) -> Callable[[], Any]:
        return partial(self._in_front, partial(self.open, id))

    def _picks(self, name: str) -> Callable[[], Any]:
        return partial(self._in_front, partial(self.model_box.pick, name))

    def _in_front(self, act: Callable[[], Any]) -> None:
        self.context.open_pane("chat")
        act()
