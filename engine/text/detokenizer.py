"""Turns tokens into text as they arrive, each byte looked at once.

A character whose bytes have not all come yet is held back; what can never become a character shows as U+FFFD. Knows
neither stop strings nor what a reply means.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable
from typing import Protocol


class Tokens(Protocol):
    """The part of a tokenizer that is needed here."""

    strip: int

    def bytes_of(self, id: int) -> bytes: ...
    def is_special(self, id: int) -> bool: ...


class Detokenizer:
    """One per reply. Everything pushed and the flush together equal `Tokenizer.decode` of all ids.

    `keep` names special tokens that are shown although the others are skipped (a tool parser's markers). With
    `at_start` off the text continues another one, so that a SentencePiece vocabulary's first space is kept.
    """

    def __init__(
        self, tokens: Tokens, *, skip_special: bool = True, keep: Collection[int] = (), at_start: bool = True
    ) -> None:
        self._tokens = tokens
        self._skip_special = skip_special
        self._keep = frozenset(keep)
        self._strip = tokens.strip if at_start else 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, ids: int | Iterable[int]) -> str:
        """The text that these tokens complete."""
        if isinstance(ids, int):
            return self._decoder.decode(self._bytes(ids))
        return self._decoder.decode(b"".join(map(self._bytes, ids)))

    def flush(self) -> str:
        """No more tokens come: half a character becomes U+FFFD."""
        return self._decoder.decode(b"", final=True)

    def _bytes(self, id: int) -> bytes:
        if self._skip_special and self._tokens.is_special(id) and id not in self._keep:
            return b""
        raw = self._tokens.bytes_of(id)
        while self._strip and raw:
            if not raw.startswith(b" "):
                self._strip = 0
            else:
                raw = raw[1:]
                self._strip -= 1
        return raw
