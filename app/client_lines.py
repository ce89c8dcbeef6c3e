"""The lines that connect a program to the server, as docs/clients.md has them.

The page is part of the package as `resources/clients.md`, so that the window shows what the page says. The tests with real
programs run what is read here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import resources

_RESOURCES = resources.path()
_CHECKOUT = (
    _RESOURCES.parent / "docs" / "clients.md"
)  # where links of git are none, as on Windows, the one in resources is no page
PAGE = _CHECKOUT if _CHECKOUT.is_file() else _RESOURCES / "clients.md"
_ADDRESS, _KEY, _MODEL = "http://127.0.0.1:8080", "YOUR_KEY", "MODEL"
_SECTION = re.compile(r"^### ([^\n]+)\n(.*?)(?=^###? |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"(?:^In `([^`\n]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INSTALL = re.compile(r"^Install: `([^`\n]+)`", re.MULTILINE)


@dataclass(frozen=True)
class LinesBlock:
    """Lines of one language: for a file, for a shell, or a program of their own."""

    file: str  # empty where they are no file's
    language: str
    text: str


@dataclass(frozen=True)
class ClientLines:
    name: str
    install: str
    blocks: tuple[LinesBlock, ...]

    @property
    def where(self) -> str:
        """What to do before, in a few words: the file that the lines belong into, else how the program is installed."""
        return next((block.file for block in self.blocks if block.file), self.install)

    def written(self, address: str, key: str, model: str) -> str:
        """All blocks with the server's address, a key and a model; a comment precedes those after a file's."""
        first, *others = (filled(block.text, address, key, model).rstrip("\n") for block in self.blocks)
        return "\n\n".join([first, *(f"# and in the shell:\n{text}" for text in others)])


def filled(text: str, address: str, key: str, model: str) -> str:
    for word, value in ((_ADDRESS, address), (_KEY, key), (_MODEL, model)):
        text = re.sub(rf"\b{re.escape(word)}\b", value.replace("\\", r"\\"), text)
    return text


@cache
def client_lines() -> dict[str, ClientLines]:
    found: dict[str, ClientLines] = {}
    for name, section in _SECTION.findall(PAGE.read_text(encoding="utf-8")):
        install = _INSTALL.search(section)
        blocks = tuple(LinesBlock(*block) for block in _BLOCK.findall(section))
        found[name] = ClientLines(name, install[1] if install else "", blocks)
    return found
