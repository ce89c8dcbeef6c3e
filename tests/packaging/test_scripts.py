"""The scripts in packaging/, as a person calls them who does not know what they do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.tools import ROOT

SCRIPTS = [path for path in sorted((ROOT / "packaging").glob("*.py")) if "__main__" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_that_is_asked_for_help_prints_it_and_does_nothing_else(path: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-B", str(path), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: {path.name} ")
    assert list(tmp_path.iterdir()) == []
