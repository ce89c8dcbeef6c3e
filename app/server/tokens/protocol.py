"""Texts and conversations to tokens, and back."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, model_validator

from app.server.chat.protocol import Message, Tool
from app.server.sampling import TokenId
from app.server.strict import Strict


class TokenizeRequest(Strict):
    """Either a text or a conversation. `text` is SGLang's name of `prompt`."""

    model: str | None = None
    prompt: str | None = None
    text: str | None = None
    messages: list[Message] | None = None
    tools: list[Tool] | None = None
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


class DetokenizeRequest(Strict):
    model: str | None = None
    tokens: Annotated[list[TokenId], Field(max_length=1_000_000)]
    skip_special_tokens: bool = False


class DetokenizeReply(BaseModel):
    prompt: str
