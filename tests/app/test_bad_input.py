"""Broken checkpoints: each is one clear error with exit code 2, no traceback, and nothing stays loaded."""

from __future__ import annotations

import gc
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from engine.models.registry import ARCHITECTURES, ENCODERS
from tests.app.conftest import Outcome
from tests.checkpoints import save

Command = Callable[..., Outcome]
WEIGHTS = "model.safetensors"


def edit_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    config = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({k: v for k, v in config.items() if v is not ...}))


def edit_tensors(folder: Path, edit: Callable[[dict[str, np.ndarray]], None]) -> None:
    tensors = load_file(folder / WEIGHTS)
    edit(tensors)
    save_file(tensors, folder / WEIGHTS)


def truncate(folder: Path) -> None:
    data = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(data[: len(data) // 2])


def scramble_header(folder: Path) -> None:
    data = bytearray((folder / WEIGHTS).read_bytes())
    data[8:40] = b"\xff" * 32
    (folder / WEIGHTS).write_bytes(bytes(data))


def name_a_missing_shard(folder: Path) -> None:
    names = list(load_file(folder / WEIGHTS))
    (folder / WEIGHTS).rename(folder / "model-00001-of-00002.safetensors")
    shards = {name: f"model-0000{1 + i % 2}-of-00002.safetensors" for i, name in enumerate(names)}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))


def lose_two_and_add_one(tensors: dict[str, np.ndarray]) -> None:
    del tensors["model.layers.0.mlp.down_proj.weight"], tensors["model.norm.weight"]
    tensors["model.layers.7.surprise"] = np.zeros(3, np.float32)
    tensors["model.layers.1.self_attn.q_norm.weight"] = np.zeros(5, np.float32)


def poison(tensors: dict[str, np.ndarray]) -> None:
    tensors["model.norm.weight"][:] = np.nan


BROKEN: dict[str, tuple[Callable[[Path], Any], list[str]]] = {
    "no config": (lambda f: (f / "config.json").unlink(), ["no config.json"]),
    "config is no JSON": (lambda f: (f / "config.json").write_text("{not json"), ["config.json", "not valid JSON"]),
    "config is a list": (lambda f: (f / "config.json").write_text("[]"), ["config.json", "object"]),
    "no model_type": (lambda f: edit_config(f, model_type=...), ["model_type"]),
    "unknown model_type": (
        lambda f: edit_config(f, model_type="mamba9"),
        ["mamba9", "broken", "Supported:", "qwen3_5"],
    ),
    "a size is a string": (lambda f: edit_config(f, hidden_size="64"), ["hidden_size", "'64'"]),
    "a size is missing": (lambda f: edit_config(f, num_hidden_layers=...), ["num_hidden_layers"]),
    "heads do not divide": (lambda f: edit_config(f, num_key_value_heads=3), ["num_key_value_heads"]),
    "unknown rope": (lambda f: edit_config(f, rope_scaling={"rope_type": "spiral"}), ["spiral", "yarn"]),
    "rope without its factor": (lambda f: edit_config(f, rope_scaling={"rope_type": "linear"}), ["factor"]),
    "unknown quantization": (lambda f: edit_config(f, quantization_config={"quant_method": "hqq"}), ["hqq"]),
    "truncated weights": (truncate, [WEIGHTS]),
    "corrupt weights": (scramble_header, [WEIGHTS]),
    "empty weights": (lambda f: (f / WEIGHTS).write_bytes(b""), [WEIGHTS]),
    "no weights": (lambda f: (f / WEIGHTS).unlink(), ["safetensors"]),
    "a missing shard": (name_a_missing_shard, ["model-00002-of-00002.safetensors"]),
    "wrong tensors": (
        lambda f: edit_tensors(f, lose_two_and_add_one),
        ["layers.0.mlp.down_proj.weight", "model.norm.weight", "layers.7.surprise", "layers.1.self_attn.q_norm.weight"],
    ),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), ["tokenizer.json", "vocab.json"]),
    "broken tokenizer": (lambda f: (f / "tokenizer.json").write_text("{}"), ["tokenizer.json"]),
    "broken template": (lambda f: (f / "chat_template.jinja").write_text("{% for %}"), ["template"]),
}


