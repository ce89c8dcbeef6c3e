"""The end of a process that closed nothing: no thread of ours is killed inside an array library, which aborts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkpoints import save

# Replies run on all the time, so that the engine's thread is in C++ when the main thread fails.
UNCLOSED = """
import sys, threading, time
import grus

model = grus.load(sys.argv[1], backend=sys.argv[2], device="cpu", quant="none")
begun = threading.Event()

def talk():
    while True:
        try:
            for _ in model.stream("Hello " * 20, max_tokens=60, temperature=0):
                begun.set()
        except grus.GrusError:
            return

for _ in range(3):
    threading.Thread(target=talk, daemon=True).start()
begun.wait(60)
time.sleep(float(sys.argv[3]))
raise SystemExit("an error of the script's own")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("qwen3", tmp_path_factory.mktemp("exit") / "m")


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_script_that_fails_while_replies_run_ends_with_its_own_error(folder: Path, backend: str) -> None:
    for pause in (0.0, 0.05):
        arguments = [sys.executable, "-c", UNCLOSED, str(folder), backend, str(pause)]
        ended = subprocess.run(
            arguments, capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": os.getcwd()}
        )
        assert (ended.returncode, ended.stderr) == (1, "an error of the script's own\n")
