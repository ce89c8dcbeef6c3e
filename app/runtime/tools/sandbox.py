"""Python in a sandbox: no network, none of the person's files, no other process, and limits on time, memory and output.

bubblewrap gives the code namespaces of its own: it sees the system's programs read-only, a small /tmp in memory and nothing else; there is
no /proc. A seccomp filter refuses new processes and the system calls that sandboxes were left by before. Where bubblewrap is not installed
or not allowed to make namespaces, there is no sandbox, and no tool.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from app.runtime.tools.tool import BUILTIN, Tool, ToolResult
from engine.errors import ErrorText

SECONDS = 20.0
MEMORY = 512 << 20  # bytes of address space
SPACE = 32 << 20  # bytes of /tmp, and of one file
LONGEST_CODE = 200_000  # characters
_OUTPUT = 1 << 20  # bytes; code that writes more is ended
_OPEN_FILES = 64
_PROBE_SECONDS = 10.0

# Runs inside: limits first, then the code. As at Python's prompt, the value of a last expression is printed.
_PRELUDE = f"""
import ast, resource, sys
for kind, most in (("AS", {MEMORY}), ("FSIZE", {SPACE}), ("CPU", {round(SECONDS) + 5}), ("NOFILE", {_OPEN_FILES}), ("CORE", 0)):
    resource.setrlimit(getattr(resource, "RLIMIT_" + kind), (most, most))
tree = ast.parse(sys.stdin.read(), "code")
last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
names = {{"__name__": "__main__"}}
exec(compile(tree, "code", "exec"), names)
value = None if last is None else eval(compile(ast.Expression(last.value), "code", "eval"), names)
if value is not None:
    print(repr(value))
"""


# -- the filter of system calls, in the kernel's own bytes

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _REFUSE, _UNKNOWN = 0x7FFF0000, 0x80000000, 0x00050000 | 1, 0x00050000 | 38  # EPERM, ENOSYS
_THREAD = 0x00010000  # CLONE_THREAD
_X32 = 0x40000000
# by machine: AUDIT_ARCH, clone, clone3 and the calls that are refused
_CALLS: Mapping[str, tuple[int, int, int, tuple[int, ...]]] = {
    "x86_64": (0xC000003E, 56, 435, (
        57, 58, 101, 155, 161, 165, 166, 167, 168, 169, 175, 176, 179, 246, 248, 249, 250, 272, 298, 304, 308, 310, 311, 312, 313,
        319, 320, 321, 323, 29, 30, 31, 67, 68, 69, 70, 71, 240, 241, 425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 442, 447,
    )),
    "aarch64": (0xC00000B7, 220, 435, (
        39, 40, 41, 51, 60, 97, 104, 105, 106, 117, 142, 180, 181, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196, 197, 217, 218,
        219, 224, 225, 241, 265, 268, 270, 271, 272, 273, 279, 280, 282, 294, 425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 442,
        447,
    )),
}  # fmt: skip


def seccomp_filter(machine: str) -> bytes:
    """Refuses new processes (threads are allowed), ptrace, mounts, namespaces, keys, modules, bpf, io_uring, shared memory without a
    limit, and the like."""
    arch, clone, clone3, refused = _CALLS[machine]

    def step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("<HBBI", code, yes, no, value)

    program = [step(_LOAD, 4), step(_EQUAL, arch, 1, 0), step(_RETURN, _KILL), step(_LOAD, 0)]
    program += [step(_AT_LEAST, _X32, 0, 1), step(_RETURN, _KILL)]
    program += [step(_EQUAL, clone3, 0, 1), step(_RETURN, _UNKNOWN)]  # so that the C library uses clone
    program += [
        step(_EQUAL, clone, 0, 4),
        step(_LOAD, 16),
        step(_ANY_BIT, _THREAD, 1, 0),
        step(_RETURN, _REFUSE),
        step(_RETURN, _ALLOW),
    ]
    for call in refused:
        program += [step(_EQUAL, call, 0, 1), step(_RETURN, _REFUSE)]
    return b"".join([*program, step(_RETURN, _ALLOW)])


# -- whether there is a sandbox here


@cache
def missing_sandbox() -> str:
    """Why there is no sandbox on this machine, in one sentence; empty where there is one."""
    if sys.platform != "linux" or platform.machine() not in _CALLS:
        return ErrorText("Python in a sandbox needs Linux on x86-64 or ARM64.")
    if shutil.which("bwrap") is None:
        return ErrorText("Python in a sandbox needs bubblewrap. Install the package bubblewrap of your system.")
    if _interpreter() is None:
        return ErrorText(
            "Python in a sandbox needs a Python on this machine. Install the package python3 of your system."
        )
    try:
        said = run_sandboxed("print('here')", Future(), _PROBE_SECONDS)
    except OSError as error:
        return ErrorText("bubblewrap does not run on this machine: {reason}", reason=error.strerror or str(error))
    if said.text.strip() != "here":
        return ErrorText("bubblewrap does not run on this machine: {reason}", reason=said.text.strip()[:300])
    return ""


def _interpreter() -> tuple[Path, Path] | None:
    """A Python, and the folder that it needs. In a bundle Grus's own is none that runs code."""
    own = None if getattr(sys, "frozen", False) else getattr(sys, "_base_executable", sys.executable)
    found = own or shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if not found:
        return None
    program = Path(found).resolve()
    return program, program.parent.parent


