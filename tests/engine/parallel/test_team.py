"""The processes of a split model: what they answer, and that nothing of them is left, however one of them ends."""

from __future__ import annotations

import os
import random
import shutil
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

from backends.torch.kernels import library
from engine.engine import Engine
from engine.errors import BackendUnavailable, EngineFault, EngineStopped, GrusError
from engine.loading import LoadedModel, LoadOptions, load
from engine.parallel import pipes
from engine.types import Request, SamplingParams, Started, Text
from tests.app.server.scripted import until
from tests.asserting import every
from tests.checkpoints import save
from tests.engine.parallel.test_ranks import LENGTH, Replies, assert_alike, prompts, replies, ties
from tests.processes import child_process

SLOW = pytest.mark.slow
SOON = 12.0  # seconds: five, and what a machine that runs two more of these tests takes (8.9 were seen)


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
        return self.engine.submit(Request("m", [1 + i % 250 for i in range(prompt)], how))

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
        until(lambda: not any(psutil.pid_exists(pid) for made in one.made if made.team for pid in made.team.pids))


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


def listening_by_ss(pids: list[int]) -> list[str]:
    """The same, as the system's own program has it."""
    lines = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout.splitlines()
    owned = [line.split()[3] for line in lines if any(f"pid={pid}," in line for pid in pids)]
    return [place.rpartition(":")[0].strip("[]") for place in owned]


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
        assert every(address == "127.0.0.1" for address in addresses)
        if shutil.which("ss") is not None:
            assert listening_by_ss([os.getpid(), *one.pids]) == addresses
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


@pytest.mark.slow
def test_a_rank_that_stops_is_given_up(folder: Path) -> None:
    with running(folder) as one:
        one.ask().result(120)
        handle = one.ask(3000)
        next(iter(handle))
        before = time.monotonic()
        os.kill(one.pids[0], signal.SIGSTOP)
        with pytest.raises(EngineFault, match=r"did not respond|made no progress"):
            handle.result(60)
        assert time.monotonic() - before < SOON


LEADER = """
import sys, time
from pathlib import Path
from tests.engine.parallel.test_team import Running
one, moment = Running(Path(sys.argv[1]), 3), sys.argv[2]
for event in one.ask(4 if moment == "Done" else 3000, 3500 if moment == "Started" else 5):
    print(type(event).__name__, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize(
    "moment", ["Done", pytest.param("load", marks=SLOW), *(pytest.param(at, marks=SLOW) for at in ("Started", "Text"))]
)
def test_nothing_is_left_of_a_leader_that_was_killed(moment: str, folder: Path, tmp_path: Path) -> None:
    """While the ranks load, in prefill, in decode and idle."""
    command = [sys.executable, "-c", LEADER, str(folder), moment]
    here = {**os.environ, "TMPDIR": str(tmp_path)}
    with child_process(command, stdout=subprocess.PIPE, text=True, env=here) as leader:
        assert leader.stdout is not None
        if moment == "load":
            until(lambda: len(psutil.Process(leader.pid).children()) == 2, 120)
            assert list(tmp_path.glob("grus-ranks-*"))
            until(lambda: all(alive_for(child, 1.0) for child in psutil.Process(leader.pid).children()), 120)
        else:
            next(line for line in leader.stdout if line.strip() == moment)
        pids = [child.pid for child in psutil.Process(leader.pid).children()]
        leader.kill()
    assert len(pids) == 2
    assert gone(pids)
    assert list(tmp_path.glob("grus-ranks-*")) == []


def alive_for(process: psutil.Process, seconds: float) -> bool:
    """Whether it has computed for so long: it has begun, and has not loaded its share."""
    return sum(process.cpu_times()[:2]) > seconds


def ended_with_a_sentence(handle: Any) -> None:
    with pytest.raises((EngineFault, BackendUnavailable), match="do not work together any more"):
        handle.result(120)


@pytest.mark.slow
@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("moment", ["idle", "prefill", "decode", "load"])
def test_each_rank_may_be_killed_at_any_time(moment: str, rank: int, folder: Path) -> None:
    with running(folder, 3) as one:
        if moment == "load":
            before = children()
            handle = one.ask(2000)
            while len(found := children() - before) < 2:
                time.sleep(0.01)
            os.kill(sorted(found)[rank - 1], signal.SIGKILL)
            ended_with_a_sentence(handle)
            assert gone(list(found))
        else:
            one.ask().result(120)
            pids = one.pids
            if moment == "idle":
                os.kill(pids[rank - 1], signal.SIGKILL)
            else:
                handle = one.ask(3000 if moment == "decode" else 4, 5 if moment == "decode" else 3500)
                for event in handle:
                    if isinstance(event, Text if moment == "decode" else Started):
                        break
                os.kill(pids[rank - 1], signal.SIGKILL)
                ended_with_a_sentence(handle)
            assert gone(pids)
        while one.engine.models():  # an idle model is unloaded within half a second
            time.sleep(0.05)
        assert one.ask().result(120).ids
        assert one.engine.stats().leaks == 0


@pytest.mark.slow
def test_a_rank_that_runs_out_of_memory_ends_the_request(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # ranks ask the system for all larger pieces, and hold no room in reserve
    for name, value in {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}.items():
        monkeypatch.setenv(name, value)
    with running(folder) as one:
        one.ask().result(120)
        process = psutil.Process(one.pids[0])
        room = process.memory_info().vms
        process.rlimit(psutil.RLIMIT_AS, (room, room))
        with pytest.raises(EngineFault, match=r"rank 1 \(cpu\) (ran out of memory|failed)"):
            one.ask(4, 3900).result(120)
        assert one.ask().result(120).ids


SPOILED = """
import time
from backends.ranks import Follower
from engine.parallel import follower
obey, steps = Follower.obey, []
def obeyed(self, message):
    steps.append(message[0])
    if steps.count("run") == 20:
        {fault}
    return obey(self, message)
