"""Ephemeral keys for realtime sessions, which a program's server makes for its pages and apps; and what there is not: WebRTC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body
from pydantic import Field

from app.server.body import JsonRoute, RequestFields
from app.server.context import Here
from app.server.errors import ApiError
from app.server.openapi import errors
from app.server.realtime.protocol import SessionFields, as_beta, checked, nested, shown
from engine.types import new_id

router = APIRouter(route_class=JsonRoute, tags=["Voices"])

_SECONDS = 600  # that a key is valid, where nothing is said
_BETA_SECONDS = 60


class ExpiresAfter(RequestFields):
    anchor: Literal["created_at"] = "created_at"
    seconds: Annotated[int, Field(ge=10, le=7200)] = _SECONDS


class ClientSecretRequest(RequestFields):
    expires_after: ExpiresAfter = ExpiresAfter()
    session: dict[str, Any] = Field(default_factory=dict)


@router.post("/v1/realtime/client_secrets", responses=errors(400))
async def client_secrets(body: ClientSecretRequest, server: Here) -> dict[str, Any]:
    """An ephemeral key for `/v1/realtime`."""
    session = {"type": "realtime", **body.session}
    shape = _shape(session)
    value, expires = server.ephemeral_keys.make(session, body.expires_after.seconds)
    return {"value": value, "expires_at": expires, "session": shape}


@router.post("/v1/realtime/sessions", responses=errors(400))
async def sessions(body: Annotated[dict[str, Any], Body()], server: Here) -> dict[str, Any]:
    """An ephemeral key, as the beta makes it."""
    return _beta_session({**body, "type": "realtime"}, server)


@router.post("/v1/realtime/transcription_sessions", responses=errors(400))
async def transcription_sessions(body: Annotated[dict[str, Any], Body()], server: Here) -> dict[str, Any]:
    """An ephemeral key for a session that transcribes only, as the beta makes it."""
    return _beta_session({**body, "type": "transcription"}, server)


@router.post("/v1/realtime/calls", responses=errors(400))
async def calls() -> None:
    """WebRTC is not supported."""
    raise ApiError(
        400,
        "There is no WebRTC here. Open a websocket instead: ws://.../v1/realtime, with the same key and events.",
        code="unsupported_transport",
    )


def _beta_session(session: Mapping[str, Any], server: Here) -> dict[str, Any]:
    expires_after = session.get("expires_after") or {"seconds": _BETA_SECONDS}
    seconds = checked(ExpiresAfter, expires_after, "expires_after").seconds
    session = {key: value for key, value in session.items() if key != "expires_after"}
    shape = _shape(session)
    value, expires = server.ephemeral_keys.make(session, seconds)
    _, made = as_beta("session.created", {"session": shape}) or ("", {})
    return {**made["session"], "client_secret": {"value": value, "expires_at": expires}}


def _shape(session: Mapping[str, Any]) -> dict[str, Any]:
    """The session's settings as far as they are known before it is opened. Raises an error for what is wrong in them."""
    return shown(new_id("sess"), checked(SessionFields, {"model": None, **nested(session, "session")}, "session"))
