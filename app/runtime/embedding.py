"""Vectors of texts: each text becomes a request of the engine, a few at a time so that a long list does not fill the queue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.runtime.long_prompts import run_beside
from engine.errors import BadRequest, EngineStopped
from engine.loading import LoadedModel
from engine.pipelines.embedding import pooling_of, unit, width_of
from engine.types import Embedded, Event, Request, Timings

AT_ONCE = 16


class SubmittedRequest(Protocol):
    """What is read of a request; the server's `RunningRequest` counts it for its client as well."""

    timings: Timings

    def events(self) -> AsyncIterator[Event]: ...
    def cancel(self) -> None: ...


@dataclass(frozen=True)
class Vectors:
    rows: list[np.ndarray]  # f32, of length one
    timings: list[Timings]

    @property
    def prompt_tokens(self) -> int:
        return sum(timings.prompt_tokens for timings in self.timings)


async def tokenized(texts: Sequence[str], encode: Callable[[str], list[int]]) -> list[list[int]]:
    """Long texts beside the event loop."""
    return await run_beside(sum(map(len, texts)), lambda: [encode(text) for text in texts])


async def embed(
    rows: Sequence[Sequence[int]],
    name: str,
    model: LoadedModel,
    dimensions: int | None,
    submit: Callable[[Request], SubmittedRequest],
) -> Vectors:
    """The vectors of tokenized texts, in order. Raises the first failure. Where it fails or is cancelled, the rest is
    cancelled."""
    if dimensions is not None and not 1 <= dimensions <= width_of(model):
        raise BadRequest(f"{name} makes vectors of {width_of(model)} dimensions: ask for 1 to that many.", "dimensions")
    pooling = pooling_of(model)
    free = asyncio.Semaphore(AT_ONCE)

    async def one(ids: Sequence[int]) -> tuple[np.ndarray, Timings]:
        async with free:
            running = submit(Request(name, ids, pooling=pooling))
            vector: np.ndarray | None = None
            try:
                async for event in running.events():
                    if isinstance(event, Embedded):
                        vector = unit(event.vector, dimensions)
            except BaseException:
                running.cancel()
                raise
            if vector is not None and dimensions is not None and vector.size < dimensions:  # one elsewhere tells it now
                raise BadRequest(f"{name} makes vectors of {vector.size} dimensions: ask for fewer.", "dimensions")
            if vector is None:
                raise EngineStopped("The request was cancelled.")
            return vector, running.timings

    tasks = [asyncio.ensure_future(one(ids)) for ids in rows]
    try:
        found = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return Vectors([vector for vector, _ in found], [timings for _, timings in found])
