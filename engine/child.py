"""A module of Grus as a program of its own: from source, from a wheel, and in a bundle, where `sys.executable` is Grus."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def child_command(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]


def child_environment() -> dict[str, str]:
    """Grus is found from any folder, and nothing is imported from the folder that a person happens to be in."""
    root = str(Path(__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
