"""The leader's watch over its ranks, with processes that only pretend to be some: what they die of, and that none is left."""

from __future__ import annotations

import marshal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from backends.base import GroupActivity
from backends.ranks import RanksLost
from engine.parallel import team as teams
from engine.parallel.follower import is_runnable
from engine.parallel.team import Patience, Team

HURRY = Patience(start=120.0, come=120.0, beat=60.0, hang=0.5, busy=60.0, end=5.0)
RANK = """
import os, sys, threading, time
sys.path.insert(0, {root!r})
from engine.parallel.pipes import PipeWriter, read_message
commands, reports = os.fdopen(0, "rb"), PipeWriter(os.fdopen(1, "wb"))
begun = read_message(commands)
done = 0
def beat():
    while True:
        reports.write(("beat", (done, 0, 0, 0.0)))
        time.sleep(0.05)
def seldom():
    while True:
        reports.write(("beat", (done, 0, 0, 0.0)))
        time.sleep(2)
{body}
while True:
    try:
        wants, message = read_message(commands)
    except EOFError:
        break
    done += 1
    if wants:
        reports.write(("answer", list(message)))
"""
READY = """
reports.write(("here",)); reports.write(("ready", {"budget": 5, "bytes": 1, "weights": begun["index"]}))
"""
READ_CALL = "read_message(commands)\n"
BEATS = "threading.Thread(target=beat, daemon=True).start()\n"
ROOT = str(Path(__file__).resolve().parents[3])


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Team]:
    def make(body: str, patience: Patience = HURRY) -> Team:
        code = RANK.format(root=ROOT, body=body)

        def started(ranks: int) -> subprocess.Popen[bytes]:
            return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        monkeypatch.setattr(teams, "_started", started)
        return Team("m", {}, ["cpu", "cpu", "cpu"], patience)

    return make


class Waiting:
    """A group in which the leader has waited since now."""

    def __init__(self) -> None:
        self.activity, self.aborted = GroupActivity(), False

    def wait(self) -> None:
        self.activity.since = time.monotonic()

    def abort(self) -> None:
        self.aborted = True

    def close(self) -> None:
        """Nothing to let go of."""


def watched(team: Team) -> tuple[str, Waiting]:
    """Why the ranks were given up while the leader waited."""
    group: Any = Waiting()
    team.group = group
    group.wait()
    deadline = time.monotonic() + 120
    while team.reason is None and time.monotonic() < deadline:
        time.sleep(0.02)
    team.close()
    assert not any(psutil.pid_exists(pid) for pid in team.pids)
    return team.reason or "", group


def test_ranks_receive_calls_answer_and_end(made: Callable[..., Team]) -> None:
    team = made(READY + BEATS)
    assert team.place.parent.stat().st_mode & 0o777 == 0o700
    assert [report["weights"] for report in team.ready()] == [1, 2]
    assert not team.place.parent.exists()  # all ranks are connected
    team.send([("open", 0, 5)])
    assert team.ask(("export", 3)) == [["export", 3], ["export", 3]]
    assert team.sent[0] == 3  # what to load, and two calls
    assert team.reason is None
    team.close()
    assert team.over
    assert not any(psutil.pid_exists(pid) for pid in team.pids)


def test_a_rank_that_gets_nothing_done_is_given_up(made: Callable[..., Team]) -> None:
    team = made(READY + BEATS)
    team.ready()
    reason, group = watched(team)
    assert "made no progress" in reason
    assert group.aborted
    with pytest.raises(RanksLost, match="made no progress"):
        team.send([("open", 0, 5)])


def given_up(team: Team) -> str:
    deadline = time.monotonic() + 120
    while team.reason is None and time.monotonic() < deadline:
        time.sleep(0.02)
    team.close()
    return team.reason or ""


def test_a_rank_that_carries_out_nothing_is_given_up_while_nobody_waits(made: Callable[..., Team]) -> None:
    """A GPU's leader continues: operations between ranks do not block it."""
    team = made(READY + BEATS + "time.sleep(600)\n")
    team.ready()
    assert team.reason is None
    team.send([("open", 0, 5)])
    assert "rank 1 (cpu) and rank 2 (cpu) made no progress" in given_up(team)


def test_a_step_that_does_not_end_is_given_up(made: Callable[..., Team]) -> None:
    """Devices that wait for each other: every rank has carried out its calls."""
    team = made(READY + BEATS, replace(HURRY, step=0.5))
    team.ready()
    team.ask(("run", 0))
    time.sleep(1.0)
    assert team.reason is None  # nothing is expected of ranks that are idle
    with team.reading():
        assert "made no progress" in given_up(team)


