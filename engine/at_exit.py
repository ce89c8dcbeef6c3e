"""Closes engines that are still open at the interpreter's exit, and waits for the threads that use them.

The interpreter kills a daemon thread that lives longer than it at that thread's next Python instruction. Inside a library's C++
(MLX, torch, soxr) this aborts the process: "terminate called without an active exception". MLX's cache of compiled functions
belongs to a thread and takes the interpreter's lock when it goes, which is after Python (until 3.13) calls the thread joined:
so the system's threads are waited for too.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
import weakref
from collections import deque
from pathlib import Path
from typing import Protocol

PATIENCE = 10.0  # seconds for a thread to notice that its engine is closed


class Closable(Protocol):
    def close(self) -> None: ...


_open: weakref.WeakSet[Closable] = weakref.WeakSet()
_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def close_at_exit(engine: Closable) -> None:
    _open.add(engine)


def join_at_exit(thread: threading.Thread) -> threading.Thread:
    """Register a daemon thread that ends by itself when its engine is closed."""
    _threads.add(thread)
    return thread


_native: deque[int] = deque(maxlen=64)  # native ids of the latest threads that created arrays


def note_native() -> None:
    """Register the calling thread as one that creates arrays."""
    _native.append(threading.get_native_id())


def _join_native() -> None:
    """Wait until the native threads have ended too; Python waits only for its own."""
    if not sys.platform.startswith("linux"):
        time.sleep(0.05 if _native else 0)  # there is no list of them; not measured on a Mac
        return
    alive = {thread.native_id for thread in threading.enumerate()}  # an id may be in use again
    deadline = time.monotonic() + 1.0
    for native in set(_native) - alive:
        while Path(f"/proc/self/task/{native}").exists() and time.monotonic() < deadline:
            time.sleep(0.001)


@atexit.register
def _close() -> None:
    for engine in list(_open):
        engine.close()
    for thread in list(_threads):
        if thread.is_alive():
            thread.join(PATIENCE)
    _join_native()
