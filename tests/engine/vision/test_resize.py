"""Sizes that models look at images in, against the reference's rules."""

from __future__ import annotations

import importlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import BadRequest
from engine.vision.processor import fitting_size
from tests.asserting import every

SIDES = st.integers(1, 5000)


def shaped_alike(height: int, width: int) -> bool:
    return max(height, width) <= 200 * min(height, width)


@given(height=SIDES, width=SIDES, factor=st.sampled_from([8, 28, 32]))
@settings(max_examples=200, deadline=None)
def test_sizes_are_the_references(height: int, width: int, factor: int) -> None:
    reference = importlib.import_module("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl").smart_resize
    if not shaped_alike(height, width):
        with pytest.raises(BadRequest, match="200 times"):
            fitting_size(height, width, factor, 65536, 16777216)
        return
    least, most = 64 * factor**2, 4096 * factor**2
    size = fitting_size(height, width, factor, least, most)
    assert size == reference(height, width, factor, least, most)
    assert every(side % factor == 0 and side > 0 for side in size)


@given(frames=st.integers(2, 33), height=st.integers(32, 1200), width=st.integers(32, 1200))
@settings(max_examples=100, deadline=None)
def test_sizes_of_frames_are_the_references(frames: int, height: int, width: int) -> None:
    reference = importlib.import_module("transformers.models.qwen3_vl.video_processing_qwen3_vl").smart_resize
    got = fitting_size(height, width, 32, 131072, 786432, frames=frames, step=2)
    assert got == reference(frames, height, width, 2, 32, 131072, 786432)
