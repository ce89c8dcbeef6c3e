"""`/v1/responses` as a websocket: each `response.create` is answered by the events of a stream, one after the other.

The connection remembers its last response, which can be continued even where it is not stored, until a continuation of it fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

from fastapi import APIRouter, Request, WebSocket
from pydantic import ValidationError
from starlette.types import Message
from starlette.websockets import WebSocketDisconnect

from app.server.body import IgnoredFields, IgnoredLog, ignored_fields, parse
from app.server.context import Server
from app.server.errors import ApiError, as_api_error, bad_request, error_body
from app.server.openai.responses import invalid
from app.server.openai.responses_exchange import Exchange, numbered
from app.server.openai.responses_protocol import ResponsesRequest
from app.server.openai.responses_store import StoredResponse
from app.server.requests import ClientGone
from engine.errors import GrusError

router = APIRouter(tags=["OpenAI"])
_WAITING = 16  # requests that a client may send ahead
_ignored = IgnoredLog()


@router.websocket("/v1/responses")
async def converse(socket: WebSocket) -> None:
    """Responses over one connection."""
    await socket.accept()
    await ResponsesSocket(socket, socket.app.state.server).serve()


class ResponsesSocket:
    def __init__(self, socket: WebSocket, server: Server) -> None:
        self._socket, self._server = socket, server
        self._gone = asyncio.Event()
        self._asked: asyncio.Queue[str | None] = asyncio.Queue(_WAITING)
        self._last: StoredResponse | None = None

    async def serve(self) -> None:
        """Until the client leaves."""
        reading = asyncio.create_task(self._read())
        try:
            while (text := await self._asked.get()) is not None:
                await self._answer(text)
        except ClientGone:
            pass
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _read(self) -> None:
        try:
            while (message := await self._socket.receive())["type"] != "websocket.disconnect":
                await self._asked.put(message.get("text") or (message.get("bytes") or b"").decode(errors="replace"))
        finally:
            self._gone.set()
            with contextlib.suppress(asyncio.QueueFull):
                self._asked.put_nowait(None)

    async def _answer(self, text: str) -> None:
        previous = None
        try:
            fields = parse(text.encode(), self._server.settings.max_depth)
            if not isinstance(fields, dict) or fields.get("type") != "response.create":
                raise bad_request("Send an object of the type response.create.", "type")
            ignored = None if self._server.settings.strict else IgnoredFields(fields)
            ignored_fields.set(ignored)
            silent = fields.get("generate") is False
            body = ResponsesRequest.model_validate({key: fields[key] for key in fields.keys() - {"type", "generate"}})
            previous = body.previous_response_id
            await self._reply(body, silent)
            if ignored is not None and (names := ignored.names()):
                _ignored.add(self._socket.headers.get("user-agent", ""), names)
        except ValidationError as error:
            await self._refuse(invalid(error.errors()), previous)
        except (ApiError, GrusError) as error:
            await self._refuse(as_api_error(error), previous)

    async def _reply(self, body: ResponsesRequest, silent: bool) -> None:
        """`silent`: the client sends the beginning of a conversation ahead, and wants no reply to it yet."""
        exchange = await asyncio.to_thread(Exchange, body, self._server.responses, self._find, self._server.tools)
        if silent:
            async for data in numbered(exchange.silence()):
                await self._send(data)
            self._last = StoredResponse(data["response"], exchange.all_items(data["response"]))
            return
        await exchange.start(Request({"type": "http"}, self._receive), self._server)
        leaving = asyncio.create_task(self._gone.wait())
        leaving.add_done_callback(lambda _: exchange.stop())
        try:
            async for data in numbered(exchange.events()):
                await self._send(data)
        finally:
            leaving.cancel()
        if data["type"] in ("response.completed", "response.incomplete"):
            self._last = StoredResponse(data["response"], exchange.all_items(data["response"]))

    def _find(self, id: str) -> StoredResponse | None:
        last = self._last
        return last if last is not None and last.response["id"] == id else self._server.responses.get(id)

    async def _receive(self) -> Message:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _refuse(self, error: ApiError, previous: str | None) -> None:
        if self._last is not None and self._last.response["id"] == previous:
            self._last = None
        await self._send({"type": "error", "status": error.status_code, **error_body(error, "openai")})

    async def _send(self, data: dict[str, Any]) -> None:
        try:
            async with asyncio.timeout(self._server.settings.send_seconds):
                await self._socket.send_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            raise ClientGone from None
