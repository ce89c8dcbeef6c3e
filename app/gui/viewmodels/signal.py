"""A list of callbacks with which a view-model notifies its views. Everything happens on the UI thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Signal:
    """`signal.connect(f)`; `signal(...)` calls every f in the order they came."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[..., Any]] = []

    def connect(self, callback: Callable[..., Any]) -> None:
        self._callbacks.append(callback)

    def disconnect(self, callback: Callable[..., Any]) -> None:
        self._callbacks.remove(callback)

    def __call__(self, *arguments: Any) -> None:
        for callback in tuple(self._callbacks):
            callback(*arguments)
