"""Talking: what is heard becomes captions, a caption that is final becomes a question, the reply is spoken sentence by
sentence. Who begins to speak stops the voice.

Joins four things and knows the inside of none: captions (voice activity and transcription), a chat, a voice. The sound
that goes in must not hold the voice's own sound: who plays it through a loudspeaker takes it out before, or mutes.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from engine.errors import GrusError
from engine.pipelines.listening.captions import Caption
from engine.pipelines.speaking.passages import sentences

Message = dict[str, str]


class Hears(Protocol):
    """The part of `listening.captions.Captions` that talking needs."""

    @property
    def speaking(self) -> bool: ...
    def feed(self, samples: np.ndarray) -> Sequence[Caption]: ...
    def finish(self) -> Sequence[Caption]: ...


Chat = Callable[[Sequence[Message]], Iterator[str]]  # the reply to a conversation, bit by bit
Speak = Callable[[str], Iterator[np.ndarray]]  # a sentence's samples, chunk by chunk


@dataclass(frozen=True)
class Heard:
    """What the person says. `final`: it was answered from here on."""

    text: str
    final: bool


@dataclass(frozen=True)
class Reply:
    """A sentence of the answer, before its sound."""

    text: str


@dataclass(frozen=True, eq=False)
class Voiced:
    """A piece of the voice, to be played after what came before."""

    samples: np.ndarray


@dataclass(frozen=True)
class Interrupted:
    """The person spoke: what is not played yet is not to be played."""


@dataclass(frozen=True)
class Answered:
    """The reply is whole. `error`: what ended it before its time."""

    text: str
    error: GrusError | None = None


TalkEvent = Heard | Reply | Voiced | Interrupted | Answered


@dataclass
class _Turn:
    """One reply, and what of it reaches the person's ears when its sound is played as it comes."""

    stopped: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    sentence: str | None = None  # whose sound has not begun
    begins: list[tuple[str, float]] = field(default_factory=list)  # sentences, and when their sound begins
    ends: float = 0.0  # when all sound that was told is played

    def heard(self, now: float) -> str:
        return " ".join(sentence for sentence, begin in self.begins if begin <= now)


class Talk:
    """One conversation. `feed` and `finish` belong to one thread; replies are made in another and come as events."""

    def __init__(self, captions: Hears, chat: Chat, speak: Speak, rate: int, messages: Sequence[Message] = (),
                 clock: Callable[[], float] = time.monotonic) -> None:  # fmt: skip
        """`rate`: of the voice's samples, so that it is known how long they are heard."""
        self._captions = captions
        self._chat = chat
        self._speak = speak
        self._rate = rate
        self._clock = clock
        self._past = list(messages)
        self._lock = threading.Lock()  # what a turn tells, and that it was stopped, come in one order
        self._events: deque[TalkEvent] = deque()
        self._turn: _Turn | None = None

    @property
    def messages(self) -> list[Message]:
        """The conversation so far; of the last reply what was heard until now."""
        heard = self._turn.heard(self._clock()) if self._turn is not None else ""
        return [*self._past, *([{"role": "assistant", "content": heard}] if heard else [])]

    @property
    def answering(self) -> bool:
        """Is a reply made, or still heard?"""
        turn = self._turn
        return turn is not None and ((turn.thread is not None and turn.thread.is_alive()) or turn.ends > self._clock())

    def feed(self, samples: np.ndarray) -> list[TalkEvent]:
        """What is new. Also without samples: then only what the voice has made meanwhile."""
        captions = self._captions.feed(samples) if len(samples) else ()
        if self._captions.speaking:
            self.interrupt()
        self._take(captions)
        return self._told()

    def finish(self, wait: bool = True) -> list[TalkEvent]:
        """No more sound comes. With `wait` the running reply is made to its end."""
        self._take(self._captions.finish())
        if not wait:
            self.interrupt()
        elif self._turn is not None and self._turn.thread is not None:
            self._turn.thread.join()
        return self._told()

    def interrupt(self) -> None:
        """Stop the voice; what it was still going to say is forgotten."""
        turn, running = self._turn, self.answering
        if turn is None:
            return
        self._past, self._turn = self.messages, None
        with self._lock:
            turn.stopped.set()
            kept = [event for event in self._events if isinstance(event, Heard)]
            self._events = deque([*kept, Interrupted()] if running else kept)

    def _take(self, captions: Sequence[Caption]) -> None:
        for caption in captions:
            if caption.final:
                self.interrupt()
            with self._lock:
                self._events.append(Heard(caption.segment.text, caption.final))
            if caption.final:
                self._past.append({"role": "user", "content": caption.segment.text})
                self._answer()

    def _answer(self) -> None:
        turn = self._turn = _Turn()
        turn.thread = threading.Thread(target=self._run, args=(turn, self.messages), name="grus-talk", daemon=True)
        turn.thread.start()

    def _run(self, turn: _Turn, messages: Sequence[Message]) -> None:
        said: list[str] = []
        error: GrusError | None = None
        try:
            for sentence in _in_sentences(self._chat(messages), turn.stopped):
                said.append(sentence)
                self._voice(turn, sentence)
        except GrusError as caught:
            error = caught
        self._tell(turn, Answered(" ".join(said), error))

    def _voice(self, turn: _Turn, sentence: str) -> None:
        self._tell(turn, Reply(sentence))
        chunks = self._speak(sentence)
        try:
            for chunk in chunks:
                if turn.stopped.is_set():
                    return
                self._tell(turn, Voiced(chunk))
        finally:
            _close(chunks)

    def _tell(self, turn: _Turn, event: TalkEvent) -> None:
        with self._lock:
            if not turn.stopped.is_set():
                self._events.append(event)

    def _told(self) -> list[TalkEvent]:
        with self._lock:
            told, self._events = list(self._events), deque()
        for event in told:
            if self._turn is not None:
                self._follow(self._turn, event)
        return told

    def _follow(self, turn: _Turn, event: TalkEvent) -> None:
        """Reckon when what is handed out now will be heard."""
        if isinstance(event, Reply):
            turn.sentence = event.text
        elif isinstance(event, Voiced):
            begin = max(turn.ends, self._clock())
            if turn.sentence is not None:
                turn.begins.append((turn.sentence, begin))
                turn.sentence = None
            turn.ends = begin + len(event.samples) / self._rate


def _in_sentences(pieces: Iterator[str], stopped: threading.Event) -> Iterator[str]:
    """Each sentence as soon as another one has begun after it."""
    text = ""
    try:
        for piece in pieces:
            if stopped.is_set():
                return
            text += piece.replace("\n", " ")
            *whole, rest = list(sentences(text)) or [""]
            yield from whole
            text = text[text.rindex(rest) :] if whole else text
    finally:
        _close(pieces)
    if text.strip() and not stopped.is_set():
        yield " ".join(text.split())


def _close(iterator: Any) -> None:
    """End a generator now rather than when it is found unused: its model stops."""
    if (close := getattr(iterator, "close", None)) is not None:
        close()
