"""GGUF files and quantizing while loading, on both backends: what comes out is what the whole weights say, roughly.

Torch multiplies the blocks with its CPU kernels; MLX gets the same numbers in its own layout. Both are compared with the
unquantized model, with weights as narrow as trained ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from backends.base import Segment
from engine.loading import LoadOptions, load
from engine.weights.convert import convert
from tests.checkpoints import save
from tests.needs import no_kernels

PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150, 99, 31, 64]
NAMES = ("llama", "qwen3", "qwen3_moe", "qwen3_5")
LEAST = {None: 0.99999, "q8_0": 0.999, "q6_k": 0.995, "q4_k": 0.9, "q4_0": 0.9}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("gguf")
    return cache(lambda name: save(name, root / name, "new" if name == "qwen3_5" else "old", spread=0.05))


def logits(path: Path, backend: str, quant: str = "none") -> np.ndarray:
    model = load(str(path), LoadOptions(backend=backend, device="cpu", quant=quant))
    slot = model.kv.open(len(PROMPT))
    assert slot is not None
    found = model.runner.run([Segment(slot, PROMPT, want=range(len(PROMPT)))]).read()[slot].logits
    assert found is not None
    return found


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float((a * b).sum() / (np.linalg.norm(a) * np.linalg.norm(b)))


@pytest.mark.parametrize("quant", [None, "q8_0", "q4_0"])
@pytest.mark.parametrize("name", NAMES)
def test_a_file_says_what_its_folder_says(
    folder: Callable[[str], Path], tmp_path: Path, name: str, quant: str | None
) -> None:
    whole = logits(folder(name), "torch")
    file = convert(folder(name), tmp_path / "m.gguf", "gguf", quant)
    for backend in ("torch", "mlx"):
        assert cosine(logits(file, backend), whole) >= LEAST[quant], backend


@pytest.mark.parametrize("quant", ["q8_0", "q4_0", "q4_k", "q6_k"])
@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_quantizing_while_loading(folder: Callable[[str], Path], backend: str, quant: str) -> None:
    whole = logits(folder("qwen3"), "torch")
    assert LEAST[quant] <= cosine(logits(folder("qwen3"), backend, quant), whole) < 0.9999999


@pytest.mark.skipif(bool(no_kernels()), reason=no_kernels())
def test_auto_quantizes_16_bit_weights_on_a_cpu_and_says_so(folder: Callable[[str], Path], tmp_path: Path) -> None:
    assert load(str(folder("qwen3")), LoadOptions(backend="torch", device="cpu")).quant is None
    half = save("qwen3", tmp_path / "half", "old", dtype="bfloat16", spread=0.05)
    assert load(str(half), LoadOptions(backend="torch", device="cpu")).quant == "q8_0"
    assert load(str(half), LoadOptions(backend="torch", device="cpu", quant="none")).quant is None
