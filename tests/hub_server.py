"""A little of Hugging Face's hub on the loopback interface: for the tests of downloads, and of the window's models."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class FakeHub:
    """A little of the hub's protocol, on the loopback interface."""

    repos: dict[str, dict[str, bytes]] = field(default_factory=dict)
    errors: dict[str, tuple[int, str]] = field(default_factory=dict)  # repo -> status, X-Error-Code
    served: list[str] = field(default_factory=list)
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)  # repo -> what the hub tells of it
    fail_after: int | None = None  # files
    tags: dict[str, str] = field(default_factory=dict)  # file -> its checksum, as the hub tells it
    cuts: dict[str, list[int]] = field(default_factory=dict)  # file -> bytes after which its connections break, in turn
    asked: list[tuple[str, str]] = field(default_factory=list)  # (path, who says to ask)
    ranges: list[tuple[str, str]] = field(default_factory=list)  # (file, what was asked of it)

    def answer(self, method: str, path: str) -> tuple[int, dict[str, str], bytes]:
        path, _, query = path.partition("?")
        parts = path.strip("/").split("/")
        if parts == ["api", "models"]:
            words = parse_qs(query)["search"][0].lower()
            found = [{"id": r, "tags": [], **self.cards.get(r, {})} for r in self.repos if words in r.lower()]
            return 200, {}, json.dumps(found).encode()
        if parts[:2] == ["api", "models"]:
            repo, revision = "/".join(parts[2:4]), parts[5] if len(parts) > 5 else "main"
            if repo in self.errors:
                status, code = self.errors[repo]
                return status, {"X-Error-Code": code}, b"{}"
            if repo not in self.repos:
                return 404, {"X-Error-Code": "RepoNotFound"}, b"{}"
            if revision not in ("main", COMMIT):
                return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
            siblings = [
                {"rfilename": name, "size": len(data), "blobId": "b"} for name, data in self.repos[repo].items()
            ]
            told = {"id": repo, "sha": COMMIT, "siblings": siblings, **self.cards.get(repo, {})}
            return 200, {}, json.dumps(told).encode()
        repo, name = "/".join(parts[:2]), "/".join(parts[4:])
        if repo not in self.repos:
            return 404, {}, b""
        if method == "GET":
            if self.fail_after is not None and len(self.served) >= self.fail_after:
                return 500, {}, b""
            self.served.append(name)
        usual = f"{repo.replace('/', '-')}-{name.replace('/', '-')}"
        tag = f'"{self.tags.get(name, usual)}"'
        return 200, {"X-Repo-Commit": COMMIT, "ETag": tag}, self.repos[repo][name]


@contextmanager
def hub_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """`huggingface_hub` asks this one."""
    import huggingface_hub
    from huggingface_hub import constants

    fake = FakeHub()

    class Handler(BaseHTTPRequestHandler):
        def reply(self) -> None:
            fake.asked.append((self.path, self.headers["User-Agent"] or ""))
            status, headers, body = fake.answer(self.command, self.path)
            name = self.path.partition("?")[0].rpartition("/")[2]
            if status == 200 and (asked := self.headers["Range"]):
                fake.ranges.append((name, asked))
                status, body = 206, body[int(asked.removeprefix("bytes=").rstrip("-")) :]
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                cut = fake.cuts.get(name)
                self.wfile.write(body[: cut.pop(0)] if cut else body)

        do_GET = do_HEAD = reply

        def log_message(self, *args: Any) -> None:
            """Tests say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    huggingface_hub.close_session()
    try:
        yield fake
    finally:
        huggingface_hub.close_session()
        server.shutdown()
        server.server_close()
        thread.join()
