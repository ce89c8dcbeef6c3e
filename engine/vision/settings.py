"""A checkpoint's own words on how its images are prepared: preprocessor_config.json and its two younger forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.errors import ConfigError
from engine.models.config import Fields

MOST_PIXELS = 1 << 26  # of one picture, as a model sees it: a file may ask for no more than a machine can hold


def image_settings(folder: Path) -> Fields:
    return _settings(folder, "preprocessor_config.json", "image_processor")


def video_settings(folder: Path) -> Fields:
    return _settings(folder, "video_preprocessor_config.json", "video_processor")


def pixel_limits(settings: Fields, least: int, most: int) -> tuple[int, int]:
    """Fewest and most pixels: by the older names, by the newer ones, else as given."""
    size = settings.sub("size") if settings.find("size", default=None) is not None else Fields({}, settings.where)
    low = settings.int("min_pixels", default=size.int("shortest_edge", "min_pixels", default=least), most=MOST_PIXELS)
    high = settings.int("max_pixels", default=size.int("longest_edge", "max_pixels", default=most), most=MOST_PIXELS)
    if low > high:
        raise ConfigError(f"{settings.where}: the fewest pixels ({low}) are more than the most ({high}).")
    return low, high


def channel_values(settings: Fields, name: str, default: float = 0.5) -> tuple[float, float, float]:
    """One number for each of red, green and blue."""
    values = settings.find(name, default=[default] * 3)
    if not (isinstance(values, list) and len(values) == 3 and all(isinstance(v, int | float) for v in values)):
        raise ConfigError(f"{settings.where}: `{name}` must be three numbers, not {values!r}.")
    red, green, blue = map(float, values)
    return red, green, blue


def _settings(folder: Path, file: str, part: str) -> Fields:
    """Its own file, or a part of processor_config.json, where newer checkpoints keep all of them."""
    own, shared = _object(folder / file), _object(folder / "processor_config.json").get(part)
    if own or not isinstance(shared, dict):
        return Fields(own, file)
    return Fields(shared, f"processor_config.json ({part})")


def _object(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise ConfigError(f"{path} is not valid JSON ({error}). Download it again.") from error
    return value if isinstance(value, dict) else {}
