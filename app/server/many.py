"""Several requests that are answered together: a batch of prompts, each with its own choices."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence

from starlette.types import Receive

from app.runtime.models import ModelService
from app.server.streaming import while_connected
from engine.types import Event, Request


class Together:
    """Reads as one what runs as many. Has a `RunningRequest`'s face, as far as a stream needs it."""

    def __init__(self, runnings: Sequence[RunningRequest]) -> None:
        self.runnings = list(runnings)

    @classmethod
    def begin(cls, service: ModelService, requests: Sequence[Request]) -> Together:
        """All of them, or none: where one is refused, those before it are cancelled."""
        together = cls([])
        try:
            for request in requests:
                together.runnings.append(service.submit(request))
        except BaseException:
            together.cancel()
            raise
        return together

    def cancel(self) -> None:
        for running in self.runnings:
            running.cancel()

    async def begun(self, patience: float) -> None:
        await self.runnings[0].begun(patience)

    async def whole(self, receive: Receive, hear: Callable[[int, Event], object]) -> None:
        """Hear everything to its end, unless one fails or the client goes away: then the others are cancelled."""

        async def read() -> None:
            async for number, event in self.events():
                hear(number, event)

        await while_connected(receive, read(), self.cancel)

    async def events(self) -> AsyncIterator[tuple[int, Event]]:
        """Events with the number of the request that they belong to, as they come. The first failure is raised."""
        if len(self.runnings) == 1:
            async for event in self.runnings[0].events():
                yield 0, event
            return
        queue: asyncio.Queue[tuple[int, Event] | Exception | None] = asyncio.Queue()

        async def read(number: int, running: RunningRequest) -> None:
            try:
                async for event in running.events():
                    queue.put_nowait((number, event))
                queue.put_nowait(None)
            except Exception as error:
                queue.put_nowait(error)

        tasks = [asyncio.create_task(read(i, running)) for i, running in enumerate(self.runnings)]
        left = len(tasks)
        try:
            while left:
                item = await queue.get()
                if isinstance(item, Exception):
                    raise item
                if item is None:
                    left -= 1
                else:
                    yield item
        finally:
            for task in tasks:
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(*tasks, return_exceptions=True)
