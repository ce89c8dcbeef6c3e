"""`/v1/responses`: OpenAI's responses. Creates, reads, lists, cancels and deletes them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from app.server.body import JsonRoute
from app.server.context import Here, Server, answer
from app.server.errors import ApiError, as_api_error, bad_request, from_validation, unsupported
from app.server.openai.responses_conversation import SUMMARIZE, CompactedResponse, CompactRequest, compacted
from app.server.openai.responses_exchange import Exchange, numbered
from app.server.openai.responses_output import ResponseEvent
from app.server.openai.responses_protocol import (
    InputTokens,
    InputTokensRequest,
    ResponseDeleted,
    ResponseItemList,
    ResponseObject,
    ResponsesRequest,
)
from app.server.openai.responses_store import StoredResponse
from app.server.openapi import errors, streams
from app.server.requests import COMMENT, StreamingReply, event
from engine.errors import ContextOverflow, GrusError


def invalid(problems: Any) -> ApiError:
    """The first of pydantic's problems."""
    problem = dict(problems[0])
    if problem["type"] in ("model_type", "model_attributes_type", "dict_type"):
        problem["msg"] = "must be an object"
    elif problem["type"] in ("string_type", "list_type", "bool_type", "bool_parsing"):
        kind = {"s": "a text", "l": "a list", "b": "true or false"}[problem["type"][0]]
        problem["msg"] = f"must be {kind}"
    error = from_validation([problem])
    place = _bracketed(error.param or "")
    message = error.message.replace(error.param or "\0", place)
    return named(ApiError(error.status_code, message, code=error.code, param=place or None))


class ResponsesRoute(JsonRoute):
    """Errors name the item and the field: `input[2].content[0].image_url`. One about an image has the code by which clients know it."""

    refusal = staticmethod(invalid)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await handler(request)
            except RequestValidationError as error:
                raise invalid(error.errors()) from None
            except (ApiError, GrusError) as error:
                raise named(as_api_error(error)) from error

        return handle


def named(error: ApiError) -> ApiError:
    if (error.param or "").endswith(".image_url"):
        error.code = "invalid_value"
    return error


def _bracketed(param: str) -> str:
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", param)


router = APIRouter(route_class=ResponsesRoute, tags=["OpenAI"])


@router.post("/v1/responses", response_model=ResponseObject, responses=streams() | errors(400, 404, 429))
async def create(body: ResponsesRequest, request: Request, server: Here) -> Any | Response:
    """A reply to items, whole or as a stream of events. It can be continued by its id unless `store` is false."""
    exchange = await asyncio.to_thread(Exchange, body, server.responses, None, server.tools)
    try:
        await exchange.start(request, server)
    except ContextOverflow as overflow:
        if not body.stream:
            raise
        # OpenAI has begun the stream by then, and clients look for this error there
        return _streaming(exchange.refusal(as_api_error(overflow)), lambda: None, server)
    if body.stream:
        names = _OPEN_NAMES if "openresponses-version" in request.headers else {}
        return _streaming(exchange.events(), exchange.stop, server, names)
    return answer(await exchange.whole())


# events that Open Responses has under other names than OpenAI, whose SDKs know theirs only
_OPEN_NAMES = {
    "response.reasoning_text.delta": "response.reasoning.delta",
    "response.reasoning_text.done": "response.reasoning.done",
}


def _streaming(
    events: AsyncIterator[ResponseEvent],
    cancel: Callable[[], None],
    server: Server,
    names: Mapping[str, str] | None = None,
) -> StreamingReply:
    async def chunks() -> AsyncIterator[bytes]:
        async for data in numbered(events):
            data["type"] = (names or {}).get(data["type"], data["type"])
            yield event(data, data["type"])

    settings = server.settings
    every, patience = settings.heartbeat_seconds, settings.send_seconds
    return StreamingReply(chunks(), cancel, heartbeat=COMMENT, every=every, patience=patience)


@router.post("/v1/responses/compact", responses=errors(400, 404, 429))
async def compact(body: CompactRequest, request: Request, server: Here) -> CompactedResponse:
    """A conversation as one short item, which stands for it in the input of a later response."""
    wanted = ResponsesRequest(**body.model_dump(exclude={"prompt_cache_key"}), store=False)
    exchange = await asyncio.to_thread(Exchange, wanted, server.responses)
    exchange.ask(SUMMARIZE)
    running = await exchange.start(request, server)
    return compacted(exchange.complete(await server.parts(request, running)))


@router.post("/v1/responses/input_tokens", responses=errors(400, 404))
async def input_tokens(body: InputTokensRequest, request: Request, server: Here) -> InputTokens:
    """How many tokens a response's prompt has. Nothing is generated."""
    wanted = ResponsesRequest(**{name: getattr(body, name) for name in body.model_fields_set}, store=False)
    exchange = await asyncio.to_thread(Exchange, wanted, server.responses)
    _, _, prepared = await server.prepare(exchange.conversation, body.model, request)
    if prepared.pages:
        raise unsupported(
            "input", "The tokens of pages are not counted: they are known when the lines have been found."
        )
    return InputTokens(input_tokens=len(prepared.request.prompt_ids))


@router.get("/v1/responses/{id}", response_model=ResponseObject, responses=errors(400, 404))
async def retrieve(id: str, server: Here, stream: bool = False) -> Response:
    """A stored response."""
    if stream:
        raise unsupported("stream", "A stored response is whole and is not streamed. Leave stream out.")
    return answer((await _stored(id, server)).response)


@router.delete("/v1/responses/{id}", responses=errors(400, 404))
async def delete(id: str, server: Here) -> ResponseDeleted:
    """Delete a stored response."""
    if not await asyncio.to_thread(server.responses.delete, id):
        raise _missing(id)
    return ResponseDeleted(id=id)


@router.post("/v1/responses/{id}/cancel", response_model=ResponseObject, responses=errors(400, 404))
async def cancel(id: str, server: Here) -> Response:
    """End a response that is being made, where it is. One that is stored has ended, and is returned as it is."""
    exchange = server.responses.running.get(id)
    if exchange is not None and not exchange.ended:
        return answer(exchange.cancel())
    return answer((await _stored(id, server)).response)


@router.get("/v1/responses/{id}/input_items", responses=errors(400, 404))
async def input_items(
    id: str,
    server: Here,
    after: str | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    order: Literal["asc", "desc"] = "desc",
) -> ResponseItemList:
    """The items that a stored response answers, those of the responses before it included."""
    stored = await _stored(id, server)
    items = stored.items[: len(stored.items) - len(stored.response["output"])]
    if order == "desc":
        items.reverse()
    if after is not None:
        ids = [item.get("id") for item in items]
        if after not in ids:
            raise bad_request(f"There is no item {after[:100]!r} among the input items.", "after")
        items = items[ids.index(after) + 1 :]
    page = items[:limit]
    first, last = (page[0]["id"], page[-1]["id"]) if page else (None, None)
    return ResponseItemList(data=page, first_id=first, last_id=last, has_more=len(items) > limit)


async def _stored(id: str, server: Server) -> StoredResponse:
    stored = await asyncio.to_thread(server.responses.get, id)
    if stored is None:
        raise _missing(id)
    return stored


def _missing(id: str) -> ApiError:
    return ApiError(404, f"There is no stored response {id[:100]!r}.", code="response_not_found", param="id")
