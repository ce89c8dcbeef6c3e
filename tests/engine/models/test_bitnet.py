"""BitNet's ternary matrices, packed or as they were trained: the same model as one that has their values as floats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.weights.checkpoint import Checkpoint
from engine.weights.packed_tensors import PackedTensors
from tests.checkpoints import save
from tests.driver import Driver
from tests.engine.models.test_parity import PROMPT, worst

WAYS = {
    "packed": {"linear_class": "autobitlinear", "quantization_mode": "offline"},
    "packed, divided": {"linear_class": "bitlinear"},
    "as trained": {"linear_class": "autobitlinear", "quantization_mode": "online"},
}


def rounded(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """-1, 0 and 1, and what they are multiplied by."""
    mean = weight.abs().mean().clamp(min=1e-5)
    return (weight / mean).round().clamp(-1, 1), mean.reshape(1)


def packed(codes: torch.Tensor) -> torch.Tensor:
    """As transformers' `pack_weights` does: four quarters of the rows in a byte."""
    quarters = (codes + 1).to(torch.uint8).chunk(4)
    return quarters[0] | quarters[1] << 2 | quarters[2] << 4 | quarters[3] << 6


def write(folder: Path, tensors: Mapping[str, torch.Tensor], quantization: Mapping[str, str] | None) -> Path:
    if quantization:
        config = json.loads((folder / "config.json").read_text())
        config["quantization_config"] = {"quant_method": "bitnet", **quantization}
        (folder / "config.json").write_text(json.dumps(config))
    for file in folder.glob("*.safetensors*"):
        file.unlink()
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors")
    return folder


def in_way(way: str, folder: Path) -> tuple[Path, Path]:
    """A checkpoint, and another whose floats have its values."""
    plain = save("bitnet", folder / "plain")
    stored = {name: t for file in sorted(plain.glob("*.safetensors")) for name, t in load_file(file).items()}
    floats, tensors = dict(stored), dict(stored)
    for name, weight in stored.items():
        if ".layers." not in name or weight.ndim != 2:
            continue
        codes, mean = rounded(weight)
        floats[name] = codes * mean
        if way != "as trained":
            tensors[name] = packed(codes)
            tensors[f"{name}_scale"] = 1 / mean if "divided" in way else mean
    return write(save("bitnet", folder / "ternary"), tensors, WAYS[way]), write(plain, floats, None)


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("way", WAYS)
def test_ternary_matrices_are_the_floats_they_stand_for(way: str, backend: str, tmp_path: Path) -> None:
    ternary, plain = in_way(way, tmp_path)
    source = Checkpoint.open(ternary).source
    assert isinstance(source, PackedTensors)
    assert set(source.kinds.values()) == {"ternary"}
    assert source.stored_as == "ternary (BitNet)"
    want = Driver(plain, backend).logits(PROMPT)
    driver = Driver(ternary, backend)
    assert worst(driver.logits(PROMPT), want) < 1e-4
    assert driver.greedy(PROMPT, 16) == Driver(plain, backend).greedy(PROMPT, 16)


def test_activations_in_eight_bits_hardly_differ(tmp_path: Path) -> None:
    """transformers rounds them, each token's by its largest, as the model was trained; here they stay floats."""
    from transformers import AutoModelForCausalLM
    from transformers.integrations.bitnet import pack_weights

    ternary, plain = in_way("packed", tmp_path)
    codes = torch.randint(-1, 2, (16, 8))
    assert torch.equal(packed(codes), pack_weights(codes.clone()))

    def eight_bits(_: object, given: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        scale = 127 / given[0].abs().max(dim=-1, keepdim=True).values.clamp(min=1e-5)
        return ((given[0] * scale).round().clamp(-128, 127) / scale,)

    model = AutoModelForCausalLM.from_pretrained(plain, dtype=torch.float32).eval()
    for module in model.model.layers.modules():
        if isinstance(module, torch.nn.Linear):
            module.register_forward_pre_hook(eight_bits)
    with torch.no_grad():
        want = model(torch.tensor([PROMPT])).logits[0].numpy()
    got = Driver(ternary, "torch").logits(PROMPT)
    cosine = float((got * want).sum() / (np.linalg.norm(got) * np.linalg.norm(want)))
    assert 0.99 < cosine < 0.999999
