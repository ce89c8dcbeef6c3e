"""huggingface_hub, imported when it is first used (which takes long), and set to send only what a request needs.

The package loads its parts lazily and does not know its own submodules by name: `huggingface_hub.constants` is an
AttributeError until something imports that module. So each one that Grus uses is imported here.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

_SUBMODULES = ("constants", "errors", "utils")


def hub() -> Any:
    """Removes the names of installed libraries and of the running program, which it sends to Hugging Face by default."""
    package = import_module("huggingface_hub")
    for name in _SUBMODULES:
        import_module(f"huggingface_hub.{name}")
    package.constants.HF_HUB_DISABLE_TELEMETRY = True
    if "HF_HUB_VERBOSITY" not in os.environ:
        package.utils.logging.set_verbosity_error()  # its warnings would stand between the lines of a progress bar
    return package


def endpoint() -> str:
    """The hub's address without a slash at its end: `HF_ENDPOINT`, else huggingface.co."""
    given = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/")
    return given or str(hub().constants.ENDPOINT)
