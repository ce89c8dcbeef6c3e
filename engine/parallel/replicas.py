"""Further processes that hold the same model, and answer requests beside this one. Each may end without the others."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import BackendUnavailable, GrusError
from engine.parallel.messages import packed, unpacked
from engine.parallel.pipes import PipeWriter, how_ended, read_message, start_child
from engine.types import Event, Request, Settings

log = logging.getLogger("grus.engine")
KEPT_PREFIXES = 64  # prompts of a replica, by which it is preferred
STOOD_STILL = 1.0  # seconds that a tick took: the machine was suspended, or too busy for this process
NODES = Path("/sys/devices/system/node")
_TICK = 0.1


@dataclass(frozen=True)
class ReplicaPatience:
    """Seconds."""

    start: float = 600.0  # for a process to load its model
    beat: float = 5.0  # without a sign of life
    busy: float = 300.0  # without an event, while it has requests
    end: float = 10.0  # for a process to end by itself: it may write prefixes to the disk
    again: float = 1.0  # before it is started again; twice as long after each end that follows
    longest: float = 60.0


class PromptHistory:
    """The prompts that a replica has computed, newest last: what its prefix cache probably holds."""

    def __init__(self) -> None:
        self._keys: deque[list[int]] = deque(maxlen=KEPT_PREFIXES)

    def shared(self, key: list[int], common: Callable[[Sequence[int], Sequence[int]], int]) -> int:
        return max((common(key, one) for one in self._keys), default=0)

    def add(self, key: list[int]) -> None:
        for one in [one for one in self._keys if len(one) <= len(key) and key[: len(one)] == one]:
            self._keys.remove(one)
        self._keys.append(key)

    def clear(self) -> None:
        self._keys.clear()


class Replica:
    """One further process, and what was sent to it. Started again by `Replicas.start_missing` when it has ended."""

    def __init__(self, index: int, device: str) -> None:
        self.index, self.device = index, device
        self.process: subprocess.Popen[bytes] | None = None
        self.ready = False
        self.history = PromptHistory()
        self.load = 0  # sequences that were sent to it and have not ended
        self.last_report = self.last_event = time.monotonic()
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.failure: GrusError | None = None  # why it could not start
        self.again_at = 0.0  # when it may be started again
        self.ends = 0  # since it last worked
        self._commands: PipeWriter | None = None

    @property
    def called(self) -> str:
        return f"Replica {self.index} ({self.device})"

    def send(self, *message: Any) -> bool:
        """False where the process has ended; its listener notices that too."""
        assert self._commands is not None
        try:
            self._commands.write(message)
        except (OSError, ValueError):
            return False
        return True

    def give(self, request: Request) -> None:
        if self.load == request.sampling.n:  # it was idle
            self.last_event = time.monotonic()
        self.send("request", packed(request))

    def begin(self, process: subprocess.Popen[bytes], message: Mapping[str, Any]) -> None:
        """`message`: what to load, and how."""
        assert process.stdin is not None
        self.process, self._commands = process, PipeWriter(process.stdin)
        self.ready, self.failure, self.load = False, None, 0
        self.last_report = self.last_event = time.monotonic()
        self.history.clear()
        try:
            self._commands.write(message)
        except OSError:
            log.debug("%s has ended already", self.called)


class Replicas:
    """Starts, watches and ends the processes. `receive` and `lost` are called on their listeners' threads."""

    def __init__(
        self,
        name: str,
        options: Mapping[str, Any],
        devices: Sequence[str],
        memory: Sequence[int | None],
        patience: ReplicaPatience = ReplicaPatience(),
    ) -> None:
        """`options`: how each loads `name`; `devices`: of all replicas, this process's first; `memory`: each one's limit."""
        self._name, self._options, self._memory, self._patience = name, dict(options), memory, patience
        self.devices = tuple(devices)
        self.all = [Replica(index, device) for index, device in enumerate(devices[1:], 1)]
        self.receive: Callable[[Replica, str, Event], None] = lambda replica, request, event: None
        self.lost: Callable[[Replica, str], None] = lambda replica, why: None
        self._settings: list[dict[str, Any]] = []
        self._closing = False
        try:
            for replica in self.all:
                self._start(replica)
        except OSError as error:
            self.close()
            raise BackendUnavailable(f"A replica could not be started: {error}.") from None
        threading.Thread(target=self._watch, name="grus-replicas", daemon=True).start()

    @property
    def pids(self) -> list[int]:
        return [replica.process.pid for replica in self.all if replica.process is not None]

    @property
    def ready(self) -> list[Replica]:
        return [replica for replica in self.all if replica.ready]

    def _start(self, replica: Replica) -> None:
        on_cpu = replica.device == "cpu"
        cpus = node_cpus(replica.index) if on_cpu else []
        options, limit = {**self._options, "device": replica.device}, self._memory[replica.index]
        if limit is not None:
            options["memory_limit"] = limit
        process = start_child("engine.parallel.replica", self.devices.count("cpu") if on_cpu else 1)
        replica.begin(process, {"name": self._name, "options": options, "cpus": cpus})
        if self._settings:
            replica.send("settings", self._settings[replica.index - 1])
        threading.Thread(target=self._listen, args=(replica, process), daemon=True).start()

    def wait(self, what: str) -> None:
        """Wait until all have loaded ("loaded"), or answer requests ("ready"). Raises what one of them could not do."""
        deadline = time.monotonic() + self._patience.start
        for replica in self.all:
            while (kind := self._answer(replica, deadline)) != what:
                if kind == "lost":
                    raise replica.failure or BackendUnavailable(f"{replica.called} could not be started.")

    def _answer(self, replica: Replica, deadline: float) -> str:
        try:
            kind: str = replica.answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            seconds = self._patience.start
            raise BackendUnavailable(f"{replica.called} did not start within {seconds:.0f} seconds.") from None
        return kind

    def open(self, settings: Settings, draft: str | None) -> None:
        """Let each make an engine. `draft`: the folder of the draft model, where there is one."""
        folder = settings.offload_folder
        chosen = vars(settings) | {"idle_ttl": None, "max_models": 0, "max_events": 1 << 30, "draft_model": draft}
        chosen["offload_folder"] = None if folder is None else str(folder)
        if draft is None and settings.speculation == "draft":
            chosen["speculation"] = "off"
        for replica in self.all:
            limit = self._memory[replica.index]
            self._settings.append(chosen if limit is None else {**chosen, "gpu_memory_limit": str(limit)})
            replica.send("settings", self._settings[-1])

    def start_missing(self) -> None:
        """Start those again that have ended. Called on the engine's thread, which outlives them: a child of another thread would
        end with that thread."""
        for replica in self.all:
            if replica.process is None and not self._closing and time.monotonic() >= replica.again_at:
                log.info("%s is started again", replica.called)
                try:
                    self._start(replica)
                except OSError as error:
                    self._delay(replica)
                    log.warning("%s could not be started: %s", replica.called, error)

    def _delay(self, replica: Replica) -> None:
        patience = self._patience
        replica.again_at = time.monotonic() + min(patience.longest, patience.again * 2**replica.ends)
        replica.ends += 1

    def clear_prefixes(self) -> None:
        for replica in self.ready:
            replica.history.clear()
            replica.send("clear")

    # -- threads

    def _listen(self, replica: Replica, process: subprocess.Popen[bytes]) -> None:
        why = ""
        try:
            assert process.stdout is not None
            while True:
                kind, *given = read_message(process.stdout)
                replica.last_report = time.monotonic()
                if kind == "event":
                    replica.last_event = replica.last_report
                    self.receive(replica, given[0], unpacked(given[1]))
                elif kind == "failed":
                    replica.failure = unpacked(given[0])
                    why = f"failed: {replica.failure}"
                elif kind != "beat":
                    replica.ready = kind == "ready"
                    replica.answers.put(kind)
        except (EOFError, OSError, ValueError):
            why = why or how_ended(process)
        replica.ready = False
        if self._closing:
            return
        process.kill()
        process.wait()
        log.warning("%s of %s %s", replica.called, self._name, why)
        self._delay(replica)
        self.lost(replica, why)
        replica.process = None  # from now on it may be started again
        replica.answers.put("lost")

    def _watch(self) -> None:
        while not self._closing:
            before = time.monotonic()
            time.sleep(_TICK)
            now, patience = time.monotonic(), self._patience
            if now - before > STOOD_STILL:  # nothing is known of the others, which may have stood still too
                for replica in self.all:
                    replica.last_report = now
            for replica in self.ready:
                silent = now - replica.last_report > patience.beat
                stuck = replica.load > 0 and now - replica.last_event > patience.busy
                if (silent or stuck) and (process := replica.process) is not None:
                    log.warning("%s does not respond", replica.called)
                    process.kill()  # its listener does the rest

    def close(self) -> None:
        self._closing = True
        processes = [(replica, replica.process) for replica in self.all if replica.process is not None]
        for replica, process in processes:
            silent = time.monotonic() - replica.last_report > self._patience.beat / 2
            if not replica.ready or silent:  # it is loading or hangs, and would not read the message
                process.kill()
            replica.send("end")
            with contextlib.suppress(OSError, ValueError):
                process.stdin.close()  # type: ignore[union-attr]
        deadline = time.monotonic() + self._patience.end
        for _, process in processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def node_cpus(index: int, nodes: Path = NODES) -> list[int]:
    """The CPUs of the NUMA node on which replica `index` computes; empty where the machine has one node, or the system does
    not list them."""
    found = sorted(nodes.glob("node[0-9]*/cpulist"), key=lambda one: int(one.parent.name.removeprefix("node")))
    if len(found) < 2 or not hasattr(os, "sched_setaffinity"):
        return []
    cpus: list[int] = []
    for part in found[index % len(found)].read_text().strip().split(","):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1) if first else []
    return cpus
