"""A model's files, opened without loading: a checkpoint folder, a GGUF file, or one of whisper.cpp, behind one interface.

Reads JSON, headers and tokenizers; maps tensors; makes no array.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.base import FloatTensors, Raw
from engine.errors import ConfigError, ModelNotFound
from engine.hub.cache import tokenizer_of
from engine.text.builtin_templates import builtin_template
from engine.text.sentence_modules import SentenceModules, read_modules
from engine.text.tokenizer import Tokenizer
from engine.weights.checkpoint import Checkpoint
from engine.weights.fit import kinds_of
from engine.weights.ggml_whisper import GgmlWhisper, is_ggml_whisper
from engine.weights.gguf.checkpoint import GgufCheckpoint, open_gguf
from engine.weights.gguf.encoders import dense_layers
from engine.weights.gguf.mmproj import open_mmproj
from engine.weights.gguf.mmproj_files import NONE, find_mmproj, is_mmproj
from engine.weights.gguf.reader import MAGIC
from engine.weights.packed_tensors import PackedTensors
from engine.weights.source import Source
from engine.weights.stored import FolderStored

if TYPE_CHECKING:  # it brings jinja2, 7 MB that an idle window has no use for
    from engine.text.template import ChatTemplate


class ModelFiles(ABC):
    """The files of a model: config, tensors, tokenizer, chat template."""

    def __init__(self, stored: Checkpoint | GgufCheckpoint | GgmlWhisper) -> None:
        self._stored = stored

    @property
    def config(self) -> dict[str, Any]:
        return self._stored.config

    @property
    def generation_config(self) -> dict[str, Any]:
        return self._stored.generation_config

    @property
    def tensors(self) -> Mapping[str, Raw]:
        """The tensors as stored."""
        return self._stored.tensors

    @property
    def nbytes(self) -> int:
        """Bytes of all tensors, as stored."""
        return self._stored.nbytes

    @property
    def whole_shapes(self) -> list[tuple[int, ...]]:
        """Of all tensors, packed ones unpacked."""
        return [raw.shape for raw in self.tensors.values()]

    @property
    @abstractmethod
    def source(self) -> Source:
        """The source that a model is built from."""

    @property
    @abstractmethod
    def quantized(self) -> bool:
        """Whether its matrices are stored quantized."""

    @property
    def floats(self) -> FloatTensors | None:
        """All tensors of a folder in which some are packed, decoded."""
        return None

    @property
    def modules(self) -> SentenceModules:
        """What lies behind an embedding model's encoder."""
        return SentenceModules()

    @property
    @abstractmethod
    def stored_as(self) -> str:
        """The stored format for display: "BF16", "4 bit (MLX)", "Q4_K (GGUF)"."""

    @property
    @abstractmethod
    def tokenizer(self) -> Tokenizer: ...
    @property
    @abstractmethod
    def template(self) -> ChatTemplate: ...


def open_model(path: Path, weights: str = "auto", model_type: str | None = None, mmproj: str = "auto") -> ModelFiles:
    """A folder with config.json and safetensors, a GGUF file, or a folder that holds one GGUF model.

    `weights`: the format that is opened where a folder holds both, `safetensors` or `gguf`. `model_type`: what the model
    is, whatever its config says. `mmproj`: the file of a GGUF file's image encoder, or `none`; auto: one that fits and lies beside it.
    """
    if path.is_file():
        if is_ggml_whisper(path):
            return GgmlFiles(GgmlWhisper(path))
        if path.suffix.lower() != ".gguf" and not _begins_as_gguf(path):  # Ollama's files have no suffix
            raise ModelNotFound(f"{path} is a file, but not a GGUF file. Give the checkpoint's folder.")
        if weights not in ("auto", "gguf"):
            raise _lacks(path, weights)
        return _gguf(path, model_type, mmproj)
    there = sorted(path.glob("*.gguf")) if path.is_dir() and weights != "safetensors" else []
    files = [file for file in there if not is_mmproj(file.name)]
    if files and (weights == "gguf" or not (path / "config.json").exists()):
        return _gguf(_only(files), model_type, mmproj)
    if mmproj not in ("auto", NONE):
        raise ConfigError(f"{path} is no GGUF file: an mmproj file has nothing to see for.")
    folder = _with_language_model(path)
    if weights == "gguf" or (weights == "safetensors" and folder.is_dir() and not any(folder.glob("*.safetensors"))):
        raise _lacks(path, weights)
    return CheckpointFiles(Checkpoint.open(folder, model_type))


def _gguf(file: Path, model_type: str | None, mmproj: str) -> GgufFiles:
    opened = open_gguf(file)
    beside = find_mmproj(file, opened.fits) if mmproj == "auto" else open_mmproj(mmproj) if mmproj != NONE else None
    if beside is not None:
        opened.see_with(beside)
    if model_type is not None:
        opened.config["model_type"] = model_type
    return GgufFiles(opened)


