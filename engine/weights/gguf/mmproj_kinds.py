"""Kinds of `mmproj` files (`clip.projector_type`): which text models each sees for, and its config, settings and names of tensors."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from backends.base import Raw
from engine.errors import ConfigError, UnsupportedArchitecture
from engine.models.glm_ocr import HALVES
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.keys import Keys
from engine.weights.gguf.reader import Elements
from engine.weights.made import computed, shaped

Settings = dict[str, Any]


@dataclass(frozen=True)
class MmprojKind:
    """One `clip.projector_type`."""

    texts: Mapping[str, str]  # architectures of text models that it sees for, and the model_type of both together
    names: Mapping[str, str]  # theirs -> ours; `{}` is a layer's number
    tokens: Mapping[str, str]  # fields of the config, and the tokens whose ids they hold
    vision: Callable[[Keys, Mapping[str, Raw]], Settings]  # `vision_config`
    processor: Callable[[Keys, Settings], Settings]  # what preprocessor_config.json says, given `vision_config`
    more: Callable[[Keys, Settings, Mapping[str, int]], Settings] = field(
        default=lambda keys, vision, ids: {}
    )  # fields beside these
    renumbered: Callable[[str, Settings], str] = field(default=lambda name, vision: name)  # on the way to our names
    paired: bool = False  # queries and keys are in the order of `rotary_halves`
    unused: tuple[str, ...] = ()  # what begins so is the text model's, or an encoder's of sound
    reshaped: Callable[[str, Raw], Raw] = field(
        default=lambda name, raw: raw
    )  # a tensor as models want it, by its name in the file
    with_sound: bool = False  # an encoder of sound may be in the file too: see `mmproj_sound`


# -- what the kinds have in common

PATCHES, SECOND_FRAME = "v.patch_embd.weight", "v.patch_embd.weight.1"


def _both(names: Mapping[str, str]) -> dict[str, str]:
    return {f"{theirs}.{part}": f"{ours}.{part}" for part in ("weight", "bias") for theirs, ours in names.items()}


def _numbers(keys: Keys, name: str) -> list[float] | None:
    found = keys.find(name)
    return [float(str(number)) for number in found.numbers()] if isinstance(found, Elements) else None


def _colours(keys: Keys) -> Settings:
    """How pixels are normalized."""
    named = {f"image_{name}": _numbers(keys, f"image_{name}") for name in ("mean", "std")}
    return {name: values for name, values in named.items() if values is not None}


def _sizes(keys: Keys, tensors: Mapping[str, Raw]) -> Settings:
    """Under Qwen's names."""
    return {
        "depth": keys.int("block_count", most=1 << 10),
        "hidden_size": keys.int("embedding_length"),
        "intermediate_size": keys.int("feed_forward_length"),
        "num_heads": keys.int("attention.head_count"),
        "patch_size": keys.int("patch_size", most=1 << 10),
        "spatial_merge_size": keys.int("spatial_merge_size", 2, most=1 << 5),
        "out_hidden_size": keys.int("projection_dim"),
    }


# -- Qwen3-VL and Qwen3.5

_QWEN_TOKENS = {
    "image_token_id": "<|image_pad|>",
    "video_token_id": "<|video_pad|>",
    "vision_start_token_id": "<|vision_start|>",
    "vision_end_token_id": "<|vision_end|>",
}
_FEWEST_TOKENS, _MOST_TOKENS = 8, 4096  # of a picture, in llama.cpp


def _qwen3_vl(keys: Keys, tensors: Mapping[str, Raw]) -> Settings:
    flags, places = keys.find("is_deepstack_layers"), tensors.get("v.position_embd.weight")
    if places is None:
        raise ConfigError(f"{keys.where} has no v.position_embd.weight, so it is not a whole image encoder.")
    return _sizes(keys, tensors) | {
        "temporal_patch_size": 2,
        "num_position_embeddings": places.shape[0],
        "deepstack_visual_indexes": np.flatnonzero(flags.numbers()).tolist() if isinstance(flags, Elements) else [],
    }


