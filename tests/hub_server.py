"""Hugging Face's hub on the loopback interface: a real HTTP server, and a second one where large files lie, as the hub's CDN.

Reached through the environment variable HF_ENDPOINT alone, so that a new process of Grus can be tested against it as well
as this one. It speaks what huggingface_hub and Grus ask for: repository information, the tree, resolve with ranges,
redirects and checksums, search, gated repositories and tokens. What goes wrong with a hub is written into its fields.
`tests/engine/hub/test_hub_server.py` holds it against huggingface_hub itself.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = (".safetensors", ".gguf", ".bin", ".pt")  # as the hub keeps them: on other machines, by their sha256
TOKEN = "hf_TheTokenOfATest0123456789"


@dataclass
class Hold:
    """A file's body stops after so many bytes until `go` is set; `reached` is set when it stands there.

    With a `pace` the rest comes in pieces of 64 KB with that many seconds before each, so that a client which is stopping
    has the time to stop before the whole file is there.
    """

    after: int
    pace: float = 0.0
    reached: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)


@dataclass
class FakeHub:
    """What the hub has, what is wrong with it, and what it was asked."""

    repos: dict[str, dict[str, bytes]] = field(default_factory=dict)
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)  # repo -> what the hub tells of it
    gated: dict[str, set[str]] = field(default_factory=dict)  # repo -> tokens that open it
    tokens: set[str] = field(default_factory=lambda: {TOKEN})  # that the hub knows; another one is refused everywhere
    errors: dict[str, tuple[int, str]] = field(default_factory=dict)  # repo -> status, X-Error-Code
    busy: dict[str, list[tuple[int, dict[str, str]]]] = field(default_factory=dict)  # path's part -> answers, in turn
    tags: dict[str, str] = field(default_factory=dict)  # file -> its checksum, where the hub tells a wrong one
    cuts: dict[str, list[int]] = field(default_factory=dict)  # file -> bytes after which its connections break, in turn
    holds: dict[str, Hold] = field(default_factory=dict)  # file -> where it stops
    fail_after: int | None = None  # files
    served: list[str] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)  # (path, who says to ask)
    ranges: list[tuple[str, str]] = field(default_factory=list)  # (file, what was asked of it)
    shown: list[tuple[str, str]] = field(default_factory=list)  # (which server, the token it was sent)
    address: str = ""
    storage: str = ""  # the address of the machine with the large files

    # -- the hub itself: (status, headers, body)

    def answer(self, method: str, path: str, token: str) -> tuple[int, dict[str, str], bytes]:
        path, _, query = path.partition("?")
        for part, answers in self.busy.items():
            if part in path and answers:
                status, headers = answers.pop(0)
                return status, headers, b"busy"
        if token and token not in self.tokens:
            return 401, {"X-Error-Message": "Invalid credentials in Authorization header"}, b"{}"
        parts = [unquote(part) for part in path.strip("/").split("/")]
        if parts == ["api", "models"]:
            return 200, {}, json.dumps(self._search(parse_qs(query))).encode()
        if parts[:2] == ["api", "models"]:
            repo, kind, revision = "/".join(parts[2:4]), "".join(parts[4:5]), "/".join(parts[5:6]) or "main"
            if refusal := self._refusal(repo, revision, token if repo not in self.gated else None):
                return refusal
            body = self._tree(repo) if kind == "tree" else self._info(repo)
            return 200, {}, json.dumps(body).encode()
        if parts[:3] == ["api", "resolve-cache", "models"]:  # where the hub sends those who want a small file
            repo, revision, name = "/".join(parts[3:5]), parts[5], "/".join(parts[6:])
        else:
            repo, revision, name = "/".join(parts[:2]), parts[3], "/".join(parts[4:])
        if refusal := self._refusal(repo, revision, token):
            return refusal
        if name not in self.repos[repo]:
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        if method == "GET" and parts[0] != "api" and not self._serve(name):
            return 500, {}, b""
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{self.tag(repo, name)}"'}
        if name.endswith(LARGE):
            size = str(len(self.repos[repo][name]))
            there = f"{self.storage}/{repo}/{name}?Signature=abc"
            return 302, {**headers, "X-Linked-ETag": headers["ETag"], "X-Linked-Size": size, "Location": there}, b""
        if parts[0] != "api":
            return 307, {**headers, "Location": f"/api/resolve-cache/models/{repo}/{COMMIT}/{name}"}, b""
        return 200, headers, self.repos[repo][name]

    def stored(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """The other machine's answer."""
        parts = unquote(path.partition("?")[0]).strip("/").split("/")
        return 200, {"ETag": '"of-the-storage"'}, self.repos["/".join(parts[:2])]["/".join(parts[2:])]

    def tag(self, repo: str, name: str) -> str:
        data = self.repos[repo][name]
        true = hashlib.sha256(data) if name.endswith(LARGE) else hashlib.sha1(b"blob %d\0" % len(data) + data)
        return self.tags.get(name, true.hexdigest())

    def _serve(self, name: str) -> bool:
        if self.fail_after is not None and len(self.served) >= self.fail_after:
            return False
        self.served.append(name)
        return True

    def _refusal(self, repo: str, revision: str, token: str | None) -> tuple[int, dict[str, str], bytes] | None:
        """`token`: None where a gated repository is open to everybody, as what it holds is."""
        if repo in self.errors:
            status, code = self.errors[repo]
            return status, {"X-Error-Code": code}, b"{}"
        if repo not in self.repos:
            return 404 if token else 401, {"X-Error-Code": "RepoNotFound"}, b"{}"
        if revision not in ("main", COMMIT):
            return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
        if token is not None and repo in self.gated and token not in self.gated[repo]:
            message = f"Access to model {repo} is restricted."
            return 403 if token else 401, {"X-Error-Code": "GatedRepo", "X-Error-Message": message}, b"{}"
        return None

    def _search(self, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        words = query["search"][0].lower()
        found = [
            {"id": r, "tags": [], **self._gate(r), **self.cards.get(r, {})} for r in self.repos if words in r.lower()
        ]
        return found[: int(query.get("limit", ["1000"])[0])]

    def _gate(self, repo: str) -> dict[str, Any]:
        return {"gated": "manual"} if repo in self.gated else {}

    def _info(self, repo: str) -> dict[str, Any]:
        siblings = [{"rfilename": entry["path"], **{k: v for k, v in entry.items() if k in ("size", "lfs")},
                     "blobId": entry["oid"]} for entry in self._tree(repo)]  # fmt: skip
        return {"id": repo, "sha": COMMIT, "siblings": siblings, **self._gate(repo), **self.cards.get(repo, {})}

    def _tree(self, repo: str) -> list[dict[str, Any]]:
        tree: list[dict[str, Any]] = []
        for name, data in self.repos[repo].items():
            oid = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            large = {"lfs": {"oid": self.tag(repo, name), "sha256": self.tag(repo, name), "size": len(data),
                             "pointerSize": 130}} if name.endswith(LARGE) else {}  # fmt: skip
            tree.append({"type": "file", "path": name, "size": len(data), "oid": oid, **large})
        return tree


def _handler(hub: FakeHub, storage: bool) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def reply(self) -> None:
            token = (self.headers["Authorization"] or "").removeprefix("Bearer ")
            hub.shown.append(("storage" if storage else "hub", token))
            name = unquote(urlsplit(self.path).path.rpartition("/")[2])
            if storage:
                status, headers, body = hub.stored(self.path)
            else:
                hub.asked.append((self.path, self.headers["User-Agent"] or ""))
                status, headers, body = hub.answer(self.command, self.path, token)
            if status == 200 and (asked := self.headers["Range"]):
                hub.ranges.append((name, asked))
                status, body = 206, body[int(asked.removeprefix("bytes=").rstrip("-")) :]
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.send_body(name if status in (200, 206) else "", body)

        def send_body(self, name: str, body: bytes) -> None:
            hold, cut = hub.holds.get(name), hub.cuts.get(name)
            try:
                if hold is not None and not hold.go.is_set():
                    self.wfile.write(body[: hold.after])
                    self.wfile.flush()
                    hold.reached.set()
                    hold.go.wait(60)
                    body = body[hold.after :]
                    while hold.pace and body:
                        time.sleep(hold.pace)
                        self.wfile.write(body[:65536])
                        body = body[65536:]
                self.wfile.write(body[: cut.pop(0)] if cut else body)
            except OSError:
                """Who asked has gone."""

        do_GET = do_HEAD = reply

        def log_message(self, *args: Any) -> None:
            """Tests say nothing."""

    return Handler


@contextmanager
def serving() -> Iterator[FakeHub]:
    """Both servers, for other processes: give them `HF_ENDPOINT=hub.address`."""
    hub = FakeHub()
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub, storage)) for storage in (False, True)]
    threads = [threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True) for server in servers]
    hub.address = f"http://127.0.0.1:{servers[0].server_port}"
    hub.storage = f"http://localhost:{servers[1].server_port}"
    for thread in threads:
        thread.start()
    try:
        yield hub
    finally:
        for hold in hub.holds.values():
            hold.go.set()
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            server.server_close()
            thread.join()


@contextmanager
def hub_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """For this process too, where huggingface_hub may have been imported while the environment forbade the network."""
    import huggingface_hub
    from huggingface_hub import constants

    with serving() as hub:
        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
        huggingface_hub.close_session()
        try:
            yield hub
        finally:
            huggingface_hub.close_session()
