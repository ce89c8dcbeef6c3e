"""Adapters on MLX: rows are grouped by adapter, and what each group adds goes into the step's graph."""

from __future__ import annotations

from collections.abc import Sequence

import mlx.core as mx

from backends.adapters import AdapterRun, Sides, rows_by_adapter


class MlxAdapterRows:
    """Implements `backends.adapters.ActiveAdapters`."""

    def __init__(self, runs: Sequence[AdapterRun], total: int) -> None:
        self._rows = {
            adapter: None if rows is None else mx.array(rows) for adapter, rows in rows_by_adapter(runs, total).items()
        }

    def add(self, sides: Sides, x: mx.array, y: mx.array) -> mx.array:
        for adapter, rows in self._rows.items():
            for side in sides.get(adapter, ()):
                added = side.b(side.a(x if rows is None else mx.take(x, rows, axis=0))).astype(y.dtype)
                if rows is not None:
                    y = y.at[rows, ..., side.start : side.stop].add(added)
                elif added.shape == y.shape:
                    y = y + added
                else:
                    y = y.at[..., side.start : side.stop].add(added)
        return y
