"""HuBERT (base): content features of a sound, 50 a second: the mean over all layers, as the Higgs codec takes it.

wav2vec 2.0's strided convolutions, of which the first alone has a norm, its positional convolution, and a post-norm transformer.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from backends.base import Array, EncoderAttention, Ops
from engine.errors import ConfigError
from engine.models.config import MOST_LAYERS, Fields
from engine.models.wav2vec2 import PositionalConv, feature_convs, samples_of
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View


def _norm(w: View, name: str, dim: int) -> tuple[Array, Array]:
    return w.tensor(f"{name}.weight", (dim,), "f32"), w.tensor(f"{name}.bias", (dim,), "f32")


class _Layer:
    """Attention and MLP, each with its norm behind the sum."""

    def __init__(self, w: View, dim: int, heads: int, ffn: int, eps: float) -> None:
        self.ops: Ops = w.backend.ops
        self.dim, self.heads, self.eps = dim, heads, eps
        own = w.sub("attention")
        self.qkv = own.linear(("q_proj", dim), ("k_proj", dim), ("v_proj", dim), inp=dim, bias=True)
        self.out = own.linear(("out_proj", dim), inp=dim, bias=True)
        self.norms = [_norm(w, name, dim) for name in ("layer_norm", "final_layer_norm")]
        self.widen = w.linear(("feed_forward.intermediate_dense", ffn), inp=dim, bias=True)
        self.narrow = w.linear(("feed_forward.output_dense", dim), inp=ffn, bias=True)

    def __call__(self, x: Array, angles: Any, among: EncoderAttention) -> Array:
        ops, each = self.ops, self.dim // self.heads
        q, k, v = ops.qkv(self.qkv(x), self.heads, self.heads, each, None)
        attended = among.attend(q, k, v, each**-0.5).reshape(x.shape[0], self.dim)
        x = ops.layer_norm(x + self.out(attended), *self.norms[0], self.eps)
        return ops.layer_norm(x + self.narrow(ops.gelu(self.widen(x))), *self.norms[1], self.eps)


class Hubert:
    rate = 16000

    def __init__(self, w: View, f: Fields) -> None:
        for name, value in (
            ("do_stable_layer_norm", False), ("feat_extract_norm", "group"), ("hidden_act", "gelu"),
            ("feat_extract_activation", "gelu"), ("feat_proj_layer_norm", True), ("conv_pos_batch_norm", False),
        ):  # fmt: skip
            if f.find(name, default=value) != value:
                raise ConfigError(f"{f.where}: {name} must be {value!r} (as in HuBERT base).")
        self.ops: Ops = w.backend.ops
        w.ignore(r"masked_spec_embed$")
        dim, heads = f.int("hidden_size", default=768), f.int("num_attention_heads", default=12)
        ffn, self.eps = f.int("intermediate_size", default=3072), f.float("layer_norm_eps", default=1e-5, above=0)
        if dim % heads:
            raise ConfigError(f"{f.where}: hidden_size must be a multiple of num_attention_heads.")
        self.convs, sizes, width = feature_convs(w, f)
        self.dim, self.least = dim, samples_of(1, sizes)  # the fewest samples that give a feature
        own = w.sub("feature_projection")
        self.norm = _norm(own, "layer_norm", width)
        self.project = own.linear(("projection", dim), inp=width, bias=True)
        own = w.sub("encoder")
        kernel = f.int("num_conv_pos_embeddings", default=128)
        groups = f.int("num_conv_pos_embedding_groups", default=16)
        self.positions = PositionalConv(own.sub("pos_conv_embed.conv"), dim, kernel, groups)
        self.enter = _norm(own, "layer_norm", dim)
        count = f.int("num_hidden_layers", default=12, most=MOST_LAYERS)
        layers = [_Layer(own.sub(f"layers.{i}"), dim, heads, ffn, self.eps) for i in range(count)]
        self.layers = [w.backend.encoder([layer], None) for layer in layers]  # the output of each is taken

    def features(self, x: Array) -> Generator[None, None, Array]:
        """`[n, D]` of samples `[1, L, 1]`."""
        ops, budget = self.ops, YieldBudget(self.ops)
        for conv in self.convs:
            x = conv(x)
            yield from budget.pause(x)
        x = self.project(ops.layer_norm(x, *self.norm, self.eps))
        x = ops.layer_norm(x + self.positions(x), *self.enter, self.eps)[0]
        total = x
        for layer in self.layers:
            x = yield from layer.run(x, [x.shape[0]])
            total = total + x
            yield from budget.pause(x[None])
        return total / (len(self.layers) + 1)
