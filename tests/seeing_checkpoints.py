"""Tiny random models that see, one of each family, made by the reference library, in the published layout, with all that a chat needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from PIL import Image

from tests.checkpoints import GEMMA4, MODELS, SPECIALS, fill, save_tokenizer
from tests.lfm2_pixels import lfm2_pixels

Config = dict[str, Any]


@dataclass(frozen=True)
class SeeingFamily:
    """How the reference makes a model and looks at pictures."""

    words: tuple[str, ...]  # further special tokens
    place: str  # what a chat template writes for a picture
    config: Callable[
        [Callable[[str], int]], tuple[type, Any]
    ]  # the class and the config, given the ids of special tokens
    files: Config  # files of the processor, and what is in them
    inputs: Callable[[Sequence[Image.Image]], Config]  # what the model gets for pictures
    features: Callable[[Any, Config], Any]  # rows of all pictures
    with_ids: Callable[[Any], Config] = field(default=lambda ids: {})  # what it gets for a prompt's ids beside them
    prepare: Callable[[Any], None] = field(default=lambda model: None)  # changes the model's buffers
    published: Callable[[Config], None] = field(
        default=lambda config: None
    )  # changes config.json to what repositories have
    seed: int = 1
    spread: float = 0.3


def id_of(family: SeeingFamily) -> Callable[[str], int]:
    known = (*SPECIALS, *family.words)
    return lambda word: 256 + known.index(word)


@cache
def reference(name: str) -> Any:
    """In f32, with random weights."""
    return made(FAMILIES[name])


def made(family: SeeingFamily) -> Any:
    kind, config = family.config(id_of(family))
    config._attn_implementation = "eager"
    model = kind(config).eval()
    fill(model, family.seed, family.spread)
    family.prepare(model)
    return model


def save(name: str, folder: Path) -> Path:
    return written(FAMILIES[name], reference(name), folder)


def written(family: SeeingFamily, model: Any, folder: Path) -> Path:
    model.save_pretrained(folder)
    path = folder / "config.json"
    config = json.loads(path.read_text())
    family.published(config)
    path.write_text(json.dumps(config, indent=1))
    for file, settings in family.files.items():
        (folder / file).write_text(json.dumps(settings))
    (folder / "chat_template.jinja").write_text(template(family.place))
    save_tokenizer(folder, family.words)
    return folder


def template(place: str) -> str:
    return (
        "{%- for m in messages %}<|im_start|>{{ m.role }}\n"
        "{%- if m.content is string %}{{ m.content }}{%- else %}"
        "{%- for part in m.content %}"
        "{%- if part.type == 'image' %}" + place + "{%- elif part.type in ('audio', 'video') %}<|{{ part.type }}|>"
        "{%- else %}{{ part.text }}{%- endif %}"
        "{%- endfor %}{%- endif %}<|im_end|>\n"
        "{%- endfor %}{%- if add_generation_prompt %}<|im_start|>assistant\n{%- endif %}"
    )


def text_config(family: str, **more: Any) -> Config:
    return text_fields(FAMILIES[family].words, **more)


def text_fields(words: Sequence[str], **more: Any) -> Config:
    vocab = 256 + len(SPECIALS) + len(words)
    given = dict(
        vocab_size=vocab,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=1024,
        tie_word_embeddings=False,  # else greedy replies repeat one token
        bos_token_id=None,
        eos_token_id=len(SPECIALS) + 255,
        pad_token_id=None,
    )
    return given | more


SIGLIP: Config = dict(
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=2,
    image_size=32,
    patch_size=4,
)

# -- SmolVLM

SMOL: Config = dict(
    do_convert_rgb=True,
    do_image_splitting=True,
    image_mean=[0.5] * 3,
    image_std=[0.5] * 3,
    max_image_size=dict(longest_edge=32),
    resample=1,
    size=dict(longest_edge=96),
)


def _smolvlm(id_of: Callable[[str], int]) -> tuple[type, Any]:
    from transformers import SmolVLMConfig, SmolVLMForConditionalGeneration

    text = text_config("smolvlm", model_type="llama", rms_norm_eps=1e-5)
    config = SmolVLMConfig(
        text_config=text,
        vision_config=SIGLIP,
        scale_factor=2,
        image_token_id=id_of("<image>"),
        tie_word_embeddings=False,
    )
    return SmolVLMForConditionalGeneration, config


def smol_pixels(pictures: Sequence[Image.Image], **settings: Any) -> Any:
    from transformers.models.smolvlm.image_processing_pil_smolvlm import SmolVLMImageProcessorPil

    made = SmolVLMImageProcessorPil(**(SMOL | settings))
    return made(images=[list(pictures)], return_tensors="pt", return_row_col_info=True)


def _smol_inputs(pictures: Sequence[Image.Image]) -> Config:
    made = smol_pixels(pictures)
    return {name: made[name] for name in ("pixel_values", "pixel_attention_mask")}


def pooled(model: Any, inputs: Config) -> Any:
    import torch

    return torch.cat(list(model.model.get_image_features(**inputs).pooler_output))


# -- Ministral 3

PIXTRAL: Config = dict(
    do_convert_rgb=True,
    image_mean=[0.48145466, 0.4578275, 0.40821073],
    image_std=[0.26862954, 0.26130258, 0.27577711],
    patch_size=dict(height=4, width=4),
    resample=3,
    size=dict(longest_edge=64),
)
PIXTRAL_VISION: Config = dict(
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=2,
    image_size=64,
    patch_size=4,
    hidden_act="silu",
    model_type="pixtral",
)


def _mistral3(id_of: Callable[[str], int]) -> tuple[type, Any]:
    from transformers import Mistral3Config, Mistral3ForConditionalGeneration

    rope = dict(
        rope_type="yarn",
        rope_theta=1e6,
        factor=4.0,
        original_max_position_embeddings=32,
        beta_fast=32.0,
        beta_slow=1.0,
        mscale=1.0,
        mscale_all_dim=1.0,
        llama_4_scaling_beta=0.1,
    )
    text = text_config(
        "mistral3", model_type="ministral3", rms_norm_eps=1e-5, rope_parameters=rope, sliding_window=None
    )
    config = Mistral3Config(
        text_config=text,
        vision_config=PIXTRAL_VISION,
        image_token_index=id_of("[IMG]"),
        spatial_merge_size=2,
        tie_word_embeddings=False,
    )
    return Mistral3ForConditionalGeneration, config


def pixtral_pixels(pictures: Sequence[Image.Image]) -> Any:
    """As the reference's processor asks for them: patches of both sizes together."""
    from transformers.models.pixtral.image_processing_pil_pixtral import PixtralImageProcessorPil

    made = PixtralImageProcessorPil(**(PIXTRAL | {"patch_size": {"height": 8, "width": 8}}))
    return made(images=list(pictures), return_tensors="pt")


