"""Which files of a repository are needed to run its model: settings, tokenizer, and one copy of the weights."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from engine.hub.cache import WEIGHT_KINDS
from engine.hub.gguf_files import chosen, gguf_models

_SETTINGS = ("*.json", "*.yaml", "*.jinja", "*.txt", "*.model", "*.tiktoken")
_NEVER = ("original/*", "onnx/*", "openvino/*", ".*", "*/.*", "training_args.bin", "optimizer.*", "*_optimizer.*")
_TOKENIZER = (
    "tokenizer*.json", "*.model", "vocab.*", "merges.txt", "special_tokens_map.json", "added_tokens.json",
    "chat_template*", "generation_config.json",
)  # fmt: skip


def wanted(names: Iterable[str], quant: str | None = None, kind: str = "auto") -> list[str]:
    """The files to download, in the repository's order; nothing where it has none of what is asked for. `quant`: of its
    GGUF models this one. `kind`: weights in this format, `safetensors` or `gguf`."""
    names = [name for name in names if not any(fnmatchcase(name, pattern) for pattern in _NEVER)]
    picked = {name for name in names if any(fnmatchcase(name, pattern) for pattern in _SETTINGS)}
    weights = _gguf(names, quant) if quant else _weights(names, WEIGHT_KINDS if kind == "auto" else (f".{kind}",))
    if (quant or kind != "auto") and not weights:
        return []
    picked.update(weights)
    for folder in _models_beside(names) if not quant else []:
        if not any(name in picked and name.endswith(WEIGHT_KINDS) and _folder(name) == folder for name in names):
            picked.update(_weights([name for name in names if _folder(name) == folder]))
    return [name for name in names if name in picked]


def tokenizer_files(names: Iterable[str]) -> list[str]:
    """Of a repository's files those that turn text into tokens and conversations into text."""
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in _TOKENIZER)]


def _models_beside(names: list[str]) -> list[str]:
    """Folders that hold a model of their own, such as what hears for a model that speaks: it may be stored otherwise."""
    return [_folder(name) for name in names if name.endswith("/config.json")]


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _weights(names: list[str], kinds: tuple[str, ...] = WEIGHT_KINDS) -> list[str]:
    for kind in kinds:
        if weights := [name for name in names if name.endswith(kind)]:
            return _one_copy(weights)
    return []


def _one_copy(weights: list[str]) -> list[str]:
    if weights[0].endswith(".gguf"):
        return _gguf(weights) or weights
    if any(name.startswith("model") for name in weights):
        return [name for name in weights if not name.startswith("consolidated")]  # the same weights, other names
    return weights


def _gguf(names: list[str], quant: str | None = None) -> list[str]:
    models = gguf_models(names)
    kind = chosen(models, quant)
    return models[kind] if kind else []
