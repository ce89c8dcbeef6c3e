"""Ranks of a split model as threads of one process: the same messages, and gloo's sums, without the time that processes take to begin.

Tests alone use them, of what ranks compute. Nothing watches them: what a rank's failure or hang does is tested with processes
(engine/parallel/test_team.py, test_watch.py, test_ring.py).
"""

from __future__ import annotations

import marshal
import queue
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from backends.ranks import Follower, Message, RanksLost
from engine.shares import load_rank


class ThreadTeam:
    """In the place of `engine.parallel.team.Team`."""

    def __init__(self, name: str, options: Mapping[str, Any], devices: Sequence[str]) -> None:
        self.devices, self.group, self.complete = tuple(devices), None, False
        self._folder = TemporaryDirectory(prefix="ranks-")
        self.place = Path(self._folder.name) / "meeting"
        self.reason: str | None = None
        self._calls: list[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in devices[1:]]
        self._answers: list[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in devices[1:]]
        self.messages: list[Message] = []
        for index in range(1, len(devices)):
            threading.Thread(target=self._live, args=(index, name, dict(options)), daemon=True).start()

    @property
    def followers(self) -> int:
        return len(self._calls)

    @property
    def over(self) -> bool:
        return self.reason is not None

    def _live(self, index: int, name: str, options: dict[str, Any]) -> None:
        calls, answers = self._calls[index - 1], self._answers[index - 1]
        try:
            share, _ = load_rank(name, options, index, self.place)
            one = {"budget": share.kv.budget, "bytes": share.kv.bytes_for(1), "weights": share.nbytes}
            answers.put(one)
            follower = Follower(share.kv, share.runner)
            while (message := calls.get()) is not None:
                wants, what = message
                answer = follower.obey(what)
                if wants:
                    answers.put(answer)
        except BaseException as error:
            answers.put(error)

    def _answer(self, answers: queue.SimpleQueue[Any]) -> Any:
        answer = answers.get(timeout=120)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def ready(self) -> list[dict[str, Any]]:
        reports = [self._answer(answers) for answers in self._answers]
        self.complete = True
        return reports

    def send(self, messages: Sequence[Message]) -> None:
        messages = [_travelled(message) for message in messages]
        self.messages.append(messages[0])
        for i, calls in enumerate(self._calls):
            calls.put((False, messages[i if len(messages) > 1 else 0]))

    def ask(self, message: Message) -> list[Any]:
        message = _travelled(message)
        self.messages.append(message)
        for calls in self._calls:
            calls.put((True, message))
        return [self._answer(answers) for answers in self._answers]

    def reading(self) -> AbstractContextManager[None]:
        return nullcontext()

    def lost(self, error: BaseException) -> RanksLost:
        raise error

    def close(self) -> None:
        for calls in self._calls:
            calls.put(None)


def _travelled(message: Message) -> Message:
    """A copy, as a pipe makes one: what the leader changes afterwards, no rank sees."""
    copied: Message = marshal.loads(marshal.dumps(message))
    return copied
