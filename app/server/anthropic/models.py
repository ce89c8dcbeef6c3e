"""`GET /v1/models` and `/v1/models/{id}` as Anthropic's clients read them, and the tokens that a loaded model can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel

_MOST = 1000


class AnthropicModel(BaseModel):
    type: Literal["model"] = "model"
    id: str
    display_name: str
    created_at: str
    lifecycle: Literal["active"] = "active"
    max_input_tokens: int | None  # of a model that is loaded
    max_tokens: int | None


class AnthropicModelPage(BaseModel):
    data: list[AnthropicModel]
    has_more: bool
    first_id: str | None
    last_id: str | None


def asked_by_anthropics_client(headers: Mapping[str, str]) -> bool:
    """The route is OpenAI's too; only Anthropic's clients send this header."""
    return "anthropic-version" in headers


def anthropic_model(id: str, created: int, context: int | None) -> AnthropicModel:
    at = datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return AnthropicModel(id=id, display_name=id, created_at=at, max_input_tokens=context, max_tokens=context)


def model_page(models: Sequence[AnthropicModel], query: Mapping[str, str]) -> AnthropicModelPage:
    """The `limit` models after `after_id`, or those before `before_id`; a limit that is no number is the default."""
    ids = [model.id for model in models]
    asked = query.get("limit", "")
    limit = min(max(int(asked), 1), _MOST) if asked.isascii() and asked.isdigit() and len(asked) < 9 else 20
    start = ids.index(query["after_id"]) + 1 if query.get("after_id") in ids else 0
    end = len(ids)
    if query.get("before_id") in ids:
        end = ids.index(query["before_id"])
        start = max(start, end - limit)
    page = list(models[start : min(end, start + limit)])
    more = start > 0 if end < len(ids) else start + limit < end
    return AnthropicModelPage(
        data=page,
        has_more=more,
        first_id=page[0].id if page else None,
        last_id=page[-1].id if page else None,
    )