def _mistral3_inputs(pictures: Sequence[Image.Image]) -> Config:
    made = pixtral_pixels(pictures)
    return {name: made[name] for name in ("pixel_values", "image_sizes")}


# -- Gemma 4: a small model, one that hears too, and a large one whose pictures are seen in both directions

GEMMA4_PICTURES: Config = dict(patch_size=4, pooling_kernel_size=2, max_soft_tokens=70, resample=3)
GEMMA4_VISION: Config = dict(
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=2,
    num_key_value_heads=2,
    head_dim=16,
    patch_size=4,
    pooling_kernel_size=2,
    position_embedding_size=160,
)
_LARGE: Config = dict(
    hidden_size_per_layer_input=0,
    num_kv_shared_layers=0,
    use_double_wide_mlp=False,
    attention_k_eq_v=True,
    num_global_key_value_heads=1,
    use_bidirectional_attention="vision",
)


GEMMA4_SOUNDS: Config = dict(
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=2,
    subsampling_conv_channels=[128, 4],  # the reference takes bands for channels, of which there are as many
    output_proj_dims=24,
)


def _gemma4(id_of: Callable[[str], int], large: bool = False, audio: Config | None = None) -> tuple[type, Any]:
    from transformers import Gemma4Config, Gemma4ForConditionalGeneration

    text = (text_config("gemma4") if audio is None else text_fields(_HEARING_WORDS)) | GEMMA4
    text |= dict(pad_token_id=0, vocab_size_per_layer_input=text["vocab_size"]) | (_LARGE if large else {})
    more = dict(standardize=True) if large else dict(use_clipped_linears=True)
    config = Gemma4Config(
        text_config=text,
        vision_config=GEMMA4_VISION | more,
        audio_config=audio,
        boi_token_id=id_of("<|image>"),
        image_token_id=id_of("<|image|>"),
        eoi_token_id=id_of("<image|>"),
        video_token_id=id_of("<|video|>"),
        audio_token_id=id_of("<|audio|>"),
        **({} if audio is None else dict(boa_token_id=id_of("<|audio>"), eoa_token_index=id_of("<audio|>"))),
        tie_word_embeddings=False,
    )
    return Gemma4ForConditionalGeneration, config


