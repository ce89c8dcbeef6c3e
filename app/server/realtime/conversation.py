"""A conversation's items in order, as the client sees them, and the prompt that the chat model reads from them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.runtime.chat import ChatRequest, PreparedChat, prepare, reasoning_off
from app.runtime.long_prompts import run_beside
from app.server.body import ignore
from app.server.context import Server
from app.server.errors import ApiError, bad_request, unsupported
from app.server.openai import responses_items as protocol
from app.server.openai.responses_conversation import template_messages, template_tools, tool_choice
from app.server.realtime.audio import samples_in
from app.server.realtime.protocol import (
    RATE,
    AudioFormat,
    GivenItem,
    RealtimeContent,
    RealtimeFunctionCall,
    RealtimeMessage,
    SessionFields,
)
from engine.errors import ContextOverflow
from engine.loading import LoadedModel
from engine.pipelines.voice_chat import PlaybackTracker
from engine.types import SamplingParams, new_id

MOST_ITEMS = 4096
_TAKES = {
    "user": ("input_text", "input_audio"),
    "system": ("input_text",),
    "assistant": ("output_text", "output_audio"),
}
# the beta's types of content: the user's, the assistant's
_OF_BETA = ({"text": "input_text", "audio": "input_audio"}, {"text": "output_text", "audio": "output_audio"})


@dataclass(eq=False)
class ConversationItem:
    """`shape` is the item as events show it, without its audio."""

    shape: dict[str, Any]
    transcription: asyncio.Task[None] | None = None  # of its audio
    error: ApiError | None = None  # why the transcription failed
    sounded: PlaybackTracker = field(default_factory=PlaybackTracker)  # the audio that was sent, in samples
    rate: int = RATE  # of that audio

    @property
    def id(self) -> str:
        return str(self.shape["id"])

    @property
    def text(self) -> str:
        """A message's text or transcript."""
        parts = self.shape.get("content", ())
        return "\n".join(filter(None, (part.get("text") or part.get("transcript") for part in parts)))

    @property
    def is_voice(self) -> bool:
        content = self.shape.get("content") or []
        return bool(content) and self.shape["role"] == "assistant" and content[0]["type"] == "output_audio"

    @property
    def size(self) -> int:
        """Characters."""
        return len(self.text) + len(self.shape.get("arguments", "")) + len(self.shape.get("output", ""))

    @property
    def sent_ms(self) -> int:
        """Of its audio."""
        return int(self.sounded.ends) * 1000 // self.rate

    def truncate(self, samples: int) -> None:
        """Truncate the speech and its transcript."""
        self.shape["content"][0]["transcript"] = self.sounded.until(samples - 1)
        self.sounded.ends = min(self.sounded.ends, samples)


def user_audio_item(id: str) -> ConversationItem:
    """A user's speech, not yet transcribed."""
    content = [{"type": "input_audio", "transcript": None}]
    return ConversationItem({**_head(id, "message"), "role": "user", "content": content, "status": "completed"})


def assistant_item(kind: str, rate: int, **more: Any) -> ConversationItem:
    """An item of the assistant, in progress. `rate`: of its audio."""
    prefix = "item" if kind == "message" else "fc"
    return ConversationItem({**_head(new_id(prefix), kind), "status": "in_progress", **more}, rate=rate)


def client_item(item: GivenItem, param: str, format: AudioFormat) -> tuple[ConversationItem, np.ndarray | None]:
    """An item that the client created, and its audio in `format`."""
    if isinstance(item, RealtimeMessage):
        return _message(item, param, format)
    if isinstance(item, RealtimeFunctionCall):
        shape = {"name": item.name, "arguments": item.arguments, "call_id": item.call_id or new_id("call")}
    else:
        shape = {"call_id": item.call_id, "output": item.output}
    return ConversationItem({**_head(item.id or new_id("item"), item.type), **shape, "status": "completed"}), None


