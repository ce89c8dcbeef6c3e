"""Broken headers by the thousand: whatever the bytes, opening a file succeeds or raises a typed error, at once.

`GRUS_FUZZ_SECONDS` makes it go on for longer than the second that a test run gives it.
"""

from __future__ import annotations

import os
import struct
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from engine.errors import WeightsError
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.reader import read
from engine.weights.gguf.values import Elements
from tests.engine.weights.gguf.files import save, zeros

SECONDS = float(os.environ.get("GRUS_FUZZ_SECONDS", "1"))
INTERESTING = [
    0,
    1,
    2,
    8,
    9,
    31,
    32,
    33,
    127,
    128,
    255,
    2**16,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    2**63,
    2**64 - 1,
]


def sample(folder: Path) -> bytes:
    metadata = {
        "general.architecture": "qwen3",
        "general.alignment": 32,
        "qwen3.block_count": 2,
        "x": 0.5,
        "yes": True,
        "tokenizer.ggml.tokens": ["a", "bc", "", "数"],
        "tokenizer.ggml.scores": [0.5, 1.0, 2.0, 3.0],
        "tokenizer.ggml.token_type": [1, 1, 3, 1],
    }
    kinds = ("F32", "Q8_0", "Q4_K", "Q2_0", "Q1_0")
    plans = [zeros(f"blk.{i}.w", kind, (2, 256)) for i, kind in enumerate(kinds)]
    return save(folder / "seed.gguf", metadata, plans).read_bytes()


def mutants(seed: bytes, header: int) -> Iterator[bytes]:
    rng = np.random.default_rng(7)
    while True:
        raw = bytearray(seed)
        for _ in range(int(rng.integers(1, 4))):
            if len(raw) <= header:  # cut short already
                break
            at = int(rng.integers(4, header))
            match int(rng.integers(0, 6)):
                case 0:
                    raw[at] = int(rng.integers(0, 256))
                case 1:
                    raw[at : at + 8] = struct.pack("<Q", INTERESTING[rng.integers(len(INTERESTING))])
                case 2:
                    raw[at : at + 4] = struct.pack("<Q", INTERESTING[rng.integers(len(INTERESTING))])[:4]
                case 3:
                    del raw[at : at + int(rng.integers(1, 40))]
                case 4:
                    other = int(rng.integers(4, header))
                    raw[at:at] = raw[other : other + int(rng.integers(1, 60))]
                case 5:
                    del raw[int(rng.integers(0, len(raw))) :]
        yield bytes(raw)


def test_no_header_breaks_the_reader(tmp_path: Path) -> None:
    seed = sample(tmp_path)
    header = seed.index(b"blk.4.w") + 48
    path = tmp_path / "m.gguf"
    opened = refused = 0
    slowest, end = 0.0, time.monotonic() + SECONDS
    tracemalloc.start()
    try:
        for raw in mutants(seed, header):
            path.write_bytes(raw)
            began = time.process_time()
            try:
                file = read(path)
                for value in file.metadata.values():
                    if isinstance(value, Elements):
                        value.strings() if value.kind == 8 else value.kind == 9 or value.numbers()
                for tensor in file.tensors.values():
                    assert dequantize(tensor).shape == tensor.shape
                opened += 1
            except WeightsError:
                refused += 1
            slowest = max(slowest, time.process_time() - began)
            if time.monotonic() > end:
                break
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert opened > 10
    assert refused > 100
    assert slowest < 1
    assert peak < 20_000_000
