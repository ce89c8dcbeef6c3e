"""What this server calls itself."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def server_version() -> str:
    try:
        return version("grus")
    except PackageNotFoundError:
        return "0"
