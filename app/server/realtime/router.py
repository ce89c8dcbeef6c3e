"""`/v1/realtime`: how a conversation by voice is opened, how many there may be, and with which code it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from fastapi import APIRouter, WebSocket
from starlette.responses import JSONResponse

from app.server.audio.choosing import usual
from app.server.context import Server
from app.server.documented import errors
from app.server.errors import ApiError, error_body, unsupported
from app.server.realtime.cast import chat_model
from app.server.realtime.events import ClientEventHandler
from app.server.realtime.protocol import (
    RealtimeAudio,
    RealtimeAudioInput,
    RealtimeAudioOutput,
    RealtimeTranscription,
    SessionFields,
)
from app.server.realtime.session import RealtimeSession
from app.server.realtime.wire import EventChannel
from app.server.streaming import ClientGone
from engine.errors import GrusError

log = logging.getLogger("grus.server")
router = APIRouter(tags=["Voices"])

_SUBPROTOCOL = "realtime"
# beside 1009, a message that is too large, and 1012, the server stops
_REFUSED = 1008  # what was asked for cannot be
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
    server.service.meters.sessions.inc()
    try:
        await socket.accept(_SUBPROTOCOL if _SUBPROTOCOL in socket.scope["subprotocols"] else None)
        await _converse(socket, server)
    finally:
        server.conversations -= 1
        server.service.meters.sessions.dec()


@router.websocket("/{path:path}")
async def elsewhere(socket: WebSocket) -> None:
    error = ApiError(404, "There is no websocket here. Conversations by voice are at /v1/realtime.")
    await socket.send_denial_response(JSONResponse(error_body(error, "openai"), error.status_code))


def _check(socket: WebSocket, server: Server) -> None:
    """What is told by a status, before there is a websocket."""
    if "openai-beta" in socket.headers or any("beta" in one for one in socket.scope["subprotocols"]):
        raise unsupported(
            "OpenAI-Beta",
            "The events of the beta are not spoken here. Use `client.realtime` instead of `client.beta.realtime`.",
        )
    if server.conversations >= server.settings.max_sessions:
        raise ApiError(
            429,
            f"{server.settings.max_sessions} conversations are open already, which --max-sessions sets. End one, or wait.",
            code="too_many_sessions",
        )


async def _converse(socket: WebSocket, server: Server) -> None:
    """Until the client goes, takes nothing any more, or the server stops."""
    wire, code = EventChannel(socket, server.settings.send_seconds), 1000
    try:
        session = RealtimeSession(wire, server, await _fields(socket, server))
        socket.state.leave = session.leave  # which is asked of it when the server stops
        try:
            await session.tell("session.created", session=session.shape())
            await _read(socket, ClientEventHandler(session), wire)
        finally:
            await session.close()
    except ClientGone:
        pass
    except (GrusError, ApiError) as error:
        code = _REFUSED
        with contextlib.suppress(ClientGone):
            await wire.fail(error)
    except Exception:
        log.exception("A conversation met a fault.")
        code = _FAULT
    finally:
        await wire.close(code)


async def _read(socket: WebSocket, events: ClientEventHandler, wire: EventChannel) -> None:
    async def read() -> object:
        while (message := await socket.receive())["type"] != "websocket.disconnect":
            await events.handle(message.get("text"))
        return None

    async def gone() -> object:
        return await wire.gone.wait()

    tasks = asyncio.create_task(read()), asyncio.create_task(gone())
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


async def _fields(socket: WebSocket, server: Server) -> SessionFields:
    """The settings of a session that nothing was wished for: which models there are, the client is shown."""
    for name in socket.query_params:
        if name != "model":
            raise unsupported(name[:100], f"There is no parameter {name[:100]!r} here. Name a model with ?model=NAME.")
    model, _ = await chat_model(server, socket.query_params.get("model"))
    ears, voice = await usual(server, "transcription"), await usual(server, "speech", "custom_voice")
    heard = (
        RealtimeAudioInput(transcription=RealtimeTranscription(model=ears))
        if ears is not None
        else RealtimeAudioInput()
    )
    return SessionFields(
        type="realtime", model=model, audio=RealtimeAudio(input=heard, output=RealtimeAudioOutput(model=voice))
    )
