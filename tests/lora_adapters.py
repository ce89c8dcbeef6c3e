"""Random LoRA adapters in the forms that tools write, and the reference's weights with them merged in."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
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

    def merged(self, model: Any) -> Any:
        """A copy of the reference with the adapter in its weights, as PEFT's merge_and_unload makes it."""
        import torch

        made = copy.deepcopy(model)
        modules = dict(made.named_modules())
        with torch.no_grad():
            for name, (a, b) in self.pairs.items():
                modules[name].weight += self.scales[name] * torch.from_numpy(b) @ torch.from_numpy(a)
        return made

    def save_peft(self, folder: Path, **more: Any) -> Path:
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        tensors = {}
        for name, (a, b) in self.pairs.items():
            tensors[f"base_model.model.{name}.lora_A.weight"] = a
            tensors[f"base_model.model.{name}.lora_B.weight"] = b
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
        save_file(tensors, folder / "adapters.safetensors")
        (scale,) = set(self.scales.values())
        parameters = {"rank": self.config["r"], "scale": scale, "dropout": 0.0}
        config = {"fine_tune_type": "lora", "num_layers": -1, "lora_parameters": parameters}
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
