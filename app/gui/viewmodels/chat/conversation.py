"""The open conversation: its tree of messages, the reply that streams, and every action on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from app.gui.store import conversations, messages, records
from app.gui.store.conversations import ConversationHead
from app.gui.store.database import OWN_FOLDERS, release
from app.gui.store.messages import Attachment, GivenPassage, StoredMessage
from app.gui.store.projects import Project
from app.gui.store.worker import AppStore
from app.gui.texts import tr
from app.gui.viewmodels import sampling as options
from app.gui.viewmodels.chat import guide
from app.gui.viewmodels.chat.draft import attach_bytes
from app.gui.viewmodels.chat.history import for_model
from app.gui.viewmodels.chat.reply_stream import ReplyStream, settled
from app.gui.viewmodels.signal import Signal
from app.window_reply import ReplyListener, ReplyRequest

if TYPE_CHECKING:
    from app.gui.viewmodels.memories import Memories
    from app.runtime.tools.permissions import PermissionAnswer


class MessageTree:
    def __init__(self, messages: Iterable[StoredMessage] = ()) -> None:
        self._messages: dict[int, StoredMessage] = {}
        self._children: dict[int | None, list[int]] = {}
        for message in messages:
            self.put(message)

    def __getitem__(self, id: int) -> StoredMessage:
        return self._messages[id]

    def __contains__(self, id: int | None) -> bool:
        return id in self._messages

    def __len__(self) -> int:
        return len(self._messages)

    def put(self, message: StoredMessage) -> None:
        """Add a message, or replace it by its new state."""
        if message.id not in self._messages:
            self._children.setdefault(message.parent, []).append(message.id)
        self._messages[message.id] = message

    def remove(self, id: int) -> None:
        """A message and all below it."""
        for child in list(self._children.get(id, ())):
            self.remove(child)
        message = self._messages.pop(id)
        self._children[message.parent].remove(id)

    def path(self, leaf: int | None) -> list[StoredMessage]:
        """From the first message to the leaf."""
        found: list[StoredMessage] = []
        while leaf is not None and leaf in self._messages:
            found.append(self._messages[leaf])
            leaf = found[-1].parent
        return found[::-1]

    def siblings(self, id: int) -> Sequence[int]:
        """Versions of the same message, oldest first, itself among them."""
        return tuple(self._children[self._messages[id].parent])

    def newest_leaf(self, id: int | None) -> int | None:
        """The leaf that is reached by always taking the newest branch."""
        while children := self._children.get(id):
            id = children[-1]
        return id

    @property
    def last(self) -> int | None:
        """The newest message: the fallback when no leaf is stored."""
        return max(self._messages, default=None)


TITLE = 60  # characters of the first message


class _Replies(Protocol):
    """What makes replies (`app.window_engine.WindowEngine`)."""

    def reply(self, ask: ReplyRequest, listener: ReplyListener) -> Any: ...


Later = Callable[[float, Callable[[], None]], None]
Find = Callable[[Sequence[str], str, Any], Sequence[GivenPassage]]  # in folders, by a question, with a model service


class OpenConversation:
    """`changed`: another conversation or branch is shown. `grew(message)`: one message changed.
    `listed`: the list of conversations must be reloaded. `busy`: a reply began or ended.
    `begun(id)`: the conversation has its first message, and is stored."""

    def __init__(
        self,
        store: AppStore,
        asks: _Replies,
        later: Later,
        say: Callable[..., Any],
        find: Find = lambda folders, question, service: (),
        memories: Memories | None = None,
    ) -> None:
        """`find` searches the libraries of the conversation, off the UI thread. `memories`: facts for all conversations."""
        self._memories = memories
        self._store, self._asks, self._later, self._say, self._find = store, asks, later, say, find
        self.changed, self.grew, self.listed, self.busy, self.configured = (
            Signal(),
            Signal(),
            Signal(),
            Signal(),
            Signal(),
        )
        self.begun = Signal()
        self.id: int | None = None
        self.head = _fresh()
        self.tree = MessageTree()
        self.reply: ReplyStream | None = None  # the one that is being made, here or in a conversation that was left
        self.queued: list[int] = []  # messages that wait for the end of the reply
        self._asked = 0  # which `open` was the last
        self._granted: dict[int, set[str]] = {}  # what a person allowed for the rest of a conversation

    # -- what is shown

    @property
    def path(self) -> list[StoredMessage]:
        return self.tree.path(self.head.leaf)

    @property
    def writing(self) -> bool:
        return self.reply is not None

    @property
    def last_reply(self) -> StoredMessage | None:
        return next((m for m in reversed(self.path) if m.role == "assistant"), None)

    def versions(self, id: int) -> tuple[int, int]:
        """Which of how many versions of this message is shown, counted from 1."""
        siblings = self.tree.siblings(id)
        return siblings.index(id) + 1, len(siblings)

    # -- which conversation

    def new(self, model: str = "", project: Project | None = None) -> None:
        """An empty one. It is stored with its first message."""
        kept_settings = replace(_fresh(), model=model or self.head.model, project=project)
        self._show(None, kept_settings, MessageTree())

    def open(self, id: int, then: Callable[[], Any] | None = None) -> None:
        self._asked += 1
        asked = self._asked

        def got(answer: tuple[ConversationHead | None, list[StoredMessage]]) -> None:
            head, read = answer
            found = map(settled, read)
            if head is None or asked != self._asked:
                return
            tree = MessageTree(found)
            if self.reply is not None and self.reply.message.id in tree:
                tree.put(self.reply.message)  # newer than what is on disk
            leaf = head.leaf if head.leaf in tree else tree.newest_leaf(tree.last)
            self._show(id, replace(head, leaf=leaf), tree)
            if then is not None:
                then()

        self._store.ask(lambda db: (conversations.head(db, id), messages.all_of(db, id)), got)

    def _show(self, id: int | None, head: ConversationHead, tree: MessageTree) -> None:
        self._asked += 1
        self.id, self.head, self.tree = id, head, tree
        self.configured()
        self.changed()

    # -- settings of the conversation

    def configure(self, **values: Any) -> None:
        """`model`, `system`, `sampling`, `libraries` or `tools`."""
        if all(getattr(self.head, key) == value for key, value in values.items()):
            return
        self.head = replace(self.head, **values)
        if (id := self.id) is not None:
            self._store.ask(lambda db: conversations.configure(db, id, **values))
        self.configured()

    def take_project(self, project: Project | None) -> None:
        """The project that the conversation is in now, with its settings as they are now."""
        if project != self.head.project:
            self.head = replace(self.head, project=project)
            self.configured()

    # -- messages

    def send(self, text: str, attachments: Sequence[Attachment] = ()) -> bool:
        """False when there is nothing to send, or no model. While a reply is written, the message waits for its end."""
        text = text.strip()
        if not text and not attachments:
            return False
        if not self.head.model:
            self._say(tr("Choose a model first, in the menu above the conversation."), "error")
            return False
        question = StoredMessage(0, self.head.leaf, "user", text, attachments=tuple(attachments))
        if self.writing:
            return self._queue(question)
        self._add_and_answer(question, from_draft=True)
        return True

    def _queue(self, question: StoredMessage) -> bool:
        """Stored at once below the reply that is written, and answered when it has ended."""
        conversation, reply = self.id, self.reply
        if conversation is None or reply is None or reply.message.id not in self.tree:
            self._say(tr("A reply is being written in another conversation. Wait for it, or stop it."), "warning")
            return False

        def write(db: Any) -> StoredMessage:
            records.keep_draft(db, str(conversation), "")
            return messages.add(db, conversation, question)

        def written(message: StoredMessage) -> None:
            if self.id != conversation:
                return
            self.tree.put(message)
            self.head = replace(self.head, leaf=message.id)
            self.queued.append(message.id)
            if self.reply is None:  # it has ended meanwhile
                self._answer_queued()
            self.changed()

        self._store.ask(write, written)
        return True

    def _answer_queued(self) -> None:
        """One answer to all that waited here. Where the person is elsewhere, it can be answered there."""
        queued, self.queued = self.queued, []
        if queued and queued[-1] in self.tree:
            self._answer(queued[-1])

    def edit(self, id: int, text: str) -> None:
        """A new version beside the old one, and a new answer to it."""
        old = self.tree[id]
        if self.writing or not text.strip():
            return
        if old.role == "user":
            self._add_and_answer(replace(old, id=0, text=text.strip(), created=0.0))
        else:
            self._change(replace(old, text=text.strip()))

    def answer_by(self, question: int | None, model: str) -> None:
        """Another answer to a message, by this model."""
        if not self.writing:
            self._answer(question, model)

    def regenerate(self, id: int) -> None:
        """Another answer beside this one."""
        message = self.tree[id]
        if not self.writing:
            self._answer(message.parent if message.role == "assistant" else id)

    def go_on(self, id: int) -> None:
        """Write on where this answer ended."""
        message = self.tree[id]
        if self.writing or message.role != "assistant":
            return
        if message.text or any(call.outcome for call in message.calls):
            self._start(settled(message), go_on=True)
        else:
            self.regenerate(id)

    def answer_call(self, id: int, text: str) -> None:
        """Append the result of a tool call."""
        if not self.writing:
            self._add_and_answer(StoredMessage(0, id, "tool", text))

    def answer_permission(self, id: int, answer: PermissionAnswer) -> None:
        """Whether the call that waits in this message may be made."""
        if self.reply is not None and self.reply.message.id == id:
            self.reply.answer(answer)

    def turn(self, id: int, by: int) -> None:
        """Show the version before (-1) or after (+1) this one."""
        siblings = self.tree.siblings(id)
        at = siblings.index(id) + by
        if 0 <= at < len(siblings):
            leaf = self.tree.newest_leaf(siblings[at])
            self.head = replace(self.head, leaf=leaf)
            if (conversation := self.id) is not None:
                self._store.ask(lambda db: messages.show(db, conversation, leaf))
            self.changed()

    def show_message(self, id: int) -> None:
        """The branch with this message, where another one is shown."""
        if any(message.id == id for message in self.path):
            return
        leaf = self.tree.newest_leaf(id)
        self.head = replace(self.head, leaf=leaf)
        if (conversation := self.id) is not None:
            self._store.ask(lambda db: messages.show(db, conversation, leaf))
        self.changed()

    def remove(self, id: int) -> None:
        """A message and what follows it. Another version of it is shown, if there is one."""
        if self.writing or (conversation := self.id) is None:
            return
        message = self.tree[id]
        others = [other for other in self.tree.siblings(id) if other != id]
        shown = self.head.leaf
        leaf = self.tree.newest_leaf(others[-1]) if others else message.parent
        self.tree.remove(id)
        self.head = replace(self.head, leaf=leaf)
        self._store.delete(lambda db: messages.remove(db, conversation, id, leaf))
        self.changed()
        self._say(tr("The message was deleted."), undo=(tr("Undo"), lambda: self._restore(conversation, id, shown)))

    def _restore(self, conversation: int, id: int, leaf: int | None) -> None:
        self._store.ask(lambda db: messages.restore(db, conversation, id, leaf), lambda _: self.open(conversation))

    def stop(self) -> bool:
        if self.reply is None:
            return False
        self.reply.stop()
        return True

    # -- inside

    def _add_and_answer(self, question: StoredMessage, *, from_draft: bool = False) -> None:
        """`from_draft`: the message was the draft, which is deleted with it."""
        head, known = self.head, self.id
        blank = self._blank()

        def write(db: Any) -> tuple[int, StoredMessage, StoredMessage]:
            conversation = known
            if conversation is None:
                folder = head.project.id if head.project is not None else None
                conversation = conversations.create(
                    db, head.model, head.system, head.sampling, folder, libraries=head.libraries, tools=head.tools
                )
                conversations.rename(db, conversation, title_of(question), by_person=False)
                records.keep_draft(db, "new", "")
            elif from_draft:
                records.keep_draft(db, str(conversation), "")
            added = messages.add(db, conversation, question)
            return conversation, added, messages.add(db, conversation, replace(blank, parent=added.id))

        def written(answer: tuple[int, StoredMessage, StoredMessage]) -> None:
            conversation, message, reply = answer
            if known is None and self.id is None:
                self.id = conversation
                self.head = replace(self.head, id=conversation, title=title_of(question))
                self.begun(conversation)
            self.listed()
            if self.id == conversation:
                self.tree.put(message)
                self._take_in(reply)
            else:  # the person was quicker, and is elsewhere: it can be answered again there
                self._save(replace(reply, state="stopped"))

        self._store.ask(write, written)

    def _answer(self, parent: int | None, model: str = "") -> None:
        conversation = self.id
        if conversation is None:
            return
        blank = replace(self._blank(), parent=parent)
        blank = replace(blank, model=model or blank.model)

        def written(message: StoredMessage) -> None:
            if self.id == conversation:
                self._take_in(message)

        self._store.ask(lambda db: messages.add(db, conversation, blank), written)

    def _blank(self) -> StoredMessage:
        return StoredMessage(0, None, "assistant", model=self.head.model, state="writing")

    def _take_in(self, reply: StoredMessage) -> None:
        """A reply that is to be written: show its place, and begin."""
        self.tree.put(reply)
        self.head = replace(self.head, leaf=reply.id)
        self._start(reply)
        self.changed()

    def _start(self, message: StoredMessage, go_on: bool = False) -> None:
        path = self.tree.path(message.id if go_on else message.parent)
        history = for_model(self.head.system, path, self.head.project)
        model = self.head.model if go_on else message.model
        ask = ReplyRequest(
            model,
            history,
            options.sampling(self.head.sampling),
            options.reasoning(self.head.sampling),
            tools=self._with_project("tools"),
            granted=self._granted.setdefault(self.head.id, set()),
            continue_last=go_on and history[-1]["role"] == "assistant",  # else the model reads what tools returned
            passages=self._passages(message, path, go_on),
            **self._memory(model),
            keep_picture=lambda data: attach_bytes(tr("Picture") + ".png", data, self._store.folder / OWN_FOLDERS[0]),
        )
        question = next((m.text for m in reversed(path) if m.role == "user"), "")
        rewrite = partial(guide.in_window, question) if guide.is_guide(model) else None
        note = lambda sentence: self._say(sentence, "warning")  # noqa: E731
        self.reply = ReplyStream(
            message, self._reply_changed, self._save, self._later, rewrite, note, bool(ask.tools or ask.keep_fact)
        )
        self._change(self.reply.message)
        self.busy()
        self.reply.begin(lambda listener: self._asks.reply(ask, listener))

    def _passages(
        self, message: StoredMessage, path: Sequence[StoredMessage], go_on: bool
    ) -> Callable[[Any], Sequence[GivenPassage]] | None:
        """What the reply is given of the libraries. A reply that is continued has it already."""
        if go_on and message.passages:
            return lambda service: message.passages
        folders = self._with_project("libraries")
        question = next((m.text for m in reversed(path) if m.role == "user" and m.text), "")
        if not folders or not question or go_on:
            return None
        return lambda service: self._find(folders, question, service)

    def _memory(self, model: str) -> dict[str, Any]:
        """What the model reads of the facts that were kept, and how it keeps another one."""
        memories, conversation = self._memories, self.id
        if memories is None or not memories.on or guide.is_guide(model):
            return {}
        return {"facts": memories.read, "keep_fact": lambda fact: memories.keep(fact, conversation)}

    def _with_project(self, kind: str) -> tuple[str, ...]:
        """The conversation's own, and those of its project."""
        of_project = getattr(self.head.project, kind) if self.head.project is not None else ()
        return tuple(dict.fromkeys((*of_project, *getattr(self.head, kind))))

    def _reply_changed(self, reply: ReplyStream) -> None:
        if reply.message.id in self.tree:
            self.tree.put(reply.message)
            self.grew(reply.message)
        if reply.over and self.reply is reply:
            self.reply = None
            self._save(reply.message, reply.kept)
            self.busy()
            self._answer_queued()

    def _change(self, message: StoredMessage) -> None:
        self.tree.put(message)
        self._save(message)
        self.grew(message)

    def _save(self, message: StoredMessage, kept: Sequence[str] = ()) -> None:
        """`kept`: files that were in use until a row refers to them."""

        def stored(_: None) -> None:
            for path in kept:
                release(path)

        self._store.ask(lambda db: messages.update(db, message), stored)


def title_of(message: StoredMessage) -> str:
    """A conversation's name until a person gives it one."""
    words = " ".join(message.text.split()) or ", ".join(file.name for file in message.attachments)
    return words if len(words) <= TITLE else words[: TITLE - 1].rsplit(" ", 1)[0] + "…"


def _fresh() -> ConversationHead:
    return ConversationHead(0, "", False, None, "", "", {})
