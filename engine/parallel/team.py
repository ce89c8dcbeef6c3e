"""The processes that hold the other ranks of a split model. The leader starts them, sends them its calls, watches and ends them.

A thread watches them. When one rank ends, fails, stops or hangs, all are killed, which also wakes a leader that waits for them, and
every later call of the leader raises `RanksLost` with the first reason.
"""

from __future__ import annotations

import json
import queue
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.base import GroupActivity, RankGroup
from backends.ranks import Message, RanksLost, ran_out
from engine.parallel.pipes import PipeWriter, how_ended, read_message, start_child


@dataclass(frozen=True)
class Patience:
    """Seconds."""

    start: float = 600.0  # for a rank to load its share
    come: float = 120.0  # for its process to start
    beat: float = 3.0  # without a sign of life
    hang: float = 3.0  # without progress, while the leader waits for ranks or one has calls to carry out
    step: float = 10.0  # without progress, while the leader waits for its own device: a GPU's ranks do so in every step
    busy: float = 120.0  # while the leader waits and a rank makes progress
    end: float = 2.0  # for a process to end by itself


IDLE_SHARE = 0.05  # of a CPU: a rank that uses less makes no progress
STOOD_STILL = 1.0  # seconds that a tick took: the machine was suspended, or too busy for this process
_TICK = 0.1


