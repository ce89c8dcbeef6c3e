"""What each event of a client does. Events are handled one after the other, in the order in which they were sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from app.server.audio.pump import in_thread
from app.server.errors import ApiError, unsupported
from app.server.realtime.conversation import ConversationItem, given_item
from app.server.realtime.protocol import (
    RATE,
    ClientEvent,
    InputAudioAppend,
    ItemCreate,
    ItemEvent,
    ItemReference,
    ItemTruncate,
    ResponseCancel,
    ResponseCreate,
    SessionUpdate,
    for_response,
    read_event,
    read_item,
    read_session,
)
from app.server.realtime.response import RealtimeResponse
from app.server.realtime.session import RealtimeSession
from app.server.streaming import ClientGone
from app.server.strict import parse
from engine.media.sound import resampled
from engine.models.moonshine import SAMPLE_RATE
from engine.types import new_id


class ClientEventHandler:
    def __init__(self, session: RealtimeSession) -> None:
        self._session = session
        self._handlers: dict[str, Callable[[Any], Awaitable[None]]] = {
            "session.update": self._update,
            "input_audio_buffer.append": self._append,
            "input_audio_buffer.commit": self._commit,
            "input_audio_buffer.clear": self._clear,
            "output_audio_buffer.clear": self._hush,
            "conversation.item.create": self._create,
            "conversation.item.retrieve": self._retrieve,
            "conversation.item.delete": self._delete,
            "conversation.item.truncate": self._truncate,
            "response.create": self._respond,
            "response.cancel": self._cancel,
        }

    async def handle(self, text: str | None) -> None:
        """One message; None where it was not text. What is wrong is told, and the session goes on."""
        id: str | None = None
        try:
            if text is None:
                raise unsupported("type", "An event is JSON in a text message; sound goes into it as base64.")
            data = parse(text.encode(), self._session.server.settings.max_depth)
            id = _id_of(data)
            event = read_event(data)
            await self._handlers[event.type](event)
        except ClientGone:
            raise
        except Exception as error:
            async with self._session.lock:
                await self._session.fail(error, id)

    # -- the session

    async def _update(self, event: SessionUpdate) -> None:
        session, now = self._session, self._session.fields
        fields = read_session(now, event.session)
        new, old = fields.audio, now.audio
        if new.output != old.output:
            await session.cast.mouth(fields)
        if new.input.transcription != old.input.transcription and new.input.transcription is not None:
            await session.cast.ears(new.input.transcription)
        async with session.lock:
            session.fields = fields
            await session.tell("session.updated", session=session.shape())
        if new.input.turn_detection != old.input.turn_detection:
            await session.heard(await in_thread(session.buffer.turn, new.input.turn_detection))

    # -- sound

    async def _append(self, event: InputAudioAppend) -> None:
        await self._session.room()
        await self._session.heard(await in_thread(self._session.buffer.feed, event.audio))

    async def _commit(self, event: ClientEvent) -> None:
        session = self._session
        await session.room()
        samples = await in_thread(session.buffer.commit)
        async with session.lock:
            id, session.speech = session.speech or new_id("item"), None
            await session.commit(id, samples, answer=False, known=False)

    async def _clear(self, event: ClientEvent) -> None:
        session = self._session
        await in_thread(session.buffer.clear)
        async with session.lock:
            session.speech = None
            await session.tell("input_audio_buffer.cleared")

    async def _hush(self, event: ClientEvent) -> None:
        """Over a socket no sound waits to be sent: what can be cleared is what is still being made."""
        session = self._session
        async with session.lock:
            response = session.response
            if response is None or not response.fields.spoken:
                raise ApiError(400, "No sound is being made.", code="output_audio_buffer_clear_empty")
            await response.stop("client_cancelled")
            await session.tell("output_audio_buffer.cleared", response_id=response.id)

    # -- items

    async def _create(self, event: ItemCreate) -> None:
        session = self._session
        await session.room()
        item, sound = given_item(read_item(event.item, "item"), "item")  # type: ignore[arg-type]
        most = session.server.settings.max_buffer_seconds
        if sound is not None and not 0.1 <= len(sound) / RATE <= most:
            raise ApiError(
                400,
                f"The sound of an item has 0.1 to {most:g} seconds.",
                code="bad_request",
                param="item.content.0.audio",
            )
        async with session.lock:
            session.conversation.add(item, event.previous_item_id)
            await session.added(item)
            if sound is not None:
                session.write_down(item, resampled(sound, RATE, SAMPLE_RATE), answer=False, known=False)

    async def _retrieve(self, event: ItemEvent) -> None:
        session = self._session
        async with session.lock:
            await session.tell("conversation.item.retrieved", item=session.conversation[event.item_id].shape)

    async def _delete(self, event: ItemEvent) -> None:
        session = self._session
        async with session.lock:
            self._check_free(event.item_id)
            session.conversation.remove(event.item_id)
            await session.tell("conversation.item.deleted", item_id=event.item_id)

    async def _truncate(self, event: ItemTruncate) -> None:
        session = self._session
        async with session.lock:
            self._check_free(event.item_id)
            session.conversation.truncate(event.item_id, event.content_index, event.audio_end_ms)
            await session.tell(
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
        session, wishes = self._session, event.response
        async with session.lock:
            response = RealtimeResponse(
                session,
                for_response(session.fields, wishes),
                metadata=wishes.metadata,
                outside=wishes.conversation == "none",
                own=None if wishes.input is None else [self._own(item, at) for at, item in enumerate(wishes.input)],
            )
            await session.respond(response)

    def _own(self, given: dict[str, Any], at: int) -> ConversationItem:
        param = f"response.input.{at}"
        read = read_item(given, param, references=True)
        if isinstance(read, ItemReference):
            return self._session.conversation[read.id]
        item, sound = given_item(read, param)
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
    """So that also an event that is wrong is named."""
    id = data.get("event_id") if isinstance(data, dict) else None
    return id[:512] if isinstance(id, str) else None
