"""The processes of a split model: what they answer, and that nothing of them is left, however one of them ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine.engine import Engine
from engine.errors import EngineFault
from engine.loading import LoadedModel, LoadOptions, load
from engine.types import Request, SamplingParams
from tests.asserting import every
from tests.checkpoints import save

SOON = 8.0  # seconds: five, and what a machine that does other things takes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("llama", tmp_path_factory.mktemp("team") / "m", max_position_embeddings=4096)


def opened(folder: Path, ranks: int = 2) -> LoadedModel:
    how: dict[str, Any] = dict(backend="torch", device="cpu", dtype="f32", quant="none", tensor_parallel=ranks)
    return load(str(folder), LoadOptions(**how))


class Running:
    """An engine whose model is split, with what its loadings made."""

    def __init__(self, folder: Path, ranks: int = 2) -> None:
        self.made: list[LoadedModel] = []
        self.loading = threading.Event()

        def begin(name: str) -> LoadedModel:
            self.loading.set()
            self.made.append(opened(folder, ranks))
            return self.made[-1]

        self.engine = Engine(begin)

    def ask(self, length: int = 4, prompt: int = 5) -> Any:
        how = SamplingParams(temperature=0.0, max_tokens=length, ignore_eos=True)
        return self.engine.submit(Request("m", list(range(1, prompt + 1)), how))

    @property
    def pids(self) -> list[int]:
        team = self.made[-1].team
        assert team is not None
        return team.pids


@contextmanager
def running(folder: Path, ranks: int = 2) -> Iterator[Running]:
    one = Running(folder, ranks)
    try:
        yield one
    finally:
        one.engine.close()
        every(not psutil.pid_exists(pid) for made in one.made if made.team for pid in made.team.pids)


def children() -> set[int]:
    return {process.pid for process in psutil.Process().children(recursive=True)}


def gone(pids: list[int], seconds: float = SOON) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in pids):
            return True
        time.sleep(0.05)
    return False


def listening(pids: list[int]) -> list[str]:
    """Addresses that these processes listen on."""
    found = [connection for pid in pids for connection in psutil.Process(pid).net_connections("inet")]
    return [connection.laddr.ip for connection in found if connection.status == psutil.CONN_LISTEN]


def test_two_processes_answer_again_after_one_was_killed(folder: Path) -> None:
    alone = opened(folder, 1)
    engine = Engine(lambda _: alone)
    how = SamplingParams(temperature=0.0, max_tokens=12, ignore_eos=True)
    expected = engine.submit(Request("m", [1, 2, 3, 4, 5], how)).result(120).ids
    engine.close()
    with running(folder) as one:
        assert one.ask(12).result(120).ids == expected
        addresses = listening([os.getpid(), *one.pids])
        assert addresses
        every(address == "127.0.0.1" for address in addresses)
        handle = one.ask(3000)
        events = iter(handle)
        next(events)
        before = time.monotonic()
        os.kill(one.pids[0], signal.SIGKILL)
        with pytest.raises(EngineFault, match="do not work together any more: rank 1 \\(cpu\\) was ended by signal 9"):
            handle.result(60)
        assert time.monotonic() - before < SOON
        assert one.engine.stats().leaks == 0
        assert one.ask(12).result(120).ids == expected
        assert len(one.made) == 2


def test_a_rank_that_stops_is_given_up(folder: Path) -> None:
    with running(folder) as one:
        one.ask().result(120)
        handle = one.ask(3000)
        next(iter(handle))
        before = time.monotonic()
        os.kill(one.pids[0], signal.SIGSTOP)
        with pytest.raises(EngineFault, match=r"did not (respond|get on)"):
            handle.result(60)
        assert time.monotonic() - before < SOON


LEADER = """
import sys, time
from tests.engine.parallel.test_team import opened
from pathlib import Path
loaded = opened(Path(sys.argv[1]))
print(*loaded.team.pids, loaded.team.place.parent, flush=True)
time.sleep(600)
"""


def test_nothing_is_left_of_a_leader_that_was_killed(folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", LEADER, str(folder)], stdout=subprocess.PIPE, text=True) as leader:
        assert leader.stdout is not None
        *pids, place = leader.stdout.readline().split()
        leader.kill()
    assert gone([int(pid) for pid in pids])
    assert not Path(place).exists()
