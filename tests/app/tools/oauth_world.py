"""`oauth_server.py` in a process of its own, and a browser of the person that goes where it is sent."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError

from app.runtime.tools.settings import ToolServer


@dataclass
class OauthWorld:
    server: ToolServer
    file: Path

    def log(self) -> list[str]:
        """What the authorization server did."""
        return self.file.read_text().splitlines() if self.file.exists() else []

    def refuse(self) -> None:
        self.file.with_suffix(".refuse").touch()


@contextmanager
def oauth_world(folder: Path) -> Iterator[OauthWorld]:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    file = folder / "authorization"
    script = Path(__file__).with_name("oauth_server.py")
    process = subprocess.Popen([sys.executable, str(script), str(port), str(file)], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert time.monotonic() < end, "the server did not start"
                time.sleep(0.05)
        yield OauthWorld(ToolServer("private", url=f"http://127.0.0.1:{port}/mcp"), file)
    finally:
        process.kill()
        process.wait()


def browse(address: str) -> str:
    """What the person reads at last."""
    try:
        with urllib.request.urlopen(address, timeout=30) as page:
            return str(page.read().decode())
    except HTTPError as error:
        return f"{error.code} {error.read().decode()}"


class _Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def sent_to(address: str) -> str:
    """Where the authorization server sends a browser that cannot go there."""
    try:
        urllib.request.build_opener(_Stays).open(address, timeout=30)
    except HTTPError as error:
        return str(error.headers["Location"])
    raise AssertionError("the browser was not sent on")
