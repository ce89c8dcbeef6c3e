"""A conversation as message views: user text, prose, code, reasoning, tool calls, footers. Widgets exist only for those in sight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.gui.store.messages import Attachment, Message, ToolUse
from app.gui.texts import number, seconds, tr, trn
from app.gui.viewmodels.chat.markdown import Growing, Piece

# "unread": a reply that nobody has looked at yet; `Rows.of` makes the rows it stands for
RowKind = Literal["said", "thought", "prose", "code", "call", "foot", "unread"]


@dataclass(frozen=True)
class Row:
    """`key` stays the same while a row grows."""

    key: tuple[int, str, int]
    kind: RowKind
    message: int
    text: str = ""
    piece: Piece | None = None
    files: tuple[Attachment, ...] = ()
    call: ToolUse | None = None
    open: bool = False  # a thought that is unfolded; code that is still written
    title: str = ""
    level: str = ""  # of a foot: "", "warning", "error"
    version: int = 1
    versions: int = 1
    can: frozenset[str] = frozenset()  # what can be done with the message


class Rows:
    """Remembers how far each reply was read, which rows it became, and which thoughts are unfolded."""

    def __init__(self) -> None:
        self._growing: dict[int, Growing] = {}
        self._made: dict[int, tuple[tuple[object, ...], list[Row]]] = {}  # by message: of what, and the rows
        self.unfolded: set[int] = set()

    def forget(self) -> None:
        """Another conversation."""
        self._growing.clear()
        self._made.clear()

    def has_read(self, message: Message) -> bool:
        return message.role != "assistant" or not message.text or message.id in self._growing

    def has_made(self, message: Message) -> bool:
        """Whether its rows are there, or cost next to nothing."""
        return message.role != "assistant" or not message.text or message.id in self._made

    def take(self, id: int, read: Growing) -> None:
        """A reply that was read beside the UI thread."""
        self._growing.setdefault(id, read)

    def unread(self, message: Message) -> list[Row]:
        """A stand-in, until the reply comes into sight."""
        return [Row((message.id, "unread", 0), "unread", message.id, message.text)]

    def of(self, message: Message, version: int, versions: int, doing: str = "", last: bool = False) -> list[Row]:
        """`doing`: what happens before the first word. `last`: nothing comes after it.

        A message that has not changed keeps its rows: a reply that begins costs no more in a long conversation.
        """
        of_what = (message, version, versions, doing, last, message.id in self.unfolded)
        made = self._made.get(message.id)
        if made is None or made[0] != of_what:
            made = self._made[message.id] = (of_what, self._make(message, version, versions, doing, last))
        return made[1]

    def _make(self, message: Message, version: int, versions: int, doing: str, last: bool) -> list[Row]:
        if message.role in ("user", "tool"):
            can = {"copy", "edit", "delete"} if message.role == "user" else {"copy", "delete"}
            return [
                Row(
                    (message.id, "said", 0),
                    "said",
                    message.id,
                    message.text,
                    files=message.attachments,
                    title=tr("Tool") if message.role == "tool" else "",
                    version=version,
                    versions=versions,
                    can=frozenset(can),
                )
            ]
        rows = self._thought(message)
        growing = self._growing.setdefault(message.id, Growing())
        growing.grow(message.text)
        rows += [
            Row((message.id, piece.kind, i), piece.kind, message.id, piece.text, piece, open=piece.open)
            for i, piece in enumerate(growing.pieces)
        ]
        rows += [
            Row((message.id, "call", i), "call", message.id, call.arguments, call=call, open=last)
            for i, call in enumerate(message.calls)
        ]
        rows.append(self._foot(message, version, versions, doing))
        return rows

    def _thought(self, message: Message) -> list[Row]:
        if not message.reasoning:
            return []
        words = len(message.reasoning.split())
        thinking = message.state == "writing" and not message.text
        title = (
            trn("Thinking, {n} word", "Thinking, {n} words", words)
            if thinking
            else trn("Thought for {n} word", "Thought for {n} words", words)
        )
        unfolded = message.id in self.unfolded
        text = message.reasoning if unfolded else ""
        return [Row((message.id, "thought", 0), "thought", message.id, text, title=title, open=unfolded)]

    def _foot(self, message: Message, version: int, versions: int, doing: str) -> Row:
        text, level = _told(message, doing)
        can = {"copy", "regenerate", "edit", "delete"} if message.state != "writing" else set()
        if message.state in ("stopped", "length", "failed") or (message.state == "done" and message.text):
            can.add("continue")
        if not message.text:
            can -= {"copy", "edit"}
        return Row(
            (message.id, "foot", 0),
            "foot",
            message.id,
            text,
            title=message.model,
            level=level,
            version=version,
            versions=versions,
            can=frozenset(can),
        )


def _told(message: Message, doing: str) -> tuple[str, str]:
    if message.state == "writing":
        return (doing if not message.text and not message.reasoning else ""), ""
    if message.state == "failed":
        return message.error, "error"
    figures = figures_of(message)
    if message.state == "stopped":
        return " · ".join(filter(None, (tr("Stopped"), figures))), ""
    if message.state == "length":
        told = tr("The longest reply was reached. Continue goes on.")
        return " · ".join(filter(None, (told, figures))), "warning"
    return figures, ""


def figures_of(message: Message) -> str:
    """Tokens and time, as told under a reply."""
    figures = message.figures
    if not figures.output_tokens:
        return ""
    parts = [trn("{n} token", "{n} tokens", figures.output_tokens)]
    if figures.rate:
        parts.append(tr("{rate} tokens/s", rate=number(figures.rate)))
    parts.append(tr("first after {time}", time=seconds(figures.first_token)))
    parts.append(tr("{time} in all", time=seconds(figures.total)))
    return " · ".join(parts)
