"""Multi-token prediction: the small head that some checkpoints carry, which drafts the tokens behind the next one.

From the model's hidden state at a position and the token after it the head predicts the token after that one; from its own
hidden state and the token that it drafted, the one after that, and so on. It is one layer of the model's kind behind a product
that joins both inputs, and shares the model's embedding and its output matrix. Its keys and values are in a KV cache of its own.
An input row is a token's embedding, and behind it a hidden state, which comes as an addition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from backends.base import Array, Rope, Step
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Layers, Mlp, MlpLike, NormNames, nested_names
from engine.models.deepseek import LatentAttention, latent_config, latent_rope
from engine.models.glm4 import corrected_experts, mixture_traits
from engine.models.moe import GatedSharedMoe, Routing
from engine.models.qwen3_5 import GatedAttention
from engine.models.rope import text_rope
from engine.weights.portions import Portion
from engine.weights.view import View

DRAFTED_TOKENS = (
    1 << 15
)  # the first tokens of a large vocabulary, which are the frequent ones, are drafted; the others are not
LARGE_VOCABULARY = 1 << 16


@dataclass(frozen=True)
class HeadNames:
    """Tensor names of a head, below `prefix`: of what joins the two inputs, of the inputs' norms, and of the norm behind the layer; and the
    number of the layer."""

    prefix: str
    joining: str = "fc"
    embedding_norm: str = "pre_fc_norm_embedding"
    hidden_norm: str = "pre_fc_norm_hidden"
    norm: str = "norm"
    layer: int = 0


class MtpHead:
    """Implements `TokenModel`."""

    def __init__(
        self,
        w: View,
        names: HeadNames,
        c: TextConfig,
        decoder: Decoder,
        layers: Layers,
        logits: Callable[[Array], Array],
    ) -> None:
        """`w`: below the names' prefix. `layers`: one, and the norm behind it."""
        self.ops, self.width, self.eps, self.vocab = w.backend.ops, c.hidden, c.eps, decoder.vocab
        self.fc = w.linear((names.joining, c.hidden), inp=2 * c.hidden)
        plus = decoder.norm_plus
        self.embedding_norm = w.norm(names.embedding_norm, c.hidden, plus)
        self.hidden_norm = w.norm(names.hidden_norm, c.hidden, plus)
        self.layers, self.memory = layers, layers.memory
        self.logits, self._embed = logits, decoder.embed

    def embed(self, ids: Array) -> Array:
        return self.ops.pad(self._embed(ids), [(0, 0), (0, self.width)])

    @staticmethod
    def beside(hidden: np.ndarray) -> np.ndarray:
        """What is added to the embeddings: see `DraftHead`."""
        return np.concatenate((np.zeros_like(hidden), hidden), axis=1)

    def joined(self, x: Array) -> Array:
        ops = self.ops
        embedded, hidden = ops.split(x, [self.width, self.width], 1)
        embedded = ops.rms_norm(embedded, self.embedding_norm, self.eps)
        return self.fc(ops.cat([embedded, ops.rms_norm(hidden, self.hidden_norm, self.eps)], 1))

    def __call__(self, step: Step) -> Array:
        return self.layers(Step(self.joined(step.x), step.pos, step.cache))


class MtpPrefill:
    """An `MtpHead` that writes its keys and values and does nothing else: for tokens of a prompt behind which nothing is drafted."""

    def __init__(self, head: MtpHead) -> None:
        self.head, self.memory, self.vocab = head, head.memory, head.vocab
        self.embed, self.logits = head.embed, head.logits
        (layer,) = head.layers.layers
        self._store, self._norm = layer.mixer.store, layer.input_norm  # type: ignore[attr-defined]

    def __call__(self, step: Step) -> Array:
        head = self.head
        joined = head.joined(step.x)
        x = head.ops.rms_norm(joined, self._norm, head.eps)
        self._store(x, step, head.layers.angles(step)[0])
        return joined


