"""Messages: a tree for every conversation. An edited or regenerated message is a sibling; the old one stays.

Every function is a question for the store: it takes the connection first.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from app.gui.store.database import next_id

# a message and all below it
_BELOW = (
    "WITH RECURSIVE below(id) AS (VALUES (?) UNION ALL SELECT messages.id FROM messages"
    " JOIN below ON messages.parent = below.id) SELECT id FROM below"
)

Role = Literal["user", "assistant", "tool"]
State = Literal["writing", "done", "stopped", "length", "failed"]


@dataclass(frozen=True)
class Attachment:
    """A file that belongs to a message: a copy in the attachments folder, and what was read from it."""

    name: str
    kind: Literal["image", "text", "pdf", "sound"]
    path: str
    nbytes: int = 0
    text: str = ""  # the text for models without vision or audio
    pages: int = 0
    note: str = ""  # what a person should know: cut short, not readable


CallOutcome = Literal["", "asked", "running", "made", "refused", "failed", "stopped"]


@dataclass(frozen=True)
class ToolUse:
    """A tool call that the model made, and what came of it. Without an outcome nobody has made it; then a person may type a result, which
    is a message of its own."""

    name: str
    arguments: str = ""
    id: str = ""
    label: str = ""  # SERVER/TOOL
    outcome: CallOutcome = ""
    result: str = ""
    round: int = 0  # calls of one round were asked for together
    at: int = 0  # how many characters of the reply's text come before it
    pictures: int = 0  # of the result: so many of the message's attachments, after those of the calls before


@dataclass(frozen=True)
class GivenPassage:
    """A passage of a library that a reply was given, and cites by its place in the list."""

    file: str
    where: str
    page: int
    unit: str
    text: str


@dataclass(frozen=True)
class ReplyStatistics:
    """The figures under a reply."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    first_token: float = 0.0
    total: float = 0.0
    rate: float = 0.0  # tokens a second


@dataclass(frozen=True)
class StoredMessage:
    id: int
    parent: int | None
    role: Role
    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolUse, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    figures: ReplyStatistics = field(default_factory=ReplyStatistics)
    model: str = ""
    state: State = "done"
    error: str = ""
    created: float = 0.0
    passages: tuple[GivenPassage, ...] = ()


def add(db: sqlite3.Connection, conversation: int, message: StoredMessage) -> StoredMessage:
    """Insert below its parent and make it the shown leaf. Returns it with its id."""
    now = message.created or time.time()
    id = next_id(db, "messages")
    db.execute(
        "INSERT INTO messages(id, conversation, parent, role, text, reasoning, calls, attachments, figures, model,"
        " state, error, passages, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (id, conversation, message.parent, message.role, *_columns(message), now),
    )
    db.execute("UPDATE conversations SET leaf = ?, changed = ? WHERE id = ?", (id, time.time(), conversation))
    return replace(message, id=id, created=now)


def update(db: sqlite3.Connection, message: StoredMessage) -> None:
    """Everything but place and role."""
    db.execute(
        "UPDATE messages SET text = ?, reasoning = ?, calls = ?, attachments = ?, figures = ?, model = ?, state = ?,"
        " error = ?, passages = ? WHERE id = ?",
        (*_columns(message), message.id),
    )


def _columns(message: StoredMessage) -> tuple[Any, ...]:
    return (
        message.text,
        message.reasoning,
        json.dumps([vars(call) for call in message.calls], ensure_ascii=False),
        json.dumps([vars(a) for a in message.attachments], ensure_ascii=False),
        json.dumps(vars(message.figures)),
        message.model,
        message.state,
        message.error,
        json.dumps([vars(one) for one in message.passages], ensure_ascii=False),
    )


def all_of(db: sqlite3.Connection, conversation: int) -> list[StoredMessage]:
    """Every message of every branch, oldest first."""
    rows = db.execute("SELECT * FROM messages WHERE conversation = ? AND deleted IS NULL ORDER BY id", (conversation,))
    return [_message(row) for row in rows]


def _message(row: sqlite3.Row) -> StoredMessage:
    return StoredMessage(
        row["id"],
        row["parent"],
        row["role"],
        row["text"],
        row["reasoning"],
        tuple(ToolUse(**call) for call in json.loads(row["calls"])),
        tuple(Attachment(**a) for a in json.loads(row["attachments"])),
        ReplyStatistics(**json.loads(row["figures"])),
        row["model"],
        row["state"],
        row["error"],
        row["created"],
        tuple(GivenPassage(**one) for one in json.loads(row["passages"])),
    )


def show(db: sqlite3.Connection, conversation: int, leaf: int | None) -> None:
    """Which branch is shown: the one that ends in this message."""
    db.execute("UPDATE conversations SET leaf = ? WHERE id = ?", (leaf, conversation))


def remove(db: sqlite3.Connection, conversation: int, id: int, leaf: int | None) -> None:
    """A message and everything below it, out of sight; `restore` brings them back until they are purged."""
    db.execute(
        f"UPDATE messages SET deleted = ? WHERE deleted IS NULL AND id IN ({_BELOW})",
        (time.time(), id),
    )
    show(db, conversation, leaf)


def restore(db: sqlite3.Connection, conversation: int, id: int, leaf: int | None) -> bool:
    """What `remove` took with this message. False when it is gone for good."""
    found = db.execute(
        "UPDATE messages SET deleted = NULL WHERE deleted = (SELECT deleted FROM messages WHERE id = ?)"
        f" AND id IN ({_BELOW})",
        (id, id),
    )
    if found.rowcount <= 0:
        return False
    show(db, conversation, leaf)
    return True


def settle(db: sqlite3.Connection) -> int:
    """Messages that were being written when the process ended are marked as stopped. Returns how many there were."""
    return db.execute("UPDATE messages SET state = 'stopped' WHERE state = 'writing'").rowcount


def add_all(db: sqlite3.Connection, conversation: int, messages: Sequence[StoredMessage]) -> None:
    """Insert an imported tree; ids and parents are those of the import, and become new ones."""
    new_ids: dict[int, int] = {}
    for message in messages:
        parent = new_ids.get(message.parent) if message.parent is not None else None
        new_ids[message.id] = add(db, conversation, replace(message, parent=parent)).id
