"""A checkpoint folder's tensors as numbers, one at a time, whatever they are stored in: floats, or packed by MLX or another tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from backends.base import Affine, Blocks, Raw, Weight
from engine.errors import WeightsError
from engine.weights import affine
from engine.weights.checkpoint import Checkpoint
from engine.weights.gguf.blocks import decode, decode_rows, dequantize
from engine.weights.gguf.types import FLOATS, OF_FILES
from engine.weights.packed_tensors import PackedTensors
from engine.weights.source import Tensors


class Stored(Protocol):
    """What a conversion reads from."""

    where: str
    names: list[str]
    decoded: str  # the float type that quantized tensors are decoded to

    def shape(self, name: str) -> tuple[int, ...]: ...
    def dtype(self, name: str) -> str | None:
        """F32, F16 or BF16; None for what is quantized."""

    def values(self, name: str) -> np.ndarray:
        """The whole tensor as f32."""

    def rows(self, name: str) -> Iterator[np.ndarray]:
        """The same, a few rows at a time, `[rows, columns]`."""

    def blocks(self, name: str) -> Blocks | None:
        """What a GGUF file can hold as it is, with outputs before inputs."""


class FolderStored:
    def __init__(self, checkpoint: Checkpoint) -> None:
        self.where = str(checkpoint.folder)
        self._tensors = checkpoint.tensors
        self._quantization = checkpoint.quantization
        self._plain = Tensors(self.where, self._tensors, self._quantization)
        self._packed = checkpoint.source if isinstance(checkpoint.source, PackedTensors) else None
        self._experts: dict[str, Raw] = {}
        if self._packed is not None:
            self.names = list(self._packed.names)
            self.decoded = self._packed.decoded
            return
        packed = {name.removesuffix(".scales") for name in self._tensors if name.endswith(".scales")}
        aside = {f"{stem}.{part}" for stem in packed for part in ("scales", "biases")}
        # gpt-oss's experts: `outputs_first` says how their plain tensors lie
        self._experts = {
            stem: raw
            for name, raw in self._tensors.items()
            if (stem := name.removesuffix("_blocks")) != name and f"{stem}_scales" in self._tensors
        }
        aside |= {f"{stem}_scales" for stem in self._experts}
        self.names = [name.removesuffix("_blocks") for name in self._tensors if name not in aside]
        scales = (self._tensors[f"{stem}.scales"].dtype for stem in sorted(packed))
        self.decoded = next((dtype for dtype in scales if dtype in FLOATS), "BF16")

    def shape(self, name: str) -> tuple[int, ...]:
        shape = self._find(name).shape
        return (shape[0], shape[2], shape[1]) if name in self._experts else shape

    def dtype(self, name: str) -> str | None:
        found = self._find(name)
        return found.dtype if isinstance(found, Raw) else None

    def values(self, name: str) -> np.ndarray:
        found = self._find(name)
        if not isinstance(found, Raw):
            return floats_of(found).swapaxes(1, 2) if name in self._experts else floats_of(found)
        return decode(found.buffer, found.dtype).reshape(found.shape)

    def rows(self, name: str) -> Iterator[np.ndarray]:
        found = self._find(name)
        if not isinstance(found, Raw):
            yield self.values(name).reshape(-1, self.shape(name)[-1])
        else:
            yield from decode_rows(found.buffer, found.dtype, (found.shape or (1,))[-1])

    def blocks(self, name: str) -> Blocks | None:
        found = self._find(name)
        return found if isinstance(found, Blocks) and found.type in OF_FILES and found.factors is None else None

    def _find(self, name: str) -> Raw | Weight:
        if name in self._experts:
            blocks = self._experts[name].shape
            return self._whole(name, (*blocks[:-2], blocks[-2] * 32) if len(blocks) > 1 else blocks)
        stem = name.removesuffix(".weight")
        if self._packed is not None and stem in self._packed.kinds:
            return self._packed.whole(stem)
        raw = self._tensors[name]
        scales, biases = self._tensors.get(f"{stem}.scales"), self._tensors.get(f"{stem}.biases")
        packing = self._quantization.of(stem) if self._quantization else None
        if packing is not None and scales is not None and (packing.mode != "affine" or biases is not None):
            return self._whole(stem, (*raw.shape[:-1], (raw.shape or (0,))[-1] * 32 // packing.bits))
        if raw.dtype not in FLOATS:
            raise WeightsError(f"{self.where}: tensor {name} is stored as {raw.dtype}, which cannot be converted.")
        return raw

    def _whole(self, stem: str, shape: tuple[int, ...]) -> Weight:
        """A packed matrix of the shape that its codes have."""
        found = self._plain.matrix(stem, shape)
        if found.weight is None:
            problem = found.problems[0]
            raise WeightsError(f"{self.where}: {problem.tensor} {problem.detail or 'is missing'}.")
        return found.weight


def floats_of(weight: Weight) -> np.ndarray:
    """A whole matrix as f32."""
    if isinstance(weight, Affine):
        return affine.dequantize(weight)
    return dequantize(weight if isinstance(weight, Blocks) else weight.data)
