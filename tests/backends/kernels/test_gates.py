"""A gate beside its up projection, in one instruction, against two products: rows of several groups of panels, and a rest."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from backends.torch.kernels import fused
from backends.torch.kernels.linear import linear
from backends.torch.program import Opcode, Program, ProgramOp
from tests.backends.kernels.weights_made_here import columns_of, make

PANELS = 35  # two groups of sixteen that are read one after the other, and three more


@pytest.mark.parametrize("kind", ["Q4_K", "Q5_K", "Q6_K", "Q8_0", "Q4_0", "IQ4_XS", "F32"])
@pytest.mark.parametrize("tokens", [1, 2, 5, 8, 40])
@pytest.mark.parametrize("together", [False, True], ids=["two matrices", "one matrix"])
def test_a_gate_equals_two_products(tier: str, kind: str, tokens: int, together: bool) -> None:
    rows, columns = 16 * PANELS + (0 if together else 5), columns_of(kind, 512)
    halves = [make(kind, rows, columns, seed).weight for seed in (1, 2)]
    gate, up = (linear([half], [None], torch.float32) for half in halves)
    x = torch.from_numpy(np.random.default_rng(3).standard_normal((tokens, columns)).astype(np.float32))
    want = fused.swiglu(torch.cat((gate(x), up(x)), 1))
    if together:
        both = linear(halves, [None, None], torch.float32)
        keep, fields = [both], {"matrix": both.matrices[0]}
    else:
        keep, fields = [gate, up], {"matrix": gate.matrices[0], "up": up.matrices[0]}
    program = Program([ProgramOp(Opcode.GATE, [0], [1], fields)], [columns, rows], 1, keep)
    got = program.run(x, np.array([[0, tokens, 0, tokens, 0]]), np.zeros((1, 1, 4), np.int64), [])
    assert torch.allclose(got, want, rtol=2e-6, atol=1e-9)
