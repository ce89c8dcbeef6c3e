"""Random LoRA adapters in the forms that tools write, and the reference's weights with them merged in."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

LAYER = re.compile(r"\blayers\.\d+\.")
TARGETS = r"(q|k|v|o|gate|up|down)_proj$"


@dataclass
class RandomLora:
    """`scale * b @ a` for modules of a reference model, by their names there."""

    pairs: dict[str, tuple[np.ndarray, np.ndarray]]
    scales: dict[str, float]
    config: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, np.ndarray] = field(default_factory=dict)  # of DoRA: the lengths of a merged matrix's rows

    def merged(self, model: Any) -> Any:
        """A copy of the reference with the adapter in its weights, as PEFT's merge_and_unload makes it."""
        import torch

        made = copy.deepcopy(model)
        modules = dict(made.named_modules())
        with torch.no_grad():
            for name, (a, b) in self.pairs.items():
                weight = modules[name].weight
                weight += self.scales[name] * torch.from_numpy(b) @ torch.from_numpy(a)
                if name in self.sizes:
                    weight *= (torch.from_numpy(self.sizes[name]) / weight.norm(dim=1))[:, None]
        return made

    def save_peft(self, folder: Path, **more: Any) -> Path:
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        tensors = {}
        for name, (a, b) in self.pairs.items():
            tensors[f"base_model.model.{name}.lora_A.weight"] = a
            tensors[f"base_model.model.{name}.lora_B.weight"] = b
        for name, sizes in self.sizes.items():
            tensors[f"base_model.model.{name}.lora_magnitude_vector"] = sizes
        save_file(tensors, folder / "adapter_model.safetensors")
        (folder / "adapter_config.json").write_text(json.dumps({**self.config, **more}))
        return folder

    def save_mlx(self, folder: Path) -> Path:
        """As mlx-lm writes them; all modules have one scale."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        tensors = {}
        for name, (a, b) in self.pairs.items():
            tensors[f"{name}.lora_a"] = np.ascontiguousarray(a.T)
            tensors[f"{name}.lora_b"] = np.ascontiguousarray(b.T)
        for name, sizes in self.sizes.items():
            tensors[f"{name}.m"] = sizes
        save_file(tensors, folder / "adapters.safetensors")
        (scale,) = set(self.scales.values())
        parameters = {"rank": self.config["r"], "scale": scale, "dropout": 0.0}
        config = {"fine_tune_type": "dora" if self.sizes else "lora", "num_layers": -1, "lora_parameters": parameters}
        (folder / "adapter_config.json").write_text(json.dumps(config))
        return folder


def random_lora(
    model: Any,
    seed: int,
    targets: str | Callable[[str], bool] = TARGETS,
    rank: int = 4,
    alpha: float = 8,
    spread: float = 0.2,
    ranks: Mapping[str, int] | None = None,
    alphas: Mapping[str, float] | None = None,
    rslora: bool = False,
    base: str = "tests/base",
) -> RandomLora:
    """`targets`: an expression, or what says yes, for names of linears. `ranks`, `alphas`: PEFT's patterns, of whole names or of
    their ends."""
    import torch

    wanted = targets if callable(targets) else re.compile(targets).search
    draw = np.random.default_rng(seed)
    pairs, scales = {}, {}
    for name, module in model.named_modules():
        if not isinstance(module, torch.nn.Linear) or not wanted(name):
            continue
        r = next((n for key, n in (ranks or {}).items() if name.endswith(key)), rank)
        strength = next((n for key, n in (alphas or {}).items() if name.endswith(key)), alpha)
        out, inp = module.weight.shape
        a, b = draw.normal(0, spread, (r, inp)), draw.normal(0, spread, (out, r))
        pairs[name] = a.astype(np.float32), b.astype(np.float32)
        scales[name] = strength / (r**0.5 if rslora else r)
    config = dict(
        peft_type="LORA",
        task_type="CAUSAL_LM",
        base_model_name_or_path=base,
        r=rank,
        lora_alpha=alpha,
        rank_pattern=dict(ranks or {}),
        alpha_pattern=dict(alphas or {}),
        use_rslora=rslora,
        use_dora=False,
        bias="none",
        modules_to_save=None,
        target_modules=sorted({name.rpartition(".")[2] for name in pairs}),
        init_lora_weights=True,
        lora_dropout=0.0,
        inference_mode=True,
    )
    return RandomLora(pairs, scales, config)


@dataclass
class RandomExperts:
    """`scale * b @ a` for each expert of a reference's parameters `...experts.gate_up_proj` and `...experts.down_proj`."""

    pairs: dict[str, tuple[np.ndarray, np.ndarray]]  # [experts, rank, in] and [experts, out, rank]
    scale: float
    transposed: bool  # parameters are [experts, in, out]
    config: dict[str, Any]

    def merged(self, model: Any) -> Any:
        """As PEFT's merge_and_unload makes it."""
        import torch

        made = copy.deepcopy(model)
        parameters = dict(made.named_parameters())
        with torch.no_grad():
            for name, (a, b) in self.pairs.items():
                delta = self.scale * torch.from_numpy(b @ a)
                parameters[name] += delta.swapaxes(1, 2) if self.transposed else delta
        return made

    def _save(self, folder: Path, tensors: Mapping[str, np.ndarray], **more: Any) -> Path:
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        save_file({name: np.ascontiguousarray(x) for name, x in tensors.items()}, folder / "adapter_model.safetensors")
        (folder / "adapter_config.json").write_text(json.dumps({**self.config, **more}))
        return folder

    def save_parameters(self, folder: Path, older: bool = False) -> Path:
        """PEFT's `target_parameters`: one wrapper around the other, all experts in two matrices. `older`: with outputs for inputs."""
        tensors = {}
        for name, pair in self.pairs.items():
            module, _, part = name.rpartition(".")
            a, b = (x.swapaxes(1, 2) for x in reversed(pair)) if older else pair
            stem = f"base_model.model.{module}" + (".base_layer" if part == "gate_up_proj" else "")
            tensors[f"{stem}.lora_A.weight"] = a.reshape(-1, a.shape[2])
            tensors[f"{stem}.lora_B.weight"] = b.transpose(1, 2, 0).reshape(b.shape[1], -1)
        return self._save(
            folder, tensors, target_modules=[], target_parameters=["experts.down_proj", "experts.gate_up_proj"]
        )

    def apart(self) -> Iterator[tuple[str, str, np.ndarray, np.ndarray]]:
        """The parts of each parameter: its module, `gate_proj` and the like, and the pair."""
        for name, (a, b) in self.pairs.items():
            module, _, part = name.rpartition(".")
            if part != "gate_up_proj":
                yield module, part, a, b
            else:
                half = b.shape[1] // 2
                gates, ups = (b[:, ::2], b[:, 1::2]) if self.config["base"] == "gpt_oss" else (b[:, :half], b[:, half:])
                yield from ((module, f"{word}_proj", a, part_b) for word, part_b in (("gate", gates), ("up", ups)))

    def save_each(self, folder: Path) -> Path:
        """One pair of matrices for each expert, as PEFT writes where experts are linears."""
        tensors = {}
        for module, part, a, b in self.apart():
            for i in range(len(a)):
                stem = f"base_model.model.{module}.{i}.{part}"
                tensors[f"{stem}.lora_A.weight"], tensors[f"{stem}.lora_B.weight"] = a[i], b[i]
        return self._save(folder, tensors)

    def save_mlx(self, folder: Path) -> Path:
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        tensors = {}
        for module, part, a, b in self.apart():
            stem = f"{module.replace('experts', 'switch_mlp')}.{part}"
            tensors[f"{stem}.lora_a"], tensors[f"{stem}.lora_b"] = np.ascontiguousarray(a), np.ascontiguousarray(b)
        save_file(tensors, folder / "adapters.safetensors")
        parameters = {"rank": self.config["r"], "scale": self.scale, "dropout": 0.0}
        (folder / "adapter_config.json").write_text(
            json.dumps({"fine_tune_type": "lora", "num_layers": -1, "lora_parameters": parameters})
        )
        return folder


def random_experts(model: Any, seed: int, rank: int = 3, alpha: float = 6, spread: float = 0.2) -> RandomExperts:
    draw, pairs = np.random.default_rng(seed), {}
    transposed = model.config.model_type == "gpt_oss"
    for name, p in model.named_parameters():
        if not re.search(r"experts\.(gate_up|down)_proj$", name):
            continue
        count, out, inp = p.shape if not transposed else (p.shape[0], p.shape[2], p.shape[1])
        a, b = draw.normal(0, spread, (count, rank, inp)), draw.normal(0, spread, (count, out, rank))
        pairs[name] = a.astype(np.float32), b.astype(np.float32)
    config = dict(peft_type="LORA", r=rank, lora_alpha=alpha, bias="none", base=model.config.model_type)
    return RandomExperts(pairs, alpha / rank, transposed, config)
