"""Fixtures: one real `grus serve` in a process of its own, with models made by hand that call a tool and then answer."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clients.models import MODELS

START_SECONDS = 60


@dataclass
class GrusServer:
    url: str
    log: Path

    def logged(self) -> int:
        return self.log.stat().st_size

    def refused(self, since: int) -> str:
        """The log's lines about requests that were not answered with 200, for the message of a test that fails."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").encode()[since:].decode(errors="replace")
        return "\n".join(line for line in lines.splitlines() if re.search(r" (GET|POST|HEAD) \S+ [45]\d\d", line))


@pytest.fixture(scope="session")
def grus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GrusServer]:
    folder = tmp_path_factory.mktemp("grus")
    command = [
        sys.executable,
        "-m",
        "app.cli",
        "serve",
        "--device",
        "cpu",
        "--port",
        "0",
        "--log-level",
        "info",
        "--offline",
    ]
    command += ["--grace", "0", "--responses-file", str(folder / "responses.json")]
    for name, model in MODELS.items():
        command += ["--model", f"{name}={model().save(folder / name)}"]
    log = folder / "log.txt"
    tree = Path(__file__).resolve().parents[2]
    with (
        log.open("wb") as output,
        subprocess.Popen(command, cwd=tree, stdout=output, stderr=subprocess.STDOUT) as process,
    ):
        try:
            yield GrusServer(_address(process, log), log)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(r"Grus serves on (\S+)", log.read_text(encoding="utf-8")):
            return found[1]
        time.sleep(0.05)
    raise RuntimeError(f"grus serve did not start:\n{log.read_text(encoding='utf-8')}")
