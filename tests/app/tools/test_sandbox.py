"""Python in a sandbox: what it computes, and twenty-odd ways out of it that were tried. Skipped where there is no sandbox."""

from __future__ import annotations

import os
import threading
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from app.runtime.tools import sandbox
from app.runtime.tools.builtin import builtin_tool, missing
from app.runtime.tools.sandbox import missing_sandbox, run_sandboxed
from app.runtime.tools.settings import ToolSettings
from app.runtime.tools.tool import ToolResult
from app.runtime.tools.toolbox import Toolbox
from engine.errors import BadRequest
from tests.app.new_machine import until


@pytest.fixture(name="here")
def _here() -> None:
    if why := missing_sandbox():
        pytest.skip(why)


def run(code: str, seconds: float = 60) -> ToolResult:
    return run_sandboxed(code, Future(), seconds)


@pytest.mark.usefixtures("here")
def test_it_computes_and_prints_as_a_prompt_does() -> None:
    done = builtin_tool("python").run({"code": "import math\nprint('sum', sum(range(10)))\nmath.comb(10, 3)"}, Future())
    assert (done.text, done.failed) == ("sum 45\n120\n", False)
    assert run("x = 1").text == "[The code printed nothing.]"
    failed = run("1 / 0")
    assert failed.failed
    assert failed.text.endswith("ZeroDivisionError: division by zero\n")
    assert run("open('a', 'w').write('kept for this call'); open('a').read()").text == "'kept for this call'\n"
    assert "FileNotFoundError" in run("open('a')").text
    assert (
        run("import threading; t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()").text
        == "thread\n"
    )


