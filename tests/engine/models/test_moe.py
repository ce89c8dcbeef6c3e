"""Mixtures of experts in the layouts that repositories publish."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from engine.errors import WeightsError
from tests.checkpoints import save
from tests.driver import Driver

PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150, 99, 31, 64]
EXPERTS, FFN, HIDDEN = 8, 32, 64


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("moe")
    return cache(lambda name: save(name, root / name, "new"))


def published(source: Path, folder: Path) -> Path:
    """As Qwen publishes it: beside an image encoder, experts in two tensors a layer, and a layer that guesses ahead."""
    import torch
    from safetensors.torch import load_file, save_file

    tensors = load_file(source / "model.safetensors")
    made = {"mtp.norm.weight": torch.ones(HIDDEN), "model.visual.patch_embed.proj.bias": torch.ones(4)}
    for name in list(tensors):
        stem, found, _ = name.partition(".experts.0.gate_proj.weight")
        if found:
            part = {
                p: [tensors.pop(f"{stem}.experts.{i}.{p}_proj.weight") for i in range(EXPERTS)]
                for p in ("gate", "up", "down")
            }
            both = torch.stack([torch.cat(pair) for pair in zip(part["gate"], part["up"])])
            tensors[f"{stem}.experts.gate_up_proj"] = both
            tensors[f"{stem}.experts.down_proj"] = torch.stack(part["down"])
    for name, values in tensors.items():
        made[name.replace("model.", "model.language_model.", 1) if name.startswith("model.") else name] = values
    folder.mkdir()
    save_file(made, folder / "model.safetensors", {"format": "pt"})
    text = json.loads((source / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({"model_type": "qwen3_5_moe", "text_config": text}))
    return folder


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_experts_in_one_tensor(folder: Callable[[str], Path], tmp_path: Path, backend: str) -> None:
    apart = Driver(folder("qwen3_5_moe"), backend).logits(PROMPT)
    together = Driver(published(folder("qwen3_5_moe"), tmp_path / "m"), backend).logits(PROMPT)
    assert np.abs(together - apart).max() <= 1e-5 * np.abs(apart).max()


def test_experts_of_another_size_are_named(folder: Callable[[str], Path], tmp_path: Path) -> None:
    wrong = published(folder("qwen3_5_moe"), tmp_path / "m")
    config = json.loads((wrong / "config.json").read_text())
    config["text_config"]["moe_intermediate_size"] = 16
    (wrong / "config.json").write_text(json.dumps(config))
    with pytest.raises(WeightsError, match=rf"experts.gate_up_proj: has shape \[{EXPERTS}, {2 * FFN}, {HIDDEN}\]"):
        Driver(wrong, "torch")