def _qwen(w: View, config: Mapping[str, Any], model: Any) -> MtpHead:
    """Of Qwen3.5 and Qwen3-Next, dense or a mixture: a layer with gated attention."""
    c, decoder = replace(text_config(config), layers=1), getattr(model, "decoder", model)
    names = HeadNames(head_prefix(w))
    inner = w.sub(names.prefix)
    routing = Routing(renormalize=c.fields.flag("norm_topk_prob", config.get("model_type") != "qwen3_next"))

    def mlp(v: View, i: int) -> MlpLike:
        if v.has("mlp.gate_proj.weight"):
            return Mlp(v.sub("mlp"), c.hidden, c.ffn)
        return GatedSharedMoe(v.sub("mlp"), c, routing)

    layers = Layers(
        inner,
        c,
        text_rope(c, default_partial=0.25),
        lambda v, i: GatedAttention(v.sub("self_attn"), c, i, decoder.norm_plus),
        mlp,
        norm_plus=decoder.norm_plus,
    )
    head = MtpHead(inner, names, c, decoder, layers, _draft_logits(w, c, decoder))
    w.ignore(r".")  # the model's own tensors, and the layers behind the first
    return head


def _glm(w: View, config: Mapping[str, Any], model: Any) -> MtpHead:
    """Of GLM 4.5 and 4.6."""
    c = text_config(config)
    traits = mixture_traits(c)
    return _last_layer(w, c, text_rope(c, default_partial=0.5), model, lambda v, i: Attention(v, c, i, traits))


def _latent(w: View, config: Mapping[str, Any], model: Any) -> MtpHead:
    """Of DeepSeek V3 and GLM 4.7 Flash."""
    c = latent_config(config)
    return _last_layer(w, c, latent_rope(c), model, lambda v, i: LatentAttention(v, c, i))


def _last_layer(
    w: View, c: TextConfig, rope: Rope, model: Any, mixer: Callable[[View, int], Attention | LatentAttention]
) -> MtpHead:
    """A head that is one more layer of the model's kind. It has copies of the embedding and the output matrix, which are not read. What it hands to
    its next draft is normalized, as SGLang has it."""
    decoder = getattr(model, "decoder", model)
    names = HeadNames(head_prefix(w))
    if w.has(f"{(layer := _layer_prefix(c))}.eh_proj.weight"):
        body, _, own = layer.partition(".")
        names = HeadNames(body, f"{own}.eh_proj", f"{own}.enorm", f"{own}.hnorm", f"{own}.shared_head.norm", c.layers)
    inner = w.sub(names.prefix)

    def mlp(v: View, i: int) -> MlpLike:
        inside = v.sub("mlp")
        return Mlp(inside, c.hidden, c.ffn) if inside.has("gate_proj.weight") else corrected_experts(inside, c)

    layers = Layers(
        inner,
        replace(c, layers=1),
        rope,
        lambda v, i: mixer(v.sub("self_attn"), i),
        mlp,
        norms=NormNames(last=names.norm),
        first=names.layer,
    )
    head = MtpHead(inner, names, c, decoder, layers, _draft_logits(w, c, decoder))
    w.ignore(r".")
    return head


def _draft_logits(w: View, c: TextConfig, decoder: Decoder) -> Callable[[Array], Array]:
    """The output matrix costs more than the head's layer, so a draft is chosen from the frequent tokens of a large vocabulary."""
    if c.vocab < LARGE_VOCABULARY:
        return decoder.logits
    body, head = nested_names(w)
    name = f"{body}.embed_tokens" if c.tied else head
    some = Portion(c.vocab, ((0, DRAFTED_TOKENS),))
    return w.linear((name, c.vocab), inp=c.hidden, rows=[some])


_PREFIXES = "mtp", "model.mtp", "language_model.mtp", "model.language_model.mtp"
_HEADS: dict[str, Callable[[View, Mapping[str, Any], Any], MtpHead]] = {
    **dict.fromkeys(("qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "qwen3_next"), _qwen),
    "glm4_moe": _glm,
    **dict.fromkeys(("glm4_moe_lite", "deepseek_v3"), _latent),
}


def head_prefix(w: View) -> str:
    return next((prefix for prefix in _PREFIXES if w.has(f"{prefix}.norm.weight")), _PREFIXES[0])


def _layer_prefix(c: TextConfig) -> str:
    """Of a head that is the layer behind the last one."""
    return f"model.layers.{c.layers}"


def find_head(
    config: Mapping[str, Any], names: Mapping[str, Any]
) -> Callable[[View, Mapping[str, Any], Any], MtpHead] | None:
    """What makes the head of a checkpoint with tensors of these names; None where it has none, or none that is known."""
    c = text_config(config)
    make = _HEADS.get(str(c.fields.find("model_type", default=config.get("model_type"))))
    joining = [f"{prefix}.fc.weight" for prefix in _PREFIXES]
    if make is not _qwen:
        joining.append(f"{_layer_prefix(c)}.eh_proj.weight")
    return make if any(name in names for name in joining) else None
