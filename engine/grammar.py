"""Structured output: grammars are compiled by llguidance, once each, and mask the tokens that may come next.

A grammar that promises a whole document (`Grammar.reserve`) ends it before the length limit: see `closing.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import llguidance
import numpy as np

from engine.closing import DocumentCloser
from engine.errors import BadRequest
from engine.loaded import TokenVocabulary
from engine.reasoning_limit import ReasoningConstraint, ReplyConstraint
from engine.text.json_schema import BLANK, grammar_schema
from engine.types import Grammar, SamplingParams

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
