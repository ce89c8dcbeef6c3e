"""Tensors from mapped files, and copies from the host to the device that do not block.

A tensor made from a file keeps its mapping alive, and the mapping is read-only: nothing may write to it. A copy from ordinary
host memory to CUDA waits until the device has done everything before it; one from pinned memory does not, and torch keeps the
pinned memory until the copy is done.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from backends.base import BackendMissing, Raw

STORED: dict[str, torch.dtype] = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "I64": torch.int64,
    "I32": torch.int32,
    "U32": torch.int32,  # only ever shifted and masked, and torch shifts signed words alone
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
# Bytes that are copied: a step that reads a norm in the file keeps the huge page around it in memory, beside packed weights.
SMALL_ARRAY = 64 << 10


def mapped(raw: Raw) -> Tensor:
    """The tensor as it is stored, on the CPU. Copied only if the file does not align it."""
    dtype = STORED.get(raw.dtype)
    if dtype is None:
        raise BackendMissing(f"{raw.name}: torch reads no tensors of type {raw.dtype} here.")
    if not raw.nbytes:
        return torch.empty(raw.shape, dtype=dtype)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given buffer is not writable")
        data = torch.frombuffer(raw.buffer, dtype=torch.uint8)
    if data.data_ptr() % dtype.itemsize:
        data = data.clone()
    return data.view(dtype).reshape(raw.shape)


def is_aligned(raw: Raw) -> bool:
    """Whether `mapped` gives the file's own bytes."""
    return int(np.frombuffer(raw.buffer, np.uint8).ctypes.data) % STORED[raw.dtype].itemsize == 0


def tensor(raw: Raw, dtype: torch.dtype, device: torch.device) -> Tensor:
    """In `dtype` on `device`; the mapped bytes themselves when both are as stored and they are many."""
    return mapped(raw).to(device=device, dtype=dtype, copy=raw.nbytes <= SMALL_ARRAY)


def upload(host: Tensor, device: torch.device) -> Tensor:
    """A host tensor on the device; on a CPU the same tensor."""
    if device.type == "cpu":
        return host
    if device.type == "cuda":
        host = host.pin_memory()
    return host.to(device, non_blocking=True)


def upload_columns(columns: Sequence[Sequence[float]], dtype: torch.dtype, device: torch.device) -> Tensor:
    """`[columns, n]`, in one copy."""
    return upload(torch.tensor(columns, dtype=dtype), device)


def copy_memory(to: Tensor, source: Tensor) -> None:
    """Copy a contiguous tensor on the CPU into another of its shape and type, by the calling thread. torch would wake threads of its own
    for each, which wait for the same cores as those of the kernels: states of one sequence then took 60 ms instead of 3."""
    ctypes.memmove(to.data_ptr(), source.data_ptr(), source.nbytes)
