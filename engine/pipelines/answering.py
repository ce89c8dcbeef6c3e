"""One reply of a conversation by voice: words become sentences, and each sentence becomes sound while the next is written.

Knows neither ears nor turns: `talking` joins it with them on one machine, the server's realtime route over a socket.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import GrusError
from engine.pipelines.speaking.passages import sentences

Speak = Callable[[str], Iterator[np.ndarray]]  # a sentence's samples, chunk by chunk


@dataclass(frozen=True)
class Reply:
    """A sentence of the answer, before its sound."""

    text: str


@dataclass(frozen=True, eq=False)
class Voiced:
    """A piece of the voice, to be played after what came before."""

    samples: np.ndarray


@dataclass(frozen=True)
class Answered:
    """The reply is whole. `error`: what ended it before its time."""

    text: str
    error: GrusError | None = None


AnswerEvent = Reply | Voiced | Answered


class Answering:
    """A reply while it is made, in whichever thread calls `run`: `tell` is called there, with Answered at last."""

    def __init__(self, words: Iterator[str], speak: Speak, tell: Callable[[AnswerEvent], None]) -> None:
        self._words, self._speak, self._tell = words, speak, tell
        self._stopped = threading.Event()

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    def stop(self) -> None:
        """From any thread. What is being made now may still be told: who hears it asks whether it was stopped."""
        self._stopped.set()

    def run(self) -> None:
        said: list[str] = []
        error: GrusError | None = None
        try:
            for sentence in self._sentences():
                said.append(sentence)
                self._voice(sentence)
        except GrusError as caught:
            error = caught
        self._tell(Answered(" ".join(said), error))

    def _voice(self, sentence: str) -> None:
        self._tell(Reply(sentence))
        if self.stopped:
            return
        chunks = self._speak(sentence)
        try:
            for chunk in chunks:
                if self.stopped:
                    return
                self._tell(Voiced(chunk))
        finally:
            _close(chunks)

    def _sentences(self) -> Iterator[str]:
        """Each as soon as another one has begun after it."""
        text = ""
        try:
            for piece in self._words:
                if self.stopped:
                    return
                text += piece.replace("\n", " ")
                *whole, rest = list(sentences(text)) or [""]
                yield from whole
                text = text[text.rindex(rest) :] if whole else text
        finally:
            _close(self._words)
        if text.strip() and not self.stopped:
            yield " ".join(text.split())


class Sounded:
    """Which sentences of a reply have begun to sound at a moment. Moments are whatever its owner counts: seconds of a
    clock, samples of a stream."""

    def __init__(self) -> None:
        self._silent: str | None = None  # the sentence whose sound has not begun
        self._begins: list[tuple[str, float]] = []
        self.ends = 0.0  # when all sound that was told is played

    def sentence(self, text: str) -> None:
        self._silent = text

    def sound(self, length: float, now: float = 0.0) -> None:
        """What sounds after what came before, and not before `now`."""
        begin = max(self.ends, now)
        if self._silent is not None:
            self._begins.append((self._silent, begin))
            self._silent = None
        self.ends = begin + length

    def until(self, moment: float) -> str:
        return " ".join(sentence for sentence, begin in self._begins if begin <= moment)


def _close(iterator: Any) -> None:
    """End a generator now rather than when it is found unused: its model stops."""
    if (close := getattr(iterator, "close", None)) is not None:
        close()