Follower.obey = obeyed
follower.main()
"""


@SLOW
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("time.sleep(600)", r"made no progress for \d+ seconds"),
        ("raise ValueError('odd')", r"rank 1 \(cpu\) failed: ValueError: odd"),
        ("raise MemoryError", r"rank 1 \(cpu\) ran out of memory"),
    ],
)
def test_a_rank_that_hangs_or_raises_in_a_step(
    fault: str, words: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has loaded its share, and its other threads go on."""
    start = pipes.child_command
    monkeypatch.setattr(pipes, "child_command", lambda module: [sys.executable, "-c", SPOILED.format(fault=fault)])
    with running(folder) as one:
        one.ask(4).result(120)
        monkeypatch.setattr(pipes, "child_command", start)
        handle, pids = one.ask(3000), one.pids
        began = time.monotonic()
        with pytest.raises(EngineFault, match=f"do not work together any more: .*{words}"):
            handle.result(60)
        assert time.monotonic() - began < SOON
        assert gone(pids)
        assert one.ask().result(120).ids
        assert one.engine.stats().leaks == 0


@SLOW
def test_a_leader_that_runs_out_of_memory_ends_the_request(folder: Path) -> None:
    with running(folder) as one:
        one.ask().result(120)
        pids, (loaded,) = one.pids, one.made

        def no_room(segments: Any) -> Any:
            raise MemoryError

        loaded.runner.own.run = no_room
        with pytest.raises(EngineFault, match="do not work together any more: rank 0 ran out of memory"):
            one.ask().result(120)
        assert gone(pids)
        assert one.ask().result(120).ids
        assert one.engine.stats().leaks == 0


@pytest.mark.slow
def test_another_model_goes_on_when_a_rank_is_lost(folder: Path) -> None:
    made: dict[str, LoadedModel] = {}

    def begin(name: str) -> LoadedModel:
        made[name] = opened(folder, 2 if name == "split" else 1)
        made[name].name = name
        return made[name]

    how = SamplingParams(temperature=0.0, max_tokens=1500, ignore_eos=True)
    with Engine(begin) as engine:
        whole, split = (engine.submit(Request(name, [1, 2, 3], how)) for name in ("whole", "split"))
        next(iter(split))
        assert made["split"].team is not None
        os.kill(made["split"].team.pids[0], signal.SIGKILL)
        ended_with_a_sentence(split)
        assert len(whole.result(300).ids) == 1500
        assert [model.name for model in engine.models()] == ["whole"]


@pytest.mark.slow
def test_a_split_model_is_unloaded_in_the_middle_of_a_step(folder: Path) -> None:
    with running(folder) as one:
        handle = one.ask(3000)
        next(iter(handle))
        pids = one.pids
        one.engine.unload("m", cancel=True)
        with pytest.raises(EngineStopped, match="unloaded"):
            handle.result(60)
        assert gone(pids)
        assert one.ask().result(120).ids


def answers(engine: Engine, requests: list[Request]) -> Replies:
    results = engine.batch(requests)
    return [(list(one.ids), list(one.logprobs or ())) for one in results if not isinstance(one, GrusError)]


@SLOW
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_thirty_two_requests_among_processes(ranks: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """test_ranks.py compares every architecture; its ranks are threads."""
    monkeypatch.setenv("GRUS_KERNELS", "off")  # of the ranks
    monkeypatch.setattr(library, "available", lambda: False)
    alone = opened(folder, 1)
    asked = prompts(32, alone.vocab)
    expected = replies(alone, asked)
    with running(folder, ranks) as one:
        one.ask().result(120)
        how = SamplingParams(temperature=0.0, max_tokens=LENGTH, ignore_eos=True, logprobs=True)
        assert_alike(expected, answers(one.engine, [Request("m", ids, how) for ids in asked]))
        assert len(one.pids) == ranks - 1


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_two_thousand_requests(folder: Path) -> None:
    dice = random.Random(3)
    begins = [[dice.randrange(256) for _ in range(60)] for _ in range(6)]
    asked = [dice.choice(begins) + [dice.randrange(256) for _ in range(dice.randrange(1, 12))] for _ in range(2000)]
    how = SamplingParams(temperature=0.0, max_tokens=8, ignore_eos=True, logprobs=True, top_logprobs=2)
    requests = [Request("m", ids, how) for ids in asked]
    alone = opened(folder, 1)
    with Engine(lambda _: alone) as engine:
        expected = answers(engine, requests)
    with running(folder) as one:
        one.ask().result(120)
        engine = one.engine
        made = []
        for start in range(0, 2000, 200):
            made += answers(engine, requests[start : start + 200])
            if start == 200:
                before = psutil.Process(one.pids[0]).memory_info().rss
        ties(expected, [ids for ids, _ in made])
        assert engine.stats().leaks == 0
        assert psutil.Process(one.pids[0]).memory_info().rss < before + (64 << 20)
