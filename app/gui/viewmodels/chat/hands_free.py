"""Talk, the hands-free conversation: recorded speech is sent, the reply is spoken, and speech interrupts it."""

from __future__ import annotations

import queue
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from app.explain import explained
from app.gui.store.messages import StoredMessage
from app.gui.viewmodels.chat.conversation import OpenConversation
from app.gui.viewmodels.playback import Playback
from app.gui.viewmodels.signal import Signal
from app.window_engine import Cancellable, StreamRunner
from engine.errors import GrusError
from engine.pipelines.voice_chat import Answered, Heard, Interrupted, Voiced

if TYPE_CHECKING:
    from app.gui.viewmodels.speak import SpeakSettings
    from app.runtime.pipelines import Host

_FENCE = re.compile(r"\s*(```|~~~)")
_RULE = re.compile(r"\s*([-*_=]\s*){3,}$")
_POINT = re.compile(r"\s*(#{1,6}\s+|[-*+]\s+(\[[ xX]\]\s+)?|>\s*|(?P<number>\d{1,3})[.)]\s+)")
_MAYBE = re.compile(r"\s*([-*+#>=_~`|\d]|$)")  # a line that can only be classified when it is complete
_EMPHASIS = re.compile(r"\*+(?=\S)|(?<=\S)\*+|`+")
_CELLS = re.compile(r"\s*\|\s*")
_ENDS = ".!?…。！？:;,：；，"


class SpokenText:
    """Turns a streamed Markdown reply into text to speak: `push` takes deltas and returns speakable text; `finish` returns the rest."""

    def __init__(self) -> None:
        self._line = ""  # the unspoken rest of the current line
        self._begun = False  # whether part of it was spoken
        self._in_code = False
        self._before = ""  # the separator before the next text
        self._last = ""  # the last character that was spoken

    def push(self, piece: str) -> str:
        self._line += piece
        spoken = ""
        while "\n" in self._line:
            line, self._line = self._line.split("\n", 1)
            spoken += self._whole(line)
        return spoken + self._words()

    def finish(self) -> str:
        line, self._line = self._line, ""
        return self._whole(line)

    def _words(self) -> str:
        """Of a line that is still written, the words that are whole."""
        stop = max(self._line.rfind(" "), self._line.rfind("\t")) + 1
        if self._in_code or not stop or not (self._begun or not _MAYBE.match(self._line)):
            return ""
        words, self._line = self._line[:stop], self._line[stop:]
        self._begun = True
        return self._say(words)

    def _whole(self, line: str) -> str:
        if self._begun:
            self._begun = False
            return self._run_on(line)
        if _FENCE.match(line):
            self._in_code = not self._in_code
            return self._apart("")
        if self._in_code:
            return ""
        if not line.strip() or _RULE.match(line):
            return self._apart("")
        if line.lstrip().startswith("|"):
            return self._apart(", ".join(cell for cell in _CELLS.split(line.strip(" |")) if cell.strip("-:")))
        if point := _POINT.match(line):
            number = f"{point['number']}: " if point["number"] else ""
            return self._apart(number + line[point.end() :])
        return self._run_on(line)

    def _run_on(self, text: str) -> str:
        """Join lines of one paragraph into one sentence."""
        spoken = self._say(text)
        self._gap(" ")
        return spoken

    def _apart(self, text: str) -> str:
        """A sentence of its own, whether it ends in a mark or not."""
        self._gap(". ")
        spoken = self._say(text)
        self._gap(". ")
        return spoken

    def _say(self, words: str) -> str:
        words = _EMPHASIS.sub("", words)
        if not words.strip():
            return words
        before, self._before = self._before, ""
        self._last = words.strip()[-1]
        return before + words

    def _gap(self, gap: str) -> None:
        """It comes with the next words."""
        if self._last and "." not in self._before:
            self._before = gap if self._last not in _ENDS else " "


Sound = queue.SimpleQueue["np.ndarray | None"]
_PATIENCE = 0.03  # seconds between two polls of the synthesized voice, during silence


@dataclass(frozen=True)
class TalkModels:
    """Who takes part. An empty name is the first model that can."""

    chat: str
    ears: str
    voice: SpeakSettings
    voices: Path  # the folder with saved ones


@dataclass(frozen=True)
class TalkReady:
    """Everything is loaded, and listens. `rate`: of the voice's samples."""

    rate: int


class Unanswered(GrusError):
    """The chat itself says why."""


class SpokenQuestion:
    """A spoken message. The chat appends the reply's text; the voice consumes it in another thread."""

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
        """The text to speak. Blocks until each piece arrives."""
        aloud = SpokenText()
        while (piece := self._words.get()) is not None:
            if isinstance(piece, GrusError):
                raise piece
            if spoken := aloud.push(piece):
                yield spoken
        yield aloud.finish()


