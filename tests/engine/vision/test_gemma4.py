"""Gemma 4's pictures against the reference: sizes, pixels, and published sizes of the whole model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.errors import BadRequest, ConfigError
from engine.models.config import Fields
from engine.models.qwen_vision import block_places
from engine.models.registry import find_architecture
from engine.vision.gemma4 import Gemma4VisionProcessor
from engine.weights.view import check
from tests.engine.vision.pictures import drawn
from tests.seeing_checkpoints import GEMMA4_PICTURES, GEMMA4_VISION, gemma4_pixels

SIZES = [(48, 32), (64, 64), (33, 51), (1, 1), (301, 17), (100, 1), (1, 90), (80, 56)]


def processor(**more: Any) -> Gemma4VisionProcessor:
    config = Fields({"vision_config": GEMMA4_VISION, "image_token_id": 7, "boi_token_id": 8, "eoi_token_id": 9})
    return Gemma4VisionProcessor(config, Fields(GEMMA4_PICTURES | more), lambda text: [])


@pytest.mark.parametrize("size", SIZES)
def test_pixels_are_the_references(size: tuple[int, int]) -> None:
    picture, want = processor().prepare(drawn(*size)), gemma4_pixels([drawn(*size)])
    _, rows, columns = picture.grid
    assert picture.tokens == int(want["num_soft_tokens_per_image"][0])
    down, across = block_places(rows, columns, 2)
    tiled = np.empty((rows, columns, 48), np.float32)
    tiled[down, across] = picture.patches
    given = want["pixel_values"][0].numpy()[: rows * columns]
    assert np.abs(tiled.reshape(-1, 48) - 2 * (given - 0.5)).max() <= 1e-6
    places = want["image_position_ids"][0].numpy()
    assert (places[: rows * columns] == np.stack(np.indices((rows, columns))[::-1], -1).reshape(-1, 2)).all()
    assert (places[rows * columns :] == -1).all()


def test_what_cannot_be_is_refused() -> None:
    vision = processor()
    with pytest.raises(BadRequest, match="no frames"):
        vision.video([])
    with pytest.raises(BadRequest, match="hears no sound"):
        vision.sound(np.zeros(16000, np.float32))
    with pytest.raises(ConfigError, match="max_soft_tokens"):
        processor(max_soft_tokens=71)
    with pytest.raises(ConfigError, match="patches are cut by"):
        processor(patch_size=16)
    picture = vision.prepare(drawn(64, 64))
    assert vision.expand([3, 7, 4], [picture])[0] == [3, 8, *[7] * picture.tokens, 9, 4]
    assert vision.note(drawn(32, 32)) is None
    assert "200 x 100 pixels; the model looks at 88 x 40" in str(vision.note(drawn(200, 100)))


# name -> text config, vision config
SMALL_SIGHT = dict(use_clipped_linears=True)
LARGE_SIGHT = dict(
    hidden_size=1152,
    intermediate_size=4304,
    num_hidden_layers=27,
    num_attention_heads=16,
    num_key_value_heads=16,
    head_dim=72,
    standardize=True,
)
PUBLISHED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "gemma-4-E2B": (
        dict(hidden_size=1536, intermediate_size=6144, num_hidden_layers=35, num_attention_heads=8, num_key_value_heads=1, head_dim=256, global_head_dim=512, num_kv_shared_layers=20, use_double_wide_mlp=True, hidden_size_per_layer_input=256, vocab_size_per_layer_input=262144),
        SMALL_SIGHT,
    ),
    "gemma-4-31B": (
        dict(hidden_size=5376, intermediate_size=21504, num_hidden_layers=60, num_attention_heads=32, num_key_value_heads=16, head_dim=256, global_head_dim=512, num_global_key_value_heads=4, attention_k_eq_v=True, hidden_size_per_layer_input=0, sliding_window=1024, use_bidirectional_attention="vision"),
        LARGE_SIGHT,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_size_is_accepted_exactly(name: str) -> None:
    import torch
    from transformers import Gemma4Config, Gemma4ForConditionalGeneration

    text, vision = PUBLISHED[name]
    config = Gemma4Config(text_config=text, vision_config=vision, audio_config=None)
    with torch.device("meta"):
        model = Gemma4ForConditionalGeneration(config)
    shapes = {key: tuple(value.shape) for key, value in model.state_dict().items() if key != "lm_head.weight"}
    given = config.to_dict()
    make = find_architecture(given, name)
    seen = check(lambda w: make(w, given), shapes)
    assert seen.parameters == sum(int(np.prod(one)) for one in shapes.values())
    as_mlx = {
        key.removeprefix("model.").replace("language_model.", "language_model.model."): shape
        for key, shape in shapes.items()
    }
    check(lambda w: make(w, given), as_mlx)
