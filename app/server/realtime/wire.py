"""A client's websocket: events go out one by one, and a client that does not take them in time is gone."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from fastapi import WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from app.server.errors import ApiError, as_api_error
from app.server.streaming import ClientGone
from engine.errors import GrusError
from engine.types import new_id

log = logging.getLogger("grus.server")


class EventChannel:
    def __init__(self, socket: WebSocket, patience: float) -> None:
        """`patience`: seconds that the client has to take what is sent."""
        self.gone = asyncio.Event()  # nobody takes anything any more
        self._socket, self._patience = socket, patience

    async def tell(self, kind: str, **fields: Any) -> None:
        """Raises ClientGone when nobody takes it."""
        data = json.dumps({"type": kind, "event_id": new_id("event"), **fields}, ensure_ascii=False)
        try:
            async with asyncio.timeout(self._patience):
                await self._socket.send_text(data)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):  # the last: it has been closed
            self.gone.set()
            raise ClientGone from None

    async def fail(self, error: Exception, event_id: str | None = None) -> None:
        """Sends an error event. `event_id`: of the client's event that it is about."""
        await self.tell("error", error={**detail(error), "event_id": event_id})

    async def close(self, code: int) -> None:
        if WebSocketState.DISCONNECTED in (self._socket.client_state, self._socket.application_state):
            return
        try:
            async with asyncio.timeout(self._patience):
                await self._socket.close(code)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            return


def detail(error: Exception) -> dict[str, Any]:
    """An error as events tell it. One that nobody foresaw goes to the log, and tells the client nothing of our insides."""
    if not isinstance(error, GrusError | ApiError):
        log.error("A conversation met a fault.", exc_info=error)
    told = as_api_error(error)
    return {"type": told.type, "code": told.code, "message": told.message, "param": told.param}
