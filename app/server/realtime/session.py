"""One conversation by voice: its models, its turns, their transcripts, and the response that is in progress.

Belongs to the event loop. Code that changes the conversation or sends an event holds `lock`, so that events have one order and
nothing follows the end of a response that was stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from app.server.audio.threads import cancel_scope, in_thread
from app.server.body import IgnoredFields, IgnoredLog, ignored_fields
from app.server.context import Server
from app.server.errors import ApiError, as_api_error, unsupported
from app.server.realtime.audio import InputAudioBuffer, TurnEvent, TurnStarted, TurnStopped, milliseconds
from app.server.realtime.conversation import ConversationItem, RealtimeConversation, user_audio_item
from app.server.realtime.protocol import SendEvent, SessionFields, error_fields, read_session, shown
from app.server.realtime.response import RealtimeResponse, SessionModels
from app.server.requests import ClientGone
from engine.media.sound import SAMPLE_RATE, Audio
from engine.pipelines.listening.transcription import Transcriber
from engine.pipelines.listening.voice_activity import DEFAULT_RULES
from engine.types import new_id

_MAX_TRANSCRIPTIONS = 4  # at once; a client that sends more recordings waits
_CLOSE_SECONDS = 10.0  # for work to end when the session does
_END = object()
_LOG = IgnoredLog()


@contextlib.contextmanager
def collecting(server: Server, client: str) -> Iterator[None]:
    """Collect the fields that are ignored within, and log them; under --strict there are none. `client`: its User-Agent."""
    fields = None if server.settings.strict else IgnoredFields()
    token = ignored_fields.set(fields)
    try:
        yield
    finally:
        ignored_fields.reset(token)
        if fields is not None:
            _LOG.add(client, fields.names())


class RealtimeSession:
    def __init__(self, send: SendEvent, server: Server, fields: SessionFields, client: str = "") -> None:
        """`client`: its User-Agent."""
        settings = server.settings
        self.id = new_id("sess")
        self.server, self.fields = server, fields
        self._client = client
        self.send = send
        self.lock = asyncio.Lock()
        self._scope = cancel_scope(server)
        self.models = SessionModels(server, self._scope)
        taken = fields.audio.input
        self.buffer = InputAudioBuffer(self._scope, settings.max_buffer_seconds, taken.turn_detection, taken.format)
        self.conversation = RealtimeConversation(settings.max_prompt)
        self.response: RealtimeResponse | None = None  # the one in progress
        self._free = asyncio.Event()  # set while no response is in progress
        self.speech_item: str | None = None  # the id of the item that the current speech will be
        self._turns = 0  # how many times speech has started
        self._transcriptions: set[asyncio.Task[None]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._left: Callable[[], None] | None = None  # called when nothing is left to answer

    async def send_error(self, error: Exception, event_id: str | None = None) -> None:
        """`event_id`: of the client's event that caused it."""
        await self.send("error", error={**error_fields(error), "event_id": event_id})

    def shape(self) -> dict[str, Any]:
        return shown(self.id, self.fields)

    def collecting(self) -> AbstractContextManager[None]:
        return collecting(self.server, self._client)

    async def configure(self, change: Mapping[str, Any]) -> None:
        """Change the settings. The caller shows them, and then lets the input follow."""
        fields = await self.models.checked(read_session(self.fields, change), self.fields)
        async with self.lock:
            self.fields = fields

    async def follow_input(self) -> None:
        """Use the settings' format and turn detection for the audio that is held and that follows."""
        taken = self.fields.audio.input
        await in_thread(self.buffer.take, taken.format)
        await self.handle_speech(await in_thread(self.buffer.turn, taken.turn_detection))

    async def close(self) -> None:
        """Cancel all work and wait for its end."""
        self._scope.cancel()
        if self.response is not None:
            self.response.halt()
            self.response_ended(self.response)
        tasks = self._transcriptions | self._tasks
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_CLOSE_SECONDS)
            for task in late:
                task.cancel()

    def leave(self, left: Callable[[], None]) -> None:
        """The server stops: call `left` once every question is answered."""
        self._left = left
        self._check_idle()

    def _check_idle(self) -> None:
        if self._left is not None and self.response is None and not self._transcriptions:
            left, self._left = self._left, None
            left()

    def _spawn(self, work: Coroutine[Any, Any, None], among: set[asyncio.Task[None]]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        among.add(task)
        task.add_done_callback(among.discard)
        return task

    # -- turns

    async def handle_speech(self, changes: Sequence[TurnEvent]) -> None:
        for change in changes:
            async with self.lock:
                await (self._turn_started(change) if isinstance(change, TurnStarted) else self._turn_stopped(change))

    async def _turn_started(self, speech: TurnStarted) -> None:
        if self.speech_item is None:
            self.speech_item = new_id("item")
            self._turns += 1
            await self.send(
                "input_audio_buffer.speech_started", item_id=self.speech_item, audio_start_ms=milliseconds(speech.at)
            )
        turns = self.fields.audio.input.turn_detection
        if (
            turns is not None
            and turns.interrupt_response
            and self.response is not None
            and not self.response.out_of_band
        ):
            await self.response.stop("turn_detected")

    async def _turn_stopped(self, speech: TurnStopped) -> None:
        id, self.speech_item = self.speech_item or new_id("item"), None
        await self.send("input_audio_buffer.speech_stopped", item_id=id, audio_end_ms=milliseconds(speech.at))
        turns = self.fields.audio.input.turn_detection
        answer = turns is not None and turns.create_response and self.fields.answers
        await self.commit(id, speech.samples, answer=answer, is_speech=True)

    async def commit(self, id: str, samples: np.ndarray, *, answer: bool, is_speech: bool) -> None:
        """Make an item of audio and transcribe it. `is_speech`: the voice activity model found speech in it."""
        item = user_audio_item(id)
        before = self.conversation.previous_id(item)
        self.conversation.add(item)
        await self.send("input_audio_buffer.committed", item_id=id, previous_item_id=before)
        await self.send_added(item)
        self.transcribe(item, samples, answer=answer, is_speech=is_speech)

    async def send_added(self, item: ConversationItem) -> None:
        before = self.conversation.previous_id(item)
        for kind in ("conversation.item.added", "conversation.item.done"):
            await self.send(kind, previous_item_id=before, item=item.shape)

    # -- transcripts

    async def wait_for_transcriptions(self) -> None:
        """Backpressure: wait until fewer recordings are being transcribed."""
        while len(self._transcriptions) >= _MAX_TRANSCRIPTIONS:
            await asyncio.wait(self._transcriptions, return_when=asyncio.FIRST_COMPLETED)

    def transcribe(self, item: ConversationItem, samples: np.ndarray, *, answer: bool, is_speech: bool) -> None:
        turn = self._turns if answer else None
        item.transcription = self._spawn(
            self._transcribe_and_answer(item, samples, turn, is_speech), self._transcriptions
        )
        item.transcription.add_done_callback(lambda _: self._check_idle())

    async def _transcribe_and_answer(
        self, item: ConversationItem, samples: np.ndarray, turn: int | None, is_speech: bool
    ) -> None:
        """`turn`: the turn to answer, unless speech has started again, which continues the question."""
        try:
            await self._transcribe(item, samples, is_speech)
            while self.response is not None and self.response.out_of_band:  # it is not interrupted by a question
                await self._free.wait()
            async with self.lock:
                latest = turn == self._turns or (turn is not None and not self._interrupts)
                if latest and item.text and item in self.conversation.items:
                    await self.respond(RealtimeResponse(self, self.fields))
        except ClientGone:
            return
        except Exception as error:
            with contextlib.suppress(ClientGone):
                async with self.lock:
                    await self.send_error(error)

    @property
    def _interrupts(self) -> bool:
        turns = self.fields.audio.input.turn_detection
        return turns is not None and turns.interrupt_response

    async def _transcribe(self, item: ConversationItem, samples: np.ndarray, is_speech: bool) -> None:
        try:
            await self._stream_transcript(item, samples, is_speech)
        except ClientGone:
            raise
        except Exception as error:
            item.error = as_api_error(error)
            async with self.lock:
                if self._sends_transcripts:
                    await self._send_for(item, "failed", error=error_fields(error))
                else:
                    await self.send_error(error)
            return
        usage = {"type": "duration", "seconds": round(len(samples) / SAMPLE_RATE, 3)}
        async with self.lock:
            await self._send_for(item, "completed", transcript=item.text, usage=usage)

    async def _stream_transcript(self, item: ConversationItem, samples: np.ndarray, is_speech: bool) -> None:
        listener = await self.models.listener(self.fields.audio.input.transcription)
        pieces, content = _texts(listener, samples, is_speech), item.shape["content"][0]
        transcript = ""
        while (text := await in_thread(next, pieces, _END)) is not _END:
            delta = f" {text}" if transcript else str(text)
            transcript += delta
            async with self.lock:
                await self._send_for(item, "delta", delta=delta)
        content["transcript"] = transcript

    @property
    def _sends_transcripts(self) -> bool:
        """Whether the client receives transcripts."""
        return self.fields.audio.input.transcription is not None

    async def _send_for(self, item: ConversationItem, what: str, **fields: Any) -> None:
        if self._sends_transcripts and item in self.conversation.items:
            kind = f"conversation.item.input_audio_transcription.{what}"
            await self.send(kind, item_id=item.id, content_index=0, **fields)

    # -- responses

    async def respond(self, response: RealtimeResponse) -> None:
        """Call this under the lock."""
        if not self.fields.answers:
            raise unsupported("type", "This session transcribes only: its type is transcription.")
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

    def response_ended(self, response: RealtimeResponse) -> None:
        if self.response is response:
            self.response = None
            self._free.set()
            self._check_idle()


def _texts(listener: Transcriber, samples: np.ndarray, is_speech: bool) -> Iterator[str]:
    """Transcribe segment by segment. Runs in a thread."""
    if is_speech and len(samples) <= DEFAULT_RULES.longest * SAMPLE_RATE:
        text = listener.segment(samples, 0.0, listener.submit(samples)).text
        if text:
            yield text
        return
    for segment in listener.segments(Audio(samples, SAMPLE_RATE)):
        yield segment.text