def conversed(
    core: Host,
    cast: TalkModels,
    sound: Sound,
    ask: Callable[[SpokenQuestion], None],
    drop: Callable[[SpokenQuestion], None],
) -> Iterator[Any]:
    """`TalkReady`, and then what happens, until None comes. `ask` and `drop` say that a question is asked, and that nobody
    waits for its answer any more."""
    from app.gui.viewmodels.speak import fitting
    from app.runtime import pipelines
    from engine.pipelines.listening.transcription import Captions
    from engine.pipelines.listening.voice_activity import VadRules
    from engine.pipelines.speaking.speech import SpeechQueue
    from engine.pipelines.speaking.voice import SavedVoices
    from engine.pipelines.voice_chat import VoiceChat

    core.bring(cast.chat)
    turn = VadRules(least_silence=0.7, longest=28.0)  # a pause for breath is no end of a question
    captions = Captions(core.engine, pipelines.listener(core, cast.ears), turn)
    voice = pipelines.speaker(core, cast.voice.model)
    mouth = SpeechQueue(voice, fitting(cast.voice, voice, SavedVoices(cast.voices)))

    def chat(messages: Sequence[dict[str, str]]) -> Iterator[str]:
        question = SpokenQuestion(messages[-1]["content"])
        ask(question)
        try:
            yield from question.answer()
        finally:
            drop(question)

    talk = VoiceChat(captions, chat, mouth, voice.rate, stop_voice=mouth.stop)
    yield TalkReady(voice.rate)
    try:
        while (samples := _next(sound)) is not None:
            yield from talk.feed(samples)
    finally:
        talk.interrupt()


def _next(sound: Sound) -> np.ndarray | None:
    """All samples recorded meanwhile; empty after a moment without any; None at the end."""
    pieces: list[np.ndarray] = []
    try:
        while True:
            piece = sound.get(timeout=_PATIENCE) if not pieces else sound.get_nowait()
            if piece is None:
                return None
            pieces.append(piece)
    except queue.Empty:
        return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)


State = Literal["off", "preparing", "listening", "thinking", "speaking"]
_SILENCE = -50.0  # decibels under the loudest, where the meter begins