def _qwen_processor(keys: Keys, vision: Settings) -> Settings:
    """Files of llama.cpp say nothing of the size of pictures: it has one limit for all of these models."""
    token = (vision["patch_size"] * vision["spatial_merge_size"]) ** 2
    return _colours(keys) | {
        "min_pixels": keys.int("image_min_pixels", _FEWEST_TOKENS * token),
        "max_pixels": keys.int("image_max_pixels", _MOST_TOKENS * token),
        "patch_size": vision["patch_size"],
        "merge_size": vision["spatial_merge_size"],
        "temporal_patch_size": 2,
    }


def _by_tap(name: str, vision: Settings) -> str:
    """Deepstack's tensors are numbered by the layer that they tap, ours one after the other."""
    found = re.match(r"v\.deepstack\.(\d+)\.", name)
    taps = vision["deepstack_visual_indexes"]
    if found is None or int(found[1]) not in taps:
        return name
    return f"v.deepstack.{taps.index(int(found[1]))}.{name[found.end() :]}"


QWEN_BLOCKS = {
    "v.patch_embd": "model.visual.patch_embed.proj",
    "v.blk.{}.ln1": "model.visual.blocks.{}.norm1",
    "v.blk.{}.ln2": "model.visual.blocks.{}.norm2",
    "v.blk.{}.attn_qkv": "model.visual.blocks.{}.attn.qkv",
    "v.blk.{}.attn_out": "model.visual.blocks.{}.attn.proj",
}
_QWEN3_VL = MmprojKind(
    texts={"qwen3vl": "qwen3_vl", "qwen3vlmoe": "qwen3_vl_moe", "qwen35": "qwen3_5", "qwen35moe": "qwen3_5_moe"},
    names={
        "v.position_embd.weight": "model.visual.pos_embed.weight",
        **_both(
            QWEN_BLOCKS
            | {
                "v.blk.{}.ffn_up": "model.visual.blocks.{}.mlp.linear_fc1",
                "v.blk.{}.ffn_down": "model.visual.blocks.{}.mlp.linear_fc2",
                "v.post_ln": "model.visual.merger.norm",
                "mm.0": "model.visual.merger.linear_fc1",
                "mm.2": "model.visual.merger.linear_fc2",
                "v.deepstack.{}.norm": "model.visual.deepstack_merger_list.{}.norm",
                "v.deepstack.{}.fc1": "model.visual.deepstack_merger_list.{}.linear_fc1",
                "v.deepstack.{}.fc2": "model.visual.deepstack_merger_list.{}.linear_fc2",
            }
        ),
    },
    tokens=_QWEN_TOKENS,
    vision=_qwen3_vl,
    processor=_qwen_processor,
    renumbered=_by_tap,
)

# -- Qwen2.5-VL


def _qwen2_5_vl(keys: Keys, tensors: Mapping[str, Raw]) -> Settings:
    """Every so many layers one attends to whole pictures. Files of llama.cpp do not say how wide a window is."""
    every, depth = keys.int("n_wa_pattern"), keys.int("block_count", most=1 << 10)
    return _sizes(keys, tensors) | {
        "temporal_patch_size": 2,
        "window_size": keys.int("window_size", 112),
        "fullatt_block_indexes": list(range(every - 1, depth, every)),
    }


_QWEN2_5_VL = MmprojKind(
    texts={"qwen2vl": "qwen2_5_vl"},
    names=_both(
        {theirs: ours for theirs, ours in QWEN_BLOCKS.items() if "qkv" not in theirs}
        | {
            "v.blk.{}.attn_q": "model.visual.blocks.{}.attn.q",
            "v.blk.{}.attn_k": "model.visual.blocks.{}.attn.k",
            "v.blk.{}.attn_v": "model.visual.blocks.{}.attn.v",
            "v.blk.{}.ffn_gate": "model.visual.blocks.{}.mlp.gate_proj",
            "v.blk.{}.ffn_up": "model.visual.blocks.{}.mlp.up_proj",
            "v.blk.{}.ffn_down": "model.visual.blocks.{}.mlp.down_proj",
            "v.post_ln": "model.visual.merger.ln_q",
            "mm.0": "model.visual.merger.mlp.0",
            "mm.2": "model.visual.merger.mlp.2",
        }
    ),
    tokens=_QWEN_TOKENS,
    vision=_qwen2_5_vl,
    processor=_qwen_processor,
)


