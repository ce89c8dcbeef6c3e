"""Pictures of Mistral 3 and Ministral 3 against the reference: sizes, pixels, tokens at the ends of rows, published sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.errors import BadRequest, ConfigError, UnsupportedArchitecture
from engine.models.config import Fields
from engine.models.qwen_vision import block_places
from engine.models.registry import find_architecture
from engine.vision.pixtral import PixtralVisionProcessor
from engine.weights.gguf.mmproj import open_mmproj
from engine.weights.gguf.writer import Plan, write
from engine.weights.view import check
from tests.engine.vision.pictures import drawn
from tests.seeing_checkpoints import PIXTRAL, PIXTRAL_VISION, pixtral_pixels

IMAGE, ROW_END, END = 7, 8, 9
SIZES = [(48, 32), (64, 64), (33, 51), (1, 1), (301, 17), (65, 64), (7, 100)]


def processor(**more: Any) -> PixtralVisionProcessor:
    config = {"vision_config": PIXTRAL_VISION, "image_token_index": IMAGE, "spatial_merge_size": 2} | more
    ids = {"[IMG_BREAK]": [ROW_END], "[IMG_END]": [END]}
    return PixtralVisionProcessor(Fields(config), Fields(PIXTRAL), lambda text: ids[text])


@pytest.mark.parametrize("size", SIZES)
def test_pixels_are_the_references(size: tuple[int, int]) -> None:
    picture, want = processor().prepare(drawn(*size)), pixtral_pixels([drawn(*size)])
    _, rows, columns = picture.grid
    assert [rows * 4, columns * 4] == want["image_sizes"][0].tolist()
    down, across = block_places(rows, columns, 2)
    tiled = np.empty((rows, columns, 3, 4, 4), np.float32)
    tiled[down, across] = picture.patches.reshape(-1, 3, 4, 4)
    got = tiled.transpose(2, 0, 3, 1, 4).reshape(3, rows * 4, columns * 4)
    assert np.abs(got - want["pixel_values"][0].numpy()).max() <= 1e-6


def test_each_row_has_an_end() -> None:
    """By the rule of the reference's processor, which wants torchvision to be imported."""
    vision = processor()
    for size in SIZES:
        picture = vision.prepare(drawn(*size))
        rows, columns = picture.grid[1] // 2, picture.grid[2] // 2
        ids, positions = vision.expand([3, IMAGE, 4], [picture])
        row = [IMAGE] * columns
        assert ids == [3, *[*row, ROW_END] * (rows - 1), *row, END, 4]
        assert [ids[at] for at in positions] == [IMAGE] * picture.tokens


def test_what_cannot_be_is_refused() -> None:
    vision = processor()
    with pytest.raises(BadRequest, match="not videos"):
        vision.video([drawn(8, 8)])
    with pytest.raises(BadRequest, match="one side is more than"):
        vision.prepare(drawn(201, 1))
    assert vision.note(drawn(64, 64)) is None
    assert "128 x 64 pixels; the model looks at 64 x 32" in str(vision.note(drawn(128, 64)))
    without = PixtralVisionProcessor(Fields({"vision_config": PIXTRAL_VISION}), Fields(PIXTRAL), lambda text: [1, 2])
    with pytest.raises(ConfigError, match=r"no token \[IMG_"):
        without.expand([10], [without.prepare(drawn(8, 8))])


def test_a_projector_that_merges_nothing_is_named(tmp_path: Any) -> None:
    keys = dict.fromkeys(
        (
            "projection_dim",
            "block_count",
            "embedding_length",
            "feed_forward_length",
            "patch_size",
            "image_size",
            "attention.head_count",
        ),
        1,
    )
    values = {"general.architecture": "clip", "clip.projector_type": "pixtral"}
    write(tmp_path / "a.gguf", values | {f"clip.vision.{name}": value for name, value in keys.items()}, list[Plan]())
    with pytest.raises(UnsupportedArchitecture, match="Pixtral 12B"):
        open_mmproj(tmp_path / "a.gguf")


# name -> text config; the encoder is one of two
MINISTRAL = dict(
    model_type="ministral3",
    vocab_size=131072,
    head_dim=128,
    num_key_value_heads=8,
    num_attention_heads=32,
    max_position_embeddings=262144,
)
PUBLISHED: dict[str, dict[str, Any]] = {
    "Mistral-Small-3.2-24B": dict(model_type="mistral", hidden_size=5120, intermediate_size=32768, num_hidden_layers=40, num_attention_heads=32, num_key_value_heads=8, head_dim=128, vocab_size=131072, sliding_window=None),
    "Ministral-3-3B": MINISTRAL | dict(hidden_size=3072, intermediate_size=9216, num_hidden_layers=26, tie_word_embeddings=True),
    "Ministral-3-8B": MINISTRAL | dict(hidden_size=4096, intermediate_size=14336, num_hidden_layers=34),
    "Ministral-3-14B": MINISTRAL | dict(hidden_size=5120, intermediate_size=16384, num_hidden_layers=40),
}  # fmt: skip
ENCODER = dict(
    model_type="pixtral",
    hidden_size=1024,
    image_size=1540,
    intermediate_size=4096,
    num_attention_heads=16,
    num_hidden_layers=24,
    patch_size=14,
    hidden_act="silu",
)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_size_is_accepted_exactly(name: str) -> None:
    import torch
    from transformers import Mistral3Config, Mistral3ForConditionalGeneration

    text = PUBLISHED[name]
    tied = bool(text.get("tie_word_embeddings", False))
    config = Mistral3Config(text_config=text, vision_config=ENCODER, tie_word_embeddings=tied)
    with torch.device("meta"):
        model = Mistral3ForConditionalGeneration(config)
    shapes = {key: tuple(value.shape) for key, value in model.state_dict().items() if not (tied and "lm_head" in key)}
    given = config.to_dict() | {"text_config": {**config.to_dict()["text_config"], "tie_word_embeddings": tied}}
    make = find_architecture(given, name)
    assert check(lambda w: make(w, given), shapes).parameters == sum(int(np.prod(one)) for one in shapes.values())
    as_published = {
        key.replace("model.vision_tower.", "vision_tower.")
        .replace("model.multi_modal_projector.", "multi_modal_projector.")
        .replace("model.language_model.", "language_model.model.")
        .replace("lm_head.", "language_model.lm_head."): shape
        for key, shape in shapes.items()
    }
    check(lambda w: make(w, given), as_published)
