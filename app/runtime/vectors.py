"""Embedding models and rerankers for Python and for the command line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from app.runtime.catalogue import capabilities, require
from app.runtime.embedding import embed, score, tokenized
from app.runtime.models import ModelService, ServiceOwner, closed_on_error, open_models
from engine.loading import LoadOptions
from engine.pipelines.embedding import modules_of, text_ids
from engine.pipelines.ranking import best_first
from engine.tasks import Task
from engine.types import Event, Failed, Request, RequestHandle, Settings, Timings

T = TypeVar("T")


@dataclass(frozen=True)
class RankedDocument:
    """A document's place among those that were given, its score and its text."""

    index: int
    score: float
    text: str


class EmbeddingModel(ServiceOwner):
    """A loaded embedding model or reranker. Close it, or use it in a `with` block."""

    def __init__(
        self,
        name: str,
        options: LoadOptions | None = None,
        settings: Settings | None = None,
        profile: Path | None = None,
    ) -> None:
        """`profile`: the file that gets a Chrome trace of the engine's work at the end."""
        self.name = name
        self.service = open_models([name], options, settings, profile=profile)
        with closed_on_error(self.service):
            self.loaded: Any = self.service.load_now(name)

    @property
    def prompts(self) -> list[str]:
        """Names of the model's own prompts."""
        return list(modules_of(self.loaded).prompts)

    def embed(
        self, texts: Sequence[str], *, prompt: str | None = None, dimensions: int | None = None, truncate: bool = False
    ) -> np.ndarray:
        """`[texts, dimensions]` f32, each of length one. `prompt`: the name of one of the model's prompts. `truncate`: texts that do
        not fit lose their end, instead of being refused."""
        require("embed", self.name, self.loaded)
        return embedded(self.service, self.name, self.loaded, texts, prompt, dimensions, truncate)

    def rank(
        self, query: str, documents: Sequence[str], *, top: int | None = None, instruction: str | None = None
    ) -> list[RankedDocument]:
        """The documents that fit the query best, best first. `instruction`: the definition of relevance that Qwen3-Reranker receives."""
        pairs = [(query, document) for document in documents]
        made = _waited(score(pairs, self.name, self.loaded, _Direct(self.service), instruction))
        return [RankedDocument(at, made.values[at], documents[at]) for at in best_first(made.values, top)]

    @property
    def ranks(self) -> bool:
        """Whether the model was made for ranking."""
        return "rank" in capabilities(self.loaded.config, self.loaded.folder)


def embedded(
    service: ModelService,
    name: str,
    loaded: Any,
    texts: Sequence[str],
    prompt: str | None = None,
    dimensions: int | None = None,
    truncate: bool = False,
) -> np.ndarray:
    """Vectors of texts by a model of a service, one row each. Blocks. See `EmbeddingModel.embed`."""
    before = modules_of(loaded).prompt(prompt)

    async def work() -> np.ndarray:
        rows = await tokenized(texts, lambda text: text_ids(loaded, before + text, cut=truncate))
        made = await embed(rows, name, loaded, dimensions, _Direct(service))
        return np.stack(made.rows) if made.rows else np.zeros((0, 0), np.float32)

    return _waited(work())


def library_embedding(
    service: ModelService, name: str, kind: Literal["query", "document"]
) -> Callable[[list[str]], np.ndarray]:
    """What makes the vectors of a library's passages, or of the questions that it is asked. The model is loaded when it is first needed."""

    def make(texts: list[str]) -> np.ndarray:
        loaded = service.load_now(name)
        require("embed", name, loaded)
        return embedded(
            service, name, loaded, texts, kind if kind in modules_of(loaded).prompts else None, truncate=True
        )

    return make


class _Direct:
    """A model service as `app.runtime.embedding.Computing`."""

    def __init__(self, service: ModelService) -> None:
        self._service = service

    def submit(self, request: Request) -> _Submitted:
        return _Submitted(self._service.submit(request))

    def task(self, model: str, work: Any) -> Task[Any]:
        return self._service.task(model, work)


class _Submitted:
    timings = Timings()

    def __init__(self, handle: RequestHandle) -> None:
        self._handle = handle

    async def events(self) -> AsyncIterator[Event]:
        async for event in self._handle:
            if isinstance(event, Failed):
                raise event.error
            yield event

    def cancel(self) -> None:
        self._handle.cancel()


def _waited(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, in a thread of its own: the caller may have an event loop that runs."""
    with ThreadPoolExecutor(1, "grus-vectors") as thread:
        return thread.submit(asyncio.run, work).result()
