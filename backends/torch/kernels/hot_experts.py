"""Of a mixture whose experts stay in their file, those that are used most are kept packed in memory as well.

An expert in its file is packed at each use, panel by panel, which takes three times as long as reading it packed. The kernels count uses; between
steps, on the thread that runs them, the counts are looked at, and one expert at a time is packed. When the room is used up, an expert takes
the memory of one that is used less than half as often. So no product ever meets memory that changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from backends.torch.kernels import arena
from backends.torch.kernels.packed import PackedMatrix

LOOKED = 32  # steps between two looks at the counts
FADES = 0.8  # of what was counted, at each look
LEAST = 2.0  # uses, faded, of an expert that is worth packing


@dataclass
class _Mixture:
    """One matrix of all experts, as the kernels see it."""

    matrix: PackedMatrix
    each: int  # bytes of a packed expert
    uses: np.ndarray  # since the last look, counted by the kernels
    kept: np.ndarray  # addresses, which the kernels read
    score: np.ndarray  # faded uses


class HotExperts:
    def __init__(self, room: int) -> None:
        self.room = room  # bytes that are left
        self.kept = 0  # bytes of packed experts
        self._mixtures: list[_Mixture] = []
        self._pieces: list[arena.HugePageBlock] = []
        self._steps = 0
        self._wanted: list[tuple[_Mixture, int]] = []  # and the expert, the least used first

    def add(self, matrix: PackedMatrix) -> None:
        """Its experts stay in their file."""
        count = matrix.experts
        made = _Mixture(
            matrix, matrix.nbytes // count, np.zeros(count, np.uint32), np.zeros(count, np.uint64), np.zeros(count)
        )
        matrix.matrix.kept, matrix.matrix.uses = made.kept.ctypes.data, made.uses.ctypes.data
        self._mixtures.append(made)

    def turn(self) -> None:
        """Between two steps: one expert at most is packed."""
        self._steps += 1
        if self._steps % LOOKED == 0:
            self._look()
        if self._wanted:
            self._keep(*self._wanted.pop())

    def _look(self) -> None:
        for one in self._mixtures:
            one.score *= FADES
            one.score += one.uses
            one.uses[:] = 0
        found = [(one.score[i], n, i) for n, one in enumerate(self._mixtures) for i in _best(one)]
        self._wanted = [(self._mixtures[n], int(i)) for _, n, i in sorted(found)[-LOOKED:]]

    def _keep(self, one: _Mixture, expert: int) -> None:
        address = self._memory(one.each, one.score[expert])
        if address is None:
            self._wanted.clear()  # the others are used less
            return
        pack = one.matrix.library.grus_pack_expert
        pack(one.matrix.handle, expert, address, torch.get_num_threads())
        one.kept[expert] = address

    def _memory(self, nbytes: int, score: float) -> int | None:
        """Fresh memory, or that of a kept expert of the same size that is used less than half as often."""
        if nbytes <= self.room:
            piece, address = arena.allocate(nbytes)
            self._pieces.append(piece)
            self.room -= nbytes
            self.kept += nbytes
            return address
        least, at, expert = np.inf, None, 0
        for one in self._mixtures:
            if one.each == nbytes:
                scores = np.where(one.kept == 0, np.inf, one.score)
                if scores.min() < least:
                    least, at, expert = scores.min(), one, int(scores.argmin())
        if at is None or 2 * least > score:
            return None
        address = int(at.kept[expert])
        at.kept[expert] = 0
        return address


def _best(one: _Mixture) -> np.ndarray:
    """Its experts that are worth packing, and are not."""
    return np.flatnonzero((one.kept == 0) & (one.score >= LEAST))
