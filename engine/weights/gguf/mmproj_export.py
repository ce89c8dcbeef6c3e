"""Writing the `mmproj` file of a checkpoint with an image encoder: the way back of `mmproj`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.models.config import Fields, text_fields
from engine.models.gemma3_vision import PROJECTORS as PROJECTORS_OF_GEMMA
from engine.models.gemma3_vision import TOWERS, image_token_side
from engine.models.idefics3 import CONNECTORS, idefics3_vision
from engine.models.idefics3 import TOWERS as IDEFICS_TOWERS
from engine.models.internvl import PROJECTORS as INTERNVL_PROJECTORS
from engine.models.internvl import TOWERS as INTERNVL_TOWERS
from engine.models.internvl import internvit_config
from engine.models.lfm2_vl import PROJECTORS as LFM2_PROJECTORS
from engine.models.lfm2_vl import TOWERS as LFM2_TOWERS
from engine.models.lfm2_vl import naflex_config
from engine.models.pixtral import EPS, patch_size
from engine.models.pixtral import PROJECTORS as PIXTRAL_PROJECTORS
from engine.models.pixtral import TOWERS as PIXTRAL_TOWERS
from engine.models.qwen2_5_vl import WHOLE, WINDOW
from engine.models.qwen_vision import PLACES
from engine.models.siglip import SiglipConfig, siglip_config
from engine.vision.gemma4 import Gemma4VisionProcessor
from engine.vision.glm import TOWER, GlmVisionProcessor
from engine.vision.idefics3 import Idefics3VisionProcessor
from engine.vision.internvl import MEAN as INTERNVL_MEAN
from engine.vision.internvl import STD as INTERNVL_STD
from engine.vision.internvl import InternVlVisionProcessor
from engine.vision.lfm2_vl import Lfm2VlVisionProcessor
from engine.vision.pixtral import MEAN, STD, PixtralVisionProcessor
from engine.vision.processor import channel_values, pixel_limits
from engine.weights.gguf.encode import encode
from engine.weights.gguf.families import unsaid
from engine.weights.gguf.layouts import Tensor, stored_tensor
from engine.weights.gguf.mmproj import ARCH
from engine.weights.gguf.mmproj_kinds import GEMMA4_BOUND, PROJECTORS, ROW_END
from engine.weights.gguf.mmproj_sound import SOUND_NAMES, SOUND_PLACES, sound_apart, sound_keys
from engine.weights.gguf.names import translate
from engine.weights.gguf.orders import rotary_halves
from engine.weights.gguf.writer import Plan, write
from engine.weights.stored import Stored

KeyValues = dict[str, Any]
_TYPES = {"F32": 0, "F16": 1, "BF16": 32}  # of `general.file_type`
ROW_END_ID = (
    "image_break_token_id"  # of the token whose embedding a file of this kind repeats, in the config that is written
)
_EMBEDDINGS = "embed_tokens.weight"
_WHOLE = re.compile(r"^v\.(patch|position)_embd\.|^a\.blk\.\d+\.conv_dw\.")  # matrices that readers want in f32


@dataclass(frozen=True)
class MmprojWriter:
    """How the image encoder of one model_type is written."""

    kind: str  # of `PROJECTORS`
    keys: Callable[[Fields, Fields], KeyValues]  # given config.json and the settings of the image processor
    bare: Callable[[str], str | None]  # a tensor's name as `PROJECTORS` has it; None for the text model's
    apart: Callable[[str, Tensor, Fields], Iterator[tuple[str, Tensor]]]  # what one tensor becomes, in their names
    colours: Mapping[str, Any] = field(
        default_factory=dict
    )  # how pixels are normalized, where the settings say nothing


def writer_of(config: Mapping[str, Any]) -> MmprojWriter | None:
    """None for a model without an image encoder, or with one that no mmproj file is known for."""
    return WRITERS.get(str(config.get("model_type"))) if isinstance(config.get("vision_config"), Mapping) else None


def write_mmproj(
    path: Path, stored: Stored, config: Mapping[str, Any], image: Fields, name: str, writer: MmprojWriter
) -> bool:
    """Returns False where the checkpoint has lost its encoder, and nothing is written."""
    fields, names = Fields(config), _OURS[writer.kind]
    plans = []
    for full in stored.names:
        ours = writer.bare(full)
        for part, tensor in writer.apart(ours, stored_tensor(stored, full), fields) if ours else ():
            theirs = part if part.startswith(("v.", "mm.")) else translate(names, part)
            theirs = theirs or translate(_OUR_SOUNDS, part)
            if theirs is not None:
                plans.append(_plan(theirs, tensor))
    if not any(plan.name != ROW_END for plan in plans):
        return False
    image = Fields({**writer.colours, **image.values}, image.where)
    red, green, blue = channel_values(image, "image_mean")
    matrices = {plan.kind for plan in plans if len(plan.shape) == 2 and not _WHOLE.match(plan.name)}
    values: KeyValues = {
        "general.architecture": ARCH,
        "general.type": "mmproj",
        "general.name": name,
        "general.file_type": _TYPES[sorted(matrices)[0] if matrices else "F32"],
        "general.quantization_version": 2,
        "clip.has_vision_encoder": True,
        "clip.projector_type": writer.kind,
        "clip.vision.projection_dim": text_fields(config).int("hidden_size"),
        "clip.vision.image_mean": [red, green, blue],
        "clip.vision.image_std": list(channel_values(image, "image_std")),
    }
    values |= writer.keys(fields, image)
    if values.get("clip.has_audio_encoder"):
        values["clip.vision.projector_type"] = values.pop("clip.projector_type")
    write(path, values, plans)
    return True


def _plan(theirs: str, tensor: Tensor) -> Plan:
    kind = tensor.dtype or "F16"
    if len(tensor.shape) != 2 or _WHOLE.match(theirs):  # vectors, kernels of convolutions
        kind = "F32"
    if theirs == "mm.input_projection.weight" and kind == "BF16":
        kind = "F16"  # llama.cpp transposes it, which it cannot do in bf16

    def data() -> Iterator[bytes]:
        for rows in tensor.rows():
            yield encode(rows, kind).tobytes()

    return Plan(theirs, kind, tensor.shape, data)


# -- Qwen's towers


def _qwen_bare(full: str) -> str | None:
    place = next((place for place in PLACES if full.startswith(f"{place}.")), None)
    return place and f"model.visual.{full.removeprefix(f'{place}.')}"


def _qwen_keys(fields: Fields, image: Fields) -> KeyValues:
    f = fields.sub("vision_config")
    patch, merge = f.int("patch_size", default=16), f.int("spatial_merge_size", default=2)
    least, most = pixel_limits(image, 64 * (patch * merge) ** 2, 16384 * (patch * merge) ** 2)
    return {
        "clip.vision.image_min_pixels": least,
        "clip.vision.image_max_pixels": most,
        "clip.vision.patch_size": patch,
        "clip.vision.embedding_length": f.int("hidden_size"),
        "clip.vision.feed_forward_length": f.int("intermediate_size"),
        "clip.vision.block_count": f.int("depth"),
        "clip.vision.attention.head_count": f.int("num_heads"),
        "clip.vision.attention.layer_norm_epsilon": 1e-6,
        "clip.vision.spatial_merge_size": merge,
    }


def _qwen3_keys(fields: Fields, image: Fields) -> KeyValues:
    f, made = fields.sub("vision_config"), _qwen_keys(fields, image)
    side = round(f.int("num_position_embeddings", default=2304) ** 0.5)
    taps = f.find("deepstack_visual_indexes", default=())
    return made | {
        "clip.use_gelu": True,
        "clip.vision.image_size": side * made["clip.vision.patch_size"],
        "clip.vision.is_deepstack_layers": [i in taps for i in range(f.int("depth"))],
    }


def _qwen2_5_keys(fields: Fields, image: Fields) -> KeyValues:
    f = fields.sub("vision_config")
    whole, depth = list(f.find("fullatt_block_indexes", default=WHOLE)), f.int("depth")
    every = whole[0] + 1 if whole else depth + 1
    if whole != list(range(every - 1, depth, every)):
        raise unsaid(f"layers {whole} attend to whole pictures")
    return _qwen_keys(fields, image) | {
        "clip.use_silu": True,
        "clip.vision.image_size": 560,
        "clip.vision.n_wa_pattern": every,
        "clip.vision.window_size": f.int("window_size", default=WINDOW),
    }


def _frame(index: int, last: bool, x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.moveaxis(x, -1, 1)[:, :, index] if last else x[:, :, index])


def _rows(taken: slice, axes: int, x: np.ndarray) -> np.ndarray:
    return x[taken] if axes > 1 else x.reshape(-1)[None, taken]


def _qwen_apart(name: str, tensor: Tensor, fields: Fields) -> Iterator[tuple[str, Tensor]]:
    f = fields.sub("vision_config")
    if name.endswith("patch_embed.proj.weight"):  # one for each of the two frames that a patch spans
        channels = f.int("in_channels", "in_chans", default=3)
        last = tensor.shape[-1] == channels != tensor.shape[1]  # as MLX's converter saves the kernel
        hidden, patch = tensor.shape[0], f.int("patch_size", default=16)
        for i, theirs in enumerate(("v.patch_embd.weight", "v.patch_embd.weight.1")):
            yield theirs, tensor.changed(partial(_frame, i, last), (hidden, channels, patch, patch))
    elif name.endswith((".attn.qkv.weight", ".attn.qkv.bias")) and "fullatt_block_indexes" in f.values:
        third = tensor.shape[0] // 3
        for i, part in enumerate("qkv"):
            taken = partial(_rows, slice(i * third, (i + 1) * third), len(tensor.shape))
            yield name.replace(".qkv.", f".{part}."), tensor.changed(taken, (third, *tensor.shape[1:]))
    elif found := re.match(r"model\.visual\.deepstack_merger_list\.(\d+)\.(norm|linear_fc[12])\.(\w+)$", name):
        layer = f.find("deepstack_visual_indexes")[int(found[1])]
        yield f"v.deepstack.{layer}.{found[2].replace('linear_', '')}.{found[3]}", tensor
    else:
        yield name, tensor


# -- GLM-4.1V, GLM-4.6V and GLM-OCR


def _glm_vision(fields: Fields) -> Fields:
    """With what published configs leave out."""
    return Fields({**fields.values, "vision_config": {**TOWER, **fields.sub("vision_config").values}}, fields.where)


def _glm_keys(fields: Fields, image: Fields) -> KeyValues:
    fields = _glm_vision(fields)
    f, processor = fields.sub("vision_config"), GlmVisionProcessor(fields, image, lambda text: [])
    positions = fields.values.get("model_type") != "glm_ocr"
    return {
        "clip.use_silu": True,
        "clip.vision.image_size": f.int("image_size", default=336),
        "clip.vision.image_min_pixels": processor.min_pixels // processor.temporal,
        "clip.vision.image_max_pixels": processor.max_pixels // processor.temporal,
        "clip.vision.patch_size": processor.patch,
        "clip.vision.embedding_length": f.int("hidden_size", default=1536 if positions else 1024),
        "clip.vision.feed_forward_length": f.int("intermediate_size", default=13696 if positions else 4096),
        "clip.vision.block_count": f.int("depth", default=24),
        "clip.vision.attention.head_count": f.int("num_heads", default=12 if positions else 16),
        "clip.vision.attention.layer_norm_epsilon": f.float("rms_norm_eps", default=1e-5),
        "clip.vision.spatial_merge_size": processor.merge,
    }


def _glm_apart(name: str, tensor: Tensor, fields: Fields) -> Iterator[tuple[str, Tensor]]:
    fields = _glm_vision(fields)
    merge = fields.sub("vision_config").int("spatial_merge_size")
    if (
        name.endswith("downsample.weight") and tensor.shape[1] == merge != tensor.shape[-1]
    ):  # as MLX's converter saves it
        width, *_, hidden = tensor.shape
        tensor = tensor.changed(lambda x: np.ascontiguousarray(np.moveaxis(x, -1, 1)), (width, hidden, merge, merge))
    yield from _qwen_apart(name, tensor, fields)


# -- Gemma 3


def _under(places: Sequence[str], ours: str, full: str) -> str | None:
    """The name under `ours` of a tensor that lies under one of `places`."""
    found = next((place for place in places if full.startswith(f"{place}.")), None)
    return None if found is None else f"{ours}{full.removeprefix(found)}"


def _gemma3_bare(full: str) -> str | None:
    return _under(TOWERS, "vision_tower", full) or _under(PROJECTORS_OF_GEMMA, "multi_modal_projector", full)


def _siglip_keys(c: SiglipConfig) -> KeyValues:
    return {
        "clip.use_gelu": True,
        "clip.vision.image_size": c.side * c.patch,
        "clip.vision.patch_size": c.patch,
        "clip.vision.embedding_length": c.hidden,
        "clip.vision.feed_forward_length": c.ffn,
        "clip.vision.block_count": c.layers,
        "clip.vision.attention.head_count": c.heads,
        "clip.vision.attention.layer_norm_epsilon": c.eps,
    }


def _siglip_apart(name: str, tensor: Tensor, c: SiglipConfig) -> Iterator[tuple[str, Tensor]]:
    shape = (c.hidden, c.channels, c.patch, c.patch)
    if name.endswith("patch_embedding.weight") and tensor.shape != shape:  # as MLX's converter saves the kernel
        tensor = tensor.changed(lambda x: np.ascontiguousarray(np.moveaxis(x, -1, 1)), shape)
    yield name, tensor


def _gemma3_keys(fields: Fields, image: Fields) -> KeyValues:
    c = siglip_config(fields.sub("vision_config"))
    return _siglip_keys(c) | {"clip.vision.projector.scale_factor": c.side // image_token_side(fields, c)}


def _gemma3_apart(name: str, tensor: Tensor, fields: Fields) -> Iterator[tuple[str, Tensor]]:
    if name.endswith("mm_soft_emb_norm.weight"):
        tensor = tensor.changed(lambda x: x + 1)
    yield from _siglip_apart(name, tensor, siglip_config(fields.sub("vision_config")))


# -- Idefics 3 and SmolVLM


def _idefics3_bare(full: str) -> str | None:
    return _under(IDEFICS_TOWERS, IDEFICS_TOWERS[0], full) or _under(CONNECTORS, CONNECTORS[0], full)


def _idefics3_keys(fields: Fields, image: Fields) -> KeyValues:
    c = idefics3_vision(fields)
    processor = Idefics3VisionProcessor(fields, image, lambda text: [])
    if processor.side != c.side:
        raise unsaid("tiles of a picture have another size than the image encoder was trained with")
    return _siglip_keys(c) | {
        "clip.vision.image_size": processor.tile,
        "clip.vision.preproc_image_size": processor.longest,
        "clip.vision.projector.scale_factor": processor.scale,
    }


_GEMMA3 = MmprojWriter("gemma3", _gemma3_keys, _gemma3_bare, _gemma3_apart)
# -- Gemma 4


def _gemma4_bare(full: str) -> str | None:
    for name in ("vision_tower", "embed_vision", *SOUND_PLACES):
        if ours := _under([f"model.{name}", name], f"model.{name}", full):
            return ours
    return None


def _gemma4_keys(fields: Fields, image: Fields) -> KeyValues:
    vision, processor = fields.sub("vision_config"), Gemma4VisionProcessor(fields, image, lambda text: [])
    hidden, heads = vision.int("hidden_size", default=768), vision.int("num_attention_heads", default=12)
    rope = vision.sub("rope_parameters") if vision.find("rope_parameters", default=None) is not None else vision
    if (theta := rope.float("rope_theta", default=100.0)) != 100.0 or hidden != heads * vision.int(
        "head_dim", default=64
    ):
        raise unsaid(f"the image encoder's `rope_theta` is {theta:g}, or its heads have a size of their own")
    return {
        "clip.vision.image_size": 224,  # which nothing uses
        "clip.vision.image_max_pixels": processor.max_pixels,
        "clip.vision.patch_size": processor.patch,
        "clip.vision.embedding_length": hidden,
        "clip.vision.feed_forward_length": vision.int("intermediate_size", default=3072),
        "clip.vision.block_count": vision.int("num_hidden_layers", default=16),
        "clip.vision.attention.head_count": heads,
        "clip.vision.attention.layer_norm_epsilon": vision.float("rms_norm_eps", default=1e-6),
        "clip.vision.projector.scale_factor": processor.pool,
        **(sound_keys(fields, text_fields(fields.values).int("hidden_size")) if _has_sound(fields) else {}),
    }


def _has_sound(fields: Fields) -> bool:
    return isinstance(fields.values.get("audio_config"), Mapping)


def _gemma4_apart(name: str, tensor: Tensor, fields: Fields) -> Iterator[tuple[str, Tensor]]:
    if name.startswith(tuple(f"model.{place}." for place in SOUND_PLACES)):
        yield from sound_apart(name, tensor, fields) if _has_sound(fields) else ()
        return
    if name.endswith("patch_embedder.input_proj.weight"):
        hidden, patch = tensor.shape[0], fields.sub("vision_config").int("patch_size", default=16)

        def first(x: np.ndarray) -> np.ndarray:
            return np.ascontiguousarray(np.moveaxis(x.reshape(hidden, patch, patch, 3), -1, 1))

        tensor = tensor.changed(first, (hidden, 3, patch, patch))
    elif GEMMA4_BOUND.search(name):
        if not fields.sub("vision_config").flag("use_clipped_linears"):
            return
        tensor = tensor.shaped(1)
    yield name.replace(".linear.weight", ".weight"), tensor


_GEMMA4 = MmprojWriter(
    "gemma4v", _gemma4_keys, _gemma4_bare, _gemma4_apart, {"image_mean": [0.0] * 3, "image_std": [1.0] * 3}
)

# -- InternVL


def _internvl_bare(full: str) -> str | None:
    return _under(INTERNVL_TOWERS, INTERNVL_TOWERS[0], full) or _under(
        INTERNVL_PROJECTORS, INTERNVL_PROJECTORS[0], full
    )


def _internvl_keys(fields: Fields, image: Fields) -> KeyValues:
    c = internvit_config(fields)
    processor = InternVlVisionProcessor(fields, image, lambda text: [])
    return {
        "clip.use_gelu": True,
        "clip.vision.image_size": c.image,
        "clip.vision.patch_size": c.patch,
        "clip.vision.embedding_length": c.hidden,
        "clip.vision.feed_forward_length": c.ffn,
        "clip.vision.block_count": c.layers,
        "clip.vision.attention.head_count": c.heads,
        "clip.vision.attention.layer_norm_epsilon": c.eps,
        "clip.vision.projector.scale_factor": c.merge,
        "clip.vision.preproc_min_tiles": processor.fewest,
        "clip.vision.preproc_max_tiles": processor.most,
    }


def _internvl_apart(name: str, tensor: Tensor, fields: Fields) -> Iterator[tuple[str, Tensor]]:
    c = internvit_config(fields)
    shape = (c.hidden, c.channels, c.patch, c.patch)
    if name.endswith("cls_token"):
        tensor = tensor.shaped(c.hidden)
    elif name.endswith("position_embeddings"):
        tensor = tensor.shaped(c.side**2 + 1, c.hidden)
    elif name.endswith("projection.weight") and tensor.shape != shape:  # as MLX's converter saves the kernel
        tensor = tensor.changed(lambda x: np.ascontiguousarray(np.moveaxis(x, -1, 1)), shape)
    yield name, tensor


_INTERNVL = MmprojWriter(
    "internvl",
    _internvl_keys,
    _internvl_bare,
    _internvl_apart,
    {"image_mean": INTERNVL_MEAN, "image_std": INTERNVL_STD},
)

# -- LFM 2-VL


def _lfm2_bare(full: str) -> str | None:
    return _under(LFM2_TOWERS, "model.vision_tower", full) or _under(LFM2_PROJECTORS, LFM2_PROJECTORS[0], full)


def _lfm2_keys(fields: Fields, image: Fields) -> KeyValues:
    c = naflex_config(fields)
    processor = Lfm2VlVisionProcessor(fields, image, lambda text: [])
    return _siglip_keys(c) | {
        "clip.vision.projector.scale_factor": c.merge,
        "clip.vision.image_min_pixels": processor.least_tokens * processor.factor**2,
        "clip.vision.image_max_pixels": processor.most_tokens * processor.factor**2,
        "clip.vision.preproc_min_tiles": processor.fewest if processor.splits else 1,
        "clip.vision.preproc_max_tiles": processor.most if processor.splits else 1,
        "clip.vision.preproc_image_size": processor.tile,
    }


def _lfm2_apart(name: str, tensor: Tensor, fields: Fields) -> Iterator[tuple[str, Tensor]]:
    if name.endswith("patch_embedding.weight"):
        c = naflex_config(fields)

        def first(x: np.ndarray) -> np.ndarray:
            return np.ascontiguousarray(np.moveaxis(x.reshape(len(x), c.patch, c.patch, c.channels), -1, 1))

        tensor = tensor.changed(first, (c.hidden, c.channels, c.patch, c.patch))
    yield name, tensor


_LFM2 = MmprojWriter("lfm2", _lfm2_keys, _lfm2_bare, _lfm2_apart)

# -- Mistral 3 and Ministral 3


def _pixtral_bare(full: str) -> str | None:
    if full.endswith(_EMBEDDINGS):
        return ROW_END
    return _under(PIXTRAL_TOWERS, PIXTRAL_TOWERS[0], full) or _under(PIXTRAL_PROJECTORS, PIXTRAL_PROJECTORS[0], full)


def _pixtral_keys(fields: Fields, image: Fields) -> KeyValues:
    vision, processor = fields.sub("vision_config"), PixtralVisionProcessor(fields, image, lambda text: [])
    rope = vision.sub("rope_parameters") if vision.find("rope_parameters", default=None) is not None else vision
    if (theta := rope.float("rope_theta", default=10000.0)) != 10000.0:
        raise unsaid(f"`rope_theta` of the image encoder is {theta:g}")
    return {
        f"clip.use_{vision.find('hidden_act', default='gelu')}": True,
        "clip.vision.image_size": processor.longest,
        "clip.vision.patch_size": processor.patch,
        "clip.vision.spatial_merge_size": processor.merge,
        "clip.vision.embedding_length": vision.int("hidden_size", default=1024),
        "clip.vision.feed_forward_length": vision.int("intermediate_size", default=4096),
        "clip.vision.block_count": vision.int("num_hidden_layers", default=24),
        "clip.vision.attention.head_count": vision.int("num_attention_heads", default=16),
        "clip.vision.attention.layer_norm_epsilon": EPS,
    }


def _pixtral_apart(name: str, tensor: Tensor, fields: Fields) -> Iterator[tuple[str, Tensor]]:
    vision = fields.sub("vision_config")
    hidden, heads = vision.int("hidden_size", default=1024), vision.int("num_attention_heads", default=16)
    if name == ROW_END:  # the row of the text model's table
        row = fields.int(ROW_END_ID, least=0)
        tensor = tensor.changed(lambda x: x[None, row], (tensor.shape[-1],))
    elif re.search(r"attention\.[qk]_proj\.weight$", name):
        order = np.argsort(rotary_halves(hidden, heads))
        tensor = tensor.changed(lambda x: x[order])
    elif name.endswith("patch_conv.weight"):
        patch = patch_size(fields)
        shape = (hidden, vision.int("num_channels", default=3), patch, patch)
        if tensor.shape != shape:  # as MLX's converter saves the kernel
            tensor = tensor.changed(lambda x: np.ascontiguousarray(np.moveaxis(x, -1, 1)), shape)
    yield name, tensor


_PIXTRAL = MmprojWriter("pixtral", _pixtral_keys, _pixtral_bare, _pixtral_apart, {"image_mean": MEAN, "image_std": STD})
_IDEFICS3 = MmprojWriter(
    "idefics3",
    _idefics3_keys,
    _idefics3_bare,
    lambda name, tensor, fields: _siglip_apart(name, tensor, idefics3_vision(fields)),
)
_QWEN3_VL = MmprojWriter("qwen3vl_merger", _qwen3_keys, _qwen_bare, _qwen_apart)
_GLM4V = MmprojWriter("glm4v", _glm_keys, _qwen_bare, _glm_apart, {"image_mean": MEAN, "image_std": STD})
_QWEN2_5_VL = MmprojWriter("qwen2.5vl_merger", _qwen2_5_keys, _qwen_bare, _qwen_apart)
WRITERS = dict.fromkeys(("qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"), _QWEN3_VL) | {
    "gemma3": _GEMMA3,
    "gemma4": _GEMMA4,
    "glm46v": _GLM4V,
    "glm4v": _GLM4V,
    "glm_ocr": _GLM4V,
    "idefics3": _IDEFICS3,
    "internvl": _INTERNVL,
    "lfm2-vl": _LFM2,
    "lfm2_vl": _LFM2,
    "mistral3": _PIXTRAL,
    "smolvlm": _IDEFICS3,
    "qwen2_5_vl": _QWEN2_5_VL,
}
_OUR_SOUNDS = {ours: theirs for theirs, ours in SOUND_NAMES.items()}
_OURS = {kind: {ours: theirs for theirs, ours in found.names.items()} for kind, found in PROJECTORS.items()}
