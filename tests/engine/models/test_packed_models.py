"""Models whose matrices other tools have packed: logits of the reference with the same floats, on both backends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
import torch

from backends.base import Segment
from backends.pick import pick
from backends.torch.linear import PackedAffine
from engine.describe import describe
from engine.loading import LoadOptions, load
from engine.model_files import open_model
from engine.models.registry import find_architecture
from engine.weights.convert import convert
from engine.weights.fit import fitted
from engine.weights.view import build
from tests.checkpoints import reference, save
from tests.driver import Driver
from tests.needs import no_kernels
from tests.packed_checkpoints import METHODS, save_packed

PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150, 99, 31, 64, 128, 254, 1, 2, 90, 77, 12, 180]
WIDE = dict(hidden_size=128, intermediate_size=192, num_attention_heads=4, num_key_value_heads=2)


class Packed(Driver):
    """As loading does it, which gives a backend what it can multiply."""

    def __init__(self, folder: Path, backend: str) -> None:
        opened = open_model(folder)
        self.backend = pick(backend, "cpu", "f32")
        make = find_architecture(opened.config, folder.name)
        self.model = build(
            lambda view: make(view, opened.config), fitted(opened.source, self.backend, None), self.backend
        )
        self.kv = self.backend.kv(self.model.memory, 1 << 30)
        self.runner = self.backend.runner(self.model, self.kv)


def wanted(name: str, floats: dict[str, torch.Tensor], **changes: object) -> np.ndarray:
    model = reference(name, **changes)
    state = model.state_dict()
    with torch.no_grad():
        for key, value in floats.items():
            state[key].copy_(value)
        return model(torch.tensor([PROMPT])).logits[0].numpy()


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["qwen3", "qwen2"])
def test_logits_are_those_of_the_same_floats(tmp_path: Path, name: str, method: str, backend: str) -> None:
    floats = save_packed(name, tmp_path / "m", method, **WIDE)
    want = wanted(name, floats, **WIDE)
    got = Packed(tmp_path / "m", backend).logits(PROMPT)
    # the CPU kernels round activations to eight bits, but beside floats of eight bits
    exact = backend == "mlx" or method == "fp8" or no_kernels()
    room = 1e-4 if exact else 0.05
    assert np.linalg.norm(got - want) <= room * np.linalg.norm(want)


@pytest.mark.parametrize("method", ["gptq", "awq", "compressed-tensors"])
def test_by_default_a_cpu_multiplies_what_is_packed(
    tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And makes no floats of it, which would take eight times the memory, and as much longer."""
    floats = save_packed("qwen3", tmp_path / "m", method, **WIDE)
    want = wanted("qwen3", floats, **WIDE)
    monkeypatch.setattr(PackedAffine, "dense", None)
    loaded = load(str(tmp_path / "m"), LoadOptions(backend="torch", device="cpu"))
    slot = loaded.kv.open(len(PROMPT))
    got = loaded.runner.run([Segment(slot, PROMPT, want=range(len(PROMPT)))]).read()[slot].logits
    assert np.linalg.norm(np.asarray(got) - want) <= 0.05 * np.linalg.norm(want)
    loaded.close()


@pytest.mark.parametrize("method", ["fp8", "nvfp4"])
def test_experts_of_a_mixture(tmp_path: Path, method: str) -> None:
    changes = dict(hidden_size=64, moe_intermediate_size=64)
    floats = save_packed("qwen3_moe", tmp_path / "m", method, **changes)
    model = reference("qwen3_moe", **changes)
    state = model.state_dict()
    for key, value in floats.items():
        stem, _, last = key.partition(".experts.")
        if not last:
            state[key].copy_(value)
            continue
        number, part = last.split(".")[:2]
        into = state[f"{stem}.experts.{'down_proj' if part == 'down_proj' else 'gate_up_proj'}"][int(number)]
        half = len(into) // 2
        {"down_proj": into, "gate_proj": into[:half], "up_proj": into[half:]}[part].copy_(value)
    with torch.no_grad():
        want = model(torch.tensor([PROMPT])).logits[0].numpy()
    for backend, room in (("torch", 1e-4 if method == "fp8" or no_kernels() else 0.05), ("mlx", 1e-4)):
        off = np.linalg.norm(Packed(tmp_path / "m", backend).logits(PROMPT) - want, axis=1)
        # where activations are rounded, a token may be sent to another expert
        close = off <= room * np.linalg.norm(want, axis=1)
        assert close.mean() >= (0.7 if room > 1e-4 else 1)


