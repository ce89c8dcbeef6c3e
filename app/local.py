"""The engine on this machine as the preferences have it: which models, loaded how, with how much memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.window_engine import DownloadProgress

if TYPE_CHECKING:
    from app.gui.preferences import Preferences
    from app.runtime.models import ModelService


def local_service(
    preferences: Preferences,
    models: Mapping[str, str],
    tell: Callable[[str], None] = lambda sentence: None,
) -> ModelService:
    """`models`: names and sources that may be downloaded. `tell` hears how far a download is."""
    from app.runtime.catalogue import Catalogue
    from app.runtime.models import ModelService
    from app.server.metrics import Meters
    from engine.engine import Engine
    from engine.loading import LoadOptions, fetch, load_any, pick_backend, weight_bytes
    from engine.settings import Settings, memory_limit

    limit = preferences.get("memory_limit") or Settings.gpu_memory_limit
    settings = Settings(gpu_memory_limit=limit)

    def where(source: str) -> LoadOptions:
        return LoadOptions(
            backend=preferences.get("backend", "auto"),
            device=preferences.get("device", "auto"),
            cache_dir=preferences.get("cache_dir"),
            download=source in models.values(),
            progress=DownloadProgress(tell, source),
        )

    def load_source(source: str) -> Any:
        chosen = where(source)
        return load_any(source, replace(chosen, memory_limit=memory_limit(limit, pick_backend(chosen).memory().total)))

    named = {**models, **dict(preferences.get("models", {}))}
    folder = preferences.get("models_folder")
    catalogue = Catalogue(named, Path(folder).expanduser() if folder else None, preferences.get("cache_dir"))
    catalogue.more_folders = [Path(more) for more in preferences.get("model_folders", [])]
    return ModelService(
        lambda load: Engine(load, settings),
        load_source,
        catalogue,
        Meters(),
        fetch=lambda source: fetch(source, where(source)),
        size=lambda source: weight_bytes(source, where(source)),
    )
