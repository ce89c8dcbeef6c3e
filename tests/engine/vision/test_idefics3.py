"""Idefics 3's and SmolVLM's pictures: tiles, their tags, and what is refused, against the reference."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.errors import BadRequest, ConfigError
from engine.models.config import Fields
from engine.models.idefics3 import block_order, idefics3_vision, tile_places
from engine.models.registry import find_architecture
from engine.text.tokenizer import Tokenizer
from engine.vision.idefics3 import Idefics3VisionProcessor
from engine.weights.view import check
from tests.checkpoints import save_tokenizer
from tests.engine.vision.pictures import drawn
from tests.seeing_checkpoints import FAMILIES, SIGLIP, SMOL, id_of, smol_pixels

FAMILY = FAMILIES["smolvlm"]
SIZES = [(96, 96), (48, 32), (32, 32), (31, 200), (300, 64), (1, 1), (97, 33)]


def processor(tmp_path: Path | None = None, **settings: Any) -> tuple[Idefics3VisionProcessor, Tokenizer | None]:
    tokenizer = None
    if tmp_path is not None:
        save_tokenizer(tmp_path, FAMILY.words)
        tokenizer = Tokenizer.from_folder(tmp_path, {}, {})
    config = {
        "model_type": "smolvlm",
        "vision_config": SIGLIP,
        "scale_factor": 2,
        "image_token_id": id_of(FAMILY)("<image>"),
    }
    encode = (lambda text: tokenizer.encode(text, add_special=False)) if tokenizer is not None else (lambda text: [])
    return Idefics3VisionProcessor(Fields(config), Fields(SMOL | settings), encode), tokenizer


@pytest.mark.parametrize("settings", [{}, {"do_image_splitting": False}, {"size": {"longest_edge": 32}}])
@pytest.mark.parametrize("size", SIZES)
def test_pixels_are_the_references(size: tuple[int, int], settings: dict[str, Any]) -> None:
    vision, _ = processor(**settings)
    picture = vision.prepare(drawn(*size))
    want = smol_pixels([drawn(*size)], **settings)
    assert ([picture.rows], [picture.columns]) == (want["rows"][0], want["cols"][0])
    tiles = want["pixel_values"][0].numpy()
    assert picture.grid == (len(tiles), 8, 8)
    patches = np.empty((len(tiles), 64, 3, 4, 4), np.float32)
    patches[:, block_order(8, 2)] = picture.patches.reshape(patches.shape)
    got = patches.reshape(-1, 8, 8, 3, 4, 4).transpose(0, 3, 1, 4, 2, 5).reshape(tiles.shape)
    assert np.abs(got - tiles).max() <= 1e-6


def test_tags_are_spelled_as_the_references(tmp_path: Path) -> None:
    from transformers.models.idefics3.processing_idefics3 import Idefics3Processor

    names = dict(fake_image_token="<fake_token_around_image>", global_image_tag="<global-img>", image_token="<image>")
    reference: Any = SimpleNamespace(**names, image_seq_len=16)
    vision, tokenizer = processor(tmp_path)
    assert tokenizer is not None
    pictures = [vision.prepare(drawn(*size)) for size in ((90, 60), (16, 90))]
    ids, positions = vision.expand(tokenizer.encode("a <image>b<image>", add_special=False), pictures)
    seen = {"rows": [[one.rows for one in pictures]], "cols": [[one.columns for one in pictures]]}
    first, second = (Idefics3Processor.replace_image_token(reference, seen, at) for at in range(2))
    assert ids == tokenizer.encode(f"a {first}b{second}", add_special=False)
    assert len(positions) == sum(one.tokens for one in pictures)
    single, _ = processor(tmp_path, do_image_splitting=False)
    alone = single.prepare(drawn(90, 60))
    seen = {"rows": [[0]], "cols": [[0]]}
    ids, _ = Idefics3VisionProcessor.expand(single, [vision.image_id], [alone])
    spelled = Idefics3Processor.replace_image_token(reference, seen, 0)
    assert tokenizer.encode(spelled, add_special=False)[2:-1] == ids[-17:-1]


@pytest.mark.parametrize(("side", "table"), [(8, 8), (26, 26), (27, 27), (32, 32), (16, 27)])
def test_places_are_the_references(side: int, table: int) -> None:
    """In f32 a boundary may fall on either side of a patch."""
    import torch

    bounds = torch.arange(1 / table, 1.0, 1 / table)
    shares = torch.arange(side, dtype=torch.float32) * (1.0 / torch.tensor([side]))
    found = torch.bucketize(torch.clamp(shares, max=1.0 - 1e-6), bounds, right=True).numpy()
    want = (found[:, None] * table + found).reshape(-1)
    scale = next(n for n in (2, 3) if side % n == 0)
    assert (tile_places(side, table, scale) == want[block_order(side, scale)]).all()


@pytest.mark.parametrize("edge", [32, 48, 96])
def test_a_frame_of_a_video_is_one_tile(edge: int) -> None:
    """As the reference's processor of pictures makes it, without tiles: that of videos wants torchvision."""
    frames = [drawn(100, 50, i) for i in range(2)]
    clip = processor(video_sampling={"fps": 1, "max_frames": 64, "video_size": {"longest_edge": edge}})[0].video(frames)
    want = smol_pixels(frames, do_image_splitting=False, size={"longest_edge": edge})["pixel_values"][0].numpy()
    assert clip.grid == (2, 8, 8)
    patches = np.empty((2, 64, 3, 4, 4), np.float32)
    patches[:, block_order(8, 2)] = clip.patches.reshape(patches.shape)
    got = patches.reshape(-1, 8, 8, 3, 4, 4).transpose(0, 3, 1, 4, 2, 5).reshape(want.shape)
    assert np.abs(got - want).max() <= 1e-6


