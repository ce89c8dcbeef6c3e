"""Closes at the interpreter's exit the engines that nobody closed, and waits for the threads that make use of one.

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


_native: deque[int] = deque(maxlen=64)  # the system's ids of the latest threads that made arrays


def note_native() -> None:
    """Called by a thread that makes arrays."""
    _native.append(threading.get_native_id())


def _gone() -> None:
    """Return when the system's threads have ended too, which Python only asks of itself."""
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
    _gone()
