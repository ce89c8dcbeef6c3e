"""A window in which every pane has something to show: that of the pictures in the docs."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

_FILE = Path(__file__).resolve().parents[3] / "packaging" / "screenshots.py"


def _screenshots() -> ModuleType:
    spec = importlib.util.spec_from_file_location("grus_screenshots", _FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


screenshots = _screenshots()


def open_filled(app: Any, folder: Path, theme: str = "light", language: str = "en") -> Any:
    """Every pane has been opened; Chat is shown."""
    window = screenshots.prepared(app, folder, theme, language)
    screenshots.chat(app, window)
    for spec in window.specs:
        window.open_pane(spec.name)
        screenshots.spin(app, 0.2)
    screenshots.watched_folder(app, window)
    screenshots.libraries(app, window)
    screenshots.models(app, window)
    screenshots.server(app, window)
    screenshots.settings_of_tools(app, window)
    screenshots.settings_of_compute(app, window)
    window.open_pane("chat")
    window.context.core.update(
        model="Qwen3-0.6B", device="A processor with a name of its makers, 96 cores (CPU, kernels of its own)"
    )
    return window
