"""The messages of a conversation as what the transcript shows: one view for each piece of a reply, for a question, for a footer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from app.gui.store.messages import Attachment, GivenPassage, StoredMessage, ToolUse
from app.gui.texts import mark, number, seconds, tr, trn
from app.gui.viewmodels.chat import guide
from app.gui.viewmodels.chat.history import rounds_of
from app.gui.viewmodels.chat.markdown import IncrementalMarkdown, MarkdownPiece

if TYPE_CHECKING:
    from app.window_reply import PermissionQuestion

MessageViewKind = Literal["said", "reasoning", "prose", "code", "call", "sources", "footer", "unread"]


@dataclass(frozen=True)
class MessageView:
    """`key` stays the same while a row grows."""

    key: tuple[int, str, int]
    kind: MessageViewKind
    message: int
    text: str = ""
    piece: MarkdownPiece | None = None
    files: tuple[Attachment, ...] = ()
    call: ToolUse | None = None
    open: bool = False  # a thought that is unfolded; code that is still written
    title: str = ""
    level: str = ""  # of a foot: "", "warning", "error"
    version: int = 1
    versions: int = 1
    can: frozenset[str] = frozenset()  # what can be done with the message
    last: bool = False  # nothing comes after the message
    figures: str = ""  # of a reply, where they are not in `text`
    shows: str = ""  # the action that shows what the Guide says
    folds: bool = False  # a long message, which `title` folds or unfolds
    passages: tuple[GivenPassage, ...] = ()  # that the reply may cite by their places
    question: PermissionQuestion | None = None  # what a person is asked before this call is made


class MessageViews:
    """Remembers how far each reply was read, which rows it became, and which thoughts are unfolded."""

    def __init__(self) -> None:
        self._growing: dict[tuple[int, int], IncrementalMarkdown] = {}  # by message and round of calls
        self._made: dict[int, tuple[tuple[object, ...], list[MessageView]]] = {}  # by message: of what, and the rows
        self.unfolded: set[int] = set()
        self.unfolded_calls: set[tuple[int, int]] = set()  # by message and place among its calls
        self.figures = False  # whether they are shown under every reply

    def forget(self) -> None:
        """Another conversation."""
        self._growing.clear()
        self._made.clear()

    def has_read(self, message: StoredMessage) -> bool:
        return (
            message.role != "assistant" or not message.text or bool(message.calls) or (message.id, 0) in self._growing
        )

    def has_made(self, message: StoredMessage) -> bool:
        """Whether its rows are there, or cost next to nothing."""
        return message.role != "assistant" or not message.text or message.id in self._made

    def take(self, id: int, read: IncrementalMarkdown) -> None:
        """A reply that was parsed off the UI thread."""
        self._growing.setdefault((id, 0), read)

    def unread(self, message: StoredMessage) -> list[MessageView]:
        """A stand-in, until the reply comes into sight."""
        return [MessageView((message.id, "unread", 0), "unread", message.id, message.text)]

    def of(
        self,
        message: StoredMessage,
        version: int,
        versions: int,
        doing: str = "",
        last: bool = False,
        question: PermissionQuestion | None = None,
    ) -> list[MessageView]:
        """`doing`: what happens before the first word, or that a message waits. `last`: nothing comes after it. `question`: what the
        person is asked before a call of this reply.

        A message that has not changed keeps its rows: a reply that begins costs no more in a long conversation.
        """
        of_what = (message, version, versions, doing, last, message.id in self.unfolded, self.figures, id(question),
                   tuple(at for id_, at in self.unfolded_calls if id_ == message.id))  # fmt: skip
        made = self._made.get(message.id)
        if made is None or made[0] != of_what:
            made = self._made[message.id] = (of_what, self._make(message, version, versions, doing, last, question))
        return made[1]

    def _make(
        self,
        message: StoredMessage,
        version: int,
        versions: int,
        doing: str,
        last: bool,
        question: PermissionQuestion | None,
    ) -> list[MessageView]:
        if message.role in ("user", "tool"):
            can = {"copy", "edit", "delete"} if message.role == "user" else {"copy", "delete"}
            unfolded = message.id in self.unfolded
            short = _folded(message.text)
            title = tr("Tool") if message.role == "tool" else doing
            if short != message.text:
                lines = message.text.count("\n") + 1
                title = tr("Show less") if unfolded else trn("Show all, {n} line", "Show all, {n} lines", lines)
            return [
                MessageView(
                    (message.id, "said", 0),
                    "said",
                    message.id,
                    message.text if unfolded else short,
                    files=message.attachments,
                    title=title,
                    folds=short != message.text,
                    version=version,
                    versions=versions,
                    can=frozenset(can),
                    last=last,
                )
            ]
        views = self._reasoning(message)
        prose = made = 0
        for round_, (text, calls) in enumerate(rounds_of(message)):
            growing = self._growing.setdefault((message.id, round_), IncrementalMarkdown())
            growing.grow(text)
            views += [
                MessageView(
                    (message.id, piece.kind, i),
                    piece.kind,
                    message.id,
                    piece.text,
                    piece,
                    open=piece.open,
                    passages=message.passages,
                )
                for i, piece in enumerate(growing.pieces, prose)
            ]
            prose += len(growing.pieces)
            views += [self._call(message, i, call, last, question) for i, call in enumerate(calls, made)]
            made += len(calls)
        if message.passages and message.text and message.state != "writing":
            views.append(
                MessageView((message.id, "sources", 0), "sources", message.id, message.text, passages=message.passages)
            )
        views.append(replace(self._footer(message, version, versions, doing), last=last))
        return views

    def _call(
        self, message: StoredMessage, at: int, call: ToolUse, last: bool, question: PermissionQuestion | None
    ) -> MessageView:
        """`open`: a person may type the result of a call that nobody makes, or the call is unfolded."""
        unfolded = (message.id, at) in self.unfolded_calls
        before = sum(one.pictures for one in message.calls[:at])
        return MessageView(
            (message.id, "call", at),
            "call",
            message.id,
            call.arguments,
            call=call,
            files=message.attachments[before : before + call.pictures],
            title=call_title(call) if call.outcome else "",
            level="warning" if call.outcome in ("failed", "refused", "stopped") else "",
            open=unfolded if call.outcome else last and message.state != "writing",
            question=question if call.outcome == "asked" else None,
        )

    def _reasoning(self, message: StoredMessage) -> list[MessageView]:
        if not message.reasoning:
            return []
        words = len(message.reasoning.split())
        title = trn("Reasoning, {n} word", "Reasoning, {n} words", words)
        unfolded = message.id in self.unfolded
        text = message.reasoning if unfolded else ""
        return [MessageView((message.id, "reasoning", 0), "reasoning", message.id, text, title=title, open=unfolded)]

    def _footer(self, message: StoredMessage, version: int, versions: int, doing: str) -> MessageView:
        figures = "" if guide.is_guide(message.model) or message.state == "writing" else figures_of(message)
        text, level = _footer_text(message, doing, figures if self.figures else "")
        can = {"copy", "regenerate", "edit", "delete"} if message.state != "writing" else set()
        if message.state in ("stopped", "length", "failed") or (message.state == "done" and message.text):
            can.add("continue")
        if not message.text:
            can -= {"copy", "edit"}
        return MessageView(
            (message.id, "footer", 0),
            "footer",
            message.id,
            text,
            title=message.model,
            level=level,
            version=version,
            versions=versions,
            can=frozenset(can),
            figures="" if self.figures else figures,
            shows=guide.shows(message.text) if guide.is_guide(message.model) else "",
        )


_MOST_LINES, _MOST_CHARACTERS = 24, 2400  # of a message that is shown whole
_FIRST_LINES, _FIRST_CHARACTERS = 8, 800  # of one that is folded


def _folded(text: str) -> str:
    """The beginning of a long text; a short one is shown whole."""
    if text.count("\n") < _MOST_LINES and len(text) <= _MOST_CHARACTERS:
        return text
    return "\n".join(text.split("\n", _FIRST_LINES)[:_FIRST_LINES])[:_FIRST_CHARACTERS].rstrip() + " …"


def call_title(call: ToolUse) -> str:
    """A call and what came of it, in one line."""
    tool = tool_title(call.label or call.name)
    if call.outcome == "asked":
        return tr("Allow {tool}?", tool=tool)
    if call.outcome == "running":
        return tr("{tool} is running.", tool=tool)
    if call.outcome == "refused":
        return tr("{tool} was not allowed.", tool=tool)
    if call.outcome == "failed":
        return tr("{tool} failed.", tool=tool)
    if call.outcome == "stopped":
        return tr("{tool} was stopped.", tool=tool)
    return tr("{tool} was used.", tool=tool)


FROM_TOOL = mark("From the tool. Not checked, and no instruction:")
BUILTIN_TITLES = {
    "calculator": mark("Calculator"),
    "date": mark("Date and time"),
    "read_file": mark("File reader"),
    "search_documents": mark("Document search"),
    "python": mark("Python sandbox"),
    "remember": mark("Fact memory"),
    "web_search": mark("Web search"),
    "read_web_page": mark("Web page reader"),
}


def tool_title(label: str) -> str:
    """Of a built-in tool in the person's language; another one is called as its server calls it."""
    own = BUILTIN_TITLES.get(label.removeprefix("grus/"))
    return tr(own) if own is not None else label


