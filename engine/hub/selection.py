"""Which files of a repository are needed to run its model: settings, tokenizer, and one copy of the weights."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from engine.hub.cache import WEIGHT_KINDS

_SETTINGS = ("*.json", "*.yaml", "*.jinja", "*.txt", "*.model", "*.tiktoken")
_NEVER = ("original/*", "onnx/*", "openvino/*", ".*", "*/.*", "training_args.bin", "optimizer.*", "*_optimizer.*")
# A GGUF repository holds one model a dozen times; the usual trade of size against quality comes first.
_GGUF_CHOICE = ("Q4_K_M", "Q4_K_S", "Q4_0", "Q5_K_M", "Q6_K", "Q8_0", "BF16", "F16")


def wanted(names: Iterable[str]) -> list[str]:
    """The files to download, in the repository's order."""
    names = [name for name in names if not any(fnmatchcase(name, pattern) for pattern in _NEVER)]
    chosen = {name for name in names if any(fnmatchcase(name, pattern) for pattern in _SETTINGS)}
    chosen.update(_weights(names))
    for folder in _models_beside(names):
        if not any(name in chosen and name.endswith(WEIGHT_KINDS) and _folder(name) == folder for name in names):
            chosen.update(_weights([name for name in names if _folder(name) == folder]))
    return [name for name in names if name in chosen]


def _models_beside(names: list[str]) -> list[str]:
    """Folders that hold a model of their own, such as what hears for a model that speaks: it may be stored otherwise."""
    return [_folder(name) for name in names if name.endswith("/config.json")]


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _weights(names: list[str]) -> list[str]:
    for kind in WEIGHT_KINDS:
        if weights := [name for name in names if name.endswith(kind)]:
            return _one_copy(weights)
    return []


def _one_copy(weights: list[str]) -> list[str]:
    if weights[0].endswith(".gguf"):
        models = [name for name in weights if "mmproj" not in name.lower()] or weights
        for quantization in _GGUF_CHOICE:
            if matching := [name for name in models if f"-{quantization}" in f"-{name.upper()}".replace(".", "-")]:
                return matching
        return models[:1] if "-of-" not in models[0] else models
    if any(name.startswith("model") for name in weights):
        return [name for name in weights if not name.startswith("consolidated")]  # the same weights, other names
    return weights
