"""The Guide's network for training: Qwen3's architecture in plain torch, saved as a published checkpoint is.

Running the Guide is Grus's own work and needs nothing of this file.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """Names as in Qwen3's config.json."""

    vocab_size: int
    hidden_size: int = 256
    intermediate_size: int = 512
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    num_key_value_heads: int = 4
    head_dim: int = 64
    max_position_embeddings: int = 512
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10000.0


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        queries, keys = shape.num_attention_heads * shape.head_dim, shape.num_key_value_heads * shape.head_dim
        self.q_proj = nn.Linear(shape.hidden_size, queries, bias=False)
        self.k_proj = nn.Linear(shape.hidden_size, keys, bias=False)
        self.v_proj = nn.Linear(shape.hidden_size, keys, bias=False)
        self.o_proj = nn.Linear(queries, shape.hidden_size, bias=False)
        self.q_norm = nn.RMSNorm(shape.head_dim, eps=shape.rms_norm_eps)
        self.k_norm = nn.RMSNorm(shape.head_dim, eps=shape.rms_norm_eps)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        batch, length, _ = x.shape
        split = (batch, length, -1, self.shape.head_dim)
        q = _turn(self.q_norm(self.q_proj(x).view(split)).transpose(1, 2), cos, sin)
        k = _turn(self.k_norm(self.k_proj(x).view(split)).transpose(1, 2), cos, sin)
        v = self.v_proj(x).view(split).transpose(1, 2).to(q.dtype)
        # Sequences end with padding, which no earlier token looks at.
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, length, -1))


class Mlp(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.up_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.down_proj = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(shape.hidden_size, eps=shape.rms_norm_eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = nn.RMSNorm(shape.hidden_size, eps=shape.rms_norm_eps)
        self.mlp = Mlp(shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.dropout(self.self_attn(self.input_layernorm(x), cos, sin))
        return x + self.dropout(self.mlp(self.post_attention_layernorm(x)))


class Network(nn.Module):
    """What it reads and what it writes have weights of their own."""

    def __init__(self, shape: Shape, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape = shape
        self.embed_tokens = nn.Embedding(shape.vocab_size, shape.hidden_size)
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape.num_hidden_layers))
        self.norm = nn.RMSNorm(shape.hidden_size, eps=shape.rms_norm_eps)
        self.lm_head = nn.Linear(shape.hidden_size, shape.vocab_size, bias=False)
        self.dropout = nn.Dropout(dropout)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=0.0 if name.endswith(("o_proj.weight", "down_proj.weight")) else 0.02)
        self._begin_as_mean()

    def _begin_as_mean(self) -> None:
        """The first layer looks at all tokens alike and passes on what it sees; the others say nothing yet."""
        first = self.layers[0].self_attn
        with torch.no_grad():
            first.q_norm.weight.fill_(0.01)
            nn.init.eye_(first.v_proj.weight)
            nn.init.eye_(first.o_proj.weight)

    def mean_of_words(self, ids: Tensor) -> Tensor:
        """The states after the tokens as a network that has only begun leaves them, for a fraction of the work."""
        words = self.embed_tokens(ids)
        counts = torch.arange(1, ids.shape[1] + 1, device=ids.device)[:, None]
        return self.norm(words + F.rms_norm(words, words.shape[-1:]).cumsum(1) / counts)

    def forward(self, ids: Tensor) -> Tensor:
        """The state after each token, from which `logits` predicts the next."""
        cos, sin = _angles(ids.shape[1], self.shape, ids.device)
        x = self.dropout(self.embed_tokens(ids))
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)

    def logits(self, states: Tensor) -> Tensor:
        return self.lm_head(states)


def _angles(length: int, shape: Shape, device: torch.device) -> tuple[Tensor, Tensor]:
    steps = torch.arange(0, shape.head_dim, 2, device=device) / shape.head_dim
    angles = torch.outer(torch.arange(length, device=device), shape.rope_theta**-steps)
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


def _turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


def save(weights: dict[str, Tensor], shape: Shape, end: int, pad: int, folder: Path) -> None:
    """config.json, generation_config.json and model.safetensors in bf16."""
    stored = {
        name if name == "lm_head.weight" else f"model.{name}": weight.to(torch.bfloat16).contiguous()
        for name, weight in weights.items()
    }
    save_file(stored, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "torch_dtype": "bfloat16",
        "hidden_act": "silu",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "tie_word_embeddings": False,
        "use_cache": True,
        "use_sliding_window": False,
        "initializer_range": 0.02,
        "bos_token_id": None,
        "eos_token_id": end,
        "pad_token_id": pad,
    } | asdict(shape)
    generation = {"do_sample": False, "eos_token_id": end, "pad_token_id": pad, "max_new_tokens": 200}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    (folder / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n", encoding="utf-8")
