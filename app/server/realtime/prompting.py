"""From a conversation's items to what a model is asked: its wishes, its tools, and no more than fits into its context."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import replace

from app.server.context import LONG_PROMPT, Server
from app.server.conversation import Conversation, Prepared, prepare
from app.server.errors import ApiError
from app.server.openai.responses import template_tools, tool_choice
from app.server.realtime.conversation import ConversationItem, messages
from app.server.realtime.protocol import SessionFields
from engine.errors import ContextOverflow
from engine.loading import LoadedModel
from engine.types import SamplingParams

_ROOM = 512  # tokens that an answer of no stated length should have left, or a quarter of the context


async def prompted(
    server: Server, items: Sequence[ConversationItem], fields: SessionFields, model: LoadedModel, id: str
) -> Prepared:
    """`id`: of the request. Where the conversation is too long, its oldest turns are left out, or it is an error."""
    wanted = fields.max_output_tokens
    context = min(model.context, server.service.engine_settings().get("max_seq_len") or model.context)
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
) -> Prepared:
    chat = _conversation(items, fields, model)
    size = sum(len(message["content"]) for message in chat.messages)
    server.check_prompt(size)
    if size < LONG_PROMPT:
        return prepare(chat, model, model.name)
    return await asyncio.to_thread(prepare, chat, model, model.name)


def _conversation(items: Sequence[ConversationItem], fields: SessionFields, model: LoadedModel) -> Conversation:
    said = messages(items, fields.instructions)
    if not said:
        raise ApiError(
            400,
            "There is nothing to answer: say something, add an item, or give instructions.",
            code="bad_request",
            param="input",
        )
    effort = fields.reasoning.effort if fields.reasoning is not None else None
    return Conversation(
        messages=said,
        sampling=SamplingParams(
            max_tokens=None if fields.max_output_tokens == "inf" else fields.max_output_tokens,
            temperature=fields.temperature,
            seed=fields.seed,
        ),
        tools=template_tools(fields.tools),
        tool_choice=tool_choice(fields.tool_choice, fields.tools),
        parallel_calls=fields.parallel_tool_calls,
        thinking=False if effort is None and _thinks_on_demand(model, bool(fields.tools)) else None,
        effort=effort,
    )


def _thinks_on_demand(model: LoadedModel, tools: bool) -> bool:
    """In a conversation nobody waits for thoughts that were not asked for."""
    return bool(model.template.names) and "enable_thinking" in model.template.source(tools=tools)


def _without_oldest(items: list[ConversationItem]) -> list[ConversationItem]:
    """Without an eighth of what was said, in whole turns from the first question on; what the system says stays, and so
    does the last question."""
    starts = [at for at, item in enumerate(items) if item.shape.get("role") == "user"]
    much, gone = sum(item.size for item in items) / 8, 0
    for begin, end in itertools.pairwise(starts):
        gone += sum(item.size for item in items[begin:end])
        if gone >= much or end == starts[-1]:
            return [item for at, item in enumerate(items) if at >= end or item.shape.get("role") == "system"]
    return items
