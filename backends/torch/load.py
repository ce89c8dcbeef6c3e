"""Tensors from bytes in mapped files, without a copy where the device and the dtype allow it.

Knows how safetensors spells dtypes. A tensor made here keeps its mapping alive, and the mapping is read-only: nothing
may write to it.
"""

from __future__ import annotations

import warnings

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


def tensor(raw: Raw, dtype: torch.dtype, device: torch.device) -> Tensor:
    """In `dtype` on `device`; the mapped bytes themselves when both are as stored."""
    return mapped(raw).to(device=device, dtype=dtype)
