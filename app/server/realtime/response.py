"""One response: its words as they are generated, or its speech sentence by sentence, and every event that reports them.

The words arrive on the event loop; the speech is synthesized in a thread, which waits after each piece until the client has been
sent it. So synthesis is never far ahead of a client that reads slowly.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import secrets
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from app.runtime.chat import ReplyEvent
from app.server.audio.models import choose_model, is_openai_name
from app.server.audio.speech import voice_settings
from app.server.audio.threads import in_thread
from app.server.body import IgnoredFields, ignore, ignored_fields
from app.server.context import Server
from app.server.errors import ApiError, unsupported
from app.server.realtime.audio import StreamResampler, as_text
from app.server.realtime.conversation import ConversationItem, RealtimeConversation, assistant_item, prepare_prompt
from app.server.realtime.protocol import (
    AudioFormat,
    RealtimeAudio,
    RealtimeAudioOutput,
    RealtimeTranscription,
    SendEvent,
    SessionFields,
    error_fields,
)
from app.server.requests import ClientGone, RunningRequest
from engine.errors import GrusError, MissingCapability
from engine.loading import LoadedModel
from engine.pipelines.listening.asr_models import transcriber
from engine.pipelines.listening.transcription import ListenOptions, Transcriber
from engine.pipelines.speaking.speech import SpeechOptions, SpeechQueue
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.voice_chat import AnswerEvent, Reply, SpokenReply, Voiced
from engine.tasks import CancelScope
from engine.types import Timings, new_id

Shape = dict[str, Any]


async def chat_model(server: Server, name: str | None) -> tuple[str, LoadedModel]:
    """A model that writes text; None: the first one that is served."""
    found, model = await choose_model(server, name, "chat")
    if model.vision is not None and model.vision.line_strips is not None:
        raise ApiError(
            400,
            f"The model {found} reads pages and does not talk. Choose another one.",
            code="missing_capability",
            param="model",
        )
    return found, model


class SessionModels:
    """The ASR and TTS models of one session, opened at first use. What they submit to `engine` is cancelled with the session."""

    def __init__(self, server: Server, engine: CancelScope) -> None:
        self._server, self._engine = server, engine
        self._seed = secrets.randbits(31)  # of the TTS: the same in every response
        self._speech_queue: SpeechQueue | None = None
        self._spoken: tuple[RealtimeAudioOutput, int | None] | None = None  # what the speech queue was made for

    async def checked(self, fields: SessionFields, now: SessionFields) -> SessionFields:
        """The settings after a change from `now`, with served models in place of OpenAI's names. Raises an error for what
        their models do not support. Where no model of a kind is served, its settings have no effect."""
        if fields.model != now.model:
            if fields.model is not None and not (
                is_openai_name(self._server, fields.model) and ignore("session.model")
            ):
                message = f"This session talks with {now.model}. Open another one for another model."
                raise unsupported("session.model", message)
            fields = fields.model_copy(update={"model": now.model})
        taken, output = fields.audio.input, fields.audio.output
        if taken.transcription is not None and taken.transcription != now.audio.input.transcription:
            with _without_effect("session.audio.input.transcription"):
                wanted, path = taken.transcription, "session.audio.input.transcription.model"
                name, _ = await choose_model(self._server, wanted.model, "listen", param=path)
                wanted = wanted.model_copy(update={"model": name})
                await self.listener(wanted)
                taken = taken.model_copy(update={"transcription": wanted})
        if output != now.audio.output:
            with _without_effect("session.audio.output"):
                path = "session.audio.output.model"
                name, _ = await choose_model(self._server, output.model, "speak", "custom_voice", path)
                output = output.model_copy(update={"model": name})
                fields = fields.model_copy(update={"audio": RealtimeAudio(input=taken, output=output)})
                await self.speech_queue(fields)
        return fields.model_copy(update={"audio": RealtimeAudio(input=taken, output=output)})

    async def listener(self, wanted: RealtimeTranscription | None) -> Transcriber:
        name, loaded = await choose_model(self._server, wanted.model if wanted is not None else None, "listen")
        listener = transcriber(self._engine, name, loaded)
        listener.options = ListenOptions(language=wanted.language if wanted is not None else None)
        listener.check(listener.options)
        return listener

    async def speech_queue(self, fields: SessionFields) -> SpeechQueue:
        """Raises an error for a voice or a language that the model does not support."""
        output, seed = fields.audio.output, fields.seed
        if self._speech_queue is None or self._spoken != (output, seed):
            name, _ = await choose_model(self._server, output.model, "speak", "custom_voice")
            seed = self._seed if seed is None else seed
            self._speech_queue = await in_thread(self._open_speech, name, output, seed, ignored_fields.get())
            self._spoken = output, fields.seed
        return self._speech_queue

    def _open_speech(
        self, name: str, output: RealtimeAudioOutput, seed: int, ignored: IgnoredFields | None
    ) -> SpeechQueue:
        model: Any = speaker(self._engine, name)
        settings = voice_settings(
            self._server, model, output.named, output.language, output.instructions, ignored, "session.audio.output."
        )
        return SpeechQueue(model, settings, SpeechOptions(speed=output.speed, seed=seed))


@contextlib.contextmanager
def _without_effect(field: str) -> Iterator[None]:
    """Settings of a kind of model that is not served are reported; what needs the model is an error where it is used."""
    try:
        yield
    except MissingCapability as error:
        if not (error.nowhere and ignore(field)):
            raise


class RealtimeOutput:
    """The items of a response, and every event that reports them: one message, as text or audio, and function calls.

    Call its methods under the session's lock."""

    def __init__(
        self, response: str, fields: SessionFields, conversation: RealtimeConversation | None, send: SendEvent
    ) -> None:
        """`conversation`: what the items are added to; None for an out-of-band response."""
        self._response, self._spoken = response, fields.spoken
        self._format: AudioFormat = fields.audio.output.format
        self._conversation, self._send = conversation, send
        self.items: list[ConversationItem] = []
        self._message: ConversationItem | None = None
        self._call: ConversationItem | None = None  # that is being streamed

    # -- a message

    async def begin(self) -> None:
        """Open the message, at its first word."""
        if self._message is not None:
            return
        item = self._message = assistant_item("message", self._format.rate, role="assistant", content=[])
        await self._add(item)
        kind = "output_audio" if self._spoken else "output_text"
        item.shape["content"] = [{"type": kind, ("transcript" if self._spoken else "text"): ""}]
        await self._send_for(item, "response.content_part.added", content_index=0, part=self._part(item))

    async def text(self, delta: str) -> None:
        await self.begin()
        assert self._message is not None
        self._message.shape["content"][0]["text"] += delta
        await self._send_for(self._message, "response.output_text.delta", content_index=0, delta=delta)

    async def sentence(self, text: str) -> None:
        """The transcript of the audio that follows."""
        await self.begin()
        assert self._message is not None
        content = self._message.shape["content"][0]
        delta = f" {text}" if content["transcript"] else text
        content["transcript"] += delta
        self._message.sounded.sentence(text)
        await self._send_for(self._message, "response.output_audio_transcript.delta", content_index=0, delta=delta)

    async def sound(self, samples: np.ndarray) -> None:
        """At the rate of the format on the wire."""
        if self._message is not None and len(samples):
            self._message.sounded.sound(len(samples))
            delta = as_text(samples, self._format)
            await self._send_for(self._message, "response.output_audio.delta", content_index=0, delta=delta)

    # -- calls

    async def call(self, name: str, id: str) -> None:
        await self._close_call("completed")
        self._call = assistant_item("function_call", self._format.rate, name=name, call_id=id, arguments="")
        await self._add(self._call)

    async def arguments(self, delta: str) -> None:
        assert self._call is not None
        self._call.shape["arguments"] += delta
        await self._send_for(
            self._call, "response.function_call_arguments.delta", call_id=self._call.shape["call_id"], delta=delta
        )

    async def end_call(self) -> None:
        await self._close_call("completed")

    # -- the end

    async def close(self, completed: bool, stopped: bool) -> None:
        """`stopped`: cancelled or failed; the transcript is truncated to the audio that was sent."""
        status = "completed" if completed else "incomplete"
        message = self._message
        if message is not None:
            if stopped and self._spoken:
                message.truncate(int(message.sounded.ends))
            await self._close_message(message, status)
        await self._close_call(status)
        if stopped and self._spoken and message is not None:
            await self._send(
                "conversation.item.truncated", item_id=message.id, content_index=0, audio_end_ms=message.sent_ms
            )

    async def _close_message(self, item: ConversationItem, status: str) -> None:
        content = item.shape["content"][0]
        if self._spoken:
            await self._send_for(item, "response.output_audio.done", content_index=0)
            transcript = content["transcript"]
            await self._send_for(item, "response.output_audio_transcript.done", content_index=0, transcript=transcript)
        else:
            await self._send_for(item, "response.output_text.done", content_index=0, text=content["text"])
        await self._send_for(item, "response.content_part.done", content_index=0, part=self._part(item))
        await self._done(item, status)

    async def _close_call(self, status: str) -> None:
        call, self._call = self._call, None
        if call is None:
            return
        done = {key: call.shape[key] for key in ("call_id", "name", "arguments")}
        await self._send_for(call, "response.function_call_arguments.done", **done)
        await self._done(call, status)

    async def _add(self, item: ConversationItem) -> None:
        before = None
        if self._conversation is not None:
            self._conversation.add(item)
            before = self._conversation.previous_id(item)
        self.items.append(item)
        where = {"response_id": self._response, "output_index": len(self.items) - 1}
        await self._send("response.output_item.added", **where, item=item.shape)
        if self._conversation is not None:
            await self._send("conversation.item.added", previous_item_id=before, item=item.shape)

    async def _done(self, item: ConversationItem, status: str) -> None:
        item.shape["status"] = status
        if self._conversation is not None:
            before = self._conversation.previous_id(item)
            await self._send("conversation.item.done", previous_item_id=before, item=item.shape)
        where = {"response_id": self._response, "output_index": self._index(item)}
        await self._send("response.output_item.done", **where, item=item.shape)

    async def _send_for(self, item: ConversationItem, kind: str, **more: Any) -> None:
        where = {"response_id": self._response, "item_id": item.id, "output_index": self._index(item)}
        await self._send(kind, **where, **more)

    def _index(self, item: ConversationItem) -> int:
        return next(at for at, one in enumerate(self.items) if one is item)

    def _part(self, item: ConversationItem) -> Shape:
        content = item.shape["content"][0]
        if self._spoken:
            return {"type": "audio", "transcript": content["transcript"]}
        return {"type": "text", "text": content["text"]}


