"""`/v1/realtime`: a websocket with the events of OpenAI's Realtime API. Opens it, handles the client's events, and closes it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi import APIRouter, WebSocket
from starlette.responses import JSONResponse
from starlette.websockets import WebSocketDisconnect, WebSocketState

from app.server.audio.models import choose_model, default_model, is_openai_name
from app.server.audio.threads import in_thread
from app.server.body import IGNORED_HEADER, ignored_header, parse
from app.server.context import Server
from app.server.errors import ApiError, error_body, unsupported
from app.server.gate import given_keys
from app.server.openapi import errors
from app.server.realtime import client_secrets
from app.server.realtime.conversation import ConversationItem, client_item
from app.server.realtime.protocol import (
    ClientEvent,
    InputAudioAppend,
    ItemCreate,
    ItemEvent,
    ItemReference,
    ItemTruncate,
    RealtimeAudio,
    RealtimeAudioInput,
    RealtimeAudioOutput,
    RealtimeTranscription,
    ResponseCancel,
    ResponseCreate,
    SessionFields,
    SessionUpdate,
    as_beta,
    asked_for,
    error_fields,
    for_response,
    read_event,
    read_item,
)
from app.server.realtime.response import RealtimeResponse, chat_model
from app.server.realtime.session import RealtimeSession, collecting
from app.server.requests import ClientGone
from engine.errors import GrusError
from engine.media.sound import SAMPLE_RATE, resampled
from engine.types import new_id

log = logging.getLogger("grus.server")
router = APIRouter(tags=["Voices"])

router.include_router(client_secrets.router)

_SUBPROTOCOL = "realtime"
_QUERY = ("model", "intent")
_TRANSCRIBES = "transcription"
# close codes, beside 1009 (message too large) and 1012 (the server stops)
_REFUSED = 1008
_FAULT = 1011


@router.get("/v1/realtime", status_code=426, responses=errors(426))
async def plain() -> None:
    """A conversation by voice, over a websocket."""
    raise ApiError(
        426,
        "This is a websocket: open it with `client.realtime.connect(...)`, or as ws://.",
        code="upgrade_required",
        headers={"Upgrade": "websocket", "Connection": "Upgrade"},
    )


@router.websocket("/v1/realtime")
async def realtime(socket: WebSocket) -> None:
    server: Server = socket.app.state.server
    try:
        _check(socket, server)
    except ApiError as error:
        await socket.send_denial_response(JSONResponse(error_body(error, "openai"), error.status_code))
        return
    server.conversations += 1
    server.requests.meters.sessions.inc()
    try:
        query = socket.query_params
        ignored = [name for name in query if name not in _QUERY]
        if is_openai_name(server, query.get("model", "")):
            ignored.append("model")
        await socket.accept(
            _SUBPROTOCOL if _SUBPROTOCOL in socket.scope["subprotocols"] else None,
            [(IGNORED_HEADER, ignored_header(ignored))] if ignored and not server.settings.strict else None,
        )
        await _converse(socket, server)
    finally:
        server.conversations -= 1
        server.requests.meters.sessions.dec()


@router.websocket("/{path:path}")
async def elsewhere(socket: WebSocket) -> None:
    error = ApiError(404, "There is no websocket here. Conversations by voice are at /v1/realtime.")
    await socket.send_denial_response(JSONResponse(error_body(error, "openai"), error.status_code))


def _check(socket: WebSocket, server: Server) -> None:
    """Raises what is answered with a status, before the websocket is accepted."""
    if server.conversations >= server.settings.max_sessions:
        raise ApiError(
            429,
            f"{server.settings.max_sessions} conversations are open already, which --max-sessions sets. End one, or wait.",
            code="too_many_sessions",
        )


async def _converse(socket: WebSocket, server: Server) -> None:
    """Serve one session until the client leaves, stops taking events, or the server stops."""
    beta = asked_for(socket.headers.get("openai-beta"), socket.scope["subprotocols"])
    channel, code = EventChannel(socket, server.settings.send_seconds, beta), 1000
    client, sessions = socket.headers.get("user-agent", ""), map(server.ephemeral_keys.session, given_keys(socket))
    prepared = next((found for found in sessions if found is not None), {})
    try:
        with collecting(server, client):
            fields = await _fields(socket, server, prepared)
        session = RealtimeSession(channel.send, server, fields, client)
        socket.state.leave = session.leave  # called when the server stops
        try:
            if prepared:
                with session.collecting():
                    await session.configure({**prepared, "model": None})
                await session.follow_input()
            await session.send("session.created", session=session.shape())
            await _read(socket, ClientEventHandler(session), channel)
        finally:
            await session.close()
    except ClientGone:
        pass
    except (GrusError, ApiError) as error:
        code = _REFUSED
        with contextlib.suppress(ClientGone):
            await channel.fail(error)
    except Exception:
        log.exception("A conversation met a fault.")
        code = _FAULT
    finally:
        await channel.close(code)


async def _read(socket: WebSocket, events: ClientEventHandler, channel: EventChannel) -> None:
    async def read() -> object:
        while (message := await socket.receive())["type"] != "websocket.disconnect":
            await events.handle(message.get("text"))
        return None

    async def gone() -> object:
        return await channel.gone.wait()

    tasks = asyncio.create_task(read()), asyncio.create_task(gone())
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


async def _fields(socket: WebSocket, server: Server, prepared: Mapping[str, Any]) -> SessionFields:
    """A new session's settings, with the models that it uses by default. `prepared`: those of its ephemeral key."""
    query = socket.query_params
    for name in query:
        if name not in _QUERY and (server.settings.strict or name == "call_id"):
            raise unsupported(name[:100], f"There is no parameter {name[:100]!r} here. Name a model with ?model=NAME.")
    asr, tts = await default_model(server, "listen"), await default_model(server, "speak", "custom_voice")
    model, transcribes = (
        query.get("model") or prepared.get("model"),
        _TRANSCRIBES in (query.get("intent"), prepared.get("type")),
    )
    if transcribes:
        asr, model = (await choose_model(server, model, "listen"))[0], None
    else:
        model, _ = await chat_model(server, model)
    audio_input = (
        RealtimeAudioInput(transcription=RealtimeTranscription(model=asr)) if asr is not None else RealtimeAudioInput()
    )
    return SessionFields(
        type="transcription" if transcribes else "realtime",
        model=model,
        audio=RealtimeAudio(input=audio_input, output=RealtimeAudioOutput(model=tts)),
    )