def _begins_as_gguf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _lacks(path: Path, weights: str) -> ConfigError:
    return ConfigError(f"{path} holds no {weights} weights. Leave out --format, or choose another model.")


def _with_language_model(path: Path) -> Path:
    """Spark-TTS keeps its language model in a folder of its own, beside its codec."""
    inner = path / "LLM"
    return inner if (inner / "config.json").is_file() and not (path / "config.json").exists() else path


def _only(files: list[Path]) -> Path:
    """The only model among the files: a single file, or the first of its shards."""
    whole = [file for file in files if "-of-" not in file.stem or "-00001-of-" in file.stem]
    if len(whole) == 1:
        return whole[0]
    raise ModelNotFound(
        f"{files[0].parent} holds several GGUF files. Choose one by a part of its name, as in {files[0].parent}:Q8_0. "
        f"There are: {', '.join(file.name for file in whole)}."
    )


class CheckpointFiles(ModelFiles):
    """A folder with config.json and safetensors."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint)
        self.checkpoint = checkpoint

    @property
    def source(self) -> Source:
        return self.checkpoint.source

    @property
    def quantized(self) -> bool:
        return self.checkpoint.quantization is not None or isinstance(self.checkpoint.source, PackedTensors)

    @property
    def floats(self) -> FloatTensors | None:
        if not self.quantized:
            return None
        stored = FolderStored(self.checkpoint)
        return {name: partial(stored.values, name) for name in stored.names}

    @property
    def whole_shapes(self) -> list[tuple[int, ...]]:
        if not self.quantized:
            return super().whole_shapes
        stored = FolderStored(self.checkpoint)
        return [stored.shape(name) for name in stored.names]

    @property
    def stored_as(self) -> str:
        quantization, source = self.checkpoint.quantization, self.checkpoint.source
        if quantization is not None:
            packing = quantization.default
            return f"{packing.bits} bit (MLX)" if packing.mode == "affine" else f"{packing.mode.upper()} (MLX)"
        return source.stored_as if isinstance(source, PackedTensors) else _most(self.tensors)

    @property
    def modules(self) -> SentenceModules:
        return read_modules(self.checkpoint.folder)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer.from_folder(self.checkpoint.folder, self.config, self.generation_config)

    @cached_property
    def template(self) -> ChatTemplate:
        from engine.text.template import ChatTemplate

        return ChatTemplate.from_folder(self.checkpoint.folder, self.tokenizer, self.config)


class GgufFiles(ModelFiles):
    """A GGUF file."""

    def __init__(self, file: GgufCheckpoint) -> None:
        super().__init__(file)
        self.file = file

    @property
    def source(self) -> Source:
        return self.file.source

    @property
    def quantized(self) -> bool:
        return bool(kinds_of(self.tensors))

    @property
    def stored_as(self) -> str:
        return f"{_most(self.tensors)} (GGUF)"

    @property
    def modules(self) -> SentenceModules:
        return SentenceModules(dense=dense_layers(self.tensors), present="pooling" in self.config)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return self.file.tokenizer(self._elsewhere)

    @cached_property
    def _elsewhere(self) -> Path | None:
        """The folder of the tokenizer, where the file contains none."""
        path = self.file.path
        return None if self.file.has_tokenizer else tokenizer_of(path) or path.parent

    @cached_property
    def template(self) -> ChatTemplate:
        from engine.text.template import ChatTemplate

        sources = self.file.template_sources
        if not sources and self._elsewhere is not None:
            return ChatTemplate.from_folder(self._elsewhere, self.tokenizer, self.config)
        if not sources:
            builtin = builtin_template(str(self.config["model_type"]), self.tokenizer.id)
            sources = {"default": builtin} if builtin is not None else {}
        return ChatTemplate(sources, self.tokenizer.special_tokens)


class GgmlFiles(ModelFiles):
    """A file of whisper.cpp."""

    def __init__(self, file: GgmlWhisper) -> None:
        super().__init__(file)
        self.file = file

    @property
    def source(self) -> Source:
        return self.file

    @property
    def quantized(self) -> bool:
        return bool(kinds_of(self.tensors))

    @property
    def stored_as(self) -> str:
        return f"{_most(self.tensors)} (whisper.cpp)"

    @property
    def tokenizer(self) -> Tokenizer:
        return self.file.tokenizer

    @cached_property
    def template(self) -> ChatTemplate:
        from engine.text.template import ChatTemplate

        return ChatTemplate({}, self.tokenizer.special_tokens)


def _most(tensors: Mapping[str, Raw]) -> str:
    """The dtype of most bytes."""
    total: dict[str, int] = {}
    for raw in tensors.values():
        total[raw.dtype] = total.get(raw.dtype, 0) + raw.nbytes
    return max(total, key=lambda kind: total[kind], default="nothing")
