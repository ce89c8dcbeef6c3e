"""The encoder of sound in a Gemma 4 `mmproj` file (`clip.audio.projector_type`): its config, the names of its tensors, and both ways of each.

llama.cpp's names of the two norms around a convolution are exchanged. A scale of queries is stored behind its softplus. What only
writing needs is imported there: each GGUF file that is looked at comes by here, and no architecture is to come with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.base import Raw
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.keys import Keys
from engine.weights.made import computed, shaped

if TYPE_CHECKING:
    from engine.weights.gguf.layouts import Tensor

SOUND_KIND = "gemma4a"
SOUND_TOKENS = {"audio_token_id": "<|audio|>", "boa_token_id": "<|audio>", "eoa_token_index": "<audio|>"}
SOUND_PLACES = ("audio_tower", "embed_audio")
_TOWER = "model.audio_tower"
_BOUNDS = ("input_min", "input_max", "output_min", "output_max")  # of a linear's numbers
_CONVS, _LAYER = f"{_TOWER}.subsample_conv_projection", f"{_TOWER}.layers.{{}}"
_LINEARS = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_out": "self_attn.post",
    "ffn_up": "feed_forward1.ffw_layer_1",
    "ffn_down": "feed_forward1.ffw_layer_2",
    "ffn_up_1": "feed_forward2.ffw_layer_1",
    "ffn_down_1": "feed_forward2.ffw_layer_2",
    "conv_pw1": "lconv1d.linear_start",
    "conv_pw2": "lconv1d.linear_end",
}
_OTHERS = {
    "attn_k_rel": "self_attn.relative_k_proj",
    "attn_pre_norm": "norm_pre_attn",
    "attn_post_norm": "norm_post_attn",
    "ln2": "norm_out",
    "ffn_norm": "feed_forward1.pre_layer_norm",
    "ffn_post_norm": "feed_forward1.post_layer_norm",
    "ffn_norm_1": "feed_forward2.pre_layer_norm",
    "ffn_post_norm_1": "feed_forward2.post_layer_norm",
    "conv_norm": "lconv1d.pre_layer_norm",
    "norm_conv": "lconv1d.conv_norm",
    "conv_dw": "lconv1d.depthwise_conv1d",
}
SOUND_NAMES = {
    **{f"a.conv1d.{i}.weight": f"{_CONVS}.layer{i}.conv.weight" for i in range(2)},
    **{f"a.conv1d.{i}.norm.weight": f"{_CONVS}.layer{i}.norm.weight" for i in range(2)},
    "a.input_projection.weight": f"{_CONVS}.input_proj_linear.weight",
    "a.blk.{}.per_dim_scale.weight": f"{_LAYER}.self_attn.per_dim_scale",
    **{f"a.blk.{{}}.{theirs}.weight": f"{_LAYER}.{ours}.weight" for theirs, ours in (_LINEARS | _OTHERS).items()},
    **{f"a.blk.{{}}.{theirs}.{one}": f"{_LAYER}.{ours}.{one}" for theirs, ours in _LINEARS.items() for one in _BOUNDS},
    "a.pre_encode.out.weight": f"{_TOWER}.output_proj.weight",
    "a.pre_encode.out.bias": f"{_TOWER}.output_proj.bias",
    "mm.a.input_projection.weight": "model.embed_audio.embedding_projection.weight",
}
# which readers take for granted
_FIXED = {
    "attention_chunk_size": 12,
    "attention_context_left": 13,
    "attention_context_right": 0,
    "attention_logit_cap": 50.0,
    "conv_kernel_size": 5,
    "residual_weight": 0.5,
    "rms_norm_eps": 1e-6,
}
_BOUND = re.compile(rf"\.({'|'.join(_BOUNDS)})$")


# -- reading


def sound_config(metadata: Mapping[str, Any], tensors: Mapping[str, Raw], where: str) -> dict[str, Any]:
    """`audio_config`; empty where the file has no such encoder."""
    if metadata.get("clip.audio.projector_type") != SOUND_KIND:
        return {}
    keys = Keys(metadata, "clip.audio", where)
    named = ("a.conv1d.0.weight", "a.conv1d.1.weight", "a.pre_encode.out.weight")
    if absent := [name for name in named if name not in tensors]:
        raise ConfigError(f"{where} has no {absent[0]}, so its encoder of sound is not whole.")
    return _FIXED | {
        "hidden_size": keys.int("embedding_length"),
        "num_hidden_layers": keys.int("block_count", most=1 << 10),
        "num_attention_heads": keys.int("attention.head_count"),
        "subsampling_conv_channels": [tensors[f"a.conv1d.{i}.weight"].shape[0] for i in range(2)],
        "output_proj_dims": tensors["a.pre_encode.out.weight"].shape[0],
        "use_clipped_linears": any(name.startswith("a.") and _BOUND.search(name) for name in tensors),
    }


def sound_tensor(name: str, raw: Raw) -> Raw:
    """As models want it."""
    if _BOUND.search(name):
        return shaped(raw, ())
    if name.endswith("conv_dw.weight"):
        return shaped(raw, (raw.shape[0], 1, raw.shape[1]))
    if name.endswith("per_dim_scale.weight"):
        return computed(raw, raw.shape, lambda: _before_softplus(dequantize(raw).reshape(raw.shape)))
    return raw


def _before_softplus(y: np.ndarray) -> np.ndarray:
    found: np.ndarray = (y + np.log(-np.expm1(-y.astype(np.float64)))).astype(np.float32)
    return found


# -- writing


def sound_keys(fields: Fields, width: int) -> dict[str, Any]:
    """`width`: of the text model's embeddings."""
    from engine.models.gemma4_audio import MELS
    from engine.weights.gguf.families import unsaid

    f = fields.sub("audio_config")
    for name, fixed in _FIXED.items():
        if (found := f.find(name, default=fixed)) != fixed:
            raise unsaid(f"`{name}` of the encoder of sound is {found!r} (files always mean {fixed!r})")
    hidden = f.int("hidden_size", default=1024)
    return {
        "clip.has_audio_encoder": True,
        "clip.audio.projector_type": SOUND_KIND,
        "clip.audio.projection_dim": width,
        "clip.audio.num_mel_bins": MELS,
        "clip.audio.embedding_length": hidden,
        "clip.audio.feed_forward_length": 4 * hidden,
        "clip.audio.block_count": f.int("num_hidden_layers", default=12),
        "clip.audio.attention.head_count": f.int("num_attention_heads", default=8),
        "clip.audio.attention.layer_norm_epsilon": 1e-5,  # which nothing uses
    }


def sound_apart(name: str, tensor: Tensor, fields: Fields) -> Iterator[tuple[str, Tensor]]:
    if _BOUND.search(name):
        if not fields.sub("audio_config").flag("use_clipped_linears", True):
            return
        tensor = tensor.shaped(1)
    elif name.endswith("depthwise_conv1d.weight"):
        tensor = tensor.shaped(tensor.shape[0], max(tensor.shape[1:]))
    elif (
        name.endswith("conv.weight") and tensor.shape[1:3] == (3, 3) != tensor.shape[2:]
    ):  # as MLX's converter saves it
        out, *_, inp = tensor.shape
        tensor = tensor.changed(lambda x: np.ascontiguousarray(np.moveaxis(x, -1, 1)), (out, inp, 3, 3))
    elif name.endswith("per_dim_scale"):
        tensor = tensor.changed(lambda x: np.logaddexp(0, x.astype(np.float64)).astype(np.float32))
    yield name.replace(".linear.weight", ".weight"), tensor
