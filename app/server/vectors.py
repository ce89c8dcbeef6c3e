"""Vectors for a call of any family: its texts become requests, a few at a time so that a long list fills no queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from fastapi import Request

from app.server.context import LONG_PROMPT, Server
from app.server.errors import bad_request
from app.server.streaming import while_connected
from engine.errors import EngineStopped
from engine.loading import LoadedModel
from engine.pipelines.embedding import pooling_of, unit, width_of
from engine.types import Embedded, Timings
from engine.types import Request as EngineRequest

AT_ONCE = 16


@dataclass(frozen=True)
class Vectors:
    rows: list[np.ndarray]  # f32, of length one
    timings: list[Timings]

    @property
    def prompt_tokens(self) -> int:
        return sum(timings.prompt_tokens for timings in self.timings)


async def tokenized(texts: Sequence[str], encode: Callable[[str], list[int]]) -> list[list[int]]:
    """Long texts off the event loop."""
    if sum(map(len, texts)) < LONG_PROMPT:
        return [encode(text) for text in texts]
    return await asyncio.to_thread(lambda: [encode(text) for text in texts])


async def embed(
    rows: Sequence[Sequence[int]],
    name: str,
    model: LoadedModel,
    dimensions: int | None,
    request: Request,
    server: Server,
) -> Vectors:
    """The vectors of tokenized texts, in order. Raises the first failure, and cancels the rest."""
    if dimensions is not None and not 1 <= dimensions <= width_of(model):
        raise bad_request(
            f"{name} makes vectors of {width_of(model)} dimensions: ask for 1 to that many.", "dimensions"
        )
    pooling = pooling_of(model)
    free = asyncio.Semaphore(AT_ONCE)

    async def one(ids: Sequence[int]) -> tuple[np.ndarray, Timings]:
        async with free:
            running = server.requests.submit(EngineRequest(name, ids, pooling=pooling))
            vector: np.ndarray | None = None
            try:
                async for event in running.events():
                    if isinstance(event, Embedded):
                        vector = unit(event.vector, dimensions)
            except BaseException:
                running.cancel()
                raise
            if vector is None:
                raise EngineStopped("The request was cancelled.")
            return vector, running.timings

    tasks = [asyncio.ensure_future(one(ids)) for ids in rows]

    def cancel() -> None:
        for task in tasks:
            task.cancel()

    async def read() -> list[tuple[np.ndarray, Timings]]:
        try:
            return await asyncio.gather(*tasks)
        finally:
            cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    found = await while_connected(request.receive, read(), cancel)
    return Vectors([vector for vector, _ in found], [timings for _, timings in found])
