"""An engine that loads whatever kind of model is asked of it."""

from __future__ import annotations

from engine.engine import Engine
from engine.loading import LoadedModel, LoadOptions, load_any
from engine.parts import LoadedPart
from engine.settings import Settings

Loaded = LoadedModel | LoadedPart


def open_engine(name: str, options: LoadOptions | None, settings: Settings | None) -> tuple[Engine, dict[str, Loaded]]:
    """With the model `name` loaded; the second is everything that is, by name."""
    chosen = options or LoadOptions()
    loaded: dict[str, Loaded] = {}

    def load(name: str) -> Loaded:
        loaded[name] = load_any(name, chosen)
        return loaded[name]

    engine = Engine(load, settings)
    try:
        engine.load(name)
    except BaseException:
        engine.close()
        raise
    return engine, loaded
