"""Keys and values in 16, 8 and 4 bits: how far the logits move, on both backends, and how much smaller the memory is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from backends.groups import group_of
from tests.checkpoints import save
from tests.driver import Driver

PROMPT = [(7 * i * i + 3 * i) % 250 for i in range(60)]
CHUNKS = [20, 20, 1, 1, 18]
MOST = {16: 2e-3, 8: 0.045, 4: 0.25}  # how far all logits are from those of whole keys and values, of their length


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("kv")
    return cache(lambda name: save(name, root / name, spread=0.1))


@pytest.mark.parametrize("bits", [16, 8, 4])
@pytest.mark.parametrize("name", ["qwen3", "qwen3_5"])
@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_the_error_is_small_and_real(folder: Callable[[str], Path], backend: str, name: str, bits: int) -> None:
    whole = Driver(folder(name), backend).logits(PROMPT, CHUNKS)
    short = Driver(folder(name), backend, kv_bits=bits).logits(PROMPT, CHUNKS)
    assert 0 < np.linalg.norm(short - whole) / np.linalg.norm(whole) < MOST[bits]


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_the_memory_is_smaller(folder: Callable[[str], Path], backend: str) -> None:
    whole, eight, four = (Driver(folder("qwen3"), backend, kv_bits=bits).kv.bytes_for(256) for bits in (32, 8, 4))
    assert eight < 0.4 * whole  # f32 here
    assert four < 0.25 * whole


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("dim", [10, 36, 40, 66, 80])
@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_heads_of_every_size_find_a_group(tmp_path: Path, backend: str, dim: int, bits: int) -> None:
    """Sizes that neither 32 nor 64 divides; of 66 no even number from 32 to 64 does."""
    folder = save("qwen3", tmp_path / "m", spread=0.1, head_dim=dim)
    whole, short = Driver(folder, backend), Driver(folder, backend, kv_bits=bits)
    one, other = whole.logits(PROMPT, CHUNKS), short.logits(PROMPT, CHUNKS)
    assert 0 < np.linalg.norm(other - one) / np.linalg.norm(one) < MOST[bits]
    assert short.kv.bytes_for(256) < {8: 0.7, 4: 0.5}[bits] * whole.kv.bytes_for(256)


def test_a_group_divides_its_head_and_holds_whole_bytes() -> None:
    assert [group_of(dim) for dim in (64, 96, 128, 256)] == [64, 32, 64, 64]
    assert [group_of(dim) for dim in (10, 16, 36, 40, 52, 66, 80)] == [10, 16, 36, 40, 52, 22, 40]
    for dim in range(2, 300, 2):
        assert dim % group_of(dim) == group_of(dim) % 2 == 0
