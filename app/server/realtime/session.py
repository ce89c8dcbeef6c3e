"""One conversation by voice: what a client sends becomes sound, turns, items and responses, and it is told of each.

Belongs to the event loop. Whoever changes the conversation or tells of it holds `lock`, so that events come in one order
and nothing follows the end of a response that was stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

import numpy as np

from app.server.audio.pump import in_thread, leashed
from app.server.context import Server
from app.server.errors import ApiError, as_api_error
from app.server.realtime.cast import Cast
from app.server.realtime.conversation import Conversation, Item, heard_item
from app.server.realtime.hearing import Heard, InputBuffer, SpeechBegan, SpeechEnded, milliseconds
from app.server.realtime.protocol import SessionFields
from app.server.realtime.response import Response
from app.server.realtime.wire import Wire, detail
from app.server.streaming import ClientGone
from engine.media.sound import Audio
from engine.models.moonshine import SAMPLE_RATE
from engine.pipelines.listening.transcription import Transcriber
from engine.pipelines.listening.voice_activity import DEFAULT_RULES
from engine.types import new_id

_WAITING = 4  # recordings that may wait to be written down; who sends more of them waits
_PATIENCE = 10.0  # seconds that work has to end when the session does
_END = object()


class RealtimeSession:
    def __init__(self, wire: Wire, server: Server, fields: SessionFields) -> None:
        settings = server.settings
        self.id = new_id("sess")
        self.server, self.fields = server, fields
        self.tell, self.fail = wire.tell, wire.fail
        self.lock = asyncio.Lock()
        self._leash = leashed(server)
        self.cast = Cast(server, self._leash)
        self.buffer = InputBuffer(self._leash, settings.max_buffer_seconds, fields.audio.input.turn_detection)
        self.conversation = Conversation(settings.max_prompt)
        self.response: Response | None = None  # that is being made
        self._free = asyncio.Event()  # none is
        self.speech: str | None = None  # the item that what is being said will be
        self._turns = 0  # how often somebody began to speak
        self._hearing: set[asyncio.Task[None]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._left: Callable[[], None] | None = None  # is called when nothing is to be answered any more

    def shape(self) -> dict[str, Any]:
        return {"id": self.id, "object": "realtime.session", **self.fields.model_dump(mode="json")}

    async def close(self) -> None:
        """Everything that was asked for ends, and its memory is free."""
        self._leash.cut()
        if self.response is not None:
            self.response.halt()
            self.over(self.response)
        tasks = self._hearing | self._tasks
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_PATIENCE)
            for task in late:
                task.cancel()

    def leave(self, left: Callable[[], None]) -> None:
        """The server stops: `left` is called when what was asked is answered."""
        self._left = left
        self._perhaps_leave()

    def _perhaps_leave(self) -> None:
        if self._left is not None and self.response is None and not self._hearing:
            left, self._left = self._left, None
            left()

    def _spawn(self, work: Coroutine[Any, Any, None], among: set[asyncio.Task[None]]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        among.add(task)
        task.add_done_callback(among.discard)
        return task

    # -- turns

    async def heard(self, changes: Sequence[Heard]) -> None:
        for change in changes:
            async with self.lock:
                await (self._began(change) if isinstance(change, SpeechBegan) else self._ended(change))

    async def _began(self, speech: SpeechBegan) -> None:
        if self.speech is None:
            self.speech = new_id("item")
            self._turns += 1
            await self.tell(
                "input_audio_buffer.speech_started", item_id=self.speech, audio_start_ms=milliseconds(speech.at)
            )
        turns = self.fields.audio.input.turn_detection
        if turns is not None and turns.interrupt_response and self.response is not None and not self.response.outside:
            await self.response.stop("turn_detected")

    async def _ended(self, speech: SpeechEnded) -> None:
        id, self.speech = self.speech or new_id("item"), None
        await self.tell("input_audio_buffer.speech_stopped", item_id=id, audio_end_ms=milliseconds(speech.at))
        turns = self.fields.audio.input.turn_detection
        await self.commit(id, speech.samples, answer=turns is not None and turns.create_response, known=True)

    async def commit(self, id: str, samples: np.ndarray, *, answer: bool, known: bool) -> None:
        """Sound becomes an item, and is written down. `known`: speech was found in it."""
        item = heard_item(id)
        before = self.conversation.before(item)
        self.conversation.add(item)
        await self.tell("input_audio_buffer.committed", item_id=id, previous_item_id=before)
        await self.added(item)
        self.write_down(item, samples, answer=answer, known=known)

    async def added(self, item: Item) -> None:
        before = self.conversation.before(item)
        for kind in ("conversation.item.added", "conversation.item.done"):
            await self.tell(kind, previous_item_id=before, item=item.shape)

    # -- what was said

    async def room(self) -> None:
        """Wait until not too much waits to be written down."""
        while len(self._hearing) >= _WAITING:
            await asyncio.wait(self._hearing, return_when=asyncio.FIRST_COMPLETED)

    def write_down(self, item: Item, samples: np.ndarray, *, answer: bool, known: bool) -> None:
        turn = self._turns if answer else None
        item.hearing = self._spawn(self._hear(item, samples, turn, known), self._hearing)
        item.hearing.add_done_callback(lambda _: self._perhaps_leave())

    async def _hear(self, item: Item, samples: np.ndarray, turn: int | None, known: bool) -> None:
        """`turn`: which is answered then, unless somebody has begun to speak again, who goes on with the question."""
        try:
            await self._write(item, samples, known)
            while self.response is not None and self.response.outside:  # which no question has to give way to
                await self._free.wait()
            async with self.lock:
                latest = turn == self._turns or (turn is not None and not self._interrupts)
                if latest and item.text and item in self.conversation.items:
                    await self.respond(Response(self, self.fields))
        except ClientGone:
            return
        except Exception as error:
            with contextlib.suppress(ClientGone):
                async with self.lock:
                    await self.fail(error)

    @property
    def _interrupts(self) -> bool:
        turns = self.fields.audio.input.turn_detection
        return turns is not None and turns.interrupt_response

    async def _write(self, item: Item, samples: np.ndarray, known: bool) -> None:
        try:
            await self._read_out(item, samples, known)
        except ClientGone:
            raise
        except Exception as error:
            told = detail(error)
            item.problem = as_api_error(error)
            async with self.lock:
                if self._tells_words:
                    await self._tell_of(item, "failed", error=told)
                else:
                    await self.tell("error", error={**told, "event_id": None})
            return
        usage = {"type": "duration", "seconds": round(len(samples) / SAMPLE_RATE, 3)}
        async with self.lock:
            await self._tell_of(item, "completed", transcript=item.text, usage=usage)

    async def _read_out(self, item: Item, samples: np.ndarray, known: bool) -> None:
        listener = await self.cast.ears(self.fields.audio.input.transcription)
        pieces, content = _texts(listener, samples, known), item.shape["content"][0]
        said = ""
        while (text := await in_thread(next, pieces, _END)) is not _END:
            delta = f" {text}" if said else str(text)
            said += delta
            async with self.lock:
                await self._tell_of(item, "delta", delta=delta)
        content["transcript"] = said

    @property
    def _tells_words(self) -> bool:
        """Does the client wish to read what was said?"""
        return self.fields.audio.input.transcription is not None

    async def _tell_of(self, item: Item, what: str, **fields: Any) -> None:
        if self._tells_words and item in self.conversation.items:
            kind = f"conversation.item.input_audio_transcription.{what}"
            await self.tell(kind, item_id=item.id, content_index=0, **fields)

    # -- responses

    async def respond(self, response: Response) -> None:
        """Under the lock."""
        if self.response is not None:
            raise ApiError(
                400,
                f"The response {self.response.id} is still being made. Cancel it first, or wait for response.done.",
                code="conversation_already_has_active_response",
            )
        self.response = response
        self._free.clear()
        await response.begin()
        self._spawn(response.run(), self._tasks)

    def over(self, response: Response) -> None:
        if self.response is response:
            self.response = None
            self._free.set()
            self._perhaps_leave()


def _texts(listener: Transcriber, samples: np.ndarray, known: bool) -> Iterator[str]:
    """What is said, stretch by stretch. Runs in a thread."""
    if known and len(samples) <= DEFAULT_RULES.longest * SAMPLE_RATE:
        text = listener.segment(samples, 0.0, listener.submit(samples)).text
        if text:
            yield text
        return
    for segment in listener.segments(Audio(samples, SAMPLE_RATE)):
        yield segment.text
