"""Fixtures: one real `grus serve` in a process of its own, with models made by hand that call a tool and then answer."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.clients.models import MODELS

START_SECONDS = 300


class ByProgram(LoadScopeScheduling):
    """All cells of a program go to one worker, where they share a process of it; so do the tests of a file, and those on MLX.

    xdist's own groups are the ends of node ids, which pytest 9.2 no longer shows.
    """

    def _split_scope(self, nodeid: str) -> str:
        if cell := re.search(r"::test_a_program\[(.+): [^:]+\]$", nodeid):
            return cell[1]
        return nodeid.partition("[")[0] if "[" in nodeid else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByProgram:
    return ByProgram(config, log)


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


@contextmanager
def served(folder: Path, models: Iterable[str], *options: str) -> Iterator[GrusServer]:
    command = [sys.executable, "-m", "app.cli", "serve", "--device", "cpu", "--port", "0", "--log-level", "info"]
    command += ["--offline", "--grace", "0", "--responses-file", str(folder / "responses.json"), *options]
    for name in models:
        # SGLang's frontend takes its chat template from the folder's name
        command += ["--model", f"{name}={MODELS[name]().save(folder / f'Qwen3-{name}-Instruct')}"]
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


@pytest.fixture(scope="session")
def grus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GrusServer]:
    with served(tmp_path_factory.mktemp("grus"), MODELS) as server:
        yield server


@pytest.fixture(scope="session")
def grus_on_mlx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GrusServer]:
    models = ["claude-code", "claude-code-object", "codex"]
    with served(tmp_path_factory.mktemp("mlx"), models, "--backend", "mlx") as server:
        yield server


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(r"Grus serves on (\S+)", log.read_text(encoding="utf-8")):
            return found[1]
        time.sleep(0.05)
    raise RuntimeError(f"grus serve did not start:\n{log.read_text(encoding='utf-8')}")
