"""A generator that blocks, read from the event loop: each of its pieces is made in a thread, when it is asked for.

Whoever no longer wants the pieces says `cancel`, and what the generator waits for is cut off, so that it ends at once.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Generator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from fastapi import Request

from app.server.context import Server
from app.server.streaming import while_connected
from engine.cancel import CancelScope
from engine.errors import EngineStopped

T = TypeVar("T")
_END = object()
# threads that mostly wait for the engine, so that voices never take those of other work
_THREADS = ThreadPoolExecutor(256, thread_name_prefix="grus-sound")


def cancel_scope(server: Server) -> CancelScope:
    return CancelScope(server.requests.engine())


async def in_thread(work: Callable[..., T], *given: Any) -> T:
    """What blocks, for the event loop. What was cut short raises EngineStopped."""

    def run() -> T:
        try:
            return work(*given)
        except CancelledError:
            raise EngineStopped("The request was stopped.") from None

    return await asyncio.get_running_loop().run_in_executor(_THREADS, run)


class Pump(Generic[T]):
    def __init__(self, pieces: Generator[T, None, None], scope: CancelScope, server: Server, request: Request) -> None:
        """`request`: who stops it by its id stops this."""
        self._pieces = pieces
        self._scope = scope
        self._id: str = request.scope["state"]["request_id"]
        self._requests = server.requests
        self._requests.sound_begins(self._id, self._stop)
        self._turn = threading.Lock()  # a generator that runs cannot be closed
        self._first: list[T] = []
        self._over = False
        self._stopped = False

    async def begun(self, receive: Any) -> None:
        """Wait for the first piece, so that what fails before it fails with a status."""
        first = await while_connected(receive, self._ask(), self.cancel)
        if first is not _END:
            self._first.append(first)

    async def __aiter__(self) -> AsyncIterator[T]:
        for piece in self._first:
            yield piece
        while (piece := await self._ask()) is not _END:
            yield piece

    async def whole(self, receive: Any) -> list[T]:
        async def read() -> list[T]:
            return [piece async for piece in self]

        return await while_connected(receive, read(), self.cancel)

    def cancel(self) -> None:
        if not self._over:
            self._stop()
            _THREADS.submit(self._close)

    def _stop(self) -> None:
        self._stopped = True
        self._scope.cancel()

    async def _ask(self) -> Any:
        return await asyncio.get_running_loop().run_in_executor(_THREADS, self._next)

    def _next(self) -> Any:
        piece: Any = _END
        with self._turn:
            try:
                piece = next(self._pieces, _END)
                if self._stopped:  # what was cut short may look like an end
                    raise CancelledError
            except CancelledError:
                piece = _END
                self._pieces.close()
                raise EngineStopped("The request was stopped.") from None
            finally:
                if piece is _END:
                    self._ended()
        return piece

    def _ended(self) -> None:
        self._over = True
        self._requests.sound_ends(self._id)

    def _close(self) -> None:
        with self._turn:
            self._pieces.close()
            self._ended()
