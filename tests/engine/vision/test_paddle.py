"""PaddleOCR-VL's sight against the reference's processor and its positions, and what each task changes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.errors import BadRequest, ConfigError
from engine.vision.paddle import TASKS, PaddleVisionProcessor, task_prompt, without_margins
from engine.vision.registry import make_vision_processor
from tests.engine.vision.pictures import drawn

IMAGE, START, END = 100295, 101305, 101306
CONFIG: dict[str, Any] = {
    "model_type": "paddleocr_vl",
    "image_token_id": IMAGE,
    "vision_config": {"patch_size": 14, "spatial_merge_size": 2},
}
PUBLISHED: dict[str, Any] = {
    "min_pixels": 147384,
    "max_pixels": 2822400,
    "patch_size": 14,
    "temporal_patch_size": 1,
    "merge_size": 2,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
    "image_processor_type": "PaddleOCRVLImageProcessor",
}


def sight_of(folder: Path, **changes: Any) -> PaddleVisionProcessor:
    (folder / "preprocessor_config.json").write_text(json.dumps(PUBLISHED | changes))
    sight = make_vision_processor(CONFIG, folder, lambda text: [])
    assert isinstance(sight, PaddleVisionProcessor)
    return sight


@cache
def processor(**changes: Any) -> Any:
    import transformers

    return transformers.PaddleOCRVLImageProcessorPil(**{"min_pixels": 147384, "max_pixels": 2822400, **changes})


@pytest.mark.parametrize("size", [(300, 200), (1001, 333), (64, 900), (2200, 1700), (1, 1), (9, 40), (1000, 20)])
def test_pixels_are_the_references(tmp_path: Path, size: tuple[int, int]) -> None:
    image = drawn(*size)
    picture = sight_of(tmp_path).prepare(image)
    want = processor()(images=[image], image_mean=[0.5] * 3, image_std=[0.5] * 3, return_tensors="np")
    assert [list(picture.grid)] == want["image_grid_thw"].tolist()
    assert picture.tokens == want["image_grid_thw"].prod() // 4
    assert np.abs(picture.patches - want["pixel_values"]).max() <= 1e-6


def test_positions_are_the_references(tmp_path: Path) -> None:
    import torch
    import transformers

    config = transformers.PaddleOCRVLConfig(image_token_id=IMAGE)
    model: Any = transformers.PaddleOCRVLModel.__new__(transformers.PaddleOCRVLModel)
    object.__setattr__(model, "__dict__", {"config": config})
    sight = sight_of(tmp_path, min_pixels=784, max_pixels=50176)
    pictures = [sight.prepare(drawn(*size)) for size in ((60, 90), (200, 30), (28, 28))]
    ids, places = sight.expand([1, 5, START, IMAGE, END, START, IMAGE, END, 7, START, IMAGE, END, 9], pictures)
    assert [ids[i] for i in places] == [IMAGE] * sum(p.tokens for p in pictures)
    assert [id for id in ids if id != IMAGE] == [1, 5, START, END, START, END, 7, START, END, 9]
    kinds = torch.tensor([[int(id == IMAGE) for id in ids]])
    grids = torch.tensor([p.grid for p in pictures])
    want = model.get_rope_index(torch.tensor([ids]), kinds, grids)[0][:, 0].numpy()
    assert np.array_equal(sight.rope(ids, pictures), want)


def test_the_cap_is_the_checkpoints_and_what_is_lost_is_said(tmp_path: Path) -> None:
    sight = sight_of(tmp_path)
    assert sight.cap == 2822400
    assert sight.note(drawn(1600, 1600)) is None
    assert sight.note(drawn(20, 20)) is None
    assert "2000 x 2000" in (sight.note(np.zeros((2000, 2000), np.uint8)) or "")


def test_a_formula_loses_its_margins(tmp_path: Path) -> None:
    page = np.full((400, 600, 3), 250, np.uint8)
    page[180:230, 100:450] = drawn(350, 50, 3)
    page[180, 100:450] = page[229, 100:450] = page[180:230, 100] = page[180:230, 449] = 0
    cut = without_margins(Image.fromarray(page))
    assert np.array_equal(np.asarray(cut), page[180:230, 100:450])
    sight = sight_of(tmp_path)
    whole, formula = sight.prepare(page), sight.prepare(page, task="formula")
    assert formula.key == sight.prepare(page[180:230, 100:450]).key != whole.key
    assert sight.prepare(page, task="table").key == whole.key


def test_an_empty_formula_stays(tmp_path: Path) -> None:
    blank = np.full((40, 60, 3), 255, np.uint8)
    assert sight_of(tmp_path).prepare(blank, task="formula").tokens > 0


def test_small_images_are_doubled_for_spotting(tmp_path: Path) -> None:
    sight, image = sight_of(tmp_path), drawn(400, 500)
    doubled = image.resize((800, 1000), Image.Resampling.LANCZOS)
    assert sight.prepare(image, task="spotting").key == sight.prepare(doubled).key
    large = drawn(1500, 100)
    assert sight.prepare(large, task="spotting").key == sight.prepare(large).key


def test_spotting_looks_closer_than_a_low_cap(tmp_path: Path) -> None:
    sight = sight_of(tmp_path, min_pixels=112896, max_pixels=1003520)
    image = drawn(1600, 1600)
    text, spotting = sight.prepare(image), sight.prepare(image, task="spotting")
    assert text.tokens * 28 * 28 <= 1003520 < spotting.tokens * 28 * 28 <= 1605632


def test_tasks_are_asked_as_the_model_was_trained() -> None:
    assert task_prompt("text") == (
        "<|begin_of_sentence|>User: <|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>OCR:\nAssistant: "
    )
    assert task_prompt("spotting", newline=True).endswith("<|IMAGE_END|>Spotting:\nAssistant:\n")
    assert list(TASKS) == ["text", "table", "formula", "chart", "seal", "spotting"]
    with pytest.raises(BadRequest, match="poem"):
        task_prompt("poem")


def test_what_it_cannot_do_is_refused(tmp_path: Path) -> None:
    sight = sight_of(tmp_path)
    with pytest.raises(BadRequest, match="poem"):
        sight.prepare(drawn(30, 30), task="poem")
    with pytest.raises(BadRequest, match="videos"):
        sight.video([drawn(30, 30)])
    with pytest.raises(BadRequest, match="200 times"):
        sight.prepare(drawn(30, 7000))


def test_patches_of_another_size_than_the_towers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="vision tower"):
        sight_of(tmp_path, patch_size=16)
