"""Checkpoints with a head for multi-token prediction, and a plain reference of the head (arithmetic as in vLLM's qwen3_5_mtp.py)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from backends.base import Segment
from engine.weights.convert import convert
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.names import to_gguf
from engine.weights.gguf.reader import STRING, Elements, read
from engine.weights.gguf.writer import Plan, write
from tests.checkpoints import save

HEAD = "mtp."


def save_with_head(name: str, folder: Path, seed: int = 5, **changes: Any) -> Path:
    """A tiny checkpoint whose head has random weights."""
    save(name, folder, "old", **changes)
    path = folder / "model.safetensors"
    tensors = load_file(path)
    config = json.loads((folder / "config.json").read_text())
    text = config.get("text_config", config)
    layer = (
        text["full_attention_interval"] - 1
        if "full_attention_interval" in text
        else text["layer_types"].index("full_attention")
    )
    hidden = text["hidden_size"]
    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int, spread: float = 0.2) -> Tensor:
        return spread * torch.randn(shape, generator=generator)

    for known in list(tensors):
        _, found, part = known.partition(f"layers.{layer}.")
        if found:
            spread = 0.1 if tensors[known].ndim == 1 else 0.2
            tensors[f"{HEAD}layers.0.{part}"] = random(*tensors[known].shape, spread=spread)
    tensors[f"{HEAD}fc.weight"] = random(hidden, 2 * hidden)
    for norm in ("norm", "pre_fc_norm_embedding", "pre_fc_norm_hidden"):
        tensors[f"{HEAD}{norm}.weight"] = random(hidden, spread=0.1)
    save_file(tensors, path, {"format": "pt"})
    return folder


def head_logits(folder: Path, ids: list[int], hidden: Tensor) -> tuple[Tensor, Tensor]:
    """The head's logits and hidden states `[n, ...]` for the model's hidden states at n positions and the tokens after them."""
    config = json.loads((folder / "config.json").read_text())
    text = config.get("text_config", config)
    w = {k: v.float() for k, v in load_file(folder / "model.safetensors").items()}
    embedding = next(v for k, v in w.items() if k.endswith("embed_tokens.weight"))
    eps, dim, heads, kv_heads = (
        text["rms_norm_eps"],
        text["head_dim"],
        text["num_attention_heads"],
        text["num_key_value_heads"],
    )
    rope = text.get("rope_parameters") or text

    def norm(x: Tensor, name: str) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * (1 + w[f"{HEAD}{name}.weight"])

    def linear(x: Tensor, name: str) -> Tensor:
        return x @ w[f"{HEAD}layers.0.{name}.weight"].T

    n = len(ids)
    joined = torch.cat((norm(embedding[ids], "pre_fc_norm_embedding"), norm(hidden, "pre_fc_norm_hidden")), -1)
    x = joined @ w[f"{HEAD}fc.weight"].T
    y = norm(x, "layers.0.input_layernorm")
    queries, gates = linear(y, "self_attn.q_proj").view(n, heads, 2 * dim).chunk(2, -1)
    keys = linear(y, "self_attn.k_proj").view(n, kv_heads, dim)
    values = linear(y, "self_attn.v_proj").view(n, kv_heads, dim).repeat_interleave(heads // kv_heads, 1)
    turned = int(dim * rope["partial_rotary_factor"])
    frequencies = rope["rope_theta"] ** (-torch.arange(0, turned, 2) / turned)
    angles = torch.arange(n)[:, None, None] * torch.cat((frequencies, frequencies))

    def rotate(z: Tensor) -> Tensor:
        first, rest = z[..., :turned], z[..., turned:]
        low, high = first.chunk(2, -1)
        return torch.cat((first * angles.cos() + torch.cat((-high, low), -1) * angles.sin(), rest), -1)

    queries = rotate(norm(queries, "layers.0.self_attn.q_norm"))
    keys = rotate(norm(keys, "layers.0.self_attn.k_norm")).repeat_interleave(heads // kv_heads, 1)
    scores = torch.einsum("qhd,khd->hqk", queries, keys) * dim**-0.5
    scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf).softmax(-1)
    attended = torch.einsum("hqk,khd->qhd", scores, values) * torch.sigmoid(gates)
    x = x + linear(attended.reshape(n, -1), "self_attn.o_proj")
    x = x + _mlp(norm(x, "layers.0.post_attention_layernorm"), w, text)
    states = norm(x, "norm")
    output = w.get("lm_head.weight", embedding)
    return states @ output.T, states


def _mlp(y: Tensor, w: dict[str, Tensor], text: dict[str, Any]) -> Tensor:
    stem = f"{HEAD}layers.0.mlp."

    def gated(z: Tensor, at: str) -> Tensor:
        parts = (w[f"{stem}{at}{name}_proj.weight"] for name in ("gate", "up", "down"))
        gate, up, down = parts
        made: Tensor = (torch.nn.functional.silu(z @ gate.T) * (z @ up.T)) @ down.T
        return made

    if f"{stem}gate.weight" not in w:
        return gated(y, "")
    shares = (y @ w[f"{stem}gate.weight"].T).softmax(-1)
    best, chosen = shares.topk(text["num_experts_per_tok"], -1)
    if text.get("norm_topk_prob", text["model_type"] != "qwen3_next"):
        best = best / best.sum(-1, keepdim=True)
    made = torch.sigmoid(y @ w[f"{stem}shared_expert_gate.weight"].T) * gated(y, "shared_expert.")
    for row in range(len(y)):
        for share, expert in zip(best[row], chosen[row].tolist()):
            made[row] += share * gated(y[row], f"experts.{expert}.")
    return made


def as_gguf(folder: Path, path: Path) -> Path:
    """The same checkpoint as a GGUF file, with the head as llama.cpp's converter writes it."""
    convert(folder, path)
    file = read(path)
    arch = str(file.metadata["general.architecture"])
    layers = int(file.metadata[f"{arch}.block_count"])
    # what Grus's converter leaves out, through the names that it gives an ordinary layer
    names = {
        "fc": "eh_proj",
        "pre_fc_norm_embedding": "enorm",
        "pre_fc_norm_hidden": "hnorm",
        "norm": "shared_head_norm",
    }
    plans = [plan(name, np.array(dequantize(raw), np.float32)) for name, raw in file.tensors.items()]
    experts: dict[str, dict[int, np.ndarray]] = {}
    for name, tensor in load_file(folder / "model.safetensors").items():
        if not name.startswith(HEAD):
            continue
        part, values = name.removeprefix(HEAD).removesuffix(".weight"), tensor.float().numpy()
        if part.endswith("norm") or "norm_" in part:
            values = values + 1
        if part in names:
            plans.append(plan(f"blk.{layers}.nextn.{names[part]}.weight", values))
        elif ".experts." in part:
            stem, _, rest = part.partition(".experts.")
            number, _, kind = rest.partition(".")
            experts.setdefault(f"model.{stem}.switch_mlp.{kind}.weight", {})[int(number)] = values
        else:
            plans.append(plan(_placed(arch, f"model.{part}.weight", layers), values))
    for name, parts in experts.items():
        plans.append(plan(_placed(arch, name, layers), np.stack([parts[i] for i in range(len(parts))])))
    known = {key: listed(value) for key, value in file.metadata.items()}
    write(path, known | {f"{arch}.block_count": layers + 1, f"{arch}.nextn_predict_layers": 1}, plans)
    return path