def test_ranks_are_not_given_up_because_the_machine_stood_still(
    made: Callable[..., Team], monkeypatch: pytest.MonkeyPatch
) -> None:
    team = made(READY + BEATS.replace("beat", "seldom"), replace(HURRY, beat=5.0, hang=60.0))
    team.ready()
    jumped = threading.Event()

    def later() -> float:
        return time.monotonic() + (1000.0 if jumped.is_set() else 0.0)

    monkeypatch.setattr(teams, "time", SimpleNamespace(monotonic=later, sleep=time.sleep))
    time.sleep(0.5)
    jumped.set()
    time.sleep(1.0)
    assert team.reason is None
    team.close()


@pytest.mark.parametrize(
    ("now", "progressed"),
    [
        ((7, 9, 3, 1.0), False),
        ((8, 9, 3, 1.0), True),  # a call was carried out
        ((7, 10, 3, 1.0), True),  # an operation was done
        ((7, 9, 4, 1.0), True),  # a page was read from disk
        ((7, 9, 3, 1.1), False),  # what a thread that only waits takes
        ((7, 9, 3, 2.5), True),  # computes
    ],
)
def test_ranks_that_work_are_waited_for(now: tuple[float, ...], progressed: bool) -> None:
    assert teams._made_progress((7, 9, 3, 1.0), now, 3.0) is progressed


def test_a_rank_that_waits_for_a_cpu_is_no_rank_that_hangs(tmp_path: Path) -> None:
    for thread, stat in {7: "7 (a (b) S) S 1 1", 8: "8 (python) R 1 1"}.items():
        (tmp_path / str(thread)).mkdir()
        (tmp_path / str(thread) / "stat").write_text(stat + "\n")
    assert is_runnable(7, tmp_path)
    assert not is_runnable(8, tmp_path)
    assert not is_runnable(8, tmp_path / "none")


def test_a_rank_that_gives_no_sign_of_life_is_given_up(made: Callable[..., Team]) -> None:
    team = made(READY, replace(HURRY, beat=0.5, hang=60.0))
    team.ready()
    assert "did not respond" in watched(team)[0]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (READY + BEATS + READ_CALL + "os._exit(3)\n", "ended with status 3"),
        (READY + READ_CALL + 'reports.write(("failed", "memory", "x"))\n', "ran out of memory"),
        (READY + READ_CALL + 'reports.write(("failed", "KeyError", "7"))\n', "failed: KeyError: 7"),
    ],
)
def test_how_a_rank_ended_is_said(body: str, words: str, made: Callable[..., Team]) -> None:
    team = made(body, replace(HURRY, hang=60.0))
    team.ready()
    with suppress(RanksLost):  # where the first rank has ended before the second is written to
        team.send([("open", 0, 5)])
    reason = watched(team)[0]
    assert words in reason
    assert reason.endswith("It is loaded again when it is next used.")


def test_ranks_that_do_not_start_are_ended(made: Callable[..., Team]) -> None:
    before = set(psutil.Process().children())
    with pytest.raises(RanksLost, match="did not start within 0 seconds"):
        made("time.sleep(60)\n", replace(HURRY, come=0.3, end=0.2))
    with pytest.raises(RanksLost, match="ended with status 4"):
        made("os._exit(4)\n")
    assert set(psutil.Process().children()) <= before


def test_ranks_of_which_one_cannot_be_started_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, started = set(psutil.Process().children()), teams._started

    def second_fails(ranks: int) -> subprocess.Popen[bytes]:
        monkeypatch.setattr(teams, "_started", fails)
        return started(ranks)

    def fails(ranks: int) -> subprocess.Popen[bytes]:
        raise OSError("Resource temporarily unavailable")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(teams, "_started", second_fails)
    with pytest.raises(RanksLost, match="Resource temporarily unavailable"):
        Team("m", {}, ["cpu", "cpu", "cpu"], HURRY)
    assert list(tmp_path.iterdir()) == []
    assert set(psutil.Process().children()) <= before


def test_a_rank_that_does_not_read_is_ended(made: Callable[..., Team]) -> None:
    team = made(READY + BEATS + "time.sleep(600)\n", replace(HURRY, hang=60.0, end=0.2))
    team.ready()
    rest = (1 << 16) - 16 - len(marshal.dumps((False, ("import", b""))))  # of a pipe, but for a few bytes
    team.send([("import", b"x" * rest)])
    team.close()
    assert not any(psutil.pid_exists(pid) for pid in team.pids)


def test_the_leaders_own_failure_ends_the_ranks(made: Callable[..., Team]) -> None:
    team = made(READY + BEATS)
    team.ready()
    assert "rank 0 ran out of memory" in str(team.lost(MemoryError()))
    assert "rank 0 ran out of memory" in str(team.lost(ValueError("later")))  # the first reason stays
    team.close()
    assert not any(psutil.pid_exists(pid) for pid in team.pids)