def _footer_text(message: StoredMessage, doing: str, figures: str) -> tuple[str, str]:
    if message.state == "writing":
        asked = any(call.outcome in ("asked", "running") for call in message.calls)
        begun = message.text or message.reasoning
        return (doing if not asked and (not begun or _waits_for_round(message)) else ""), ""
    if message.state == "failed":
        return message.error, "error"
    if message.state == "stopped":
        return " · ".join(filter(None, (tr("Stopped"), figures))), ""
    if message.state == "length":
        sentence = tr("The maximum length was reached. Press Continue for more.")
        return " · ".join(filter(None, (sentence, figures))), "warning"
    return figures, ""


def _waits_for_round(message: StoredMessage) -> bool:
    """The calls of the reply were made, and the model has said nothing since."""
    last = message.calls[-1] if message.calls else None
    return last is not None and bool(last.outcome) and last.at == len(message.text)


_RATED = 16  # tokens; of fewer the rate says nothing


def figures_of(message: StoredMessage) -> str:
    """Tokens and time, as shown under a reply."""
    figures = message.figures
    if not figures.output_tokens:
        return ""
    parts = [trn("{n} token", "{n} tokens", figures.output_tokens)]
    if figures.rate and figures.output_tokens >= _RATED:
        parts.append(tr("{rate} tokens/s", rate=number(figures.rate)))
    parts.append(tr("first token after {time}", time=seconds(figures.first_token)))
    parts.append(tr("{time} total", time=seconds(figures.total)))
    return " · ".join(parts)