def _bounded(model: Any) -> None:
    """Some of what a layer is given and gives is beyond its bounds."""
    for name, buffer in model.named_buffers():
        if name.endswith(("put_min", "put_max")):
            buffer.fill_(-0.9 if name.endswith("min") else 1.1)


def _standardized(model: Any) -> None:
    import torch

    generator = torch.Generator().manual_seed(7)
    tower = model.model.vision_tower
    tower.std_bias.copy_(torch.randn(tower.std_bias.shape, generator=generator))
    tower.std_scale.copy_(1 + 0.3 * torch.randn(tower.std_scale.shape, generator=generator))


def gemma4_pixels(pictures: Sequence[Image.Image]) -> Any:
    from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil

    return Gemma4ImageProcessorPil(**GEMMA4_PICTURES)(images=list(pictures), return_tensors="pt")


def _gemma4_inputs(pictures: Sequence[Image.Image]) -> Config:
    made = gemma4_pixels(pictures)
    return {name: made[name] for name in ("pixel_values", "image_position_ids")}


def _seen_both_ways(ids: Any) -> Config:
    return {"mm_token_type_ids": (ids == id_of(FAMILIES["gemma4"])("<|image|>")).long()}


_GEMMA4_SMALL = SeeingFamily(
    words=("<|image>", "<|image|>", "<image|>", "<|video|>", "<|audio|>"),
    place="<|image|>",
    config=_gemma4,
    files={"processor_config.json": {"image_processor": GEMMA4_PICTURES, "processor_class": "Gemma4Processor"}},
    inputs=_gemma4_inputs,
    features=pooled,
    with_ids=_seen_both_ways,
    prepare=_bounded,
    seed=2,  # else replies hold the token of a picture, which the reference embeds otherwise
)

_HEARING_WORDS = (*_GEMMA4_SMALL.words, "<|audio>", "<audio|>")


def gemma4_hearing(**audio: Any) -> SeeingFamily:
    """E2B and E4B: pictures, and sound. `audio`: of the config of its encoder."""
    config = partial(_gemma4, audio=GEMMA4_SOUNDS | audio)
    return replace(_GEMMA4_SMALL, words=_HEARING_WORDS, config=config, prepare=_bounded_and_plain)


def _bounded_and_plain(model: Any) -> None:
    """Replies hold no token of a picture or sound, which the reference embeds otherwise."""
    _bounded(model)
    model.lm_head.weight.data[256 + len(SPECIALS) :] = 0


# -- InternVL

INTERNVL_PICTURES: Config = dict(
    crop_to_patches=False,  # as published: the processor of pictures and texts asks for tiles itself
    do_convert_rgb=True,
    image_mean=[0.485, 0.456, 0.406],
    image_std=[0.229, 0.224, 0.225],
    max_patches=6,
    min_patches=1,
    resample=3,
    size=dict(height=32, width=32),
)


def _internvl(id_of: Callable[[str], int], rms: bool = False) -> tuple[type, Any]:
    """`rms`: as the larger image encoder is."""
    from transformers import InternVLConfig, InternVLForConditionalGeneration

    more: Config = dict(norm_type="rms_norm", use_qk_norm=True) if rms else dict(attention_bias=True)
    vision = SIGLIP | dict(image_size=[32, 32], patch_size=[4, 4]) | more
    config = InternVLConfig(
        text_config=text_config("internvl", model_type="qwen2" if rms else "qwen3", rms_norm_eps=1e-6),
        vision_config=vision,
        image_token_id=id_of("<IMG_CONTEXT>"),
        image_seq_length=16,
        tie_word_embeddings=False,
    )
    return InternVLForConditionalGeneration, config


def internvl_pixels(pictures: Sequence[Image.Image], **settings: Any) -> Any:
    from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil

    made = GotOcr2ImageProcessorPil(**(INTERNVL_PICTURES | dict(crop_to_patches=True) | settings))
    return made(images=list(pictures), return_tensors="pt")


def _internvl_inputs(pictures: Sequence[Image.Image]) -> Config:
    return {"pixel_values": internvl_pixels(pictures)["pixel_values"]}


