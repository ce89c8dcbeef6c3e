"""Backend selection: resolves `auto`, and imports an array library only when it is chosen.

Also quantization into GGUF blocks, which needs no backend, only the CPU kernels.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from dataclasses import dataclass

import numpy as np

from backends.base import Backend, BackendMissing, DType
from backends.torch import shared_libraries

BACKENDS = ("auto", "mlx", "torch")
DTYPES = ("auto", "f32", "f16", "bf16")

SWITCH = "GRUS_BACKEND"  # environment variable: the backend that `auto` selects on this machine

INSTALL = {
    "mlx": "pip install mlx" if sys.platform == "darwin" else 'pip install "mlx[cpu]"',
    "torch": "pip install torch==2.13.0",
}


@dataclass(frozen=True)
class BackendChoice:
    """Which backend runs, where, in what, and why."""

    backend: str
    device: str
    dtype: DType
    why: str


def installed(name: str) -> bool:
    return importlib.util.find_spec("mlx.core" if name == "mlx" else name) is not None if _top(name) else False


def _top(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def on_apple_silicon() -> bool:
    return sys.platform == "darwin" and platform.machine() == "arm64"


def choose(backend: str = "auto", device: str = "auto", dtype: str = "auto") -> BackendChoice:
    """Resolve every `auto`. Raises BackendMissing with one sentence that says what to do."""
    if backend not in BACKENDS:
        raise BackendMissing(f"There is no backend `{backend}`. Choose one of: {', '.join(BACKENDS)}.")
    if dtype not in DTYPES:
        raise BackendMissing(f"There is no dtype `{dtype}`. Choose one of: {', '.join(DTYPES)}.")
    kind = device.split(":")[0]
    if kind not in ("auto", "cpu", "cuda", "metal"):
        raise BackendMissing(f"There is no device `{device}`. Choose auto, cpu, cuda, cuda:N or metal.")
    name, why = _backend(backend, kind)
    if not installed(name):
        raise BackendMissing(f"The backend `{name}` is not installed. Install it with: {INSTALL[name]}")
    place = _mlx_device(kind) if name == "mlx" else _torch_device(device)
    return BackendChoice(name, place, _dtype(place, dtype), why)


def _backend(backend: str, kind: str) -> tuple[str, str]:
    if backend != "auto":
        return backend, "asked for"
    preset = os.environ.get(SWITCH, "").strip() or "auto"
    if preset not in BACKENDS:
        raise BackendMissing(
            f"{SWITCH} is `{preset}`, which is no backend. Set it to {', '.join(BACKENDS)}, or unset it."
        )
    if preset != "auto":
        return preset, f"{SWITCH} is set"
    if kind == "metal":
        return "mlx", "Metal is MLX's device"
    if kind == "cuda":
        return "torch", "CUDA is torch's device"
    if on_apple_silicon() and installed("mlx"):
        return "mlx", "the best on Apple Silicon"
    if not installed("torch") and installed("mlx"):
        return "mlx", "torch is not installed"
    return "torch", "the best on this machine"


def _mlx_device(kind: str) -> str:
    if kind == "cuda":
        raise BackendMissing("MLX does not run on CUDA here. Use --backend torch, or --device auto.")
    import mlx.core as mx

    if kind == "cpu" or (kind == "auto" and not mx.metal.is_available()):
        return "cpu"
    if not mx.metal.is_available():
        raise BackendMissing("This machine has no Metal device. Use --device auto.")
    return "metal"


def _torch_device(device: str) -> str:
    if device.startswith("metal"):
        raise BackendMissing("torch does not run on Metal here. Use --backend mlx, or --device auto.")
    if device == "cpu":
        return "cpu"
    shared_libraries.load()
    import torch

    if not torch.cuda.is_available():
        if device == "auto":
            return "cpu"
        raise BackendMissing("No CUDA device is visible to torch. Install a CUDA build of torch, or use --device cpu.")
    index = device.partition(":")[2] or "0"
    if not index.isdigit() or int(index) >= torch.cuda.device_count():
        raise BackendMissing(f"There is no device `{device}`: torch sees {torch.cuda.device_count()} CUDA device(s).")
    return f"cuda:{index}"


def _dtype(place: str, dtype: str) -> DType:
    if dtype != "auto":
        return dtype  # type: ignore[return-value]
    if place == "cpu":
        return "f32"
    if place.startswith("cuda"):
        import torch

        return "bf16" if torch.cuda.is_bf16_supported() else "f16"
    return "bf16"


def pick(backend: str = "auto", device: str = "auto", dtype: str = "auto", exact: bool | None = None) -> Backend:
    """A backend, ready to load weights. `exact`: nothing is rounded below `dtype`; by default, where one is asked for."""
    choice = choose(backend, device, dtype)
    if choice.backend == "mlx":
        from backends.mlx.backend import MlxBackend

        return MlxBackend(choice.device, choice.dtype)
    shared_libraries.load()
    from backends.torch.backend import TorchBackend

    return TorchBackend(choice.device, choice.dtype, dtype != "auto" if exact is None else exact)


def encode_blocks(rows: np.ndarray, kind: str) -> np.ndarray | None:
    """Rows of f32 as rows of GGUF blocks; None where there are no kernels for that, or a wrong GRUS_KERNELS forbids them."""
    from backends.torch.kernels.quantize import encode

    try:
        return encode(rows, kind)
    except BackendMissing:
        return None
