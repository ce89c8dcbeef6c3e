"""Closes at the interpreter's exit the engines that nobody closed, and waits for the threads that make use of one.

The interpreter kills a daemon thread that lives longer than it at that thread's next Python instruction. Inside a library's C++
(MLX, torch, soxr) this aborts the process: "terminate called without an active exception".
"""

from __future__ import annotations

import atexit
import threading
import weakref
from typing import Protocol

PATIENCE = 10.0  # seconds for a thread whose engine is closed to notice it


class Closable(Protocol):
    def close(self) -> None: ...


_open: weakref.WeakSet[Closable] = weakref.WeakSet()
_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def close_at_exit(engine: Closable) -> None:
    _open.add(engine)


def join_at_exit(thread: threading.Thread) -> threading.Thread:
    """For a daemon thread that ends by itself when its engine is closed."""
    _threads.add(thread)
    return thread


@atexit.register
def _close() -> None:
    for engine in list(_open):
        engine.close()
    for thread in list(_threads):
        if thread.is_alive():
            thread.join(PATIENCE)
