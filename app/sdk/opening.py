"""An engine that loads whatever kind of model is asked of it."""

from __future__ import annotations

from pathlib import Path

from engine.engine import Engine
from engine.loaded import LoadedPart
from engine.loading import LoadedModel, LoadOptions, load_any
from engine.settings import Settings

Loaded = LoadedModel | LoadedPart


def open_engine(
    name: str, options: LoadOptions | None, settings: Settings | None, profile: Path | None = None
) -> tuple[Engine, dict[str, Loaded]]:
    """With the model `name` loaded; the second is everything that is, by name. `profile`: where a Chrome trace of what the
    engine did is written at the end."""
    chosen = options or LoadOptions()
    loaded: dict[str, Loaded] = {}

    def load(name: str) -> Loaded:
        loaded[name] = load_any(name, chosen)
        return loaded[name]

    engine = Engine(load, settings, profile=profile)
    try:
        engine.load(name)
    except BaseException:
        engine.close()
        raise
    return engine, loaded
