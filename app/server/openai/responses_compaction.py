"""`/v1/responses/compact`: a conversation becomes one item, which holds a summary that the model wrote.

Clients pass the item back unchanged, and the model reads the summary in its place. Its content is opaque to them, but not secret.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Literal

from pydantic import BaseModel

from app.server.body import Hint, RequestFields
from app.server.openai.responses_items import ResponseCompaction, ResponseInput, ResponseMessage, new_item_id
from app.server.openai.responses_protocol import ResponseUsage

SUMMARIZE = (
    "Summarize this conversation so that it can go on from the summary alone. Keep what was decided, the facts, names, numbers"
    " and paths that matter, and what is still to be done. Write the summary and nothing else."
)
_KEY = "grus_summary"


class CompactRequest(RequestFields):
    model: str
    input: ResponseInput | None = None
    instructions: str | None = None
    previous_response_id: str | None = None
    prompt_cache_key: Hint[str] = None


class CompactedResponse(BaseModel):
    id: str
    object: Literal["response.compaction"] = "response.compaction"
    created_at: int
    output: list[dict[str, Any]]
    usage: ResponseUsage


def compacted(response: dict[str, Any]) -> CompactedResponse:
    """Made of the response that holds the summary."""
    messages = [item for item in response["output"] if item["type"] == "message"]
    summary = "".join(part["text"] for item in messages for part in item["content"])
    content = base64.b64encode(json.dumps({_KEY: summary}).encode()).decode()
    item = {"type": "compaction", "id": new_item_id("cmp"), "encrypted_content": content}
    return CompactedResponse(
        id=response["id"], created_at=response["created_at"], output=[item], usage=response["usage"]
    )


def as_message(item: ResponseCompaction) -> ResponseMessage | None:
    """What the model reads in the item's place. None: another server made it."""
    try:
        summary = json.loads(base64.b64decode(item.encrypted_content, validate=True))[_KEY]
    except (ValueError, binascii.Error, KeyError, TypeError):
        return None
    return ResponseMessage(role="user", content=f"A summary of the conversation so far:\n\n{summary}")
