"""Vectors and scores of texts. An encoder's texts are tasks, packed by their tokens; a text for a model that writes is a request of the
engine, a few at a time so that a long list does not fill the queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from app.runtime.long_prompts import run_beside
from engine.errors import BadRequest, ContextOverflow, EngineStopped
from engine.loaded import LoadedEncoder, LoadedPart
from engine.loading import LoadedModel
from engine.models.text_encoder import TextInput, TokenPooling
from engine.pipelines.embedding import (
    Embedder,
    EncoderWork,
    encode_together,
    encoder_pooling,
    modules_of,
    pooling_of,
    runs_of,
    text_ids,
    together,
    unit,
    width_of,
)
from engine.pipelines.ranking import as_share, is_yes_no_reranker, pair_input, yes_minus_no, yes_no_ids
from engine.tasks import Joint, Task
from engine.types import Embedded, Event, Pooling, Request, Timings

AT_ONCE = 16  # requests of one caller, and tasks that are joined


class SubmittedRequest(Protocol):
    """What is read of a request; the server's `RunningRequest` counts it for its client as well."""

    timings: Timings

    def events(self) -> AsyncIterator[Event]: ...
    def cancel(self) -> None: ...


class Computing(Protocol):
    """What computes vectors: a model service, or the server's requests over one."""

    def submit(self, request: Request) -> SubmittedRequest: ...
    def task(self, model: str, work: Any) -> Task[Any]: ...


@dataclass(frozen=True)
class Vectors:
    rows: list[np.ndarray]  # f32, of length one
    tokens: list[int]  # of each text

    @property
    def prompt_tokens(self) -> int:
        return sum(self.tokens)


@dataclass(frozen=True)
class Scores:
    values: list[float]  # between 0 and 1, or cosines
    tokens: int


async def tokenized(texts: Sequence[str], encode: Callable[[str], list[int]]) -> list[list[int]]:
    """Long texts beside the event loop."""
    return await run_beside(sum(map(len, texts)), lambda: [encode(text) for text in texts])


async def embed(
    rows: Sequence[Sequence[int]], name: str, model: Embedder, dimensions: int | None, on: Computing
) -> Vectors:
    """The vectors of tokenized texts, in order. Raises the first failure. Where it fails or is cancelled, the rest is
    cancelled."""
    if dimensions is not None and not 1 <= dimensions <= width_of(model):
        raise BadRequest(f"{name} makes vectors of {width_of(model)} dimensions: ask for 1 to that many.", "dimensions")
    if isinstance(model, LoadedEncoder):
        if model.ranks:
            raise BadRequest(f"{name} ranks texts, and makes no vectors.", "model")
        pooled = await _encoded([TextInput(ids) for ids in rows], name, model, encoder_pooling(model), on)
    else:
        pooled = await _requested(rows, name, pooling_of(model), on)
    if not pooled:
        return Vectors([], [])
    finished = modules_of(model).finished(np.stack(pooled))
    if dimensions is not None and finished.shape[1] < dimensions:  # a remote model's width is known only now
        raise BadRequest(f"{name} makes vectors of {finished.shape[1]} dimensions: ask for fewer.", "dimensions")
    return Vectors([unit(vector, dimensions) for vector in finished], [len(ids) for ids in rows])


async def _encoded(
    texts: Sequence[TextInput], name: str, model: LoadedEncoder, pooling: TokenPooling | None, on: Computing
) -> list[np.ndarray]:
    """What an encoder makes of texts, or a cross-encoder of pairs."""
    sizes = [len(text.ids) for text in texts]
    if longest := [size for size in sizes if size > model.context]:
        sentence = f"A text has {longest[0]} tokens, but {name} can read {model.context}. Shorten it."
        raise ContextOverflow(sentence, "input", tokens=longest[0], limit=model.context, exact=True)
    runs = list(runs_of(texts, sizes, together(model)))
    found: list[np.ndarray] = []
    for at in range(0, len(runs), AT_ONCE):
        tasks = [
            on.task(name, Joint(encode_together, EncoderWork(run, pooling), AT_ONCE)) for run in runs[at : at + AT_ONCE]
        ]
        try:
            for made in await asyncio.gather(*(asyncio.wrap_future(task.future) for task in tasks)):
                found += list(made)
        except BaseException:
            for task in tasks:
                task.cancel()
            raise
    return found


async def _requested(rows: Sequence[Sequence[int]], name: str, pooling: Pooling, on: Computing) -> list[np.ndarray]:
    """What a model that writes text pools of each text."""
    free = asyncio.Semaphore(AT_ONCE)

    async def one(ids: Sequence[int]) -> np.ndarray:
        async with free:
            running = on.submit(Request(name, ids, pooling=pooling))
            vector: np.ndarray | None = None
            try:
                async for event in running.events():
                    if isinstance(event, Embedded):
                        vector = event.vector
            except BaseException:
                running.cancel()
                raise
            if vector is None:
                raise EngineStopped("The request was cancelled.")
            return vector

    tasks = [asyncio.ensure_future(one(ids)) for ids in rows]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def score(
    pairs: Sequence[tuple[str, str]],
    name: str,
    model: Embedder | LoadedPart,
    on: Computing,
    instruction: str | None = None,
) -> Scores:
    """How relevant the second text of each pair is to the first: of a reranker a number between 0 and 1, of an embedding model
    the cosine of both vectors. `instruction`: the definition of relevance that Qwen3-Reranker receives."""
    size = sum(len(first) + len(second) for first, second in pairs)
    if isinstance(model, LoadedEncoder) and model.ranks:
        texts = await run_beside(size, lambda: [pair_input(model, first, second) for first, second in pairs])
        logits = await _encoded(texts, name, model, None, on)
        if logits and logits[0].size != 1:
            raise BadRequest(f"{name} sorts texts into {logits[0].size} classes, and does not rank.", "model")
        return Scores([float(one) for one in as_share(np.array(logits).reshape(-1))], sum(len(t.ids) for t in texts))
    if isinstance(model, LoadedModel) and is_yes_no_reranker(model.config, model.folder):
        rows = await run_beside(
            size, lambda: [yes_no_ids(model, first, second, instruction) for first, second in pairs]
        )
        head = await asyncio.wrap_future(on.task(name, yes_minus_no).future)
        read = await _requested(rows, name, "last", on)
        return Scores([float(as_share(vector @ head)) for vector in read], sum(map(len, rows)))
    made_for_it = isinstance(model, LoadedModel) and (modules_of(model).present or "pooling" in model.config)
    if not isinstance(model, LoadedEncoder) and not (isinstance(model, LoadedModel) and made_for_it):
        raise BadRequest(f"{name} does not rank. Choose a reranker or an embedding model.", "model")
    return await _cosines(pairs, name, model, on)


async def _cosines(pairs: Sequence[tuple[str, str]], name: str, model: Embedder, on: Computing) -> Scores:
    """Queries and documents get the prompts of these names, where the model has them. Equal texts are read once."""
    modules = modules_of(model)
    prompts = {kind: modules.prompts.get(kind, "") for kind in ("query", "document")}
    texts = list(dict.fromkeys(prompts[kind] + text for pair in pairs for kind, text in zip(prompts, pair)))
    rows = await tokenized(texts, lambda text: text_ids(model, text, cut=True))
    made = await embed(rows, name, model, None, on)
    vectors = dict(zip(texts, made.rows))
    values = [
        float(vectors[prompts["query"] + first] @ vectors[prompts["document"] + second]) for first, second in pairs
    ]
    return Scores(values, made.prompt_tokens)