@pytest.fixture
def broken(model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model, tmp_path / "broken"))


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_checkpoint_is_one_clear_error(command: Command, broken: Path, what: str) -> None:
    damage, named = BROKEN[what]
    damage(broken)
    seen = command("run", broken, "Hi", "--max-tokens", 2)
    assert seen.code == 2
    assert seen.out == ""
    assert "Traceback" not in seen.err
    assert seen.err.startswith("grus: ")
    for word in named:
        assert word in seen.err


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_an_unknown_architecture_is_told_with_what_is_supported(command: Command, broken: Path, backend: str) -> None:
    edit_config(broken, model_type="mamba9")
    run = command("run", broken, "Hi", "--backend", backend)
    info = command("info", broken, "--backend", backend)
    assert (run.code, info.code) == (2, 2)
    assert "Runs here      no" in info.out
    for said in (run.err, info.out):
        assert (
            f"{broken} has the architecture `mamba9` (`architectures`: Qwen3ForCausalLM), which Grus does not know"
            in said
        )
        assert f"Supported: {', '.join(sorted({*ARCHITECTURES, *ENCODERS}))}." in said
        assert ("mlx-lm was tried" in said) == (backend == "mlx")
        assert ("transformers was tried" in said) == (backend == "torch")


def test_what_mlx_lm_cannot_read_is_one_sentence(command: Command, broken: Path) -> None:
    edit_config(broken, model_type="gemma", hidden_size=...)
    seen = command("run", broken, "Hi", "--backend", "mlx")
    assert seen.code == 2
    assert seen.err.startswith(f"grus: {broken} (`architectures`: Qwen3ForCausalLM): mlx-lm cannot load this model: ")
    assert len(seen.err.splitlines()) == 1


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_heads_of_an_odd_size_and_four_bits_are_one_sentence(command: Command, tmp_path: Path, backend: str) -> None:
    """A rotary part is even, but a head beside it need not be."""
    folder = save("qwen3_5", tmp_path / "odd", head_dim=33)
    for name in ("run", "info"):
        seen = command(name, folder, *(["Hi"] if name == "run" else []), "--kv-bits", 4, "--backend", backend)
        assert seen.code == 2
        assert "heads have 33 dimensions" in seen.out + seen.err
        assert "8 bits" in seen.out + seen.err
        assert "Traceback" not in seen.err
    assert command("run", folder, "Hi", "--max-tokens", 2, "--kv-bits", 8, "--backend", backend).code == 0


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_nan_logits_are_an_error_and_not_a_token(command: Command, broken: Path, backend: str) -> None:
    edit_tensors(broken, poison)
    seen = command("run", broken, "Hi", "--max-tokens", 2, "--backend", backend)
    assert seen.code == 1
    assert "NaN" in seen.err
    assert "Traceback" not in seen.err


def test_what_is_no_model_at_all(command: Command, tmp_path: Path) -> None:
    for name in ("not a model", "/no/such/folder", "nobody/nothing"):
        seen = command("run", name, "Hi", "--offline", "--cache-dir", tmp_path)
        assert seen.code == 2
        assert "Traceback" not in seen.err
        assert name in seen.err


def test_nothing_stays_loaded_after_an_error(command: Command, broken: Path) -> None:
    import torch

    edit_tensors(broken, lose_two_and_add_one)
    gc.collect()
    before = sum(isinstance(o, torch.Tensor) for o in gc.get_objects())
    command("run", broken, "Hi")
    gc.collect()
    assert sum(isinstance(o, torch.Tensor) for o in gc.get_objects()) <= before