# -- GLM-4.1V, GLM-4.6V and GLM-OCR, whose encoder has norms of queries and keys, and no positions of its own


def _glm4v(keys: Keys, tensors: Mapping[str, Raw]) -> Settings:
    places, gates = tensors.get("v.position_embd.weight"), tensors.get("mm.gate.weight")
    if gates is None:
        raise ConfigError(f"{keys.where} has no mm.gate.weight, so it is not a whole image encoder.")
    sizes = _sizes(keys, tensors) | {
        "temporal_patch_size": 2,
        "attention_bias": "v.blk.0.attn_qkv.bias" in tensors,
        "rms_norm_eps": keys.float("attention.layer_norm_epsilon", 1e-5),
    }
    if places is None:
        return sizes
    # its blocks are as wide as the text model, so that files say the width of the projector's gates
    return sizes | {
        "intermediate_size": gates.shape[0],
        "image_size": math.isqrt(places.shape[0]) * sizes["patch_size"],
    }


def _glm_processor(keys: Keys, vision: Settings) -> Settings:
    """Settings count the pixels of both frames that a picture is taken for."""
    given = _qwen_processor(keys, vision)
    return given | {name: 2 * given[name] for name in ("min_pixels", "max_pixels")}


_GLM4V = MmprojKind(
    texts={"glm4": "glm46v"},
    names={
        "v.position_embd.weight": "model.visual.embeddings.position_embedding.weight",
        **_both(
            QWEN_BLOCKS
            | {
                "v.norm_embd": "model.visual.post_conv_layernorm",
                "v.post_ln": "model.visual.post_layernorm",
                "v.blk.{}.attn_q_norm": "model.visual.blocks.{}.attn.q_norm",
                "v.blk.{}.attn_k_norm": "model.visual.blocks.{}.attn.k_norm",
                "v.blk.{}.ffn_gate": "model.visual.blocks.{}.mlp.gate_proj",
                "v.blk.{}.ffn_up": "model.visual.blocks.{}.mlp.up_proj",
                "v.blk.{}.ffn_down": "model.visual.blocks.{}.mlp.down_proj",
                "mm.patch_merger": "model.visual.downsample",
                "mm.model.fc": "model.visual.merger.proj",
                "mm.post_norm": "model.visual.merger.post_projection_norm",
                "mm.gate": "model.visual.merger.gate_proj",
                "mm.up": "model.visual.merger.up_proj",
                "mm.down": "model.visual.merger.down_proj",
            }
        ),
    },
    tokens={
        "image_token_id": "<|image|>",
        "video_token_id": "<|video|>",
        "image_start_token_id": "<|begin_of_image|>",
        "image_end_token_id": "<|end_of_image|>",
    },
    vision=_glm4v,
    processor=_glm_processor,
    more=lambda keys, vision, ids: {HALVES: True} | ({} if "image_size" in vision else {"model_type": "glm_ocr"}),
)

# -- Gemma 3


def _siglip(keys: Keys, tensors: Mapping[str, Raw]) -> Settings:
    return {
        "hidden_size": keys.int("embedding_length"),
        "intermediate_size": keys.int("feed_forward_length"),
        "num_hidden_layers": keys.int("block_count", most=1 << 10),
        "num_attention_heads": keys.int("attention.head_count"),
        "patch_size": keys.int("patch_size", most=1 << 10),
        "image_size": keys.int("image_size", most=1 << 13),
        "layer_norm_eps": keys.float("attention.layer_norm_epsilon", 1e-6),
    }


