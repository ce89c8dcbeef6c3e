"""A conversation's messages as a tree, and the one branch that is shown. Knows no store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.gui.store.messages import Message


class Tree:
    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages: dict[int, Message] = {}
        self._children: dict[int | None, list[int]] = {}
        for message in messages:
            self.put(message)

    def __getitem__(self, id: int) -> Message:
        return self._messages[id]

    def __contains__(self, id: int | None) -> bool:
        return id in self._messages

    def __len__(self) -> int:
        return len(self._messages)

    def put(self, message: Message) -> None:
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

    def path(self, leaf: int | None) -> list[Message]:
        """From the first message to the leaf."""
        found: list[Message] = []
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
        """The newest message of all: where to go on when no leaf was kept."""
        return max(self._messages, default=None)
