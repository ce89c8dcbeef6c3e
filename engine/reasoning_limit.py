"""Bounds the reasoning of a reply: after its last allowed token the tokens that close it are the only ones that may come.

This is a mask over the vocabulary, as a grammar's is, so that it works with batches, draft tokens and every backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from engine.text.scanner import Scanner
from engine.types import ReasoningLimit

_UNDECIDED = 64  # characters at the beginning of a reply after which it is certain that it does not reason
_UNFINISHED = 3  # tokens that the limit may be passed by, to complete a character


class ReplyConstraint(Protocol):
    """What may follow in one reply."""

    def copy(self) -> ReplyConstraint:
        """A copy for another sequence of the same request, before its first token."""

    @property
    def complete(self) -> bool:
        """Whether no further token may come."""

    @property
    def over(self) -> bool:
        """Whether it will never forbid anything again."""

    def accept(self, ids: Sequence[int], text: str) -> None:
        """Advance by sampled tokens; `text` is their detokenized text."""

    def masks(self, drafts: Sequence[int], left: int) -> tuple[list[int], list[np.ndarray | None]]:
        """The draft tokens that may come, and the masks of their positions and of the next one."""


class ReasoningConstraint:
    """The state of one reply's reasoning. `after` constrains the reply besides: a grammar of the answer."""

    def __init__(self, limit: ReasoningLimit, vocab: int, after: ReplyConstraint | None = None) -> None:
        self._limit = limit
        self._vocab = vocab
        self._after = after
        self._scanner = Scanner([limit.open, limit.close])
        self._reasons = limit.started
        self._closed = False
        self._length = 0  # characters of a reply that has not begun to reason
        self._count = 0
        self._times = 0  # that it was closed
        self._closing: list[int] = []  # tokens that must come next
        self._close_if_due(complete=True)

    def copy(self) -> ReasoningConstraint:
        return ReasoningConstraint(self._limit, self._vocab, self._after and self._after.copy())

    @property
    def complete(self) -> bool:
        return not self._closing and self._after is not None and self._after.complete

    @property
    def over(self) -> bool:
        undecided = not self._closed and self._length < _UNDECIDED
        again = bool(self._limit.closing_again)
        return not (self._closing or self._reasons or undecided or again) and self._after is None

    def accept(self, ids: Sequence[int], text: str) -> None:
        if self._after is not None:
            self._after.accept(ids, text)
        del self._closing[: len(ids)]
        counts = self._reasons
        rest = text
        while True:
            scan = self._scanner.feed(rest)
            if scan.match is None:
                break
            rest = scan.rest
            self._closed = self._closed or scan.match == self._limit.close
            may = bool(self._limit.closing_again) or (not self._closed and self._length < _UNDECIDED)
            self._reasons = scan.match == self._limit.open and may
        if self._reasons:
            self._count += len(ids) if counts else 0
        else:
            self._length += len(text.strip())
        self._close_if_due(bool(text))

    def _close_if_due(self, complete: bool) -> None:
        """`complete`: the last token ended a character."""
        most = self._limit.tokens if complete else self._limit.tokens + _UNFINISHED
        if self._reasons and not self._closing and self._count >= most:
            again = self._times > 0 and self._limit.closing_again
            self._closing = list(self._limit.closing_again if again else self._limit.closing)
            self._times += 1

    def masks(self, drafts: Sequence[int], left: int) -> tuple[list[int], list[np.ndarray | None]]:
        if self._closing:
            only = np.zeros(self._vocab, dtype=bool)
            only[self._closing[0]] = True
            return [], [only]
        if self._after is not None:
            return self._after.masks(drafts, left)
        room = max(0, self._limit.tokens - self._count - 1) if self._reasons else len(drafts)
        allowed = list(drafts[:room])
        return allowed, [None] * (len(allowed) + 1)
