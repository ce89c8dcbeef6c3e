"""What Ollama's lists and `/api/show` report of a model: size, digest, family, capabilities. Read from its files, without loading it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any

from app.runtime.catalogue import KnownModel, capabilities, config_in, folder_of, main_use
from app.runtime.models import ModelService
from app.server.ollama.protocol import OllamaModelDetails, OllamaShowReply, timestamp
from engine.errors import BadRequest, GrusError
from engine.loading import sampling_defaults
from engine.model_files import ModelFiles, open_model
from engine.models.config import CONTEXT, text_fields
from engine.pipelines.prompt import infill
from engine.text.families import tags_for
from engine.text.template import ChatTemplate
from engine.text.tokenizer import Tokenizer
from engine.vision.processor import VisionProcessor, seeing
from engine.vision.registry import make_vision_processor

_WEIGHTS = (".safetensors", ".gguf", ".bin", ".pt", ".pth")
_LICENSES = ("LICENSE", "LICENSE.txt", "LICENSE.md")
_LONGEST_LICENSE = 100_000
_KEPT = 256  # models whose headers are read once


@dataclass(frozen=True)
class StoredModel:
    """A model's headers."""

    config: Mapping[str, Any]
    nbytes: int
    parameters: int
    stored_as: str
    gguf: bool


def tagged(name: str) -> str:
    """A name with its tag, which Ollama's clients expect of every model."""
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def place_of(known: KnownModel, service: ModelService) -> Path:
    if known.server is not None:  # no folder here, also where one has the model's name
        return Path(known.name)
    loaded = service.loaded.get(known.model)
    return loaded.folder if loaded is not None else folder_of(known.source, service.catalogue.cache_dir)


def stored(place: Path) -> StoredModel | None:
    """None where its files cannot be read: loading says why."""
    try:
        return _read(place, tuple(_files(place)))
    except (GrusError, OSError):
        return None


def digest(place: Path) -> str:
    """Changes with the files. In the hub's cache they are links to files that are named by their contents."""
    files = "\n".join(f"{file.name} {file.resolve().name} {size} {time}" for file, size, time in _files(place))
    return hashlib.sha256((files or str(place)).encode()).hexdigest()


def details(config: Mapping[str, Any], found: StoredModel | None) -> OllamaModelDetails:
    family = str(config.get("model_type", ""))
    described = OllamaModelDetails(family=family, families=[family] if family else None)
    if found is None:
        return described
    fields = text_fields(config)
    return described.model_copy(
        update={
            "format": "gguf" if found.gguf else "safetensors",
            "parameter_size": _counted(found.parameters),
            "quantization_level": found.stored_as.removesuffix(" (GGUF)").removesuffix(" (MLX)"),
            "context_length": fields.find(*CONTEXT, default=None),
            "embedding_length": fields.find("hidden_size", default=None),
        }
    )


@dataclass(frozen=True)
class ModelFacts:
    """What is shown of a model, from what is loaded or from its files."""

    name: str
    place: Path
    config: Mapping[str, Any]
    tokenizer: Tokenizer
    template: ChatTemplate
    defaults: Mapping[str, Any]
    context: int
    vision: VisionProcessor | None

    @property
    def source(self) -> str:
        return self.template.source() if self.template.names else ""


def facts(known: KnownModel, service: ModelService) -> ModelFacts | None:
    """None: its files cannot be read. Reads the disk; call it from a thread."""
    loaded, place = service.facts_of(known), place_of(known, service)
    if loaded is not None and hasattr(loaded, "template"):
        return ModelFacts(
            known.name, place, loaded.config, loaded.tokenizer, loaded.template, loaded.defaults, loaded.context,
            loaded.vision,
        )  # fmt: skip
    try:
        files = open_model(place)
        tokenizer = files.tokenizer
        folder = place if place.is_dir() else place.parent
        vision = make_vision_processor(files.config, folder, lambda text: tokenizer.encode(text, add_special=False))
        context = text_fields(files.config).int(*CONTEXT, default=2048)
        defaults = sampling_defaults(files.generation_config)
        return ModelFacts(known.name, place, files.config, tokenizer, files.template, defaults, context, vision)
    except (GrusError, OSError):
        return None


def shown(model: ModelFacts) -> OllamaShowReply:
    """The reply of `/api/show`. Reads the disk."""
    found = stored(model.place)
    parameters = "\n".join(_parameters(model.defaults))
    commands = [f"FROM {model.name}"]
    commands += [f'TEMPLATE """{model.source}"""'] if model.source else []
    commands += [f"PARAMETER {line}" for line in parameters.splitlines()]
    return OllamaShowReply(
        license=_license(model.place),
        modelfile="\n".join(commands),
        parameters=parameters,
        template=model.source,
        modified_at=modified(model.place),
        details=details(model.config, found),
        model_info=dict(_info(model, found)),
        capabilities=list(_capabilities(model)),
    )


