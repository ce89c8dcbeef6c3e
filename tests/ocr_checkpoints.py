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


OCR_FAMILIES: dict[str, SeeingFamily] = {
    "granite_docling": SeeingFamily(
        words=(*FAMILIES["smolvlm"].words, *DOCTAGS),
        place="<image>",
        config=_docling,
        files={"preprocessor_config.json": SMOL | {"image_processor_type": "Idefics3ImageProcessor"}},
        inputs=_docling_inputs,
        features=pooled,
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
