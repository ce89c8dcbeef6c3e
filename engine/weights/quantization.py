"""What a checkpoint's config says about quantization: MLX's affine packing, its settings per layer, nothing else.

Whether a certain layer really is packed is decided by the tensors that exist; this only says how to read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.errors import ConfigError, UnsupportedArchitecture

BITS = (2, 3, 4, 5, 6, 8)
GROUPS = (32, 64, 128)


@dataclass(frozen=True)
class Packing:
    """`bits` a weight, one scale and one bias for `group` weights along the input."""

    bits: int
    group: int


@dataclass(frozen=True)
class Quantization:
    default: Packing
    layers: Mapping[str, Packing | None] = field(default_factory=dict)  # None: this layer is dense

    def of(self, layer: str) -> Packing | None:
        """`layer` is a tensor's name in the file, without its last part."""
        return self.layers.get(layer, self.default)


def parse(config: Mapping[str, Any], where: str) -> Quantization | None:
    """Read `quantization` or `quantization_config` (also inside `text_config`); None for a checkpoint that has none."""
    section = _section(config)
    if section is None:
        return None
    if not isinstance(section, dict):
        raise ConfigError(f"{where}: quantization must be an object, not {section!r}.")
    method = section.get("quant_method")
    if method == "mxfp4":  # of gpt-oss: tensors say themselves that they are blocks
        return None
    if method is not None and method != "mlx":
        raise UnsupportedArchitecture(
            f"{where} is quantized with {method}, which is not supported. "
            "Choose the original model, or an MLX or GGUF version of it."
        )
    default = _packing(section, where, "quantization")
    layers: dict[str, Packing | None] = {}
    for name, value in section.items():
        if isinstance(value, dict) and ("bits" in value or "group_size" in value):
            layers[name] = _packing({**_plain(section), **value}, where, name)
        elif value is False:
            layers[name] = None
    return Quantization(default, layers)


def _section(config: Mapping[str, Any]) -> Any:
    inner = config.get("text_config")
    for place in (config, inner if isinstance(inner, dict) else {}):
        for key in ("quantization", "quantization_config"):
            if place.get(key):
                return place[key]
    return None


def _plain(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: section[key] for key in ("bits", "group_size") if key in section}


def _packing(section: Mapping[str, Any], where: str, what: str) -> Packing:
    mode = section.get("mode", "affine")
    if mode != "affine":
        raise UnsupportedArchitecture(
            f"{where} is quantized with MLX's mode {mode} ({what}), which is not supported. "
            "Choose an affine (4 or 8 bit) version of the model."
        )
    bits, group = section.get("bits"), section.get("group_size")
    if type(bits) is not int or bits not in BITS:
        raise ConfigError(f"{where}: {what} has bits {bits!r}; known are {', '.join(map(str, BITS))}.")
    if type(group) is not int or group not in GROUPS:
        raise ConfigError(f"{where}: {what} has group_size {group!r}; known are {', '.join(map(str, GROUPS))}.")
    return Packing(bits, group)
