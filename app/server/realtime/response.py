"""One response: a model's words, sent as they are written or spoken sentence by sentence, until they end or are stopped.

The words come on the event loop; the voice is made in a thread, and each of its pieces waits there until the client has
been sent it. So a voice is never far ahead of a client that takes its time.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from typing import Any, Protocol

from app.server.audio.pump import in_thread
from app.server.context import Server
from app.server.realtime.cast import Cast, chat_model
from app.server.realtime.conversation import Conversation, Item
from app.server.realtime.output import Output, Tell
from app.server.realtime.prompting import prompted
from app.server.realtime.protocol import SessionFields
from app.server.realtime.sound import Resampled, to_wire
from app.server.realtime.wire import detail
from app.server.replies import Part
from app.server.service import Running
from app.server.streaming import ClientGone
from engine.errors import GrusError
from engine.pipelines.speaking.long_form import SpeechQueue
from engine.pipelines.voice_chat import AnswerEvent, Reply, SpokenReply, Voiced
from engine.types import Timings, new_id


class Host(Protocol):
    """The session, as a response knows it."""

    server: Server
    cast: Cast
    conversation: Conversation
    lock: asyncio.Lock

    @property
    def tell(self) -> Tell: ...

    def over(self, response: Response) -> None:
        """It has been told that the response is done."""


class Response:
    """Made and told by `begin`, worked on by `run`, and done once: by itself, by `stop` or with the session by `halt`."""

    def __init__(self, host: Host, fields: SessionFields, *, metadata: Mapping[str, str] | None = None,
                 outside: bool = False, own: Sequence[Item] | None = None) -> None:  # fmt: skip
        """`outside`: its output is no part of the conversation. `own`: what it answers, instead of the conversation."""
        self.id = new_id("resp")
        self.outside = outside
        self.fields = fields
        self._host, self._own, self._metadata = host, own, metadata
        self._loop = asyncio.get_running_loop()
        self.output = Output(self.id, fields.spoken, None if outside else host.conversation, host.tell)
        self._is_over = False
        self._running: Running | None = None
        self._mouth: SpeechQueue | None = None
        self._answering: SpokenReply | None = None
        self._words: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._wire: Resampled | None = None
        self._problem: GrusError | None = None  # with the voice
        self._reason = "stop"

    async def begin(self) -> None:
        await self._host.tell("response.created", response=self._shape("in_progress"))

    async def run(self) -> None:
        try:
            await self._make()
        except ClientGone:
            self.halt()
        except Exception as error:
            await self._fail(error)

    async def stop(self, reason: str) -> None:
        """Under the session's lock: nothing more is said. `reason`: turn_detected or client_cancelled."""
        if not self._is_over:
            await self._end("cancelled", {"type": "cancelled", "reason": reason})

    def halt(self) -> None:
        """End all work, without a word."""
        self._is_over = True
        self._words.put(None)
        self._hush()
        if self._running is not None:
            self._running.cancel()

    def _hush(self) -> None:
        if self._answering is not None:
            self._answering.stop()
        if self._mouth is not None:
            self._mouth.stop()

    # -- words

    async def _make(self) -> None:
        host, fields = self._host, self.fields
        items = await self._heard()
        _, model = await chat_model(host.server, fields.model)
        prepared = await prompted(host.server, items, fields, model, self.id)
        mouth = await host.cast.mouth(fields) if fields.spoken else None
        if self._is_over:
            return
        self._running = host.server.service.submit(prepared.request, prepared.reader)
        voice = asyncio.ensure_future(in_thread(self._begin_voice(mouth).run)) if mouth is not None else None
        try:
            async with contextlib.aclosing(self._running.streamed()) as parts:
                async for part in parts:
                    async with host.lock:
                        if self._is_over:
                            break
                        await self._take(part)
            if self._reason == "cancelled":
                self._hush()
        finally:
            self._words.put(None)
            if voice is not None:
                await self._voiced(voice)
        async with host.lock:
            if not self._is_over:
                await self._finish()

    async def _heard(self) -> list[Item]:
        """What is answered, once everything in it is written down."""
        while True:
            items = list(self._host.conversation.items) if self._own is None else list(self._own)
            waited = [item.hearing for item in items if item.hearing is not None and not item.hearing.done()]
            if not waited:
                break
            await asyncio.wait(waited)
        asked = next((item for item in reversed(items) if item.shape.get("role") == "user"), None)
        if asked is not None and asked.problem is not None:
            raise asked.problem
        return items

    async def _take(self, part: Part) -> None:
        output = self.output
        if part.kind == "call":
            await output.call(part.name, part.call_id)
        elif part.kind == "arguments":
            await output.arguments(part.text)
        elif part.kind == "end":
            self._reason = part.reason
        elif part.kind == "answer":
            await output.called()
            if not self.fields.spoken:
                await output.text(part.text)
                return
            if part.text.strip():
                await output.begin()
            self._words.put(part.text)

    # -- voice

    def _begin_voice(self, mouth: SpeechQueue) -> SpokenReply:
        self._mouth, self._wire = mouth, to_wire(mouth.rate)
        self._answering = SpokenReply(self._spoken_words(), mouth, self._tell_from_thread)
        return self._answering

    def _spoken_words(self) -> Iterator[str]:
        while (piece := self._words.get()) is not None:
            yield piece

    def _tell_from_thread(self, event: AnswerEvent) -> None:
        """Waits until the client was sent it."""
        try:
            asyncio.run_coroutine_threadsafe(self._say(event), self._loop).result()
        except (CancelledError, RuntimeError, ClientGone):  # nobody listens any more
            assert self._answering is not None
            self._answering.stop()

    async def _say(self, event: AnswerEvent) -> None:
        async with self._host.lock:
            if self._is_over:
                return
            if isinstance(event, Reply):
                await self.output.sentence(event.text)
                return
            assert self._wire is not None
            if isinstance(event, Voiced):
                await self.output.sound(self._wire.push(event.samples))
                return
            await self.output.sound(self._wire.finish())
            if event.error is not None:
                self._problem = event.error
                if self._running is not None:
                    self._running.cancel()

    async def _voiced(self, voice: asyncio.Future[None]) -> None:
        """The end of the voice, which has an id to be stopped by, as every reply has."""
        service = self._host.server.service
        stop = lambda: self._loop.call_soon_threadsafe(self._aborted)  # noqa: E731
        service.sound_begins(self.id, stop)
        try:
            with contextlib.suppress(ClientGone):
                await voice
        finally:
            service.sound_ends(self.id)

    def _aborted(self) -> None:
        self._reason = "cancelled"
        self._hush()

    # -- the end

    async def _finish(self) -> None:
        if self._problem is not None:
            raise self._problem
        if self._reason == "cancelled":
            await self._end("cancelled", {"type": "cancelled", "reason": "client_cancelled"})
        elif self._reason == "length":
            await self._end("incomplete", {"type": "incomplete", "reason": "max_output_tokens"})
        else:
            await self._end("completed", None)

    async def _fail(self, error: Exception) -> None:
        with contextlib.suppress(ClientGone):
            async with self._host.lock:
                if not self._is_over:
                    await self._end("failed", {"type": "failed", "error": detail(error)})

    async def _end(self, status: str, details: Mapping[str, Any] | None) -> None:
        self.halt()
        try:
            await self.output.close(status == "completed", cut=status in ("cancelled", "failed"))
            await self._host.tell("response.done", response=self._shape(status, details))
        finally:
            self._host.over(self)

    def _shape(self, status: str, details: Mapping[str, Any] | None = None) -> dict[str, Any]:
        fields = self.fields
        voice = fields.audio.output.model_dump(include={"format", "voice"}, exclude_none=True)
        return {
            "id": self.id,
            "object": "realtime.response",
            "status": status,
            "status_details": details,
            "output": [item.shape for item in self.output.items],
            "conversation_id": None if self.outside else self._host.conversation.id,
            "output_modalities": fields.output_modalities,
            "max_output_tokens": fields.max_output_tokens,
            "audio": {"output": voice},
            "usage": self._usage(),
            "metadata": self._metadata,
        }

    def _usage(self) -> dict[str, Any] | None:
        """Known when the words have come to their end."""
        return None if self._running is None or not self._running.timings.total else _usage(self._running.timings)


def _usage(timings: Timings) -> dict[str, Any]:
    """Of the model that writes; ears and voice are not counted in tokens."""
    cached = {"text_tokens": timings.cached_tokens, "audio_tokens": 0, "image_tokens": 0}
    return {
        "total_tokens": timings.prompt_tokens + timings.output_tokens,
        "input_tokens": timings.prompt_tokens,
        "output_tokens": timings.output_tokens,
        "input_token_details": {
            "text_tokens": timings.prompt_tokens,
            "audio_tokens": 0,
            "image_tokens": 0,
            "cached_tokens": timings.cached_tokens,
            "cached_tokens_details": cached,
        },
        "output_token_details": {"text_tokens": timings.output_tokens, "audio_tokens": 0},
    }
