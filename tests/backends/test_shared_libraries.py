"""torch's shared libraries are in memory before the import that would hold the interpreter's lock while they are loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
from pathlib import Path
from backends.torch import shared_libraries

def mapped():
    return "libtorch_cpu" in Path("/proc/self/maps").read_text()

seen = [mapped()]
shared_libraries.load()
seen += [mapped(), "torch" in sys.modules]
import torch
seen.append(torch.ones(2).sum().item())
shared_libraries.load()
print(seen)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what is in memory on Linux alone")
def test_the_libraries_are_loaded_without_an_import() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=240, check=True
    )
    assert ran.stdout.strip() == "[False, True, False, 2.0]"