def test_videos_are_spelled_as_the_references(tmp_path: Path) -> None:
    from transformers.models.smolvlm.processing_smolvlm import SmolVLMProcessor

    names = dict(fake_image_token="<fake_token_around_image>", global_image_token="<global-img>", image_token="<image>")
    reference: Any = SimpleNamespace(**names, image_seq_len=16)
    vision, tokenizer = processor(tmp_path)
    assert tokenizer is not None
    times = [0.0, 1.5, 21.0, 3671.9]
    clip = vision.video([drawn(40, 30, i) for i in range(4)], seconds=times)
    picture = vision.prepare(drawn(90, 60))
    seen = {"rows": [[picture.rows]], "cols": [[picture.columns]]}
    first = SmolVLMProcessor.replace_image_token(reference, seen, 0)
    metadata = SimpleNamespace(fps=1.0, timestamps=times, duration=None)
    inputs = {"pixel_values": np.empty((1, 4)), "video_metadata": [metadata]}
    second = SmolVLMProcessor.replace_video_token(reference, inputs, 0)
    assert "four frames from a 1:01:11 " in second
    text = vision.written("User:<image>b <video>What?", [picture, clip])
    ids, positions = vision.expand(tokenizer.encode(text, add_special=False), [picture, clip])
    assert ids == tokenizer.encode(f"User:{first}b {second}What?", add_special=False)
    assert len(positions) == picture.tokens + clip.tokens


def test_what_cannot_be_is_refused() -> None:
    vision, _ = processor()
    with pytest.raises(BadRequest, match="no frames"):
        vision.video([])
    with pytest.raises(BadRequest, match="must all have one size"):
        vision.video([drawn(8, 8), drawn(8, 9)])
    with pytest.raises(BadRequest, match="0 places for videos, but there are 1"):
        vision.written("no place", [vision.video([drawn(8, 8)])])
    stills = Idefics3VisionProcessor(
        Fields({"model_type": "idefics3", "vision_config": SIGLIP, "scale_factor": 2}), Fields(SMOL), lambda text: []
    )
    with pytest.raises(BadRequest, match="not videos"):
        stills.video([drawn(8, 8)])
    with pytest.raises(BadRequest, match="1 places for images, but there are 0"):
        vision.expand([vision.image_id], [])
    with pytest.raises(ConfigError, match="scale_factor"):
        processor(max_image_size={"longest_edge": 36})
    assert vision.note(drawn(96, 96)) is None
    assert "200 x 100 pixels; the model looks at 96 x 48" in str(vision.note(drawn(200, 100)))


# name -> text config, encoder, scale
LLAMA = dict(model_type="llama", hidden_act="silu", rms_norm_eps=1e-5, vocab_size=49280)
PUBLISHED: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
    "SmolVLM-256M-Instruct": (
        dict(hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3, head_dim=64),
        dict(hidden_size=768, intermediate_size=3072, num_attention_heads=12, image_size=512, patch_size=16, model_type="idefics3"),
        4,
    ),
    "SmolVLM-500M-Instruct": (
        dict(hidden_size=960, intermediate_size=2560, num_hidden_layers=32, num_attention_heads=15, num_key_value_heads=5, head_dim=64),
        dict(hidden_size=768, intermediate_size=3072, num_attention_heads=12, image_size=512, patch_size=16, model_type="smolvlm_vision"),
        4,
    ),
    "SmolVLM2-2.2B-Instruct": (
        dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=24, num_attention_heads=32, num_key_value_heads=32, head_dim=64),
        dict(hidden_size=1152, intermediate_size=4304, num_hidden_layers=27, image_size=384, patch_size=14, model_type="smolvlm_vision"),
        3,
    ),
    "Idefics3-8B-Llama3": (
        dict(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32, num_key_value_heads=8, vocab_size=128259),
        dict(hidden_size=1152, intermediate_size=4304, num_hidden_layers=27, image_size=364, patch_size=14, model_type="idefics3"),
        2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_size_is_accepted_exactly(name: str) -> None:
    import torch
    from transformers import (
        Idefics3Config,
        Idefics3ForConditionalGeneration,
        SmolVLMConfig,
        SmolVLMForConditionalGeneration,
    )

    text, vision, scale = PUBLISHED[name]
    smol = name.startswith("SmolVLM2")
    kind, make_config = (
        (SmolVLMForConditionalGeneration, SmolVLMConfig) if smol else (Idefics3ForConditionalGeneration, Idefics3Config)
    )
    plain = {key: value for key, value in vision.items() if key != "model_type"}
    config = make_config(text_config=LLAMA | text, vision_config=plain, scale_factor=scale, tie_word_embeddings=False)
    with torch.device("meta"):
        model: Any = kind(config)  # type: ignore[operator]
    shapes = {key: tuple(value.shape) for key, value in model.state_dict().items()}
    given = {
        "model_type": "smolvlm" if smol else "idefics3",
        "scale_factor": scale,
        "text_config": LLAMA | text,
        "vision_config": vision,
        "tie_word_embeddings": False,
    }
    make = find_architecture(given, name)
    assert check(lambda w: make(w, given), shapes).parameters == sum(int(np.prod(one)) for one in shapes.values())
    assert idefics3_vision(Fields(given)).side % scale == 0
