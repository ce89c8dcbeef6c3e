"""Conversations of other applications in the database: each once, however often its export is imported.

Every function is a question for the store: it takes the connection first. That a conversation was imported is a fact
(`import.` and its origin), which goes with it.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence

from app.gui.store import conversations, messages
from app.gui.store.messages import Attachment, StoredMessage, ToolUse
from app.runtime.imports.conversation import ImportedConversation

_LONGEST_TITLE = 80


def is_there(db: sqlite3.Connection, origin: str) -> bool:
    """Whether the conversation was imported and is not deleted."""
    found = db.execute(
        "SELECT 1 FROM facts JOIN conversations ON conversations.id = facts.value"
        " WHERE facts.name = ? AND conversations.deleted IS NULL",
        (f"import.{origin}",),
    ).fetchone()
    return found is not None


def add(db: sqlite3.Connection, found: ImportedConversation, files: Mapping[str, Sequence[Attachment]]) -> int | None:
    """The id of the new conversation; None where it is there. `files`: by the message's id."""
    if is_there(db, found.origin):
        return None
    ids = {message.id: at for at, message in enumerate(found.messages, 1)}
    first = next((message.text for message in found.messages if message.role == "user" and message.text), "")
    title = " ".join((found.title or first).split())[:_LONGEST_TITLE]
    id = conversations.create(db, found.model, found.system, title=title)
    kept = [
        StoredMessage(
            ids[one.id],
            None if one.parent is None else ids[one.parent],
            one.role,
            one.text,
            one.reasoning,
            tuple(ToolUse(call.name, call.arguments, call.id) for call in one.calls),
            tuple(files.get(one.id, ())),
            model=one.model,
            created=one.created,
        )
        for one in found.messages
    ]
    messages.add_all(db, id, kept)
    new = dict(zip(ids, (message.id for message in messages.all_of(db, id))))
    now = time.time()
    db.execute(
        "UPDATE conversations SET leaf = ?, pinned = ?, created = ?, changed = ? WHERE id = ?",
        (
            new.get(found.leaf or "", [*new.values()][-1]),
            found.pinned,
            found.created or now,
            found.changed or found.created or now,
            id,
        ),
    )
    db.execute("DELETE FROM facts WHERE name LIKE 'import.%' AND value NOT IN (SELECT id FROM conversations)")
    db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (f"import.{found.origin}", id))
    return id
