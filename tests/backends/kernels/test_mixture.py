"""Mixtures of experts by the kernels give what their operations give one by one, whatever the experts are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from backends.base import Activation, Blocks, Dense, Linear, MixtureParts, RoutingRule, Weight
from backends.eager import EagerMixture
from backends.torch.backend import TorchBackend
from backends.torch.kernels.linear import experts, row_experts
from backends.torch.kernels.mixture import KernelMixture, mixture_of
from tests.backends.kernels.weights_made_here import make, raw

FLOAT = torch.float32
EXPERTS, HIDDEN, FFN = 6, 256, 256
RULE = RoutingRule(2)


def stacked(kind: str, rows: int, seed: int) -> Weight:
    cases = [make(kind, rows, HIDDEN, seed=seed + e).weight for e in range(EXPERTS)]
    data = np.concatenate([np.frombuffer(w.data.buffer, np.uint8) for w in cases])  # type: ignore[union-attr]
    shape = (EXPERTS, rows, HIDDEN)
    plain = kind in ("F32", "F16", "BF16")
    whole = raw(data, kind if plain else "U8", shape)
    return Dense(whole) if plain else Blocks(whole, kind, shape)


def parts_of(kind: str, up_rows: int = 2 * FFN, down: str | None = None, apart: bool = False) -> MixtureParts:
    def linear(name: str, rows: int, seed: int) -> Linear:
        weight = stacked(name, rows, seed)
        if isinstance(weight, Dense):
            return row_experts([[weight]], FLOAT)
        return experts([[weight]], FLOAT)

    if apart:  # gates and ups in matrices of their own, of which each has another format
        up: Linear = experts([[stacked(kind, FFN, 1), stacked("Q8_0", FFN, 50)]], FLOAT)
    else:
        up = linear(kind, up_rows, 1)
    return MixtureParts(up, linear(down or kind, HIDDEN, 100), RULE)


def both(parts: MixtureParts, tokens: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """By the kernels, and operation by operation."""
    random = torch.Generator().manual_seed(seed)
    x = torch.randn(tokens, HIDDEN, generator=random) / 16
    scores = 2 * torch.randn(tokens, EXPERTS, generator=random)
    want = EagerMixture(TorchBackend().ops, "f32", parts)(x, scores)
    mine = replace(parts, up_bias=parts.up_bias, down_bias=parts.down_bias)
    made = mixture_of(mine, FLOAT)
    assert isinstance(made, KernelMixture)
    return made(x, scores).numpy(), want.numpy()


def near(got: np.ndarray, want: np.ndarray, share: float = 2e-3) -> None:
    """Activations are rounded to bytes again between two products: to other ones here and there."""
    assert np.isfinite(want).all()
    assert np.linalg.norm(got - want) <= share * np.linalg.norm(want)


@pytest.mark.parametrize("kind", ["Q4_K", "Q8_0", "MXFP4", "IQ2_XXS", "IQ3_S", "IQ4_XS", "Q6_K", "F32", "BF16", "F16"])
@pytest.mark.parametrize("tokens", [1, 3, 21])
def test_experts_of_every_kind(kind: str, tokens: int) -> None:
    near(*both(parts_of(kind), tokens))


@pytest.mark.parametrize("kind", ["Q4_K", "MXFP4", "BF16", "F32"])
def test_prompts(kind: str) -> None:
    """Some experts get enough tokens for products of prompts, which round activations to sixteen bits."""
    near(*both(parts_of(kind), 230), share=2e-2)


def test_a_token_alone_and_in_company() -> None:
    """Whoever else chose an expert changes no bit, as long as the kernel is the same."""
    parts = parts_of("Q4_K")
    made = mixture_of(parts, FLOAT)
    assert made is not None
    x, scores = torch.randn(5, HIDDEN) / 16, torch.randn(5, EXPERTS)
    whole = made(x, scores)
    for t in range(5):
        torch.testing.assert_close(made(x[t : t + 1], scores[t : t + 1]), whole[t : t + 1], atol=1e-4, rtol=1e-4)


def test_gates_and_ups_of_two_formats() -> None:
    near(*both(parts_of("Q4_K", apart=True), 4))
    near(*both(parts_of("Q4_K", down="Q6_K"), 4))


@pytest.mark.parametrize("activation", ["swiglu", "geglu", "clamped_swiglu", "relu_squared"])
@pytest.mark.parametrize("alternating", [False, True])
def test_activations(activation: Activation, alternating: bool) -> None:
    plain = activation == "relu_squared"
    parts = parts_of("Q8_0", FFN if plain else 2 * FFN)
    parts = replace(parts, activation=activation, alternating=alternating and not plain, limit=0.5)
    near(*both(parts, 7))


def test_biases() -> None:
    random = torch.Generator().manual_seed(3)
    parts = parts_of("MXFP4")
    up_bias = torch.randn(EXPERTS, 2 * FFN, generator=random)
    down_bias = torch.randn(EXPERTS, HIDDEN, generator=random)
    biased = replace(parts, activation="clamped_swiglu", up_bias=up_bias, down_bias=down_bias)
    near(*both(biased, 5))


RULES: list[RoutingRule] = [
    RoutingRule(2),
    RoutingRule(2, renormalize=False),
    RoutingRule(3, sigmoid=True, scale=2.5),
    RoutingRule(2, sigmoid=True, renormalize=False, softcap=1.5),
    RoutingRule(2, sigmoid=True, groups=3, kept=1, judged_by=2),
    RoutingRule(2, renormalize=False, groups=3, kept=2),
    RoutingRule(EXPERTS),
]


@pytest.mark.parametrize("preferred", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_rules(rule: RoutingRule, preferred: bool) -> None:
    parts = replace(parts_of("F32"), rule=rule)
    if preferred:
        parts = replace(parts, preferred=torch.linspace(0.4, -0.4, EXPERTS), factors=torch.linspace(0.5, 2, EXPERTS))
    near(*both(parts, 9), share=1e-5)


def test_equal_scores_choose_the_first_experts() -> None:
    parts = parts_of("F32")
    x = torch.ones(2, HIDDEN)
    made: Any = mixture_of(parts, FLOAT)
    one, two = (EagerMixture(TorchBackend().ops, "f32", replace(parts, rule=RoutingRule(2)))(x, s) for s in _ties())
    for got, want in zip((made(x, s) for s in _ties()), (one, two)):
        torch.testing.assert_close(got, want, atol=1e-4, rtol=1e-4)


def _ties() -> list[torch.Tensor]:
    return [torch.zeros(2, EXPERTS), torch.tensor([[0.0, 1, 1, 1, 0, 1], [3.0, 3, 3, 3, 3, 3]])]


def test_what_is_no_number_is_shown() -> None:
    made: Any = mixture_of(parts_of("Q4_K"), FLOAT)
    scores = torch.zeros(2, EXPERTS)
    scores[0, 3] = torch.nan
    out = made(torch.ones(2, HIDDEN) / 16, scores)
    assert out[0].isnan().all()
    assert out[1].isfinite().all()


def test_inputs_of_another_width_are_refused() -> None:
    made: Any = mixture_of(parts_of("Q4_K"), FLOAT)
    with pytest.raises(ValueError, match="256"):
        made(torch.ones(2, 128), torch.ones(2, EXPERTS))
    with pytest.raises(ValueError, match="experts"):
        made(torch.ones(2, HIDDEN), torch.ones(2, EXPERTS + 1))