def _gemma3_tokens(keys: Keys, vision: Settings, ids: Mapping[str, int]) -> Settings:
    side = vision["image_size"] // vision["patch_size"] // keys.int("projector.scale_factor", 4)
    # a vocabulary of text alone lacks the token that stands for a part of a picture; no model ever sees it
    return {
        "mm_tokens_per_image": side**2,
        "image_token_index": ids.get("<image_soft_token>", ids["<start_of_image>"]),
    }


def _siglip_names(tower: str) -> dict[str, str]:
    return {
        "v.position_embd.weight": f"{tower}.embeddings.position_embedding.weight",
        **_both(
            {
                "v.patch_embd": f"{tower}.embeddings.patch_embedding",
                "v.post_ln": f"{tower}.post_layernorm",
                "v.blk.{}.ln1": f"{tower}.encoder.layers.{{}}.layer_norm1",
                "v.blk.{}.ln2": f"{tower}.encoder.layers.{{}}.layer_norm2",
                "v.blk.{}.attn_q": f"{tower}.encoder.layers.{{}}.self_attn.q_proj",
                "v.blk.{}.attn_k": f"{tower}.encoder.layers.{{}}.self_attn.k_proj",
                "v.blk.{}.attn_v": f"{tower}.encoder.layers.{{}}.self_attn.v_proj",
                "v.blk.{}.attn_out": f"{tower}.encoder.layers.{{}}.self_attn.out_proj",
                "v.blk.{}.ffn_up": f"{tower}.encoder.layers.{{}}.mlp.fc1",
                "v.blk.{}.ffn_down": f"{tower}.encoder.layers.{{}}.mlp.fc2",
            }
        ),
    }


_GEMMA3 = MmprojKind(
    texts={"gemma3": "gemma3"},
    names={
        "mm.soft_emb_norm.weight": "multi_modal_projector.mm_soft_emb_norm.weight",
        "mm.input_projection.weight": "multi_modal_projector.mm_input_projection_weight",
        **_siglip_names("vision_tower"),
    },
    tokens={"boi_token_index": "<start_of_image>", "eoi_token_index": "<end_of_image>"},
    vision=_siglip,
    processor=lambda keys, vision: _colours(keys),
    more=_gemma3_tokens,
)

# -- Idefics 3 and SmolVLM


def _tiles(keys: Keys, vision: Settings) -> Settings:
    tile = vision["image_size"]
    longest = keys.int("preproc_image_size", 4 * tile, most=1 << 14)
    return _colours(keys) | {"size": {"longest_edge": longest}, "max_image_size": {"longest_edge": tile}}


_IDEFICS3 = MmprojKind(
    texts={"llama": "idefics3"},
    names={
        "mm.model.fc.weight": "model.connector.modality_projection.proj.weight",
        **_siglip_names("model.vision_model"),
    },
    tokens={"image_token_id": "<image>"},
    vision=_siglip,
    processor=_tiles,
    more=lambda keys, vision, ids: {"scale_factor": keys.int("projector.scale_factor", 2, most=1 << 5)},
)

# -- InternVL

INTERNVL_TOWER, _INTERNVL_LAYER = "vision_tower", "vision_tower.encoder.layer.{}"


def _internvl(keys: Keys, tensors: Mapping[str, Raw]) -> Settings:
    """The larger encoder's norms have no biases."""
    return _siglip(keys, tensors) | {
        "norm_type": "layer_norm" if "v.blk.0.ln1.bias" in tensors else "rms_norm",
        "attention_bias": "v.blk.0.attn_q.bias" in tensors,
        "use_qk_norm": "v.blk.0.attn_q_norm.weight" in tensors,
    }


def _internvl_processor(keys: Keys, vision: Settings) -> Settings:
    """Files may say nothing of tiles; then the model's own limits hold, as in llama.cpp."""
    return _colours(keys) | {
        "min_patches": keys.int("preproc_min_tiles", 1),
        "max_patches": keys.int("preproc_max_tiles", 12),
    }


