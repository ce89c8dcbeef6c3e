"""InternVL's pictures and videos: grids of tiles, their tags, and what is refused, against the reference."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.errors import BadRequest, ConfigError
from engine.models.config import Fields
from engine.models.idefics3 import block_order
from engine.models.registry import find_architecture
from engine.text.tokenizer import Tokenizer
from engine.vision.internvl import InternVlVisionProcessor
from engine.weights.view import check
from tests.checkpoints import save_tokenizer
from tests.engine.vision.pictures import drawn
from tests.seeing_checkpoints import FAMILIES, INTERNVL_PICTURES, SIGLIP, id_of, internvl_pixels

FAMILY = FAMILIES["internvl"]
SIZES = [(96, 96), (48, 32), (32, 32), (31, 200), (300, 64), (1, 1), (97, 33), (64, 64), (20, 20), (50, 100)]


def processor(
    folder: Path, words: tuple[str, ...] = FAMILY.words, **settings: Any
) -> tuple[InternVlVisionProcessor, Tokenizer]:
    save_tokenizer(folder, words)
    tokenizer = Tokenizer.from_folder(folder, {}, {})
    config = {"vision_config": SIGLIP, "image_token_id": id_of(FAMILY)("<IMG_CONTEXT>")}
    image = Fields(INTERNVL_PICTURES | settings)
    return (
        InternVlVisionProcessor(Fields(config), image, lambda text: tokenizer.encode(text, add_special=False)),
        tokenizer,
    )


def pixels_of(patches: np.ndarray) -> np.ndarray:
    tiles = len(patches) // 64
    raster = np.empty((tiles, 64, 3, 4, 4), np.float32)
    raster[:, block_order(8, 2)] = patches.reshape(raster.shape)
    return raster.reshape(-1, 8, 8, 3, 4, 4).transpose(0, 3, 1, 4, 2, 5).reshape(tiles, 3, 32, 32)


@pytest.mark.parametrize("settings", [{}, {"max_patches": 1}, {"min_patches": 2, "max_patches": 12}])
@pytest.mark.parametrize("size", SIZES)
def test_pixels_are_the_references(tmp_path: Path, size: tuple[int, int], settings: dict[str, Any]) -> None:
    picture = processor(tmp_path, **settings)[0].prepare(drawn(*size))
    want = internvl_pixels([drawn(*size)], **settings)["pixel_values"].numpy()
    assert picture.grid == (len(want), 8, 8)
    assert picture.tokens == len(want) * 16
    assert np.abs(pixels_of(picture.patches) - want).max() <= 1e-6


def test_pictures_and_videos_are_spelled_as_the_references(tmp_path: Path) -> None:
    from transformers.models.internvl.processing_internvl import InternVLProcessor

    names = dict(start_image_token="<img>", end_image_token="</img>", image_token="<IMG_CONTEXT>")
    reference: Any = SimpleNamespace(**names, image_seq_length=16)
    vision, tokenizer = processor(tmp_path)
    picture, clip = vision.prepare(drawn(90, 60)), vision.video([drawn(40, 30, i) for i in range(3)])
    text = "a <IMG_CONTEXT>b\n<video>\nc"
    ids, positions = vision.expand(tokenizer.encode(text, add_special=False), [picture, clip])
    first = InternVLProcessor.replace_image_token(reference, {"num_patches": [picture.grid[0]]}, 0)
    second = InternVLProcessor.replace_video_token(reference, {"pixel_values_videos": [np.empty((3, 1))]}, 0)
    assert ids == tokenizer.encode(f"a {first}b\n{second}\nc", add_special=False)
    assert len(positions) == picture.tokens + clip.tokens
    assert vision.rope(ids, [picture, clip]) is None


def test_a_frame_of_a_video_is_one_tile(tmp_path: Path) -> None:
    frames = [drawn(100, 50, i) for i in range(2)]
    clip = processor(tmp_path)[0].video(frames)
    want = internvl_pixels(frames, crop_to_patches=False)["pixel_values"].numpy()
    assert np.abs(pixels_of(clip.patches) - want).max() <= 1e-6


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    vision, _ = processor(tmp_path)
    with pytest.raises(BadRequest, match="no frames"):
        vision.video([])
    with pytest.raises(BadRequest, match="a video where an image is"):
        vision.expand([vision.image_id], [vision.video([drawn(8, 8)])])
    with pytest.raises(BadRequest, match="1 places for images, but there are 0"):
        vision.expand([vision.image_id], [])
    with pytest.raises(ConfigError, match="32 x 32"):
        processor(tmp_path, size={"height": 64, "width": 64})
    with pytest.raises(ConfigError, match="min_patches"):
        processor(tmp_path, min_patches=9)
    bare, _ = processor(tmp_path, words=FAMILY.words[:3])
    with pytest.raises(BadRequest, match="no token <video>"):
        bare.video([drawn(8, 8)])
    assert vision.note(drawn(64, 64)) is None
    assert "200 x 100 pixels" in str(vision.note(drawn(200, 100)))


# name -> text config, encoder
QWEN: dict[str, Any] = dict(hidden_act="silu", rms_norm_eps=1e-6, vocab_size=151936)
SMALL: dict[str, Any] = dict(
    hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16,
    image_size=[448, 448], patch_size=[14, 14], attention_bias=True,
)  # fmt: skip
LARGE: dict[str, Any] = dict(
    hidden_size=3200, intermediate_size=12800, num_hidden_layers=45, num_attention_heads=25,
    image_size=448, patch_size=14, norm_type="rms_norm", use_qk_norm=True,
)  # fmt: skip
PUBLISHED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "InternVL3_5-1B-HF": (
        dict(model_type="qwen3", hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=8, head_dim=128),
        SMALL,
    ),
    "InternVL3_5-8B-HF": (
        dict(model_type="qwen3", hidden_size=4096, intermediate_size=12288, num_hidden_layers=36, num_attention_heads=32, num_key_value_heads=8, head_dim=128),
        SMALL,
    ),
    "InternVL3_5-30B-A3B-HF": (
        dict(model_type="qwen3_moe", hidden_size=2048, intermediate_size=6144, moe_intermediate_size=768, num_hidden_layers=48, num_attention_heads=32, num_key_value_heads=4, head_dim=128, num_experts=128, num_experts_per_tok=8),
        SMALL,
    ),
    "InternVL3-2B-hf": (
        dict(model_type="qwen2", hidden_size=1536, intermediate_size=8960, num_hidden_layers=28, num_attention_heads=12, num_key_value_heads=2),
        SMALL,
    ),
    "InternVL3-38B-hf": (
        dict(model_type="qwen2", hidden_size=5120, intermediate_size=27648, num_hidden_layers=64, num_attention_heads=40, num_key_value_heads=8),
        LARGE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_size_is_accepted_exactly(name: str) -> None:
    import torch
    from transformers import InternVLConfig, InternVLForConditionalGeneration

    text, vision = QWEN | PUBLISHED[name][0], PUBLISHED[name][1]
    config = InternVLConfig(text_config=text, vision_config=vision, tie_word_embeddings=False)
    with torch.device("meta"):
        model = InternVLForConditionalGeneration(config)
    shapes = {key: tuple(value.shape) for key, value in model.state_dict().items()}
    given = {"model_type": "internvl", "text_config": text, "vision_config": vision, "tie_word_embeddings": False}
    make = find_architecture(given, name)
    parameters = check(lambda w: make(w, given), shapes).parameters
    assert parameters == sum(int(np.prod(one)) for one in shapes.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text_config": {"model_type": "internlm2", "hidden_size": 64}}, "internlm2"),
        ({"downsample_ratio": 0.3}, "downsample_ratio"),
        ({"vision_feature_layer": -2}, "vision_feature_layer"),
    ],
)
def test_another_model_is_refused(change: dict[str, Any], message: str) -> None:
    given = {
        "model_type": "internvl",
        "text_config": QWEN | {"model_type": "qwen2", "hidden_size": 64},
        "vision_config": SIGLIP,
    } | change
    make = find_architecture(given, "x")
    with pytest.raises(ConfigError, match=message):
        check(lambda w: make(w, given), {"vision_tower.embeddings.cls_token": (1, 1, 32)})