class _Follower:
    def __init__(self, index: int, device: str, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.index, self.device, self.process = index, device, process
        self.commands, self.reports = PipeWriter(process.stdin), process.stdout
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.last_report = time.monotonic()
        self.activity: tuple[float, ...] = (0, 0, 0, 0.0)
        self.calls = 0  # that were sent to it

    @property
    def called(self) -> str:
        return f"rank {self.index} ({self.device})"

    @property
    def behind(self) -> bool:
        """Whether it has calls to carry out."""
        return self.activity[0] < self.calls


class Team:
    """Implements `backends.ranks.Link`, and `engine.parallel.first_rank.FirstLink` where the first rank is apart."""

    def __init__(
        self,
        name: str,
        options: Mapping[str, Any],
        devices: Sequence[str],
        patience: Patience = Patience(),
        apart: bool = False,
    ) -> None:
        """`options`: how each rank loads `name`; `devices`: of all ranks, the first one's first; `apart`: that one has a process of
        its own too."""
        self._patience, self.devices = patience, tuple(devices)
        self._folder = Path(tempfile.mkdtemp(prefix="grus-ranks-"))  # mode 0700
        self.place = self._folder / "meeting"
        self._reason: str | None = None
        self.complete = self._closing = False
        self._guard = threading.Lock()
        self._busy_since: float | None = None  # when the leader began to write a message or to wait for an answer
        self._reading_since: float | None = None  # when it began to wait for a step's results
        self.group: RankGroup | None = None
        self._processes: list[_Follower] = []  # of all ranks but the leader
        self._followers: list[_Follower] = []  # that repeat the first rank's calls
        try:
            for index, device in enumerate(devices):
                if index or apart:
                    self._processes.append(_Follower(index, device, _started(len(devices))))
            self._followers = self._processes[-(len(devices) - 1) :]
            for follower in self._processes:
                threading.Thread(target=self._listen, args=(follower,), daemon=True).start()
                begin = {"name": name, "options": {**options, "device": follower.device}, "index": follower.index}
                follower.commands.write({**begin, "place": str(self.place)})
            self._watcher = threading.Thread(target=self._watch, name="grus-ranks", daemon=True)
            self._watcher.start()
            for follower in self._processes:
                self._expect(follower, "here", patience.come)
            if apart:
                _write_addresses(self.place, len(devices))
        except OSError as error:
            lost = self.lost(error)
            self.close()
            raise lost from error
        except BaseException:
            self.close()
            raise

    @property
    def followers(self) -> int:
        return len(self._followers)

    @property
    def pids(self) -> list[int]:
        return [follower.process.pid for follower in self._processes]

    @property
    def sent(self) -> tuple[int, int]:
        """Messages and bytes to each follower so far."""
        return self._followers[0].commands.messages, self._followers[0].commands.bytes

    @property
    def over(self) -> bool:
        return self._reason is not None or self._closing

    @property
    def reason(self) -> str | None:
        """Why the ranks were lost; None while they are not."""
        return self._reason

    def ready(self) -> list[dict[str, Any]]:
        """Each process's report on its share, once all have loaded."""
        reports = [self._expect(follower, "ready", self._patience.start) for follower in self._processes]
        shutil.rmtree(self._folder, ignore_errors=True)  # all ranks are connected
        self.complete = True
        return reports

    def _expect(self, follower: _Follower, what: str, seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        while True:
            if self._reason is not None:
                raise RanksLost(self._reason)
            try:
                kind, *given = follower.answers.get(timeout=_TICK)
            except queue.Empty:
                if time.monotonic() > deadline:
                    raise self._give_up(f"{follower.called} did not start within {seconds:.0f} seconds") from None
                continue
            if kind == what:
                return given[0] if given else None

    # -- the leader's calls

    def send(self, messages: Sequence[Message]) -> None:
        self._write(self._followers, messages, False)

    def ask(self, message: Message) -> list[Any]:
        return self._ask(self._followers, message)

    def send_first(self, message: Message) -> None:
        self._write(self._processes[:1], [message], False)

    def ask_first(self, message: Message) -> Any:
        return self._ask(self._processes[:1], message)[0]

    def _ask(self, whom: Sequence[_Follower], message: Message) -> list[Any]:
        self._write(whom, [message], True)
        self._busy_since = time.monotonic()
        try:
            return [self._expect(follower, "answer", self._patience.busy) for follower in whom]
        finally:
            self._busy_since = None

    def _write(self, whom: Sequence[_Follower], messages: Sequence[Message], wants: bool) -> None:
        if self._reason is not None:
            raise RanksLost(self._reason)
        self._busy_since = time.monotonic()
        follower = whom[0]
        try:
            for i, follower in enumerate(whom):
                follower.commands.write((wants, messages[i if len(messages) > 1 else 0]))
                follower.calls += 1
        except (OSError, ValueError):
            time.sleep(_TICK)  # its exit status is a better reason than the broken pipe
            raise self._give_up(f"{follower.called} has ended") from None
        finally:
            self._busy_since = None

    @contextmanager
    def reading(self) -> Iterator[None]:
        self._reading_since = time.monotonic()
        try:
            yield
        finally:
            self._reading_since = None

    def lost(self, error: BaseException) -> RanksLost:
        if isinstance(error, RanksLost):
            return error
        time.sleep(2 * _TICK)  # a failed follower's own report is the better reason
        for follower in self._processes:
            if follower.process.poll() is not None:
                time.sleep(_TICK)
        memory = ran_out(error)
        message = str(error).strip().partition("\n")[0][:200]
        return self._give_up(
            "rank 0 ran out of memory" if memory else f"rank 0 failed: {type(error).__name__}: {message}"
        )

    def _give_up(self, reason: str) -> RanksLost:
        """Kill all followers. The first reason is kept."""
        with self._guard:
            if self._reason is None:
                self._reason = f"The model's devices do not work together any more: {reason}. It is loaded again when it is next used."
        for follower in self._processes:
            follower.process.kill()
        if self.group is not None:
            self.group.abort()
        return RanksLost(self._reason)

    # -- threads

    def _listen(self, follower: _Follower) -> None:
        try:
            while True:
                report = read_message(follower.reports)
                follower.last_report = time.monotonic()
                if report[0] == "beat":
                    follower.activity = report[1]
                elif report[0] == "failed":
                    message = report[2].strip().partition("\n")[0][:200]
                    what = "ran out of memory" if report[1] == "memory" else f"failed: {report[1]}: {message}"
                    self._give_up(f"{follower.called} {what}")
                else:
                    follower.answers.put(report)
        except (EOFError, OSError, ValueError):
            if not self._closing:
                self._give_up(f"{follower.called} {how_ended(follower.process)}")

    def _watch(self) -> None:
        waiting: float | None = None  # since when no progress has been seen that somebody waits for
        seen: list[tuple[float, ...]] = []
        while not self._closing and self._reason is None:
            before = time.monotonic()
            time.sleep(_TICK)
            now = time.monotonic()
            if now - before > STOOD_STILL:  # nothing is known of the ranks, which may have stood still too
                waiting = None
                for follower in self._processes:
                    follower.last_report = now
            for follower in self._processes:
                if self.complete and now - follower.last_report > self._patience.beat:
                    self._give_up(f"{follower.called} did not respond for {self._patience.beat:.0f} seconds")
            since, allowed = self._waits()
            if allowed is None or not self.complete:
                waiting = None
                continue
            present = [follower.activity for follower in self._processes]
            if (
                waiting is None
                or (since is not None and waiting < since)
                or any(_made_progress(a, b, now - waiting) for a, b in zip(seen, present))
            ):
                waiting, seen = now, present
            elif now - waiting > allowed or (since is not None and now - since > self._patience.busy):
                names = " and ".join(follower.called for follower in self._processes)
                began = waiting if since is None else since
                self._give_up(f"{names} made no progress for {now - began:.0f} seconds")

    def _waits(self) -> tuple[float | None, float | None]:
        """When the leader began to wait, None while it does not; and for how many seconds ranks may make no progress, None
        while nothing is expected of them."""
        activity = GroupActivity() if self.group is None else self.group.activity
        times = [since for since in (activity.since, self._busy_since) if since is not None]
        if times:
            return min(times), self._patience.hang
        if any(follower.behind for follower in self._processes):
            return self._reading_since, self._patience.hang
        return self._reading_since, None if self._reading_since is None else self._patience.step

    def close(self) -> None:
        self._closing = True
        for follower in self._processes:
            # a message could wait for ever: a rank that hangs does not empty its pipe
            with suppress(OSError, ValueError):
                follower.process.stdin.close()  # type: ignore[union-attr]
        deadline = time.monotonic() + self._patience.end
        for follower in self._processes:
            try:
                follower.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                follower.process.kill()
                follower.process.wait()
        if self.group is not None:
            self.group.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _made_progress(before: tuple[float, ...], now: tuple[float, ...], seconds: float) -> bool:
    return before[:-1] != now[:-1] or now[-1] - before[-1] > IDLE_SHARE * max(seconds, 1.0)


def _write_addresses(place: Path, count: int) -> None:
    """Where each rank listens while they connect: a free port of this machine's own address. The file appears whole."""
    with ExitStack() as open_ports:
        sockets = [open_ports.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        ports = [one.getsockname()[1] for one in sockets]
    written = place.with_suffix(".new")
    written.write_text(json.dumps([[f"127.0.0.1:{port}"] for port in ports]), encoding="utf-8")
    written.rename(place)


def _started(ranks: int) -> subprocess.Popen[bytes]:
    return start_child("engine.parallel.follower", ranks)
