"""What bytes a token stands for, read from the decoder that a tokenizer file describes.

Two families cover language models: byte-level BPE, whose tokens spell bytes with printable characters, and
SentencePiece, whose tokens are text with a mark for the space and `<0xNN>` for single bytes. Encoders have WordPiece too, whose
tokens are words, and marked parts that continue one. Knows no ids and no files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import TokenizerError

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def _byte_alphabet() -> dict[str, int]:
    """GPT-2's spelling: printable Latin-1 stands for itself, every other byte for a character from 256 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}


BYTE_OF_CHAR = _byte_alphabet()


@dataclass(frozen=True)
class Spelling:
    """How tokens of one vocabulary spell bytes."""

    byte_level: bool = False
    byte_fallback: bool = False
    replacements: tuple[tuple[str, str], ...] = ()
    strip: int = 0  # spaces that are dropped where a text begins
    continues: str = ""  # WordPiece's mark of a token that continues a word; others begin one

    def bytes_of(self, token: str) -> bytes:
        if self.byte_level:
            try:
                return bytes(BYTE_OF_CHAR[char] for char in token)
            except KeyError:  # not spelled in bytes: a token that was put into the vocabulary as plain text
                return token.encode()
        if self.byte_fallback and (match := _BYTE_TOKEN.fullmatch(token)):
            return bytes([int(match[1], 16)])
        if self.continues:
            inside = token.startswith(self.continues)
            return (token.removeprefix(self.continues) if inside else f" {token}").encode()
        for old, new in self.replacements:
            token = token.replace(old, new)
        return token.encode()


def spelling_of(decoder: Mapping[str, Any] | None) -> Spelling:
    """Read the `decoder` of a tokenizer.json."""
    byte_level = byte_fallback = False
    replacements: list[tuple[str, str]] = []
    strip, continues = 0, ""
    for step in _steps(decoder):
        kind = step.get("type")
        if kind == "ByteLevel":
            byte_level = True
        elif kind == "ByteFallback":
            byte_fallback = True
        elif kind == "Replace" and "String" in step.get("pattern", {}):
            replacements.append((step["pattern"]["String"], step.get("content", "")))
        elif kind == "Metaspace":
            replacements.append((step.get("replacement", "▁"), " "))
            scheme = step.get("prepend_scheme", "always" if step.get("add_prefix_space", True) else "never")
            strip = 0 if scheme == "never" else 1
        elif kind == "Strip" and step.get("content") == " " and not step.get("stop"):
            strip = int(step.get("start", 0))
        elif kind == "WordPiece":
            continues, strip = str(step.get("prefix") or "##"), 1
        elif kind != "Fuse":
            raise TokenizerError(
                f"The tokenizer decodes with {kind or 'nothing'!r}, which no language model that Grus reads uses. "
                "Byte-level BPE and SentencePiece tokenizers are supported."
            )
    return Spelling(byte_level, byte_fallback, tuple(replacements), strip, continues)


def _steps(decoder: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    if decoder is None:
        yield {}
    elif decoder.get("type") == "Sequence":
        for step in decoder.get("decoders", []):
            yield from _steps(step)
    else:
        yield decoder
