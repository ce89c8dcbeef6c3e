"""What a checkpoint's config says about quantization: MLX's packing and its settings per layer, or another tool's method.

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
    mode: str = "affine"  # or one of MODES, whose floats have no bias


MODES = {"mxfp4": (4, 32), "nvfp4": (4, 16), "mxfp8": (8, 32)}  # bits, group


@dataclass(frozen=True)
class Method:
    """How a tool other than MLX has quantized a checkpoint, as far as its tensors do not tell."""

    name: str  # as `quant_method`, in the words that people use
    square: tuple[int, int] | None = None  # of FP8: rows and columns that share a scale
    less: int = 1  # of GPTQ: how much lower zeros are stored
    awq: bool = False
    ternary: str = (
        ""  # of BitNet: what its scale does to a matrix, "multiply" or "divide"; "online": weights are rounded only now
    )


METHODS = {
    "fp8": "FP8",
    "fbgemm_fp8": "FP8",
    "compressed-tensors": "compressed-tensors",
    "modelopt": "ModelOpt",
    "gptq": "GPTQ",
    "awq": "AWQ",
    "bitnet": "BitNet",
}


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
    if not isinstance(method, str | None):
        raise ConfigError(f"{where}: quant_method is {method!r}; it should be a name.")
    if method == "mxfp4" or method in METHODS:  # tensors say themselves what they are
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
            inherited = {} if str(value.get("mode", "affine")) in MODES else _plain(section)
            layers[name] = _packing({**inherited, **value}, where, name)
        elif value is False:
            layers[name] = None
    return Quantization(default, layers)


def method_of(config: Mapping[str, Any], where: str) -> Method | None:
    """Which of METHODS; None for what is not quantized by one."""
    section = _section(config)
    name = section.get("quant_method") if isinstance(section, dict) else None
    if not isinstance(section, dict) or not isinstance(name, str) or name not in METHODS:
        return None
    square = section.get("weight_block_size")
    if square is not None and not (
        isinstance(square, list) and len(square) == 2 and all(type(n) is int and n > 0 for n in square)
    ):
        raise ConfigError(f"{where}: weight_block_size is {square!r}; it should be two numbers of rows and columns.")
    version = str(section.get("version", "gemm")).lower()
    if name == "awq" and version != "gemm":
        raise UnsupportedArchitecture(
            f"{where} is quantized with awq in its version {version}, which is not supported. Choose one in the version gemm."
        )
    return Method(
        METHODS[name],
        (square[0], square[1]) if square else None,
        0 if section.get("checkpoint_format") == "gptq_v2" else 1,
        name == "awq",
        _ternary(section) if name == "bitnet" else "",
    )


def _ternary(section: Mapping[str, Any]) -> str:
    if section.get("linear_class", "bitlinear") != "autobitlinear":
        return "divide"
    return "online" if section.get("quantization_mode", "offline") == "online" else "multiply"


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
    if not isinstance(mode, str):
        raise ConfigError(f"{where}: {what} has the mode {mode!r}; it should be a name.")
    usual = MODES.get(mode, (None, None))
    bits, group = section.get("bits", usual[0]), section.get("group_size", usual[1])
    if mode in MODES and (bits, group) == MODES[mode]:
        return Packing(*MODES[mode], mode)
    if mode != "affine":
        raise UnsupportedArchitecture(
            f"{where} is quantized with MLX's mode {mode} in {bits} bits and groups of {group} ({what}), which is not "
            "supported. Choose an affine (4 or 8 bit) version of the model."
        )
    if type(bits) is not int or bits not in BITS:
        raise ConfigError(f"{where}: {what} has bits {bits!r}; known are {', '.join(map(str, BITS))}.")
    if type(group) is not int or group not in GROUPS:
        raise ConfigError(f"{where}: {what} has group_size {group!r}; known are {', '.join(map(str, GROUPS))}.")
    return Packing(bits, group)
