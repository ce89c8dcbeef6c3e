"""Command lines in a new process, as a person's are: nothing that another test imported or loaded is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.app.conftest import Outcome

ROOT = Path(__file__).resolve().parents[2]
# several command lines in one process, each with its own output: starting Python for every one would take minutes
_SCRIPT = """
import contextlib, io, json, os, sys
from app.cli import main
for arguments, given in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    sys.stdin = io.StringIO(given)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = stop.code
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
os._exit(0)  # how a process ends is seen where each command has one of its own: `grus` below
"""


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT), **more}


def grus(*arguments: object, given: str = "", **variables: str) -> Outcome:
    """`grus ARGUMENTS...`"""
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", *map(str, arguments)],
        input=given, capture_output=True, text=True, timeout=200, cwd=ROOT, env=environment(**variables),
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr)


def several(*commands: list[object], given: str = "", **variables: str) -> list[Outcome]:
    """The same for several command lines, one after the other in one new process; each reads `given`."""
    lines = [([str(word) for word in command], given) for command in commands]
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        input=json.dumps(lines), capture_output=True, text=True, timeout=280, cwd=ROOT, env=environment(**variables),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [Outcome(*json.loads(line)) for line in done.stdout.splitlines()]
