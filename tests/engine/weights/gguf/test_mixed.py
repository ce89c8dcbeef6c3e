"""Files of many types at once, as the makers of dynamic quantizations publish them: with traces of an importance matrix, in shards."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from backends.base import Blocks
from backends.pick import pick
from engine.describe import describe
from engine.errors import WeightsError
from engine.loading import LoadOptions
from engine.models.registry import find_architecture
from engine.weights.convert import convert
from engine.weights.fit import IN_PANELS, fitted, grown_bytes
from engine.weights.gguf.checkpoint import GgufCheckpoint, open_gguf
from engine.weights.gguf.reader import STRING, Elements, read
from engine.weights.gguf.source import Dequantized
from engine.weights.gguf.types import TYPES
from engine.weights.source import Source
from engine.weights.view import build
from tests.checkpoints import save
from tests.driver import Driver
from tests.engine.weights.gguf.files import plan
from tests.engine.weights.gguf.files import save as save_gguf
from tests.needs import need_kernels

PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150, 99, 31, 64, 128, 254, 1, 2, 90, 77, 12, 180]
WIDE = dict(hidden_size=256, intermediate_size=512, num_attention_heads=4, num_key_value_heads=4, head_dim=64)
IMATRIX = {
    "quantize.imatrix.file": "imatrix_unsloth.dat",
    "quantize.imatrix.dataset": "calibration.txt",
    "quantize.imatrix.entries_count": 14,
    "quantize.imatrix.chunks_count": 695,
    "general.quantization_version": 2,
}
NEW = ("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS", "NVFP4", "MXFP4")
PARTS = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")


def random_blocks(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Any codes, under scales that give weights of about 0.1."""
    t = TYPES[kind]
    blocks = rng.integers(0, 256, (int(np.prod(shape)) // t.weights, t.nbytes), dtype=np.uint8)
    if kind == "NVFP4":
        blocks[:, :4] = rng.integers(16, 32, (len(blocks), 4))
    elif kind == "MXFP4":
        blocks[:, 0] = rng.integers(121, 124, len(blocks))
    else:
        size = {"IQ1_S": 0.02, "IQ1_M": 0.02, "IQ4_NL": 2e-3, "IQ4_XS": 1e-4}.get(kind, 1e-3)
        bits = rng.uniform(size / 2, size, len(blocks)).astype("<f2").view("<u2")
        if kind == "IQ1_M":
            for i in range(4):
                blocks[:, 49 + 2 * i] = blocks[:, 49 + 2 * i] & 15 | (((bits >> 4 * i) & 15) << 4).astype(np.uint8)
        else:
            blocks[:, :2] = bits[:, None].view(np.uint8)
    return blocks


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("plain")
    return convert(save("qwen3", root / "m", "old", **WIDE), root / "m.gguf")


def plainly(value: Any) -> Any:
    """As the writer takes it."""
    if not isinstance(value, Elements):
        return value
    return value.strings() if value.kind == STRING else value.numbers().tolist()


def mixed(plain: Path, target: Path, seed: int = 0) -> dict[str, np.ndarray]:
    """The plain file with a type of its own for each matrix. Returns their floats, as the `gguf` package reads them."""
    rng = np.random.default_rng(seed)
    file = read(plain)
    plans, floats = [], {}
    for name, raw in file.tensors.items():
        if name.split(".")[-2] not in PARTS:
            plans.append(plan(name, raw.dtype, raw.shape, bytes(raw.buffer)))
            continue
        kind = NEW[len(floats) % len(NEW)]
        blocks = random_blocks(kind, raw.shape, rng)
        values = gguf.dequantize(blocks, gguf.GGMLQuantizationType[kind]).reshape(raw.shape)
        plans.append(plan(name, kind, raw.shape, blocks))
        if kind == "NVFP4":
            factor = np.array([rng.uniform(0.5, 1)], np.float32)
            values = values * factor
            plans.append(plan(name.replace(".weight", ".scale"), "F32", (1,), factor))
            plans.append(plan(name.replace(".weight", ".input_scale"), "F32", (1,), np.ones(1, np.float32)))
        floats[name] = values
    metadata = {key: plainly(value) for key, value in file.metadata.items()}
    save_gguf(target, metadata | IMATRIX, plans)
    return floats


class Opened(Driver):
    def __init__(self, checkpoint: GgufCheckpoint, backend: str, source: Source | None = None) -> None:
        self.backend = pick(backend, "cpu", "f32")
        make = find_architecture(checkpoint.config, checkpoint.where)
        made = source or fitted(checkpoint.source, self.backend, None)
        self.model = build(lambda view: make(view, checkpoint.config), made, self.backend)
        self.kv = self.backend.kv(self.model.memory, 1 << 30)
        self.runner = self.backend.runner(self.model, self.kv)


@pytest.mark.parametrize("seed", [0, 1])
def test_every_matrix_has_the_packages_values(plain: Path, tmp_path: Path, seed: int) -> None:
    floats = mixed(plain, tmp_path / "m.gguf", seed)
    checkpoint = open_gguf(tmp_path / "m.gguf")
    kinds, close = set(), 0
    for name, stored in checkpoint.source.names.items():
        if stored not in floats:
            continue
        stem = name.removesuffix(".weight")
        weight = checkpoint.source.matrix(stem, floats[stored].shape).weight
        assert isinstance(weight, Blocks)
        kinds.add(weight.type)
        dense = Dequantized(checkpoint.source).matrix(stem, floats[stored].shape).weight
        assert dense is not None
        got = np.frombuffer(dense.data.buffer, np.float32).reshape(floats[stored].shape)
        # a factor is multiplied before the values here, and behind them in the reference
        assert np.allclose(got, floats[stored], rtol=2e-7 if weight.factors is not None else 0, atol=0)
        close += 1
    assert kinds == set(NEW)
    assert close == len(floats) == 14


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_mixed_file_answers_as_its_floats_do(plain: Path, tmp_path: Path, backend: str) -> None:
    mixed(plain, tmp_path / "m.gguf")
    checkpoint = open_gguf(tmp_path / "m.gguf")
    want = Opened(checkpoint, "mlx", Dequantized(checkpoint.source)).logits(PROMPT)
    got = Opened(checkpoint, backend).logits(PROMPT)
    # MLX has IQ2_XS and IQ2_S anew in 8 bits; the CPU kernels round activations to as many
    assert np.linalg.norm(got - want) <= 0.05 * np.linalg.norm(want)
    assert np.abs(want).max() > 0.1


def test_a_mixed_file_says_what_it_takes(plain: Path, tmp_path: Path) -> None:
    mixed(plain, tmp_path / "m.gguf")
    found = describe(str(tmp_path / "m.gguf"), LoadOptions(backend="torch", device="cpu"))
    assert found.runs, found.why_not
    need_kernels()  # without them it is plain floats, and says so
    kept = [line for line in found.kept_as if "IQ2_XXS" in line]
    assert kept == ["IQ2_XXS in 3.31 bits a weight instead of 2.06: an index and a sign each, as the kernels read them"]
    tensors, backend = read(tmp_path / "m.gguf").tensors, pick("torch", "cpu", "f32")
    stored = sum(raw.nbytes for raw in tensors.values() if raw.dtype in IN_PANELS)
    more = grown_bytes(tensors, backend)
    assert 0.3 * stored < more < 1.2 * stored
    assert found.memory_needed > found.stored_bytes + more
    assert not [line for line in found.kept_as if "MXFP4" in line or "IQ4_NL" in line]


def split(whole: Path, folder: Path) -> list[Path]:
    """The same file in three."""
    file = read(whole)
    names = list(file.tensors)
    metadata = {key: plainly(value) for key, value in file.metadata.items()}
    paths = [folder / f"s-{number + 1:05}-of-00003.gguf" for number in range(3)]
    for number, part in enumerate((names[:5], names[5:9], names[9:])):
        raws = [file.tensors[name] for name in part]
        plans = [plan(raw.name, raw.dtype, raw.shape, bytes(raw.buffer)) for raw in raws]
        own = {"split.no": number, "split.count": 3, "split.tensors.count": len(names)}
        save_gguf(paths[number], (metadata if number == 0 else {}) | own, plans)
    return paths


def test_shards_open_from_any_of_them(plain: Path, tmp_path: Path) -> None:
    mixed(plain, tmp_path / "m.gguf")
    whole = read(tmp_path / "m.gguf")
    for shard in split(tmp_path / "m.gguf", tmp_path):
        found = read(shard)
        assert list(found.tensors) == list(whole.tensors)
        assert found.metadata["quantize.imatrix.chunks_count"] == 695


def test_a_split_mixed_file_answers_as_the_whole_one(plain: Path, tmp_path: Path) -> None:
    """By the command, from its second shard, with the importance matrix's traces in the first."""
    mixed(plain, tmp_path / "m.gguf")
    shards = split(tmp_path / "m.gguf", tmp_path)
    said = []
    for file in (tmp_path / "m.gguf", shards[1]):
        command = ["run", str(file), "Hello", "--raw", "--json", "--max-tokens", "12", "--temperature", "0"]
        done = subprocess.run(
            [sys.executable, "-m", "app.cli", *command], capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        said.append(json.loads(done.stdout)["output_ids"])
    assert said[0] == said[1]
    assert len(set(said[0])) > 1
    shards[2].unlink()
    with pytest.raises(WeightsError, match=r"lacks s-00003-of-00003\.gguf"):
        read(shards[0])


def test_a_converted_mixed_file_keeps_its_factors(plain: Path, tmp_path: Path) -> None:
    floats = mixed(plain, tmp_path / "m.gguf")
    folder = convert(tmp_path / "m.gguf", tmp_path / "folder", "safetensors")
    from engine.weights.checkpoint import Checkpoint
    from engine.weights.gguf.blocks import dequantize

    names = {stored: name for name, stored in open_gguf(tmp_path / "m.gguf").source.names.items()}
    tensors = Checkpoint.open(folder).tensors
    for stored, want in floats.items():
        got = dequantize(tensors[names[stored]])
        assert np.allclose(got, want, rtol=2**-8, atol=0), stored
    shutil.rmtree(folder)
