"""Which tokens of a transcript may follow which: timestamps come in pairs, in order, and one begins it.

These are the rules of Whisper's authors, as masks over the vocabulary, so that they work with batches and every backend. The one
rule that is about probabilities is in sampling: `Sampling.together_from`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.types import TranscriptRules


class TranscriptConstraint:
    """The state of one reply (a `ReplyConstraint`)."""

    def __init__(self, rules: TranscriptRules, vocab: int) -> None:
        self._rules, self._vocab = rules, vocab
        self._ids: list[int] = []

    def copy(self) -> TranscriptConstraint:
        return TranscriptConstraint(self._rules, self._vocab)

    @property
    def complete(self) -> bool:
        """The end belongs to the reply, because its probability is one of those that tell whether to believe the others."""
        return bool(self._ids) and self._ids[-1] == self._rules.end

    @property
    def over(self) -> bool:
        return False

    def accept(self, ids: Sequence[int], text: str) -> None:
        self._ids += ids

    def masks(self, drafts: Sequence[int], left: int) -> tuple[list[int], list[np.ndarray | None]]:
        return [], [self.mask()]

    def mask(self) -> np.ndarray | None:
        rules, ids = self._rules, self._ids
        if ids and rules.timestamps is None:
            return None
        allowed = np.ones(self._vocab, dtype=bool)
        if not ids:
            allowed[list(rules.first_banned)] = False
        begin = rules.timestamps
        if begin is None:
            return allowed
        allowed[begin - 1] = False  # the token that says that there are none
        last = bool(ids) and ids[-1] >= begin
        before = len(ids) < 2 or ids[-2] >= begin
        if last and before:  # text comes after a pair
            allowed[begin:] = False
        elif last:  # a pair, or the end, comes after a single one
            allowed[: rules.end] = False
        times = [id for id in ids if id >= begin]
        if times:  # never backwards; the same time only where it completes a pair
            allowed[begin : times[-1] + (0 if last and not before else 1)] = False
        if not ids:
            allowed[:begin] = False
            if rules.latest_first is not None:
                allowed[begin + rules.latest_first + 1 :] = False
        return allowed
