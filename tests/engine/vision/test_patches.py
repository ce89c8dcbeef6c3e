"""Pixel values and the orders of patches, against the reference's processors that stand on Pillow."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from engine.errors import BadRequest
from engine.vision.processor import block_patches, content_key, fitting_size, normalized, raster_patches, resized, rgb
from tests.engine.vision.pictures import drawn

HALF = [0.5] * 3
CLIP = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]
SIZES = [(300, 200), (1001, 333), (64, 900), (1, 1), (31, 33)]


def test_pixels_and_block_order_are_the_references() -> None:
    import transformers

    mean, std = CLIP
    processor: Any = transformers.Qwen2VLImageProcessorPil(
        size={"shortest_edge": 4096, "longest_edge": 65536}, patch_size=8, image_mean=mean, image_std=std
    )
    for width, height in SIZES:
        image = drawn(width, height)
        want = processor(images=[image], return_tensors="np")
        size = fitting_size(height, width, 16, 4096, 65536)
        pixels = np.asarray(resized(image, *size))
        got = block_patches(normalized(pixels, mean, std)[None], 8, 2, 2)
        assert want["image_grid_thw"].tolist() == [[1, size[0] // 8, size[1] // 8]]
        assert np.abs(got - want["pixel_values"]).max() <= 1e-6


def test_pixels_and_reading_order_are_the_references() -> None:
    import transformers

    processor: Any = transformers.PaddleOCRVLImageProcessorPil(
        min_pixels=3136, max_pixels=50176, image_mean=HALF, image_std=HALF
    )
    for width, height in SIZES[:3]:
        image = drawn(width, height)
        want = processor(images=[image], return_tensors="np")
        size = fitting_size(height, width, 28, 3136, 50176)
        got = raster_patches(normalized(np.asarray(resized(image, *size)), HALF, HALF), 14)
        assert np.abs(got - want["pixel_values"]).max() <= 1e-6


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_frames_are_ordered_as_the_references(count: int) -> None:
    import torch

    module = importlib.import_module("transformers.models.qwen3_vl.video_processing_qwen3_vl")
    frames = np.random.default_rng(count).normal(size=(count, 16, 24, 3)).astype(np.float32)
    as_torch = torch.from_numpy(frames.transpose(0, 3, 1, 2))[None]
    want, *grid = module.Qwen3VLVideoProcessor.patchify(None, as_torch, 4, 2, 2)
    assert grid == [(count + 1) // 2, 4, 6]
    assert np.array_equal(block_patches(frames, 4, 2, 2), want[0].numpy())


def test_arrays_are_images_too() -> None:
    image = drawn(20, 10)
    assert np.array_equal(np.asarray(rgb(np.asarray(image))), np.asarray(image))
    assert np.asarray(rgb(np.zeros((4, 5), np.uint8))).shape == (4, 5, 3)
    clear = np.zeros((4, 5, 4), np.uint8)
    assert (np.asarray(rgb(clear)) == 255).all(), "what is transparent lies on white"


@pytest.mark.parametrize(
    "array", [np.zeros((4, 5, 3), np.float32), np.zeros((4,), np.uint8), np.zeros((4, 5, 2), np.uint8)]
)
def test_an_array_of_another_kind_is_refused(array: np.ndarray) -> None:
    with pytest.raises(BadRequest, match="uint8"):
        rgb(array)


def test_an_empty_array_is_refused() -> None:
    with pytest.raises(BadRequest, match="no pixels"):
        rgb(np.zeros((0, 5, 3), np.uint8))


def test_a_key_tells_content_and_size_apart() -> None:
    a = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    assert content_key(a) == content_key(a.copy())
    assert content_key(a) != content_key(a.reshape(1, 4, 3))
    assert content_key(a) != content_key(a + 1)
    assert content_key(a) != content_key(a, "seal")
