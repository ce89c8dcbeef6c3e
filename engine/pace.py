"""How many prompt tokens the next step may carry, from what the last steps took.

A step that carries replies and a chunk must not take longer than `factor` times one that carries the replies alone.
So two things are measured: a plain step's time (by the number of replies, in powers of two), and what one prompt token
adds. Knows no sequences, only counts and seconds.
"""

from __future__ import annotations

_MARGIN = 0.85  # of the allowed extra time: later chunks of a prompt cost more than the ones measured
_IDLE_SECONDS = 0.5  # with no reply running: so long may a newcomer wait for a chunk to end
_CALM = 32  # chunks without trouble after which a cap is lifted again
_LEAST = 1  # prompt tokens in a step, however slow: a prompt must end some day


class Pace:
    """Learns from every step; answers before every step."""

    def __init__(self, most: int, factor: float) -> None:
        self._most = most
        self._extra = (factor - 1.0) * _MARGIN
        self._plain: dict[int, float] = {}
        self._per_token: float | None = None
        self._cap = most  # lowered where memory ran out
        self._calm = 0  # chunks since then

    def chunk(self, replies: int) -> int:
        """Prompt tokens that the next step may carry beside `replies` running replies; 0: measure a plain step first."""
        if not replies:
            if not self._per_token:
                return self._cap
            return max(min(self._cap, int(_IDLE_SECONDS / self._per_token)), min(self._cap, 64))
        plain = self._plain.get(replies.bit_length())
        if plain is None:  # that of fewer replies would make each prompt token look as dear as the further replies
            return 0
        if self._per_token is None:
            return _LEAST
        if not self._per_token:
            return self._cap
        return max(_LEAST, min(self._cap, int(self._extra * plain / self._per_token)))

    def note(self, seconds: float, replies: int, prompt: int) -> None:
        """A step with `replies` rows of replies and `prompt` prompt tokens took `seconds`."""
        if prompt:
            self._calm += 1
            if self._calm % _CALM == 0:
                self._cap = min(self._most, self._cap * 2)
            added = max(0.0, seconds - (self._usual(replies) or 0.0)) / prompt if replies else seconds / prompt
            # a rise is believed at once: one chunk too long is one gap too long
            old = self._per_token
            self._per_token = added if old is None or added > old else 0.7 * old + 0.3 * added
        elif replies:
            bucket = replies.bit_length()
            old = self._plain.get(bucket)
            self._plain[bucket] = seconds if old is None else 0.8 * old + 0.2 * seconds

    def shrink(self) -> bool:
        """Memory ran out in a step with a chunk: smaller ones from now on. False when they cannot get smaller."""
        if self._cap <= _LEAST:
            return False
        self._cap, self._calm = max(_LEAST, self._cap // 2), 0
        return True

    @property
    def seconds_per_prompt_token(self) -> float | None:
        return self._per_token

    def _usual(self, replies: int) -> float | None:
        """A plain step with as many replies, or the nearest smaller number that was measured."""
        bucket = replies.bit_length()
        below = [b for b in self._plain if b <= bucket]
        return self._plain[max(below)] if below else None
