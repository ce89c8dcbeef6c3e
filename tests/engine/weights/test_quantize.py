"""Quantizing while loading: which matrix becomes what, and that only what is asked for is ever in memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from backends.base import Blocks, Dense, Raw
from engine.errors import BadRequest
from engine.weights.checkpoint import Checkpoint
from engine.weights.fit import WithoutBlocks
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.encode import encode
from engine.weights.quantize import Quantized, chosen, kind_for, quantized
from engine.weights.source import Tensors
from engine.weights.view import build, survey
from tests.checkpoints import reference_cached, save
from tests.driver import Driver


def raw(dtype: str, shape: tuple[int, ...]) -> Raw:
    size = int(np.prod(shape)) * (4 if dtype == "F32" else 2)
    return Raw("w", "", 0, size, dtype, shape, memoryview(bytes(size)))


@pytest.mark.parametrize(
    ("quant", "stem", "shape", "kind"),
    [
        ("q8_0", "model.layers.0.mlp.up_proj", (8, 64), "Q8_0"),
        ("q4_k", "model.layers.0.mlp.up_proj", (8, 512), "Q4_K"),
        ("q4_k", "model.layers.0.mlp.up_proj", (8, 96), "Q8_0"),
        ("q4_k", "model.layers.0.mlp.up_proj", (8, 40), None),
        ("q4_0", "model.embed_tokens", (8, 512), "Q6_K"),
        ("q4_0", "lm_head", (8, 512), "Q6_K"),
        ("q6_k", "model.layers.0.mlp.switch_mlp.up_proj", (4, 8, 256), "Q6_K"),
        ("q8_0", "model.layers.0.mlp.gate", (8, 64), None),
        ("q8_0", "model.layers.0.linear_attn.in_proj_a", (8, 64), None),
        ("q8_0", "model.layers.2.feed_forward.gate", (8, 64), None),
        ("q8_0", "backbone.layers.1.mixer.gate", (8, 64), None),
        ("q8_0", "model.layers.0.block_sparse_moe.router.layer", (8, 64), None),
        ("q8_0", "model.layers.0.mlp.gate.wg", (8, 64), None),
        ("q4_k", "backbone.embeddings", (8, 512), "Q6_K"),
        ("q8_0", "model.norm", (64,), None),
    ],
)
def test_which_matrix_becomes_what(quant: str, stem: str, shape: tuple[int, ...], kind: str | None) -> None:
    assert kind_for(quant, stem, shape) == kind


@pytest.mark.parametrize(
    ("quant", "device", "dtype", "expected"),
    [
        ("auto", "cpu", "BF16", "q8_0"),
        ("auto", "cpu", "F16", "q8_0"),
        ("auto", "cpu", "F32", None),
        ("auto", "cpu", "U32", None),
        ("auto", "cuda:0", "BF16", None),
        ("none", "cpu", "BF16", None),
        ("q4_k", "cuda:0", "F32", "q4_k"),
        ("q4_k", "cpu", "U32", None),
    ],
)
def test_what_auto_means(quant: str, device: str, dtype: str, expected: str | None) -> None:
    tensors = {"a.weight": raw(dtype, (64, 64)), "norm.weight": raw("F32", (64,))}
    assert chosen(quant, device, tensors) == expected


def test_an_unknown_quantization() -> None:
    with pytest.raises(BadRequest, match="q5"):
        chosen("q5", "cpu", {})


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_0", "Q4_K", "Q6_K"])
@pytest.mark.parametrize("dtype", ["F32", "F16", "BF16"])
def test_blocks_are_those_of_the_values(kind: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(5).normal(size=(7, 512)).astype(np.float32)
    data = encode(values, dtype).tobytes()
    weight = quantized(Raw("w", "f", 0, len(data), dtype, (7, 512), memoryview(data)), kind)
    monkeypatch.setattr("engine.weights.gguf.blocks._CHUNK", 1024)  # a few rows at a time
    stored = dequantize(Raw("w", "f", 0, len(data), dtype, (7, 512), memoryview(data)))
    assert bytes(weight.data.buffer) == encode(stored, kind).tobytes()
    assert (weight.type, weight.shape, weight.data.nbytes) == (kind, (7, 512), len(weight.data.buffer))


def test_the_peak_is_one_matrix_in_blocks_and_a_few_rows() -> None:
    weight = raw("BF16", (4096, 2048))
    tracemalloc.start()
    try:
        assert quantized(weight, "Q8_0").data.nbytes == 4096 * 2048 // 32 * 34
        _, before = tracemalloc.get_traced_memory()
        assert before < 1_000_000  # nothing is made yet
        size = len(quantized(weight, "Q8_0").data.buffer)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < size + 24_000_000


def test_a_model_quantized_while_it_loads(tmp_path: Path) -> None:
    import torch

    prompt = [5, 17, 33, 41, 8, 9, 60, 3]
    plain = Driver(save("qwen3", tmp_path / "m", "old"), "mlx")
    checkpoint = plain.checkpoint
    source = Quantized(Tensors("m", checkpoint.tensors), "q8_0")
    kinds = {stem: type(source.matrix(stem, shape).weight) for stem, shape in (("lm_head", (259, 64)),)}
    assert kinds == {"lm_head": Blocks}

    from engine.models.qwen3 import qwen3

    def make(view: object) -> object:
        return qwen3(view, checkpoint.config)

    stored = survey(make, Checkpoint.open(tmp_path / "m"))
    found = survey(make, source)
    found.check()
    assert found.parameters == stored.parameters
    assert found.weight_bytes < 0.3 * stored.weight_bytes
    plain.model = build(make, WithoutBlocks(source, affine=False), plain.backend)
    plain.runner = plain.backend.runner(plain.model, plain.kv)
    with torch.no_grad():
        want = reference_cached("qwen3")(torch.tensor([prompt])).logits[0].numpy()
    assert np.abs(plain.logits(prompt) - want).max() < 0.1 * np.abs(want).max()


def test_what_cannot_be_quantized_is_left_alone() -> None:
    tensors = {"a.weight": raw("F32", (4, 30)), "b.weight": raw("I8", (4, 32))}
    source = Quantized(Tensors("m", tensors), "q8_0")
    assert isinstance(source.matrix("a", (4, 30)).weight, Dense)  # no block divides its rows
    assert source.matrix("b", (4, 32)).problems
    assert source.matrix("c", (4, 32)).problems
