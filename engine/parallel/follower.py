"""A process that holds one rank of a model: `python -m engine.parallel.follower`. Started by `team.Team`, ended with its leader.

Commands arrive on standard input, reports leave on the original standard output; everything else that is printed goes to standard
error. A thread reads commands, so that the end of the leader is noticed while a step waits for it.
"""

from __future__ import annotations

import os
import queue
import shutil
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from engine.parallel.pipes import PipeWriter, end_with_leader, read_message, serve_leader

BEAT = 0.2  # seconds between two reports that the process is alive


def main() -> None:
    commands, reports = serve_leader()
    begun = read_message(commands)
    place = Path(begun["place"])
    messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(commands, messages, place), daemon=True).start()
    rank = _Rank(begun, reports)
    threading.Thread(target=rank.beat, daemon=True).start()
    rank.live(messages)


def _listen(commands: IO[bytes], messages: queue.SimpleQueue[Any], place: Path) -> None:
    try:
        while True:
            messages.put(read_message(commands))
    except (EOFError, OSError):
        shutil.rmtree(place.parent, ignore_errors=True)  # a leader that was killed has not deleted it
        os._exit(0)


def is_runnable(without: int, threads: Path = Path("/proc/self/task")) -> bool:
    """Whether one of this process's threads, `without` one, computes or waits for a CPU; False where the system does not say."""
    for thread in threads.glob("*/stat"):
        if thread.parent.name != str(without):
            with suppress(OSError):  # it has just ended
                if (
                    thread.read_text().rpartition(")")[2].split()[0] == "R"
                ):  # behind the name, which may contain anything
                    return True
    return False


class _Rank:
    def __init__(self, begun: Any, reports: PipeWriter) -> None:
        self._begun, self._reports = begun, reports
        self._group: Any = None
        self._done = 0
        self._runnable = 0  # how often a thread was seen to compute or to wait for a CPU

    def beat(self) -> None:
        while True:
            try:
                self._reports.write(("beat", self._activity()))
            except (OSError, ValueError):
                os._exit(0)
            time.sleep(BEAT)

    def _activity(self) -> tuple[int, int, int, float]:
        """Counters that grow while this rank makes progress: calls, operations of the group, page faults, seconds of CPU. That a
        thread waits for a CPU counts too: on a machine that others use, a rank that computes may get little of it."""
        faults = 0
        if sys.platform != "win32":
            import resource

            faults = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        operations = 0 if self._group is None else self._group.activity.count
        self._runnable += is_runnable(without=threading.get_native_id())  # this thread runs now
        return self._done, operations, faults + self._runnable, time.process_time()

    def live(self, messages: queue.SimpleQueue[Any]) -> None:
        try:
            follower = self._load()
            end_with_leader()  # from now on there is no folder to delete
            while True:
                wants, message = messages.get()
                answer = follower.obey(tuple(message))
                self._done += 1
                if wants:
                    self._reports.write(("answer", answer))
        except BaseException as error:
            from backends.ranks import ran_out

            memory = ran_out(error)
            message = str(error) or type(error).__name__
            self._reports.write(("failed", "memory" if memory else type(error).__name__, message))
            os._exit(1)

    def _load(self) -> Any:
        from backends.ranks import Follower
        from engine.parallel.first_rank import FirstRank
        from engine.shares import load_rank

        begun, place = self._begun, Path(self._begun["place"])
        share, self._group = load_rank(
            begun["name"], begun["options"], begun["index"], place, lambda: self._reports.write(("here",))
        )
        report = {"budget": share.kv.budget, "bytes": share.kv.bytes_for(1), "weights": share.nbytes}
        self._reports.write(("ready", {**report, "kv_bits": share.kv_bits, "quant": share.quant}))
        kind = Follower if begun["index"] else FirstRank
        return kind(share.kv, share.runner)


if __name__ == "__main__":
    main()
