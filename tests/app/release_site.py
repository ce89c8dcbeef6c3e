"""A web server on this machine that announces a release, as a release's page does."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from app.minisign import PublicKey
from app.updates import ReleaseFile, UpdateSource

DATA = Path(__file__).resolve().parents[1] / "data" / "updates"
KEY = (DATA / "key.pub").read_text(encoding="ascii")


@dataclass
class ReleaseSite:
    """Some files; `cut` of them breaks off after so many bytes."""

    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)  # path, Range

    def announce(self) -> UpdateSource:
        """A release 9.9.9, signed by the key of the tests with minisign."""
        for name in ("latest.json", "latest.json.minisig"):
            self.files[name] = (DATA / name).read_bytes()
        return UpdateSource(f"{self.address}/latest.json", PublicKey.parse(KEY))

    def add(self, name: str, data: bytes, digest: str = "") -> ReleaseFile:
        """A file of a release; `digest`: another than its own."""
        self.files[name] = data
        return ReleaseFile(f"{self.address}/{name}", digest or hashlib.sha256(data).hexdigest(), len(data))


@contextmanager
def serving_releases() -> Iterator[ReleaseSite]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            span = self.headers.get("Range", "")
            here.asked.append((self.path, span))
            data = here.files.get(self.path.strip("/"))
            if data is None:
                self.send_error(404)
                return
            start = int(span.removeprefix("bytes=").partition("-")[0]) if span else 0
            self.send_response(206 if span else 200)
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            self.wfile.write(data[start : here.cut.pop(self.path.strip("/"), None)])

        def do_HEAD(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(here.files[self.path.strip("/")])))
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    here = ReleaseSite(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield here
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
