"""A local web server that stands for the Internet."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any

from PIL import Image

_file = io.BytesIO()
Image.new("RGB", (1, 1)).save(_file, "PNG")
DOT = _file.getvalue()
LOOPBACK = ip_address("127.0.0.1")

Answer = Callable[[BaseHTTPRequestHandler], None]


def reply(status: int = 200, body: bytes = DOT, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Type": "image/png", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def trickle(handler: BaseHTTPRequestHandler) -> None:
    reply(body=b"")(handler)
    for _ in range(100):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.02)


class Web:
    """Answers each path as a test wrote; every head it was sent is kept."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {"/dot.png": reply()}
        self.asked: list[BaseHTTPRequestHandler] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked.append(self)
                try:
                    web.pages.get(self.path, reply(404))(self)
                except OSError:
                    return  # the client has seen enough

            def log_message(self, *_: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.url = f"http://pictures.example:{self.port}"
