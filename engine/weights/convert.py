"""Converting a checkpoint: a folder or a GGUF file in; a GGUF file, an MLX folder or a plain folder out.

One tensor at a time passes through memory. What is written is written beside its target first, so that a conversion
that fails leaves nothing that looks whole.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import Blocks, Raw
from engine.errors import BadRequest
from engine.models.config import Fields
from engine.text.template import ChatTemplate
from engine.text.tokenizer import Tokenizer
from engine.vision.pixtral import ROW_END
from engine.vision.registry import all_image_settings
from engine.weights import folder
from engine.weights.checkpoint import Checkpoint
from engine.weights.gguf import export, metadata, vocabulary
from engine.weights.gguf.blocks import decode_rows, dequantize
from engine.weights.gguf.checkpoint import GgufCheckpoint, open_gguf
from engine.weights.gguf.metadata import publish
from engine.weights.gguf.mmproj_export import ROW_END_ID, write_mmproj, writer_of
from engine.weights.gguf.mmproj_files import name_beside
from engine.weights.gguf.orders import grouped_heads
from engine.weights.gguf.ternary import I2_S
from engine.weights.gguf.types import FLOATS
from engine.weights.gguf.writer import write
from engine.weights.quantize import KINDS
from engine.weights.stored import FolderStored, Stored

TARGETS = ("gguf", "mlx", "safetensors")
_FILE_TYPES = {"F32": 0, "F16": 1, "BF16": 32, "q4_0": 2, "q8_0": 7, "q4_k": 15, "q6_k": 18}  # what programs show
_COPIED = (
    "tokenizer.json",
    "tekken.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "chat_template.jinja",
    "chat_template.json",
    "chat_templates",
    "additional_chat_templates",
    "generation_config.json",
    "preprocessor_config.json",
    "processor_config.json",
)

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ConvertedModel:
    """What is converted, wherever it came from."""

    name: str
    where: str
    config: Mapping[str, Any]
    generation: Mapping[str, Any]
    stored: Stored
    tokenizer: Tokenizer
    templates: Mapping[str, str]
    folder: Path | None  # whose other files go along


def convert(src: Path, dst: Path, to: str = "gguf", quant: str | None = None, progress: Progress | None = None) -> Path:
    """Write `dst` from `src`. `progress` gets bytes written and all. Returns what was written."""
    if to not in TARGETS:
        raise BadRequest(f"There is no format `{to}`. Choose one of: {', '.join(TARGETS)}.", "to")
    quant = None if quant in (None, "none") else quant
    if quant is not None and quant not in KINDS:
        raise BadRequest(f"There is no quantization `{quant}`. Choose none or one of: {', '.join(KINDS)}.", "quant")
    if to == "safetensors" and quant:
        raise BadRequest("A plain folder holds no quantized weights. Choose the format mlx or gguf.", "quant")
    if dst.exists():
        raise BadRequest(f"{dst} is there already. Choose another name, or remove it first.", "dst")
    if to == "gguf" and name_beside(dst).exists():
        raise BadRequest(f"{name_beside(dst)} is there already. Choose another name, or remove it first.", "dst")
    model = _from_gguf(src) if src.is_file() else _from_folder(src, to)
    if to == "gguf":
        _to_gguf(model, dst, quant, progress)
        _to_mmproj(model, name_beside(dst))
    else:
        _to_folder(model, dst, to, quant, progress)
    return dst


def _from_folder(src: Path, to: str) -> ConvertedModel:
    checkpoint = Checkpoint.open(src)
    config, generation = checkpoint.config, checkpoint.generation_config
    if to == "gguf":  # what cannot be written is said before anything is read
        metadata.architecture_of(config, str(src))
    tokenizer = Tokenizer.from_folder(src, config, generation)
    template = ChatTemplate.from_folder(src, tokenizer, config)
    sources = {name: template.source(name) for name in template.names}
    return ConvertedModel(
        checkpoint.folder.name, str(src), config, generation, FolderStored(checkpoint), tokenizer, sources, src
    )


def _from_gguf(src: Path) -> ConvertedModel:
    checkpoint = open_gguf(src)
    config = publish(checkpoint.config, checkpoint.where)
    return ConvertedModel(
        src.stem,
        checkpoint.where,
        config,
        checkpoint.generation_config,
        GgufStored(checkpoint),
        checkpoint.tokenizer(),
        checkpoint.template_sources,
        None,
    )


def _to_gguf(model: ConvertedModel, dst: Path, quant: str | None, progress: Progress | None) -> None:
    arch = metadata.architecture_of(model.config, model.where)
    values, factors = metadata.describe(model.config, arch, model.name)
    plans = export.plans(model.stored, model.config, arch, quant, factors)
    rows = next(plan.shape[0] for plan in plans if plan.name == "token_embd.weight")
    values |= vocabulary.describe(model.tokenizer, model.templates, arch, rows, model.tokenizer.eos_ids)
    values["general.file_type"] = _FILE_TYPES[quant or folder.common_float(model.stored)]
    write(dst, values, plans, progress)


def _to_mmproj(model: ConvertedModel, dst: Path) -> None:
    """The image encoder, where the model has one: never quantized, as llama.cpp's converter does it."""
    writer = writer_of(model.config)
    if writer is not None and model.folder is not None:
        image = all_image_settings(Fields(model.config), model.folder)
        config = {**model.config, ROW_END_ID: model.tokenizer.id(ROW_END)}
        write_mmproj(dst, model.stored, config, image, model.name, writer)


