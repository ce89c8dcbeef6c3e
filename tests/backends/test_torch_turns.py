"""Angles that are looked up are those that are computed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from backends.base import Rope
from backends.torch.backend import TorchBackend
from backends.torch.turns import FEWEST, MOST, Turns

INV = tuple(100.0 ** (-i / 4) for i in range(4))
ROPES = {
    "plain": Rope(8, INV),
    "pairs": Rope(8, INV, pairs=True),
    "scaled": Rope(8, INV, scale=1.3),
    "axes": Rope(8, INV, section=(2, 1, 1)),
    "dynamic": Rope(8, INV, dynamic=(100.0, 4.0, 64)),
}
POSITIONS = {
    "one": [5],
    "the first": [0],
    "in a row": list(range(40, 57)),
    "of several replies": [7, 300, 7, 2],
    "the same": [9, 9],
    "nearly in a row": [1, 2, 4, 3],
    "at the table's end": [FEWEST - 1, FEWEST],
    "beyond it": [MOST - 1, MOST, 3 * MOST],
}


@pytest.mark.parametrize("where", POSITIONS)
@pytest.mark.parametrize("kind", ROPES)
def test_they_are_the_computed_ones(kind: str, where: str) -> None:
    ops = TorchBackend("cpu", "f32").ops
    turns, pos = Turns(ops, ROPES[kind]), np.array(POSITIONS[where], np.int32)
    for _ in range(2):  # the second time they are known
        want = ops.angles(torch.from_numpy(pos), ROPES[kind])
        for made, computed in zip(turns.at(pos), (want.cos, want.sin)):
            assert made.is_contiguous()
            torch.testing.assert_close(made, computed, rtol=0, atol=1e-6)


def test_several_axes_are_computed() -> None:
    ops = TorchBackend("cpu", "f32").ops
    pos = np.array([[1, 2, 3], [1, 1, 1], [0, 5, 6]], np.int32)
    want = ops.angles(torch.from_numpy(pos), ROPES["axes"])
    for made, computed in zip(Turns(ops, ROPES["axes"]).at(pos), (want.cos, want.sin)):
        assert torch.equal(made, computed)