_INTERNVL = MmprojKind(
    texts=dict.fromkeys(("llama", "qwen2", "qwen3", "qwen3moe"), "internvl"),
    names={
        "v.class_embd": f"{INTERNVL_TOWER}.embeddings.cls_token",
        "v.position_embd.weight": f"{INTERNVL_TOWER}.embeddings.position_embeddings",
        "v.blk.{}.ls1.weight": f"{_INTERNVL_LAYER}.lambda_1",
        "v.blk.{}.ls2.weight": f"{_INTERNVL_LAYER}.lambda_2",
        **_both(
            {
                "v.patch_embd": f"{INTERNVL_TOWER}.embeddings.patch_embeddings.projection",
                "v.blk.{}.ln1": f"{_INTERNVL_LAYER}.layernorm_before",
                "v.blk.{}.ln2": f"{_INTERNVL_LAYER}.layernorm_after",
                "v.blk.{}.attn_q": f"{_INTERNVL_LAYER}.attention.q_proj",
                "v.blk.{}.attn_k": f"{_INTERNVL_LAYER}.attention.k_proj",
                "v.blk.{}.attn_v": f"{_INTERNVL_LAYER}.attention.v_proj",
                "v.blk.{}.attn_q_norm": f"{_INTERNVL_LAYER}.attention.q_norm",
                "v.blk.{}.attn_k_norm": f"{_INTERNVL_LAYER}.attention.k_norm",
                "v.blk.{}.attn_out": f"{_INTERNVL_LAYER}.attention.projection_layer",
                "v.blk.{}.ffn_up": f"{_INTERNVL_LAYER}.mlp.fc1",
                "v.blk.{}.ffn_down": f"{_INTERNVL_LAYER}.mlp.fc2",
                "mm.model.mlp.0": "multi_modal_projector.layer_norm",
                "mm.model.mlp.1": "multi_modal_projector.linear_1",
                "mm.model.mlp.3": "multi_modal_projector.linear_2",
            }
        ),
    },
    tokens={"image_token_id": "<IMG_CONTEXT>"},
    vision=_internvl,
    processor=_internvl_processor,
    more=lambda keys, vision, ids: {"downsample_ratio": 1 / keys.int("projector.scale_factor", 2, most=1 << 5)},
    reshaped=lambda name, raw: (
        shaped(raw, (1, *raw.shape))
        if name == "v.position_embd.weight"
        else (shaped(raw, (1, 1, *raw.shape)) if name == "v.class_embd" else raw)
    ),
)

# -- Mistral 3 and Ministral 3 (Pixtral)

ROW_END = "v.token_embd.img_break"


def _pixtral(keys: Keys, tensors: Mapping[str, Raw]) -> Settings:
    if "mm.patch_merger.weight" not in tensors:
        raise UnsupportedArchitecture(
            f"{keys.where} is of Pixtral 12B, whose projector merges no patches. Grus does not read it."
        )
    silu = keys.metadata.get("clip.use_silu") is True
    made = {"hidden_act": "silu" if silu else "gelu", "rope_theta": 10000.0, "projector_bias": "mm.1.bias" in tensors}
    return _siglip(keys, tensors) | made


def _pixtral_more(keys: Keys, vision: Settings, ids: Mapping[str, int]) -> Settings:
    return {
        "spatial_merge_size": keys.int("spatial_merge_size", 2, most=1 << 5),
        "multimodal_projector_bias": vision["projector_bias"],
    }


