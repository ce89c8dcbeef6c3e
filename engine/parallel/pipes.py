"""Child processes of a leader, and messages to and from them over pipes: a length, then plain data. Nothing that is read is ever run."""

from __future__ import annotations

import ctypes
import marshal
import os
import signal
import struct
import subprocess
import sys
from threading import Lock
from typing import IO, Any

from engine.child import child_command, child_environment

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG

_LENGTH = struct.Struct("<Q")


class PipeWriter:
    """Written to by several threads."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._lock = file, Lock()
        self.messages = self.bytes = 0

    def write(self, message: Any) -> None:
        """Raises OSError or ValueError where nobody reads any more."""
        data = marshal.dumps(message)
        with self._lock:
            self._file.write(_LENGTH.pack(len(data)) + data)
            self._file.flush()
            self.messages += 1
            self.bytes += len(data) + _LENGTH.size


def read_message(file: IO[bytes]) -> Any:
    """The next message; EOFError where the other end has gone."""
    data = file.read(_LENGTH.size)
    if len(data) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(data)
    data = file.read(length)
    if len(data) < length:
        raise EOFError
    return marshal.loads(data)


def start_child(module: str, sharing: int) -> subprocess.Popen[bytes]:
    """A process in a session of its own, so that Ctrl-C in a terminal reaches the leader alone. `sharing`: processes that
    compute on this machine's CPU together."""
    environment = child_environment()
    environment.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // sharing)))
    command = child_command(module)
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )


def how_ended(process: subprocess.Popen[bytes]) -> str:
    try:
        code = process.wait(1.0)
    except subprocess.TimeoutExpired:
        return "closed its connection"
    return f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"


def serve_leader() -> tuple[IO[bytes], PipeWriter]:
    """In the child: where commands arrive and where reports leave."""
    commands, reports = os.fdopen(os.dup(0), "rb"), PipeWriter(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # what a library prints must not be read as a report
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the leader's
    return commands, reports


def end_with_leader() -> None:
    """In the child: the system kills it when its leader ends, even where it is stopped, as far as the system can do that. A child
    that has files to delete first reads the end of its pipe instead."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