def _capabilities(model: ModelFacts) -> Iterator[str]:
    """In Ollama's words. A model that was made for vectors has only these, although others make vectors too."""
    can = capabilities(model.config, model.place)
    if main_use(can) == "embed":
        yield "embedding"
        return
    if not can & {"chat", "read"}:
        return
    yield "completion"
    if can & {"vision", "read"}:
        yield "vision"
    if "tools" in model.source or "remote" in can:
        yield "tools"
    if _fills(model.tokenizer):
        yield "insert"
    if tags_for(str(model.config.get("model_type", "")), model.source) is not None:
        yield "thinking"


def _fills(tokenizer: Tokenizer) -> bool:
    try:
        return bool(infill(tokenizer, "", "").ids)
    except BadRequest:
        return False


def _info(model: ModelFacts, found: StoredModel | None) -> Iterator[tuple[str, Any]]:
    kind = str(model.config.get("model_type", ""))
    fields = text_fields(model.config)
    yield "general.architecture", kind
    yield "general.basename", model.name
    if found is not None:
        yield "general.parameter_count", found.parameters
    yield f"{kind}.context_length", model.context
    names = {
        "embedding_length": "hidden_size",
        "block_count": "num_hidden_layers",
        "feed_forward_length": "intermediate_size",
        "attention.head_count": "num_attention_heads",
        "attention.head_count_kv": "num_key_value_heads",
    }
    for theirs, ours in names.items():
        if (value := fields.find(ours, default=None)) is not None:
            yield f"{kind}.{theirs}", value
    if model.vision is not None and seeing(model.vision):
        yield f"{kind}.vision.max_pixels", model.vision.max_pixels
    yield f"{kind}.vocab_size", fields.find("vocab_size", default=model.tokenizer.vocab_size)


def _parameters(defaults: Mapping[str, Any]) -> Iterator[str]:
    """In a Modelfile's form: each stop string on a line of its own."""
    for name, value in defaults.items():
        yield from (f'stop "{text}"' for text in value) if name == "stop" else (f"{name} {value}",)


def _license(place: Path) -> str:
    folder = place if place.is_dir() else place.parent
    for name in _LICENSES:
        if (folder / name).is_file():
            with (folder / name).open(encoding="utf-8", errors="replace") as file:
                return file.read(_LONGEST_LICENSE)
    return ""


def _files(place: Path) -> Iterator[tuple[Path, int, int]]:
    """The files of its weights and its config, each with its size and the time of its last change."""
    there = sorted(place.iterdir()) if place.is_dir() else [place] if place.exists() else []
    for file in there:
        if file.is_file() and (file.suffix in _WEIGHTS or file.name == "config.json"):
            about = file.stat()
            yield file, about.st_size, about.st_mtime_ns


@lru_cache(maxsize=_KEPT)
def _read(place: Path, _: tuple[tuple[Path, int, int], ...]) -> StoredModel:
    files = open_model(place)
    kind = files.stored_as
    return StoredModel(files.config, files.nbytes, _parameter_count(files), kind, kind.endswith("(GGUF)"))


def _parameter_count(files: ModelFiles) -> int:
    """Of matrices that are quantized as MLX does, one number holds several, and their scales are none."""
    bits = int(files.stored_as.split()[0]) if files.stored_as.endswith("(MLX)") else None
    count = 0
    for name, raw in files.tensors.items():
        if bits is None or raw.dtype not in ("U32", "I32"):
            count += 0 if bits is not None and name.endswith((".scales", ".biases")) else prod(raw.shape)
        else:
            count += prod(raw.shape) * 32 // bits
    return count


def _counted(parameters: int) -> str:
    """As Ollama writes it: 8.0B, 494.03M."""
    if parameters >= 1e9:
        return f"{parameters / 1e9:.1f}B"
    return f"{parameters / 1e6:.2f}M" if parameters >= 1e6 else f"{parameters / 1e3:.0f}K"


def modified(place: Path) -> str:
    """When its files were last changed."""
    latest = max((time for _, _, time in _files(place)), default=0)
    return timestamp(datetime.fromtimestamp(latest / 1e9, UTC))


def config_of(place: Path, found: StoredModel | None) -> Mapping[str, Any]:
    return found.config if found is not None else config_in(place)
