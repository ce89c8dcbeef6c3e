"""Checkpoints whose head for multi-token prediction is one more layer (GLM 4.5 and 4.7 Flash, DeepSeek V3), and a reference of the head.

The layer itself is transformers': a model whose last layer has the head's weights. What is around it is arithmetic as in vLLM's
deepseek_mtp.py and glm4_moe_mtp.py.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.weights.convert import convert
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.reader import read
from engine.weights.gguf.writer import write
from tests.checkpoints import save
from tests.prediction_heads import listed, plan

AROUND = {
    "eh_proj": "eh_proj",
    "enorm": "enorm",
    "hnorm": "hnorm",
    "shared_head.norm": "shared_head_norm",
}  # ours, GGUF's


def save_with_layer_head(name: str, folder: Path, seed: int = 5, **changes: Any) -> Path:
    """A tiny checkpoint with a head of random weights behind its last layer, and copies of what the head shares with the model."""
    save(name, folder, "old", **changes)
    path, count = folder / "model.safetensors", layers_of(folder)
    tensors = load_file(path)
    generator = torch.Generator().manual_seed(seed)
    last, own = f"model.layers.{count - 1}.", f"model.layers.{count}."
    for known in [known for known in tensors if known.startswith(last)]:
        like = tensors[known]
        made = torch.randn(like.shape, generator=generator) * (0.1 if like.ndim == 1 else 0.2)
        tensors[known.replace(last, own)] = made + (1.0 if known.endswith("norm.weight") else 0.0)
    hidden = tensors["model.norm.weight"].shape[0]
    tensors[f"{own}eh_proj.weight"] = 0.2 * torch.randn(hidden, 2 * hidden, generator=generator)
    for norm in ("enorm", "hnorm", "shared_head.norm"):
        tensors[f"{own}{norm}.weight"] = 1.0 + 0.1 * torch.randn(hidden, generator=generator)
    tensors[f"{own}embed_tokens.weight"] = tensors["model.embed_tokens.weight"].clone()
    tensors[f"{own}shared_head.head.weight"] = tensors["lm_head.weight"].clone()
    save_file(tensors, path, {"format": "pt"})
    return folder


def layers_of(folder: Path) -> int:
    return int(json.loads((folder / "config.json").read_text())["num_hidden_layers"])


def layer_head_logits(folder: Path, ids: list[int], hidden: Tensor) -> tuple[Tensor, Tensor]:
    """The head's logits and hidden states for the model's hidden states at n positions and the tokens after them."""
    import transformers

    count = layers_of(folder)
    w = {name: tensor.float() for name, tensor in load_file(folder / "model.safetensors").items()}
    own = {name.removeprefix(f"model.layers.{count}."): tensor for name, tensor in w.items() if f".{count}." in name}
    swapped = {name: tensor for name, tensor in w.items() if not name.startswith(f"model.layers.{count}.")}
    for name in [name for name in swapped if name.startswith(f"model.layers.{count - 1}.")]:
        swapped[name] = w[name.replace(f".{count - 1}.", f".{count}.", 1)]
    with tempfile.TemporaryDirectory() as other:
        shutil.copy(folder / "config.json", other)
        save_file(
            {name: t.contiguous().clone() for name, t in swapped.items()},
            Path(other) / "model.safetensors",
            {"format": "pt"},
        )
        model = transformers.AutoModelForCausalLM.from_pretrained(
            other, dtype=torch.float32, attn_implementation="eager"
        )
    model.eval()
    eps, n = model.config.rms_norm_eps, len(ids)

    def norm(x: Tensor, name: str) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * own[f"{name}.weight"]

    both = torch.cat((norm(w["model.embed_tokens.weight"][ids], "enorm"), norm(hidden, "hnorm")), -1)
    x = (both @ own["eh_proj.weight"].T)[None]
    positions = torch.arange(n)[None]
    mask = torch.full((n, n), torch.finfo(torch.float32).min).triu(1)[None, None]
    with torch.no_grad():
        x = model.model.layers[count - 1](
            x,
            attention_mask=mask,
            position_ids=positions,
            position_embeddings=model.model.rotary_emb(x, positions),
        )
        states = norm(x[0] if isinstance(x, tuple) else x, "shared_head.norm").reshape(n, -1)
    return states @ w["lm_head.weight"].T, states


def as_layer_head_gguf(folder: Path, path: Path) -> Path:
    """The same checkpoint as a GGUF file, with the head as llama.cpp's converter writes it: a layer more, and what is around it as `nextn`."""
    count = layers_of(folder)
    own = f"model.layers.{count}."
    tensors = load_file(folder / "model.safetensors")
    around = {f"{own}{ours}.weight": theirs for ours, theirs in AROUND.items()}
    shared = {f"{own}embed_tokens.weight": "embed_tokens", f"{own}shared_head.head.weight": "shared_head_head"}
    with tempfile.TemporaryDirectory() as other:
        whole = Path(other) / "whole"
        shutil.copytree(folder, whole)
        kept = {name: tensor for name, tensor in tensors.items() if name not in around | shared}
        save_file(kept, whole / "model.safetensors", {"format": "pt"})
        config = json.loads((whole / "config.json").read_text())
        (whole / "config.json").write_text(
            json.dumps(config | {"num_hidden_layers": count + 1, "mlp_layer_types": None})
        )
        file = read(convert(whole, Path(other) / "m.gguf"))
        plans = [plan(name, np.array(dequantize(raw), np.float32)) for name, raw in file.tensors.items()]
        known = {key: listed(value) for key, value in file.metadata.items()}
    for name, theirs in (around | shared).items():
        plans.append(plan(f"blk.{count}.nextn.{theirs}.weight", tensors[name].float().numpy()))
    write(path, known | {f"{known['general.architecture']}.nextn_predict_layers": 1}, plans)
    return path


def make_layer_head_predictable(folder: Path, noise: float, following: int = 250, seed: int = 7) -> Path:
    """As `make_predictable` of prediction_heads.py: every token has a likeliest next one, and noise decides how many drafts are right."""
    path, count = folder / "model.safetensors", layers_of(folder)
    w = load_file(path)
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in w.items():
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            tensor.zero_()
        elif name.endswith("norm.weight"):
            tensor.fill_(1.0)
    embedding, head = w["model.embed_tokens.weight"], w["lm_head.weight"]
    hidden = embedding.shape[1]
    embedding.copy_(torch.randn(embedding.shape, generator=generator))
    order = torch.randperm(following, generator=generator)
    head.zero_()
    head[order.roll(-1)] = embedding[order] / embedding[order].norm(dim=1, keepdim=True)
    joining = w[f"model.layers.{count}.eh_proj.weight"]
    joining.zero_()
    joining[:, :hidden] = torch.eye(hidden) + noise * torch.randn(hidden, hidden, generator=generator) / hidden**0.5
    save_file(w, path, {"format": "pt"})
    return folder
