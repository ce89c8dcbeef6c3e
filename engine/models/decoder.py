"""The decoder that most architectures share: norm, mixer, norm, MLP, residuals around both.

A family differs in what its layers are made of, not in how they are wired. It passes its own mixer (what moves
information between tokens) and MLP for each layer; `Attention` and `Mlp` are the usual ones. This file depends on nothing
of schedulers, sequences or backends: tokens come packed in one row, and `step.cache` remembers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from backends.base import Array, KVSpec, MemorySpec, Rope, Step
from engine.models.config import TextConfig
from engine.weights.view import View


class Mixer(Protocol):
    """What moves information between tokens, and what it must remember to do so."""

    @property
    def memory(self) -> MemorySpec: ...

    def __call__(self, x: Array, step: Step, angles: Array) -> Array: ...


MlpLike = Callable[[Array], Array]


@dataclass(frozen=True)
class Traits:
    """What distinguishes families that are otherwise alike."""

    qkv_bias: bool = False
    out_bias: bool = False
    mlp_bias: bool = False
    qk_norm: tuple[str, str] | None = None  # tensor names of the norms of queries and keys
    norm_after_rope: bool = False
    norm_plus: float = 0.0  # 1 where checkpoints store norm weights as their distance from one


class Attention:
    """Grouped-query softmax attention."""

    def __init__(self, w: View, c: TextConfig, layer: int, traits: Traits) -> None:
        self.ops, self.layer = w.backend.ops, layer
        self.heads, self.kv_heads, self.dim, self.eps = c.heads, c.kv_heads, c.head_dim, c.eps
        self.scale = c.head_dim**-0.5
        self.norm_after_rope = traits.norm_after_rope
        self.memory = KVSpec(c.kv_heads, c.head_dim)
        q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
        self.qkv = w.linear(("q_proj", q), ("k_proj", kv), ("v_proj", kv), inp=c.hidden, bias=traits.qkv_bias)
        self.out = w.linear(("o_proj", c.hidden), inp=q, bias=traits.out_bias)
        names = traits.qk_norm
        self.q_norm = w.norm(names[0], c.head_dim, traits.norm_plus) if names else None
        self.k_norm = w.norm(names[1], c.head_dim, traits.norm_plus) if names else None

    def __call__(self, x: Array, step: Step, angles: Array) -> Array:
        q, k, v = self.ops.qkv(
            self.qkv(x),
            self.heads,
            self.kv_heads,
            self.dim,
            angles,
            self.q_norm,
            self.k_norm,
            self.eps,
            self.norm_after_rope,
        )
        attended = step.cache.attend(self.layer, q, k, v, self.scale)
        return self.out(attended.reshape(attended.shape[0], self.heads * self.dim))


class Mlp:
    """SwiGLU."""

    def __init__(self, w: View, hidden: int, ffn: int, bias: bool = False) -> None:
        self.ops = w.backend.ops
        self.gate_up = w.linear(("gate_proj", ffn), ("up_proj", ffn), inp=hidden, bias=bias)
        self.down = w.linear(("down_proj", hidden), inp=ffn, bias=bias)

    def __call__(self, x: Array) -> Array:
        return self.down(self.ops.swiglu(self.gate_up(x)))


@dataclass(frozen=True)
class Layer:
    mixer: Mixer
    mlp: MlpLike
    input_norm: Array
    post_norm: Array


class Layers:
    """A stack of layers and the norm behind it: what a decoder is without its embedding and its head."""

    def __init__(
        self,
        w: View,
        c: TextConfig,
        rope: Rope,
        mixer: Callable[[View, int], Mixer],
        mlp: Callable[[View, int], MlpLike],
        norm_plus: float = 0.0,
    ) -> None:
        self.ops, self.rope, self.eps = w.backend.ops, rope, c.eps
        self.layers = [self._layer(w.sub(f"layers.{i}"), i, c, mixer, mlp, norm_plus) for i in range(c.layers)]
        self.norm = w.norm("norm", c.hidden, norm_plus)
        w.ignore(r"rotary_emb\.inv_freq$")  # old files carry what is computed
        self.memory = [layer.mixer.memory for layer in self.layers]

    def _layer(
        self,
        w: View,
        i: int,
        c: TextConfig,
        mixer: Callable[[View, int], Mixer],
        mlp: Callable[[View, int], MlpLike],
        norm_plus: float,
    ) -> Layer:
        return Layer(
            mixer=mixer(w, i),
            mlp=mlp(w, i),
            input_norm=w.norm("input_layernorm", c.hidden, norm_plus),
            post_norm=w.norm("post_attention_layernorm", c.hidden, norm_plus),
        )

    def __call__(self, step: Step, added: Sequence[Array] = ()) -> Array:
        """`added[i]` is added to what layer i gives."""
        angles = self.ops.angles(step.pos, self.rope)
        # Every addition is fused with the norm that follows it, so a layer hands on both the sum and its norm.
        total, x = step.x, self.ops.rms_norm(step.x, self.layers[0].input_norm, self.eps)
        following = [layer.input_norm for layer in self.layers[1:]] + [self.norm]
        for i, (layer, next_norm) in enumerate(zip(self.layers, following)):
            mixed = layer.mixer(x, step, angles)
            total, x = self.ops.add_rms_norm(mixed, total, layer.post_norm, self.eps)
            out = layer.mlp(x)
            if i < len(added):
                out = out + added[i]
            total, x = self.ops.add_rms_norm(out, total, next_norm, self.eps)
        return x


class Decoder(Layers):
    """A stack of layers between an embedding and a head."""

    def __init__(
        self,
        w: View,
        c: TextConfig,
        rope: Rope,
        mixer: Callable[[View, int], Mixer],
        mlp: Callable[[View, int], MlpLike],
        norm_plus: float = 0.0,
        body: str = "model",
        head: str = "lm_head",
    ) -> None:
        bare = w.has("embed_tokens.weight")  # saved without its head, as embedding models are
        inner = w if bare else w.sub(body)
        self.vocab = c.vocab
        self.embedding = inner.embedding("embed_tokens", c.vocab, c.hidden)
        super().__init__(inner, c, rope, mixer, mlp, norm_plus)
        if c.tied:
            w.ignore(rf"^{head}\.")  # some repositories save the tied head a second time
            self.head = self.embedding
        else:
            self.head = w.linear((head, c.vocab), inp=c.hidden)

    def embed(self, ids: Array) -> Array:
        return self.embedding.rows(ids)

    def logits(self, hidden: Array) -> Array:
        return self.head(hidden)


def nested_names(w: View) -> tuple[str, str]:
    """Where a checkpoint keeps the text model's body and head: bare, or beside a vision tower."""
    nested = {
        "model.language_model": "lm_head",
        "language_model.model": "language_model.lm_head",  # as MLX's converters save it
    }
    body = next((b for b in nested if w.has(f"{b}.embed_tokens.weight")), "model")
    return body, nested.get(body, "lm_head")


def standard_decoder(
    w: View, c: TextConfig, rope: Rope, traits: Traits, body: str = "model", head: str = "lm_head"
) -> Decoder:
    """Attention and a dense MLP in every layer."""
    return Decoder(
        w,
        c,
        rope,
        mixer=lambda v, i: Attention(v.sub("self_attn"), c, i, traits),
        mlp=lambda v, i: Mlp(v.sub("mlp"), c.hidden, c.ffn, traits.mlp_bias),
        norm_plus=traits.norm_plus,
        body=body,
        head=head,
    )
