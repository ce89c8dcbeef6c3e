"""Grus on torch: a CPU, or one CUDA device. Implements `backends.base.Backend`."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import torch
from torch import Tensor

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
    HeadMatrices,
    KVCache,
    Linear,
    MemorySpec,
    Mixture,
    MixtureParts,
    PackedPlace,
    Raw,
    Rope,
    TokenModel,
    Weight,
)
from backends.eager import EagerMixture
from backends.torch.encoders import TorchEncoder, TorchFramePredictor
from backends.torch.group import TorchGroup
from backends.torch.kernels import arena, library
from backends.torch.kernels.hot_experts import HotExperts
from backends.torch.kernels.mixture import mixture_of
from backends.torch.kernels.packed import Fill, InFile, fill_now
from backends.torch.kernels.packed_store import PackedStore
from backends.torch.kv_cache import TorchKVCache
from backends.torch.linear import make_experts, make_head_matrices, make_linear
from backends.torch.ops import DTYPES
from backends.torch.runner import TorchRunner
from backends.torch.signal import TorchSignalOps
from backends.torch.tensors import tensor
from backends.torch.tracing import can_be_traced
from backends.torch.tracing_ops import TracingOps
from backends.torch.triton import blocks as triton

_THREADS = torch.get_num_threads()


class TorchOps(TracingOps, TorchSignalOps):
    """All operations of `backends.ops.Ops`."""


class TorchBackend:
    name = "torch"

    def __init__(self, device: str = "cpu", dtype: DType = "f32", exact: bool = True) -> None:
        """`exact`: convolutions are computed in `dtype`, also those that a model lets be rounded to bf16."""
        # per thread: the backend is used on the thread that makes it
        torch.set_grad_enabled(False)
        self.device = device
        self.dtype: DType = dtype
        self._place = torch.device(device)
        if self._place.type == "cuda" and not torch.cuda.is_available():
            raise BackendMissing("No CUDA device is visible to torch. Install a CUDA build of torch, or use the CPU.")
        self.ops = TorchOps(self._place, dtype)
        self.ops.exact = exact
        self.experts_stay = False
        self.experts_room = 0
        self._hot: HotExperts | None = None
        self._packed: PackedStore | None = None

    def open_packed(self, place: PackedPlace) -> None:
        if self._place.type == "cpu" and library.available():
            self._packed = PackedStore(place)

    def keep_packed(self) -> None:
        if self._packed is not None:
            self._packed.keep()

    @property
    def _in_file(self) -> InFile:
        """What becomes of a mixture that is used in its file."""
        if not self.experts_stay:
            return arena.schedule
        self._hot = self._hot or HotExperts(self.experts_room)
        return self._hot.add

    @property
    def _fill(self) -> Fill:
        return fill_now if self._packed is None else self._packed.fill

    def use_threads(self, count: int | None) -> None:
        torch.set_num_threads(_THREADS if count is None else min(count, _THREADS))

    @property
    def ranks_apart(self) -> bool:
        return False

    def join(self, place: Path, index: int, count: int) -> TorchGroup:
        self.ops.group = TorchGroup(place, index, count, self._place)
        return self.ops.group

    @property
    def blocks(self) -> bool:
        return library.available() if self._place.type == "cpu" else triton.available()

    def tensor(self, raw: Raw, dtype: DType | None = None) -> Tensor:
        return tensor(raw, DTYPES[dtype or self.dtype], self._place)

    def linear(self, parts: Sequence[Weight], bias: Sequence[Raw | None]) -> Linear:
        return make_linear(parts, bias, DTYPES[self.dtype], self._place, self._fill, not self.ops.exact)

    def experts(self, parts: Sequence[Sequence[Weight]]) -> Linear:
        return make_experts(parts, DTYPES[self.dtype], self._place, self._in_file, self._fill, not self.ops.exact)

    def mixture(self, parts: MixtureParts) -> Mixture:
        return mixture_of(parts, DTYPES[self.dtype]) or EagerMixture(self.ops, self.dtype, parts)

    def head_matrices(self, weight: Weight, heads: int, plain: Dense | Affine) -> HeadMatrices:
        return make_head_matrices(weight, heads, plain, DTYPES[self.dtype], self._place, self._fill)

    def kv(self, specs: Sequence[MemorySpec], budget: int, bits: int = 32) -> TorchKVCache:
        return TorchKVCache(specs, budget, DTYPES[self.dtype], self._place, bits)

    def kv_bits(self, model: TokenModel) -> int:
        # half of what f32 takes, and less to read; but only traced programs read it in place
        traced = self._place.type == "cpu" and library.available() and can_be_traced(model)
        return 16 if traced else 32

    def runner(self, model: TokenModel, kv: KVCache, plain: bool = False) -> TorchRunner:
        if not isinstance(kv, TorchKVCache):
            raise TypeError("this backend's runner needs a KV cache of this backend")
        runner = TorchRunner(model, kv, self.ops, plain)
        if self._hot is not None:
            runner.between_steps = self._hot.turn
        return runner

    def frame_predictor(self, parts: FramePredictorParts) -> FramePredictor:
        return TorchFramePredictor(self.ops, parts)

    def encoder(
        self, layers: Sequence[Callable[[Tensor, Any, EncoderAttention], Tensor]], rope: Rope | Sequence[Rope] | None
    ) -> EncoderRunner:
        return TorchEncoder(self.ops, layers, rope)

    def memory(self) -> DeviceMemory:
        if self._place.type == "cuda":
            free, total = torch.cuda.mem_get_info(self._place)
            used, peak = torch.cuda.memory_reserved(self._place), torch.cuda.max_memory_reserved(self._place)
            return DeviceMemory(total, free, used, peak)
        machine, used = psutil.virtual_memory(), psutil.Process().memory_info().rss
        return DeviceMemory(machine.total, machine.available, used, max(used, _peak()))

    def describe(self) -> str:
        if self._place.type == "cuda":
            return f"{torch.cuda.get_device_name(self._place)} (CUDA)"
        cores = torch.get_num_threads()
        kernels = f"{library.tier()} kernels" if library.available() else f"no kernels: {library.why_not()}"
        return f"{_cpu_name()}, {cores} {'core' if cores == 1 else 'cores'} (CPU, {kernels})"

    def release(self) -> None:
        garbage.collect()
        if self._place.type == "cuda":
            torch.cuda.empty_cache()

    @property
    def foreign_library(self) -> str:
        return "transformers" if find_spec("transformers") is not None else ""

    @property
    def foreign_note(self) -> str:
        if self.foreign_library:
            return "whole weights, without the kernels of Grus; some architectures one sequence at a time"
        return "transformers runs many others: install it with pip install 'grus[transformers]'"

    def reads_foreign(self, config: Mapping[str, Any]) -> bool:
        from backends.torch import through_transformers  # slow to import, and few models need it

        return through_transformers.supports(config)

    def foreign(self, folder: Path, budget: int, floats: FloatTensors | None = None) -> Foreign:
        from backends.torch import through_transformers

        return through_transformers.load(folder, budget, self.ops, DTYPES[self.dtype], floats)


def _peak() -> int:
    """The peak memory of this process; 0 where the system does not report it."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if platform.system() == "Darwin" else peak * 1024


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        return platform.processor() or platform.machine()
    return platform.processor() or platform.machine()