class EventChannel:
    """Sends events over a websocket, one by one; a client that does not take one in time is gone."""

    def __init__(self, socket: WebSocket, patience: float, beta: bool) -> None:
        """`patience`: seconds that the client has to take what is sent. `beta`: it reads the events of the beta."""
        self.gone = asyncio.Event()  # set when the client no longer takes events
        self._socket, self._patience, self._beta = socket, patience, beta

    async def send(self, kind: str, **fields: Any) -> None:
        """Raises ClientGone when the client does not take it in time."""
        if self._beta:
            if (shown := as_beta(kind, fields)) is None:
                return
            kind, fields = shown
        data = json.dumps({"type": kind, "event_id": new_id("event"), **fields}, ensure_ascii=False)
        try:
            async with asyncio.timeout(self._patience):
                await self._socket.send_text(data)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):  # RuntimeError: it was closed
            self.gone.set()
            raise ClientGone from None

    async def fail(self, error: Exception) -> None:
        """Send an error event without a session."""
        await self.send("error", error={**error_fields(error), "event_id": None})

    async def close(self, code: int) -> None:
        if WebSocketState.DISCONNECTED in (self._socket.client_state, self._socket.application_state):
            return
        try:
            async with asyncio.timeout(self._patience):
                await self._socket.close(code)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            return


