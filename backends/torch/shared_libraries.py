"""Loads torch's shared libraries before `import torch`, without the interpreter's lock.

An import holds the lock while the loader reads and relocates 400 MB of libraries: every other thread stands still, and a
window with them, for 170 to 400 ms. A function that is called through ctypes gives the lock away.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from pathlib import Path

_ORDER = ("libtorch_global_deps", "libtorch_python")  # the second needs all others


def load() -> None:
    """Does nothing where torch is imported already, on Windows, or where the libraries have other names."""
    if "torch" in sys.modules or sys.platform == "win32":
        return
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        return
    folder = Path(spec.submodule_search_locations[0]) / "lib"
    dlopen = ctypes.CDLL(None).dlopen
    dlopen.restype, dlopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_int]
    for name in _ORDER:
        file = folder / f"{name}{'.dylib' if sys.platform == 'darwin' else '.so'}"
        if (
            file.is_file()
        ):  # global as torch itself has it; what cannot be opened fails in the import, with torch's own words
            dlopen(os.fsencode(file), os.RTLD_NOW | (os.RTLD_GLOBAL if name == _ORDER[0] else os.RTLD_LOCAL))
