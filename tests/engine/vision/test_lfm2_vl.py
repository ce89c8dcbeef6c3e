"""LFM 2-VL's pictures: tiles that keep their shape, their tags, stretched positions, published sizes, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.errors import BadRequest, ConfigError, WeightsError
from engine.models.config import Fields
from engine.models.qwen_vision import block_places
from engine.models.registry import find_architecture
from engine.models.stretching import stretched
from engine.text.tokenizer import Tokenizer
from engine.vision.lfm2_vl import Lfm2VlVisionProcessor, NaflexPicture
from engine.vision.registry import make_vision_processor
from engine.weights.view import check
from tests.checkpoints import save_tokenizer
from tests.engine.vision.pictures import drawn
from tests.lfm2_pixels import TORCHVISION, lfm2_pixels, processor_class
from tests.seeing_checkpoints import FAMILIES, LFM2_PICTURES, NAFLEX, id_of

FAMILY = FAMILIES["lfm2_vl"]
SIZES = [(32, 32), (48, 32), (90, 30), (31, 200), (200, 100), (1, 1), (97, 33), (50, 40), (40, 50), (64, 36), (45, 45)]
ROUNDED = {2: 1, 3: 3}  # by how much a byte may differ where torchvision scales: bilinear as published, bicubic


def processor(tmp_path: Path | None = None, **settings: Any) -> tuple[Lfm2VlVisionProcessor, Tokenizer | None]:
    tokenizer = None
    if tmp_path is not None:
        save_tokenizer(tmp_path, FAMILY.words)
        tokenizer = Tokenizer.from_folder(tmp_path, {}, {})
    config = {"vision_config": NAFLEX, "downsample_factor": 2, "image_token_id": id_of(FAMILY)("<image>")}
    encode = (lambda text: tokenizer.encode(text, add_special=False)) if tokenizer is not None else (lambda text: [])
    return Lfm2VlVisionProcessor(Fields(config), Fields(LFM2_PICTURES | settings), encode), tokenizer


def tiles_in_rows(picture: NaflexPicture) -> list[np.ndarray]:
    """The patches of each tile in raster order."""
    made, start = [], 0
    for rows, columns in picture.tiles:
        patches = picture.patches[start : start + rows * columns]
        start += rows * columns
        down, across = block_places(rows, columns, 2)
        placed = np.empty((rows, columns, patches.shape[1]), np.float32)
        placed[down, across] = patches
        made.append(placed.reshape(rows * columns, -1))
    assert start == len(picture.patches)
    return made


@pytest.mark.parametrize(
    "settings",
    [{}, {"do_image_splitting": False}, {"use_thumbnail": False}, {"min_tiles": 1, "max_tiles": 1}, {"resample": 3}],
)
@pytest.mark.parametrize("size", SIZES)
def test_pixels_are_the_references(size: tuple[int, int], settings: dict[str, Any]) -> None:
    picture = processor(**settings)[0].prepare(drawn(*size))
    want = lfm2_pixels([drawn(*size)], LFM2_PICTURES | settings)
    assert (picture.rows, picture.columns) == (int(want["image_rows"][0]), int(want["image_cols"][0]))
    assert [list(tile) for tile in picture.tiles] == want["spatial_shapes"].tolist()
    bound = ROUNDED[settings.get("resample", 2)] * 2 / 255 if TORCHVISION else 0
    for got, pixels, mask in zip(
        tiles_in_rows(picture), want["pixel_values"].numpy(), want["pixel_attention_mask"], strict=True
    ):
        assert np.abs(got - pixels[: int(mask.sum())]).max() <= bound + 1e-6


PUBLISHED_SETTINGS: dict[str, Any] = dict(
    encoder_patch_size=16, tile_size=512, max_image_tokens=256, min_image_tokens=64
)


def test_the_published_settings_cut_as_the_reference_does() -> None:
    """Sizes at the bounds among them: 720 is 22.5 tokens, which is rounded to an even number."""
    reference = processor_class().__new__(processor_class())
    config = {"vision_config": {"model_type": "siglip2_vision_model"}}
    ours = Lfm2VlVisionProcessor(Fields(config), Fields({}), lambda text: [])
    shapes = np.random.default_rng(3).integers(20, 3000, (400, 2)).tolist()
    shapes += [[704, 704], [720, 720], [736, 736], [1024, 977], [1056, 384], [1250, 1000], [1000, 1250], [2000, 2000]]
    limits: dict[str, Any] = dict(max_image_tokens=256, encoder_patch_size=16, downsample_factor=2)
    for width, height in shapes:
        large = reference._is_image_too_large(height, width, max_pixels_tolerance=2.0, **limits)
        want = reference._get_grid_layout(height, width, 2, 10, 512)[:2] if large else (1, 1)
        assert ours._grid(height, width) == (want[1], want[0]), (width, height)
        size = reference.smart_resize(height, width, min_image_tokens=64, **limits)
        assert ours._scaled(height, width) == (size[1], size[0]), (width, height)


def test_tags_are_spelled_as_the_references(tmp_path: Path) -> None:
    from transformers.models.lfm2_vl.processing_lfm2_vl import Lfm2VlProcessor

    reference: Any = Lfm2VlProcessor.__new__(Lfm2VlProcessor)
    names = ("image", "image_start", "image_end")
    for name, token in zip(names, ("<image>", "<|image_start|>", "<|image_end|>")):
        setattr(reference, f"{name}_token", token)
    reference.image_thumbnail_token = "<|img_thumbnail|>"
    sizes = dict(tile_size=32, encoder_patch_size=4, downsample_factor=2)
    reference.image_processor = SimpleNamespace(use_thumbnail=True, **sizes)
    for whole, tagged in ((True, True), (False, True), (True, False)):
        vision, tokenizer = processor(tmp_path, use_thumbnail=whole, use_image_special_tokens=tagged)
        assert tokenizer is not None
        drawings = [drawn(90, 60), drawn(16, 30)]
        pictures = [vision.prepare(one) for one in drawings]
        ids, positions = vision.expand(tokenizer.encode("a <image>b<image>", add_special=False), pictures)
        seen = lfm2_pixels(drawings, LFM2_PICTURES)
        first, second = (
            reference.replace_image_token(seen, at, use_image_special_tokens=tagged, use_thumbnail=whole, **sizes)
            for at in range(2)
        )
        assert ids == tokenizer.encode(f"a {first}b{second}", add_special=False)
        assert len(positions) == sum(one.tokens for one in pictures)


@pytest.mark.parametrize("grid", [(6, 6), (8, 8), (2, 16), (16, 2), (4, 4), (2, 2), (32, 10)])
def test_positions_are_stretched_as_the_references(grid: tuple[int, int]) -> None:
    import torch
    from transformers.models.siglip2.modeling_siglip2 import Siglip2VisionEmbeddings

    table = np.random.default_rng(1).normal(0, 1, (6, 6, 5)).astype(np.float32)
    shapes = torch.tensor([grid])
    want = Siglip2VisionEmbeddings.resize_positional_embeddings(torch.from_numpy(table), shapes, grid[0] * grid[1])
    assert np.abs(stretched(table, *grid, "bilinear") - want[0].numpy().reshape(*grid, 5)).max() <= 3e-6


def test_older_repositories_keep_the_settings_elsewhere(tmp_path: Path) -> None:
    """As LFM2-VL-450M was first published: what its remote code did is said in three files."""
    config = {
        "model_type": "lfm2-vl",
        "image_token_index": 396,
        "downsample_factor": 2,
        "encoder_patch_size": 16,
        "max_tiles": 4,
        "vision_config": {"model_type": "siglip2_vision_model"},
    }
    (tmp_path / "preprocessor_config.json").write_text(
        json.dumps(
            {"do_resize": False, "image_mean": [0.5] * 3, "image_std": [0.5] * 3, "patch_size": 16, "resample": 2}
        )
    )
    (tmp_path / "processor_config.json").write_text(json.dumps({"use_thumbnail": False, "max_tiles": 6}))
    made = make_vision_processor(config, tmp_path, lambda text: [])
    assert isinstance(made, Lfm2VlVisionProcessor)
    assert (made.most, made.whole, made.image_id, made.tile) == (6, False, 396, 512)
    picture = made.prepare(drawn(1600, 1000))
    assert set(picture.tiles) == {(32, 32)}
    assert len(picture.tiles) == picture.rows * picture.columns == 6


def test_what_cannot_be_is_refused() -> None:
    vision, _ = processor()
    with pytest.raises(BadRequest, match="not videos"):
        vision.video([drawn(8, 8)])
    with pytest.raises(BadRequest, match="1 places for images, but there are 0"):
        vision.expand([vision.image_id], [])
    with pytest.raises(BadRequest, match="200 times"):
        vision.prepare(Image.new("RGB", (1000, 2)))
    for wrong, said in (
        ({"tile_size": 36}, "tile_size"),
        ({"min_tiles": 7}, "min_tiles"),
        ({"encoder_patch_size": 8}, "cut by 8"),
        ({"min_image_tokens": 17}, "min_image_tokens"),
    ):
        with pytest.raises(ConfigError, match=said):
            processor(**wrong)
    assert vision.note(drawn(96, 64)) is None
    assert "400 x 100 pixels; the model looks at" in str(vision.note(drawn(400, 100)))


TEXT: dict[str, Any] = dict(
    model_type="lfm2", vocab_size=65536, num_hidden_layers=16, num_key_value_heads=8, conv_L_cache=3, norm_eps=1e-5,
    layer_types=["full_attention" if i in (2, 5, 8, 10, 12, 14) else "conv" for i in range(16)],
)  # fmt: skip
LARGE = dict(hidden_size=1152, intermediate_size=4304, num_hidden_layers=27, num_attention_heads=16)
# name -> text config, encoder, whether the projector has a norm
PUBLISHED: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "LFM2-VL-450M": (dict(hidden_size=1024, intermediate_size=6656, num_attention_heads=16), {}, True),
    "LFM2.5-VL-1.6B": (dict(hidden_size=2048, intermediate_size=12288, num_attention_heads=32), LARGE, False),
}


def published(name: str) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    """config.json and the shapes of the tensors."""
    import torch
    from transformers import Lfm2VlConfig, Lfm2VlForConditionalGeneration

    text, vision, norm = PUBLISHED[name]
    seen = {"model_type": "siglip2_vision_model", "vision_use_head": False, **vision}
    config = Lfm2VlConfig(text_config=TEXT | text, vision_config=seen, projector_use_layernorm=norm)
    with torch.device("meta"):
        model: Any = Lfm2VlForConditionalGeneration(config)
    shapes = {key: tuple(value.shape) for key, value in model.state_dict().items() if key != "lm_head.weight"}
    given = {"model_type": "lfm2-vl", "text_config": TEXT | text, "vision_config": seen, "projector_hidden_size": 2560}
    return given, shapes


@pytest.mark.parametrize("spelled", ["of transformers", "as published"])
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_size_is_accepted_exactly(name: str, spelled: str) -> None:
    given, shapes = published(name)
    if spelled == "as published":
        shapes = {key.replace("vision_tower.", "vision_tower.vision_model."): one for key, one in shapes.items()}
    make = find_architecture(given, name)
    assert check(lambda w: make(w, given), shapes).parameters == sum(int(np.prod(one)) for one in shapes.values())


def test_what_no_model_has_is_refused() -> None:
    given, shapes = published("LFM2-VL-450M")
    for wrong, said in (
        ({"vision_feature_layer": -2}, "vision_feature_layer"),
        ({"projector_hidden_act": "relu"}, "projector_hidden_act"),
        ({"text_config": given["text_config"] | {"model_type": "llama"}}, "Supported: lfm2"),
        ({"vision_config": {"num_patches": 200}}, "num_patches"),
    ):
        config = given | wrong
        with pytest.raises(ConfigError, match=said):
            check(lambda w, config=config: find_architecture(config, "it")(w, config), shapes)
    blind = {key: one for key, one in shapes.items() if "patch_embedding" not in key}
    with pytest.raises(WeightsError, match="no vision tower"):
        check(lambda w: find_architecture(given, "it")(w, given), blind)
