"""Ends a document before the length limit: finds a short completion of what is open, and prescribes it in time.

llguidance tells which tokens may come next, not how far the end is. So a second matcher of the same grammar, over single
bytes, is led to the end by a preference for what closes: brackets before quotes before further values. A search takes about
two microseconds a byte. After each one it is known how many tokens may pass until the next is needed, so that a reply of a thousand
tokens takes some dozens of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import llguidance

_LONGEST = 4096  # bytes of a completion
_BYTES_OF_TOKEN = 8  # on average at most, of what completes a document
_EOS = 256
# What is preferred outside of a string: what closes, then the shortest values. In a string the quote that ends it.
_FIRST = {(False, False): b'}],"0123456789ntf[{-', (True, False): b'"', (True, True): b"n"}
_LAST = {False: b" \t\r\n", True: b"\\"}
_USUAL = b"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OTHERS = {
    (inside, escaped): bytes(
        byte
        for byte in dict.fromkeys((*_USUAL, *range(256)))
        if byte not in first and byte not in (b"" if escaped else _LAST[inside])
    )
    for (inside, escaped), first in _FIRST.items()
}


@dataclass(frozen=True)
class DocumentEnd:
    text: bytes
    stops: bool  # nothing may follow it


class DocumentCloser:
    """Of one reply."""

    def __init__(self, source: str, tokenizer: Any, reserve: int, matcher: Any = None) -> None:
        """`source` is the grammar; `reserve` is how many bytes the document may grow by at once."""
        self._source = source
        self._tokenizer = tokenizer
        self._reserve = reserve
        self._bytes = matcher if matcher is not None else llguidance.LLMatcher(_byte_tokenizer(), source, log_level=0)
        self._unread: list[int] = []
        self._string = _StringState()
        self._check_at: int | None = None  # with this many tokens left, or fewer; None: at once
        self._closing: list[int] | None = None  # tokens that remain to be sampled
        self._hopeless = bool(self._bytes.is_error())

    def copy(self) -> DocumentCloser:
        """For a further reply, before its first token."""
        return DocumentCloser(self._source, self._tokenizer, self._reserve, self._bytes.deep_copy())

    def add(self, ids: Sequence[int]) -> None:
        """These tokens were sampled."""
        self._unread += ids
        if self._closing is not None:
            del self._closing[: len(ids)]

    def due(self, left: int) -> bool:
        """Whether `forced` must be asked."""
        return not self._hopeless and (self._closing is not None or self._check_at is None or left <= self._check_at)

    def forced(self, left: int) -> int | None:
        """The only token that may come next, where `left` tokens remain; None while there is time."""
        if self._closing is None:
            self._plan(left)
        if self._closing is None:
            return None
        return self._closing[0] if self._closing else int(self._tokenizer.eos_token)

    def completion(self, most: int = _LONGEST) -> DocumentEnd | None:
        """A short text that ends the document as it stands, of at most so many bytes."""
        self._read()
        return None if self._hopeless else _completion(self._bytes, self._string, most)

    def _plan(self, left: int) -> None:
        most = left * _BYTES_OF_TOKEN
        found = self.completion(min(_LONGEST, most))
        if found is None:
            self._hopeless = most <= _LONGEST  # nor later, when there are fewer tokens left
            self._check_at = left - max(1, left // 8)
            return
        tokens = list(self._tokenizer.tokenize_bytes(found.text)) if found.text else []
        need = len(tokens) + (not found.stops)
        # bytes that one further commitment may take, in tokens
        reserve = -(-self._reserve * max(1, len(tokens)) // max(1, len(found.text)))
        spare = left - need - reserve
        if need > left:
            self._hopeless = True
        elif spare > 0:
            self._check_at = left - max(1, spare // (reserve + 1))
        else:
            self._closing = tokens

    def _read(self) -> None:
        if not self._unread:
            return
        raw = self._tokenizer.decode_bytes(self._unread)
        self._unread.clear()
        self._string.read(raw)
        self._hopeless = self._bytes.try_consume_tokens(list(raw)) < len(raw)


class _StringState:
    """Whether a JSON text is inside a string, and right after a backslash."""

    def __init__(self, inside: bool = False, escaped: bool = False) -> None:
        self.inside, self.escaped = inside, escaped

    def read(self, raw: bytes) -> None:
        for byte in raw:
            if self.escaped:
                self.escaped = False
            elif byte == 0x5C:
                self.escaped = self.inside
            elif byte == 0x22:
                self.inside = not self.inside


def _completion(matcher: Any, string: _StringState, most: int = _LONGEST) -> DocumentEnd | None:
    """None where none of at most so many bytes is found."""
    matcher = matcher.deep_copy()
    state = _StringState(string.inside, string.escaped)
    used: Counter[int] = Counter()  # so that a string that must have several characters is found
    text = bytearray()
    while not matcher.is_accepting():
        new = matcher.compute_ff_bytes()
        if not new:
            byte = _choice(matcher.compute_bitmask(), state, used)
            if byte is None:
                return None
            used[byte] += state.inside
            new = bytes([byte])
        text += new
        state.read(new)
        if not state.inside:
            used.clear()
        if len(text) > most or matcher.try_consume_tokens(list(new)) < len(new):
            return None
    return DocumentEnd(bytes(text), bool(matcher.is_stopped()))


def _choice(mask: bytes, state: _StringState, used: Counter[int]) -> int | None:
    """The allowed byte that leads to the end the soonest, as far as one can tell: among equals the one that was used least."""
    for byte in _FIRST[state.inside, state.escaped]:
        if mask[byte >> 3] >> (byte & 7) & 1:
            return byte
    best: int | None = None
    for byte in _OTHERS[state.inside, state.escaped]:
        if mask[byte >> 3] >> (byte & 7) & 1:
            if not (count := used[byte]):
                return byte
            if best is None or count < used[best]:
                best = byte
    if best is not None:
        return best
    return next((byte for byte in _LAST[state.inside] if mask[byte >> 3] >> (byte & 7) & 1), None)


@lru_cache(maxsize=1)
def _byte_tokenizer() -> Any:
    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Bytes()), n_vocab=_EOS + 1, eos_token=[_EOS])


class _Bytes:
    """A vocabulary of single bytes and an end."""

    eos_token_id = _EOS
    bos_token_id = None
    tokens = (*(bytes([byte]) for byte in range(256)), b"\xff<eos>")
    special_token_ids = (_EOS,)

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)
