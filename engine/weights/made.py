"""Tensors whose bytes are not in the file as a model wants them, and are made when a backend asks.

Making them early would hold a second copy of a model's weights; making them twice costs a moment. So nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from backends.base import Raw


class Made(Raw):
    """A tensor made from another one, its `origin`."""

    origin: Raw
    make: Callable[[], np.ndarray]

    def __init__(self, origin: Raw, dtype: str, shape: tuple[int, ...], nbytes: int, make: Callable[[], np.ndarray]):
        fields = dict(name=origin.name, path=origin.path, offset=origin.offset, nbytes=nbytes, dtype=dtype, shape=shape)
        for field, value in (fields | dict(origin=origin, make=make)).items():
            object.__setattr__(self, field, value)

    @property
    def buffer(self) -> memoryview:  # type: ignore[override]
        return np.ascontiguousarray(self.make()).data.cast("B").toreadonly()

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


class MadeInOrder(Made):
    """See `backends.weights.Reordered`."""

    order: np.ndarray

    def __init__(self, origin: Raw, order: np.ndarray) -> None:
        def make() -> np.ndarray:
            return np.frombuffer(origin.buffer, np.uint8).reshape(len(order), -1)[order]

        super().__init__(origin, origin.dtype, origin.shape, origin.nbytes, make)
        object.__setattr__(self, "order", np.ascontiguousarray(order, np.int64))


def reordered(raw: Raw, rows: np.ndarray) -> Raw:
    """The rows of a tensor in another order: row i is what `rows[i]` was. Rows are independent however they are stored."""
    return MadeInOrder(raw, rows)


def shaped(raw: Raw, shape: tuple[int, ...]) -> Raw:
    """The same numbers with other axes."""
    return (
        Made(raw.origin, raw.dtype, shape, raw.nbytes, raw.make) if isinstance(raw, Made) else replace(raw, shape=shape)
    )


def computed(raw: Raw, shape: tuple[int, ...], make: Callable[[], np.ndarray]) -> Raw:
    """An f32 tensor computed from `raw`."""
    return Made(raw, "F32", shape, 4 * int(np.prod(shape)), lambda: np.asarray(make(), np.float32))
