"""What a prompt's company in a step does to its numbers, where weights are quantized.

Activations are quantized for a step's tokens one by one, so company changes no bit; but from 64 tokens of a step on, a CPU with a
matrix unit multiplies them as bf16 instead, which is the more exact of both (docs/kernels.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from backends.base import Segment
from backends.torch.kernels.library import available, library
from engine.loading import LoadedModel, LoadOptions, load
from engine.weights.convert import convert
from tests.checkpoints import save

RANDOM = np.random.default_rng(3)
PROMPTS = [RANDOM.integers(0, 250, 23).tolist() for _ in range(5)]


def together(model: LoadedModel, prompts: Sequence[list[int]]) -> list[np.ndarray]:
    """Logits of every position of prompts that are computed in one step."""
    slots = [slot for slot in (model.kv.open(32) for _ in prompts) if slot is not None]
    made = model.runner.run([Segment(slot, ids, want=range(len(ids))) for slot, ids in zip(slots, prompts)]).read()
    found = [made[slot].logits for slot in slots]
    for slot in slots:
        model.kv.close(slot)
    return [logits for logits in found if logits is not None]


def test_company_changes_a_prompt_only_by_the_more_exact_product(tmp_path: Path) -> None:
    base = save("qwen3", tmp_path / "base", hidden_size=256, intermediate_size=512)
    file = convert(base, tmp_path / "q8.gguf", quant="q8_0")
    plain = convert(file, tmp_path / "plain", "safetensors")  # the very same numbers as floats
    options = LoadOptions(backend="torch", device="cpu", dtype="f32", kv_bits=32, quant="none")
    exact = together(load(str(plain), options), PROMPTS[:1])[0]
    model = load(str(file), options)
    alone, two, five = (together(model, PROMPTS[:n])[0] for n in (1, 2, 5))
    assert np.array_equal(alone, two), "46 tokens are the arithmetic of 23"
    few, many = (float(np.sqrt(((got - exact) ** 2).mean()) / np.abs(exact).max()) for got in (alone, five))
    assert few <= 0.03
    if available() and library().grus_tier().decode().startswith("amx"):
        assert many < few
    else:
        assert np.array_equal(alone, five)
