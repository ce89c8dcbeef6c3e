"""The Dockerfile, without Docker: its shape, its health check against a real server, and its lines on a bare Debian 12."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from engine.starter import GUIDE, starter
from tests.dockerfile import Image, bare_debian, command_of, instructions
from tests.processes import child_process

ROOT = Path(__file__).resolve().parent.parent
LINES = instructions((ROOT / "Dockerfile").read_text(encoding="utf-8"))


def of(word: str) -> list[str]:
    return [rest for name, rest in LINES if name == word]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_it_serves_models_from_a_volume_and_not_as_root() -> None:
    assert of("USER")[-1] not in ("root", "0")
    assert command_of(of("CMD")[-1]) == ["grus", "serve"]
    assert of("VOLUME") == ["/models"]
    assert of("EXPOSE") == ["8080"]
    assert len(of("HEALTHCHECK")) == 1
    page = (ROOT / "docs" / "docker.md").read_text(encoding="utf-8")
    assert "`/models`" in page


def test_all_that_it_copies_is_there_and_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    sources = [source for rest in of("COPY") for source in rest.split()[:-1]]
    assert {"app", "engine", "backends", "resources", "packaging", "pyproject.toml"} <= set(sources)
    assert [source for source in sources if not (ROOT / source).exists()] == []
    assert [s for s in sources if any(fnmatch.fnmatch(s, pattern) for pattern in ignored)] == []


def test_what_a_copied_link_leads_to_is_copied_too() -> None:
    """`grus serve` ended in an image without a page that resources only links to."""
    sources = [ROOT / source for rest in of("COPY") for source in rest.split()[:-1]]
    files = [file for source in sources for file in ([source] if source.is_file() else source.rglob("*"))]
    links = {link.relative_to(ROOT): link.resolve() for link in files if link.is_symlink()}
    assert {Path("resources/clients.md"), Path("resources/system.txt")} <= set(links)
    assert [link for link, end in links.items() if not any(end.is_relative_to(source) for source in sources)] == []


@pytest.mark.skipif(sys.platform == "win32", reason="the line is for a Linux shell")
def test_the_health_check_tells_a_server_that_answers_from_none(tmp_path: Path) -> None:
    line = command_of(of("HEALTHCHECK")[0].split("CMD ", 1)[1])
    port = str(free_port())
    environment = {**os.environ, "GRUS_PORT": port, "GRUS_HOST": "0.0.0.0", "GRUS_API_KEY": "secret"}
    environment |= {"HF_HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    assert subprocess.run(line, env=environment, capture_output=True, timeout=60).returncode != 0
    with child_process(
        [sys.executable, "-m", "app.cli", "serve"], env=environment, stdout=subprocess.DEVNULL
    ) as server:
        try:
            assert wait_for(line, environment, server) == 0
        finally:
            server.terminate()
            server.wait(30)


def wait_for(line: list[str], environment: dict[str, str] | None, server: subprocess.Popen[bytes]) -> int:
    end = time.monotonic() + 180
    while server.poll() is None and time.monotonic() < end:
        if (status := subprocess.run(line, env=environment, capture_output=True).returncode) == 0:
            return status
        time.sleep(0.5)
    return 1


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root may enter another file system")
@pytest.mark.skipif(not shutil.which("debootstrap"), reason="needs Debian's debootstrap, which makes the bare system")
@pytest.mark.skipif(not starter(GUIDE), reason="the models that come with Grus are not here")
def test_its_lines_make_a_server_on_a_bare_debian(tmp_path: Path) -> None:
    root = tmp_path / "root"
    bare_debian(root)
    image = Image(root, ROOT)
    for word, rest in LINES:
        image.do(word, rest)
    who = subprocess.run(image.inside(["id", "-un"]), capture_output=True, text=True, check=True).stdout.strip()
    assert who == "grus"
    assert subprocess.run(image.inside(["touch", "/models/probe"])).returncode == 0
    assert subprocess.run(image.inside(["touch", "/opt/grus/probe"]), capture_output=True).returncode != 0
    assert subprocess.run(image.inside(["sh", "-c", "command -v g++"]), capture_output=True).returncode != 0
    more = {"GRUS_PORT": str(free_port()), "GRUS_API_KEY": "secret"}
    with child_process(image.inside(image.command, **more), stdout=subprocess.DEVNULL) as server:
        try:
            assert wait_for(image.inside(image.health, **more), None, server) == 0
            address = f"http://127.0.0.1:{more['GRUS_PORT']}/v1/chat/completions"
            asked = {"model": GUIDE, "messages": [{"role": "user", "content": "What can you do?"}]}
            assert httpx.post(address, json=asked, timeout=60).status_code == 401
            said = httpx.post(address, json=asked, timeout=60, headers={"Authorization": "Bearer secret"}).json()
            assert re.search(r"I explain Grus", said["choices"][0]["message"]["content"])
        finally:
            server.terminate()
            server.wait(60)
