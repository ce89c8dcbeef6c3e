"""A voice in a conversation: sentences become sound one by one, all of them in one and the same voice."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import replace

import numpy as np

from engine.cancel import CancelScope
from engine.pipelines.speaking.example import Example
from engine.pipelines.speaking.speakers import Voice
from engine.pipelines.speaking.story import Wishes, tell
from engine.pipelines.speaking.voice import Manner


class Mouth:
    """Called with a sentence, gives its samples at `rate` as they are made."""

    def __init__(self, voice: Voice, manner: Manner, wishes: Wishes | None = None) -> None:
        """Raises BadRequest for a manner that the voice does not have."""
        voice.check(manner)
        wishes = wishes or Wishes()
        # a seed for all sentences: a voice that is made of words stays the same voice
        seed = secrets.randbits(31) if wishes.seed is None else wishes.seed
        self._voice, self._manner = voice, manner
        self._wishes = replace(wishes, seed=seed, markdown=True)
        self._example = Example(voice, manner)
        self._scope: CancelScope | None = None

    @property
    def rate(self) -> int:
        return self._voice.rate

    def __call__(self, sentence: str) -> Iterator[np.ndarray]:
        if not any(sign.isalnum() for sign in sentence):  # a line of dashes, the end of a code block
            return
        self._scope = scope = CancelScope(self._voice.engine)
        try:
            yield from tell(self._voice, sentence, self._manner, self._wishes, scope=scope,
                            example=self._example)  # fmt: skip
        except CancelledError:
            return

    def stop(self) -> None:
        """End the sentence that is being made, at once, from any thread."""
        if (scope := self._scope) is not None:
            scope.cancel()
