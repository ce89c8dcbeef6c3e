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
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from engine.at_exit import join_at_exit
from engine.errors import GrusError
from engine.pipelines.speaking.text import sentences

if TYPE_CHECKING:
    from engine.pipelines.listening.transcription import Caption

Speak = Callable[[str], Iterator[np.ndarray]]  # a sentence to its samples, chunk by chunk


@dataclass(frozen=True)
class Reply:
    """A sentence of the reply, before its sound."""

    text: str


@dataclass(frozen=True, eq=False)
class Voiced:
    """A chunk of the voice, to be played after the chunks before it."""

    samples: np.ndarray


@dataclass(frozen=True)
class Answered:
    """The reply has ended. `error`: why it ended early."""

    text: str
    error: GrusError | None = None


AnswerEvent = Reply | Voiced | Answered


class SpokenReply:
    """One spoken reply: text is split into sentences, and each is synthesized while the next is generated.

    `run` works in the calling thread and passes events to `emit`, Answered last."""

    def __init__(self, words: Iterator[str], speak: Speak, emit: Callable[[AnswerEvent], None]) -> None:
        self._words, self._speak, self._emit = words, speak, emit
        self._stopped = threading.Event()

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    def stop(self) -> None:
        """Stop the reply, from any thread. An event in progress may still be emitted: the receiver checks `stopped`."""
        self._stopped.set()

    def run(self) -> None:
        spoken: list[str] = []
        error: GrusError | None = None
        try:
            for sentence in self._sentences():
                spoken.append(sentence)
                self._voice(sentence)
        except GrusError as caught:
            error = caught
        self._emit(Answered(" ".join(spoken), error))

    def _voice(self, sentence: str) -> None:
        self._emit(Reply(sentence))
        if self.stopped:
            return
        chunks = self._speak(sentence)
        try:
            for chunk in chunks:
                if self.stopped:
                    return
                self._emit(Voiced(chunk))
        finally:
            _close(chunks)

    def _sentences(self) -> Iterator[str]:
        """Sentences, each once the next one has started."""
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
    """Tracks which sentences of a reply have started to play by a given time, in the caller's unit (seconds or samples)."""

    def __init__(self) -> None:
        self._silent: str | None = None  # the sentence that has no sound yet
        self._begins: list[tuple[str, float]] = []
        self.ends = 0.0  # when all sound so far is played

    def sentence(self, text: str) -> None:
        self._silent = text

    def sound(self, length: float, now: float = 0.0) -> None:
        """Add sound that plays after the sound before it, and not before `now`."""
        begin = max(self.ends, now)
        if self._silent is not None:
            self._begins.append((self._silent, begin))
            self._silent = None
        self.ends = begin + length

    def until(self, moment: float) -> str:
        return " ".join(sentence for sentence, begin in self._begins if begin <= moment)


def _close(iterator: Any) -> None:
    """Close a generator at once, so that its model stops."""
    if (close := getattr(iterator, "close", None)) is not None:
        close()


Message = dict[str, str]


class CaptionSource(Protocol):
    """Live captions: `listening.transcription.Captions`, or a script in tests."""

    @property
    def speaking(self) -> bool: ...
    def feed(self, samples: np.ndarray) -> Sequence[Caption]: ...
    def finish(self) -> Sequence[Caption]: ...


Chat = Callable[[Sequence[Message]], Iterator[str]]  # messages to the reply's text, streamed


@dataclass(frozen=True)
class Heard:
    """What the user says. `final`: the reply to it starts."""

    text: str
    final: bool


@dataclass(frozen=True)
class Interrupted:
    """The user spoke: sound that is not played yet must be dropped."""


TalkEvent = Heard | Reply | Voiced | Interrupted | Answered


class _Turn:
    """One reply, its thread, and how much of it has been played."""

    def __init__(self, words: Iterator[str], speak: Speak, emit: Callable[[_Turn, AnswerEvent], None]) -> None:
        self.reply = SpokenReply(words, speak, lambda event: emit(self, event))
        self.played = PlaybackTracker()
        self.thread = join_at_exit(threading.Thread(target=self.reply.run, name="grus-talk", daemon=True))


class VoiceChat:
    """One voice conversation with turn taking. `feed` and `finish` belong to one thread; replies run in another."""

    def __init__(self, captions: CaptionSource, chat: Chat, speak: Speak, rate: int, messages: Sequence[Message] = (),
                 clock: Callable[[], float] = time.monotonic, stop_voice: Callable[[], None] = lambda: None) -> None:  # fmt: skip
        """`rate`: of the voice's samples, for their playing time. `stop_voice` cancels the sentence that `speak` is
        synthesizing; without it an interrupted voice generates one more chunk."""
        self._captions = captions
        self._chat = chat
        self._speak = speak
        self._rate = rate
        self._clock = clock
        self._stop_voice = stop_voice
        self._past = list(messages)
        self._lock = threading.Lock()  # orders a turn's events and its interruption
        self._events: deque[TalkEvent] = deque()
        self._turn: _Turn | None = None

    @property
    def messages(self) -> list[Message]:
        """The conversation so far; of the last reply only what has been played."""
        played = self._turn.played.until(self._clock()) if self._turn is not None else ""
        return [*self._past, *([{"role": "assistant", "content": played}] if played else [])]

    @property
    def answering(self) -> bool:
        """True while a reply is generated or played."""
        turn = self._turn
        return turn is not None and (turn.thread.is_alive() or turn.played.ends > self._clock())

    def feed(self, samples: np.ndarray) -> list[TalkEvent]:
        """Process samples and return new events. Without samples: the voice's new events."""
        captions = self._captions.feed(samples) if len(samples) else ()
        if self._captions.speaking:
            self.interrupt()
        self._take(captions)
        return self._drain()

    def finish(self, wait: bool = True) -> list[TalkEvent]:
        """End the input. With `wait` the current reply runs to its end."""
        self._take(self._captions.finish())
        if not wait:
            self.interrupt()
        elif self._turn is not None:
            self._turn.thread.join()
        return self._drain()

    def interrupt(self) -> None:
        """Stop the voice and drop the rest of the reply."""
        turn, running = self._turn, self.answering
        if turn is None:
            return
        self._past, self._turn = self.messages, None
        with self._lock:
            turn.reply.stop()
            kept = [event for event in self._events if isinstance(event, Heard)]
            self._events = deque([*kept, Interrupted()] if running else kept)
        self._stop_voice()

    def _take(self, captions: Sequence[Caption]) -> None:
        for caption in captions:
            if caption.final:
                self.interrupt()
            with self._lock:
                self._events.append(Heard(caption.segment.text, caption.final))
            if caption.final:
                self._past.append({"role": "user", "content": caption.segment.text})
                self._turn = _Turn(self._words(self.messages), self._speak, self._emit)
                self._turn.thread.start()

    def _words(self, messages: Sequence[Message]) -> Iterator[str]:
        """Runs in the reply's thread, because the chat may block."""
        yield from self._chat(messages)

    def _emit(self, turn: _Turn, event: AnswerEvent) -> None:
        with self._lock:
            if not turn.reply.stopped:
                self._events.append(event)

    def _drain(self) -> list[TalkEvent]:
        with self._lock:
            drained, self._events = list(self._events), deque()
        for event in drained:
            if self._turn is not None:
                self._track(self._turn, event)
        return drained

    def _track(self, turn: _Turn, event: TalkEvent) -> None:
        """Record when the returned events will be played."""
        if isinstance(event, Reply):
            turn.played.sentence(event.text)
        elif isinstance(event, Voiced):
            turn.played.sound(len(event.samples) / self._rate, self._clock())
