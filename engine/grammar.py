"""Structured output: grammars are compiled by llguidance, once each, and mask the tokens that may come next.

A grammar that promises a whole document (`Grammar.reserve`) ends it before the length limit: a short completion of what is open is
found, and prescribed in time.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import llguidance
import numpy as np

from engine.errors import BadRequest
from engine.loaded import TokenVocabulary
from engine.reasoning_limit import ReasoningConstraint, ReplyConstraint
from engine.text.json_schema import BLANK, grammar_schema
from engine.transcript_rules import TranscriptConstraint
from engine.types import Grammar, SamplingParams

# -- ending a document before the length limit
#
# llguidance tells which tokens may come next, not how far the end is. So a second matcher of the same grammar, over single
# bytes, is led to the end by a preference for what closes: brackets before quotes before further values. A search takes about
# two microseconds a byte. After each one it is known how many tokens may pass until the next is needed, so that a reply of a thousand
# tokens takes some dozens of them.

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


_COMPILED_KEPT = 32
_CONTROL = b"\xff"  # not in UTF-8: llguidance's mark of a control token


class _Tokens:
    """Adapts a tokenizer's vocabulary to llguidance."""

    def __init__(self, vocabulary: TokenVocabulary, size: int, eos: int) -> None:
        self._vocabulary = vocabulary
        self.eos_token_id = eos
        self.bos_token_id = None
        self.tokens = [self._bytes(token) for token in range(size)]
        self.special_token_ids = [token for token in range(size) if self.tokens[token].startswith(_CONTROL)]

    def _bytes(self, token: int) -> bytes:
        """The token's bytes. Control tokens and padding ids get bytes that no text matches."""
        if self._vocabulary.is_special(token):
            return _CONTROL + f"<{token}>".encode()
        return self._vocabulary.bytes_of(token) or _CONTROL + f"<{token}>".encode()

    def __call__(self, text: str | bytes) -> list[int]:
        plain = text if isinstance(text, str) else text.decode(errors="replace")
        return list(self._vocabulary.encode(plain, add_special=False, parse_special=False))


def _source(grammar: Grammar) -> str:
    """The grammar in llguidance's notation."""
    if grammar.kind in ("json_object", "json_schema"):
        text = '{"type": "object"}' if grammar.kind == "json_object" else grammar.text
        return llguidance.LLMatcher.grammar_from_json_schema(grammar_schema(text).text, overrides=BLANK)
    if grammar.kind == "regex":
        return llguidance.LLMatcher.grammar_from_regex(grammar.text)
    try:
        return llguidance.grammar_from("ebnf", grammar.text)
    except ValueError as error:
        raise BadRequest(f"The grammar cannot be read: {error}.", "grammar") from None


class GrammarCompiler:
    """Compiles and caches the grammars of one model. May be used on any thread."""

    def __init__(self, vocabulary: TokenVocabulary, size: int, eos_ids: Sequence[int]) -> None:
        self._vocabulary = vocabulary
        self._size = size
        self._eos_ids = list(eos_ids)
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self._compiled: dict[Grammar, tuple[Any, DocumentCloser | None]] = {}

    def constraint_of(self, params: SamplingParams) -> ReplyConstraint | None:
        """What constrains the tokens of a reply with these parameters."""
        if params.transcript is not None:
            return TranscriptConstraint(params.transcript, self._size)
        grammar = None if params.grammar is None else self.constraint(params.grammar, params.grammar_after)
        return grammar if params.reasoning is None else ReasoningConstraint(params.reasoning, self._size, grammar)

    def constraint(self, grammar: Grammar, after: str | None) -> GrammarConstraint:
        """A new constraint. Raises BadRequest for an invalid grammar."""
        with self._lock:
            if self._tokenizer is None:
                if not self._eos_ids:
                    raise BadRequest("Structured output needs a model with an end-of-text token.", "grammar")
                tokens = llguidance.TokenizerWrapper(_Tokens(self._vocabulary, self._size, self._eos_ids[0]))
                self._tokenizer = llguidance.LLTokenizer(tokens, n_vocab=self._size, eos_token=self._eos_ids)
            if grammar not in self._compiled:
                if len(self._compiled) >= _COMPILED_KEPT:
                    del self._compiled[next(iter(self._compiled))]
                self._compiled[grammar] = self._compile(grammar)
            matcher, closer = self._compiled[grammar]
            return GrammarConstraint(matcher.deep_copy(), self._size, after, closer and closer.copy())

    def _compile(self, grammar: Grammar) -> tuple[Any, DocumentCloser | None]:
        source = _source(grammar)
        matcher = llguidance.LLMatcher(self._tokenizer, source, log_level=0)
        if matcher.is_error():
            raise BadRequest(f"The grammar cannot be used: {_first_line(matcher.get_error())}", "grammar")
        closer = None if grammar.reserve is None else DocumentCloser(source, self._tokenizer, grammar.reserve)
        return matcher, closer


class GrammarConstraint:
    """The state of one reply in its grammar (structured output): masks the tokens that may come next."""

    def __init__(self, matcher: Any, vocab: int, after: str | None, closer: DocumentCloser | None = None) -> None:
        self._matcher = matcher
        self._closer = closer
        self._vocab = vocab
        self._after = after or ""
        self._tail = ""  # the end of the text so far, before the constraint applies
        self._begun = not after

    def copy(self) -> GrammarConstraint:
        """A copy for another sequence of the same request, before its first token."""
        closer = self._closer and self._closer.copy()
        return GrammarConstraint(self._matcher.deep_copy(), self._vocab, self._after, closer)

    @property
    def over(self) -> bool:
        return False

    @property
    def complete(self) -> bool:
        """Whether the grammar allows no further token."""
        return self._begun and bool(self._matcher.is_stopped())

    def accept(self, ids: Sequence[int], text: str) -> None:
        """Advance by sampled tokens; `text` is their detokenized text."""
        if self._begun:
            for id in ids:
                self._matcher.consume_token(id)
            if self._closer is not None:
                self._closer.add(ids)
            return
        seen = self._tail + text
        if self._after in seen:
            self._begun = True
        else:
            self._tail = seen[-len(self._after) :]

    def masks(self, drafts: Sequence[int], left: int) -> tuple[list[int], list[np.ndarray | None]]:
        """The draft tokens that the grammar allows, and the masks of their positions and of the next one. `left` is how
        many tokens the reply may still have."""
        if not self._begun:
            # a draft token could start the constraint, and the next one would be unconstrained
            return [], [None]
        if self._closer is not None and self._closer.due(left - len(drafts)):
            drafts, forced = [], self._closer.forced(left)
            if forced is not None and self._mask()[forced]:
                only = np.zeros(self._vocab, dtype=bool)
                only[forced] = True
                return [], [only]
        masks: list[np.ndarray | None] = [self._mask()]
        allowed: list[int] = []
        for draft in drafts:
            mask = masks[-1]
            if mask is None or not mask[draft] or not self._matcher.consume_token(draft):
                break
            allowed.append(draft)
            if self._matcher.is_stopped():
                # the grammar ends with this token, and none may follow: propose one less
                self._matcher.rollback(1)
                allowed.pop()
                break
            masks.append(self._mask())
        if allowed:
            self._matcher.rollback(len(allowed))
        return allowed, masks

    def _mask(self) -> np.ndarray:
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        mask = np.unpackbits(bits, bitorder="little", count=min(self._vocab, bits.size * 8)).astype(bool)
        return mask if mask.size == self._vocab else np.pad(mask, (0, self._vocab - mask.size))


def _first_line(message: str) -> str:
    return message.strip().splitlines()[0] if message.strip() else "unknown reason."
