"""What a rank has of a matrix: the cut bytes are the cut numbers, however they are stored."""

from __future__ import annotations

import math

import numpy as np
import pytest

from backends.base import Affine, Blocks, Dense, Raw
from engine.errors import Unsupported
from engine.models.config import text_fields
from engine.models.registry import find_architecture
from engine.weights import affine
from engine.weights.gguf.blocks import decode, dequantize
from engine.weights.gguf.encode import encode
from engine.weights.portions import ALONE, Portion, Rank, cut, cut_axis, cut_first
from engine.weights.source import Tensors
from engine.weights.view import survey
from tests.asserting import every
from tests.engine.models.test_published_sizes import SIZES, published

ROWS, COLUMNS = 12, 512


def raw(data: np.ndarray, dtype: str, shape: tuple[int, ...]) -> Raw:
    stored = np.ascontiguousarray(data).tobytes()
    return Raw("w", "file", 64, len(stored), dtype, shape, memoryview(stored))


def numbers(weight: Dense | Affine | Blocks) -> np.ndarray:
    if isinstance(weight, Dense):
        return decode(weight.data.buffer, weight.data.dtype).reshape(weight.shape)
    if isinstance(weight, Blocks):
        return dequantize(weight).reshape(weight.shape)
    return affine.dequantize(weight)


def stored(kind: str, experts: int = 0) -> Dense | Affine | Blocks:
    shape = (experts, ROWS, COLUMNS) if experts else (ROWS, COLUMNS)
    values = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    if kind == "F32":
        return Dense(raw(values, "F32", shape))
    if kind.startswith("affine"):
        bits = int(kind[-1])
        packed, scales, biases = affine.quantize(values.reshape(-1, COLUMNS), bits, 64, "F32")
        width = (COLUMNS * bits // 32, COLUMNS // 64)
        parts = [
            raw(data, dtype, (*shape[:-1], size))
            for data, dtype, size in zip((packed, scales, biases), ("U32", "F32", "F32"), (width[0], *[width[1]] * 2))
        ]
        return Affine(*parts, bits, 64)
    return Blocks(raw(encode(values.reshape(-1, COLUMNS), kind), kind, shape), kind, shape)


@pytest.mark.parametrize("kind", ["F32", "affine4", "affine6", "Q8_0", "Q4_K", "Q6_K"])
@pytest.mark.parametrize("experts", [0, 3])
def test_what_is_cut_holds_the_numbers_of_the_whole(kind: str, experts: int) -> None:
    whole = stored(kind, experts)
    runs = {
        "one": Portion(ROWS, ((3, 8),)),
        "several": Portion(ROWS, ((0, 2), (5, 6), (9, 12))),
        "aligned": Portion(COLUMNS, ((256, 512),)),
        "anywhere": Portion(COLUMNS, ((8, 40), (100, 300))),
    }
    for rows in (None, runs["one"], runs["several"]):
        for columns in (None, runs["aligned"], runs["anywhere"]):
            made = cut(whole, rows, columns)
            expected = numbers(whole)
            if rows is not None:
                expected = expected[..., rows.indices(), :]
            if columns is not None:
                expected = expected[..., columns.indices()]
            assert made.shape == expected.shape
            np.testing.assert_array_equal(numbers(made), expected)
            packed = columns is not runs["anywhere"]
            assert isinstance(made, type(whole) if packed or kind == "F32" else Dense)


def test_a_run_of_rows_is_not_copied() -> None:
    whole = stored("F32")
    part = cut(whole, Portion(ROWS, ((4, 6),)))
    assert isinstance(whole, Dense)
    assert isinstance(part, Dense)
    start = np.frombuffer(whole.data.buffer, np.uint8).ctypes.data
    assert np.frombuffer(part.data.buffer, np.uint8).ctypes.data == start + 4 * COLUMNS * 4
    assert part.data.offset == whole.data.offset + 4 * COLUMNS * 4


def test_heads_are_cut_out_of_their_matrix() -> None:
    whole = stored("Q8_0", 3)
    np.testing.assert_array_equal(numbers(cut_first(whole, Portion(3, ((1, 3),)))), numbers(whole)[1:])


def test_an_axis_of_a_plain_tensor_is_cut() -> None:
    values = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    part = cut_axis(raw(values, "F32", (2, 4, 3)), Portion(4, ((1, 2), (3, 4))), 1)
    assert part.shape == (2, 2, 3)
    np.testing.assert_array_equal(decode(part.buffer, "F32").reshape(part.shape), values[:, [1, 3]])


def test_matrices_that_are_to_be_quantized_get_blocks_that_fit_what_is_left() -> None:
    whole = stored("F32")
    assert isinstance(whole, Dense)
    asked = Dense(whole.data, "Q4_K")
    kinds = [getattr(cut(asked, columns=Portion(COLUMNS, ((0, size),))), "quant", "") for size in (256, 128, 40)]
    assert kinds == ["Q4_K", "Q8_0", None]


@pytest.mark.parametrize(("heads", "kv_heads", "ranks"), [(8, 8, 2), (8, 2, 2), (8, 2, 4), (6, 2, 3), (12, 3, 2), (8, 1, 3), (16, 4, 5)])  # fmt: skip
def test_each_head_is_on_one_rank_beside_the_keys_it_reads(heads: int, kv_heads: int, ranks: int) -> None:
    shares = [Rank(i, ranks).heads(heads, kv_heads) for i in range(ranks)]
    assert np.concatenate([share.queries.indices() for share in shares]).tolist() == list(range(heads))
    assert {int(i) for share in shares for i in share.keys.indices()} == set(range(kv_heads))
    for share in shares:
        group = share.queries.size // share.keys.size
        wanted = share.queries.indices() // (heads // kv_heads)
        assert wanted.tolist() == np.repeat(share.keys.indices(), group).tolist()
    assert every(
        share.keys.size <= shares[0].keys.size for share in shares
    )  # so that the first rank's memory is the tightest
    owners = [sum(share.keys == other.keys for other in shares) for share in shares]
    assert owners == [share.copies for share in shares]


def test_what_cannot_be_split_is_said_in_a_sentence() -> None:
    with pytest.raises(Unsupported, match="cannot be split among 4 devices: it has 2 attention heads"):
        Rank(0, 4).heads(2, 1)
    with pytest.raises(Unsupported, match="cannot be split among 3 devices: it has 2 numbers"):
        Rank(0, 3).portion(64, 32)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SIZES))
def test_each_rank_of_a_published_size_has_its_share_of_the_weights(name: str) -> None:
    config, shapes = published(name)
    make = find_architecture(config, name)
    raws = {
        tensor: Raw(tensor, "file", 0, 2 * math.prod(shape), "BF16", shape, memoryview(b""))
        for tensor, shape in shapes.items()
    }
    for count in (2, 3, 4, 8):
        if count > text_fields(config).int("num_attention_heads"):
            continue
        for index in range(count):
            found = survey(lambda view: make(view, config), Tensors("here", raws), rank=Rank(index, count))
            assert found.rank_bytes <= (1 / count + 0.05) * found.weight_bytes, (count, index)


def test_alone_everything_is_whole() -> None:
    assert ALONE.portion(7).whole
    assert ALONE.heads(8, 2).queries.whole
    assert Portion.joined(Portion(4, ((0, 2),)), Portion(4, ((2, 4),))) == Portion(8, ((0, 2), (6, 8)))
    assert Portion(4, ((1, 2),)).repeated(2) == Portion(8, ((1, 2), (5, 6)))
