"""Which sight belongs to which `model_type`. To add one: write its file, add a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from engine.models.config import Fields
from engine.vision.paddle import PaddleSight
from engine.vision.qwen import QwenSight
from engine.vision.settings import image_settings, video_settings
from engine.vision.sight import Sight

Encode: TypeAlias = Callable[[str], Sequence[int]]
Maker: TypeAlias = Callable[[Fields, Path, Encode], Sight]


def _qwen(config: Fields, folder: Path, encode: Encode) -> Sight:
    return QwenSight(config, image_settings(folder), video_settings(folder), encode)


def _paddle(config: Fields, folder: Path, encode: Encode) -> Sight:
    return PaddleSight(config, image_settings(folder))


SIGHTS: dict[str, Maker] = {
    "paddleocr_vl": _paddle,
    "qwen3_5": _qwen,
    "qwen3_vl": _qwen,
}


def make_sight(config: Mapping[str, Any], folder: Path, encode: Encode) -> Sight | None:
    """None for a model that reads text only. `encode` turns text into the model's ids, adding none."""
    maker = SIGHTS.get(str(config.get("model_type")))
    if maker is None or not isinstance(config.get("vision_config"), Mapping):
        return None
    return maker(Fields(config), folder, encode)
