"""A checkpoint folder: its JSON files and its tensors. Opening one reads config.json alone; weights are mapped on demand.

Knows Hugging Face's folder layout. Does not know what any field of a config means to a model.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from backends.base import Raw
from engine.errors import ConfigError, ModelNotFound
from engine.weights import quantization, safetensors
from engine.weights.chatterbox_files import chatterbox_tensors, is_chatterbox_folder
from engine.weights.packed_tensors import tensors_of
from engine.weights.pickled import read_pickled
from engine.weights.source import Tensors

PICKLED = "pytorch_model.bin"
_FIELDS = {
    "bicodec": {"audio_tokenizer"},
    "kokoro": {"istftnet", "plbert"},
    "snac": {"vq_strides", "encoder_rates", "decoder_rates"},
}


class Checkpoint:
    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        self.folder = folder
        self.config = config

    @classmethod
    def open(cls, path: str | Path, model_type: str | None = None) -> Checkpoint:
        """`model_type`: what the model is, whatever its config says."""
        folder = Path(path).expanduser()
        if not folder.is_dir():
            reason = "is a file, not a checkpoint folder" if folder.exists() else "does not exist"
            raise ModelNotFound(f"{folder} {reason}.")
        config = _read_object(folder / "config.json")
        if config is None:
            config = _read_yaml(folder / "config.yaml")
        if config is None and is_chatterbox_folder(folder):  # its authors publish none
            config = {"model_type": "chatterbox"}
        if config is None:
            raise ConfigError(f"{folder} has no config.json, so it is not a model's folder.")
        config["model_type"] = found = model_type or type_of(config)
        if not isinstance(found, str) or not found:
            classes = config.get("architectures")
            named = f" Its `architectures` are {classes!r:.200}." if isinstance(classes, list) and classes else ""
            raise ConfigError(
                f"{folder / 'config.json'} has no model_type, so its architecture is unknown.{named} "
                "If you know what it is, say so with --model-type."
            )
        return cls(folder, config)

    @cached_property
    def generation_config(self) -> dict[str, Any]:
        return _read_object(self.folder / "generation_config.json") or {}

    @cached_property
    def tensors(self) -> dict[str, Raw]:
        kind = self.config.get("model_type")
        if kind == "chatterbox":
            return chatterbox_tensors(self.folder)
        pickled = (
            next(iter(sorted(self.folder.glob("kokoro*.pth"))), None) if kind == "kokoro" else self.folder / PICKLED
        )
        if pickled is not None and pickled.is_file() and not any(self.folder.glob("*.safetensors")):
            return read_pickled(pickled)
        return safetensors.read_folder(self.folder)

    @property
    def nbytes(self) -> int:
        """Bytes of all tensors, as stored."""
        return sum(raw.nbytes for raw in self.tensors.values())

    @cached_property
    def quantization(self) -> quantization.Quantization | None:
        return quantization.parse(self.config, str(self.folder))

    @cached_property
    def source(self) -> Tensors:
        """The tensors under the names that models use."""
        return self.renamed(None)

    def renamed(self, rename: Callable[[str], str] | None) -> Tensors:
        return tensors_of(
            str(self.folder),
            self.tensors,
            self.quantization,
            quantization.method_of(self.config, str(self.folder)),
            rename,
        )


def known_by(config: dict[str, Any]) -> str | None:
    """The type of a model whose config does not say it, by the fields that only it has."""
    return next((kind for kind, fields in _FIELDS.items() if fields <= config.keys()), None)


def type_of(config: dict[str, Any]) -> Any:
    """LightOnOCR's repositories call it `mistral3`, after its image encoder; its text model is another one. DeepSeek-OCR 2's call it as
    those of all DeepSeek's models that see, Unlimited-OCR's has a hyphen. Qwen3's forced aligner has the type of Qwen3-ASR, and another class."""
    found, text = config.get("model_type", known_by(config)), config.get("text_config")
    if found == "qwen3_asr":
        thinker = config.get("thinker_config")
        inner = thinker.get("model_type") if isinstance(thinker, dict) else None
        if "Qwen3ASRForTokenClassification" in (config.get("architectures") or ()) or inner == "qwen3_forced_aligner":
            return "qwen3_forced_aligner"
    if found == "mistral3" and isinstance(text, dict) and text.get("model_type") == "qwen3":
        return "lighton_ocr"
    if found == "deepseek_vl_v2" and "DeepseekOCR2ForCausalLM" in (config.get("architectures") or ()):
        return "deepseek_ocr2"
    if found == "unlimited-ocr":
        return "unlimited_ocr"
    return found


def _read_object(path: Path) -> dict[str, Any] | None:
    """A JSON object, or None where there is no such file."""
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{path} must hold a JSON object, not {type(value).__name__}.")
    return value


def _read_yaml(path: Path) -> dict[str, Any] | None:
    """The same in the form that some older projects write. No object but plain data is ever made of it."""
    import yaml

    try:
        value = yaml.safe_load(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid YAML: {str(error).splitlines()[0]}.") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{path} must hold an object, not {type(value).__name__}.")
    return value