# what is tried, and the error that ends it
ESCAPES = {
    "a connection out": ("import socket; socket.create_connection(('1.1.1.1', 53), 3)", "OSError: [Errno 101]"),
    "a name that is looked up": ("import socket; socket.getaddrinfo('example.org', 80)", "gaierror"),
    "a packet": ("import socket; socket.socket(2, 2).sendto(b'x', ('8.8.8.8', 53))", "OSError: [Errno 101]"),
    "a raw socket": ("import socket; socket.socket(2, 3, 1)", "PermissionError"),
    "the home folder": ("import os; os.listdir('HOME')", "FileNotFoundError"),
    "a file of the person": ("open('SECRET').read()", "FileNotFoundError"),
    "the password file": ("open('/etc/passwd').read()", "FileNotFoundError"),
    "a write into the system": ("open('/usr/bin/new', 'w')", "Read-only file system"),
    "a write at the top": ("open('/new', 'w')", "Read-only file system"),
    "a write among devices": ("open('/dev/new', 'w')", "Read-only file system"),
    "shared memory without a limit": ("open('/dev/shm/new', 'w')", "Read-only file system"),
    "a disk's device": ("import os; os.mknod('/tmp/disk', 0o60666, os.makedev(8, 0))", "PermissionError"),
    "a link out": ("import os; os.symlink('SECRET', 'a'); open('a').read()", "FileNotFoundError"),
    "a hard link out": ("import os; os.link('/usr/bin/env', '/tmp/env')", "OSError"),
    "a folder above the top": ("import os; os.chdir('/' + '../' * 40 + 'HOME')", "FileNotFoundError"),
    "other processes' memory": ("open('/proc/1/mem', 'rb')", "FileNotFoundError"),
    "our environment": ("open('/proc/1/environ').read()", "FileNotFoundError"),
    "a program": ("import subprocess; subprocess.run(['/usr/bin/env'])", "PermissionError"),
    "a fork bomb": ("import os\nwhile True: os.fork()", "PermissionError"),
    "a signal to a parent": ("import os; os.kill(PID, 9)", "ProcessLookupError"),
    "a change of user": ("import os; os.setuid(0)", "OSError"),
    "a change of root": ("import os; os.chroot('/usr')", "PermissionError"),
    "more memory": ("b = bytearray(2 << 30)", "MemoryError"),
    "memory by small steps": ("b = []\nwhile True: b.append(bytes(1 << 20))", "MemoryError"),
    "a large file": ("f = open('a', 'wb')\nwhile True: f.write(bytes(1 << 20))", "OSError"),
    "many files": ("n = 0\nwhile True:\n  n += 1\n  open(str(n), 'wb').write(bytes(1 << 20))", "No space left"),
    "open files without end": ("f = []\nwhile True: f.append(open('/dev/null'))", "Too many open files"),
    "higher limits": ("import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))", "ValueError"),
}  # fmt: skip
_CALLS = {
    "ptrace": "ptrace(0, 0, 0, 0)",
    "mount": "mount(b'none', b'/tmp', b'tmpfs', 0, 0)",
    "unshare": "unshare(0x10000000)",
    "memfd_create": "memfd_create(b'a', 0)",
    "process_vm_readv": "process_vm_readv(1, 0, 0, 0, 0, 0)",
    "shmget": "shmget(0, 1 << 30, 0o1600)",
}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("what", ESCAPES)
def test_an_escape_ends_in_an_error(what: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not for models")
    code, error = ESCAPES[what]
    code = code.replace("SECRET", str(secret)).replace("HOME", str(Path.home())).replace("PID", str(os.getpid()))
    done = run(code)
    assert done.failed, done.text
    assert error in done.text
    assert "not for models" not in done.text


@pytest.mark.usefixtures("here")
def test_calls_of_the_kernel_are_refused() -> None:
    code = "import ctypes\nc = ctypes.CDLL(None, use_errno=True)\n"
    code += "".join(f"print({name!r}, c.{call}, ctypes.get_errno())\n" for name, call in _CALLS.items())
    assert run(code).text == "".join(f"{name} -1 1\n" for name in _CALLS)


@pytest.mark.usefixtures("here")
def test_time_and_output_are_limited() -> None:
    late = run("print('begun', flush=True)\nwhile True: pass", 2)
    assert (late.text, late.failed) == ("begun\n\n[The code was ended after 2 seconds.]", True)
    silent = run("import os, time; os.close(1); os.close(2); time.sleep(600)", 1)
    assert silent.failed
    huge = run("while True: print('x' * 1000)")
    assert huge.failed
    assert huge.text.endswith("[The code wrote more than 1,048,576 bytes and was ended.]")
    assert len(huge.text) < 1_100_000


@pytest.mark.usefixtures("here")
def test_it_gets_none_of_our_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRUS_TEST_KEY", "secret")
    seen = run("import os; print(sorted(os.environ))").text
    assert "GRUS_TEST_KEY" not in seen
    assert "PATH" in seen


@pytest.mark.usefixtures("here")
def test_code_that_is_stopped_while_it_starts_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{tmp_path}")  # by which its processes are known

    def left() -> list[int]:
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if str(tmp_path) in process.environ().get("PATH", "") and process.name() == "bwrap":
                    found.append(process.pid)
        return found

    stop: Future[None] = Future()
    stop.set_result(None)
    for _ in range(20):
        with pytest.raises(CancelledError):
            run_sandboxed("while True: pass", stop)
    until(lambda: not left())


@pytest.mark.usefixtures("here")
def test_code_that_is_stopped_ends_at_once() -> None:
    stop: Future[None] = Future()
    ended: Future[None] = Future()

    def work() -> None:
        try:
            run_sandboxed("while True: pass", stop, 500)
        except BaseException as error:
            ended.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    stop.set_result(None)
    with pytest.raises(CancelledError):
        ended.result(60)


def test_a_machine_without_a_sandbox_offers_no_tool(monkeypatch: pytest.MonkeyPatch, settings: ToolSettings) -> None:
    missing_sandbox.cache_clear()
    monkeypatch.setattr(sandbox.shutil, "which", lambda name, **more: None)
    try:
        assert "needs bubblewrap" in missing("python")
        settings.keep_builtin("python")
        with Toolbox(settings) as box:
            assert (box.tools, box.problems) == ([], [missing("python")])
        with pytest.raises(BadRequest, match="needs bubblewrap"):
            Toolbox(settings, ["python"])
    finally:
        missing_sandbox.cache_clear()
