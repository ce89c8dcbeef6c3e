"""Typed access to a GGUF file's metadata."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.errors import ConfigError, UnsupportedArchitecture
from engine.weights.gguf.reader import Elements

_BY_LAYER = {  # numbers that may differ between layers
    "gemma4": ("attention.head_count_kv", "feed_forward_length"),
    "laguna": ("attention.head_count",),
}


class Keys:
    """Typed access to the metadata of one architecture."""

    def __init__(self, metadata: Mapping[str, Any], arch: str, where: str) -> None:
        self.metadata = metadata
        self.arch = arch
        self.where = where

    def find(self, name: str) -> Any:
        return self.metadata.get(f"{self.arch}.{name}")

    def each(self, name: str, layers: int) -> list[Any]:
        """One number or flag for each layer."""
        value = self.find(name)
        if not isinstance(value, Elements):
            return [self.int(name)] * layers
        if value.count < layers:
            raise ConfigError(f"{self.where}: {self.arch}.{name} has {value.count} numbers for {layers} layers.")
        return list(value.numbers()[:layers].tolist())

    def int(self, name: str, default: Any = None, least: int = 1, most: int = 1 << 31) -> int:
        value = self.find(name)
        if isinstance(value, Elements) and value.count:  # some writers give one number a layer, mostly all alike
            value = int(value.numbers()[0]) if name in _BY_LAYER.get(self.arch, ()) else self._same(name, value)
        if value is None:
            value = default
        if value is None:
            raise ConfigError(f"{self.where} lacks {self.arch}.{name}.")
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ConfigError(
                f"{self.where}: {self.arch}.{name} must be a whole number from {least} to {most:,}, not {value!r}."
            )
        return value

    def float(self, name: str, default: float, above: float = 0.0) -> float:
        value = self.find(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not above < value < math.inf:
            raise ConfigError(f"{self.where}: {self.arch}.{name} must be a number above {above:g}, not {value!r}.")
        return float(str(np.float32(value)))

    def _same(self, name: str, value: Elements) -> Any:
        numbers = set(value.numbers().tolist())
        numbers = numbers - {0} or numbers  # where some layers have none
        if len(numbers) > 1:
            raise UnsupportedArchitecture(
                f"{self.where}: {self.arch}.{name} differs between layers, which is not supported."
            )
        return numbers.pop()
