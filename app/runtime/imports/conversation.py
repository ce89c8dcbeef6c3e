"""An imported conversation as plain data, and the tree that every application's messages become."""

from __future__ import annotations

import base64
import datetime
import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

ImportedRole = Literal["user", "assistant", "tool"]


@dataclass(frozen=True)
class ImportedFile:
    """A file of a message: `name` as the person knows it, `read` its bytes, or `text` where only that was exported."""

    name: str
    read: Callable[[], bytes] | None = None
    text: str = ""


@dataclass(frozen=True)
class ImportedCall:
    """A tool call that the model made."""

    name: str
    arguments: str = ""
    id: str = ""


@dataclass(frozen=True)
class ImportedMessage:
    """`parent` is the `id` of the message before it; several with one parent are branches."""

    id: str
    parent: str | None
    role: ImportedRole
    text: str = ""
    reasoning: str = ""
    calls: tuple[ImportedCall, ...] = ()
    files: tuple[ImportedFile, ...] = ()
    model: str = ""
    created: float = 0.0


@dataclass(frozen=True)
class ImportedConversation:
    """`origin` identifies a conversation, so that it is imported once. `leaf`: the last message of the branch that
    is shown. Messages come after their parents."""

    origin: str
    title: str
    messages: tuple[ImportedMessage, ...]
    leaf: str | None = None
    model: str = ""
    system: str = ""
    created: float = 0.0
    changed: float = 0.0
    pinned: bool = False


@dataclass(frozen=True)
class UnreadableConversation:
    """One that is left out: its title, or where it lies."""

    title: str


@dataclass
class _Node:
    message: ImportedMessage | None  # None: it is not shown, and its children hang on its parent
    reasoning: str = ""  # what a hidden node thought, for the reply below it


@dataclass
class ImportedTree:
    """Messages by their id, in any order; those that are not shown are bridged."""

    nodes: dict[str, _Node] = field(default_factory=dict)
    parents: dict[str, str | None] = field(default_factory=dict)

    def add(self, id: str, parent: str | None, message: ImportedMessage | None, reasoning: str = "") -> None:
        if id in self.nodes:
            raise ValueError(f"two messages have the id {id}")
        self.nodes[id], self.parents[id] = _Node(message, reasoning), parent

    def messages(self) -> tuple[ImportedMessage, ...]:
        """Each after its parent, siblings in the order in which they were added."""
        children: dict[str | None, list[str]] = {}
        for id, parent in self.parents.items():
            children.setdefault(parent if parent in self.nodes else None, []).append(id)
        found: list[ImportedMessage] = []
        waiting: list[tuple[str, str | None, str]] = [(id, None, "") for id in reversed(children.get(None, []))]
        while waiting:
            id, parent, thought = waiting.pop()
            node = self.nodes[id]
            thought = "\n\n".join(part for part in (thought, node.reasoning) if part)
            if node.message is not None:
                own = "\n\n".join(part for part in (thought, node.message.reasoning) if part)
                reasoning = own if node.message.role == "assistant" else node.message.reasoning
                found.append(replace(node.message, parent=parent, reasoning=reasoning))
                parent, thought = id, ""
            waiting += [(child, parent, thought) for child in reversed(children.get(id, []))]
        return tuple(found)

    def shown(self, id: str | None) -> str | None:
        """The message itself, or the next one above it that is shown."""
        seen = set()
        while id is not None and id in self.nodes and id not in seen:
            if self.nodes[id].message is not None:
                return id
            seen.add(id)
            id = self.parents[id]
        return None


def seconds(value: Any) -> float:
    """A time as exports write it: seconds or milliseconds since 1970, or ISO 8601; 0 where there is none."""
    if isinstance(value, str) and value:
        try:
            return datetime.datetime.fromisoformat(value).timestamp()
        except ValueError:
            return 0.0
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
        while number > 1e11:  # milliseconds, or nanoseconds
            number /= 1000
        return number if number > 0 else 0.0
    return 0.0


def text_of(value: Any) -> str:
    """A text; anything else is an error of the export."""
    if not isinstance(value, str):
        raise TypeError("a text is missing")
    return value


def listed(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list; null is an empty one."""
    for one in value or ():
        if isinstance(one, dict):
            yield one


def picture(address: str, name: str) -> ImportedFile | None:
    """A picture that is written into its address; one that lies elsewhere is not fetched."""
    head, _, data = address.partition(",")
    if not head.startswith("data:image/") or not head.endswith(";base64"):
        return None
    kind = head[len("data:image/") : -len(";base64")].partition("+")[0]
    return ImportedFile(f"{name}.{kind}", lambda: base64.b64decode(data, validate=True))


_REASONING = re.compile(
    r"\s*(?:<details type=\"reasoning\"[^>]*>\s*(?:<summary>.*?</summary>)?(?P<quoted>.*?)</details>"
    r"|<think(?:ing)?>(?P<plain>.*?)</think(?:ing)?>)\s*",
    re.DOTALL,
)


def split_reasoning(text: str) -> tuple[str, str]:
    """Reasoning that is written into a reply, and the reply without it."""
    parts = []
    for found in _REASONING.finditer(text):
        quoted = found["quoted"]
        if quoted is None:
            parts.append(found["plain"].strip())
        else:
            lines = (re.sub(r"^> ?", "", line) for line in quoted.strip().splitlines())
            parts.append(html.unescape("\n".join(lines)))
    return "\n\n".join(part for part in parts if part), _REASONING.sub("\n", text).strip() if parts else text
