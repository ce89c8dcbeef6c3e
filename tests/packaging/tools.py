"""What the tests of packaging need beyond the project: scripts of packaging/ as modules, and the tools of its requirements.txt."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".venv-packaging"  # `make setup-packaging`


def script(name: str) -> ModuleType:
    """A script of packaging/, which is no package."""
    folder = str(ROOT / "packaging")
    spec = importlib.util.spec_from_file_location(name, f"{folder}/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
        del sys.modules[name]
    return module


def need_tool(name: str) -> str:
    """The path of a tool of packaging/requirements.txt. Skips the test where there is none."""
    found = shutil.which(name, path=os.pathsep.join([str(ENVIRONMENT / "bin"), os.environ.get("PATH", "")]))
    if found is None:
        pytest.skip(f"needs {name} of packaging/requirements.txt: make setup-packaging")
    return found
