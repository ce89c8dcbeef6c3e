"""Voice chat: speech becomes captions, a final caption becomes a question, and the reply is spoken sentence by sentence.

`SpokenReply` runs one reply; the server's realtime route uses it alone. `VoiceChat` joins it with captions and turn taking:
speech interrupts the voice. The sound that goes in must not contain the voice itself; a program that plays it through a
loudspeaker removes the echo first, or mutes the microphone.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from engine.at_exit import join_at_exit
from engine.errors import GrusError
from engine.pipelines.listening.transcription import Caption
from engine.pipelines.speaking.text import sentences

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


class SpokenReply:
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


class PlaybackTracker:
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


Message = dict[str, str]


class Hears(Protocol):
    """The part of `listening.captions.Captions` that talking needs."""

    @property
    def speaking(self) -> bool: ...
    def feed(self, samples: np.ndarray) -> Sequence[Caption]: ...
    def finish(self) -> Sequence[Caption]: ...


Chat = Callable[[Sequence[Message]], Iterator[str]]  # the reply to a conversation, bit by bit


@dataclass(frozen=True)
class Heard:
    """What the person says. `final`: it was answered from here on."""

    text: str
    final: bool


@dataclass(frozen=True)
class Interrupted:
    """The person spoke: what is not played yet is not to be played."""


TalkEvent = Heard | Reply | Voiced | Interrupted | Answered


class _Turn:
    """One reply, and what of it reaches the person's ears when its sound is played as it comes."""

    def __init__(self, words: Iterator[str], speak: Speak, tell: Callable[[_Turn, AnswerEvent], None]) -> None:
        self.answering = SpokenReply(words, speak, lambda event: tell(self, event))
        self.sounded = PlaybackTracker()
        self.thread = join_at_exit(threading.Thread(target=self.answering.run, name="grus-talk", daemon=True))


class VoiceChat:
    """One conversation. `feed` and `finish` belong to one thread; replies are made in another and come as events."""

    def __init__(self, captions: Hears, chat: Chat, speak: Speak, rate: int, messages: Sequence[Message] = (),
                 clock: Callable[[], float] = time.monotonic, hush: Callable[[], None] = lambda: None) -> None:  # fmt: skip
        """`rate`: of the voice's samples, so that it is known how long they are heard. `hush` ends the sentence that
        `speak` makes: without it an interrupted voice makes one more chunk for nobody."""
        self._captions = captions
        self._chat = chat
        self._speak = speak
        self._rate = rate
        self._clock = clock
        self._hush = hush
        self._past = list(messages)
        self._lock = threading.Lock()  # what a turn tells, and that it was stopped, come in one order
        self._events: deque[TalkEvent] = deque()
        self._turn: _Turn | None = None

    @property
    def messages(self) -> list[Message]:
        """The conversation so far; of the last reply what was heard until now."""
        heard = self._turn.sounded.until(self._clock()) if self._turn is not None else ""
        return [*self._past, *([{"role": "assistant", "content": heard}] if heard else [])]

    @property
    def answering(self) -> bool:
        """Is a reply made, or still heard?"""
        turn = self._turn
        return turn is not None and (turn.thread.is_alive() or turn.sounded.ends > self._clock())

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
        elif self._turn is not None:
            self._turn.thread.join()
        return self._told()

    def interrupt(self) -> None:
        """Stop the voice; what it was still going to say is forgotten."""
        turn, running = self._turn, self.answering
        if turn is None:
            return
        self._past, self._turn = self.messages, None
        with self._lock:
            turn.answering.stop()
            kept = [event for event in self._events if isinstance(event, Heard)]
            self._events = deque([*kept, Interrupted()] if running else kept)
        self._hush()

    def _take(self, captions: Sequence[Caption]) -> None:
        for caption in captions:
            if caption.final:
                self.interrupt()
            with self._lock:
                self._events.append(Heard(caption.segment.text, caption.final))
            if caption.final:
                self._past.append({"role": "user", "content": caption.segment.text})
                self._turn = _Turn(self._words(self.messages), self._speak, self._tell)
                self._turn.thread.start()

    def _words(self, messages: Sequence[Message]) -> Iterator[str]:
        """In the thread of the reply, where the chat may take its time."""
        yield from self._chat(messages)

    def _tell(self, turn: _Turn, event: AnswerEvent) -> None:
        with self._lock:
            if not turn.answering.stopped:
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
            turn.sounded.sentence(event.text)
        elif isinstance(event, Voiced):
            turn.sounded.sound(len(event.samples) / self._rate, self._clock())
