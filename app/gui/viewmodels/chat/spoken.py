"""Talking beside the UI thread: microphone in, voice out, and between them the open conversation as the chat has it.

`conversed` runs the pipeline (`engine.pipelines.voice_chat`). Its questions come to the UI thread as `Question`s, and the
chat's reply goes back to the pipeline word by word.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from app.gui.viewmodels.chat.aloud import Aloud
from app.gui.viewmodels.speak.choice import Choice, fitting
from engine.errors import GrusError
from engine.pipelines.listening.voice_activity import VadRules

if TYPE_CHECKING:
    from app.runtime.pipelines import Host

Sound = queue.SimpleQueue["np.ndarray | None"]
TURN = VadRules(least_silence=0.7, longest=28.0)  # a pause for breath is no end of a question
_PATIENCE = 0.03  # seconds between two looks at what the voice has made, while nobody speaks


@dataclass(frozen=True)
class Cast:
    """Who takes part. An empty name is the first model that can."""

    chat: str
    ears: str
    voice: Choice
    voices: Path  # the folder with saved ones


@dataclass(frozen=True)
class Ready:
    """Everything is loaded, and listens. `rate`: of the voice's samples."""

    rate: int


class Unanswered(GrusError):
    """The chat itself says why."""


class Question:
    """What was asked aloud. The chat tells it how the reply grows; the voice reads its words in another thread."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._words: queue.SimpleQueue[str | GrusError | None] = queue.SimpleQueue()
        self._known = 0

    def grow(self, reply: str) -> None:
        if len(reply) > self._known:
            self._words.put(reply[self._known :])
            self._known = len(reply)

    def end(self, failed: bool = False) -> None:
        self._words.put(Unanswered("The reply failed.") if failed else None)

    def answer(self) -> Iterator[str]:
        """As it is said. Waits for each piece."""
        aloud = Aloud()
        while (piece := self._words.get()) is not None:
            if isinstance(piece, GrusError):
                raise piece
            if said := aloud.push(piece):
                yield said
        yield aloud.finish()


def conversed(
    core: Host, cast: Cast, sound: Sound, ask: Callable[[Question], None], drop: Callable[[Question], None]
) -> Iterator[Any]:
    """`Ready`, and then what happens, until None comes. `ask` and `drop` say that a question is asked, and that nobody
    waits for its answer any more."""
    from app.runtime import pipelines
    from engine.pipelines.listening.transcription import Captions
    from engine.pipelines.speaking.long_form import SpeechQueue
    from engine.pipelines.speaking.voice import SavedVoices
    from engine.pipelines.voice_chat import VoiceChat

    core.bring(cast.chat)
    captions = Captions(core.engine, pipelines.listener(core, cast.ears), TURN)
    voice = pipelines.speaker(core, cast.voice.model)
    mouth = SpeechQueue(voice, fitting(cast.voice, voice, SavedVoices(cast.voices)))

    def chat(messages: Sequence[dict[str, str]]) -> Iterator[str]:
        question = Question(messages[-1]["content"])
        ask(question)
        try:
            yield from question.answer()
        finally:
            drop(question)

    talk = VoiceChat(captions, chat, mouth, voice.rate, stop_voice=mouth.stop)
    yield Ready(voice.rate)
    try:
        while (samples := _next(sound)) is not None:
            yield from talk.feed(samples)
    finally:
        talk.interrupt()


def _next(sound: Sound) -> np.ndarray | None:
    """All that was heard meanwhile; nothing when it stays silent for a moment; None at the end."""
    heard: list[np.ndarray] = []
    try:
        while True:
            piece = sound.get(timeout=_PATIENCE) if not heard else sound.get_nowait()
            if piece is None:
                return None
            heard.append(piece)
    except queue.Empty:
        return np.concatenate(heard) if heard else np.zeros(0, np.float32)
