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
from engine.weights.portions import Portion
from engine.weights.view import View


class Mixer(Protocol):
    """What moves information between tokens, and what it must remember to do so."""

    @property
    def memory(self) -> MemorySpec | None: ...

    def __call__(self, x: Array, step: Step, angles: Array | None) -> Array: ...


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
    scale: float | None = None  # of attention scores; None: by the heads' size
    windows: Sequence[int | None] = ()  # each layer's sliding window; empty: none has one
    recent: Sequence[int | None] = ()  # of the tokens behind the prompt each layer sees the last so many; empty: all
    sinks: bool = False  # each head has a score that takes part in the softmax and has no value
    fused: bool = False  # projections of one input are one tensor: `qkv_proj`, `gate_up_proj`
    gelu: bool = False  # the MLP's gate is a GELU by the tangent, not a SiLU
    out: str = "o_proj"


@dataclass(frozen=True)
class NormNames:
    """Tensor names of a layer's norms: before the mixer, before the MLP (None: layers have no MLP), and of what they give, where
    it is normalized before it is added; and of the norm behind all layers."""

    mixer: str | None = "input_layernorm"
    mlp: str | None = "post_attention_layernorm"
    mixed: str | None = None
    out: str | None = None
    last: str = "norm"
    last_plus: float | None = None  # what the weights of the last are distances from; None: as all the others


class Attention:
    """Grouped-query softmax attention."""

    def __init__(self, w: View, c: TextConfig, layer: int, traits: Traits, inp: int | None = None) -> None:
        """`inp`: the width of what it reads, where that is not the model's."""
        self.ops, self.layer = w.backend.ops, layer
        self.own = own = w.heads(c.heads, c.kv_heads)
        self.heads, self.kv_heads, self.dim, self.eps = own.queries.size, own.keys.size, c.head_dim, c.eps
        self.scale = c.head_dim**-0.5 if traits.scale is None else traits.scale
        self.norm_after_rope = traits.norm_after_rope
        window = traits.windows[layer] if traits.windows else None
        self.memory = KVSpec(
            self.kv_heads, c.head_dim, window=window, recent=traits.recent[layer] if traits.recent else None
        )
        q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
        parts = [("qkv_proj", q + 2 * kv)] if traits.fused else [("q_proj", q), ("k_proj", kv), ("v_proj", kv)]
        rows = own.rows(c.head_dim)
        rows = [Portion.joined(*rows)] if traits.fused else rows
        self.qkv = w.linear(*parts, inp=inp or c.hidden, bias=traits.qkv_bias, rows=rows)
        columns = own.queries.times(c.head_dim)
        self.out = w.linear((traits.out, c.hidden), inp=q, bias=traits.out_bias, columns=columns)
        self.sinks = w.tensor("sinks", (c.heads,), part=own.queries) if traits.sinks else None
        names = traits.qk_norm
        self.q_norm = w.norm(names[0], c.head_dim, traits.norm_plus) if names else None
        self.k_norm = w.norm(names[1], c.head_dim, traits.norm_plus) if names else None

    def __call__(self, x: Array, step: Step, angles: Array | None) -> Array:
        q, k, v = self._turned(x, angles)
        attended = step.cache.attend(self.layer, self.scaled(q, step), k, v, self.scale, self.sinks)
        return self.out(self.gated(attended, x).reshape(x.shape[0], self.heads * self.dim))

    def store(self, x: Array, step: Step, angles: Array | None) -> None:
        """Write the keys and values alone."""
        _, k, v = self._turned(x, angles)
        step.cache.store(self.layer, k, v)

    def _turned(self, x: Array, angles: Array | None) -> tuple[Array, Array, Array]:
        """Queries, keys and values, normalized and rotated."""
        made: tuple[Array, Array, Array] = self.ops.qkv(
            self.projected(x),
            self.heads,
            self.kv_heads,
            self.dim,
            angles,
            self.q_norm,
            self.k_norm,
            self.eps,
            self.norm_after_rope,
        )
        return made

    def projected(self, x: Array) -> Array:
        """Queries, keys and values of all heads."""
        return self.qkv(x)

    def scaled(self, q: Array, step: Step) -> Array:
        """Queries with what a family does to them last."""
        return q

    def gated(self, attended: Array, x: Array) -> Array:
        """What the heads give, with what a family makes of it and of the layer's input."""
        return attended


