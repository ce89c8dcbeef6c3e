from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
VARIABLES = (
    "HF_HUB_CACHE",
    "HUGGINGFACE_HUB_CACHE",
    "HF_HOME",
    "XDG_CACHE_HOME",
    "HF_HUB_OFFLINE",
    "TRANSFORMERS_OFFLINE",
)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def put(tmp_path):
    """Puts a repository into a cache as huggingface_hub would: blobs, links, a reference."""

    def make(repo: str, files: dict[str, bytes], ref: str | None = "main", commit: str = COMMIT) -> Path:
        folder = tmp_path / "hub" / ("models--" + repo.replace("/", "--"))
        snapshot = folder / "snapshots" / commit
        for name, content in files.items():
            blob = folder / "blobs" / f"blob-of-{name.replace('/', '-')}"
            blob.parent.mkdir(parents=True, exist_ok=True)
            blob.write_bytes(content)
            (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
            (snapshot / name).symlink_to(blob)
        if ref:
            (folder / "refs" / ref).parent.mkdir(parents=True, exist_ok=True)
            (folder / "refs" / ref).write_text(commit)
        return snapshot

    return make


@dataclass
class FakeHub:
    """A little of the hub's protocol, on the loopback interface."""

    repos: dict[str, dict[str, bytes]] = field(default_factory=dict)
    errors: dict[str, tuple[int, str]] = field(default_factory=dict)  # repo -> status, X-Error-Code
    served: list[str] = field(default_factory=list)
    fail_after: int | None = None  # files
    tags: dict[str, str] = field(default_factory=dict)  # file -> its checksum, as the hub tells it
    cuts: dict[str, list[int]] = field(default_factory=dict)  # file -> bytes after which its connections break, in turn
    ranges: list[tuple[str, str]] = field(default_factory=list)  # (file, what was asked of it)

    def answer(self, method: str, path: str) -> tuple[int, dict[str, str], bytes]:
        path = path.partition("?")[0]
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            repo, revision = "/".join(parts[2:4]), parts[5]
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
            return 200, {}, json.dumps({"id": repo, "sha": COMMIT, "siblings": siblings}).encode()
        repo, name = "/".join(parts[:2]), "/".join(parts[4:])
        if method == "GET":
            if self.fail_after is not None and len(self.served) >= self.fail_after:
                return 500, {}, b""
            self.served.append(name)
        usual = f"{repo.replace('/', '-')}-{name.replace('/', '-')}"
        tag = f'"{self.tags.get(name, usual)}"'
        return 200, {"X-Repo-Commit": COMMIT, "ETag": tag}, self.repos[repo][name]


@pytest.fixture
def hub(monkeypatch):
    import huggingface_hub
    from huggingface_hub import constants

    fake = FakeHub()

    class Handler(BaseHTTPRequestHandler):
        def reply(self):
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

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    huggingface_hub.close_session()
    yield fake
    huggingface_hub.close_session()
    server.shutdown()
    server.server_close()
    thread.join()
