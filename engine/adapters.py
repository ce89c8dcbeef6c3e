"""Adapters of loaded models: found by name, and put beside a model's weights. `backends.adapters` says how a step uses them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from backends.base import Adapters, Backend, Dense, Linear, Raw
from engine.errors import ModelNotFound, Unsupported, UnsupportedArchitecture
from engine.hub.resolve import resolve
from engine.models.config import text_fields
from engine.weights.lora import LoraFiles, fitted, is_adapter
from engine.weights.lora_pair import LoraPair, joined

# Model types whose linears belong to more than one network, or that write no text.
_WITHOUT = frozenset({"qwen3_tts", "pocket_tts", "moonshine", "moonshine_streaming", "paddleocr_vl", "whisper"})


def adapters_for(config: Mapping[str, Any]) -> Adapters | None:
    """What a model of this kind is built with, so that it can take adapters; None for one that takes none."""
    return None if config.get("model_type") in _WITHOUT else Adapters()


def find_adapter(
    source: str,
    cache_dir: str | None = None,
    download: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """The folder or file of an adapter: a path, or a repository's, downloaded where needed and allowed."""
    path = resolve(source, cache_dir=cache_dir, download=download, progress=progress)
    if not is_adapter(path):
        raise ModelNotFound(
            f"{source} is a model, not an adapter: it has no adapter_config.json, and is no GGUF adapter."
        )
    return path


def put_adapter(
    adapters: Adapters | None,
    backend: Backend,
    config: Mapping[str, Any],
    key: str,
    *files: LoraFiles,
    merged: Collection[str] | None = None,
    always: bool = False,
) -> None:
    """Add an adapter, or the sum of several, to a model under the name `key`, or raise and change nothing. Without the modules that are `merged`; None: it
    is one that requests choose. On the thread that runs the model."""
    if adapters is None:
        raise Unsupported(f"A model of the type `{config.get('model_type')}` takes no adapters.", "adapter")
    found = [pairs_for(adapters, config, one, merged) for one in files]
    names = {name: [pairs[name] for pairs in found if name in pairs] for pairs in found for name in pairs}
    made = {name: _linears(backend, *joined(pairs)) for name, pairs in names.items()}
    if made or not always:
        adapters.put(key, made, always)


def pairs_for(
    adapters: Adapters, config: Mapping[str, Any], files: LoraFiles, merged: Collection[str] | None = None
) -> dict[str, LoraPair]:
    """What an adapter adds to each matrix of a model, or raise."""
    shapes = {name: part.shape for name, part in adapters.parts.items()}
    found = fitted(files, shapes, text_fields(config).values, merged)
    if whole := next((name for name, pair in found.items() if pair.magnitude is not None), None):
        raise UnsupportedArchitecture(
            f"The adapter {files.where} has DoRA, which changes all of {whole}, and this model stores that quantized or shares it with "
            "its embedding. Merge the adapter into the plain checkpoint."
        )
    return found


def _linears(backend: Backend, a: Raw, b: Raw) -> tuple[Linear, Linear]:
    return backend.linear([Dense(a)], [None]), backend.linear([Dense(b)], [None])
