"""The events of a realtime session: what a client may send (events and items), and how events are sent to it.

The settings in them are in app/server/realtime/settings.py.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Mapping
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field

from app.server.body import RequestFields, ignored_fields
from app.server.errors import ApiError, as_api_error, bad_request, unsupported
from app.server.openai.chat import Name
from app.server.realtime.beta import nested
from app.server.realtime.settings import ResponseOptions, checked
from engine.errors import GrusError

log = logging.getLogger("grus.server")

Id = Annotated[str, Field(min_length=1, max_length=64)]
EventId = Annotated[str, Field(max_length=512)]


# -- items


class RealtimeContent(RequestFields):
    type: Literal["input_text", "input_audio", "output_text", "output_audio", "text", "audio"]
    text: str | None = None
    audio: str | None = None
    transcript: str | None = None


class RealtimeMessage(RequestFields):
    type: Literal["message"]
    role: Literal["user", "assistant", "system"]
    content: Annotated[list[RealtimeContent], Field(min_length=1, max_length=64)]
    id: Id | None = None
    object: Literal["realtime.item"] | None = None
    status: Literal["completed", "incomplete", "in_progress"] | None = None  # without effect


class RealtimeFunctionCall(RequestFields):
    type: Literal["function_call"]
    name: Name
    arguments: str
    call_id: Id | None = None
    id: Id | None = None
    object: Literal["realtime.item"] | None = None
    status: Literal["completed", "incomplete", "in_progress"] | None = None  # without effect


class RealtimeFunctionCallOutput(RequestFields):
    type: Literal["function_call_output"]
    call_id: Id
    output: str
    id: Id | None = None
    object: Literal["realtime.item"] | None = None
    status: Literal["completed", "incomplete", "in_progress"] | None = None  # without effect


class ItemReference(RequestFields):
    """An item of the conversation, in a response's `input`."""

    type: Literal["item_reference"]
    id: Id


GivenItem = RealtimeMessage | RealtimeFunctionCall | RealtimeFunctionCallOutput
_ITEMS: dict[str, type[RequestFields]] = {
    "message": RealtimeMessage, "function_call": RealtimeFunctionCall, "function_call_output": RealtimeFunctionCallOutput,
    "item_reference": ItemReference,
}  # fmt: skip


# -- events


class ClientEvent(RequestFields):
    type: str
    event_id: EventId | None = None


class SessionUpdate(ClientEvent):
    session: dict[str, Any]


class InputAudioAppend(ClientEvent):
    audio: str


class ItemCreate(ClientEvent):
    item: dict[str, Any]
    previous_item_id: Id | None = None


class ItemEvent(ClientEvent):
    item_id: Id


class ItemTruncate(ItemEvent):
    content_index: Annotated[int, Field(ge=0)]
    audio_end_ms: Annotated[int, Field(ge=0, lt=1 << 31)]


class ResponseCreate(ClientEvent):
    response: ResponseOptions = ResponseOptions()


class ResponseCancel(ClientEvent):
    response_id: str | None = None


EVENTS: dict[str, type[ClientEvent]] = {
    "session.update": SessionUpdate,
    "transcription_session.update": SessionUpdate,
    "input_audio_buffer.append": InputAudioAppend,
    "input_audio_buffer.commit": ClientEvent,
    "input_audio_buffer.clear": ClientEvent,
    "output_audio_buffer.clear": ClientEvent,
    "conversation.item.create": ItemCreate,
    "conversation.item.retrieve": ItemEvent,
    "conversation.item.delete": ItemEvent,
    "conversation.item.truncate": ItemTruncate,
    "response.create": ResponseCreate,
    "response.cancel": ResponseCancel,
}


def read_event(data: Any) -> ClientEvent:
    """Parse a client's event. Raises an ApiError that names what is wrong."""
    if not isinstance(data, dict):
        raise bad_request("An event must be a JSON object with a `type`.", "type")
    kind = data.get("type")
    if not isinstance(kind, str):
        raise bad_request("An event needs a `type`.", "type")
    if kind not in EVENTS:
        raise unsupported("type", f"There is no event {kind[:100]!r} here. There are: {', '.join(EVENTS)}.")
    if isinstance(data.get("response"), dict):
        data = {**data, "response": nested(data["response"], "response")}
    if (ignored := ignored_fields.get()) is not None:
        ignored.body = data
    return checked(EVENTS[kind], data)


def read_item(data: Mapping[str, Any], param: str, *, references: bool = False) -> GivenItem | ItemReference:
    kind = data.get("type")
    if not isinstance(kind, str) or kind not in _ITEMS or (kind == "item_reference" and not references):
        known = ", ".join(name for name in _ITEMS if references or name != "item_reference")
        raise unsupported(f"{param}.type", f"An item's type is one of {known}.")
    return checked(_ITEMS[kind], data, param)  # type: ignore[return-value]


# -- events to the client


class SendEvent(Protocol):
    """Sends one event. Raises ClientGone when the client does not take it."""

    def __call__(self, kind: str, **fields: Any) -> Awaitable[None]: ...


def error_fields(error: Exception) -> dict[str, Any]:
    """An error as events report it. An unexpected one is logged, and its message is kept from the client."""
    if not isinstance(error, GrusError | ApiError):
        log.error("A conversation met a fault.", exc_info=error)
    api = as_api_error(error)
    return {"type": api.type, "code": api.code, "message": api.message, "param": api.param}
