"""What models do between their products gives the same as instructions of a program as operation by operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from backends.base import Step
from backends.torch.backend import TorchBackend
from backends.torch.kernels import library
from backends.torch.symbols import Symbol, viewed
from backends.torch.tracing import trace
from backends.torch.tracing_ops import TracingOps

pytestmark = pytest.mark.skipif(not library.available(), reason=library.why_not())

WIDTH = 60
Body = Callable[[TracingOps, Any], Any]


def constant(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def heads(x: Any) -> Any:
    return x.reshape(x.shape[0], 3, 20)


BODIES: dict[str, Body] = {
    "numbers": lambda ops, x: (2 - x * 3 + 1) / 4 - 0.5,
    "a number over": lambda ops, x: 1 / (x * x + 2),
    "negative": lambda ops, x: -x,
    "weights": lambda ops, x: constant(WIDTH) * x + constant(WIDTH) - (constant(WIDTH) - x),
    "weights of heads": lambda ops, x: heads(x) * constant(3, 1) + constant(1, 3, 20),
    "a gate of each head": lambda ops, x: heads(x) * ops.sigmoid(x[:, 5:8]).reshape(x.shape[0], 3, 1),
    "one number a token": lambda ops, x: x * ops.sum(x, 1).reshape(x.shape[0], 1),
    "sums of heads": lambda ops, x: ops.sum(heads(x), -1) / ops.sum(x[:, :3], -1).reshape(-1, 1),
    "halves": lambda ops, x: x[:, :30] * x[:, 30:],
    "every third": lambda ops, x: x[:, ::3] + x[:, 2::3],
    "a column for all": lambda ops, x: heads(x) * x.reshape(-1, 3, 4, 5)[:, :, 1, 2].reshape(-1, 3, 1),
    "an outer product": lambda ops, x: x[:, :4].reshape(-1, 4, 1) * x[:, 10:17].reshape(-1, 1, 7),
    "a matrix of shares": lambda ops, x: x[:, :16].reshape(-1, 4, 4, 1)[:, :, 2] * x[:, :20].reshape(-1, 4, 5),
    "permuted": lambda ops, x: ops.permute(x.reshape(-1, 3, 4, 5), (0, 2, 1, 3)).reshape(-1, WIDTH) * 2,
    "permuted otherwise": lambda ops, x: ops.permute(x.reshape(-1, 3, 4, 5), (0, 3, 2, 1)).reshape(-1, 12, 5),
    "split": lambda ops, x: (
        ops.split(x, [10, 20, 30], 1)[1] + ops.split(heads(x), [15, 5], 2)[1].reshape(-1, 15)[:, :1]
    ),
    "joined": lambda ops, x: ops.cat([x[:, 20:], ops.silu(x[:, :7]), x[:, 3:5]], 1),
    "joined heads": lambda ops, x: ops.cat([heads(x), heads(x)[:, :, 4:9] * 2], 2),
    "stacked": lambda ops, x: ops.stack([x[:, :30], ops.relu(x[:, 30:])], 1),
    "norm": lambda ops, x: ops.rms_norm(x, None, 1e-6),
    "norms of some heads": lambda ops, x: ops.rms_norm(heads(x)[:, 1:, 2:18], constant(16), 1e-6),
    "norms of permuted heads": lambda ops, x: ops.rms_norm(ops.permute(heads(x), (0, 2, 1)), None, 1e-3),
    "norm of a sum": lambda ops, x: sum(ops.add_rms_norm(x[:, 3:30], x[:, 33:], constant(27), 1e-6)),
    "by length": lambda ops, x: ops.l2norm(heads(x)),
    "a wide swiglu": lambda ops, x: ops.swiglu(x[:, 10:50]) + ops.geglu(x[:, 4:44]),
    "layer norm": lambda ops, x: ops.layer_norm(x[:, 2:40], constant(38), None, 1e-5) + ops.gelu(x[:, 20:58]),
    "clamped": lambda ops, x: ops.clamp(x, None, 0.5) + ops.clamp(x, -0.2, None) * ops.clamp(x, -0.1, 0.3),
    "roots": lambda ops, x: ops.sqrt(ops.cast(x * x, "f32")) + ops.exp(x),
}
FUNCTIONS = ("silu", "sigmoid", "tanh", "gelu_tanh", "relu", "softplus", "exp")


def program_of(body: Body, width: int, ops: TracingOps) -> Callable[[Tensor], Tensor]:
    shape: list[tuple[int, ...]] = []

    def call(step: Step) -> Any:
        made = body(ops, step.x)
        assert isinstance(made, Symbol)
        shape.append(made.shape[1:])
        return made.reshape(made.shape[0], -1)

    traced = trace(call, [], width)
    assert traced is not None

    def run(x: Tensor) -> Tensor:
        spans, nothing = np.array([[0, len(x), 0, len(x), 0]], np.int64), np.zeros((1, 1, 4), np.int64)
        return traced.program.run(x, spans, nothing, []).clone().reshape(len(x), *shape[0])

    return run


@pytest.mark.parametrize("name", BODIES)
def test_a_traced_body_gives_the_same(name: str) -> None:
    ops = TorchBackend("cpu", "f32").ops
    run = program_of(BODIES[name], WIDTH, ops)
    for tokens in (1, 3, 200):
        x = torch.randn(tokens, WIDTH, generator=torch.Generator().manual_seed(tokens))
        torch.testing.assert_close(run(x), BODIES[name](ops, x), rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("tier", range(len(library.TIERS)))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_one_number(name: str, tier: int) -> None:
    """As near to f64 as f32 is, large, small and near nothing; NaN and infinities as torch has them."""
    ops = TorchBackend("cpu", "f32").ops
    grown = torch.cat([torch.logspace(-30, 1.9, 200), torch.linspace(0, 30, 150)])
    x = torch.cat([grown, -grown, torch.tensor([0.0, torch.nan, torch.inf, -torch.inf])])[None]
    want = getattr(ops, name)(x.double())
    if not library.library().grus_use_tier(tier):
        pytest.skip("this machine has no such instructions")
    try:
        got = program_of(lambda ops, x: getattr(ops, name)(x), x.shape[1], ops)(x)
    finally:
        library.library().grus_use_tier(-1)
    finite = want.isfinite()
    torch.testing.assert_close(got[finite].double(), want[finite], rtol=1e-6, atol=1e-30 if name == "tanh" else 2e-7)
    assert got[x.isnan()].isnan().all()
    if name in ("exp", "softplus", "relu"):
        assert got[0, -2].item() == torch.inf


def test_what_moves_tokens_is_not_traced() -> None:
    ops = TorchBackend("cpu", "f32").ops
    bodies: list[Body] = [
        lambda ops, x: x[1:],
        lambda ops, x: x.reshape(-1),
        lambda ops, x: ops.permute(x, (1, 0)),
        lambda ops, x: x + constant(5, WIDTH),
        lambda ops, x: ops.sum(heads(x), 1),
        lambda ops, x: torch.softmax(x, -1),
        lambda ops, x: x @ constant(WIDTH, 3),
    ]
    for body in bodies:
        assert trace(lambda step, body=body: body(ops, step.x), [], WIDTH) is None  # type: ignore[misc]


def test_a_reshape_is_a_view_where_it_can_be() -> None:
    assert viewed((4, 6), (6, 1), (2, 2, 3, 2)) == (12, 6, 2, 1)
    assert viewed((4, 6), (12, 2), (24,)) == (2,)
    assert viewed((4, 6), (12, 1), (24,)) is None
    assert viewed((1, 6), (99, 1), (3, 1, 2)) == (2, 0, 1)
