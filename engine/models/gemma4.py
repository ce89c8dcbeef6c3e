"""Gemma 4's text model: Gemma 3's norms and windows, with wider heads in the layers that attend to everything.

The last layers may read the keys and values of earlier ones. In the large models, layers that attend to everything make values of
the same projection as keys. The small models give each layer a vector of every token (`PerLayerInputs`); the mixtures put experts
beside each MLP. Pictures have an encoder (`gemma4_vision`), and in E2B and E4B sound (`gemma4_audio`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, KVSpec, MemorySpec, MixtureParts, RoutingRule, SharedKVSpec, Step
from engine.errors import ConfigError
from engine.models.config import LARGEST_HEAD, Fields, TextConfig, text_config
from engine.models.decoder import Decoder, Mlp, nested_names
from engine.models.gemma3 import NORMS, gemma_ropes
from engine.models.gemma4_audio import gemma4_senses
from engine.models.vision_language import SeeingDecoder
from engine.models.windows import layer_windows, sliding_layers
from engine.weights.view import View


def shared_sources(c: TextConfig, sliding: Sequence[bool]) -> list[int | None]:
    """For each layer the earlier one whose keys and values it reads, None where it has its own: the last layers read those of the
    last layer of their kind that has some."""
    f = c.fields
    shared = f.int("num_kv_shared_layers", default=0, least=0, most=c.layers)
    first = c.layers - shared
    last = {kind: i for i, kind in enumerate(sliding[:first])}
    if not set(sliding) <= set(last):
        raise ConfigError(f"{f.where}: num_kv_shared_layers ({shared}) leaves no keys and values to read.")
    return [None if i < first else last[kind] for i, kind in enumerate(sliding)]


class SharingAttention:
    """Grouped-query attention without a scale, with norms on queries, keys and values; those of values have no weights. `source`: the
    layer whose keys and values it reads; `values`: whether they have a projection of their own."""

    def __init__(
        self,
        w: View,
        c: TextConfig,
        layer: int,
        dim: int,
        kv_heads: int,
        window: int | None,
        source: int | None,
        values: bool,
    ) -> None:
        self.ops, self.layer, self.eps = w.backend.ops, layer, c.eps
        own = w.heads(c.heads, kv_heads)
        self.heads, self.kv_heads, self.dim = own.queries.size, own.keys.size, dim
        both_ways = window is not None  # the tokens of a picture see one another within windows alone
        kept = KVSpec(self.kv_heads, dim, window=window, mutual=both_ways)
        self.memory: MemorySpec = kept if source is None else SharedKVSpec(source)
        bias = c.fields.flag("attention_bias")
        rows = own.rows(dim)[: 1 if source is not None else 3 if values else 2]
        self.sizes = [part.size for part in rows]
        parts = [(f"{name}_proj", part.total) for name, part in zip("qkv", rows)]
        self.project = w.linear(*parts, inp=c.hidden, bias=bias, rows=rows)
        self.out = w.linear(("o_proj", c.hidden), inp=c.heads * dim, bias=bias, columns=rows[0])
        self.q_norm = w.norm("q_norm", dim)
        self.k_norm = w.norm("k_norm", dim) if source is None else None
        if source is not None:  # some files hold what nothing reads
            w.ignore(rf"layers\.{layer}\.self_attn\.(k_proj|v_proj|k_norm)\.")

    def __call__(self, x: Array, step: Step, angles: Array) -> Array:
        ops, n = self.ops, x.shape[0]
        queries, *others = ops.split(self.project(x), self.sizes, 1)
        q = ops.rope(ops.rms_norm(queries.reshape(n, self.heads, self.dim), self.q_norm, self.eps), angles)
        k = v = None
        if others:
            k, v = (made.reshape(n, self.kv_heads, self.dim) for made in (others[0], others[-1]))
            k, v = ops.rope(ops.rms_norm(k, self.k_norm, self.eps), angles), ops.rms_norm(v, None, self.eps)
        attended = step.cache.attend(self.layer, q, k, v, 1.0)
        return self.out(attended.reshape(n, self.heads * self.dim))


class PerLayerInputs:
    """A vector of every token for each layer: the sum of a row of a table of its own and a projection of the token's embedding. The
    rows travel behind the embeddings."""

    def __init__(self, w: View, c: TextConfig, width: int) -> None:
        self.ops, self.eps = w.backend.ops, c.eps
        self.layers, self.width, self.hidden = c.layers, width, c.hidden
        rows = c.fields.int("vocab_size_per_layer_input", default=c.vocab)
        self.table = w.embedding("embed_tokens_per_layer", rows, c.layers * width)
        self.project = w.linear(("per_layer_model_projection", c.layers * width), inp=c.hidden)
        self.norm = w.norm("per_layer_projection_norm", width)
        self.known = None
        # tokens beyond the table stand for pictures and sound: theirs is the first row
        if rows < c.vocab and not w.dry:
            ids = np.arange(c.vocab, dtype=np.int32)
            self.known = self.ops.array(np.where(ids < rows, ids, 0))

    def behind(self, x: Array, ids: Array) -> Array:
        """Embeddings, and behind each the rows of its token."""
        found = ids if self.known is None else self.ops.take(self.known, ids, 0)
        return self.ops.cat([x, self.table.rows(found) * self.width**0.5], 1)

    def of_pictures(self) -> np.ndarray:  # behind a picture's tokens lie the rows of the first token
        return self.ops.numpy(self.table.rows(self.ops.array(np.zeros(1, np.int32))) * self.width**0.5)[0]

    def split(self, x: Array) -> tuple[Array, list[Array]]:
        """The embeddings, and the inputs of each layer."""
        x, rows = self.ops.split(x, [self.hidden, self.layers * self.width], 1)
        shape = x.shape[0], self.layers, self.width
        made = self.ops.rms_norm((self.project(x) * self.hidden**-0.5).reshape(*shape), self.norm, self.eps)
        mixed = (made + rows.reshape(*shape)) * 2**-0.5
        return x, [mixed[:, i] for i in range(self.layers)]


class PerLayerGate:
    """What a layer makes of its own input of each token and of its hidden state."""

    def __init__(self, w: View, c: TextConfig, width: int) -> None:
        self.ops, self.eps = w.backend.ops, c.eps
        self.gate = w.linear(("per_layer_input_gate", width), inp=c.hidden)
        self.project = w.linear(("per_layer_projection", c.hidden), inp=width)
        self.norm = w.norm("post_per_layer_input_norm", c.hidden)

    def __call__(self, x: Array, given: Array) -> Array:
        made = self.project(self.ops.gelu_tanh(self.gate(x)) * given)
        return self.ops.rms_norm(made, self.norm, self.eps)


class MoeBeside:
    """Routed experts beside an MLP: both have norms of their own, and the router one without weights."""

    def __init__(self, w: View, c: TextConfig) -> None:
        f = c.fields
        self.ops, self.eps, self.root = w.backend.ops, c.eps, c.hidden**-0.5
        count, chosen = f.int("num_experts"), f.int("top_k_experts")
        if chosen > count:
            raise ConfigError(f"{f.where}: top_k_experts ({chosen}) exceeds num_experts ({count}).")
        self.router = w.linear(("router.proj", count), inp=c.hidden)
        self.router_scale = w.tensor("router.scale", (c.hidden,))
        expert_scale = w.tensor("router.per_expert_scale", (count,), "f32")
        names = [f"{name}_feedforward_layernorm_{i}" for name, i in (("post", 1), ("pre", 2), ("post", 2))]
        self.dense_norm, self.before, self.behind = (w.norm(name, c.hidden) for name in names)
        ffn = f.int("moe_intermediate_size")
        apart = "experts.switch_glu"  # as mlx-lm saves them
        name = f"{apart}.down_proj" if w.has(f"{apart}.down_proj.weight") else "experts.down_proj"
        own = w.experts_width(ffn, name, count, c.hidden)
        if w.has(f"{apart}.gate_proj.weight"):
            gate_up = w.experts([(f"{apart}.{n}_proj", ffn) for n in ("gate", "up")], count, c.hidden, rows=own)
        else:
            gate_up = w.whole_experts("experts.gate_up_proj", count, 2 * ffn, c.hidden, rows=own.repeated(2))
        down, rule = w.whole_experts(name, count, c.hidden, ffn, columns=own), RoutingRule(chosen)
        self.experts = w.mixture(MixtureParts(gate_up, down, rule, "geglu", factors=expert_scale))

    def __call__(self, x: Array, dense: Array) -> Array:
        """`x`: the hidden state; `dense`: what the MLP made of it."""
        ops = self.ops
        scores = self.router(ops.rms_norm(x, self.router_scale, self.eps) * self.root)
        routed = ops.rms_norm(self.experts(ops.rms_norm(x, self.before, self.eps), scores), self.behind, self.eps)
        return ops.rms_norm(dense, self.dense_norm, self.eps) + routed


class Gemma4Decoder(Decoder):
    def __init__(self, w: View, c: TextConfig) -> None:
        f = c.fields
        sliding, windows = sliding_layers(c, pattern=6), layer_windows(c, pattern=6)
        sliding[-1], windows[-1] = False, None  # whatever the config says
        sources, shapes = shared_sources(c, sliding), head_shapes(c, sliding)
        width = f.int("hidden_size_per_layer_input", default=0, least=0)
        same, double = f.flag("attention_k_eq_v"), f.flag("use_double_wide_mlp")
        mixture = f.flag("enable_moe_block")
        self.mlps: list[Mlp] = []
        self.gates: list[PerLayerGate | None] = []
        self.mixtures: list[MoeBeside | None] = []
        self.scalars: list[Array | None] = []

        def mixer(v: View, i: int) -> SharingAttention:
            dim, kv_heads = shapes[i]
            values = sliding[i] or not same
            return SharingAttention(v.sub("self_attn"), c, i, dim, kv_heads, windows[i], sources[i], values)

        def mlp(v: View, i: int) -> Mlp:
            self.gates.append(PerLayerGate(v, c, width) if width else None)
            self.mixtures.append(MoeBeside(v, c) if mixture else None)
            self.scalars.append(v.tensor("layer_scalar", (1,)) if v.has("layer_scalar") else None)
            ffn = c.ffn * (2 if double and sources[i] is not None else 1)
            self.mlps.append(Mlp(v.sub("mlp"), c.hidden, ffn, gelu=True))
            return self.mlps[i]

        body, head = nested_names(w)
        wide = next((dim for i, (dim, _) in enumerate(shapes) if not sliding[i]), c.head_dim)
        full, local = gemma_ropes(c, wide)
        ropes = [local if kind else full for kind in sliding]
        super().__init__(w, c, ropes, mixer, mlp, body=body, head=head, norms=NORMS, embed_scale=c.hidden**0.5)
        inner = w if w.has("embed_tokens.weight") else w.sub(body)
        self.inputs = PerLayerInputs(inner, c, width) if width else None
        self.softcap = f.float("final_logit_softcapping", default=0.0)

    def embed(self, ids: Array) -> Array:
        x = super().embed(ids)
        return x if self.inputs is None else self.inputs.behind(x, ids)

    def __call__(self, step: Step, added: Sequence[Array] = ()) -> Array:
        ops, eps = self.ops, self.eps
        angles = self.angles(step)
        x, given = (step.x, []) if self.inputs is None else self.inputs.split(step.x)
        for i, layer in enumerate(self.layers):
            mixed = layer.mixer(ops.rms_norm(x, layer.input_norm, eps), step, angles[self.rope_of[i]])
            x, normed = ops.add_rms_norm(ops.rms_norm(mixed, layer.mixed_norm, eps), x, layer.post_norm, eps)
            made, beside = self.mlps[i](normed), self.mixtures[i]
            if beside is not None:
                made = beside(x, made)
            x = x + ops.rms_norm(made, layer.out_norm, eps)
            gate, scalar = self.gates[i], self.scalars[i]
            if gate is not None:
                x = x + gate(x, given[i])
            if scalar is not None:
                x = x * scalar
        return ops.rms_norm(x, self.norm, eps)


def head_shapes(c: TextConfig, sliding: Sequence[bool]) -> list[tuple[int, int]]:
    """The size of each layer's heads, and how many have keys and values, in either spelling of the config."""
    f = c.fields
    if f.find("per_layer_config", default=None) is None:
        own = {"head_dim": f.int("global_head_dim", default=512)}
        if f.flag("attention_k_eq_v"):
            own["num_key_value_heads"] = f.int("num_global_key_value_heads", default=c.kv_heads)
        layers = [Fields({} if kind else own, f.where) for kind in sliding]
    else:
        given = f.sub("per_layer_config")
        names = {name.lstrip("0") or "0": name for name in given.values}  # the reference pads them to one length
        layers = [given.sub(names[str(i)]) if str(i) in names else Fields({}) for i in range(c.layers)]
    dims = [each.int("head_dim", default=c.head_dim, most=LARGEST_HEAD) for each in layers]
    kv_heads = [each.int("num_key_value_heads", default=c.kv_heads) for each in layers]
    if len(set(zip(sliding, dims))) > 2 or any(c.heads % count for count in kv_heads):
        raise ConfigError(f"{f.where}: head_dim and num_key_value_heads of its layers do not go together.")
    return list(zip(dims, kv_heads))


def gemma4(w: View, config: Mapping[str, Any]) -> Decoder | SeeingDecoder:
    c = text_config(config, activations=("gelu_pytorch_tanh",))
    mutual = c.fields.find("use_bidirectional_attention", default=None)
    if mutual == "all":
        raise ConfigError(f"{c.fields.where}: use_bidirectional_attention is not supported for Gemma 4.")
    decoder = Gemma4Decoder(w, c)
    behind = decoder.inputs.of_pictures if decoder.inputs else None
    senses = gemma4_senses(w, config, c.hidden, behind, mutual == "vision")
    return decoder if senses is None else SeeingDecoder(decoder, senses, c.hidden, mutual == "vision")