class ResponseHost(Protocol):
    """The part of a session that a response uses."""

    server: Server
    models: SessionModels
    conversation: RealtimeConversation
    lock: asyncio.Lock

    def collecting(self) -> AbstractContextManager[None]: ...
    @property
    def send(self) -> SendEvent: ...

    def response_ended(self, response: RealtimeResponse) -> None: ...


class RealtimeResponse:
    """Announced by `begin`, generated by `run`, and ended once: by itself, by `stop`, or by `halt` when the session closes."""

    def __init__(self, host: ResponseHost, fields: SessionFields, *, metadata: Mapping[str, str] | None = None,
                 out_of_band: bool = False, own: Sequence[ConversationItem] | None = None) -> None:  # fmt: skip
        """`out_of_band`: its output is not added to the conversation. `own`: its input items, instead of the conversation's."""
        self.id = new_id("resp")
        self.out_of_band = out_of_band
        self.fields = fields
        self._host, self._own, self._metadata = host, own, metadata
        self._loop = asyncio.get_running_loop()
        self.output = RealtimeOutput(self.id, fields, None if out_of_band else host.conversation, host.send)
        self._ended = False
        self._running: RunningRequest | None = None
        self._speech_queue: SpeechQueue | None = None
        self._answering: SpokenReply | None = None
        self._text_queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._wire: StreamResampler | None = None
        self._speech_error: GrusError | None = None
        self._reason = "stop"

    async def begin(self) -> None:
        await self._host.send("response.created", response=self._shape("in_progress"))

    async def run(self) -> None:
        try:
            with self._host.collecting():
                await self._make()
        except ClientGone:
            self.halt()
        except Exception as error:
            await self._fail(error)

    async def stop(self, reason: str) -> None:
        """Cancel it; call this under the session's lock. `reason`: turn_detected or client_cancelled."""
        if not self._ended:
            await self._end("cancelled", {"type": "cancelled", "reason": reason})

    def halt(self) -> None:
        """Cancel all work and send nothing."""
        self._ended = True
        self._text_queue.put(None)
        self._stop_speech()
        if self._running is not None:
            self._running.cancel()

    def _stop_speech(self) -> None:
        if self._answering is not None:
            self._answering.stop()
        if self._speech_queue is not None:
            self._speech_queue.stop()

    # -- text

    async def _make(self) -> None:
        host, fields = self._host, self.fields
        items = await self._read_items()
        _, model = await chat_model(host.server, fields.model)
        prepared = await prepare_prompt(host.server, items, fields, model, self.id)
        speech_queue = await host.models.speech_queue(fields) if fields.spoken else None
        if self._ended:
            return
        self._running = host.server.requests.submit(prepared.request, prepared.reader)
        voice = (
            asyncio.ensure_future(in_thread(self._start_speech(speech_queue).run)) if speech_queue is not None else None
        )
        try:
            async with contextlib.aclosing(self._running.streamed()) as parts:
                async for part in parts:
                    async with host.lock:
                        if self._ended:
                            break
                        await self._handle_part(part)
            if self._reason == "cancelled":
                self._stop_speech()
        finally:
            self._text_queue.put(None)
            if voice is not None:
                await self._wait_for_speech(voice)
        async with host.lock:
            if not self._ended:
                await self._finish()

    async def _read_items(self) -> list[ConversationItem]:
        """The items to answer, once all of them are transcribed."""
        while True:
            items = list(self._host.conversation.items) if self._own is None else list(self._own)
            waited = [
                item.transcription for item in items if item.transcription is not None and not item.transcription.done()
            ]
            if not waited:
                break
            await asyncio.wait(waited)
        asked = next((item for item in reversed(items) if item.shape.get("role") == "user"), None)
        if asked is not None and asked.error is not None:
            raise asked.error
        return items

    async def _handle_part(self, part: ReplyEvent) -> None:
        output = self.output
        if part.kind == "call":
            await output.call(part.name, part.call_id)
        elif part.kind == "arguments":
            await output.arguments(part.text)
        elif part.kind == "end":
            self._reason = part.reason
        elif part.kind == "answer":
            await output.end_call()
            if not self.fields.spoken:
                await output.text(part.text)
                return
            if part.text.strip():
                await output.begin()
            self._text_queue.put(part.text)

    # -- speech

    def _start_speech(self, speech_queue: SpeechQueue) -> SpokenReply:
        wire = self.fields.audio.output.format.rate
        self._speech_queue, self._wire = speech_queue, StreamResampler(speech_queue.rate, wire)
        self._answering = SpokenReply(self._queued_text(), speech_queue, self._send_from_thread)
        return self._answering

    def _queued_text(self) -> Iterator[str]:
        while (piece := self._text_queue.get()) is not None:
            yield piece

    def _send_from_thread(self, event: AnswerEvent) -> None:
        """Runs in the speech thread; waits until the event was sent."""
        try:
            asyncio.run_coroutine_threadsafe(self._send_speech(event), self._loop).result()
        except (CancelledError, RuntimeError, ClientGone):  # the session has ended
            assert self._answering is not None
            self._answering.stop()

    async def _send_speech(self, event: AnswerEvent) -> None:
        async with self._host.lock:
            if self._ended:
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
                self._speech_error = event.error
                if self._running is not None:
                    self._running.cancel()

    async def _wait_for_speech(self, voice: asyncio.Future[None]) -> None:
        """Until the speech ends. `/abort_request` with the response's id stops it."""
        requests = self._host.server.requests
        stop = lambda: self._loop.call_soon_threadsafe(self._aborted)  # noqa: E731
        requests.sound_begins(self.id, stop)
        try:
            with contextlib.suppress(ClientGone):
                await voice
        finally:
            requests.sound_ends(self.id)

    def _aborted(self) -> None:
        self._reason = "cancelled"
        self._stop_speech()

    # -- the end

    async def _finish(self) -> None:
        if self._speech_error is not None:
            raise self._speech_error
        if self._reason == "cancelled":
            await self._end("cancelled", {"type": "cancelled", "reason": "client_cancelled"})
        elif self._reason == "length":
            await self._end("incomplete", {"type": "incomplete", "reason": "max_output_tokens"})
        else:
            await self._end("completed", None)

    async def _fail(self, error: Exception) -> None:
        with contextlib.suppress(ClientGone):
            async with self._host.lock:
                if not self._ended:
                    await self._end("failed", {"type": "failed", "error": error_fields(error)})

    async def _end(self, status: str, details: Mapping[str, Any] | None) -> None:
        self.halt()
        try:
            await self.output.close(status == "completed", stopped=status in ("cancelled", "failed"))
            await self._host.send("response.done", response=self._shape(status, details))
        finally:
            self._host.response_ended(self)

    def _shape(self, status: str, details: Mapping[str, Any] | None = None) -> dict[str, Any]:
        fields = self.fields
        voice = fields.audio.output.model_dump(include={"format", "voice"}, exclude_none=True)
        return {
            "id": self.id,
            "object": "realtime.response",
            "status": status,
            "status_details": details,
            "output": [item.shape for item in self.output.items],
            "conversation_id": None if self.out_of_band else self._host.conversation.id,
            "output_modalities": fields.output_modalities,
            "max_output_tokens": fields.max_output_tokens,
            "audio": {"output": voice},
            "usage": self._usage(),
            "metadata": self._metadata,
        }

    def _usage(self) -> dict[str, Any] | None:
        """None until the text is complete."""
        return None if self._running is None or not self._running.timings.total else _usage(self._running.timings)


def _usage(timings: Timings) -> dict[str, Any]:
    """Of the chat model; ASR and TTS are not counted."""
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
