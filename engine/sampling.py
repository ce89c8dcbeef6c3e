"""Sampling parameters of a step, and structured output: noise, penalties, and which tokens are allowed.

The noise of a token is a hash of (seed, index of the reply, position) and of nothing else. So a seed gives the same
tokens whatever else is in the batch, after a preemption, and with speculative decoding. The backend does the arithmetic
on logits. Grammars are compiled by llguidance, once each.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import llguidance
import numpy as np

from backends.base import Sampling
from engine.errors import BadRequest
from engine.loaded import TokenVocabulary
from engine.types import Grammar, SamplingParams

_WORD = (1 << 64) - 1
_BAN = -math.inf


def _mix(x: int) -> int:
    """splitmix64: every bit of the input moves half of the bits of the output."""
    x = (x + 0x9E3779B97F4A7C15) & _WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _WORD
    return x ^ (x >> 31)


def uniform(seed: int, choice: int, position: int) -> float:
    """A random number in [0, 1) that f32 represents exactly, so that every backend compares against the same value."""
    return (_mix(_mix(_mix(seed & _WORD) ^ choice) ^ position) >> 40) * 2.0**-24


def check_tokens(params: SamplingParams, vocab: int) -> None:
    """Raise BadRequest for token ids that the model does not have, and for rules that leave no token at all."""
    for name in ("logit_bias", "banned_tokens", "required_tokens", "stop_token_ids"):
        for token in getattr(params, name):
            if not 0 <= token < vocab:
                raise BadRequest(f"{name} names token {token}; the model has tokens 0 to {vocab - 1}.", name)
    if params.required_tokens and not set(params.required_tokens) - set(params.banned_tokens):
        raise BadRequest("All required_tokens are banned.", "required_tokens")
    if len(set(params.banned_tokens)) >= vocab:
        raise BadRequest("All tokens are banned.", "banned_tokens")


class Sampler:
    """The sampling state of one sequence: `at` returns the parameters for a position, `add` records a sampled token."""

    def __init__(self, params: SamplingParams, seed: int, choice: int, prompt: Sequence[int], stops: Collection[int],
                 vocab: int) -> None:  # fmt: skip
        self.params = params
        self._stream = _mix(_mix(seed & _WORD) ^ choice)
        self._prompt_length = len(prompt)
        self._seen: dict[int, int] = {}
        self._history = list(prompt) if self.repeats else []
        self._repeated: list[int] = list(dict.fromkeys(prompt)) if self.repeats and not params.repetition_window else []
        self._known = set(self._repeated)
        bias = {int(k): float(v) for k, v in params.logit_bias.items()} | dict.fromkeys(params.banned_tokens, _BAN)
        self._bias: Mapping[int, float] | None = bias or None
        self._early: Mapping[int, float] | None = bias | dict.fromkeys(stops, _BAN) if params.min_tokens else None
        self._mask: np.ndarray | None = None
        if params.required_tokens:
            self._mask = np.zeros(vocab, dtype=bool)
            self._mask[list(params.required_tokens)] = True

    @property
    def repeats(self) -> bool:
        return self.params.repetition_penalty not in (None, 1.0)

    @property
    def counts(self) -> bool:
        return bool(self.params.presence_penalty or self.params.frequency_penalty)

    @property
    def looks_back(self) -> bool:
        """Whether the last token must be on the host before the next can be sampled."""
        return self.repeats or self.counts

    def add(self, token: int) -> None:
        if self.counts:
            self._seen[token] = self._seen.get(token, 0) + 1
        if self.repeats:
            self._history.append(token)
            if not self.params.repetition_window and token not in self._known:
                self._known.add(token)
                self._repeated.append(token)

    def at(self, output: int, ahead: Sequence[int] = (), mask: np.ndarray | None = None) -> Sampling:
        """The parameters for output token number `output` (from 0); `ahead`: draft tokens between the last added and it."""
        p = self.params
        if self._mask is not None:
            mask = self._mask if mask is None else self._mask & mask
        return Sampling(
            temperature=1.0 if p.temperature is None else p.temperature,
            top_k=p.top_k or 0,
            top_p=1.0 if p.top_p is None else p.top_p,
            min_p=p.min_p or 0.0,
            typical_p=1.0 if p.typical_p is None else p.typical_p,
            noise=(_mix(self._stream ^ output) >> 40) * 2.0**-24,
            repetition=p.repetition_penalty or 1.0,
            presence=p.presence_penalty,
            frequency=p.frequency_penalty,
            seen=self._seen_with(ahead) if self.counts else None,
            repeated=self._repeated_with(ahead) if self.repeats else None,
            bias=self._early if output < p.min_tokens else self._bias,
            mask=mask,
            logprobs=p.top_logprobs if p.logprobs or p.top_logprobs else None,
            approximate_logprobs=p.approximate_logprobs,
        )

    def _seen_with(self, ahead: Sequence[int]) -> Mapping[int, int]:
        if not ahead:
            return self._seen
        seen = dict(self._seen)
        for token in ahead:
            seen[token] = seen.get(token, 0) + 1
        return seen

    def _repeated_with(self, ahead: Sequence[int]) -> Sequence[int]:
        window = self.params.repetition_window
        if window:
            return list(dict.fromkeys([*self._history[-window:], *ahead][-window:]))
        return [*self._repeated, *dict.fromkeys(t for t in ahead if t not in self._known)] if ahead else self._repeated


_COMPILED_KEPT = 32
# enough to indent, but bounded: small models generate blanks forever where they are allowed
_JSON: Any = {"whitespace_pattern": r"[ \t\r\n]{1,40}"}
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


class GrammarCompiler:
    """Compiles and caches the grammars of one model. May be used on any thread."""

    def __init__(self, vocabulary: TokenVocabulary, size: int, eos_ids: Sequence[int]) -> None:
        self._vocabulary = vocabulary
        self._size = size
        self._eos_ids = list(eos_ids)
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self._compiled: dict[Grammar, Any] = {}

    def constraint(self, grammar: Grammar, after: str | None) -> GrammarConstraint:
        """A new constraint. Raises BadRequest for an invalid grammar."""
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
            return GrammarConstraint(matcher.deep_copy(), self._size, after)


class GrammarConstraint:
    """The state of one reply in its grammar (structured output): masks the tokens that may come next."""

    def __init__(self, matcher: Any, vocab: int, after: str | None) -> None:
        self._matcher = matcher
        self._vocab = vocab
        self._after = after or ""
        self._tail = ""  # the end of the text so far, before the constraint applies
        self._begun = not after

    def copy(self) -> GrammarConstraint:
        """A copy for another sequence of the same request, before its first token."""
        return GrammarConstraint(self._matcher.deep_copy(), self._vocab, self._after)

    @property
    def complete(self) -> bool:
        """Whether the grammar allows no further token."""
        return self._begun and bool(self._matcher.is_stopped())

    def accept(self, ids: Sequence[int], text: str) -> None:
        """Advance by sampled tokens; `text` is their detokenized text."""
        if self._begun:
            for id in ids:
                self._matcher.consume_token(id)
            return
        seen = self._tail + text
        if self._after in seen:
            self._begun = True
        else:
            self._tail = seen[-len(self._after) :]

    def masks(self, drafts: Sequence[int]) -> tuple[list[int], list[np.ndarray | None]]:
        """The draft tokens that the grammar allows, and the masks of their positions and of the next one."""
        if not self._begun:
            # a draft token could start the constraint, and the next one would be unconstrained
            return [], [None]
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
