"""Guesses at replies' next tokens, checked by the model in the step that would have made the first of them anyway.

Every row is sampled with its own noise and a guess counts only while it equals what sampling chose; so the tokens are
those that would have come without guessing, only sooner. Each choice's own guesser (`guesses.py`) is asked for a batch;
another source (a draft model) may guess where these do not.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.sequence import Choice


class Speculation:
    """Guesses for a batch, by each choice's own guesser."""

    @property
    def held_bytes(self) -> int:
        """Device memory that guessing itself needs."""
        return 0

    def propose(self, choices: Sequence[Choice]) -> dict[Choice, list[int]]:
        guesses = {}
        for choice in choices:
            room = room_for_guesses(choice)
            if choice.guesser is not None and room > 0 and (found := choice.guesser.propose(choice.tokens)):
                guesses[choice] = found[:room]
        return guesses

    def learn(self, choice: Choice, guessed: int, accepted: int, made: int) -> None:
        """A step brought `made` tokens; of `guessed` ones `accepted` were right."""
        if guessed and choice.guesser is not None:
            choice.guesser.learn(guessed, accepted, len(choice.tokens) + made)

    def forget(self, choice: Choice) -> None:
        """The choice has lost its slot."""

    def close(self) -> None:
        """The model is being unloaded."""


def room_for_guesses(choice: Choice) -> int:
    """Guesses beyond the slot's room or the reply's limit would be wasted."""
    return min(choice.own_slot.capacity - len(choice.tokens), choice.output.limit - choice.output.count - 1)
