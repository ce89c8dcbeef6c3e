"""EAGLE-3: a head of one layer that drafts for a model whose hidden states of three layers it reads. Published as a checkpoint of its own.

The three states of a position are fused by one product. The layer's attention sees the norm of the next token's embedding beside the norm of
the fused state, and the residual stream begins with the fused state. What leaves the layer takes its place in the next draft. A head may have a vocabulary of
its own, of the frequent tokens: `d2t` holds how far each of its tokens is from the model's. Arithmetic as in vLLM's llama_eagle3.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import Array, Raw, Step
from engine.errors import ConfigError
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Layers, Mlp, Traits
from engine.models.rope import text_rope
from engine.weights.view import View

TAPS = 3
_NEVER_MADE = r"^(model\.)?(d2t|t2d)$"


def is_eagle3(config: Mapping[str, Any]) -> bool:
    """Whether a configuration is that of such a head, in the spelling of its authors, of SpecForge or of speculators."""
    named = [str(name).lower() for name in config.get("architectures") or ()]
    return any("eagle3" in name for name in named) or "draft_vocab_size" in config


def is_eagle3_folder(folder: Path) -> bool:
    try:
        return is_eagle3(json.loads((folder / "config.json").read_text()))
    except (OSError, ValueError, AttributeError):
        return False


def layer_config(config: Mapping[str, Any]) -> TextConfig:
    inner = config.get("transformer_layer_config")
    known = inner if isinstance(inner, dict) else config
    return text_config({**known, "num_hidden_layers": 1})


def tapped_layers(config: Mapping[str, Any], layers: int) -> list[int]:
    """The layers of a model with so many whose inputs the head reads; `layers`: what the last one gives."""
    ids, inner = config.get("eagle_aux_hidden_state_layer_ids"), config.get("eagle_config")
    if not ids and isinstance(inner, dict) and inner.get("eagle_aux_hidden_state_layer_ids"):
        ids = [int(i) + 1 for i in inner["eagle_aux_hidden_state_layer_ids"]]  # these name layers by what they give
    found = [int(i) for i in ids] if ids else [2, layers // 2, layers - 3]
    if len(found) != TAPS or any(not 0 <= i <= layers for i in found):
        raise ConfigError(f"The draft model reads layers {found}, but its model has {layers} layers.")
    return found


def target_ids(raw: Raw | None, vocab: int, of_model: int) -> np.ndarray | None:
    """The model's token of each of the head's, from `d2t`."""
    if raw is None:
        return None
    if raw.dtype != "I64" or raw.shape != (vocab,):
        raise ConfigError(f"d2t of the draft model is {raw.dtype} {list(raw.shape)}, should be I64 {[vocab]}.")
    ids: np.ndarray = np.arange(vocab) + np.frombuffer(raw.buffer, np.int64, vocab)
    if ids.min() < 0 or ids.max() >= of_model:
        raise ConfigError("d2t of the draft model names tokens that its model does not have.")
    return ids


def why_not(config: Mapping[str, Any], fc: Raw | None, model: Any, width: int) -> str | None:
    """Why the head with this configuration and first product does not draft for a model of this width; None where it does."""
    if fc is None or len(fc.shape) != 2:
        return "it has no fc.weight"
    if fc.shape[1] != TAPS * width:
        return f"it reads states of {fc.shape[1] // TAPS} numbers, and the model's have {width}"
    decoder = _layers_of(model)
    if not isinstance(decoder, Layers) or type(decoder).__call__ is not Layers.__call__:
        return "what this model's layers read cannot be given"
    return None


def _layers_of(model: Any) -> Any:
    return getattr(model, "decoder", model)


class TappedModel:
    """A model whose hidden states are followed by what three of its layers read: `[T, D + 3 D]`."""

    def __init__(self, model: Any, layers: Sequence[int], width: int) -> None:
        decoder = _layers_of(model)
        decoder.tapped = list(layers)
        self.untapped, self.own_width = model, width
        self._split, self._sizes = decoder.ops.split, [width, width * TAPS]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.untapped, name)

    def __call__(self, step: Step) -> Array:
        return self.untapped(step)

    def logits(self, hidden: Array) -> Array:
        return self.untapped.logits(self._split(hidden, self._sizes, 1)[0])


class Eagle3Head:
    """Implements `TokenModel`. An input row is a token's embedding, then three hidden states of the model, then one of the head's own: the
    additions of a segment hold either. What it gives is normalized for the output matrix, and then as it was."""

    def __init__(self, w: View, config: Mapping[str, Any], model: TappedModel) -> None:
        c = layer_config(config)
        self.ops, self.eps, self.width, self.taps = w.backend.ops, c.eps, c.hidden, TAPS * model.own_width
        self.vocab = c.fields.int("draft_vocab_size", default=int(config.get("draft_vocab_size") or c.vocab), least=1)
        self.norm_first = bool(config.get("norm_before_residual", c.fields.flag("norm_before_residual")))
        layer = w.sub("midlayer" if w.has("midlayer.hidden_norm.weight") else "layers.0")
        self.fc = w.linear(("fc", c.hidden), inp=self.taps)
        self.embedding_norm = layer.norm("input_layernorm", c.hidden)
        self.hidden_norm = layer.norm("hidden_norm", c.hidden)
        traits = Traits(qkv_bias=c.fields.flag("attention_bias"))
        self.attention = Attention(layer.sub("self_attn"), c, 0, traits, inp=2 * c.hidden)
        self.mlp_norm = layer.norm("post_attention_layernorm", c.hidden)
        self.mlp = Mlp(layer.sub("mlp"), c.hidden, c.ffn, c.fields.flag("mlp_bias"))
        self.norm = w.norm("norm", c.hidden)
        self.head = w.vocabulary("lm_head", self.vocab, c.hidden)
        self.rope, self.memory = text_rope(c), [self.attention.memory]
        if w.has("embed_tokens.weight"):
            self._embed = w.embedding("embed_tokens", model.vocab, c.hidden).rows
        elif c.hidden == model.own_width:
            self._embed = model.embed
        else:
            raise ConfigError("The draft model has no embeddings, and those of its model have another width.")
        w.ignore(_NEVER_MADE)

    def embed(self, ids: Array) -> Array:
        return self.ops.pad(self._embed(ids), [(0, 0), (0, self.taps + self.width)])

    def joined(self, x: Array) -> tuple[Array, Array]:
        """What the layer reads, and the residual stream."""
        ops = self.ops
        embedded, taps, own = ops.split(x, [self.width, self.taps, self.width], 1)
        fused = self.fc(taps) + own
        normed = ops.rms_norm(fused, self.hidden_norm, self.eps)
        both = ops.cat([ops.rms_norm(embedded, self.embedding_norm, self.eps), normed], 1)
        return both, normed if self.norm_first else fused

    def __call__(self, step: Step) -> Array:
        ops = self.ops
        both, residual = self.joined(step.x)
        mixed = self.attention(both, step, ops.angles(step.pos, self.rope))
        total, x = ops.add_rms_norm(mixed, residual, self.mlp_norm, self.eps)
        total, x = ops.add_rms_norm(self.mlp(x), total, self.norm, self.eps)
        return ops.cat([x, total], 1)

    def logits(self, hidden: Array) -> Array:
        return self.head(self.ops.split(hidden, [self.width, self.width], 1)[0])

    # -- rows of additions: see `DraftHead`

    def beside(self, hidden: np.ndarray) -> np.ndarray:
        """Of the model's hidden states."""
        taps = hidden[:, hidden.shape[1] - self.taps :]
        return np.pad(taps, ((0, 0), (self.width, self.width)))

    def own(self, hidden: np.ndarray) -> np.ndarray:
        """Of what the head has given."""
        return np.pad(hidden[:, self.width :], ((0, 0), (self.width + self.taps, 0)))


class Eagle3Prefill:
    """An `Eagle3Head` that writes its keys and values and does nothing else."""

    def __init__(self, head: Eagle3Head) -> None:
        self.head, self.memory, self.vocab = head, head.memory, head.vocab
        self.embed, self.logits = head.embed, head.logits

    def __call__(self, step: Step) -> Array:
        head = self.head
        both, _ = head.joined(step.x)
        head.attention.store(both, step, head.ops.angles(step.pos, head.rope))
        return both
