"""The best logits and their mass, against torch."""

from __future__ import annotations

import pytest
import torch

from backends.torch.kernels import fused


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("n", [1, 16, 75, 4099])
def test_the_best_of_each_row(tier: str, n: int) -> None:
    x = normal(5, n).round(decimals=1)  # with ties
    x[1] = -torch.inf
    x[2, n // 2] = torch.inf
    x[3, n - 1] = torch.nan
    values, places = fused.argmax(x)
    assert values.isnan().tolist() == [False, False, False, True, False]
    kept = [0, 1, 2, 4]
    want = x.max(-1)
    assert torch.equal(values[kept], want.values[kept])
    assert places[kept].tolist() == [x[i].tolist().index(values[i]) for i in kept]


@pytest.mark.parametrize(
    ("n", "k"), [(1, 1), (70, 70), (4099, 40), (4099, 4099), (20000, 256), (20000, 4096), (20000, 20000)]
)
def test_the_best_few_in_order(tier: str, n: int, k: int) -> None:
    x = normal(3, n).round(decimals=1)  # with ties
    x[1, : n // 2] = -torch.inf
    x[2, ::3] = -0.0
    x[2, 1::3] = 0.0
    values, places = fused.top_k(x, k)
    want_values, want_places = torch.sort(x, dim=-1, descending=True, stable=True)
    assert torch.equal(values, want_values[:, :k])
    assert torch.equal(places, want_places[:, :k])


def test_the_mass_of_all(tier: str) -> None:
    x = normal(2, 5000) * 5
    x[1, 7:90] = -torch.inf
    best, temperature = x.amax(-1), torch.tensor([0.7, 1e-4])
    want = torch.exp((x.double() - best[:, None]) / temperature[:, None]).sum(-1)
    assert torch.allclose(fused.softmax_mass(x, best, temperature).double(), want, rtol=1e-5)