_PIXTRAL = MmprojKind(
    texts={"mistral3": "mistral3", "llama": "mistral3"},
    names={
        "mm.input_norm.weight": "multi_modal_projector.norm.weight",
        "mm.patch_merger.weight": "multi_modal_projector.patch_merger.merging_layer.weight",
        **_both({"mm.1": "multi_modal_projector.linear_1", "mm.2": "multi_modal_projector.linear_2"}),
        **{
            f"{theirs}.weight": f"vision_tower.{ours}.weight"
            for theirs, ours in {
                "v.patch_embd": "patch_conv",
                "v.pre_ln": "ln_pre",
                "v.blk.{}.ln1": "transformer.layers.{}.attention_norm",
                "v.blk.{}.ln2": "transformer.layers.{}.ffn_norm",
                "v.blk.{}.attn_q": "transformer.layers.{}.attention.q_proj",
                "v.blk.{}.attn_k": "transformer.layers.{}.attention.k_proj",
                "v.blk.{}.attn_v": "transformer.layers.{}.attention.v_proj",
                "v.blk.{}.attn_out": "transformer.layers.{}.attention.o_proj",
                "v.blk.{}.ffn_gate": "transformer.layers.{}.feed_forward.gate_proj",
                "v.blk.{}.ffn_up": "transformer.layers.{}.feed_forward.up_proj",
                "v.blk.{}.ffn_down": "transformer.layers.{}.feed_forward.down_proj",
            }.items()
        },
    },
    tokens={"image_token_index": "[IMG]"},
    vision=_pixtral,
    processor=lambda keys, vision: _colours(keys) | {"size": {"longest_edge": vision["image_size"]}},
    more=_pixtral_more,
    paired=True,
    unused=(ROW_END,),
)

# -- LFM 2-VL

_LFM2_TOWER = "model.vision_tower"


def _naflex(keys: Keys, tensors: Mapping[str, Raw]) -> Settings:
    places, first = tensors.get("v.position_embd.weight"), tensors.get("mm.1.weight")
    if places is None or first is None:
        raise ConfigError(f"{keys.where} has no v.position_embd.weight or mm.1.weight, so it is not a whole encoder.")
    return _siglip(keys, tensors) | {
        "num_patches": places.shape[0],
        "projector_hidden_size": first.shape[0],
        "projector_bias": "mm.1.bias" in tensors,
    }


def _lfm2_more(keys: Keys, vision: Settings, ids: Mapping[str, int]) -> Settings:
    return {
        "downsample_factor": keys.int("projector.scale_factor", 2, most=1 << 5),
        "projector_hidden_size": vision["projector_hidden_size"],
        "projector_bias": vision["projector_bias"],
    }


def _lfm2_processor(keys: Keys, vision: Settings) -> Settings:
    """llama.cpp knows no other tiles than the published ones, of 512 pixels; it always shows the whole picture too."""
    token = (vision["patch_size"] * keys.int("projector.scale_factor", 2, most=1 << 5)) ** 2
    return _colours(keys) | {
        "min_image_tokens": keys.int("image_min_pixels", 64 * token) // token,
        "max_image_tokens": keys.int("image_max_pixels", 256 * token) // token,
        "min_tiles": keys.int("preproc_min_tiles", 2),
        "max_tiles": keys.int("preproc_max_tiles", 10),
        "tile_size": keys.int("preproc_image_size", 512, most=1 << 13),
    }


def _flattened_patches(name: str, raw: Raw) -> Raw:
    """The kernel `[out, channels, height, width]` of patches as a matrix, colours last."""
    if name != PATCHES:
        return raw
    hidden, channels, *sides = raw.shape

    def last() -> np.ndarray:
        return dequantize(raw).reshape(raw.shape).transpose(0, 2, 3, 1).reshape(hidden, -1)

    return computed(raw, (hidden, channels * sides[0] * sides[1]), last)


_LFM2 = MmprojKind(
    texts={"lfm2": "lfm2_vl", "lfm2moe": "lfm2_vl"},
    names={
        **_siglip_names(_LFM2_TOWER),
        **_both(
            {
                "mm.input_norm": "model.multi_modal_projector.layer_norm",
                "mm.1": "model.multi_modal_projector.linear_1",
                "mm.2": "model.multi_modal_projector.linear_2",
            }
        ),
    },
    tokens={"image_token_id": "<image>"},
    vision=_naflex,
    processor=_lfm2_processor,
    more=_lfm2_more,
    reshaped=_flattened_patches,
)

# -- Gemma 4

