"""A bound on reasoning: where a model has thought for as many tokens as it may, its thoughts are ended for it.

The request is cancelled and goes on behind the closing tag; what was computed so far is remembered by the engine, so that
nothing is computed twice. Has a `RunningRequest`'s face. Knows no family.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

from app.runtime.chat import PreparedChat
from app.runtime.models import ModelService
from app.runtime.replies import ReplyEvent
from engine.pipelines.prompt import continued
from engine.types import Done, Text, Timings, new_id


class BoundThoughts:
    """For requests of one choice."""

    def __init__(self, service: ModelService, prepared: PreparedChat, budget: int) -> None:
        self._service = service
        self._request = prepared.request
        self._close = prepared.close
        self._tokenizer = prepared.model.tokenizer
        self._budget = budget
        self._running: RunningRequest = service.submit(prepared.request, prepared.reader)
        self.reader = prepared.reader
        self.timings = Timings()

    def cancel(self) -> None:
        self._running.cancel()

    async def begun(self, patience: float) -> None:
        await self._running.begun(patience)

    async def parts(self) -> AsyncIterator[ReplyEvent]:
        ids: list[int] = []
        events = self._running.events()
        async for event in events:
            if isinstance(event, Text):
                ids += event.ids
            for part in self.reader.read(event):
                yield part
            if isinstance(event, Text) and self.reader.thinking and len(ids) >= self._budget:
                break
        else:
            self.timings = self._running.timings
            return
        self._running.cancel()
        async for _ in events:
            pass
        async for part in self._answer(ids, self._running.timings):
            yield part

    async def _answer(self, thought: list[int], before: Timings) -> AsyncIterator[ReplyEvent]:
        close = f"\n{self._close}\n\n"
        ids = self._tokenizer.encode(close, add_special=False)
        sampling, said = self._request.sampling, len(thought) + len(ids)
        left = None if sampling.max_tokens is None else sampling.max_tokens - said
        if left is not None and left < 1:
            self.timings = before
            for part in self.reader.read(Done(self._request.id, "length", before)):
                yield part
            return
        wishes = replace(sampling, max_tokens=left, grammar_after=None)
        request = replace(continued(self._request, [*thought, *ids]), id=new_id(), sampling=wishes)
        self._running = self._service.submit(request, admitted=True)
        for part in self.reader.read(Text(self._request.id, close, ())):
            yield part
        async for event in self._running.events():
            for part in self.reader.read(event):
                yield part
        after = self._running.timings
        self.timings = replace(
            before, output_tokens=said + after.output_tokens, total=before.total + after.total, gap_p50=after.gap_p50
        )

    async def streamed(self) -> AsyncIterator[ReplyEvent]:
        async for part in self.parts():
            yield replace(part, kind="answer") if part.kind == "broken" else part
