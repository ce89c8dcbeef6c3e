"""From the host to the device without waiting.

A plain copy of ordinary memory makes the host wait until the device has done everything before it. Pinned memory is copied
while both go on; torch keeps it until the copy is done.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


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
