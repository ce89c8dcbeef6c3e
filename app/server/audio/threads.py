"""Blocking audio work in threads: single calls, and generators whose items are read from the event loop.

`cancel` ends a generator at once, because it cancels what the generator waits for.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Generator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from fastapi import Request

from app.server.context import Server
from app.server.requests import while_connected
from engine.errors import EngineStopped
from engine.tasks import CancelScope

T = TypeVar("T")
_END = object()
# of its own, because these threads mostly wait for the engine
_THREADS = ThreadPoolExecutor(256, thread_name_prefix="grus-sound")


def cancel_scope(server: Server) -> CancelScope:
    return CancelScope(server.requests.engine())


async def in_thread(work: Callable[..., T], *given: Any) -> T:
    """Run a blocking call. Raises EngineStopped when it was cancelled."""

    def run() -> T:
        try:
            return work(*given)
        except CancelledError:
            raise EngineStopped("The request was stopped.") from None

    return await asyncio.get_running_loop().run_in_executor(_THREADS, run)


class ThreadedGenerator(Generic[T]):
    """A blocking generator as an async iterator: each item is computed in a thread when it is asked for."""

    def __init__(self, items: Generator[T, None, None], scope: CancelScope, server: Server, request: Request) -> None:
        """`request`: `/abort_request` with its id cancels this."""
        self._items = items
        self._scope = scope
        self._id: str = request.scope["state"]["request_id"]
        self._requests = server.requests
        self._requests.sound_begins(self._id, self._stop)
        self._lock = threading.Lock()  # a running generator cannot be closed
        self._first: list[T] = []
        self._closed = False
        self._stopped = False

    async def begun(self, receive: Any) -> None:
        """Wait for the first item, so that an error before it sets the status."""
        first = await while_connected(receive, self._ask(), self.cancel)
        if first is not _END:
            self._first.append(first)

    async def __aiter__(self) -> AsyncIterator[T]:
        for item in self._first:
            yield item
        while (item := await self._ask()) is not _END:
            yield item

    async def whole(self, receive: Any) -> list[T]:
        async def read() -> list[T]:
            return [item async for item in self]

        return await while_connected(receive, read(), self.cancel)

    def cancel(self) -> None:
        if not self._closed:
            self._stop()
            _THREADS.submit(self._close)

    def _stop(self) -> None:
        self._stopped = True
        self._scope.cancel()

    async def _ask(self) -> Any:
        return await asyncio.get_running_loop().run_in_executor(_THREADS, self._next)

    def _next(self) -> Any:
        item: Any = _END
        with self._lock:
            try:
                item = next(self._items, _END)
                if self._stopped:  # a cancelled generator may look complete
                    raise CancelledError
            except CancelledError:
                item = _END
                self._items.close()
                raise EngineStopped("The request was stopped.") from None
            finally:
                if item is _END:
                    self._ended()
        return item

    def _ended(self) -> None:
        self._closed = True
        self._requests.sound_ends(self._id)

    def _close(self) -> None:
        with self._lock:
            self._items.close()
            self._ended()
