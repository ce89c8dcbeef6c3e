"""Qwen's vision against the reference's processor and its positions: images, several of them, videos."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import BadRequest, ConfigError
from engine.vision.qwen import Qwen25VisionProcessor, QwenVisionProcessor
from engine.vision.registry import make_vision_processor
from tests.engine.vision.pictures import drawn

IMAGE, VIDEO, START, END = 150, 151, 152, 153
CONFIG: dict[str, Any] = {
    "model_type": "qwen3_vl",
    "image_token_id": IMAGE,
    "video_token_id": VIDEO,
    "vision_start_token_id": START,
    "vision_end_token_id": END,
    "vision_config": {"patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2},
}
PUBLISHED: dict[str, Any] = {
    "size": {"longest_edge": 16777216, "shortest_edge": 65536},
    "patch_size": 16,
    "temporal_patch_size": 2,
    "merge_size": 2,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
    "image_processor_type": "Qwen2VLImageProcessorFast",
}


def vision_processor_of(
    folder: Path, settings: dict[str, Any], file: str = "preprocessor_config.json"
) -> QwenVisionProcessor:
    (folder / file).write_text(json.dumps(settings))
    vision = make_vision_processor(CONFIG, folder, lambda text: list(text.encode()))
    assert isinstance(vision, QwenVisionProcessor)
    return vision


@cache
def rope_reference() -> Any:
    """The reference model's own method, on an object that holds nothing but its config."""
    import transformers

    config = transformers.Qwen3VLConfig(image_token_id=IMAGE, video_token_id=VIDEO)
    model = transformers.Qwen3VLModel.__new__(transformers.Qwen3VLModel)
    object.__setattr__(model, "__dict__", {"config": config})
    return model


def reference_rope(ids: list[int], images: list[Any], videos: list[Any]) -> np.ndarray:
    import torch

    kinds = torch.tensor([[(id == IMAGE) + 2 * (id == VIDEO) for id in ids]])
    grids = [torch.tensor(grid) if grid else None for grid in (images, videos)]
    pos, _ = rope_reference().get_rope_index(torch.tensor([ids]), kinds, *grids)
    return pos[:, 0].numpy()


@pytest.mark.parametrize("size", [(300, 200), (1001, 333), (64, 900), (1, 1), (640, 480)])
def test_pixels_are_the_references(tmp_path: Path, size: tuple[int, int]) -> None:
    import transformers

    image = drawn(*size)
    picture = vision_processor_of(tmp_path, PUBLISHED).prepare(image)
    kept = {k: v for k, v in PUBLISHED.items() if k != "image_processor_type"}
    want = transformers.Qwen2VLImageProcessorPil(**kept)(images=[image], return_tensors="np")
    assert [list(picture.grid)] == want["image_grid_thw"].tolist()
    assert picture.tokens == want["image_grid_thw"].prod() // 4
    assert np.abs(picture.patches - want["pixel_values"]).max() <= 1e-6


