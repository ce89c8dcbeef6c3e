"""Long prompts are parsed, rendered and tokenized in threads of their own: a few at a time, for each takes memory and Python's
lock, and beside the event loop, which answers everybody else meanwhile. What they took is given back to the system.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, ParamSpec, TypeVar

from engine.trim import trim_soon

P = ParamSpec("P")
T = TypeVar("T")

LONG_PROMPT = 20_000  # characters; what is shorter is done at once, in milliseconds
_LARGE = 500_000  # characters; one such prompt at a time, and then memory is given back

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
            trim_soon()


def run_later(size: int, work: Callable[P, object], *args: P.args, **options: P.kwargs) -> None:
    """For work whose result nobody waits for."""
    if size < LONG_PROMPT:
        work(*args, **options)
    else:
        _threads.submit(work, *args, **options)
