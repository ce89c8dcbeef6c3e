"""Where recurrent states lie, for programs: looked up once, since a step would call torch for each table of each layer otherwise."""

from __future__ import annotations

import numpy as np

from backends.torch.kv_cache import TorchKVCache


class StateTables:
    def __init__(self, kv: TorchKVCache) -> None:
        self._kv = kv
        # by the cache's version and the first table: states and their spares change places at each step, so there are two of a version
        self._known: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}

    def addresses(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the tables of each layer's states and their spares, and the bytes of a row: `[layers, 4]` in the order of src/program/program.hpp."""
        layers = list(self._kv.states.values())
        key = self._kv.version, layers[0].conv.data_ptr()
        if key not in self._known:
            self._known = {known: made for known, made in self._known.items() if known[0] == self._kv.version}
            fours = [(s.conv, s.spare_conv, s.matrix, s.spare) for s in layers]
            bases = np.array([[table.data_ptr() for table in four] for four in fours], np.int64)
            strides = np.array([[table.stride(0) * table.itemsize for table in four] for four in fours], np.int64)
            self._known[key] = bases, strides
        return self._known[key]
