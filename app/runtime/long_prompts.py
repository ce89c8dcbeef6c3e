"""Long prompts are parsed, rendered and tokenized in threads of their own: a few at a time, for each takes memory and Python's
lock, and beside the event loop, which answers everybody else meanwhile. What they took is given back to the system.
"""

from __future__ import annotations

import asyncio
import ctypes
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

LONG_PROMPT = 20_000  # characters; what is shorter is done at once, in milliseconds
_LARGE = 500_000  # characters; one such prompt at a time, and then memory is given back
_TRIM_SECONDS = 0.5  # after the last of them

_threads = ThreadPoolExecutor(2, "grus-prompt")
_large_threads = ThreadPoolExecutor(
    1, "grus-large-prompt"
)  # of its own: the others do not wait for seconds behind these


async def run_beside(size: int, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """The result of `work`, which is about a prompt of `size` characters. Who is cancelled while it waits is forgotten."""
    if size < LONG_PROMPT:
        return work(*args, **options)
    run: Any = copy_context().run  # its type knows no options
    try:
        threads = _threads if size < _LARGE else _large_threads
        result: T = await asyncio.get_running_loop().run_in_executor(threads, lambda: run(work, *args, **options))
        return result
    finally:
        if size >= _LARGE:
            _trimmer().soon()


def run_later(size: int, work: Callable[P, object], *args: P.args, **options: P.kwargs) -> None:
    """For work whose result nobody waits for."""
    if size < LONG_PROMPT:
        work(*args, **options)
    else:
        _threads.submit(work, *args, **options)


@cache
def _trimmer() -> _Trimmer:
    return _Trimmer()


class _Trimmer:
    """glibc keeps what was freed for the next who asks: after a few megabytes of prompt, that is gigabytes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._trim: Callable[[int], int] | None = None
        if sys.platform == "linux":
            self._trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none

    def soon(self) -> None:
        """When the requests that end now have let go of their prompts."""
        if self._trim is None:
            return
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(_TRIM_SECONDS, self._trim, (0,))
            self._timer.daemon = True
            self._timer.start()
