"""Blocks that are used where they lie in a file until they are packed: the same bits, before, meanwhile and after."""

from __future__ import annotations

import mmap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from backends.base import Blocks, Raw
from backends.torch.kernels import arena
from backends.torch.kernels import packed as packed_module
from backends.torch.kernels.linear import KernelLinear, experts, linear
from backends.torch.kernels.packed import PackedMatrix
from engine.weights.made import reordered
from tests.backends.kernels.weights_made_here import GGUF, columns_of, make

HEAD = 7  # bytes before the first tensor: nothing in a file is aligned for vectors


@pytest.fixture
def _by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until a test says `move`, everything stays where it is."""
    monkeypatch.setattr(arena, "schedule", lambda matrix: None)


def move(linear: KernelLinear) -> None:
    for matrix in linear.matrices:
        assert isinstance(matrix, PackedMatrix)
        assert matrix.matrix.unpacked == matrix.experts * -(-matrix.rows_each // 16)
        matrix.move()
        assert matrix.matrix.unpacked == 0


def in_a_file(path: Path, blocks: Blocks) -> Blocks:
    path.write_bytes(b"x" * HEAD + bytes(blocks.data.buffer))
    with path.open("rb") as file:
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    raw = Raw("w", str(path), HEAD, blocks.data.nbytes, blocks.type, blocks.shape, memoryview(whole)[HEAD:])
    return replace(blocks, data=raw)


def parts_of(folder: Path, kind: str, rows: tuple[int, ...]) -> tuple[list[Blocks], list[Blocks]]:
    """The same matrices in memory, which are packed at once, and in files."""
    columns = columns_of(kind, 600)
    made = [make(kind, n, columns, seed=n).weight for n in rows]
    blocks = [weight for weight in made if isinstance(weight, Blocks)]
    return blocks, [in_a_file(folder / str(i), part) for i, part in enumerate(blocks)]


def numbers(tokens: int, columns: int) -> torch.Tensor:
    return torch.randn(tokens, columns, generator=torch.Generator().manual_seed(tokens))


@pytest.mark.usefixtures("_by_hand")
@pytest.mark.parametrize("kind", GGUF)
def test_every_type_gives_the_same_bits(tier: str, tmp_path: Path, kind: str) -> None:
    here, there = parts_of(tmp_path, kind, (37, 16, 5))
    packed, stored = (linear(parts, [None] * 3, torch.float32) for parts in (here, there))
    ids = torch.tensor([57, 0, 36, 37, 52, 53])

    def same() -> None:
        for tokens in (1, 3, 4, 8, 40):
            x = numbers(tokens, packed.columns)
            assert torch.equal(stored(x), packed(x))
        assert torch.equal(stored.rows(ids), packed.rows(ids))

    same()
    move(stored)
    same()


@pytest.mark.usefixtures("_by_hand")
def test_rows_in_another_order_are_read_one_by_one(tmp_path: Path) -> None:
    here, there = parts_of(tmp_path, "Q4_K", (48, 32))
    order = np.random.default_rng(0).permutation(48)
    for blocks in (here, there):
        blocks[0] = replace(blocks[0], data=reordered(blocks[0].data, order))
    packed, stored = (linear(parts, [None] * 2, torch.float32) for parts in (here, there))
    x, ids = numbers(5, packed.columns), torch.tensor([0, 47, 48])
    for _ in range(2):
        assert torch.equal(stored(x), packed(x))
        assert torch.equal(stored.rows(ids), packed.rows(ids))
        if stored.matrices[0].matrix.unpacked:
            move(stored)


@pytest.mark.usefixtures("_by_hand")
def test_experts_are_packed_when_they_are_chosen(tmp_path: Path) -> None:
    here, there = (
        [replace(part, shape=(4, part.shape[0] // 4, part.shape[1])) for part in parts]
        for parts in parts_of(tmp_path, "Q6_K", (4 * 21, 4 * 16))
    )
    packed, stored = experts([here], torch.float32), experts([there], torch.float32)
    x, chosen = numbers(6, packed.columns), torch.tensor([[0, 3], [3, 1], [1, 0], [2, 2], [0, 1], [3, 0]])
    assert torch.equal(stored.gather(x, chosen), packed.gather(x, chosen))
    move(stored)
    assert torch.equal(stored.gather(x, chosen), packed.gather(x, chosen))


def test_products_go_on_while_it_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "QUIET", 0.01)
    monkeypatch.setattr(packed_module, "MOVED", 1 << 14)  # a few panels at a time
    here, there = parts_of(tmp_path, "Q8_0", (4000,))
    packed, stored = (linear(parts, [None], torch.float32) for parts in (here, there))
    x = numbers(2, packed.columns)
    want, products = packed(x), 0
    while stored.matrices[0].matrix.unpacked or products < 5:
        assert torch.equal(stored(x), want)
        products += 1
    arena.wait()
    assert torch.equal(stored(x), want)


def test_a_file_that_is_too_short_is_refused(tmp_path: Path) -> None:
    _, (part,) = parts_of(tmp_path, "Q4_0", (8,))
    cut = replace(part, data=replace(part.data, buffer=part.data.buffer[:-1]))
    with pytest.raises(Exception, match="The file is damaged"):
        linear([cut], [None], torch.float32)