def listed(value: Any) -> Any:
    if not isinstance(value, Elements):
        return value
    return value.strings() if value.kind == STRING else value.numbers().tolist()


def _placed(arch: str, name: str, layers: int) -> str:
    found = to_gguf(arch, name)
    assert found is not None
    return found.replace("blk.0.", f"blk.{layers}.")


def plan(name: str, values: np.ndarray) -> Plan:
    values = np.ascontiguousarray(values)
    return Plan(name, "F32", values.shape, lambda: [values.tobytes()])


_OUTPUTS = "o_proj.weight", "out_proj.weight", "down_proj.weight", "norm.weight"


def make_predictable(folder: Path, noise: float, following: int = 250, seed: int = 7) -> Path:
    """Change a checkpoint with a head, and an output matrix of its own, so that every token has a likeliest next one: layers add
    nothing, and the output matrix holds the embeddings in another order. The head sees the last token through `noise`, which decides
    how many of its drafts are right. Tokens below `following` follow one another."""
    path = folder / "model.safetensors"
    w = load_file(path)
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in w.items():
        if "pre_fc_norm" in name or name.endswith(_OUTPUTS):
            tensor.zero_()
    embedding = next(v for k, v in w.items() if k.endswith("embed_tokens.weight"))
    rows, hidden = embedding.shape
    embedding.copy_(torch.randn(rows, hidden, generator=generator))
    order = torch.randperm(following, generator=generator)
    head = w["lm_head.weight"]
    head.zero_()
    head[order.roll(-1)] = (embedding[order].float() / embedding[order].float().norm(dim=1, keepdim=True)).to(
        head.dtype
    )
    fc = w[f"{HEAD}fc.weight"]
    fc.copy_(noise * torch.randn(fc.shape, generator=generator) / hidden**0.5)
    fc[:, hidden:] = 0
    fc[:, :hidden] += torch.eye(hidden)
    save_file(w, path, {"format": "pt"})
    return folder


def check_logits(
    loaded: Any, head: Any, reference: Callable[[list[int], torch.Tensor], tuple[torch.Tensor, torch.Tensor]]
) -> None:
    """A head's logits and states against the reference's, in a prompt of which some rows are only stored, in a chunk and token by token."""
    ids = np.random.default_rng(3).integers(0, 250, 21).tolist()
    slot = loaded.kv.open(40)
    assert slot is not None
    hidden = loaded.runner.run([Segment(slot, ids[:-1], hidden=True)]).read()[slot].hidden
    assert hidden is not None
    want, states = reference(ids[1:], torch.from_numpy(hidden))

    def beside(some: np.ndarray) -> np.ndarray:
        return np.concatenate((np.zeros_like(some), some), 1)

    mine = head.kv.open(40)
    assert mine is not None
    head.prefill.run([Segment(mine, ids[1:13], add=beside(hidden[:12]))]).read()
    chunk = Segment(mine, ids[13:18], add=beside(hidden[12:17]), want=range(5), hidden=True)
    first = head.runner.run([chunk]).read()[mine]
    steps = [
        head.runner.run([Segment(mine, [ids[at + 1]], add=beside(hidden[at : at + 1]), want=range(1))]).read()[mine]
        for at in range(17, 20)
    ]
    assert first.logits is not None
    assert first.hidden is not None
    made = np.concatenate([first.logits, *(step.logits for step in steps if step.logits is not None)])
    np.testing.assert_allclose(made, want[12:].numpy(), atol=1e-4 * float(want.abs().max()))
    np.testing.assert_allclose(first.hidden, states[12:17].numpy(), atol=1e-4 * float(states.abs().max()))
