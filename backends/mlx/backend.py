"""Grus on MLX: Metal on Apple Silicon, and a CPU build for tests. Implements `backends.base.Backend`."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import mlx.core as mx
import psutil

from backends import garbage
from backends.base import (
    Affine,
    BackendMissing,
    Dense,
    DeviceMemory,
    DType,
    EncoderAttention,
    EncoderRunner,
    FloatTensors,
    Foreign,
    FramePredictor,
    FramePredictorParts,
    KVCache,
    Linear,
    MemorySpec,
    MixtureParts,
    PackedPlace,
    Raw,
    Rope,
    TokenModel,
    Weight,
)
from backends.eager import EagerEncoder, EagerFramePredictor, EagerMixture
from backends.mlx.group import MlxGroup
from backends.mlx.kv_cache import MlxKVCache
from backends.mlx.linear import MlxHeadMatrices, from_raw, make_experts, make_head_matrices, make_linear
from backends.mlx.ops import DTYPES, MlxTextOps
from backends.mlx.runner import MlxRunner
from backends.mlx.signal import MlxSignalOps


class MlxOps(MlxTextOps, MlxSignalOps):
    """All of `backends.ops.Ops`."""


class MlxBackend:
    """Implements `backends.base.Backend`. Made and used on one thread: MLX binds its streams to it."""

    name = "mlx"
    foreign_library = "mlx-lm"
    foreign_note = "text only, one sequence after another"
    blocks = False
    experts_stay = False
    experts_room = 0

    def __init__(self, device: str, dtype: DType) -> None:
        if device not in ("metal", "cpu"):
            raise BackendMissing(f"MLX has no device `{device}`. Choose metal or cpu.")
        if device == "metal" and not mx.metal.is_available():
            raise BackendMissing("This machine has no Metal device. Use --device auto.")
        self.device = device
        self.dtype: DType = dtype
        mx.set_default_device(mx.gpu if device == "metal" else mx.cpu)
        if device == "cpu" and shutil.which("g++") is None:
            mx.disable_compile()  # fused kernels of the CPU are compiled where they run
        self.ops = MlxOps(device, dtype)
        self._mx_dtype = DTYPES[dtype]

    def tensor(self, raw: Raw, dtype: DType | None = None) -> mx.array:
        made = from_raw(raw, DTYPES[dtype or self.dtype])
        mx.eval(made)
        return made

    def linear(self, parts: Sequence[Weight], bias: Sequence[Raw | None]) -> Linear:
        return make_linear(parts, bias, self._mx_dtype)

    def open_packed(self, place: PackedPlace) -> None:
        """Nothing is packed: MLX multiplies by matrices as they lie."""

    def keep_packed(self) -> None:
        """Nothing to keep."""

    def use_threads(self, count: int | None) -> None:
        pass  # the GPU computes

    def experts(self, parts: Sequence[Sequence[Weight]]) -> Linear:
        return make_experts(parts, self._mx_dtype)

    def mixture(self, parts: MixtureParts) -> EagerMixture:
        return EagerMixture(self.ops, self.dtype, parts)

    def head_matrices(self, weight: Weight, heads: int, plain: Dense | Affine) -> MlxHeadMatrices:
        return make_head_matrices(plain, heads, self._mx_dtype)

    def kv(self, specs: Sequence[MemorySpec], budget: int, bits: int = 32) -> MlxKVCache:
        return MlxKVCache(specs, budget, self._mx_dtype, bits)

    def kv_bits(self, model: TokenModel) -> int:
        return 32  # attention reads rows of the dtype that it computes in, which is of 16 bits already

    @property
    def ranks_apart(self) -> bool:
        if not mx.distributed.is_available("ring"):
            raise BackendMissing("This build of MLX has no ring, over which several processes compute one model.")
        return True

    def join(self, place: Path, index: int, count: int) -> MlxGroup:
        self.ops.group = MlxGroup(place, index, count)
        return self.ops.group

    def runner(self, model: TokenModel, kv: KVCache, plain: bool = False) -> MlxRunner:
        assert isinstance(kv, MlxKVCache)
        return MlxRunner(model, kv, self.ops)

    def frame_predictor(self, parts: FramePredictorParts) -> FramePredictor:
        return EagerFramePredictor(self.ops, parts)

    def encoder(
        self,
        layers: Sequence[Callable[[mx.array, Any, EncoderAttention], mx.array]],
        rope: Rope | Sequence[Rope] | None,
    ) -> EncoderRunner:
        return EagerEncoder(self.ops, layers, rope)

    def memory(self) -> DeviceMemory:
        if self.device == "cpu":
            machine, process = psutil.virtual_memory(), psutil.Process().memory_info()
            return DeviceMemory(machine.total, machine.available, process.rss, max(process.rss, mx.get_peak_memory()))
        total = int(mx.device_info()["max_recommended_working_set_size"])
        used = mx.get_active_memory() + mx.get_cache_memory()
        return DeviceMemory(total, max(0, total - used), used, mx.get_peak_memory())

    def describe(self) -> str:
        if self.device == "metal":
            return f"{mx.device_info().get('device_name', 'Apple GPU')} (Metal)"
        return f"{platform.processor() or platform.machine()}, {psutil.cpu_count(logical=False) or 1} cores (CPU, MLX)"

    def reads_foreign(self, config: Mapping[str, Any]) -> bool:
        from backends.mlx import mlxlm  # slow to import, and few models need it

        return mlxlm.supports(config)

    def foreign(self, folder: Path, budget: int, floats: FloatTensors | None = None) -> Foreign:
        from backends.mlx import mlxlm

        return mlxlm.load(folder, budget, self._mx_dtype)

    def release(self) -> None:
        garbage.collect()
        mx.clear_cache()
