"""What a dry pass hands out instead of arrays: an object that takes part in anything and computes nothing."""

from __future__ import annotations

from typing import Any


class Placeholder:
    """Stands for an array, a Linear or a whole backend. Every use of it gives another one; only `shape` is real."""

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        self.shape = shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getattr__(self, name: str) -> Placeholder:
        if name.startswith("__"):  # Python's own protocols look these up, and must not find them
            raise AttributeError(name)
        return Placeholder()

    def __call__(self, *args: Any, **kwargs: Any) -> Placeholder:
        return Placeholder()

    def __getitem__(self, key: Any) -> Placeholder:
        return Placeholder()

    def __neg__(self) -> Placeholder:
        return Placeholder()

    def _binary(self, other: Any) -> Placeholder:
        return Placeholder()

    __iter__ = None  # without this, __getitem__ would make it an endless sequence
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _binary
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _binary
