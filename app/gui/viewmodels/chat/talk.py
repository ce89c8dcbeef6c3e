"""The open conversation: what is shown of it, and everything a person can do to it.

Every change is saved at once; while a reply streams, what has come is saved twice a second. Nothing here waits: the
store and the engine answer through callbacks on the UI thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from app.gui.store import conversations, kept, messages
from app.gui.store.conversations import Head
from app.gui.store.messages import Attachment, Message
from app.gui.store.worker import Store
from app.gui.texts import tr
from app.gui.viewmodels.chat import options
from app.gui.viewmodels.chat.prompting import for_model
from app.gui.viewmodels.chat.reply import Reply
from app.gui.viewmodels.chat.tree import Tree
from app.gui.viewmodels.hook import Hook
from app.window_engine import ReplyListener, ReplyRequest

TITLE = 60  # characters of the first message


class Asks(Protocol):
    """What makes replies (`app.window_engine.WindowEngine`)."""

    def reply(self, ask: ReplyRequest, listener: ReplyListener) -> Any: ...


Later = Callable[[float, Callable[[], None]], None]


class Talk:
    """`changed`: another conversation, or another branch, is shown. `grew(message)`: one message is another.
    `listed`: the list of conversations should look again. `busy`: a reply began or ended.
    `begun(id)`: the conversation has its first message, and is stored."""

    def __init__(self, store: Store, asks: Asks, later: Later, say: Callable[..., Any]) -> None:
        self._store, self._asks, self._later, self._say = store, asks, later, say
        self.changed, self.grew, self.listed, self.busy, self.configured = Hook(), Hook(), Hook(), Hook(), Hook()
        self.begun = Hook()
        self.id: int | None = None
        self.head = _fresh()
        self.tree = Tree()
        self.reply: Reply | None = None  # the one that is being made, here or in a conversation that was left
        self._asked = 0  # which `open` was the last

    # -- what is shown

    @property
    def path(self) -> list[Message]:
        return self.tree.path(self.head.leaf)

    @property
    def writing(self) -> bool:
        return self.reply is not None

    @property
    def last_reply(self) -> Message | None:
        return next((m for m in reversed(self.path) if m.role == "assistant"), None)

    def versions(self, id: int) -> tuple[int, int]:
        """Which of how many versions of this message is shown, counted from 1."""
        siblings = self.tree.siblings(id)
        return siblings.index(id) + 1, len(siblings)

    # -- which conversation

    def new(self, model: str = "") -> None:
        """An empty one. It is stored with its first message."""
        kept_settings = replace(_fresh(), model=model or self.head.model)
        self._show(None, kept_settings, Tree())

    def open(self, id: int, then: Callable[[], Any] | None = None) -> None:
        self._asked += 1
        asked = self._asked

        def got(answer: tuple[Head | None, list[Message]]) -> None:
            head, found = answer
            if head is None or asked != self._asked:
                return
            tree = Tree(found)
            if self.reply is not None and self.reply.message.id in tree:
                tree.put(self.reply.message)  # newer than what is on disk
            leaf = head.leaf if head.leaf in tree else tree.newest_leaf(tree.last)
            self._show(id, replace(head, leaf=leaf), tree)
            if then is not None:
                then()

        self._store.ask(lambda db: (conversations.head(db, id), messages.all_of(db, id)), got)

    def _show(self, id: int | None, head: Head, tree: Tree) -> None:
        self._asked += 1
        self.id, self.head, self.tree = id, head, tree
        self.configured()
        self.changed()

    # -- settings of the conversation

    def configure(self, **values: Any) -> None:
        """`model`, `system` or `sampling`."""
        if all(getattr(self.head, key) == value for key, value in values.items()):
            return
        self.head = replace(self.head, **values)
        if (id := self.id) is not None:
            self._store.ask(lambda db: conversations.configure(db, id, **values))
        self.configured()

    # -- messages

    def send(self, text: str, attachments: Sequence[Attachment] = (), folder: int | None = None) -> bool:
        """False when there is nothing to send, or nobody to answer."""
        text = text.strip()
        if (not text and not attachments) or self.writing:
            return False
        if not self.head.model:
            self._say(
                tr("Choose a model first. The box above the conversation lists those on this machine."), "warning"
            )
            return False
        said = Message(0, self.head.leaf, "user", text, attachments=tuple(attachments))
        self._add_and_answer(said, folder)
        return True

    def edit(self, id: int, text: str) -> None:
        """A new version beside the old one, and a new answer to it."""
        old = self.tree[id]
        if self.writing or not text.strip():
            return
        if old.role == "user":
            self._add_and_answer(replace(old, id=0, text=text.strip(), created=0.0))
        else:
            self._change(replace(old, text=text.strip()))

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
        if message.text:
            self._start(message, go_on=True)
        else:
            self.regenerate(id)

    def answer_call(self, id: int, text: str) -> None:
        """What a tool that the model called has said."""
        if not self.writing:
            self._add_and_answer(Message(0, id, "tool", text))

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

    def _add_and_answer(self, said: Message, folder: int | None = None) -> None:
        head, known = self.head, self.id
        blank = self._blank()

        def write(db: Any) -> tuple[int, Message, Message]:
            conversation = known
            if conversation is None:
                conversation = conversations.create(db, head.model, head.system, head.sampling, folder)
                conversations.rename(db, conversation, title_of(said), by_person=False)
                kept.keep_draft(db, "new", "")
            kept.keep_draft(db, str(conversation), "")
            added = messages.add(db, conversation, said)
            return conversation, added, messages.add(db, conversation, replace(blank, parent=added.id))

        def written(answer: tuple[int, Message, Message]) -> None:
            conversation, message, reply = answer
            if known is None and self.id is None:
                self.id = conversation
                self.head = replace(self.head, id=conversation, title=title_of(said))
                self.begun(conversation)
            self.listed()
            if self.id == conversation:
                self.tree.put(message)
                self._take_in(reply)
            else:  # the person was quicker, and is elsewhere: it can be answered again there
                self._save(replace(reply, state="stopped"))

        self._store.ask(write, written)

    def _answer(self, parent: int | None) -> None:
        conversation = self.id
        if conversation is None:
            return
        blank = replace(self._blank(), parent=parent)

        def written(message: Message) -> None:
            if self.id == conversation:
                self._take_in(message)

        self._store.ask(lambda db: messages.add(db, conversation, blank), written)

    def _blank(self) -> Message:
        return Message(0, None, "assistant", model=self.head.model, state="writing")

    def _take_in(self, reply: Message) -> None:
        """A reply that is to be written: show its place, and begin."""
        self.tree.put(reply)
        self.head = replace(self.head, leaf=reply.id)
        self._start(reply)
        self.changed()

    def _start(self, message: Message, go_on: bool = False) -> None:
        path = self.tree.path(message.id if go_on else message.parent)
        ask = ReplyRequest(
            self.head.model,
            for_model(self.head.system, path),
            options.sampling(self.head.sampling),
            options.thinking(self.head.sampling),
            continue_last=go_on,
        )
        self.reply = Reply(message, self._reply_changed, self._save, self._later)
        self._change(self.reply.message)
        self.busy()
        self.reply.begin(lambda listener: self._asks.reply(ask, listener))

    def _reply_changed(self, reply: Reply) -> None:
        if reply.message.id in self.tree:
            self.tree.put(reply.message)
            self.grew(reply.message)
        if reply.over and self.reply is reply:
            self.reply = None
            self._save(reply.message)
            self.busy()

    def _change(self, message: Message) -> None:
        self.tree.put(message)
        self._save(message)
        self.grew(message)

    def _save(self, message: Message) -> None:
        self._store.ask(lambda db: messages.update(db, message))


def title_of(message: Message) -> str:
    """A conversation's name until a person gives it one."""
    words = " ".join(message.text.split()) or ", ".join(file.name for file in message.attachments)
    return words if len(words) <= TITLE else words[: TITLE - 1].rsplit(" ", 1)[0] + "…"


def _fresh() -> Head:
    return Head(0, "", False, None, "", "", {})