class ClientEventHandler:
    """Handles a client's events, one after the other in the order in which they were sent."""

    def __init__(self, session: RealtimeSession) -> None:
        self._session = session
        self._handlers: dict[str, Callable[[Any], Awaitable[None]]] = {
            "session.update": self._update,
            "transcription_session.update": self._update,
            "input_audio_buffer.append": self._append,
            "input_audio_buffer.commit": self._commit,
            "input_audio_buffer.clear": self._clear,
            "output_audio_buffer.clear": self._clear_output,
            "conversation.item.create": self._create,
            "conversation.item.retrieve": self._retrieve,
            "conversation.item.delete": self._delete,
            "conversation.item.truncate": self._truncate,
            "response.create": self._respond,
            "response.cancel": self._cancel,
        }

    async def handle(self, text: str | None) -> None:
        """One message; None: it was not text. An invalid event is answered with an error event, and the session continues."""
        id: str | None = None
        try:
            if text is None:
                raise unsupported("type", "An event is JSON in a text message; sound goes into it as base64.")
            data = parse(text.encode(), self._session.server.settings.max_depth)
            id = _id_of(data)
            with self._session.collecting():
                event = read_event(data)
                await self._handlers[event.type](event)
        except ClientGone:
            raise
        except Exception as error:
            async with self._session.lock:
                await self._session.send_error(error, id)

    # -- the session

    async def _update(self, event: SessionUpdate) -> None:
        session = self._session
        kind = {"type": _TRANSCRIBES} if event.type.startswith(_TRANSCRIBES) else {}
        await session.configure({**event.session, **kind})
        async with session.lock:
            await session.send("session.updated", session=session.shape())
        await session.follow_input()

    # -- audio

    async def _append(self, event: InputAudioAppend) -> None:
        await self._session.wait_for_transcriptions()
        await self._session.handle_speech(await in_thread(self._session.buffer.feed, event.audio))

    async def _commit(self, event: ClientEvent) -> None:
        session = self._session
        await session.wait_for_transcriptions()
        samples = await in_thread(session.buffer.commit)
        async with session.lock:
            id, session.speech_item = session.speech_item or new_id("item"), None
            await session.commit(id, samples, answer=False, is_speech=False)

    async def _clear(self, event: ClientEvent) -> None:
        session = self._session
        await in_thread(session.buffer.clear)
        async with session.lock:
            session.speech_item = None
            await session.send("input_audio_buffer.cleared")

    async def _clear_output(self, event: ClientEvent) -> None:
        """A websocket buffers no audio: this cancels the response that is being spoken."""
        session = self._session
        async with session.lock:
            response = session.response
            if response is None or not response.fields.spoken:
                raise ApiError(400, "No sound is being made.", code="output_audio_buffer_clear_empty")
            await response.stop("client_cancelled")
            await session.send("output_audio_buffer.cleared", response_id=response.id)

    # -- items

    async def _create(self, event: ItemCreate) -> None:
        session = self._session
        await session.wait_for_transcriptions()
        format = session.fields.audio.input.format
        item, sound = client_item(read_item(event.item, "item"), "item", format)  # type: ignore[arg-type]
        most = session.server.settings.max_buffer_seconds
        if sound is not None and not 0.1 <= len(sound) / format.rate <= most:
            raise ApiError(
                400,
                f"The sound of an item has 0.1 to {most:g} seconds.",
                code="bad_request",
                param="item.content.0.audio",
            )
        async with session.lock:
            session.conversation.add(item, event.previous_item_id)
            await session.send_added(item)
            if sound is not None:
                session.transcribe(item, resampled(sound, format.rate, SAMPLE_RATE), answer=False, is_speech=False)

    async def _retrieve(self, event: ItemEvent) -> None:
        session = self._session
        async with session.lock:
            await session.send(
                "conversation.item.retrieved", item=session.conversation.find(event.item_id, "retrieve").shape
            )

    async def _delete(self, event: ItemEvent) -> None:
        session = self._session
        async with session.lock:
            self._check_free(event.item_id)
            session.conversation.remove(session.conversation.find(event.item_id, "delete"))
            await session.send("conversation.item.deleted", item_id=event.item_id)

    async def _truncate(self, event: ItemTruncate) -> None:
        session = self._session
        async with session.lock:
            self._check_free(event.item_id)
            session.conversation.truncate(event.item_id, event.content_index, event.audio_end_ms)
            await session.send(
                "conversation.item.truncated", item_id=event.item_id, content_index=0, audio_end_ms=event.audio_end_ms
            )

    def _check_free(self, item: str) -> None:
        response = self._session.response
        if response is not None and any(one.id == item for one in response.output.items):
            raise ApiError(
                400,
                f"The item {item} is still being made. Cancel its response first: response.cancel.",
                code="conversation_already_has_active_response",
                param="item_id",
            )

    # -- responses

    async def _respond(self, event: ResponseCreate) -> None:
        session, options = self._session, event.response
        async with session.lock:
            response = RealtimeResponse(
                session,
                for_response(session.fields, options),
                metadata=options.metadata,
                out_of_band=options.conversation == "none",
                own=None if options.input is None else [self._own(item, at) for at, item in enumerate(options.input)],
            )
            await session.respond(response)

    def _own(self, given: dict[str, Any], at: int) -> ConversationItem:
        param = f"response.input.{at}"
        read = read_item(given, param, references=True)
        if isinstance(read, ItemReference):
            return self._session.conversation[read.id]
        item, sound = client_item(read, param, self._session.fields.audio.input.format)
        if sound is not None:
            raise unsupported(param, "Sound is heard in the conversation only: create the item there, and name its id.")
        return item

    async def _cancel(self, event: ResponseCancel) -> None:
        session = self._session
        async with session.lock:
            response = session.response
            if response is None or event.response_id not in (None, response.id):
                raise ApiError(
                    400, "There is no such response being made.", code="response_cancel_not_active", param="response_id"
                )
            await response.stop("client_cancelled")


def _id_of(data: Any) -> str | None:
    """The id of an event, also of an invalid one."""
    id = data.get("event_id") if isinstance(data, dict) else None
    return id[:512] if isinstance(id, str) else None
