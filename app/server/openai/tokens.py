"""`POST /v1/tokenize` and `/v1/detokenize`: texts and conversations to tokens, and back. Computes nothing on the model."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, model_validator
from starlette.responses import Response

from app.runtime.chat import ChatRequest, ToolChoice
from app.server import pages
from app.server.body import JsonRoute, RequestFields
from app.server.context import Here, long_answer
from app.server.documented import errors
from app.server.errors import bad_request
from app.server.openai.chat import ChatMessage, ChatTool, template_message
from app.server.openai.shapes import token_text
from app.server.sampling import TokenId

router = APIRouter(route_class=JsonRoute, tags=["Tokens"])


class TokenizeRequest(RequestFields):
    """Either a text or a conversation. `text` is SGLang's name of `prompt`."""

    model: str | None = None
    prompt: str | None = None
    text: str | None = None
    messages: list[ChatMessage] | None = None
    tools: list[ChatTool] | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    add_special_tokens: bool = True  # of a text; a template has its own
    return_token_strs: bool = False

    @model_validator(mode="after")
    def _one_source(self) -> TokenizeRequest:
        if sum(given is not None for given in (self.prompt, self.text, self.messages)) != 1:
            raise ValueError("give one of prompt, text and messages")
        if self.messages is None and (self.tools or self.chat_template_kwargs):
            raise ValueError("tools and chat_template_kwargs belong to messages")
        return self


class TokenizeReply(BaseModel):
    count: int
    max_model_len: int
    tokens: list[int]
    token_strs: list[str] | None = None


class DetokenizeRequest(RequestFields):
    model: str | None = None
    tokens: Annotated[list[TokenId], Field(max_length=1_000_000)]
    skip_special_tokens: bool = False


class DetokenizeReply(BaseModel):
    prompt: str


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
        pages.check_counted(prepared)
        ids = list(prepared.prompt.ids)
    else:
        text = body.prompt or body.text or ""
        server.check_prompt(len(text))
        _, model = await server.service.find(body.model)
        ids = await server.beside(len(text), request, model.tokenizer.encode, text, add_special=body.add_special_tokens)

    def reply() -> dict[str, Any]:
        words = [token_text(model.tokenizer, id) for id in ids] if body.return_token_strs else None
        return {"count": len(ids), "max_model_len": model.context, "tokens": ids, "token_strs": words}

    return await long_answer(len(ids), reply)


@router.post("/v1/detokenize", responses=errors(400, 404))
async def detokenize(body: DetokenizeRequest, request: Request, server: Here) -> DetokenizeReply:
    """The text of tokens."""
    _, model = await server.service.find(body.model)
    if unknown := [id for id in body.tokens if id >= model.vocab]:
        raise bad_request(f"There is no token {unknown[0]}; this model has {model.vocab}.", "tokens")
    decode = model.tokenizer.decode
    text = await server.beside(len(body.tokens), request, decode, body.tokens, skip_special=body.skip_special_tokens)
    return DetokenizeReply(prompt=text)