def _message(item: RealtimeMessage, param: str, format: AudioFormat) -> tuple[ConversationItem, np.ndarray | None]:
    content, sound = [], None
    for at, part in enumerate(item.content):
        where = f"{param}.content.{at}"
        kind = _OF_BETA[item.role == "assistant"].get(part.type, part.type)
        if kind not in _TAKES[item.role]:
            raise unsupported(f"{where}.type", f"A message of the {item.role} takes {' or '.join(_TAKES[item.role])}.")
        if kind == "input_audio" and part.transcript is None:
            if len(item.content) > 1:
                raise unsupported(where, "A message with sound holds nothing else. Make two messages of it.")
            sound = samples_in(_needed(part, "audio", where), format, f"{where}.audio")
            content.append({"type": kind, "transcript": None})
        elif kind in ("input_audio", "output_audio"):  # of a conversation before: its words are what the model reads
            content.append({"type": kind, "transcript": _needed(part, "transcript", where)})
        else:
            content.append({"type": kind, "text": _needed(part, "text", where)})
    shape = {**_head(item.id or new_id("item"), "message"), "role": item.role, "content": content}
    return ConversationItem({**shape, "status": "completed"}), sound


def _needed(part: RealtimeContent, field: str, where: str) -> str:
    given: str | None = getattr(part, field)
    if given is None:
        raise bad_request(f"{part.type} needs `{field}`.", f"{where}.{field}")
    return given


def _head(id: str, kind: str) -> dict[str, Any]:
    return {"id": id, "object": "realtime.item", "type": kind}


def messages(items: Iterable[ConversationItem], instructions: str) -> list[dict[str, Any]]:
    """The items in the form that chat templates read. Consecutive messages of one role are joined, as many templates require."""
    made = template_messages(
        [response_item for item in items if (response_item := _as_response_item(item)) is not None]
    )
    if instructions.strip():
        made.insert(0, {"role": "system", "content": instructions})
    joined: list[dict[str, Any]] = []
    for message in made:
        if joined and message["role"] in ("user", "system") and message["role"] == joined[-1]["role"]:
            message = {**message, "content": f"{joined.pop()['content']}\n\n{message['content']}"}
        joined.append(message)
    return joined


def _as_response_item(item: ConversationItem) -> protocol.ResponseItem | None:
    """None for an empty message: noise, or an answer that was stopped before its first word."""
    shape = item.shape
    if shape["type"] == "function_call":
        return protocol.ResponseFunctionCall(
            type="function_call", call_id=shape["call_id"], name=shape["name"], arguments=shape["arguments"]
        )
    if shape["type"] == "function_call_output":
        return protocol.ResponseFunctionCallOutput(
            type="function_call_output", call_id=shape["call_id"], output=shape["output"]
        )
    return protocol.ResponseMessage(role=shape["role"], content=item.text) if item.text.strip() else None


