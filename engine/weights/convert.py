"""Converting a checkpoint: a folder or a GGUF file in, a GGUF file, an MLX folder or a plain folder out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.errors import BadRequest
from engine.text.template import ChatTemplate
from engine.text.tokenizer import Tokenizer
from engine.weights.checkpoint import Checkpoint
from engine.weights.gguf import export, metadata, vocabulary
from engine.weights.gguf.writer import write
from engine.weights.quantize import KINDS
from engine.weights.stored import Stored

TARGETS = ("gguf", "mlx", "safetensors")
_FILE_TYPES = {None: 1, "q4_0": 2, "q8_0": 7, "q4_k": 15, "q6_k": 18}  # what other programs show

Progress = Callable[[int, int], None]


def convert(src: Path, dst: Path, to: str = "gguf", quant: str | None = None, progress: Progress | None = None) -> Path:
    """Write `dst` from `src`. `progress` gets bytes written and all. Returns what was written."""
    if to not in TARGETS:
        raise BadRequest(f"There is no format `{to}`. Choose one of: {', '.join(TARGETS)}.", "to")
    quant = None if quant in (None, "none") else quant
    if quant is not None and quant not in KINDS:
        raise BadRequest(f"There is no quantization `{quant}`. Choose none or one of: {', '.join(KINDS)}.", "quant")
    if dst.exists():
        raise BadRequest(f"{dst} is there already. Choose another name, or remove it first.", "dst")
    return to_gguf(src, dst, quant, progress)


def to_gguf(src: Path, dst: Path, quant: str | None, progress: Progress | None) -> Path:
    checkpoint = Checkpoint.open(src)
    config, generation = checkpoint.config, checkpoint.generation_config
    arch = metadata.architecture_of(config, str(src))
    stored = Stored(checkpoint)
    values, factors = metadata.describe(config, arch, src.name)
    tensors = export.plans(stored, config, arch, quant, factors)
    tokenizer = Tokenizer.from_folder(src, config, generation)
    template = ChatTemplate.from_folder(src, tokenizer, config)
    rows = next(plan.shape[0] for plan in tensors if plan.name == "token_embd.weight")
    sources = {name: template.source(name) for name in template.names}
    values |= vocabulary.describe(tokenizer, sources, arch, rows, tokenizer.eos_ids)
    write(dst, values | {"general.file_type": _FILE_TYPES[quant]}, tensors, progress)
    return dst
