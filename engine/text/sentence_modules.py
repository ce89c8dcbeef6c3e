"""What sentence-transformers' files say of an embedding model: how tokens are pooled, dense layers behind that, prompts, the longest
text.

Files are `modules.json` and a folder for each module (`1_Pooling`, `2_Dense`), `config_sentence_transformers.json` and
`sentence_bert_config.json`. All may be absent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import Raw
from engine.errors import BadRequest, ConfigError
from engine.weights.gguf.blocks import dequantize
from engine.weights.pickled import read_pickled
from engine.weights.safetensors import read_folder

MODULES = "modules.json"
POOLING_FILE = Path("1_Pooling", "config.json")
_MODE = "pooling_mode_"
_ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"Identity": np.asarray, "Tanh": np.tanh}
_KNOWN = {"Transformer", "Pooling", "Dense", "Normalize"}


@dataclass(frozen=True)
class DenseModule:
    """A linear layer over pooled vectors."""

    weight: np.ndarray  # [out, in] f32
    bias: np.ndarray | None
    activation: str

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        made = vectors @ self.weight.T
        return np.asarray(_ACTIVATIONS[self.activation](made if self.bias is None else made + self.bias))


@dataclass(frozen=True)
class SentenceModules:
    pooling: str | None = None  # as the files spell it: mean_tokens, cls_token, lasttoken, ...; None: they do not say
    dense: tuple[DenseModule, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)  # what is put before a text, by the name of its use
    default_prompt: str | None = None
    longest: int | None = None  # tokens of a text
    present: bool = False  # whether there are such files

    def prompt(self, name: str | None) -> str:
        """What is put before a text. Raises BadRequest for a name that is not among the prompts."""
        wanted = name if name is not None else self.default_prompt
        if wanted is None:
            return ""
        if wanted not in self.prompts:
            have = ", ".join(self.prompts) or "none"
            raise BadRequest(f"The model has no prompt {wanted[:100]!r}. It has: {have}.", "prompt_name")
        return self.prompts[wanted]

    def finished(self, vectors: np.ndarray) -> np.ndarray:
        """Pooled vectors `[n, width]` after the dense layers."""
        for layer in self.dense:
            vectors = layer(vectors)
        return vectors

    def width(self, pooled: int) -> int:
        return self.dense[-1].weight.shape[0] if self.dense else pooled


def read_modules(folder: Path) -> SentenceModules:
    """Of a model's folder. Raises ConfigError for files that cannot be read, and for modules that are not known."""
    if not folder.is_dir():
        return SentenceModules()
    modules = _modules(folder)
    settings = _object(folder / "config_sentence_transformers.json")
    prompts = settings.get("prompts") or {}
    if not isinstance(prompts, Mapping) or any(not isinstance(text, str) for text in prompts.values()):
        raise ConfigError(f"{folder / 'config_sentence_transformers.json'}: prompts must be an object of texts.")
    default = settings.get("default_prompt_name")
    longest = _object(folder / "sentence_bert_config.json").get("max_seq_length")
    return SentenceModules(
        pooling=_pooling(folder / modules.get("Pooling", [str(POOLING_FILE.parent)])[0] / "config.json"),
        dense=tuple(_dense(folder / place) for place in modules.get("Dense", ())),
        prompts=dict(prompts),
        default_prompt=default if isinstance(default, str) and default in prompts else None,
        longest=longest if type(longest) is int and longest > 0 else None,
        present=bool(modules) or (folder / POOLING_FILE).is_file(),
    )


def _modules(folder: Path) -> dict[str, list[str]]:
    """Where the modules of each kind lie, in order."""
    path = folder / MODULES
    listed = _json(path) if path.is_file() else []
    if not isinstance(listed, list) or any(not isinstance(one, Mapping) for one in listed):
        raise ConfigError(f"{path} must hold a list of modules.")
    found: dict[str, list[str]] = {}
    for one in listed:
        kind, place = str(one.get("type", "")).rpartition(".")[2], str(one.get("path", ""))
        if kind not in _KNOWN:
            raise ConfigError(f"{path} names the module `{kind}`; known are {', '.join(sorted(_KNOWN))}.")
        if Path(place).is_absolute() or ".." in Path(place).parts:
            raise ConfigError(f"{path}: the path {place!r} leads out of the folder.")
        found.setdefault(kind, []).append(place)
    return found


def _pooling(path: Path) -> str | None:
    if not path.is_file():
        return None
    found = _object(path)
    chosen = [key.removeprefix(_MODE) for key, on in found.items() if key.startswith(_MODE) and on is True]
    named = found.get("pooling_mode")  # newer versions write one name instead of a flag for each
    return " and ".join(chosen) or (str(named) if named else None)


def _dense(folder: Path) -> DenseModule:
    config = _object(folder / "config.json")
    activation = str(config.get("activation_function", "")).rpartition(".")[2] or "Identity"
    if activation not in _ACTIVATIONS:
        raise ConfigError(f"{folder / 'config.json'}: the activation `{activation}` is not known.")
    pickled = folder / "pytorch_model.bin"
    tensors = read_folder(folder) if any(folder.glob("*.safetensors")) else read_pickled(pickled)
    weight, bias = tensors.get("linear.weight"), tensors.get("linear.bias")
    sizes = config.get("out_features"), config.get("in_features")
    if weight is None or weight.shape != sizes or (bias is not None and bias.shape != sizes[:1]):
        raise ConfigError(f"{folder} holds no linear layer of {sizes[1]} to {sizes[0]} numbers.")
    return DenseModule(_numbers(weight), None if bias is None else _numbers(bias), activation)


def _numbers(raw: Raw) -> np.ndarray:
    return dequantize(raw).reshape(raw.shape)


def _object(path: Path) -> dict[str, Any]:
    """Empty where there is no such file."""
    found = _json(path) if path.is_file() else {}
    if not isinstance(found, dict):
        raise ConfigError(f"{path} must hold a JSON object.")
    return found


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read as JSON: {error}.") from None