class Mlp:
    """SwiGLU, or the same with a GELU. `names`: of the gate, the up and the down projection; two where gate and up are one."""

    def __init__(
        self,
        w: View,
        hidden: int,
        ffn: int,
        bias: bool = False,
        gelu: bool = False,
        fused: bool = False,
        names: Sequence[str] = (),
    ) -> None:
        self.gated = w.backend.ops.geglu if gelu else w.backend.ops.swiglu
        *inner, down = names or (("gate_up_proj", "down_proj") if fused else ("gate_proj", "up_proj", "down_proj"))
        own = w.width(ffn, down, hidden)
        rows = [own.repeated(2)] if len(inner) == 1 else [own, own]
        self.gate_up = w.linear(*((name, 2 * ffn // len(inner)) for name in inner), inp=hidden, bias=bias, rows=rows)
        self.down = w.linear((down, hidden), inp=ffn, bias=bias, columns=own)

    def __call__(self, x: Array) -> Array:
        return self.down(self.gated(self.gate_up(x)))


@dataclass(frozen=True)
class Layer:
    mixer: Mixer
    mlp: MlpLike | None
    input_norm: Array | None
    post_norm: Array | None
    mixed_norm: Array | None
    out_norm: Array | None


class Layers:
    """A stack of layers and the norm behind it: what a decoder is without its embedding and its head."""

    def __init__(
        self,
        w: View,
        c: TextConfig,
        rope: Rope | Sequence[Rope | None] | None,
        mixer: Callable[[View, int], Mixer],
        mlp: Callable[[View, int], MlpLike | None],
        norm_plus: float = 0.0,
        norms: NormNames = NormNames(),
        first: int = 0,
    ) -> None:
        """`rope`: one of all layers, or each layer's; None: positions turn nothing. `first`: the number of the first layer's tensors."""
        self.ops, self.eps = w.backend.ops, c.eps
        self.tapped: list[int] = []  # layers whose inputs are given too; as many as there are: what the last one gives
        self.out_eps = c.eps  # of the norms of what a mixer and an MLP give
        ropes = [rope] if rope is None or isinstance(rope, Rope) else list(rope)
        self.ropes = list(dict.fromkeys(ropes))
        self.rope_of = [self.ropes.index(ropes[i % len(ropes)]) for i in range(c.layers)]
        self.layers = [self._layer(w.layer(first + i), i, c, mixer, mlp, norm_plus, norms) for i in range(c.layers)]
        self.norm = w.norm(norms.last, c.hidden, norm_plus if norms.last_plus is None else norms.last_plus)
        w.ignore(r"rotary_emb\.inv_freq$")  # old files carry what is computed
        self.memory = [spec for layer in self.layers if (spec := layer.mixer.memory) is not None]

    def _layer(
        self,
        w: View,
        i: int,
        c: TextConfig,
        mixer: Callable[[View, int], Mixer],
        mlp: Callable[[View, int], MlpLike | None],
        norm_plus: float,
        norms: NormNames,
    ) -> Layer:
        def norm(name: str | None) -> Array | None:
            return None if name is None else w.norm(name, c.hidden, norm_plus)

        return Layer(mixer(w, i), mlp(w, i), *map(norm, (norms.mixer, norms.mlp, norms.mixed, norms.out)))

    def angles(self, step: Step) -> list[Array | None]:
        """One for each of `ropes`."""
        return [None if rope is None else self.ops.angles(step.pos, rope) for rope in self.ropes]

    def __call__(self, step: Step, added: Sequence[Array] = ()) -> Array:
        """`added[i]` is added to what layer i gives."""
        ops, eps = self.ops, self.eps
        angles = self.angles(step)
        # Every addition is fused with the norm that follows it, so a layer hands on both the sum and its norm.
        total, x = step.x, ops.rms_norm(step.x, self.layers[0].input_norm, eps)
        following = [layer.input_norm for layer in self.layers[1:]] + [self.norm]
        taps = {}
        for i, (layer, next_norm) in enumerate(zip(self.layers, following)):
            if i in self.tapped:
                taps[i] = total
            mixed = layer.mixer(x, step, angles[self.rope_of[i]])
            if layer.mixed_norm is not None:
                mixed = ops.rms_norm(mixed, layer.mixed_norm, self.out_eps)
            if layer.mlp is None:
                total, x = ops.add_rms_norm(mixed, total, next_norm, eps)
                continue
            total, x = ops.add_rms_norm(mixed, total, layer.post_norm, eps)
            out = layer.mlp(x)
            if layer.out_norm is not None:
                out = ops.rms_norm(out, layer.out_norm, self.out_eps)
            if i < len(added):
                out = out + added[i]
            total, x = ops.add_rms_norm(out, total, next_norm, eps)
        taps[len(self.layers)] = total
        return ops.cat([x, *(taps[i] for i in self.tapped)], 1) if self.tapped else x


class Decoder(Layers):
    """A stack of layers between an embedding and a head."""

    norm_plus = 0.0  # see `Traits`
    long_from = 0  # the length beyond which a text has another rope, see `Rope.long`; 0: there is one rope
    logit_scale = 1.0  # logits are multiplied by it
    softcap = 0.0  # a tangent keeps them below it; 0: it does not

    def __init__(
        self,
        w: View,
        c: TextConfig,
        rope: Rope | Sequence[Rope | None] | None,
        mixer: Callable[[View, int], Mixer],
        mlp: Callable[[View, int], MlpLike | None],
        norm_plus: float = 0.0,
        body: str = "model",
        head: str = "lm_head",
        norms: NormNames = NormNames(),
        embed_scale: float = 1.0,
        embedding: str = "embed_tokens",
    ) -> None:
        bare = w.has(f"{embedding}.weight")  # saved without its head, as embedding models are
        inner = w if bare else w.sub(body)
        self.vocab = c.vocab
        self.embedding = inner.embedding(embedding, c.vocab, c.hidden, is_head=c.tied)
        self.embed_scale = embed_scale
        super().__init__(inner, c, rope, mixer, mlp, norm_plus, norms)
        if c.tied:
            w.ignore(rf"^{head}\.")  # some repositories save the tied head a second time
            self.head = self.embedding
        else:
            self.head = w.vocabulary(head, c.vocab, c.hidden)

    def embed(self, ids: Array) -> Array:
        rows = self.embedding.rows(ids)
        return rows if self.embed_scale == 1.0 else rows * self.embed_scale

    def logits(self, hidden: Array) -> Array:
        made = self.head(hidden)
        if self.logit_scale != 1.0:
            made = made * self.logit_scale
        return self.ops.tanh(made / self.softcap) * self.softcap if self.softcap else made


def nested_names(w: View) -> tuple[str, str]:
    """Where a checkpoint keeps the text model's body and head: bare, or beside a vision tower."""
    nested = {
        "model.language_model": "lm_head",
        "model.text_model": "lm_head",  # Idefics 3
        "language_model.model": "language_model.lm_head",  # as MLX's converters save it
    }
    body = next((b for b in nested if w.has(f"{b}.embed_tokens.weight")), "model")
    return body, nested.get(body, "lm_head")


def standard_decoder(
    w: View,
    c: TextConfig,
    rope: Rope | Sequence[Rope | None] | None,
    traits: Traits,
    body: str = "model",
    head: str = "lm_head",
    norms: NormNames = NormNames(),
    embed_scale: float = 1.0,
    attention: type[Attention] = Attention,
    kind: type[Decoder] = Decoder,
) -> Decoder:
    """Attention and a dense MLP in every layer."""
    return kind(
        w,
        c,
        rope,
        mixer=lambda v, i: attention(v.sub("self_attn"), c, i, traits),
        mlp=lambda v, i: Mlp(v.sub("mlp"), c.hidden, c.ffn, traits.mlp_bias, traits.gelu, traits.fused),
        norm_plus=traits.norm_plus,
        body=body,
        head=head,
        norms=norms,
        embed_scale=embed_scale,
    )
