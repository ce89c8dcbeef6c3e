"""What a model would read, as tokens; nothing is computed."""

from __future__ import annotations

from fastapi import Request

from app.runtime.chat import ChatRequest, ToolChoice
from app.server import pages
from app.server.chat.serving import template_message
from app.server.context import Server
from app.server.errors import bad_request
from app.server.openai_shapes import token_text
from app.server.tokens.protocol import DetokenizeReply, DetokenizeRequest, TokenizeReply, TokenizeRequest


async def tokenize(body: TokenizeRequest, server: Server, request: Request) -> TokenizeReply:
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
        ids = model.tokenizer.encode(text, add_special=body.add_special_tokens)
    words = [token_text(model.tokenizer, id) for id in ids] if body.return_token_strs else None
    return TokenizeReply(count=len(ids), max_model_len=model.context, tokens=ids, token_strs=words)


async def detokenize(body: DetokenizeRequest, server: Server) -> DetokenizeReply:
    _, model = await server.service.find(body.model)
    if unknown := [id for id in body.tokens if id >= model.vocab]:
        raise bad_request(f"There is no token {unknown[0]}; this model has {model.vocab}.", "tokens")
    return DetokenizeReply(prompt=model.tokenizer.decode(body.tokens, skip_special=body.skip_special_tokens))
