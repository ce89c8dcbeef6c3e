"""Previews of code blocks: SVG as a picture, CSV as a table, HTML as a page for the browser, Python run in the sandbox; and their versions.

Versions are the blocks of the same kind on the branch that is shown, in their order.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from app.gui.store.messages import StoredMessage
from app.gui.texts import tr
from app.gui.viewmodels.chat.markdown import pieces
from app.gui.viewmodels.signal import Signal
from app.window_engine import JobRunner

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

PreviewKind = Literal["svg", "csv", "html", "python"]

LARGEST_SVG = 1 << 20  # characters
_MOST_ELEMENTS, _MOST_USES, _MOST_COPIES, _DEEPEST = 20_000, 500, 100_000, 20
MOST_ROWS, MOST_COLUMNS = 1000, 50
_LANGUAGES: dict[str, PreviewKind] = {
    "svg": "svg", "csv": "csv", "tsv": "csv", "html": "html", "htm": "html", "python": "python", "py": "python", "python3": "python"
}  # fmt: skip
_SVG = re.compile(r"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<svg[\s>]", re.S | re.I)
_OUTSIDE = re.compile(r"""\b(xlink:)?href\s*=\s*(["'])(?!#|data:image/(png|jpe?g);)[^"']*\2""", re.I)
# a browser fetches nothing, sends nothing and leads nowhere
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
    "media-src data: blob:; connect-src 'none'; frame-src 'none'; form-action 'none'; base-uri 'none'"
)


@dataclass(frozen=True)
class PreviewBlock:
    message: int
    kind: PreviewKind
    text: str


def kind_of(language: str, text: str) -> PreviewKind | None:
    """None: there is nothing to preview."""
    if language.lower() in ("xml", "svg", "") and _SVG.match(text):
        return "svg"
    kind = _LANGUAGES.get(language.lower())
    return None if kind == "svg" else kind


def blocks(path: Sequence[StoredMessage]) -> list[PreviewBlock]:
    """All of a branch, in their order."""
    return [
        PreviewBlock(message.id, kind, piece.text)
        for message in path
        if message.role == "assistant" and message.text
        for piece in pieces(message.text)
        if piece.kind == "code" and (kind := kind_of(piece.language, piece.text)) is not None
    ]


def rows(text: str) -> list[list[str]]:
    """The first rows of a table of commas, semicolons or tabs."""
    head = text[:4096]
    separator = max(",;\t", key=head.count)
    found = []
    for row in csv.reader(io.StringIO(text), delimiter=separator):
        if row:
            found.append([cell[:1000] for cell in row[:MOST_COLUMNS]])
        if len(found) > MOST_ROWS:
            break
    return found


def drawable(text: str) -> bytes:
    """An SVG without references to anything outside it. Raises ValueError."""
    from xml.etree import ElementTree

    if len(text) > LARGEST_SVG:
        raise ValueError(tr("This picture is too large for a preview."))
    if "<!entity" in text.lower():
        raise ValueError(tr("This picture defines entities, and is not drawn."))
    try:
        too_many = _copies(ElementTree.fromstring(text)) > _MOST_COPIES
    except ElementTree.ParseError:
        raise ValueError(tr("This picture cannot be drawn.")) from None
    if too_many:
        raise ValueError(tr("This picture is too large for a preview."))
    return _OUTSIDE.sub("", text).encode()


def _copies(picture: Element) -> int:
    """How many elements `use` draws: copies of copies grow without end."""
    every = list(picture.iter())
    named = {name: one for one in every if (name := one.get("id"))}
    uses = sum(one.tag.endswith("use") for one in every)
    if len(every) > _MOST_ELEMENTS or uses > _MOST_USES:
        return _MOST_COPIES + 1
    known: dict[str, int] = {}

    def drawn(name: str, within: tuple[str, ...]) -> int:
        if name in within or len(within) > _DEEPEST:
            return _MOST_COPIES + 1
        if name not in known and name in named:
            inside = list(named[name].iter())
            known[name] = min(
                len(inside) + sum(drawn(used, (*within, name)) for one in inside if (used := _used(one))),
                _MOST_COPIES + 1,
            )
        return known.get(name, 0)

    return sum(drawn(name, ()) for one in every if (name := _used(one)))


def _used(element: Element) -> str:
    """The name of what `use` draws; empty for another element."""
    if not element.tag.endswith("use"):
        return ""
    return next((value.removeprefix("#") for name, value in element.items() if name.endswith("href")), "")


def page(text: str) -> str:
    """A page around HTML that a model wrote. Scripts in it run in a sandbox that belongs to no site; the policy holds for it, too."""
    return (
        '<!doctype html><html><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        '<meta name="referrer" content="no-referrer"><meta http-equiv="x-dns-prefetch-control" content="off">'
        "<title>Grus</title><style>html,body{margin:0;height:100%}iframe{display:block;border:0;width:100%;height:100%}</style></head>"
        f'<body><iframe sandbox="allow-scripts" srcdoc="{escape(text)}"></iframe></body></html>'
    )


class Preview:
    """`changed`: another block is shown, or none; or code began or ended."""

    def __init__(self, work: JobRunner, path: Callable[[], Sequence[StoredMessage]]) -> None:
        self._work, self._path = work, path
        self.changed = Signal()
        self.versions: list[PreviewBlock] = []
        self.at = 0
        self.output = ""  # what the code printed
        self.failed = False
        self._stop: Future[None] | None = None

    @property
    def block(self) -> PreviewBlock | None:
        return self.versions[self.at] if self.versions else None

    @property
    def running(self) -> bool:
        return self._stop is not None

    def open(self, message: int, language: str, text: str) -> None:
        kind = kind_of(language, text)
        if kind is None:
            return
        same = [block for block in blocks(self._path()) if block.kind == kind]
        own = PreviewBlock(message, kind, text)
        self.versions = same if own in same else [own]
        self._go_to(self.versions.index(own))

    def turn(self, by: int) -> None:
        """To the version before (-1) or after (+1) this one."""
        if 0 <= self.at + by < len(self.versions):
            self._go_to(self.at + by)

    def close(self) -> bool:
        """False where nothing was shown."""
        there, self.versions = bool(self.versions), []
        self._go_to(0)
        return there

    def run(self) -> None:
        """The Python that is shown, in the sandbox."""
        if self.block is None or self.block.kind != "python" or self.running:
            return
        code, stop = self.block.text, Future[None]()
        self._stop, self.output, self.failed = stop, "", False

        def work() -> tuple[str, bool]:
            from app.runtime.tools.sandbox import missing_sandbox, run_sandboxed

            if why := missing_sandbox():
                return str(why), True
            try:
                result = run_sandboxed(code, stop)
            except CancelledError:
                return tr("Stopped"), True
            return result.text, result.failed

        def taken(answer: tuple[str, bool]) -> None:
            if self._stop is stop:
                self._stop = None
                self.output, self.failed = answer
                self.changed()

        self._work.run(work, taken, lambda sentence: taken((sentence, True)))
        self.changed()

    def stop(self) -> bool:
        """End the code that runs. False where none does."""
        if self._stop is None:
            return False
        with suppress(InvalidStateError):
            self._stop.set_result(None)
        return True

    def _go_to(self, at: int) -> None:
        self.stop()
        self._stop, self.output, self.failed = None, "", False
        self.at = at
        self.changed()

    def look(self, *_: Any) -> None:
        """Another conversation or branch is shown: what is not in it is not previewed any more."""
        if self.block is not None and self.block.message not in [message.id for message in self._path()]:
            self.close()