class HandsFree:
    """`changed`: another state, other words. `moved`: another level. `ready(rate)`: a loudspeaker is needed from now on.
    `voice_stopped`: the loudspeaker's buffer is discarded. `ended(problem)`: Talk ended; empty: by the user."""

    def __init__(
        self, chat: OpenConversation, streams: StreamRunner, post: Callable[[Callable[[], None]], None]
    ) -> None:
        self._chat, self._streams, self._post = chat, streams, post
        self.changed, self.moved, self.ready, self.ended = Signal(), Signal(), Signal(), Signal()
        self.voice_stopped = Signal()
        self.state: State = "off"
        self.saying = ""  # by the person, now
        self.problem = ""  # with the last reply; the conversation continues
        self.level = 0.0  # of the current speaker, 0 to 1
        self.waits = False  # ignores the microphone while the voice speaks: for loudspeakers, which it would pick up
        self._playback = Playback()
        self._playback.changed.connect(self._played)
        self._rate = 0
        self._sound: Sound = queue.SimpleQueue()
        self._stream: Cancellable | None = None
        self._place: int | None = None  # the conversation that it began in
        self._asked: SpokenQuestion | None = None  # waits for the reply before it to end
        self._running: _Running | None = None
        self._voiced = self._answered = False
        chat.busy.connect(self._busy)
        chat.grew.connect(self._grew)
        chat.begun.connect(self._named)
        chat.changed.connect(self._elsewhere)

    @property
    def on(self) -> bool:
        return self.state != "off"

    def begin(self, cast: TalkModels) -> None:
        self.saying = self.problem = ""
        self._place, self._sound = self._chat.id, queue.SimpleQueue()
        sound = self._sound
        self._turn("preparing")
        self._stream = self._streams.stream(
            lambda core: conversed(core, cast, sound, self._later(self._ask), self._later(self._drop)),
            self._receive, self.fail,
        )  # fmt: skip

    def end(self) -> bool:
        """False when there was none."""
        if not self.on:
            return False
        self._close("")
        return True

    def fail(self, problem: str) -> None:
        """Talk cannot continue: a model or a device is missing."""
        if self.on:
            self._close(problem)

    def interrupt(self) -> None:
        """As speaking does it: the voice and the reply stop."""
        if self.state in ("thinking", "speaking"):
            self._hush()
            self._stop_reply()
            self._turn("listening")

    # -- sound, from and to the devices

    def feed(self, samples: np.ndarray) -> None:
        """f32 at 16 kHz."""
        deaf = self.waits and self.state == "speaking"
        if not deaf and self.state not in ("off", "preparing"):
            self._sound.put(samples)
        if self.state != "speaking":
            self._show_level(samples)

    def take(self, count: int) -> np.ndarray:
        """The voice's next samples; none when it is silent."""
        samples = self._playback.take(count)
        if self.state == "speaking":
            self._show_level(samples)
        return samples

    def _show_level(self, samples: np.ndarray) -> None:
        loudness = float(np.sqrt(np.mean(np.square(samples)))) if len(samples) else 0.0
        self.level = min(1.0, max(0.0, 1 - 20 * np.log10(max(loudness, 1e-5) * 4) / _SILENCE))
        self.moved()

    # -- events of the pipeline

    def _receive(self, events: list[Any]) -> None:
        for event in events:
            if not self.on:
                return
            if isinstance(event, TalkReady):
                self._rate = event.rate
                self._turn("listening")
                self.ready(event.rate)
            elif isinstance(event, Heard):
                self._hush()
                self.saying, self.problem = "" if event.final else event.text, ""
                self._turn("thinking" if event.final else "listening")
            elif isinstance(event, Voiced):
                self._say(event.samples)
            elif isinstance(event, Interrupted):
                self._hush()
                self._stop_reply()
                self._turn("listening")
            elif isinstance(event, Answered):
                self._whole(event)

    def _say(self, samples: np.ndarray) -> None:
        if not self._voiced:
            self._voiced = True
            self._playback.begin(self._rate)
            self._playback.play()
            self._turn("speaking")
        self._playback.put(samples)

    def _whole(self, answer: Answered) -> None:
        if answer.error is not None and not isinstance(answer.error, Unanswered):
            self.problem = explained(answer.error)
        self._answered = True
        self._playback.finish()
        if not self._playback.playing:
            self._turn("listening")

    def _played(self) -> None:
        if self.state == "speaking" and self._answered and not self._playback.playing:
            self._turn("listening")

    def _hush(self) -> None:
        self._voiced = self._answered = False
        if self._playback.playing:
            self._playback.begin(self._rate)
            self.voice_stopped()

    def _turn(self, state: State) -> None:
        self.state = state
        self.changed()

    # -- questions, and the chat's replies to them

    def _later(self, run: Callable[[SpokenQuestion], None]) -> Callable[[SpokenQuestion], None]:
        return lambda question: self._post(lambda: run(question))

    def _ask(self, question: SpokenQuestion) -> None:
        if not self.on:
            question.end()
            return
        self._stop_reply()
        self._asked = question
        self._send()

    def _send(self) -> None:
        """As soon as the reply before it has ended."""
        question = self._asked
        if question is None or self._running is not None or self._chat.writing:
            return
        self._asked = None
        self._running = _Running(question, self._chat)
        if not self._chat.send(question.text):
            self._running = None
            question.end(failed=True)

    def _drop(self, question: SpokenQuestion) -> None:
        """The answer is complete, or was interrupted."""
        if self._asked is question:
            self._asked = None
        if self._running is not None and self._running.question is question:
            self._running.stop()

    def _grew(self, message: StoredMessage) -> None:
        if self._running is not None:
            self._running.grew(message)

    def _stop_reply(self) -> None:
        if self._asked is not None:
            self._asked.end()
            self._asked = None
        if self._running is not None:
            self._running.stop()

    def _busy(self) -> None:
        if self._running is not None:
            self._running.look()
            if self._running.over:
                self._running = None
        self._send()

    def _named(self, id: int) -> None:
        """A new conversation is stored with its first message."""
        self._place = id

    def _elsewhere(self) -> None:
        """Another conversation is shown: this one is over."""
        if self.on and self._chat.id != self._place:
            self._close("")

    def _close(self, problem: str) -> None:
        self.state, self.saying = "off", ""
        self._sound.put(None)
        if self._stream is not None:
            self._stream.cancel()
            self._stream = None
        self._hush()
        self._stop_reply()
        self.ended(problem)
        self.changed()


class _Running:
    """A question that was sent, and the reply to it."""

    def __init__(self, question: SpokenQuestion, chat: OpenConversation) -> None:
        self.question, self._chat = question, chat
        self._id: int | None = None  # of the reply, once there is one
        self._stopped = False
        self.over = False

    def look(self) -> None:
        """A reply began or ended."""
        reply = self._chat.reply
        if self._id is None and reply is not None and self._is_mine(reply.message.parent):
            self._id = reply.message.id
            if self._stopped:
                reply.stop()
        elif self._id is not None and reply is None:
            failed = True  # where the message was deleted meanwhile
            if self._id in self._chat.tree:
                message = self._chat.tree[self._id]
                self.grew(message)
                failed = message.state == "failed"
            self.question.end(failed)
            self.over = True

    def grew(self, message: StoredMessage) -> None:
        if message.id == self._id:
            self.question.grow(message.text)

    def stop(self) -> None:
        """Also a reply that has not begun yet."""
        self._stopped = True
        self.question.end()
        if self._id is not None and self._chat.reply is not None and self._chat.reply.message.id == self._id:
            self._chat.stop()

    def _is_mine(self, parent: int | None) -> bool:
        return (
            parent is not None
            and parent in self._chat.tree
            and self._chat.tree[parent].text == self.question.text.strip()
        )
