"""A hands-free conversation: what is said is sent, the reply is spoken, and who begins to speak stops it.

Every turn is an ordinary message of the open conversation, made by the same `Talk` that the keyboard uses. Knows no
device: whoever has a microphone calls `hear`, whoever has a loudspeaker takes samples with `take`.
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from app.gui.store.messages import Message
from app.gui.viewmodels.chat.spoken import Cast, Question, Ready, Sound, Unanswered, conversed
from app.gui.viewmodels.chat.talk import Talk
from app.gui.viewmodels.hook import Hook
from app.gui.viewmodels.sound.playback import Playback
from app.stream import Cancels, Streams
from engine.pipelines.voice_chat import Answered, Heard, Interrupted, Voiced

State = Literal["off", "preparing", "listening", "thinking", "speaking"]
_SILENCE = -50.0  # decibels under the loudest, where the meter begins


class HandsFree:
    """`changed`: another state, other words. `moved`: another level. `ready(rate)`: a loudspeaker is needed from now on.
    `hushed`: what the loudspeaker still holds is not to be heard. `ended(problem)`: it is over; empty: because somebody wished it."""

    def __init__(self, chat: Talk, streams: Streams, post: Callable[[Callable[[], None]], None]) -> None:
        self._chat, self._streams, self._post = chat, streams, post
        self.changed, self.moved, self.ready, self.ended = Hook(), Hook(), Hook(), Hook()
        self.hushed = Hook()
        self.state: State = "off"
        self.saying = ""  # by the person, now
        self.problem = ""  # with the last answer; the conversation goes on
        self.level = 0.0  # of whoever is heard, 0 to 1
        self.waits = False  # hears nothing while the voice speaks: for loudspeakers, which it would hear
        self._playback = Playback()
        self._playback.changed.connect(self._played)
        self._rate = 0
        self._sound: Sound = queue.SimpleQueue()
        self._stream: Cancels | None = None
        self._place: int | None = None  # the conversation that it began in
        self._asked: Question | None = None  # waits for the reply before it to end
        self._running: _Running | None = None
        self._voiced = self._answered = False
        chat.busy.connect(self._busy)
        chat.grew.connect(self._grew)
        chat.begun.connect(self._named)
        chat.changed.connect(self._elsewhere)

    @property
    def on(self) -> bool:
        return self.state != "off"

    def begin(self, cast: Cast) -> None:
        self.saying = self.problem = ""
        self._place, self._sound = self._chat.id, queue.SimpleQueue()
        sound = self._sound
        self._turn("preparing")
        self._stream = self._streams.stream(
            lambda core: conversed(core, cast, sound, self._later(self._ask), self._later(self._drop)),
            self._hear, self.fail,
        )  # fmt: skip

    def end(self) -> bool:
        """False when there was none."""
        if not self.on:
            return False
        self._close("")
        return True

    def fail(self, problem: str) -> None:
        """It cannot go on: a model or a device is missing."""
        if self.on:
            self._close(problem)

    def interrupt(self) -> None:
        """As speaking does it: the voice and the reply stop."""
        if self.state in ("thinking", "speaking"):
            self._hush()
            self._stop_reply()
            self._turn("listening")

    # -- sound, from and to whoever has the devices

    def hear(self, samples: np.ndarray) -> None:
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

    # -- what the pipeline tells

    def _hear(self, events: list[Any]) -> None:
        for event in events:
            if not self.on:
                return
            if isinstance(event, Ready):
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
            self.problem = str(answer.error)
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
            self.hushed()

    def _turn(self, state: State) -> None:
        self.state = state
        self.changed()

    # -- questions, and the chat's replies to them

    def _later(self, run: Callable[[Question], None]) -> Callable[[Question], None]:
        return lambda question: self._post(lambda: run(question))

    def _ask(self, question: Question) -> None:
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

    def _drop(self, question: Question) -> None:
        """Nobody waits for the answer: it was interrupted, or is whole."""
        if self._asked is question:
            self._asked = None
        if self._running is not None and self._running.question is question:
            self._running.stop()

    def _grew(self, message: Message) -> None:
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
        """A new conversation gets its number with its first message."""
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

    def __init__(self, question: Question, chat: Talk) -> None:
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

    def grew(self, message: Message) -> None:
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
