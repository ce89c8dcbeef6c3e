"""Memory that was freed is given back to the system: glibc keeps it for the next who asks, after long prompts and pages gigabytes."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from functools import cache

_SECONDS = 0.5  # after the last of those who ask for it have let go of what they held


def trim_soon() -> None:
    _trimmer().soon()


@cache
def _trimmer() -> _Trimmer:
    return _Trimmer()


class _Trimmer:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._trim: Callable[[int], int] | None = None
        if sys.platform == "linux":
            self._trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none

    def soon(self) -> None:
        if self._trim is None:
            return
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(_SECONDS, self._trim, (0,))
            self._timer.daemon = True
            self._timer.start()
