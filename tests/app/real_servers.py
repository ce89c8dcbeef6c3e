"""Real servers of other programs with a tiny model each, started in processes of their own, and a proxy before them that cuts,
slows and asks for a key."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.app.fresh import ROOT, environment
from tests.checkpoints import save
from tests.llamacpp_files import write

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# What a program imports when it starts or loads its first model. transformers serve refuses every model without accelerate.
_MODULES = {"mlx_lm": ["mlx_lm"], "transformers": ["transformers", "accelerate"], "grus": ["app"]}
_STARTS_WITHIN = 240.0  # seconds, on a busy machine


@dataclass(frozen=True)
class RealServer:
    """`model` is what it calls its model, `absent` a name that it refuses (empty: it takes every name)."""

    program: str
    port: int
    model: str
    absent: str
    key: str = ""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def tiny_model(folder: Path) -> Path:
    """With a chat template, which the programs want."""
    made = save("qwen3", folder, max_position_embeddings=2048)
    (made / "chat_template.jinja").write_text(TEMPLATE)
    return made


def why_not(program: str) -> str:
    """Why it cannot be started here; nothing when it can."""
    if (modules := _MODULES.get(program)) is not None:
        absent = [module for module in modules if importlib.util.find_spec(module) is None]
        return f"{program}: {' and '.join(absent)} not installed" if absent else ""
    looks = "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, ('llama_cpp', 'starlette_context'))))"
    found = subprocess.run([llama_python(), "-c", looks], capture_output=True, timeout=200)
    return (
        ""
        if found.returncode == 0
        else "llama-cpp-python is not installed with its server (GRUS_LLAMA_PYTHON says where it is)"
    )


def llama_python() -> str:
    return os.environ.get("GRUS_LLAMA_PYTHON", sys.executable)


@contextmanager
def started(program: str, folder: Path) -> Iterator[RealServer]:
    port = free_port()
    at = ["--host", "127.0.0.1", "--port", str(port)]
    (folder / "hub").mkdir()  # without a cache of the hub, transformers serve cannot list its models
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    more: dict[str, str] = {"PYTHONPATH": path, "HF_HUB_CACHE": str(folder / "hub")}
    if program == "grus":
        command = [sys.executable, "-m", "app.cli", "serve", *at, "--api-key", "sesame", "--offline"]
        server = RealServer(program, port, "guide", "nobody", "sesame")
    elif program == "llama_cpp":
        file = folder / "tiny.gguf"
        write("mistral_window", file, max_position_embeddings=2048)
        command = [llama_python(), "-m", "llama_cpp.server", "--model", str(file), *at, "--api_key", "sesame", "--chat_format", "chatml",
                   "--n_ctx", "2048"]  # fmt: skip
        server = RealServer(program, port, str(file), "", "sesame")
        more = {}
    else:
        model = str(tiny_model(folder / "tiny"))
        if program == "mlx_lm":
            command = [sys.executable, "-m", "mlx_lm.server", "--model", model, *at]
        else:
            command = [
                shutil.which("transformers", path=str(Path(sys.executable).parent)) or "transformers",
                "serve",
                *at,
            ]
        server = RealServer(program, port, model, str(folder / "nobody"))
    log = (folder / f"{program}.log").open("w")
    process = subprocess.Popen(command, stdout=log, stderr=log, env=environment(**more), start_new_session=True)
    try:
        _wait(process, server, folder / f"{program}.log")
        yield server
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
        process.kill()
        process.wait(20)
        log.close()


def _wait(process: subprocess.Popen[bytes], server: RealServer, log: Path) -> None:
    wanted = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/v1/models", headers={"Authorization": f"Bearer {server.key}"}
    )
    end = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()[-2000:]
        with suppress(OSError), urllib.request.urlopen(wanted, timeout=5):
            return
        time.sleep(0.2)
    raise AssertionError(f"{server.program} did not start: {log.read_text()[-2000:]}")


@dataclass
class Proxy:
    """Passes connections on. `key`: what it asks for. `cut`: replies end after so many bytes of events. `stall`: seconds before each
    piece of a reply. `open`: connections now."""

    target: int
    key: str = ""
    cut: int | None = None
    stall: float = 0.0
    port: int = 0
    open: int = 0
    _socket: socket.socket = field(default_factory=socket.socket)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self) -> None:
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(64)
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """One request a connection: what the server is told to do, and what a client must not rely on."""
        self.open += 1
        with client, suppress(OSError):
            head, body = _request(client)
            if self.key and f"Bearer {self.key}" not in head:
                client.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
            else:
                with socket.create_connection(("127.0.0.1", self.target), 30) as server:
                    server.sendall(
                        re.sub(r"(?i)\r\nconnection: [^\r]*", "", head)
                        .replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)
                        .encode()
                        + body
                    )
                    self._pass_on(server, client)
        self.open -= 1

    def _pass_on(self, server: socket.socket, client: socket.socket) -> None:
        passed = -1  # bytes of the events, once they have begun
        watch = threading.Thread(target=_until_gone, args=(client, server), daemon=True)
        watch.start()
        while data := server.recv(4096):
            if self.stall:
                time.sleep(self.stall)
            if passed >= 0 or b"data:" in data:
                passed = max(passed, 0) + len(data)
            if self.cut is not None and passed >= self.cut:
                client.sendall(data[: len(data) // 2])
                client.shutdown(socket.SHUT_RDWR)
                return
            client.sendall(data)
        client.shutdown(
            socket.SHUT_RDWR
        )  # closing would wait for the thread that watches, and a reply may have no length


def _request(client: socket.socket) -> tuple[str, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        more = client.recv(65536)
        if not more:
            raise OSError
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    while length is not None and len(body) < int(length[1]):
        body += client.recv(65536)
    return head.decode("latin-1") + "\r\n\r\n", body


def _until_gone(client: socket.socket, server: socket.socket) -> None:
    """A client that leaves takes its connection to the server with it."""
    with suppress(OSError):
        if client.recv(1) == b"":
            server.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxied(server: RealServer) -> Iterator[Proxy]:
    proxy = Proxy(server.port)
    proxy.run()
    try:
        yield proxy
    finally:
        proxy.close()
