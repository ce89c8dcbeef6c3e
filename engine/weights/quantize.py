"""Quantizing a checkpoint while it loads: which matrix becomes what, and the bytes made when a backend asks for them.

One matrix at a time goes through f32, and of that a few rows at a time; so the peak stays far under the full model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import numpy as np

from backends.base import Blocks, Dense, Raw
from engine.errors import BadRequest
from engine.weights.gguf.blocks import decode_rows
from engine.weights.gguf.encode import encode
from engine.weights.gguf.types import FLOATS, TYPES
from engine.weights.made import Made
from engine.weights.source import Source, SourceMatrix, SourceOver

KINDS = {"q8_0": "Q8_0", "q4_0": "Q4_0", "q4_k": "Q4_K", "q6_k": "Q6_K"}
CHOICES = ("auto", "none", *KINDS)

# Small matrices whose errors go everywhere: a router's choice of experts, the decay of a recurrent memory. And those between
# latents and heads, which most backends would unpack; and places that are added to what an encoder of sound reads.
_WHOLE = re.compile(
    r"((mlp|block_sparse_moe|feed_forward|mixer)\.gate|mlp\.router|mlp\.gate\.(proj|wg)|router\.(proj|layer)"
    r"|altup\.modality_router|shared_expert_gate"
    r"|linear_attn\.(in_proj_a|in_proj_b|in_proj_ba)|(linear_attn|mamba|mixer)\.conv1d|conv\.conv"
    r"|self_attn\.(kv_b_proj|embed_q|unembed_out)|embed_positions|ada_rms_norm\.linear[12])$"
)
_EMBEDDINGS = re.compile(r"(embed_tokens|embeddings|lm_head)$")
# Of an encoder: tables whose rows are looked up, and what a text's one vector passes through. Both take no time.
_BESIDE_LAYERS = re.compile(r"(embed_tokens|embeddings)$|(^|\.)(pooler|classifier|head)(\.|$)")
SIXTEEN_BITS = ("F16", "BF16")


def chosen(quant: str, device: str, tensors: Mapping[str, Raw], floats: Collection[str] = SIXTEEN_BITS) -> str | None:
    """Resolve `auto` and `none`: a checkpoint of `floats` on a CPU becomes q8_0. A 16-bit one then reads half the bytes a token.

    None where there is nothing to do: what is quantized already stays as it is.
    """
    if quant not in CHOICES:
        raise BadRequest(f"There is no quantization `{quant}`. Choose one of: {', '.join(CHOICES)}.", "quant")
    if quant != "auto":
        return quant if quant != "none" and any(_plain(name, raw) for name, raw in tensors.items()) else None
    matrices = [raw for raw in tensors.values() if len(raw.shape) > 1]
    plain = sum(raw.nbytes for raw in matrices if raw.dtype in floats)
    return "q8_0" if device == "cpu" and 2 * plain > sum(raw.nbytes for raw in matrices) else None


def _plain(name: str, raw: Raw) -> bool:
    """A matrix of floats; scales and biases of packed ones have two axes too, and other names."""
    return name.endswith(".weight") and len(raw.shape) > 1 and raw.dtype in FLOATS


def stays_whole(stem: str) -> bool:
    return _WHOLE.search(stem) is not None


def lies_beside_layers(stem: str) -> bool:
    """Whether an encoder's matrix belongs to none of its layers: an embedding, or the head of a cross-encoder."""
    return _BESIDE_LAYERS.search(stem) is not None


def is_embedding(stem: str) -> bool:
    """An embedding or a head: what every token passes through."""
    return _EMBEDDINGS.search(stem) is not None


def kind_for(quant: str, stem: str, shape: tuple[int, ...]) -> str | None:
    """The block type for the matrix `stem`, or None for one that stays as it is.

    Embeddings and heads get six bits where the rest gets four. Rows that a type's blocks do not divide get Q8_0.
    """
    if len(shape) < 2 or stays_whole(stem):
        return None
    wanted = KINDS[quant]
    if is_embedding(stem) and wanted.startswith("Q4"):
        wanted = "Q6_K"
    return next((kind for kind in (wanted, "Q8_0") if shape[-1] % TYPES[kind].weights == 0), None)


class Quantized(SourceOver):
    """A source whose plain matrices come as blocks. What is stored in blocks or packed already stays so.

    `by_backend`: the backend quantizes while it loads, which is much faster than it is done here. `keep`: matrices that stay plain.
    """

    def __init__(
        self, source: Source, quant: str, by_backend: bool = False, keep: Callable[[str], bool] = stays_whole
    ) -> None:
        super().__init__(source)
        self._quant = quant
        self._by_backend = by_backend
        self._keep = keep

    def changed(self, found: SourceMatrix, stem: str, shape: tuple[int, ...]) -> SourceMatrix:
        kind = None if self._keep(stem) else kind_for(self._quant, stem, shape)
        if (
            found.ordered
            or not isinstance(found.weight, Dense)
            or kind is None
            or found.weight.data.dtype not in FLOATS
        ):
            return found
        if self._by_backend:
            return replace(found, weight=Dense(found.weight.data, kind))
        return replace(found, weight=quantized(found.weight.data, kind))


def quantized(raw: Raw, kind: str) -> Blocks:
    columns = raw.shape[-1]
    rows = int(np.prod(raw.shape[:-1]))
    size = TYPES[kind].row_bytes(columns)

    def make() -> np.ndarray:
        out, at = np.empty((rows, size), np.uint8), 0
        for part in decode_rows(raw.buffer, raw.dtype, columns):
            out[at : at + len(part)] = encode(part, kind)
            at += len(part)
        return out

    return Blocks(Made(raw, kind, raw.shape, rows * size, make), kind, raw.shape)
