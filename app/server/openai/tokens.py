"""`POST /v1/tokenize` and `/v1/detokenize`, also without `/v1`: texts and conversations to tokens, and back.

Computes nothing on the model. vLLM, SGLang and llama.cpp have these routes: a request may use the names of each, and a reply
has them all.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, model_validator
from starlette.responses import Response

from app.runtime.chat import ChatRequest, ToolChoice
from app.runtime.embedding import tokenized
from app.server.body import JsonRoute, RequestFields
from app.server.context import Here, long_answer
from app.server.generation import check_ids, check_tokens
from app.server.images import check_counted
from app.server.openai.chat import ChatMessage, ChatTool, template_message
from app.server.openai.shapes import token_text
from app.server.openapi import errors
from app.server.requests import while_connected
from app.server.sampling import TokenId
from engine.loading import LoadedModel

router = APIRouter(route_class=JsonRoute, tags=["Tokens"])


class TokenizeRequest(RequestFields):
    """Either a text or a conversation. `text` is SGLang's name of `prompt`, `content` is llama.cpp's."""

    model: str | None = None
    prompt: str | Annotated[list[str], Field(min_length=1, max_length=128)] | None = None
    text: str | None = None
    content: str | None = None
    messages: list[ChatMessage] | None = None
    tools: list[ChatTool] | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    add_special_tokens: bool | None = None  # of a text; a template has its own. None: all but llama.cpp's
    add_special: bool | None = None  # llama.cpp's name of it
    parse_special: bool = True
    return_token_strs: bool = False
    with_pieces: bool = False  # llama.cpp's: each token is an object with its text

    @model_validator(mode="after")
    def _one_source(self) -> TokenizeRequest:
        if sum(given is not None for given in (self.prompt, self.text, self.content, self.messages)) != 1:
            raise ValueError("give one of prompt, text, content and messages")
        if self.messages is None and (self.tools or self.chat_template_kwargs):
            raise ValueError("tools and chat_template_kwargs belong to messages")
        return self


class TokenizeReply(BaseModel):
    """Lists of lists and of counts for a list of prompts."""

    count: int | list[int]
    max_model_len: int
    tokens: list[int] | list[list[int]] | list[dict[str, Any]]
    token_strs: list[str] | list[list[str]] | None = None


class DetokenizeRequest(RequestFields):
    model: str | None = None
    tokens: (
        Annotated[list[TokenId], Field(max_length=1_000_000)] | Annotated[list[list[TokenId]], Field(max_length=128)]
    )
    skip_special_tokens: bool | None = None  # None: false, and true in the route without /v1, which is SGLang's


class DetokenizeReply(BaseModel):
    """The same text under the names of vLLM, SGLang and llama.cpp. Lists for lists."""

    prompt: str | list[str]
    text: str | list[str]
    content: str | list[str]


@router.post("/tokenize", include_in_schema=False, response_model=None)
@router.post("/v1/tokenize", response_model=TokenizeReply, responses=errors(400, 404))
async def tokenize(body: TokenizeRequest, request: Request, server: Here) -> Any | Response:
    """The tokens of a text, or of a conversation as the model would read it."""
    if body.messages is not None:
        chat = ChatRequest(
            [template_message(message, at) for at, message in enumerate(body.messages)],
            tools=[tool.model_dump(exclude_none=True) for tool in body.tools or ()],
            tool_choice=ToolChoice("auto" if body.tools else "none"),
            variables=body.chat_template_kwargs or {},
        )
        _, model, prepared = await server.prepare(chat, body.model, request)
        check_counted(prepared)
        rows = [list(prepared.prompt.ids)]
    else:
        given = body.prompt or body.text or body.content or ""
        texts = given if isinstance(given, list) else [given]
        server.check_prompt(sum(map(len, texts)))
        _, model = await server.service.find(body.model)
        check_tokens(model, "model")
        begins = body.add_special if body.add_special_tokens is None else body.add_special_tokens
        if begins is None:
            begins = body.content is None

        def encode(text: str) -> list[int]:
            return model.tokenizer.encode(text, add_special=begins, parse_special=body.parse_special)

        rows = await while_connected(request.receive, tokenized(texts, encode), lambda: None)

    def reply() -> dict[str, Any]:
        shown: Any = rows
        if body.with_pieces:
            shown = [[{"id": id, "piece": _piece(model, id)} for id in ids] for ids in rows]
        strs = [[token_text(model.tokenizer, id) for id in ids] for ids in rows] if body.return_token_strs else None
        several = isinstance(body.prompt, list)
        return {
            "count": [len(ids) for ids in rows] if several else len(rows[0]),
            "max_model_len": model.context,
            "tokens": shown if several else shown[0],
            "token_strs": strs if several or not strs else strs[0],
        }

    return await long_answer(sum(map(len, rows)), reply)


def _piece(model: LoadedModel, id: int) -> str | list[int]:
    """A part of a character is its bytes."""
    raw = model.tokenizer.bytes_of(id)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return list(raw)


@router.post("/detokenize", include_in_schema=False)
@router.post("/v1/detokenize", responses=errors(400, 404))
async def detokenize(body: DetokenizeRequest, request: Request, server: Here) -> DetokenizeReply:
    """The text of tokens."""
    _, model = await server.service.find(body.model)
    rows = [row for row in body.tokens if isinstance(row, list)]
    several = bool(rows)
    rows = rows or [[id for id in body.tokens if isinstance(id, int)]]
    check_ids(rows, model, "tokens")
    skip = body.skip_special_tokens
    if skip is None:
        skip = not request.url.path.startswith("/v1/")

    def decode() -> list[str]:
        return [model.tokenizer.decode(row, skip_special=skip) for row in rows]

    texts = await server.beside(sum(map(len, rows)), request, decode)
    text = texts if several else texts[0]
    return DetokenizeReply(prompt=text, text=text, content=text)