@pytest.mark.parametrize("size", [(300, 200), (1001, 333), (1, 1)])
def test_pixels_of_qwen2_5_vl_are_the_references(tmp_path: Path, size: tuple[int, int]) -> None:
    """Patches of 14 pixels, and colours as CLIP has them."""
    import transformers

    published = {
        "min_pixels": 3136,
        "max_pixels": 12845056,
        "patch_size": 14,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711],
    }
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(published))
    tower = {"patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2, "tokens_per_second": 2}
    config = CONFIG | {"model_type": "qwen2_5_vl", "vision_config": tower}
    vision = make_vision_processor(config, tmp_path, list)
    assert isinstance(vision, Qwen25VisionProcessor)
    picture = vision.prepare(drawn(*size))
    want = transformers.Qwen2VLImageProcessorPil(**published)(images=[drawn(*size)], return_tensors="np")
    assert [list(picture.grid)] == want["image_grid_thw"].tolist()
    assert np.abs(picture.patches - want["pixel_values"]).max() <= 1e-6


@pytest.mark.parametrize("frames", [1, 2, 3, 8])
def test_positions_of_a_video_of_qwen2_5_vl_tell_its_speed(tmp_path: Path, frames: int) -> None:
    import torch
    import transformers

    tower = {"patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2, "tokens_per_second": 2}
    config = CONFIG | {"model_type": "qwen2_5_vl", "vision_config": tower}
    vision = make_vision_processor(config, tmp_path, list)
    assert vision is not None
    clip = vision.video([drawn(64, 96, i) for i in range(frames)], seconds=[1.5 * i for i in range(frames)])
    picture = vision.prepare(drawn(128, 64))
    ids, _ = vision.expand([5, START, VIDEO, END, 7, START, IMAGE, END, 8], [clip, picture])
    assert ids.count(VIDEO) == clip.tokens
    reference = transformers.Qwen2_5_VLModel.__new__(transformers.Qwen2_5_VLModel)
    given = transformers.Qwen2_5_VLConfig(image_token_id=IMAGE, video_token_id=VIDEO, vision_config=tower)
    object.__setattr__(reference, "__dict__", {"config": given})
    kinds = torch.tensor([[(id == IMAGE) + 2 * (id == VIDEO) for id in ids]])
    grids = [torch.tensor([one.grid]) for one in (picture, clip)]
    want, _ = reference.get_rope_index(torch.tensor([ids]), kinds, *grids, second_per_grid_ts=torch.tensor([3.0]))
    assert np.array_equal(vision.rope(ids, [clip, picture]), want[:, 0].numpy())


def test_the_cap_is_the_checkpoints_and_what_is_lost_is_said(tmp_path: Path) -> None:
    vision = vision_processor_of(tmp_path, PUBLISHED | {"size": {"shortest_edge": 4096, "longest_edge": 65536}})
    assert vision.max_pixels == 65536
    assert vision.note(drawn(250, 250)) is None
    note = vision.note(drawn(600, 400))
    assert note is not None
    assert "600 x 400" in note
    grid = vision.prepare(drawn(600, 400)).grid
    assert f"{grid[2] * 16} x {grid[1] * 16}" in note


@pytest.mark.parametrize(
    ("settings", "file"),
    [
        ({"min_pixels": 4096, "max_pixels": 65536}, "preprocessor_config.json"),
        ({"image_processor": {"size": {"shortest_edge": 4096, "longest_edge": 65536}}}, "processor_config.json"),
    ],
)
def test_older_and_newer_spellings_of_the_limits(tmp_path: Path, settings: dict[str, Any], file: str) -> None:
    vision = vision_processor_of(tmp_path, settings, file)
    assert (vision.min_pixels, vision.max_pixels) == (4096, 65536)


def test_settings_that_do_not_fit_the_tower_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="vision tower"):
        vision_processor_of(tmp_path, PUBLISHED | {"patch_size": 14})
    with pytest.raises(ConfigError, match="fewest pixels"):
        vision_processor_of(tmp_path, {"min_pixels": 9, "max_pixels": 8})
    with pytest.raises(ConfigError, match="image_mean"):
        vision_processor_of(tmp_path, {"image_mean": 0.5})


def test_a_text_model_has_no_sight(tmp_path: Path) -> None:
    assert make_vision_processor({"model_type": "qwen3"}, tmp_path, list) is None
    assert make_vision_processor({"model_type": "qwen3_5"}, tmp_path, list) is None


def test_several_images_take_their_places(tmp_path: Path) -> None:
    vision = vision_processor_of(tmp_path, PUBLISHED | {"size": {"shortest_edge": 4096, "longest_edge": 16384}})
    pictures = [vision.prepare(drawn(*size)) for size in ((64, 64), (120, 70), (40, 160))]
    ids, positions = vision.expand([5, START, IMAGE, END, 6, IMAGE, IMAGE, 9], pictures)
    assert len(positions) == sum(p.tokens for p in pictures)
    assert {ids[at] for at in positions} == {IMAGE}
    assert [id for id in ids if id != IMAGE] == [5, START, END, 6, 9]
    apart, _ = vision.expand([5, IMAGE, 8, IMAGE, 7, IMAGE, 9, 9], pictures)
    want = reference_rope(apart, [p.grid for p in pictures], [])
    assert np.array_equal(vision.rope(apart, pictures), want)


def test_images_that_touch_keep_their_own_grids(tmp_path: Path) -> None:
    """The reference takes two that touch for one; ours count each on its own."""
    vision = vision_processor_of(tmp_path, PUBLISHED)
    pictures = [vision.prepare(drawn(256, 256)), vision.prepare(drawn(256, 256, seed=1))]
    ids, _ = vision.expand([IMAGE, IMAGE], pictures)
    rope = vision.rope(ids, pictures)
    half = len(ids) // 2
    assert np.array_equal(rope[:, half:], rope[:, :half] + 8)


def test_frames_of_a_video_have_their_times_and_positions(tmp_path: Path) -> None:
    vision = vision_processor_of(tmp_path, PUBLISHED)
    frames = [drawn(64, 96, seed) for seed in range(5)]
    clip = vision.video(frames, seconds=[0.0, 0.5, 1.0, 1.5, 2.0])
    picture = vision.prepare(drawn(256, 256))
    ids, positions = vision.expand([5, START, VIDEO, END, 7, START, IMAGE, END], [clip, picture])
    text = [id for id in ids if id != VIDEO and id != IMAGE]
    times = [[*f"<{t} seconds>".encode(), START, END] for t in ("0.2", "1.2", "2.0")]
    assert text == [5, *times[0], *times[1], *times[2], 7, START, END]
    assert clip.grid[0] == 3
    assert len(positions) == clip.tokens + picture.tokens
    want = reference_rope(ids, [picture.grid], [clip.grid])
    assert np.array_equal(vision.rope(ids, [clip, picture]), want)


def test_the_times_are_the_references() -> None:
    import transformers

    calculate = transformers.Qwen3VLProcessor._calculate_timestamps
    sight_times = [0.5, 2.5, 4.0]
    assert calculate(None, [0, 1, 2, 3, 4], 1.0, 2) == sight_times


def test_a_video_of_one_frame(tmp_path: Path) -> None:
    clip = vision_processor_of(tmp_path, PUBLISHED).video([drawn(64, 64)])
    assert clip.grid[0] == 1
    assert clip.seconds == (0.0,)


def test_what_cannot_be_a_video_is_refused(tmp_path: Path) -> None:
    vision = vision_processor_of(tmp_path, PUBLISHED)
    with pytest.raises(BadRequest, match="no frames"):
        vision.video([])
    with pytest.raises(BadRequest, match="one size"):
        vision.video([drawn(64, 64), drawn(64, 65)])
    with pytest.raises(BadRequest, match="2 frames, but 1 times"):
        vision.video([drawn(64, 64)] * 2, seconds=[0.0])


def test_places_and_pictures_must_match(tmp_path: Path) -> None:
    vision = vision_processor_of(tmp_path, PUBLISHED)
    picture = vision.prepare(drawn(64, 64))
    with pytest.raises(BadRequest, match="2 places for images, but there are 1"):
        vision.expand([IMAGE, 5, IMAGE], [picture])
    with pytest.raises(BadRequest, match="where a video"):
        vision.expand([VIDEO], [picture])


def test_the_same_pixels_have_the_same_key(tmp_path: Path) -> None:
    vision = vision_processor_of(tmp_path, PUBLISHED)
    assert vision.prepare(drawn(64, 64)).key == vision.prepare(np.asarray(drawn(64, 64))).key
    assert vision.prepare(drawn(64, 64)).key != vision.prepare(drawn(64, 64, seed=1)).key
