"""Recurrent states of each layer, and where they lie, for programs: looked up once, since a step would call torch for each table of each
layer otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from backends.torch.tensors import copy_memory


@dataclass
class RecurrentStates:
    """One recurrent layer's memory: row i belongs to the slot whose `place.state` is i."""

    conv: Tensor  # [rows, kernel - 1, channels]
    matrix: Tensor  # [rows, heads, key_dim, value_dim], f32
    spare: Tensor  # as `matrix`: a step of all sequences writes here, so that a failed step changes nothing
    spare_conv: Tensor  # as `conv`, for traced programs

    def exchanged(self) -> RecurrentStates:
        """The same with each table in its spare's place."""
        return RecurrentStates(self.spare_conv, self.spare, self.matrix, self.conv)

    def copy_to_spares(self, row: int) -> None:
        copy_memory(self.spare_conv[row], self.conv[row])
        copy_memory(self.spare[row], self.matrix[row])


class StateTables:
    """Addresses of the states of one KV cache."""

    def __init__(self) -> None:
        # by the cache's version and the first table: states and their spares change places at each step, so there are two of a version
        self._known: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}

    def addresses(self, states: Mapping[int, RecurrentStates], version: int) -> tuple[np.ndarray, np.ndarray]:
        """Of the tables of each layer's states and their spares, and the bytes of a row: `[layers, 4]` in the order of src/program/program.hpp.
        `version`: of the KV cache."""
        layers = list(states.values())
        key = version, layers[0].conv.data_ptr()
        if key not in self._known:
            self._known = {known: made for known, made in self._known.items() if known[0] == version}
            fours = [(s.conv, s.spare_conv, s.matrix, s.spare) for s in layers]
            bases = np.array([[table.data_ptr() for table in four] for four in fours], np.int64)
            strides = np.array([[table.stride(0) * table.itemsize for table in four] for four in fours], np.int64)
            self._known[key] = bases, strides
        return self._known[key]
