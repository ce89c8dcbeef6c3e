"""Vision processors by `model_type`. To add one: write its file, add a line here.

A file is imported when a model of its kind is loaded: an idle window holds none of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from engine.models.config import Fields
from engine.vision.processor import VisionProcessor, image_settings, processor_settings, video_settings

_Encode: TypeAlias = Callable[[str], Sequence[int]]
_Factory: TypeAlias = Callable[[Fields, Path, _Encode], VisionProcessor]


def _qwen(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.qwen import QwenVisionProcessor

    return QwenVisionProcessor(config, image_settings(config, folder), video_settings(folder), encode)


def _paddle(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.paddle import PaddleVisionProcessor

    return PaddleVisionProcessor(config, image_settings(config, folder))


def _deepseek_ocr2(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.page_views import DeepseekOcr2VisionProcessor

    return DeepseekOcr2VisionProcessor(config, image_settings(config, folder), encode)


def _gemma3(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.gemma3 import Gemma3VisionProcessor

    return Gemma3VisionProcessor(config, image_settings(config, folder))


def _gemma4(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.gemma4 import Gemma4VisionProcessor

    return Gemma4VisionProcessor(config, image_settings(config, folder), encode, video_settings(folder))


def _glm(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.glm import GlmVisionProcessor

    return GlmVisionProcessor(config, image_settings(config, folder), encode)


def _glm4v(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.glm import Glm4vVisionProcessor

    return Glm4vVisionProcessor(config, image_settings(config, folder), encode, video_settings(folder))


def _glm46v(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.glm import Glm46VisionProcessor

    return Glm46VisionProcessor(config, image_settings(config, folder), encode, video_settings(folder))


def _idefics3(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.idefics3 import Idefics3VisionProcessor

    return Idefics3VisionProcessor(config, image_settings(config, folder), encode, video_settings(folder))


def _internvl(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.internvl import InternVlVisionProcessor

    return InternVlVisionProcessor(config, image_settings(config, folder), encode)


def _lfm2_vl(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.lfm2_vl import Lfm2VlVisionProcessor

    return Lfm2VlVisionProcessor(config, all_image_settings(config, folder), encode)


def _lighton(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.pixtral import LightOnVisionProcessor

    return LightOnVisionProcessor(config, image_settings(config, folder), encode)


def _pixtral(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.pixtral import PixtralVisionProcessor

    return PixtralVisionProcessor(config, image_settings(config, folder), encode)


def _qwen2_5(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.qwen import Qwen25VisionProcessor

    return Qwen25VisionProcessor(config, image_settings(config, folder), video_settings(folder), encode)


def _unlimited_ocr(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.page_views import UnlimitedOcrVisionProcessor

    return UnlimitedOcrVisionProcessor(config, image_settings(config, folder), encode)


def _voxtral(config: Fields, folder: Path, encode: _Encode) -> VisionProcessor:
    from engine.vision.voxtral import VoxtralSoundProcessor

    return VoxtralSoundProcessor(config, encode)


VISION_PROCESSORS: dict[str, _Factory] = {
    "deepseek_ocr2": _deepseek_ocr2,
    "gemma3": _gemma3,
    "gemma4": _gemma4,
    "glm46v": _glm46v,
    "glm4v": _glm4v,
    "glm_ocr": _glm,
    "idefics3": _idefics3,
    "internvl": _internvl,
    "lfm2-vl": _lfm2_vl,
    "lfm2_vl": _lfm2_vl,
    "lighton_ocr": _lighton,
    "mistral3": _pixtral,
    "paddleocr_vl": _paddle,
    "qwen2_5_vl": _qwen2_5,
    "qwen3_5": _qwen,
    "qwen3_5_moe": _qwen,
    "qwen3_vl": _qwen,
    "qwen3_vl_moe": _qwen,
    "smolvlm": _idefics3,
    "unlimited_ocr": _unlimited_ocr,
}
SOUND_PROCESSORS: dict[str, _Factory] = {"voxtral": _voxtral}  # of models that hear, and see nothing


def all_image_settings(config: Fields, folder: Path) -> Fields:
    """As `image_settings`, with what older repositories of a family keep in other files."""
    image = image_settings(config, folder)
    if config.values.get("model_type") not in ("lfm2-vl", "lfm2_vl"):
        return image
    from engine.vision.lfm2_vl import lfm2_settings

    return lfm2_settings(image, processor_settings(folder), config.values)


def make_vision_processor(config: Mapping[str, Any], folder: Path, encode: _Encode) -> VisionProcessor | None:
    """The vision processor of a checkpoint; None without vision. `encode` is the tokenizer without special tokens."""
    kind = str(config.get("model_type"))
    for factories, needed in ((VISION_PROCESSORS, "vision_config"), (SOUND_PROCESSORS, "audio_config")):
        if kind in factories and isinstance(config.get(needed), Mapping):
            return factories[kind](Fields(config), folder, encode)
    return None