GEMMA4_PARTS = {
    "ln1": "input_layernorm",
    "ln2": "pre_feedforward_layernorm",
    "attn_post_norm": "post_attention_layernorm",
    "ffn_post_norm": "post_feedforward_layernorm",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
}
GEMMA4_LINEARS = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_out": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
GEMMA4_BOUND = re.compile(r"\.(in|out)put_(min|max)$")
_GEMMA4_TOWER = "model.vision_tower"
_GEMMA4_LAYER = f"{_GEMMA4_TOWER}.encoder.layers.{{}}"
_GEMMA4_TOKENS = 280  # of a picture at most, where a file does not say


def _gemma4(keys: Keys, tensors: Mapping[str, Raw]) -> Settings:
    sizes, places = _siglip(keys, tensors), tensors.get("v.position_embd.weight")
    if places is None or len(places.shape) != 3:
        raise ConfigError(
            f"{keys.where} has no v.position_embd.weight of columns and rows, so it is not a whole image encoder."
        )
    heads = sizes["num_attention_heads"]
    return sizes | {
        "num_key_value_heads": heads,
        "head_dim": sizes["hidden_size"] // heads,
        "rms_norm_eps": sizes["layer_norm_eps"],
        "position_embedding_size": places.shape[1],
        "pooling_kernel_size": keys.int("projector.scale_factor", 3, most=1 << 5),
        "use_clipped_linears": any(GEMMA4_BOUND.search(name) for name in tensors if name.startswith("v.")),
        "standardize": "v.std_bias" in tensors,
    }


def _gemma4_processor(keys: Keys, vision: Settings) -> Settings:
    token = (vision["patch_size"] * vision["pooling_kernel_size"]) ** 2
    return {"max_soft_tokens": keys.int("image_max_pixels", _GEMMA4_TOKENS * token) // token}


def _gemma4_reshaped(name: str, raw: Raw) -> Raw:
    return shaped(raw, ()) if GEMMA4_BOUND.search(name) else _flattened_patches(name, raw)


def _gemma4_more(keys: Keys, vision: Settings, ids: Mapping[str, int]) -> Settings:
    """Files say nothing of it; the models whose encoder is standardized see pictures in both directions."""
    video = {"video_token_id": ids["<|video|>"]} if "<|video|>" in ids else {}
    return video | ({"use_bidirectional_attention": "vision"} if vision["standardize"] else {})


_GEMMA4 = MmprojKind(
    texts={"gemma4": "gemma4"},
    names={
        PATCHES: f"{_GEMMA4_TOWER}.patch_embedder.input_proj.weight",
        "v.position_embd.weight": f"{_GEMMA4_TOWER}.patch_embedder.position_embedding_table",
        "v.std_bias": f"{_GEMMA4_TOWER}.std_bias",
        "v.std_scale": f"{_GEMMA4_TOWER}.std_scale",
        "mm.input_projection.weight": "model.embed_vision.embedding_projection.weight",
        **{f"v.blk.{{}}.{theirs}.weight": f"{_GEMMA4_LAYER}.{ours}.weight" for theirs, ours in GEMMA4_PARTS.items()},
        **{
            f"v.blk.{{}}.{theirs}.{part}": f"{_GEMMA4_LAYER}.{ours}.{part}"
            for theirs, ours in GEMMA4_LINEARS.items()
            for part in ("weight", "input_min", "input_max", "output_min", "output_max")
        },
    },
    tokens={"boi_token_id": "<|image>", "image_token_id": "<|image|>", "eoi_token_id": "<image|>"},
    vision=_gemma4,
    processor=_gemma4_processor,
    more=_gemma4_more,
    reshaped=_gemma4_reshaped,
    with_sound=True,
)

PROJECTORS: dict[str, MmprojKind] = {
    "gemma3": _GEMMA3,
    "gemma4v": _GEMMA4,
    "glm4v": _GLM4V,
    "idefics3": _IDEFICS3,
    "internvl": _INTERNVL,
    "lfm2": _LFM2,
    "pixtral": _PIXTRAL,
    "qwen2.5vl_merger": _QWEN2_5_VL,
    "qwen3vl_merger": _QWEN3_VL,
}
