"""The angles of a rope's first positions, made once: a step looks them up."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from backends.base import Rope
from backends.torch.ops import Angles, TextOps

MOST = 1 << 13  # positions, of which 128 dimensions take 8 MB; beyond, a step computes its own
FEWEST = 256


class Turns:
    def __init__(self, ops: TextOps, rope: Rope) -> None:
        self.ops, self.rope = ops, rope
        self._cos = self._sin = torch.empty(0)

    def at(self, pos: np.ndarray) -> tuple[Tensor, Tensor]:
        """cos and sin, without gaps, of positions `[T]`, or `[3, T]` where they have several axes."""
        if pos.ndim == 1 and len(pos) == 1 and 0 <= (at := int(pos[0])) < len(self._cos):  # one reply's next token
            return self._cos[at : at + 1], self._sin[at : at + 1]
        if pos.ndim != 1 or self.rope.dynamic is not None or not 0 <= int(pos.min()) <= (last := int(pos.max())) < MOST:
            turned: Angles = self.ops.angles(torch.from_numpy(pos), self.rope)
            return turned.cos.contiguous(), turned.sin.contiguous()
        if last >= len(self._cos):
            known: Angles = self.ops.angles(torch.arange(max(FEWEST, 1 << last.bit_length())), self.rope)
            self._cos, self._sin = known.cos.contiguous(), known.sin.contiguous()
        first = int(pos[0])
        if last - first + 1 == len(pos) and bool((np.diff(pos) == 1).all()):
            return self._cos[first : last + 1], self._sin[first : last + 1]
        rows = torch.from_numpy(pos)
        return self._cos.index_select(0, rows), self._sin.index_select(0, rows)
