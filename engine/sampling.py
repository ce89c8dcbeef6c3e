"""Sampling parameters of a step: noise, penalties, and which tokens are allowed.

The noise of a token is a hash of (seed, index of the reply, position) and of nothing else. So a seed gives the same
tokens whatever else is in the batch, after a preemption, and with speculative decoding. The backend does the arithmetic
on logits.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from backends.base import Sampling
from engine.errors import BadRequest
from engine.types import SamplingParams

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
