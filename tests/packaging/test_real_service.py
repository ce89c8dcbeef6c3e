"""`grus service` with systemd itself: a user manager in namespaces of its own starts the server, again after a kill, and ends it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.starter import GUIDE, starter
from tests.app.real_servers import free_port
from tests.needs import need_program

ROOT = Path(__file__).resolve().parents[2]
MANAGER = Path("/lib/systemd/systemd")
# In namespaces of its own: systemd believes to run the system, and no process or file of the machine is touched.
SESSION = """
set -u
mount --make-rprivate / && mount -t proc proc /proc && mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"
{manager} --user --log-target=null &
manager=$!
for i in $(seq 100); do [ -S "$XDG_RUNTIME_DIR/systemd/private" ] && break; sleep 0.1; done
exec {python} {script}
"""
# A person's commands, one after the other; what each printed is one line of JSON.
PERSON = """
import json, os, subprocess, sys, time, urllib.error, urllib.request

def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr

def grus(*words):
    return run(sys.executable, "-m", "app.cli", "service", *words)

def healthy(port, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).status == 200
        except OSError:
            time.sleep(0.2)
    return False

def process():
    return int(run("systemctl", "--user", "show", "-p", "MainPID", "--value", "grus.service")[1] or 0)

def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.2)

first, second = PORTS
seen = {"before": grus("status"), "install": grus("install", "--model", "guide", "--port", str(first)), "serves": healthy(first)}
seen["enabled"], seen["status"] = run("systemctl", "--user", "is-enabled", "grus.service"), grus("status")
killed = process()
os.kill(killed, 9)
until(lambda: process() not in (0, killed))
seen["again"] = process() not in (0, killed) and healthy(first)
seen["replaced"] = grus("install", "--model", "guide", "--port", str(second)), healthy(second), healthy(first, 1)
seen["remove"], seen["after"], seen["gone"] = grus("remove"), grus("status"), not healthy(second, 1)
seen["units"] = run("systemctl", "--user", "list-unit-files", "grus*", "--no-legend")[1]
print(json.dumps(seen))
"""


@pytest.fixture
def seen(tmp_path: Path) -> dict[str, Any]:
    need_program("unshare", "systemctl")
    if not MANAGER.exists():
        pytest.skip("needs systemd")
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True).returncode:
        pytest.skip("namespaces need root")
    script = tmp_path / "person.py"
    script.write_text(f"PORTS = {free_port()}, {free_port()}\n{PERSON}")
    session = SESSION.format(manager=MANAGER, python=sys.executable, script=script)
    environment = {
        **os.environ, "HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "home" / ".config"),
        "XDG_RUNTIME_DIR": "/run/user/grus", "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    (tmp_path / "home").mkdir()
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", session],
        capture_output=True, text=True, timeout=280, env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="systemd")
@pytest.mark.skipif(not starter(GUIDE), reason="the model that comes with Grus is not here")
def test_systemd_runs_the_server_until_the_service_is_removed(seen: dict[str, Any]) -> None:
    assert seen["before"][0] == 1
    assert seen["install"][0] == 0, seen["install"][1]
    assert seen["serves"]
    assert seen["enabled"] == [0, "enabled\n"]
    assert seen["status"][0] == 0
    assert seen["status"][1].startswith("The service runs: ")
    assert seen["again"], "it was not started again after a kill"
    assert seen["replaced"][0][0] == 0
    assert seen["replaced"][1:] == [True, False]
    assert seen["remove"] == [0, "The service is removed.\n"]
    assert seen["after"][0] == 1
    assert (seen["gone"], seen["units"]) == (True, "")
