"""Who collects the garbage of a model that goes: this thread, or the one that a window has for it."""

from __future__ import annotations

import gc
from collections.abc import Callable

_collector: Callable[[], object] = gc.collect


def collect() -> None:
    """A full garbage collection: a model holds itself in cycles."""
    _collector()


def collect_by(collector: Callable[[], object] = gc.collect) -> None:
    """From now on."""
    global _collector
    _collector = collector
