"""Background repacking: weights are used from the memory-mapped file at first, and are packed or copied to huge pages by one thread
while the model already runs.

Most of the time of opening a file goes into fresh memory, which the system clears page by page. The mapped file needs none; it is
read a third more slowly, and blocks in it are packed at each use. So a model starts on the mapped file, and the thread repacks its
matrices when no new one was scheduled for a while.
"""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections import deque
from contextlib import suppress
from typing import Protocol

QUIET = 0.3  # seconds without a newly scheduled matrix: until then the model is still being loaded


class _Repackable(Protocol):
    def move(self) -> None: ...


_lock = threading.Lock()
_waiting: deque[weakref.ref[_Repackable]] = deque()
_last = 0.0
_thread: threading.Thread | None = None
_ending = threading.Event()


def schedule(matrix: _Repackable) -> None:
    """Call `matrix.move` in the background, unless the matrix has been freed by then."""
    global _last, _thread
    with _lock:
        _waiting.append(weakref.ref(matrix))
        _last = time.monotonic()
        if _thread is None or not _thread.is_alive():  # a forked child has none of its parent's threads
            _thread = threading.Thread(target=_move_all, name="grus-repack", daemon=True)
            _thread.start()


def _move_all() -> None:
    global _thread
    while True:
        while (left := _last + QUIET - time.monotonic()) > 0:
            if _ending.wait(left):
                break
        with _lock:
            if not _waiting or _ending.is_set():
                _thread = None
                return
            matrix = _waiting.popleft()()
        if matrix is not None:
            with suppress(MemoryError, OSError):  # then it stays where it is
                matrix.move()
        del matrix


@atexit.register
def _end() -> None:
    """Stop the thread at exit: the interpreter would kill it inside torch, which aborts the process."""
    _ending.set()
    if (thread := _thread) is not None:
        thread.join()


def wait() -> None:
    """Wait until everything scheduled has been repacked."""
    while (thread := _thread) is not None and thread.is_alive():
        thread.join(0.05)