_INTERNVL_SMALL = SeeingFamily(
    words=("<img>", "</img>", "<IMG_CONTEXT>", "<video>"),
    place="<IMG_CONTEXT>",
    config=_internvl,
    files={"preprocessor_config.json": INTERNVL_PICTURES | {"image_processor_type": "GotOcr2ImageProcessor"}},
    inputs=_internvl_inputs,
    features=pooled,
)

# -- LFM 2-VL: tiles of 8 x 8 patches, whose positions are learned for 6 x 6

LFM2_PICTURES: Config = dict(
    do_image_splitting=True,
    downsample_factor=2,
    encoder_patch_size=4,
    image_mean=[0.5] * 3,
    image_std=[0.5] * 3,
    max_image_tokens=16,
    max_pixels_tolerance=2.0,
    max_tiles=6,
    min_image_tokens=4,
    min_tiles=2,
    resample=2,
    tile_size=32,
    use_thumbnail=True,
)
NAFLEX: Config = {name: value for name, value in SIGLIP.items() if name != "image_size"} | dict(
    model_type="siglip2_vision_model", num_patches=36, vision_use_head=False
)
LFM2_TAGS = (
    "<image>",
    "<|image_start|>",
    "<|image_end|>",
    "<|img_thumbnail|>",
    *(f"<|img_row_{row}_col_{column}|>" for row in range(1, 7) for column in range(1, 7) if row * column <= 6),
)


def _lfm2_vl(id_of: Callable[[str], int], mixture: bool = False) -> tuple[type, Any]:
    from transformers import Lfm2VlConfig, Lfm2VlForConditionalGeneration

    name = "lfm2_moe" if mixture else "lfm2"
    text = text_fields(LFM2_TAGS, model_type=name) | {
        key: value for key, value in MODELS[name][1].items() if key not in ("vocab_size", "tie_word_embeddings")
    }
    config = Lfm2VlConfig(
        text_config=text,
        vision_config=NAFLEX,
        image_token_id=id_of("<image>"),
        projector_hidden_size=80,
        projector_use_layernorm=not mixture,
        tie_word_embeddings=False,
    )
    return Lfm2VlForConditionalGeneration, config


def _lfm2_inputs(pictures: Sequence[Image.Image]) -> Config:
    made = lfm2_pixels(pictures, LFM2_PICTURES)
    return {name: made[name] for name in ("pixel_values", "pixel_attention_mask", "spatial_shapes")}


def _lfm2_features(model: Any, inputs: Config) -> Any:
    import torch

    return torch.cat(list(model.model.get_image_features(**inputs).pooler_output))


_LFM2_VL = SeeingFamily(
    words=LFM2_TAGS,
    place="<image>",
    config=_lfm2_vl,
    files={"preprocessor_config.json": LFM2_PICTURES | {"image_processor_type": "Lfm2VlImageProcessorFast"}},
    inputs=_lfm2_inputs,
    features=_lfm2_features,
)

FAMILIES: dict[str, SeeingFamily] = {
    "gemma4": _GEMMA4_SMALL,
    "gemma4_large": replace(_GEMMA4_SMALL, config=lambda id_of: _gemma4(id_of, large=True), prepare=_standardized),
    "internvl": _INTERNVL_SMALL,
    "internvl_rms": replace(_INTERNVL_SMALL, config=lambda id_of: _internvl(id_of, rms=True)),
    "lfm2_vl": _LFM2_VL,
    "lfm2_vl_moe": replace(_LFM2_VL, config=lambda id_of: _lfm2_vl(id_of, mixture=True)),
    "mistral3": SeeingFamily(
        words=("[IMG]", "[IMG_BREAK]", "[IMG_END]"),
        place="[IMG]",
        config=_mistral3,
        files={
            "preprocessor_config.json": PIXTRAL | {"image_processor_type": "PixtralImageProcessor"},
            "processor_config.json": dict(patch_size=4, spatial_merge_size=2, processor_class="PixtralProcessor"),
        },
        inputs=_mistral3_inputs,
        features=pooled,
    ),
    "smolvlm": SeeingFamily(
        words=(
            "<fake_token_around_image>",
            "<image>",
            "<global-img>",
            "\n\n",  # which llama.cpp looks up
            *(f"<row_{row}_col_{column}>" for row in range(1, 4) for column in range(1, 4)),
        ),
        place="<image>",
        config=_smolvlm,
        files={"preprocessor_config.json": SMOL | {"image_processor_type": "SmolVLMImageProcessor"}},
        inputs=_smol_inputs,
        features=pooled,
    ),
}
