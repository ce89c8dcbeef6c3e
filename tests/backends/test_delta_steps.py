"""A delta rule in a program: steps of few tokens, whose states are read and written in another way, give the bits of all tokens at once."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from backends.torch.kernels import library
from backends.torch.program import Opcode, OperandView, Program, ProgramOp

pytestmark = pytest.mark.skipif(not library.available(), reason="the CPU kernels are not here")

HEADS, KEY_DIM, TOKENS = 2, 32, 12


def delta_program(value_dim: int) -> Program:
    keys, values = HEADS * KEY_DIM, HEADS * value_dim
    starts = [0, keys, 2 * keys, 2 * keys + values, 2 * keys + values + HEADS]  # query, key, value, decay, strength
    aparts = [KEY_DIM, KEY_DIM, value_dim, 1, 1]
    views = [OperandView(0, at, apart) for at, apart in zip(starts, aparts)]
    sizes = {"heads": HEADS, "kv_heads": HEADS, "dim": KEY_DIM, "value_dim": value_dim, "layer": 0}
    op = ProgramOp(Opcode.RECUR, [0], [1], sizes, [*views, OperandView(1, 0, value_dim)])
    return Program([op], [starts[-1] + HEADS, values], 1, [])


def advanced(program: Program, x: Tensor, before: Tensor, after: Tensor) -> Tensor:
    span = np.array([(0, len(x), 0, 0, 0)], np.int64)
    memory = np.array([[(0, 0, before.data_ptr(), after.data_ptr())]], np.int64)
    return program.run(x, span, memory, []).clone()


def states(value_dim: int, shift: int) -> Tensor:
    """Zeros that begin `shift` numbers behind a multiple of 64 bytes."""
    room = torch.zeros(HEADS * KEY_DIM * value_dim + 32)
    first = -(room.data_ptr() // 4) % 16 + shift
    return room[first : first + HEADS * KEY_DIM * value_dim]


@pytest.mark.parametrize("shift", [0, 1], ids=["aligned", "anywhere"])
@pytest.mark.parametrize("value_dim", [64, 128, 144, 150, 256])
@pytest.mark.parametrize("each", [1, 2, 3, 4, 6])
def test_steps_of_few_tokens_give_the_bits_of_all_at_once(each: int, value_dim: int, shift: int) -> None:
    torch.manual_seed(value_dim)
    program = delta_program(value_dim)
    x = torch.randn(TOKENS, program.widths[0]) / 4
    start = torch.randn(HEADS * KEY_DIM * value_dim)
    before, after = states(value_dim, shift), states(value_dim, shift)
    before.copy_(start)
    whole = advanced(program, x, before, after)
    want = after.clone()
    now, following = states(value_dim, shift), states(value_dim, shift)
    now.copy_(start)
    made = []
    for tokens in x.split(each):
        made.append(advanced(program, tokens, now, following))
        now, following = following, now
    assert torch.equal(torch.cat(made), whole)
    assert torch.equal(now, want)
    assert torch.isfinite(want).all()


def test_a_state_may_be_written_where_it_is_read() -> None:
    """By a step of a few tokens, as by one of many."""
    torch.manual_seed(1)
    program = delta_program(128)
    x = torch.randn(TOKENS, program.widths[0]) / 4
    start = torch.randn(HEADS * KEY_DIM * 128)
    apart, after, same = states(128, 0), states(128, 0), states(128, 0)
    apart.copy_(start)
    same.copy_(start)
    for tokens in x.split(3):
        made = advanced(program, tokens, apart, after)
        apart.copy_(after)
        assert torch.equal(advanced(program, tokens, same, same), made)
    assert torch.equal(same, after)
