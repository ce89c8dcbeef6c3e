"""Files that ship with Grus and are not code. `path` finds them in a checkout, a wheel and a bundle."""

from __future__ import annotations

from pathlib import Path


def path(*names: str) -> Path:
    """The file or folder `names` within the resources."""
    return Path(__path__[0], *names)
