"""Giving a backend weights in a form that it can multiply.

A backend with kernels for GGUF's blocks gets them as they are. MLX gets its own affine layout where that holds the very
same numbers. Everything else is decoded to plain floats, which is exact and takes more memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from backends.base import Backend, Blocks, Raw
from engine.weights.gguf.as_affine import EXACT, exact
from engine.weights.gguf.source import as_dense
from engine.weights.quantize import Quantized, chosen
from engine.weights.source import Found, Source


def fitted(source: Source, backend: Backend, quant: str | None) -> Source:
    """The source as the backend takes it, its plain matrices quantized where that is wished."""
    if quant is not None:
        # the CPU kernels quantize what they pack; a GPU gets blocks that are made already
        source = Quantized(source, quant, by_backend=backend.blocks and backend.device == "cpu")
    return source if backend.blocks else WithoutBlocks(source, affine=backend.name == "mlx")


def choose_quant(quant: str, backend: Backend, tensors: Mapping[str, Raw]) -> str | None:
    """Resolve `auto`: quantizing by itself pays only where the backend multiplies blocks."""
    if quant == "auto" and not backend.blocks:
        return None
    return chosen(quant, backend.device, tensors)


def becomes(kind: str, backend: str) -> str:
    """For people: what blocks of this type are kept as by a backend that has no kernels for them."""
    return "the same numbers in MLX's layout" if backend == "mlx" and kind in EXACT else "plain floats"


class WithoutBlocks:
    """A source whose blocks come as affine triples where those are exact, else as f32 matrices."""

    def __init__(self, source: Source, affine: bool) -> None:
        self._source = source
        self._affine = affine
        self.where = source.where
        self.names = source.names

    def raw(self, name: str) -> Raw | None:
        return self._source.raw(name)

    def matrix(self, stem: str, shape: tuple[int, ...]) -> Found:
        found = self._source.matrix(stem, shape)
        if not isinstance(found.weight, Blocks):
            return found
        packed = exact(found.weight) if self._affine else None
        return replace(found, weight=packed or as_dense(found.weight))
