"""A web server on this machine that announces a release, as a release's page does."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.minisign import PublicKey
from app.updates import ReleaseFile, UpdateSource

DATA = Path(__file__).resolve().parents[1] / "data" / "updates"
KEY = (DATA / "key.pub").read_text(encoding="ascii")
SECRET = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))  # signs what a test releases
SECRET_ID = b"of tests"


def public_key() -> str:
    """The second line of the `.pub` file of SECRET."""
    return base64.b64encode(b"Ed" + SECRET_ID + SECRET.public_key().public_bytes_raw()).decode()


def signature(data: bytes) -> str:
    """What `minisign -S` writes, by SECRET."""
    signed, comment = SECRET.sign(hashlib.blake2b(data).digest()), "grus latest.json"
    whole = SECRET.sign(signed + comment.encode())
    lines = ("untrusted comment: tests", base64.b64encode(b"ED" + SECRET_ID + signed).decode())
    return "\n".join([*lines, f"trusted comment: {comment}", base64.b64encode(whole).decode(), ""])


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

    def release(self, version: str, notes: str, files: dict[str, tuple[str, bytes]]) -> str:
        """A signed release: of each kind a name and its bytes. Returns what `resources/update.json` holds in a build that looks here."""
        made = {kind: self.add(name, data) for kind, (name, data) in files.items()}
        about = {kind: {"url": file.url, "sha256": file.sha256, "size": file.size} for kind, file in made.items()}
        feed = json.dumps({"version": version, "notes": notes, "files": about}).encode()
        self.files["latest.json"], self.files["latest.json.minisig"] = feed, signature(feed).encode()
        return json.dumps({"feed": f"{self.address}/latest.json", "key": public_key()})

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
