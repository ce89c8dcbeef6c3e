"""The model named `system`: no weights. It is here so that the system's voices are loaded, listed and chosen like any model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.weights.view import View


def system_voice(w: View, config: Mapping[str, Any]) -> None:
    """There is nothing to compute."""
