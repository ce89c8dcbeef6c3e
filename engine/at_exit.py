"""Closes at the interpreter's exit the engines that nobody closed.

The interpreter kills a thread that lives longer than it at that thread's next Python instruction. Inside an array library's
C++ this aborts the process: "terminate called without an active exception".
"""

from __future__ import annotations

import atexit
import weakref
from typing import Protocol


class Closable(Protocol):
    def close(self) -> None: ...


_open: weakref.WeakSet[Closable] = weakref.WeakSet()


def close_at_exit(engine: Closable) -> None:
    _open.add(engine)


@atexit.register
def _close() -> None:
    for engine in list(_open):
        engine.close()
