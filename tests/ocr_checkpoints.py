"""Tiny random models that read pages, one of each family, as `tests.seeing_checkpoints` makes those that chat about pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image

from tests.seeing_checkpoints import (
    FAMILIES,
    PIXTRAL,
    PIXTRAL_VISION,
    SIGLIP,
    SMOL,
    Config,
    SeeingFamily,
    made,
    pooled,
    text_fields,
    written,
)


@cache
def reference(name: str) -> Any:
    return made(OCR_FAMILIES[name])


def save(name: str, folder: Path) -> Path:
    return written(OCR_FAMILIES[name], reference(name), folder)


# -- GLM-OCR

GLM_WORDS = ("<|image|>", "<|begin_of_image|>", "<|end_of_image|>", "<|video|>")
GLM_PICTURES: Config = dict(
    image_mean=[0.48145466, 0.4578275, 0.40821073],
    image_std=[0.26862954, 0.26130258, 0.27577711],
    patch_size=4,
    temporal_patch_size=2,
    merge_size=2,
    size=dict(shortest_edge=2 * 256, longest_edge=2 * 2304),
)
GLM_VISION: Config = dict(
    depth=2,
    hidden_size=32,
    num_heads=2,
    intermediate_size=48,
    out_hidden_size=64,
    patch_size=4,
    spatial_merge_size=2,
    temporal_patch_size=2,
    hidden_act="silu",
)


def _glm_ocr(id_of: Callable[[str], int]) -> tuple[type, Any]:
    from transformers import GlmOcrConfig, GlmOcrForConditionalGeneration

    rope = dict(rope_type="default", rope_theta=10000.0, mrope_section=[2, 3, 3], partial_rotary_factor=1.0)
    text = text_fields(GLM_WORDS, rms_norm_eps=1e-5, rope_parameters=rope)
    config = GlmOcrConfig(
        text_config=text,
        vision_config=GLM_VISION,
        image_token_id=id_of("<|image|>"),
        video_token_id=id_of("<|video|>"),
        image_start_token_id=id_of("<|begin_of_image|>"),
        image_end_token_id=id_of("<|end_of_image|>"),
        tie_word_embeddings=False,
    )
    return GlmOcrForConditionalGeneration, config


def glm_pixels(pictures: Sequence[Image.Image]) -> Any:
    from transformers.models.glm46v.image_processing_pil_glm46v import Glm46VImageProcessorPil

    return Glm46VImageProcessorPil(**GLM_PICTURES)(images=list(pictures), return_tensors="pt")


def _glm_inputs(pictures: Sequence[Image.Image]) -> Config:
    return dict(glm_pixels(pictures))


def _glm_kinds(ids: Any) -> Config:
    return {"mm_token_type_ids": (ids == 256 + _place(GLM_WORDS[0])).int()}


def _place(word: str) -> int:
    from tests.checkpoints import SPECIALS

    return (*SPECIALS, *GLM_WORDS).index(word)


# -- LightOnOCR

LIGHTON_WORDS = ("<|image_pad|>", "<|vision_pad|>", "<|vision_end|>")


def _lighton_ocr(id_of: Callable[[str], int]) -> tuple[type, Any]:
    from transformers import LightOnOcrConfig, LightOnOcrForConditionalGeneration

    text = text_fields(LIGHTON_WORDS, model_type="qwen3", rms_norm_eps=1e-6, rope_theta=1e6)
    config = LightOnOcrConfig(
        text_config=text,
        vision_config=PIXTRAL_VISION,
        image_token_id=id_of("<|image_pad|>"),
        spatial_merge_size=2,
        tie_word_embeddings=False,
    )
    return LightOnOcrForConditionalGeneration, config


def _lighton_inputs(pictures: Sequence[Image.Image]) -> Config:
    from tests.seeing_checkpoints import pixtral_pixels

    found = pixtral_pixels(pictures)
    return {name: found[name] for name in ("pixel_values", "image_sizes")}


def _as_mistral(config: Config) -> None:
    config["model_type"] = "mistral3"  # as repositories say


# -- Granite-Docling

DOCTAGS = ("<doctag>", "</doctag>", "<text>", "</text>", "<loc_7>", "<otsl>", "</otsl>", "<fcel>", "<nl>")


def _docling(id_of: Callable[[str], int]) -> tuple[type, Any]:
    from transformers import Idefics3Config, Idefics3ForConditionalGeneration

    words = OCR_FAMILIES["granite_docling"].words
    config = Idefics3Config(
        text_config=text_fields(words, model_type="llama", rms_norm_eps=1e-5),
        vision_config=SIGLIP,
        scale_factor=2,
        image_token_id=id_of("<image>"),
        tie_word_embeddings=False,
    )
    return Idefics3ForConditionalGeneration, config


def _docling_inputs(pictures: Sequence[Image.Image]) -> Config:
    from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

    made = Idefics3ImageProcessorPil(**SMOL)(images=[list(pictures)], return_tensors="pt")
    return {name: made[name] for name in ("pixel_values", "pixel_attention_mask")}


# -- DeepSeek-OCR 2: its queries are for views of 768 and 1024 pixels, and tiles are cut from pictures of more than 768

DEEPSEEK_PICTURES: Config = dict(
    background_color=[127, 127, 127],
    crop_to_patches=True,
    image_mean=[0.5] * 3,
    image_std=[0.5] * 3,
    max_patches=6,
    min_patches=2,
    resample=3,
    size=dict(height=1024, width=1024),
    tile_size=768,
)
DEEPSEEK_VISION: Config = dict(
    sam_config=dict(
        hidden_size=16,
        output_channels=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        window_size=14,
        global_attn_indexes=[],  # MLX takes seconds for one on a CPU: `test_deepseek_ocr2` has a model with one
        downsample_channels=[24, 32],
        mlp_dim=24,
    ),
    encoder_config=dict(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2
    ),
)


def _deepseek_ocr2(id_of: Callable[[str], int]) -> tuple[type, Any]:
    from transformers import DeepseekOcr2Config, DeepseekOcr2ForConditionalGeneration

    text = text_fields(
        DEEPSEEK_WORDS,
        num_key_value_heads=4,
        n_routed_experts=8,
        n_shared_experts=2,
        num_experts_per_tok=2,
        moe_intermediate_size=24,
        mlp_layer_types=["dense", "sparse", "sparse"],
        rms_norm_eps=1e-6,
    )
    config = DeepseekOcr2Config(
        text_config=text, vision_config=DEEPSEEK_VISION, image_token_id=id_of("<image>"), tie_word_embeddings=False
    )
    return DeepseekOcr2ForConditionalGeneration, config


def deepseek_pixels(pictures: Sequence[Image.Image], **settings: Any) -> Any:
    from transformers.models.deepseek_ocr2.image_processing_pil_deepseek_ocr2 import DeepseekOcr2ImageProcessorPil

    made = DeepseekOcr2ImageProcessorPil(**(DEEPSEEK_PICTURES | settings))
    return made(images=list(pictures), return_tensors="pt")


def _deepseek_inputs(pictures: Sequence[Image.Image]) -> Config:
    return dict(deepseek_pixels(pictures))


def _deepseek_features(model: Any, inputs: Config) -> Any:
    import torch

    return torch.cat(list(model.model.get_image_features(**inputs).pooler_output))


# -- Unlimited-OCR: views of 192 and 128 pixels, and eight tokens behind the prompt

UNLIMITED_PICTURES: Config = DEEPSEEK_PICTURES | dict(
    size=dict(height=192, width=192), tile_size=128, maximum_pad_value=128
)
UNLIMITED_VISION: Config = dict(
    sam_config=DEEPSEEK_VISION["sam_config"] | dict(image_size=256, window_size=5, global_attn_indexes=[1]),
    encoder_config=dict(
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=28,
        patch_size=14,
    ),
)


def _unlimited_ocr(id_of: Callable[[str], int]) -> tuple[type, Any]:
    from transformers import UnlimitedOcrConfig, UnlimitedOcrForConditionalGeneration

    text = text_fields(
        DEEPSEEK_WORDS,
        num_key_value_heads=4,
        n_routed_experts=8,
        n_shared_experts=2,
        num_experts_per_tok=2,
        moe_intermediate_size=24,
        rms_norm_eps=1e-6,
        sliding_window=8,
    )
    config = UnlimitedOcrConfig(
        text_config=text, vision_config=UNLIMITED_VISION, image_token_id=id_of("<image>"), tie_word_embeddings=False
    )
    return UnlimitedOcrForConditionalGeneration, config


def unlimited_pixels(pictures: Sequence[Image.Image]) -> Config:
    """By DeepSeek's processor, which has the same steps: the reference's own has none with Pillow."""
    from transformers.models.deepseek_ocr2.image_processing_pil_deepseek_ocr2 import get_optimal_tiled_canvas

    own = {key: value for key, value in UNLIMITED_PICTURES.items() if key != "maximum_pad_value"}
    found = deepseek_pixels(pictures, **own)
    tile = own["tile_size"]
    grids = [
        list(get_optimal_tiled_canvas(one.size[::-1], (tile, tile), own["min_patches"], own["max_patches"]))
        for one in pictures
    ]
    counts = [int(n) for n in found["num_local_patches"]]
    return dict(found) | dict(num_local_patches=counts, patches_grid=grids)


DEEPSEEK_WORDS = ("<image>", "<|ref|>", "<|/ref|>", "<|det|>", "<|/det|>", "<|grounding|>")

OCR_FAMILIES: dict[str, SeeingFamily] = {
    "granite_docling": SeeingFamily(
        words=(*FAMILIES["smolvlm"].words, *DOCTAGS),
        place="<image>",
        config=_docling,
        files={"preprocessor_config.json": SMOL | {"image_processor_type": "Idefics3ImageProcessor"}},
        inputs=_docling_inputs,
        features=pooled,
    ),
    "deepseek_ocr2": SeeingFamily(
        words=DEEPSEEK_WORDS,
        place="<image>",
        config=_deepseek_ocr2,
        files={"preprocessor_config.json": DEEPSEEK_PICTURES | {"image_processor_type": "DeepseekOcr2ImageProcessor"}},
        inputs=_deepseek_inputs,
        features=_deepseek_features,
        spread=0.25,  # else rounding grows to 1.2e-4 of the logits on some machines
    ),
    "glm_ocr": SeeingFamily(
        words=GLM_WORDS,
        place="<|begin_of_image|><|image|><|end_of_image|>",
        config=_glm_ocr,
        files={"preprocessor_config.json": GLM_PICTURES | {"image_processor_type": "Glm46VImageProcessor"}},
        inputs=_glm_inputs,
        features=pooled,
        with_ids=_glm_kinds,
    ),
    "unlimited_ocr": SeeingFamily(
        words=DEEPSEEK_WORDS,
        place="<image>",
        config=_unlimited_ocr,
        files={"preprocessor_config.json": UNLIMITED_PICTURES | {"image_processor_type": "UnlimitedOcrImageProcessor"}},
        inputs=unlimited_pixels,
        features=_deepseek_features,
    ),
    "lighton_ocr": SeeingFamily(
        words=LIGHTON_WORDS,
        place="<|image_pad|>",
        config=_lighton_ocr,
        files={"preprocessor_config.json": PIXTRAL | {"image_processor_type": "PixtralImageProcessor"}},
        inputs=_lighton_inputs,
        features=pooled,
        published=_as_mistral,
    ),
}