def _command(filter_descriptor: int, facts: int) -> list[str]:
    """The code gets the system's programs, and Python's folder where that lies elsewhere."""
    found = _interpreter()
    assert found is not None  # `missing_sandbox` was asked
    program, folder = found
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    words += ["--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--ro-bind", "/usr", "/usr"]
    for name in ("lib", "lib64", "lib32", "bin", "sbin"):
        top = Path("/", name)
        if top.is_symlink():
            words += ["--symlink", os.readlink(top), str(top)]
        elif top.is_dir():
            words += ["--ro-bind", str(top), str(top)]
    if folder != Path("/usr") and not folder.is_relative_to("/usr"):
        words += ["--ro-bind", str(folder), "/python"]
        program = Path("/python") / program.relative_to(folder)
    words += ["--dev", "/dev", "--size", str(SPACE), "--tmpfs", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/"]
    words += [
        "--chdir",
        "/tmp",
        "--setenv",
        "PATH",
        "/usr/bin",
        "--setenv",
        "HOME",
        "/tmp",
        "--setenv",
        "LANG",
        "C.UTF-8",
    ]
    return [
        *words,
        "--seccomp",
        str(filter_descriptor),
        "--info-fd",
        str(facts),
        str(program),
        "-I",
        "-B",
        "-u",
        "-c",
        _PRELUDE,
    ]


# -- running


def run_sandboxed(code: str, stop: Future[None], seconds: float = SECONDS) -> ToolResult:
    """What the code printed. Raises CancelledError when `stop` is resolved first, and ValueError for code that is too long."""
    if len(code) > LONGEST_CODE:
        raise ValueError(f"the code is longer than {LONGEST_CODE:,} characters")
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as rules:
        given.write(code.encode("utf-8", "surrogatepass"))
        given.seek(0)
        rules.write(seccomp_filter(platform.machine()))
        rules.seek(0)
        descriptor = rules.fileno()
        facts, written = os.pipe()
        process = subprocess.Popen(
            _command(descriptor, written), stdin=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=[descriptor, written], cwd="/",
            env={"PATH": os.environ.get("PATH", os.defpath)}, start_new_session=True,
        )  # fmt: skip
        os.close(written)
        read: Future[bytes] = Future()
        threading.Thread(target=_gather, args=(process, read), name="grus-sandbox", daemon=True).start()
        try:
            both: Iterable[Future[Any]] = [read, stop]
            wait(both, seconds, FIRST_COMPLETED)
            late = not read.done()
            if late and stop.done():
                raise CancelledError
        finally:
            _end(process, facts)
            os.close(facts)
            code_of_end = process.wait()
    return _result(read.result(), code_of_end, late, seconds)


def _end(process: subprocess.Popen[bytes], facts: int) -> None:
    """End the first process of the namespace, and with it all others. While the namespace is being made bubblewrap's own end would not
    end it, so its number is waited for."""
    report = os.read(facts, 4096)  # nothing where bubblewrap has failed
    inside = re.search(rb'"child-pid": *(\d+)', report)
    if process.poll() is None:
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            if inside is not None:
                os.kill(int(inside[1]), signal.SIGKILL)
                process.wait(2)
        process.kill()


def _gather(process: subprocess.Popen[bytes], read: Future[bytes]) -> None:
    """All that the process writes, or as much as is allowed; then it is ended."""
    assert process.stdout is not None
    written = bytearray()
    with process.stdout as stream:
        while len(written) <= _OUTPUT and (more := stream.read1(1 << 16)):  # type: ignore[attr-defined]
            written += more
    if len(written) <= _OUTPUT:
        process.wait()  # its exit status counts, before it is killed
    read.set_result(bytes(written))


def _result(written: bytes, status: int, late: bool, seconds: float) -> ToolResult:
    text = written[:_OUTPUT].decode("utf-8", "replace")
    if len(written) > _OUTPUT:
        return ToolResult(f"{text}\n[The code wrote more than {_OUTPUT:,} bytes and was ended.]", failed=True)
    if late:
        return ToolResult(f"{text}\n[The code was ended after {seconds:g} seconds.]", failed=True)
    if status != 0:
        return ToolResult(text if text.strip() else f"[The code was ended: status {status}.]", failed=True)
    return ToolResult(text or "[The code printed nothing.]")


class SandboxTool(Tool):
    name, label = "python", f"{BUILTIN}/python"
    description = (
        "Runs Python code and returns what it prints, and the value of its last expression. The standard library is there; there is no "
        f"network, no file of the person and no other process. At most {SECONDS:g} seconds and {MEMORY >> 20} MB. Nothing is kept between calls."
    )
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {"code": {"type": "string"}},
        "required": ["code"],
        "additionalProperties": False,
    }

    def run(self, arguments: Mapping[str, Any], stop: Future[None]) -> ToolResult:
        if why := missing_sandbox():
            raise ValueError(str(why))
        code = arguments.get("code")
        if not isinstance(code, str) or len(arguments) > 1:
            raise ValueError('the arguments are {"code": "..."}')
        return run_sandboxed(code, stop)
