"""Texts or tokens into vectors, in OpenAI's shape."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
from fastapi import Request

from app.server.completions.serving import check_ids
from app.server.context import Server
from app.server.embeddings.protocol import EmbeddingsRequest
from app.server.vectors import embed, tokenized
from engine.pipelines.embedding import text_ids


async def embeddings(body: EmbeddingsRequest, request: Request, server: Server) -> dict[str, Any]:
    given = [body.input] if isinstance(body.input, str) else body.input
    server.check_prompt(sum(len(part) if isinstance(part, str | list) else 1 for part in given))
    name, model = await server.service.find(body.model)
    texts = [part for part in given if isinstance(part, str)]
    if texts:
        rows = await tokenized(texts, lambda text: text_ids(model, text))
    else:
        rows = [part for part in given if isinstance(part, list)] or [[id for id in given if isinstance(id, int)]]
        check_ids(rows, model, "input")
    made = await embed(rows, name, model, body.dimensions, request, server)
    spelled: Callable[[np.ndarray], object] = (
        in_base64 if body.encoding_format == "base64" else (lambda row: row.tolist())
    )
    return {
        "object": "list",
        "model": name,
        "data": [{"object": "embedding", "index": at, "embedding": spelled(row)} for at, row in enumerate(made.rows)],
        "usage": {"prompt_tokens": made.prompt_tokens, "total_tokens": made.prompt_tokens},
    }


def in_base64(vector: np.ndarray) -> str:
    """Of 32-bit floats, little-endian."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()
