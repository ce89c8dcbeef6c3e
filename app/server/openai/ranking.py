"""`POST /v1/rerank` and `POST /v1/score`: how relevant documents are to a query, in the shapes of Jina, Cohere and vLLM."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.runtime.embedding import Scores, score
from app.server.body import JsonRoute, RequestFields
from app.server.context import Here, Server, long_answer
from app.server.errors import bad_request
from app.server.openapi import errors
from app.server.requests import while_connected
from engine.pipelines.ranking import best_first
from engine.types import new_id

router = APIRouter(route_class=JsonRoute, tags=["OpenAI"])
MOST = 2048


class RankedText(RequestFields):
    """A document as Cohere's and Jina's clients may write it."""

    text: str


Documents = Annotated[list[str | RankedText], Field(min_length=1, max_length=MOST)]
Texts = str | Annotated[list[str], Field(min_length=1, max_length=MOST)]


class RerankRequest(RequestFields):
    model: str | None = None
    query: str
    documents: Documents
    top_n: Annotated[int, Field(ge=1)] | None = None
    return_documents: bool = False
    instruction: str | None = None  # the definition of relevance, for a model that takes one
    user: str | None = None  # without effect on the scores


class ScoreRequest(RequestFields):
    model: str | None = None
    text_1: Texts
    text_2: Texts
    instruction: str | None = None
    user: str | None = None


class RankingUsage(BaseModel):
    prompt_tokens: int
    total_tokens: int


class RerankResult(BaseModel):
    index: int
    relevance_score: float
    document: dict[str, str] | None = None


class RerankReply(BaseModel):
    id: str
    object: Literal["list"] = "list"
    model: str
    results: list[RerankResult]
    usage: RankingUsage


class ScoreResult(BaseModel):
    index: int
    object: Literal["score"] = "score"
    score: float


class ScoreReply(BaseModel):
    id: str
    object: Literal["list"] = "list"
    created: int
    model: str
    data: list[ScoreResult]
    usage: RankingUsage


_ERRORS = errors(400, 404, 429)


@router.post("/v1/rerank", response_model=RerankReply, responses=_ERRORS)
@router.post("/v2/rerank", response_model=RerankReply, include_in_schema=False)  # where Cohere's clients look for it
async def rerank(body: RerankRequest, request: Request, server: Here) -> Any | Response:
    """The documents that fit the query best, best first."""
    documents = [one if isinstance(one, str) else one.text for one in body.documents]
    name, made = await _scores(
        server, request, body.model, [(body.query, text) for text in documents], body.instruction
    )
    results = []
    for at in best_first(made.values, body.top_n):
        shown = {"document": {"text": documents[at]}} if body.return_documents else {}
        results.append({"index": at, "relevance_score": made.values[at], **shown})
    reply = {"id": new_id("rerank"), "object": "list", "model": name, "results": results, "usage": _usage(made)}
    return await long_answer(len(results), lambda: reply)


@router.post("/v1/score", response_model=ScoreReply, responses=_ERRORS)
async def scored(body: ScoreRequest, request: Request, server: Here) -> Any | Response:
    """The score of each pair of texts. One `text_1` is paired with every `text_2`."""
    first, second = ([given] if isinstance(given, str) else given for given in (body.text_1, body.text_2))
    if len(first) == 1:
        first = first * len(second)
    if len(first) != len(second):
        raise bad_request(
            f"text_1 has {len(first)} texts and text_2 has {len(second)}. Give one, or as many as the other.", "text_1"
        )
    name, made = await _scores(server, request, body.model, list(zip(first, second)), body.instruction)
    data = [{"index": at, "object": "score", "score": value} for at, value in enumerate(made.values)]
    reply = {"id": new_id("score"), "object": "list", "created": int(time.time()), "model": name, "data": data}
    return await long_answer(len(data), lambda: {**reply, "usage": _usage(made)})


async def _scores(
    server: Server, request: Request, model: str | None, pairs: list[tuple[str, str]], instruction: str | None
) -> tuple[str, Scores]:
    server.check_prompt(sum(len(first) + len(second) for first, second in pairs))
    name, loaded = await server.service.find_any(model)
    work = score(pairs, name, loaded, server.requests, instruction)
    return name, await while_connected(request.receive, work, lambda: None)


def _usage(made: Scores) -> dict[str, int]:
    return {"prompt_tokens": made.tokens, "total_tokens": made.tokens}