def _to_folder(model: ConvertedModel, dst: Path, to: str, quant: str | None, progress: Progress | None) -> None:
    config = {key: value for key, value in model.config.items() if key not in ("quantization", "quantization_config")}
    if to == "mlx":
        config = _nested(config)
        units, packing = folder.mlx_units(model.stored, quant)
        if packing:
            config |= {"quantization": packing, "quantization_config": packing}
    else:
        units = folder.plain_units(model.stored)
    unfinished = dst.with_name(f"{dst.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        _write_files(model, unfinished)
        folder.write_json(unfinished / "config.json", config)
        folder.write(unfinished / "model.safetensors", units, "mlx" if to == "mlx" else "pt", progress)
        unfinished.rename(dst)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _nested(config: dict[str, Any]) -> dict[str, Any]:
    """mlx-lm knows Qwen 3.5 only as it is published, with its text model's config inside."""
    if config.get("model_type") != "qwen3_5_text":
        return config
    outer = {"model_type": "qwen3_5", "tie_word_embeddings": config.get("tie_word_embeddings", False)}
    return outer | {key: config[key] for key in ("eos_token_id",) if key in config} | {"text_config": config}


def _write_files(model: ConvertedModel, dst: Path) -> None:
    """The tokenizer, the templates and how to sample."""
    if model.folder is not None:
        for name in _COPIED:
            source = model.folder / name
            if source.is_dir():
                shutil.copytree(source, dst / name)
            elif source.is_file():
                shutil.copyfile(source, dst / name)
        return
    (dst / "tokenizer.json").write_text(model.tokenizer.to_json(), encoding="utf-8")
    settings: dict[str, Any] = {"tokenizer_class": "PreTrainedTokenizerFast", **model.tokenizer.special_tokens}
    folder.write_json(dst / "tokenizer_config.json", settings)
    if model.generation:
        folder.write_json(dst / "generation_config.json", model.generation)
    for name, text in model.templates.items():
        if name == "default":
            (dst / "chat_template.jinja").write_text(text, encoding="utf-8")
        else:
            (dst / "additional_chat_templates").mkdir(exist_ok=True)
            (dst / "additional_chat_templates" / f"{Path(name).name}.jinja").write_text(text, encoding="utf-8")


# -- a GGUF file's tensors as numbers, in the names, shapes and conventions that repositories publish


class GgufStored:
    def __init__(self, checkpoint: GgufCheckpoint) -> None:
        self.where = checkpoint.where
        self.decoded = "BF16"
        self.names = list(checkpoint.source.names)
        self._raws: dict[str, Raw] = checkpoint.source.raws
        self._factors = checkpoint.source.factors
        self._config = checkpoint.config
        self._delta = checkpoint.architecture == "qwen35"

    def shape(self, name: str) -> tuple[int, ...]:
        shape = self._raws[name].shape
        return (shape[0], 1, shape[1]) if name.endswith("conv1d.weight") else shape

    def dtype(self, name: str) -> str | None:
        kind = self._raws[name].dtype
        return kind if kind in FLOATS else None

    def values(self, name: str) -> np.ndarray:
        raw = self._raws[name]
        stored = Blocks(raw, raw.dtype, raw.shape, self._factors[name]) if name in self._factors else raw
        values = dequantize(stored).reshape(self.shape(name))
        if not self._delta:
            return values
        if name.endswith("norm.weight") and not name.endswith("linear_attn.norm.weight"):
            return values - 1
        if name.endswith("linear_attn.out_proj.weight"):
            c = self._config
            order = (c["linear_num_key_heads"], c["linear_num_value_heads"], c["linear_value_head_dim"])
            return values[:, grouped_heads(*order)]
        return values

    def blocks(self, name: str) -> Blocks | None:
        return None

    def rows(self, name: str) -> Iterator[np.ndarray]:
        if self._delta or name in self._factors or self._raws[name].dtype == I2_S:
            yield self.values(name).reshape(-1, self.shape(name)[-1])
        else:
            raw = self._raws[name]
            yield from decode_rows(raw.buffer, raw.dtype, raw.shape[-1])
