"""A server elsewhere that a test scripts: what it answers, and what it was sent."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Chunk = Mapping[str, Any] | str | float  # a chunk of a stream; a line of it; seconds of silence


@dataclass
class PeerRequest:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        return dict(json.loads(self.body))


@dataclass
class Peer:
    """`stream` answers chats and continuations; `replies` other paths, with a status, a type and a body."""

    url: str = ""
    key: str = ""
    models: Sequence[Mapping[str, Any]] = ({"id": "tiny", "owned_by": "test"},)
    stream: Sequence[Chunk] = ()
    done: bool = True  # whether the stream ends as OpenAI's do
    cut: bool = False  # the connection is lost behind the last chunk
    replies: dict[str, tuple[int, str, bytes]] = field(default_factory=dict)
    location: str = ""  # of a redirect
    requests: list[PeerRequest] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)  # a client left within a stream

    @property
    def last(self) -> dict[str, Any]:
        return self.requests[-1].json


def delta(index: int = 0, reason: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk with one choice, as all servers stream them."""
    return {
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "tiny",
        "choices": [{"index": index, "delta": fields, "finish_reason": reason}],
    }  # fmt: skip


def words(*pieces: str, reason: str = "stop") -> list[Chunk]:
    return [delta(role="assistant", content=""), *(delta(content=piece) for piece in pieces), delta(reason=reason)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    peer: Peer

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the test has all requests."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        peer = self.peer
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        peer.requests.append(PeerRequest(self.command, self.path, dict(self.headers.items()), body))
        if peer.location:
            self._send(307, "text/plain", b"", {"Location": peer.location})
        elif peer.key and self.headers.get("Authorization") != f"Bearer {peer.key}":
            message = f"Incorrect API key provided: {self.headers.get('Authorization')}"
            self._send(401, "application/json", json.dumps({"error": {"message": message, "code": 401}}).encode())
        elif self.path in peer.replies:
            self._send(*peer.replies[self.path])
        elif self.path == "/v1/models":
            self._send(200, "application/json", json.dumps({"object": "list", "data": list(peer.models)}).encode())
        elif self.path in ("/v1/chat/completions", "/v1/completions"):
            known = {model["id"] for model in peer.models}
            if json.loads(body)["model"] not in known:
                refusal = {
                    "object": "error",
                    "message": "The model does not exist.",
                    "type": "NotFoundError",
                    "code": 404,
                }
                self._send(404, "application/json", json.dumps(refusal).encode())
            else:
                self._stream()
        else:
            self._send(404, "application/json", b'{"detail": "Not Found"}')

    def _send(self, status: int, kind: str, body: bytes, more: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(more or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for chunk in self.peer.stream:
                if isinstance(chunk, int | float):
                    self._wait(chunk)
                elif isinstance(chunk, str):
                    self._write(chunk.encode())
                else:
                    self._write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            if self.peer.cut:
                self.close_connection = True
                self.connection.close()
                return
            if self.peer.done:
                self._write(b"data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.peer.gone.set()
            self.close_connection = True

    def _wait(self, seconds: float) -> None:
        """In small steps, with a comment each: what tells that the client has left."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.02)
            if seconds > 5:
                self._write(b": keepalive\n\n")

    def _write(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


@contextmanager
def listening(**script: Any) -> Iterator[Peer]:
    peer = Peer(**script)
    handler = type("Handler", (_Handler,), {"peer": peer})
    server = _Server(("127.0.0.1", 0), handler)
    peer.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield peer
    finally:
        server.shutdown()
        server.server_close()


def until(condition: Callable[[], Any], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
