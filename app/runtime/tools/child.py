"""A tool server as a child process: messages of JSON, one a line, over its standard input and output.

The `mcp` package has this too, without limits: a server that writes one line without end would fill this process's memory, and
what it writes to standard error would fill the disk. Here a line, what comes unasked, and the log have limits. The child gets
few variables of this process's environment, and is ended with everything that it started.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import mcp_types
from mcp.shared.message import SessionMessage

from app.runtime.tools.settings import ToolServer
from engine.errors import ToolServerFailed

LONGEST_LINE = 16 << 20  # bytes of one message: a picture, in base64
MOST_UNASKED = 64 << 20  # bytes between two messages of ours
_LOG_BYTES = 256 << 10  # of each of the log's two files
_LOG_MOST = 16 << 20  # bytes that one process may write to its log in all
_ENDS, _TERMINATES = 1.0, 0.5  # seconds for a server to end by itself, and by a signal
_UNIX = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER")
_WINDOWS = (
    "APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMDATA",
    "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE",
)  # fmt: skip


class ServerLog:
    """What a server writes to its standard error: the newest part of it, in one file and the one before."""

    def __init__(self, file: Path | None) -> None:
        """Without a file nothing is kept."""
        self._file, self._written, self._size = file, 0, 0
        if file is not None:
            with suppress(OSError):
                self._size = file.stat().st_size

    def add(self, data: bytes) -> None:
        """A log that cannot be written is no reason for tools to fail."""
        self._written += len(data)
        if self._file is None or self._written > _LOG_MOST:
            return
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self._size > _LOG_BYTES:
                self._file.replace(self._file.with_suffix(".old.log"))
                self._size = 0
            with open(os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as stream:
                stream.write(data[-_LOG_BYTES:])
            self._size += min(len(data), _LOG_BYTES)


def environment_of(server: ToolServer) -> dict[str, str]:
    """What a program needs to start, and what the server's settings say; nothing else of this process's variables, which may hold
    keys."""
    names = _WINDOWS if sys.platform == "win32" else _UNIX
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return kept | {name: server.filled(value) for name, value in server.env.items()}


@asynccontextmanager
async def child_streams(server: ToolServer, log: ServerLog, ended: Callable[[str], None]) -> AsyncIterator[Any]:
    """The streams of a transport of the `mcp` package. `ended` is called when the server ends by itself, or has to be ended, with why."""
    process = await _started(server)
    to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    unasked = 0

    async def read() -> None:
        nonlocal unasked
        assert process.stdout is not None
        rest, why = bytearray(), f"{server.name} ended."
        async with to_session:
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
                async for chunk in process.stdout:
                    unasked += len(chunk)
                    if unasked > MOST_UNASKED or len(rest) + len(chunk) > LONGEST_LINE:
                        why = f"{server.name} sent more than Grus takes of a tool server and was ended."
                        break
                    *lines, last = chunk.split(b"\n")
                    for line in lines:
                        rest += line
                        message = _message(bytes(rest), log)
                        rest.clear()
                        if message is not None:
                            await to_session.send(message)
                    rest += last
        ended(why)

    async def write() -> None:
        nonlocal unasked
        assert process.stdin is not None
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async for message in from_session:
                unasked = 0
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(text.encode() + b"\n")

    async def keep_log() -> None:
        assert process.stderr is not None
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async for chunk in process.stderr:
                log.add(chunk)

    async with anyio.create_task_group() as tasks:
        for work in (read, write, keep_log):
            tasks.start_soon(work)
        try:
            yield from_server, to_server
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
            for stream in (to_session, from_server, to_server, from_session):
                stream.close()
            tasks.cancel_scope.cancel()


async def _started(server: ToolServer) -> anyio.abc.Process:
    environment = environment_of(server)
    command = os.path.expanduser(server.filled(server.command))
    program = shutil.which(command, path=environment.get("PATH"))
    if program is None:
        raise ToolServerFailed(f"{server.name} cannot be started: there is no program {command}.")
    folder = os.path.expanduser(server.filled(server.cwd)) if server.cwd else None
    try:
        return await anyio.open_process(
            [program, *(os.path.expanduser(server.filled(word)) for word in server.args)],
            env=environment, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise ToolServerFailed(
            f"{server.name} cannot be started: {getattr(error, 'strerror', None) or error}."
        ) from None


def _message(line: bytes, log: ServerLog) -> SessionMessage | None:
    """A line that is no message goes into the log: many servers greet on the wrong stream."""
    if not line.strip():
        return None
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        log.add(line[:1000] + b"\n")
        return None


async def _end(process: anyio.abc.Process) -> None:
    """Its input is closed, then it is asked to end, then it is killed; what it started is killed in any case."""
    group = _Group(process.pid)
    if process.stdin is not None:
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
    if not await _exited(process, _ENDS):
        group.terminate()
        await _exited(process, _TERMINATES)
    group.kill()
    await _exited(process, _TERMINATES)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await stream.aclose()


async def _exited(process: anyio.abc.Process, seconds: float) -> bool:
    """`Process.wait` would also wait for the streams, which a child of the child may hold."""
    deadline = anyio.current_time() + seconds
    while process.returncode is None and anyio.current_time() < deadline:
        await anyio.sleep(0.01)
    return process.returncode is not None


class _Group:
    """A process with what it has started: its process group; on Windows, its descendants."""

    def __init__(self, leader: int) -> None:
        self._leader = leader

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))

    def _signal(self, number: signal.Signals) -> None:
        if sys.platform != "win32":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._leader, number)
            return
        import psutil

        with suppress(psutil.Error):
            leader = psutil.Process(self._leader)
            for process in [*leader.children(recursive=True), leader]:
                with suppress(psutil.Error):
                    process.kill()
