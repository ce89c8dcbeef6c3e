"""Whole models out of GGUF files: every architecture's logits against the reference library's, and against what the
same weights give from a checkpoint folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from backends.base import Blocks, Dense, Segment
from backends.pick import pick
from engine.loading import LoadOptions, load
from engine.models.registry import find_architecture
from engine.weights.checkpoint import Checkpoint
from engine.weights.convert import convert
from engine.weights.fit import WithoutBlocks
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.checkpoint import GgufCheckpoint, open_gguf
from engine.weights.quantize import Quantized
from engine.weights.source import Source, SourceOver, Tensors
from engine.weights.view import View, build, survey
from tests import llamacpp_files
from tests.checkpoints import reference_cached, save
from tests.driver import Driver

BACKENDS = ("torch", "mlx")
PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150, 99, 31, 64, 128, 254, 1, 2, 90, 77, 12, 180]
NAMES = ("llama", "llama_plain", "llama_linear", "llama_yarn", "qwen2", "qwen3", "qwen3_moe", "hunyuan", "qwen3_5")

Files = Callable[..., Path]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    root = tmp_path_factory.mktemp("gguf")

    @cache
    def folder(name: str) -> Path:
        return save(name, root / name, "old")

    @cache
    def file(name: str, quant: str | None = None) -> Path:
        return convert(folder(name), root / f"{name}-{quant}.gguf", quant=quant) if quant != "folder" else folder(name)

    return file


class FromGguf(Driver):
    def __init__(self, checkpoint: GgufCheckpoint, backend: str) -> None:
        self.backend = pick(backend, "cpu", "f32")
        make = find_architecture(checkpoint.config, checkpoint.where)
        source = WithoutBlocks(checkpoint.source, affine=False)
        self.model = build(lambda view: make(view, checkpoint.config), source, self.backend)
        self.kv = self.backend.kv(self.model.memory, 1 << 30)
        self.runner = self.backend.runner(self.model, self.kv)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", NAMES)
def test_logits_are_the_references(files: Files, name: str, backend: str) -> None:
    import torch

    with torch.no_grad():
        want = reference_cached(name)(torch.tensor([PROMPT])).logits[0].numpy()
    got = FromGguf(open_gguf(files(name)), backend).logits(PROMPT)
    assert np.abs(got - want).max() <= 1e-4 * np.abs(want).max()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", llamacpp_files.FAMILIES)
def test_files_of_llamacpp_are_read(tmp_path: Path, name: str, backend: str) -> None:
    import torch

    with torch.no_grad():
        want = llamacpp_files.written(name)(torch.tensor([PROMPT])).logits[0].numpy()
    got = FromGguf(open_gguf(llamacpp_files.write(name, tmp_path / "m.gguf")), backend).logits(PROMPT)
    assert np.abs(got - want).max() <= 1e-4 * np.abs(want).max()


TABLES = ("per_layer_token_embd.weight", "token_embd.weight")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("name", "blocks", "changes"),
    [
        ("gemma4_moe", ("_exps.weight",), {"moe_intermediate_size": 64}),  # gates and ups in one tensor
        ("gemma4", TABLES, {"hidden_size_per_layer_input": 32}),
    ],
)
def test_gemma_4_in_blocks(
    tmp_path: Path, name: str, blocks: tuple[str, ...], changes: dict[str, int], backend: str
) -> None:
    import torch

    with torch.no_grad():
        want = llamacpp_files.written(name, **changes)(torch.tensor([PROMPT])).logits[0].numpy()
    file = llamacpp_files.write(name, tmp_path / "m.gguf", "Q8_0", blocks, **changes)
    model = load(str(file), LoadOptions(backend=backend, device="cpu", dtype="f32"))
    slot = model.kv.open(len(PROMPT))
    got = model.runner.run([Segment(slot, PROMPT, want=range(len(PROMPT)))]).read()[slot].logits
    assert float((got * want).sum() / np.linalg.norm(got) / np.linalg.norm(want)) >= 0.9995
    model.close()


@pytest.mark.parametrize("name", ["llama", "qwen2", "qwen3", "qwen3_moe"])
def test_the_reference_library_opens_what_we_write(files: Files, name: str) -> None:
    import torch
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    model = reference_cached(name)
    theirs = load_gguf_checkpoint(str(files(name)), return_tensors=True, model_to_load=model)["tensors"]
    expected = model.state_dict()
    assert set(theirs) >= {key for key in expected if key != "lm_head.weight" and ".experts." not in key}
    for key in set(theirs) & set(expected):
        assert torch.equal(torch.as_tensor(np.asarray(theirs[key])), expected[key]), key


def shapes(config: dict, source: Source) -> dict[str, tuple[int, ...]]:
    """Every matrix that a model asks for."""
    asked: dict[str, tuple[int, ...]] = {}

    class Asking(SourceOver):
        def matrix(self, stem: str, shape: tuple[int, ...], inputs_first: bool = False):
            asked[stem] = shape
            return super().matrix(stem, shape, inputs_first)

    make = find_architecture(config, "test")
    found = survey(lambda view: make(view, config), Asking(source))
    found.check()
    return asked


@pytest.mark.parametrize("quant", ["q8_0", "q4_0", "q4_k", "q6_k"])
@pytest.mark.parametrize("name", ["llama", "qwen3", "qwen3_moe"])
def test_quantizing_while_loading_gives_the_blocks_of_a_converted_file(files: Files, name: str, quant: str) -> None:
    folder = Checkpoint.open(files(name, "folder"))
    in_place = Quantized(Tensors("", folder.tensors), quant)
    converted = open_gguf(files(name, quant))
    compared = 0
    for stem, shape in shapes(converted.config, converted.source).items():
        if "switch_mlp" in stem:
            continue
        a, b = converted.source.matrix(stem, shape).weight, in_place.matrix(stem, shape).weight
        if isinstance(a, Dense):
            assert stem.endswith(("mlp.gate", "lm_head", "embed_tokens")) or shape[-1] % 32
            continue
        assert isinstance(a, Blocks)
        assert isinstance(b, Blocks)
        assert (a.type, a.shape) == (b.type, b.shape)
        assert bytes(a.data.buffer) == bytes(b.data.buffer)
        compared += 1
    assert compared > 4


def test_value_heads_come_back_in_their_groups(files: Files) -> None:
    """Everything of a delta layer but its output's inputs, whose blocks may span heads: those the model turns."""
    checkpoint = open_gguf(files("qwen3_5"))
    assert checkpoint.config["linear_value_heads_tiled"]
    folder = Checkpoint.open(files("qwen3_5", "folder"))
    original = Tensors("", folder.tensors)
    prefix = "model.layers.0.linear_attn"
    for stem, shape in (("in_proj_qkv", (128, 64)), ("in_proj_z", (64, 64)), ("in_proj_a", (4, 64))):
        a, b = (s.matrix(f"{prefix}.{stem}", shape).weight for s in (checkpoint.source, original))
        assert bytes(a.data.buffer) == bytes(b.data.buffer), stem
    for name in ("dt_bias", "A_log"):
        a, b = (dequantize(s.raw(f"{prefix}.{name}")) for s in (checkpoint.source, original))
        assert np.allclose(a, b, rtol=1e-6, atol=1e-7), name


def test_every_problem_is_named_before_anything_is_built(files: Files) -> None:
    checkpoint = open_gguf(files("qwen3"))
    config = checkpoint.config | {"intermediate_size": 128, "num_hidden_layers": 3}
    make = find_architecture(config, "test")

    def construct(view: View) -> object:
        return make(view, config)

    problems = survey(construct, checkpoint.source).problems
    assert {(p.kind, p.tensor.split(".")[2]) for p in problems if p.tensor.startswith("model.layers")} == {
        ("wrong", "0"),
        ("wrong", "1"),
        ("missing", "2"),
    }
