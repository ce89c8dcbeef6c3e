"""One choice's tokens on their way out: stop tokens, text, stop strings, the length limit.

Knows what ends a reply and what of it may be shown; knows nothing of memory or scheduling.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from backends.base import SegmentOutput
from engine.loaded import TextStream
from engine.text.stops import StopMatcher
from engine.types import FinishReason, TokenLogprob


@dataclass
class Piece:
    """What one step adds to a reply."""

    text: str = ""
    ids: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    reason: FinishReason | None = None
    stop: str | int | None = None


class Output:
    """Accepts tokens until one of them ends the reply."""

    def __init__(self, stream: TextStream, stops: Sequence[str], silent: Collection[int], named: Collection[int],
                 limit: int) -> None:  # fmt: skip
        """`silent` tokens (end of text) end the reply without a name, `named` ones are reported; neither is shown."""
        self._stream = stream
        self._stops = StopMatcher(stops) if stops else None
        self._silent = silent
        self._named = named
        self._ends = frozenset(silent) | frozenset(named)
        self.limit = limit
        self.count = 0

    def accept(self, token: SegmentOutput) -> Piece:
        piece = Piece()
        for i, id in enumerate(token.ids):
            if id in self._ends:
                self._end(piece, "stop", id if id in self._named else None)
                break
            self.count += 1
            piece.ids.append(id)
            if token.logprobs is not None:
                top = tuple(token.top[i]) if token.top else ()
                piece.logprobs.append(TokenLogprob(id, token.logprobs[i], top))
            text = self._stream.push(id)
            if self._stops is not None:
                text, hit = self._stops.push(text)
                if hit is not None:
                    piece.text += text
                    piece.reason, piece.stop = "stop", hit
                    break
            piece.text += text
            if self.count >= self.limit:
                self._end(piece, "length", None)
                break
        return piece

    def finish(self, piece: Piece) -> Piece:
        """The reply ends for a reason that no token gave (a grammar is complete, a cancel)."""
        if piece.reason is None:
            self._end(piece, "stop", None)
        return piece

    def _end(self, piece: Piece, reason: FinishReason, stop: int | None) -> None:
        piece.reason, piece.stop = reason, stop
        text = self._stream.finish()
        if self._stops is not None:
            text, hit = self._stops.push(text)
            if hit is not None:
                piece.reason, piece.stop = "stop", hit
            else:
                text += self._stops.flush()
        piece.text += text
