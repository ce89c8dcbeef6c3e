"""Texts into vectors, in Ollama's shape."""

from __future__ import annotations

import time
from typing import Any

from fastapi import Request

from app.server.context import Server
from app.server.ollama.protocol import OllamaEmbedRequest
from app.server.vectors import embed as vectors
from app.server.vectors import tokenized
from engine.pipelines.embedding import text_ids


async def embed(body: OllamaEmbedRequest, request: Request, server: Server) -> dict[str, Any]:
    """What is too long is cut, unless `truncate` is off."""
    began = time.monotonic_ns()
    texts = [text for text in [body.input] if text] if isinstance(body.input, str) else body.input
    server.check_prompt(sum(map(len, texts)))
    name, model = await server.service.find(body.model)
    loaded = time.monotonic_ns()
    context = body.options.num_ctx if body.options is not None else None
    rows = await tokenized(texts, lambda text: text_ids(model, text, context, cut=body.truncate is not False))
    made = await vectors(rows, name, model, body.dimensions, request, server)
    return {
        "model": name,
        "embeddings": [row.tolist() for row in made.rows],
        "total_duration": time.monotonic_ns() - began,
        "load_duration": loaded - began,
        "prompt_eval_count": made.prompt_tokens,
    }
