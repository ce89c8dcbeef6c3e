"""Weights that are used where the file is mapped at first, and move to huge pages while the model already answers.

Fresh memory is what takes the time of opening a file: the system clears it, and under a virtual machine fetches it first. The
mapped file costs nothing; it is read a third more slowly, and blocks in it must be brought into the kernels' layout at each use. So
a model begins on the file, and one thread moves its matrices when no more of them have come for a while.
"""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections import deque
from contextlib import suppress
from typing import Protocol

QUIET = 0.3  # seconds after the last matrix has come: until then the file is still being opened


class Movable(Protocol):
    def move(self) -> None: ...


_lock = threading.Lock()
_waiting: deque[weakref.ref[Movable]] = deque()
_last = 0.0
_thread: threading.Thread | None = None
_ending = threading.Event()


def later(matrix: Movable) -> None:
    """Call `matrix.move` soon, unless nobody else holds it by then."""
    global _last, _thread
    with _lock:
        _waiting.append(weakref.ref(matrix))
        _last = time.monotonic()
        if _thread is None or not _thread.is_alive():  # a forked child has none of its parent's threads
            _thread = threading.Thread(target=_move_all, name="grus-moving", daemon=True)
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
    """The interpreter kills a thread that lives longer than it inside of torch, and that aborts the process."""
    _ending.set()
    if (thread := _thread) is not None:
        thread.join()


def finish() -> None:
    """Wait until all have moved."""
    while (thread := _thread) is not None and thread.is_alive():
        thread.join(0.05)
