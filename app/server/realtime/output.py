"""What a response puts out, and every event that tells of it: one message, in words or in sound, and calls of functions.

Knows no model. Whoever calls it holds the session's lock, so that its events come in one order with all others.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol

import numpy as np

from app.server.realtime.conversation import ConversationItem, RealtimeConversation, answer_item
from app.server.realtime.protocol import RATE
from app.server.realtime.sound import as_text

Shape = dict[str, Any]


class SendEvent(Protocol):
    """Sends an event."""

    def __call__(self, kind: str, **fields: Any) -> Awaitable[None]: ...


class RealtimeOutput:
    def __init__(self, response: str, spoken: bool, conversation: RealtimeConversation | None, tell: SendEvent) -> None:
        """`conversation`: what the items are added to."""
        self._response, self._spoken = response, spoken
        self._conversation, self._tell = conversation, tell
        self.items: list[ConversationItem] = []
        self._message: ConversationItem | None = None
        self._call: ConversationItem | None = None  # that is being written

    # -- a message

    async def begin(self) -> None:
        """Its first word is there."""
        if self._message is not None:
            return
        item = self._message = answer_item("message", role="assistant", content=[])
        await self._add(item)
        kind = "output_audio" if self._spoken else "output_text"
        item.shape["content"] = [{"type": kind, ("transcript" if self._spoken else "text"): ""}]
        await self._tell_of(item, "response.content_part.added", content_index=0, part=self._part(item))

    async def text(self, delta: str) -> None:
        await self.begin()
        assert self._message is not None
        self._message.shape["content"][0]["text"] += delta
        await self._tell_of(self._message, "response.output_text.delta", content_index=0, delta=delta)

    async def sentence(self, text: str) -> None:
        """The words of the sound that follows."""
        await self.begin()
        assert self._message is not None
        content = self._message.shape["content"][0]
        delta = f" {text}" if content["transcript"] else text
        content["transcript"] += delta
        self._message.sounded.sentence(text)
        await self._tell_of(self._message, "response.output_audio_transcript.delta", content_index=0, delta=delta)

    async def sound(self, samples: np.ndarray) -> None:
        """At the rate of the wire."""
        if self._message is not None and len(samples):
            self._message.sounded.sound(len(samples))
            delta = as_text(samples)
            await self._tell_of(self._message, "response.output_audio.delta", content_index=0, delta=delta)

    # -- calls

    async def call(self, name: str, id: str) -> None:
        await self._close_call("completed")
        self._call = answer_item("function_call", name=name, call_id=id, arguments="")
        await self._add(self._call)

    async def arguments(self, delta: str) -> None:
        assert self._call is not None
        self._call.shape["arguments"] += delta
        await self._tell_of(
            self._call, "response.function_call_arguments.delta", call_id=self._call.shape["call_id"], delta=delta
        )

    async def called(self) -> None:
        """What comes now is no part of the call any more."""
        await self._close_call("completed")

    # -- the end

    async def close(self, completed: bool, cut: bool) -> None:
        """`cut`: somebody stopped it, or something failed: what was not sent was not said."""
        status = "completed" if completed else "incomplete"
        message = self._message
        if message is not None:
            if cut and self._spoken:
                message.cut(int(message.sounded.ends))
            await self._close_message(message, status)
        await self._close_call(status)
        if cut and self._spoken and message is not None:
            sent = int(message.sounded.ends) * 1000 // RATE
            await self._tell("conversation.item.truncated", item_id=message.id, content_index=0, audio_end_ms=sent)

    async def _close_message(self, item: ConversationItem, status: str) -> None:
        content = item.shape["content"][0]
        if self._spoken:
            await self._tell_of(item, "response.output_audio.done", content_index=0)
            said = content["transcript"]
            await self._tell_of(item, "response.output_audio_transcript.done", content_index=0, transcript=said)
        else:
            await self._tell_of(item, "response.output_text.done", content_index=0, text=content["text"])
        await self._tell_of(item, "response.content_part.done", content_index=0, part=self._part(item))
        await self._done(item, status)

    async def _close_call(self, status: str) -> None:
        call, self._call = self._call, None
        if call is None:
            return
        done = {key: call.shape[key] for key in ("call_id", "name", "arguments")}
        await self._tell_of(call, "response.function_call_arguments.done", **done)
        await self._done(call, status)

    async def _add(self, item: ConversationItem) -> None:
        before = None
        if self._conversation is not None:
            self._conversation.add(item)
            before = self._conversation.before(item)
        self.items.append(item)
        where = {"response_id": self._response, "output_index": len(self.items) - 1}
        await self._tell("response.output_item.added", **where, item=item.shape)
        if self._conversation is not None:
            await self._tell("conversation.item.added", previous_item_id=before, item=item.shape)

    async def _done(self, item: ConversationItem, status: str) -> None:
        item.shape["status"] = status
        if self._conversation is not None:
            before = self._conversation.before(item)
            await self._tell("conversation.item.done", previous_item_id=before, item=item.shape)
        where = {"response_id": self._response, "output_index": self._index(item)}
        await self._tell("response.output_item.done", **where, item=item.shape)

    async def _tell_of(self, item: ConversationItem, kind: str, **more: Any) -> None:
        where = {"response_id": self._response, "item_id": item.id, "output_index": self._index(item)}
        await self._tell(kind, **where, **more)

    def _index(self, item: ConversationItem) -> int:
        return next(at for at, one in enumerate(self.items) if one is item)

    def _part(self, item: ConversationItem) -> Shape:
        content = item.shape["content"][0]
        if self._spoken:
            return {"type": "audio", "transcript": content["transcript"]}
        return {"type": "text", "text": content["text"]}
