"""EAGLE-3 heads in their published format for a tiny Llama, and a plain reference (arithmetic as in vLLM's llama_eagle3.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.checkpoints import save

LAYERS, DRAFTED, HEADS = 8, 240, 4
TAPPED = (2, LAYERS // 2, LAYERS - 3)


def save_target(folder: Path) -> Path:
    return save("llama", folder, "old", num_hidden_layers=LAYERS, tie_word_embeddings=False)


def save_eagle(target: Path, folder: Path, seed: int = 5, embeddings: bool = False, **changes: Any) -> Path:
    """A head with random weights. Its tokens are some of the target's, in the target's order."""
    config = json.loads((target / "config.json").read_text())
    w = load_file(target / "model.safetensors")
    vocab, hidden = w["model.embed_tokens.weight"].shape
    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int, spread: float = 0.2, around: float = 0.0) -> Tensor:
        return around + spread * torch.randn(shape, generator=generator)

    ffn, dim = config["intermediate_size"], hidden // HEADS
    made = {"fc.weight": random(hidden, 3 * hidden), "norm.weight": random(hidden, spread=0.1, around=1.0)}
    for name in ("input_layernorm", "hidden_norm", "post_attention_layernorm"):
        made[f"midlayer.{name}.weight"] = random(hidden, spread=0.1, around=1.0)
    for name in "qkv":
        made[f"midlayer.self_attn.{name}_proj.weight"] = random(HEADS * dim, 2 * hidden)
    made["midlayer.self_attn.o_proj.weight"] = random(hidden, HEADS * dim)
    for name in ("gate", "up"):
        made[f"midlayer.mlp.{name}_proj.weight"] = random(ffn, hidden)
    made["midlayer.mlp.down_proj.weight"] = random(hidden, ffn)
    made["lm_head.weight"] = random(DRAFTED, hidden)
    kept = torch.randperm(vocab, generator=generator)[:DRAFTED].sort().values
    made["d2t"] = kept - torch.arange(DRAFTED)
    made["t2d"] = torch.zeros(vocab, dtype=torch.bool).index_fill(0, kept, True)
    if embeddings:
        made["embed_tokens.weight"] = random(vocab, hidden, spread=1.0)
    folder.mkdir(parents=True)
    save_file(made, folder / "model.safetensors", {"format": "pt"})
    own = {key: config[key] for key in ("hidden_size", "intermediate_size", "rms_norm_eps", "max_position_embeddings")}
    own |= {
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "num_hidden_layers": 1,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "head_dim": dim,
        "vocab_size": vocab,
        "draft_vocab_size": DRAFTED,
        "rope_theta": 10000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": False,
        "torch_dtype": "float32",
    }
    (folder / "config.json").write_text(json.dumps(own | changes, indent=1))
    return folder


def taps_of(target: Path, ids: list[int]) -> Tensor:
    """What three layers of the target read, one beside the other, by transformers."""
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32)
    with torch.no_grad():
        states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
    return torch.cat([states[i][0] for i in TAPPED], -1)


def eagle_logits(
    target: Path, folder: Path, ids: list[int], fused_of: Tensor, own: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Logits over the head's tokens and what it hands on, for the next tokens `ids` of n positions. `fused_of`: the target's states; the last
    rows may be the head's `own` instead."""
    config = json.loads((folder / "config.json").read_text())
    w = {name: tensor.float() for name, tensor in load_file(folder / "model.safetensors").items()}
    eps, dim = config["rms_norm_eps"], config["head_dim"]
    if (embedding := w.get("embed_tokens.weight")) is None:
        embedding = load_file(target / "model.safetensors")["model.embed_tokens.weight"].float()

    def norm(x: Tensor, name: str) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w[f"{name}.weight"]

    fused = fused_of @ w["fc.weight"].T
    fused = fused if own is None else torch.cat((fused, own))
    normed = norm(fused, "midlayer.hidden_norm")
    residual = normed if config.get("norm_before_residual") else fused
    both = torch.cat((norm(embedding[ids], "midlayer.input_layernorm"), normed), -1)
    n = len(ids)
    q, k, v = ((both @ w[f"midlayer.self_attn.{one}_proj.weight"].T).view(n, -1, dim) for one in "qkv")
    frequencies = config["rope_theta"] ** (-torch.arange(0, dim, 2) / dim)
    angles = torch.arange(n)[:, None, None] * torch.cat((frequencies, frequencies))

    def rotate(z: Tensor) -> Tensor:
        low, high = z.chunk(2, -1)
        return z * angles.cos() + torch.cat((-high, low), -1) * angles.sin()

    scores = torch.einsum("qhd,khd->hqk", rotate(q), rotate(k)) * dim**-0.5
    scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf).softmax(-1)
    mixed = torch.einsum("hqk,khd->qhd", scores, v).reshape(n, -1) @ w["midlayer.self_attn.o_proj.weight"].T
    total = residual + mixed
    y = norm(total, "midlayer.post_attention_layernorm")
    gated = torch.nn.functional.silu(y @ w["midlayer.mlp.gate_proj.weight"].T) * (
        y @ w["midlayer.mlp.up_proj.weight"].T
    )
    total = total + gated @ w["midlayer.mlp.down_proj.weight"].T
    return norm(total, "norm") @ w["lm_head.weight"].T, total


def make_eagle_predictable(target: Path, folder: Path, noise: float, following: int = 250, seed: int = 7) -> None:
    """Change both so that every token has a likeliest next one, and noise decides how many drafts are right. The target's layers add nothing,
    and its output matrix holds the embeddings in another order. The head's attention looks at its own position alone and hands on that
    token's embedding; its output matrix is the target's, of its own tokens."""
    path = target / "model.safetensors"
    w = load_file(path)
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in w.items():
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            tensor.zero_()
        elif name.endswith("norm.weight"):
            tensor.fill_(1.0)
    embedding, output = w["model.embed_tokens.weight"], w["lm_head.weight"]
    hidden = embedding.shape[1]
    embedding.copy_(torch.randn(embedding.shape, generator=generator))
    embedding[:, 0] = 8.0  # the same of all tokens, for queries and keys
    order = torch.randperm(following, generator=generator)
    output.zero_()
    output[order.roll(-1)] = embedding[order] / embedding[order].norm(dim=1, keepdim=True)
    output[:, 0] = 0.0
    save_file(w, path, {"format": "pt"})

    path = folder / "model.safetensors"
    head = load_file(path)
    for name, tensor in head.items():
        if name.endswith(("hidden_norm.weight", "fc.weight", "down_proj.weight")):
            tensor.zero_()
        elif name.endswith("norm.weight"):
            tensor.fill_(1.0)
    for one in "qk":
        matrix = head[f"midlayer.self_attn.{one}_proj.weight"]
        matrix.zero_()
        matrix[:, 0] = 3.0
    head["midlayer.self_attn.v_proj.weight"].zero_()[:, :hidden] = torch.eye(hidden)
    head["midlayer.self_attn.o_proj.weight"].copy_(
        torch.eye(hidden) + noise * torch.randn(hidden, hidden, generator=generator) / hidden**0.5
    )
    kept = head["d2t"] + torch.arange(len(head["d2t"]))
    head["lm_head.weight"].copy_(output[kept])
    save_file(head, path, {"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"norm_before_residual": True}))
