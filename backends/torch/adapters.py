"""Adapters where a model runs operation by operation: rows are grouped by adapter. Traced programs have an instruction of their own
(tracing.py)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from backends.adapters import AdapterRun, Sides, rows_by_adapter
from backends.torch.tensors import upload


class TorchAdapterRows:
    """Implements `backends.adapters.ActiveAdapters`."""

    def __init__(self, runs: Sequence[AdapterRun], total: int, device: torch.device) -> None:
        self._rows = {
            adapter: None if rows is None else upload(torch.from_numpy(rows), device)
            for adapter, rows in rows_by_adapter(runs, total).items()
        }

    def add(self, sides: Sides, x: Tensor, y: Tensor) -> Tensor:
        for adapter, rows in self._rows.items():
            for side in sides.get(adapter, ()):
                added = side.b(side.a(x if rows is None else x.index_select(0, rows)))
                into = y[..., side.start : side.stop]
                if rows is None:
                    into += added
                else:
                    into.index_add_(0, rows, added.to(y.dtype))
        return y
