"""Structured output: which tokens may come next so that the reply matches a schema, an expression or a grammar.

`llguidance` does the parsing (it is what the larger servers use: fast, kept up, no model library needed). This file
turns a `types.Grammar` into its form, compiles it once, and gives each choice a `Constraint` whose masks are plain bool
arrays. Knows text and tokens; how a mask is applied is the backend's work.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

import llguidance
import numpy as np

from engine.errors import BadRequest
from engine.loaded import Vocabulary
from engine.types import Grammar

_COMPILED_KEPT = 32
# enough to indent, but no endless blank: small models fall into that where every blank is allowed
_JSON: Any = {"whitespace_pattern": r"[ \t\r\n]{1,40}"}
_CONTROL = b"\xff"  # a byte that UTF-8 never has: llguidance's sign of a control token


class _Tokens:
    """A vocabulary as llguidance wants to see it."""

    def __init__(self, vocabulary: Vocabulary, size: int, eos: int) -> None:
        self._vocabulary = vocabulary
        self.eos_token_id = eos
        self.bos_token_id = None
        self.tokens = [self._bytes(token) for token in range(size)]
        self.special_token_ids = [token for token in range(size) if self.tokens[token].startswith(_CONTROL)]

    def _bytes(self, token: int) -> bytes:
        """No text can match a control token, nor one of the ids that only pad a model's vocabulary."""
        if self._vocabulary.is_special(token):
            return _CONTROL + f"<{token}>".encode()
        return self._vocabulary.bytes_of(token) or _CONTROL + f"<{token}>".encode()

    def __call__(self, text: str | bytes) -> list[int]:
        plain = text if isinstance(text, str) else text.decode(errors="replace")
        return list(self._vocabulary.encode(plain, add_special=False, parse_special=False))


def _source(grammar: Grammar) -> str:
    """The grammar in llguidance's own notation."""
    if grammar.kind == "json_object":
        return llguidance.LLMatcher.grammar_from_json_schema('{"type": "object"}', overrides=_JSON)
    if grammar.kind == "json_schema":
        try:
            schema = json.loads(grammar.text)
        except ValueError as error:
            raise BadRequest(f"The JSON schema is not JSON: {error}.", "grammar") from None
        if not isinstance(schema, dict | bool):
            raise BadRequest("A JSON schema must be an object.", "grammar")
        return llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=_JSON)
    if grammar.kind == "regex":
        return llguidance.LLMatcher.grammar_from_regex(grammar.text)
    try:
        return llguidance.grammar_from("ebnf", grammar.text)
    except ValueError as error:
        raise BadRequest(f"The grammar cannot be read: {error}.", "grammar") from None


class Grammars:
    """One model's compiled grammars. Any thread may compile."""

    def __init__(self, vocabulary: Vocabulary, size: int, eos_ids: Sequence[int]) -> None:
        self._vocabulary = vocabulary
        self._size = size
        self._eos_ids = list(eos_ids)
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self._compiled: dict[Grammar, Any] = {}

    def constraint(self, grammar: Grammar, after: str | None) -> Constraint:
        """Raise BadRequest where the grammar is not one."""
        with self._lock:
            if self._tokenizer is None:
                if not self._eos_ids:
                    raise BadRequest("Structured output needs a model with an end-of-text token.", "grammar")
                tokens = llguidance.TokenizerWrapper(_Tokens(self._vocabulary, self._size, self._eos_ids[0]))
                self._tokenizer = llguidance.LLTokenizer(tokens, n_vocab=self._size, eos_token=self._eos_ids)
            matcher = self._compiled.get(grammar)
            if matcher is None:
                matcher = llguidance.LLMatcher(self._tokenizer, _source(grammar), log_level=0)
                if matcher.is_error():
                    raise BadRequest(f"The grammar cannot be used: {_first_line(matcher.get_error())}", "grammar")
                if len(self._compiled) >= _COMPILED_KEPT:
                    del self._compiled[next(iter(self._compiled))]
                self._compiled[grammar] = matcher
            return Constraint(matcher.deep_copy(), self._size, after)


class Constraint:
    """One reply's place in its grammar."""

    def __init__(self, matcher: Any, vocab: int, after: str | None) -> None:
        self._matcher = matcher
        self._vocab = vocab
        self._after = after or ""
        self._tail = ""  # the end of the text so far, while the constraint has not begun
        self._begun = not after

    def copy(self) -> Constraint:
        """For another choice of the same request, before the first token."""
        return Constraint(self._matcher.deep_copy(), self._vocab, self._after)

    @property
    def complete(self) -> bool:
        """Nothing more may follow."""
        return self._begun and bool(self._matcher.is_stopped())

    def accept(self, ids: Sequence[int], text: str) -> None:
        """What was sampled; `text` is what became readable with it."""
        if self._begun:
            for id in ids:
                self._matcher.consume_token(id)
            return
        seen = self._tail + text
        if self._after in seen:
            self._begun = True
        else:
            self._tail = seen[-len(self._after) :]

    def masks(self, guesses: Sequence[int]) -> tuple[list[int], list[np.ndarray | None]]:
        """The guesses that the grammar allows, and the masks of their positions and of the one after."""
        if not self._begun:
            # a guess might be what begins the constraint, and would be followed by an unconstrained one
            return [], [None]
        masks: list[np.ndarray | None] = [self._mask()]
        allowed: list[int] = []
        for guess in guesses:
            mask = masks[-1]
            if mask is None or not mask[guess] or not self._matcher.consume_token(guess):
                break
            allowed.append(guess)
            if self._matcher.is_stopped():
                # the grammar ends with this guess, so no token after it is wanted: guess one less
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
