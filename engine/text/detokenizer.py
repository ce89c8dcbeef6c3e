"""Turns tokens into text as they arrive, each byte looked at once.

A character whose bytes have not all come yet is held back; what can never become a character shows as U+FFFD. Knows
neither stop strings nor what a reply means.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from engine.text.scanner import Scanner


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


# -- stop strings: a reply ends where one appears, and no part of one gets out before that is certain. Stop tokens are the engine's.


class Stopped(NamedTuple):
    text: str  # to be shown
    stop: str | None  # the stop string that ended the reply


class StopMatcher:
    """One per reply. After a stop everything else is swallowed."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._scanner = Scanner(stops) if stops else None
        self.stop: str | None = None

    def push(self, text: str) -> Stopped:
        if self.stop is not None:
            return Stopped("", self.stop)
        if self._scanner is None:
            return Stopped(text, None)
        scan = self._scanner.feed(text)
        self.stop = scan.match
        return Stopped(scan.text, scan.match)

    def flush(self) -> str:
        """The reply has ended for another reason: what was held back is ordinary text."""
        return self._scanner.flush() if self._scanner is not None else ""