class RealtimeConversation:
    def __init__(self, most: int) -> None:
        """`most`: characters."""
        self.id = new_id("conv")
        self.items: list[ConversationItem] = []
        self._most = most

    def __getitem__(self, id: str) -> ConversationItem:
        return self.items[self._at(id, "item_id")]

    def find(self, id: str, purpose: str) -> ConversationItem:
        """`purpose`: retrieve, delete or truncate, of which the error's code tells."""
        try:
            return self[id]
        except ApiError as error:
            error.code = f"item_{purpose}_invalid_item_id"
            raise

    def previous_id(self, item: ConversationItem) -> str | None:
        """The id of the item before this one; for one that is not in the conversation, of the last."""
        at = next((at for at, one in enumerate(self.items) if one is item), len(self.items))
        return self.items[at - 1].id if at else None

    def add(self, item: ConversationItem, after: str | None = None) -> None:
        """`after`: an id, "root" for the beginning, None for the end."""
        if any(one.id == item.id for one in self.items):
            raise bad_request(f"There is an item {item.id!r} already. Leave `id` out, and one is made.", "item.id")
        if len(self.items) >= MOST_ITEMS or sum(one.size for one in self.items) + item.size > self._most:
            raise ApiError(
                400,
                f"The conversation holds {self._most} characters in {MOST_ITEMS} items at most. Delete some.",
                code="conversation_full",
                param="item",
            )
        at = len(self.items) if after is None else 0 if after == "root" else self._at(after, "previous_item_id") + 1
        self.items.insert(at, item)

    def remove(self, item: ConversationItem) -> None:
        self.items.remove(item)

    def truncate(self, id: str, content: int, milliseconds: int) -> None:
        item = self.find(id, "truncate")
        if not item.is_voice or content:
            raise bad_request("Only the sound of the assistant can be truncated; it is content 0.", "item_id")
        sent = item.sent_ms
        if milliseconds > sent:
            raise bad_request(f"audio_end_ms is {milliseconds}, and the sound has {sent} milliseconds.", "audio_end_ms")
        item.truncate(milliseconds * item.rate // 1000)

    def _at(self, id: str, param: str) -> int:
        for at, item in enumerate(self.items):
            if item.id == id:
                return at
        raise ApiError(404, f"There is no item {id[:100]!r} in the conversation.", code="item_not_found", param=param)


_ROOM = 512  # tokens reserved for an answer without a limit, or a quarter of the context


async def prepare_prompt(
    server: Server, items: Sequence[ConversationItem], fields: SessionFields, model: LoadedModel, id: str
) -> PreparedChat:
    """The prompt and request of a response. `id`: of the request. A conversation that is too long loses its oldest turns, or
    raises ContextOverflow where truncation is disabled."""
    wanted = fields.max_output_tokens
    context = model.context
    room = min(context // 4, _ROOM if wanted == "inf" else int(wanted))
    kept = list(items)
    while True:
        shorter = _without_oldest(kept) if fields.truncation == "auto" else kept
        try:
            prepared = await _prepared(server, kept, fields, model)
            if len(prepared.request.prompt_ids) + room <= context or len(shorter) == len(kept):
                return replace(prepared, request=replace(prepared.request, id=id))
        except ContextOverflow:
            if len(shorter) == len(kept):
                raise
        kept = shorter


async def _prepared(
    server: Server, items: Sequence[ConversationItem], fields: SessionFields, model: LoadedModel
) -> PreparedChat:
    chat = replace(_conversation(items, fields, model), lenient=not server.settings.strict)
    size = sum(len(message["content"]) for message in chat.messages)
    server.check_prompt(size)
    prepared = await run_beside(size, prepare, chat, model, model.name)
    for name in prepared.ignored:
        ignore(name)
    return prepared


def _conversation(items: Sequence[ConversationItem], fields: SessionFields, model: LoadedModel) -> ChatRequest:
    chat = messages(items, fields.instructions)
    if not chat:
        raise ApiError(
            400,
            "There is nothing to answer: say something, add an item, or give instructions.",
            code="bad_request",
            param="input",
        )
    effort = fields.reasoning.effort if fields.reasoning is not None else None
    return ChatRequest(
        messages=chat,
        sampling=SamplingParams(
            max_tokens=None if fields.max_output_tokens == "inf" else fields.max_output_tokens,
            temperature=fields.temperature,
            seed=fields.seed,
        ),
        tools=template_tools(fields.tools),
        tool_choice=tool_choice(fields.tool_choice, fields.tools),
        parallel_calls=fields.parallel_tool_calls,
        thinking=reasoning_off(model, bool(fields.tools)) if effort is None else None,
        effort=effort,
    )


def _without_oldest(items: list[ConversationItem]) -> list[ConversationItem]:
    """The items without the oldest eighth, in whole turns. System messages and the last question are never left out."""
    starts = [at for at, item in enumerate(items) if item.shape.get("role") == "user"]
    much, gone = sum(item.size for item in items) / 8, 0
    for begin, end in itertools.pairwise(starts):
        gone += sum(item.size for item in items[begin:end])
        if gone >= much or end == starts[-1]:
            return [item for at, item in enumerate(items) if at >= end or item.shape.get("role") == "system"]
    return items
