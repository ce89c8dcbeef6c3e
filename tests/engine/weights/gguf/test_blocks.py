"""Every block type, bit for bit: against the `gguf` package, or against the rule written out one weight at a time."""

from __future__ import annotations

import struct

import gguf
import numpy as np
import pytest

from backends.base import Blocks, Raw
from engine.weights.gguf import ternary
from engine.weights.gguf.blocks import DECODERS, decode, dequantize
from engine.weights.gguf.types import NUMBERS, TYPES, ternary_order

REFERENCE = sorted(set(TYPES) - {"F32", "F16", "Q1_0", "Q2_0", "PQ2_0", "TQ2_0_G128", "PTQ1_0", "FP8_32", "FP8_128"})


def random_blocks(kind: str, n: int, seed: int = 0) -> np.ndarray:
    """Random bytes are adversarial: scales are denormal, infinite and not numbers as well."""
    return np.random.default_rng(seed).integers(0, 256, (n, TYPES[kind].nbytes), dtype=np.uint8)


def same_bits(got: np.ndarray, want: np.ndarray) -> bool:
    nan = np.isnan(want)
    return np.array_equal(np.isnan(got), nan) and np.array_equal(
        got[~nan].view(np.uint32), want[~nan].astype(np.float32).view(np.uint32)
    )


def test_every_type_has_a_decoder_and_the_packages_size() -> None:
    assert set(DECODERS) == set(TYPES)
    for number, name in NUMBERS.items():
        if number < 42 and number != ternary.NUMBER:  # of another program
            size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType(number)]
            assert gguf.GGMLQuantizationType(number).name == name
            assert (TYPES[name].weights, TYPES[name].nbytes) == size


@pytest.mark.parametrize("kind", REFERENCE)
@pytest.mark.filterwarnings("ignore:overflow|invalid:RuntimeWarning")
def test_decodes_as_the_package_does(kind: str) -> None:
    blocks = random_blocks(kind, 3000)
    want = gguf.dequantize(blocks, gguf.GGMLQuantizationType[kind]).reshape(-1)
    with np.errstate(all="ignore"):
        got = decode(blocks, kind)
    assert got.dtype == np.float32
    assert same_bits(got, want)


def halves(blocks: np.ndarray) -> list[float]:
    return [struct.unpack("<e", bytes(b))[0] for b in blocks]


def two_bits(block: np.ndarray, i: int) -> int:
    return int(block[i // 4]) >> (i % 4 * 2) & 3


def by_the_rule(kind: str, b: np.ndarray) -> list[float]:
    """One block, one weight at a time."""
    f16 = lambda raw: struct.unpack("<e", bytes(raw))[0]  # noqa: E731
    if kind == "Q1_0":
        return [f16(b[:2]) * (1 if b[2 + i // 8] >> (i % 8) & 1 else -1) for i in range(128)]
    if kind in ("Q2_0", "PQ2_0"):
        return [f16(b[:2]) * (two_bits(b[2:], i) - 1) for i in range(TYPES[kind].weights)]
    if kind == "TQ2_0_G128":
        return [f16(b[32:]) * {0: -1, 1: 0, 2: 1, 3: 0}[two_bits(b, i)] for i in range(128)]
    digits = []
    for first, width, count in ((0, 16, 5), (16, 8, 5), (24, 2, 4)):
        for digit in range(count):
            digits += [(int(byte) * 3**digit % 256 * 3 >> 8) - 1 for byte in b[first : first + width]]
    return [f16(b[26:]) * digit for digit in digits]


@pytest.mark.parametrize("kind", ["Q1_0", "Q2_0", "PQ2_0", "TQ2_0_G128", "PTQ1_0"])
def test_decodes_as_the_rule_says(kind: str) -> None:
    blocks = random_blocks(kind, 50)
    scale = slice(0, 2) if kind in ("Q1_0", "Q2_0", "PQ2_0") else slice(-2, None)
    blocks[:, scale] = np.random.default_rng(1).normal(size=(50, 1)).astype("<f2").view(np.uint8)
    want = np.array([by_the_rule(kind, b) for b in blocks], np.float32).reshape(-1)
    assert same_bits(decode(blocks, kind), want)


def test_a_tensor_comes_in_its_shape_and_in_any_number_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    data = random_blocks("Q8_0", 3 * 5 * 2)
    data[:, 1] &= 0x3B  # finite scales
    raw = Raw("w", "", 0, data.nbytes, "Q8_0", (3, 5, 64), memoryview(data.tobytes()))
    whole = dequantize(Blocks(raw, "Q8_0", raw.shape))
    assert whole.shape == (3, 5, 64)
    monkeypatch.setattr("engine.weights.gguf.blocks._CHUNK", 100)
    assert same_bits(dequantize(raw).reshape(-1), whole.reshape(-1))


@pytest.mark.parametrize("kind", ["PQ2_0", "TQ2_0_G128"])
def test_the_order_of_a_ternary_block_is_seen_in_its_data(kind: str) -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (40, 32, 4), dtype=np.uint8)
    packed = (codes << np.array([0, 2, 4, 6], np.uint8)).sum(-1, dtype=np.uint8)
    scales = np.abs(rng.normal(0.02, 0.005, (40, 1))).astype("<f2").view(np.uint8)
    parts = [scales, packed] if kind == "PQ2_0" else [packed, scales]
    assert ternary_order(np.concatenate(parts, axis=1).reshape(-1)) == kind
