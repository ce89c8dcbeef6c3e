"""Scaling for detectors against torch's, which the reference's preparation stands on."""

from __future__ import annotations

import numpy as np
import pytest

from engine.vision.processor import bicubic
from tests.engine.vision.pictures import drawn
from tests.reading_checkpoints import layout_pixels


@pytest.mark.parametrize("size", [(300, 200), (64, 900), (128, 128), (1, 1), (1700, 2200), (31, 33)])
def test_pixels_are_torchs(size: tuple[int, int]) -> None:
    image = np.asarray(drawn(*size))
    want = layout_pixels(image, 128)[0].permute(1, 2, 0).numpy()
    got = bicubic(image, 128, 128).astype(np.float32) / 255
    apart = np.abs(got - want)
    # where a value lies in the middle of two bytes, the last bit of the sum decides
    assert (apart > 1e-3).mean() <= 1e-4
    assert apart.max() <= 1.01 / 255