@pytest.mark.parametrize("mode", ["mxfp4", "nvfp4", "mxfp8"])
@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_folders_in_mlxs_own_modes(tmp_path: Path, mode: str, backend: str) -> None:
    folder = save("qwen3", tmp_path / "m", "old", **WIDE)
    weights = mx.load(str(folder / "model.safetensors"))
    floats, packed = {}, {}
    with mx.stream(mx.cpu):
        for key, value in weights.items():
            if key.endswith("_proj.weight"):
                stem = key.removesuffix(".weight")
                packed[key], packed[f"{stem}.scales"] = mx.quantize(value, mode=mode)
                whole = mx.dequantize(packed[key], packed[f"{stem}.scales"], mode=mode, dtype=mx.float32)
                floats[key] = torch.from_numpy(np.array(whole))
            else:
                packed[key] = value
        mx.save_safetensors(str(folder / "model.safetensors"), packed)
    config = json.loads((folder / "config.json").read_text())
    section = {"bits": 8 if mode == "mxfp8" else 4, "group_size": 16 if mode == "nvfp4" else 32, "mode": mode}
    (folder / "config.json").write_text(json.dumps(config | {"quantization": section}))
    want = wanted("qwen3", floats, **WIDE)
    got = Packed(folder, backend).logits(PROMPT)
    room = 1e-4 if backend == "mlx" or mode == "mxfp8" or no_kernels() else 0.05
    assert np.linalg.norm(got - want) <= room * np.linalg.norm(want)
    assert open_model(folder).stored_as == f"{mode.upper()} (MLX)"


@pytest.mark.parametrize("method", METHODS)
def test_a_model_says_how_it_is_stored_and_what_becomes_of_it(tmp_path: Path, method: str) -> None:
    save_packed("qwen3", tmp_path / "m", method, **WIDE)
    words = {"fp8": "FP8", "gptq": "4 bit (GPTQ)", "awq": "4 bit (AWQ)", "nvfp4": "NVFP4 (ModelOpt)"}
    found = describe(str(tmp_path / "m"), LoadOptions(backend="torch", device="cpu"))
    assert found.runs, found.why_not
    assert found.stored_as == words.get(method, "4 bit (compressed-tensors)")
    assert found.kept_as == []
    if method == "fp8":
        (kept,) = describe(str(tmp_path / "m"), LoadOptions(backend="mlx")).kept_as
        assert "FP8 as plain floats" in kept


def test_a_fresh_process_tells_and_runs_it(tmp_path: Path) -> None:
    save_packed("qwen3", tmp_path / "m", "gptq", **WIDE)
    command = [sys.executable, "-m", "app.cli", "info", str(tmp_path / "m"), "--json", "--backend", "torch"]
    made = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert json.loads(made.stdout)["stored_as"] == "4 bit (GPTQ)", made.stderr
    loaded = load(str(tmp_path / "m"), LoadOptions(backend="torch", device="cpu"))
    assert loaded.kv is not None
    loaded.close()


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_matrix_whose_inputs_are_out_of_order_runs_from_its_own_bits(tmp_path: Path, backend: str) -> None:
    from safetensors.torch import load_file, save_file

    floats = save_packed("qwen3", tmp_path / "m", "gptq", **WIDE)
    path = tmp_path / "m" / "model.safetensors"
    tensors = load_file(path)
    stem = "model.layers.0.mlp.down_proj"
    turned = torch.randperm(192, generator=torch.Generator().manual_seed(0))
    tensors[f"{stem}.g_idx"] = tensors[f"{stem}.g_idx"][turned]
    save_file(tensors, path)
    codes = tensors[f"{stem}.qweight"].t()[:, :, None] >> torch.arange(0, 32, 4) & 15
    zeros = (tensors[f"{stem}.qzeros"][:, :, None] >> torch.arange(0, 32, 4) & 15).reshape(6, -1) + 1
    at = tensors[f"{stem}.g_idx"].long()
    scales = tensors[f"{stem}.scales"].float()
    floats[f"{stem}.weight"] = (codes.reshape(128, 192) - zeros.t()[:, at]) * scales.t()[:, at]
    found = describe(str(tmp_path / "m"), LoadOptions(backend="torch", device="cpu"))
    assert found.kept_as == []
    got = Packed(tmp_path / "m", backend).logits(PROMPT)
    want = wanted("qwen3", floats, **WIDE)
    assert np.linalg.norm(got - want) <= 1e-4 * np.linalg.norm(want)


@pytest.mark.parametrize("method", ["fp8", "awq"])
def test_a_packed_folder_is_converted(tmp_path: Path, method: str) -> None:
    floats = save_packed("qwen3", tmp_path / "m", method, **WIDE)
    plain = convert(tmp_path / "m", tmp_path / "plain", "safetensors")
    stored = open_model(plain).tensors["model.layers.1.mlp.up_proj.weight"]
    assert stored.dtype == ("F16" if method == "awq" else "BF16")
    got = np.frombuffer(stored.buffer, np.uint16)
    want = floats["model.layers.1.mlp.up_proj.weight"].to(torch.float16 if method == "awq" else torch.bfloat16)
    assert np.array_equal(got, want.view(torch.int16).numpy().view(np.uint16).reshape(-1))
    assert "quantization_config" not in json.loads((plain / "config.json").read_text())
