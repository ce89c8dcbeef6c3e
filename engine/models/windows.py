"""Sliding windows: which layers attend to the last tokens only."""

from __future__ import annotations

from engine.errors import ConfigError
from engine.models.config import TextConfig

SLIDING, FULL = "sliding_attention", "full_attention"


def sliding_layers(c: TextConfig, pattern: int = 0, first: int | None = None) -> list[bool]:
    """Whether each layer is one with a window. Where a config does not name the layers: of every `pattern` the last is not (0: all
    are); with `first`, as many at the beginning are not."""
    f = c.fields
    kinds = f.find("layer_types", default=None)
    if kinds is None:
        pattern = f.int("sliding_window_pattern", default=pattern, least=0)
        skipped = 0 if first is None else f.int("max_window_layers", default=first, least=0)
        return [i >= skipped and (not pattern or (i + 1) % pattern > 0) for i in range(c.layers)]
    if not isinstance(kinds, list) or len(kinds) != c.layers or any(kind not in (SLIDING, FULL) for kind in kinds):
        raise ConfigError(f"{f.where}: layer_types must name {SLIDING} or {FULL} for each layer.")
    return [kind == SLIDING for kind in kinds]


def layer_windows(c: TextConfig, used: bool = True, pattern: int = 0, first: int | None = None) -> list[int | None]:
    """The window of each layer; None where it attends to everything. `used`: whether the window counts where a config does not say
    so; the others as in `sliding_layers`."""
    window = c.fields.int("sliding_window", default=0, least=0)
    if not window or window >= c.context or not c.fields.flag("use_sliding_window", used):
        return [None] * c.layers
    return [window if sliding else None for sliding in sliding_layers(c, pattern, first)]
