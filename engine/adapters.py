"""Adapters of loaded models: found by name, and put beside a model's weights. `backends.adapters` says how a step uses them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from backends.base import Adapters, Backend, Dense, Linear, Raw
from engine.errors import ModelNotFound, Unsupported
from engine.hub.resolve import resolve
from engine.models.config import text_fields
from engine.weights.lora import LoraFiles, LoraPair, fitted, is_adapter

# Model types whose linears belong to more than one network, or that write no text.
_WITHOUT = frozenset({"qwen3_tts", "moonshine", "moonshine_streaming", "paddleocr_vl", "whisper"})


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
    files: LoraFiles,
    *,
    merged: Collection[str] = (),
    always: bool = False,
) -> None:
    """Add an adapter to a model under the name `key`, or raise and change nothing. Without the modules that are `merged`. On
    the thread that runs the model."""
    if adapters is None:
        raise Unsupported(f"A model of the type `{config.get('model_type')}` takes no adapters.", "adapter")
    pairs = pairs_for(adapters, config, files, merged)
    made = {name: (_linear(backend, pair.a), _linear(backend, pair.scaled)) for name, pair in pairs.items()}
    if made or not always:
        adapters.put(key, made, always)


def pairs_for(
    adapters: Adapters, config: Mapping[str, Any], files: LoraFiles, merged: Collection[str] = ()
) -> dict[str, LoraPair]:
    """What an adapter adds to each matrix of a model, or raise."""
    shapes = {name: part.shape for name, part in adapters.parts.items()}
    return fitted(files, shapes, text_fields(config).values, merged)


def _linear(backend: Backend, raw: Raw) -> Linear:
    return backend.linear([Dense(raw)], [None])
