"""How the server answers others while it is given prompts of megabytes: the latency of `/health`, and memory.

The server is a new process with a tiny model and a realistic tokenizer. Another process asks `/health` every 10 ms, so that
no other thread's work is measured with it; clients in threads send prompts by every protocol, several at once.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.bench.table import Row

ROOT = Path(__file__).parents[2]
SIZE = 3_500_000
CONTEXT = 8192
EVERY = 0.01


def chat(prompt: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": prompt}]}


# protocol -> its path, and the body for a prompt
PROTOCOLS: Mapping[str, tuple[str, Callable[[str], dict[str, Any]]]] = {
    "chat": ("/v1/chat/completions", lambda prompt: chat(prompt) | {"max_tokens": 4}),
    "completions": ("/v1/completions", lambda prompt: {"prompt": prompt, "max_tokens": 4}),
    "messages": ("/v1/messages", lambda prompt: chat(prompt) | {"max_tokens": 4}),
    "count_tokens": ("/v1/messages/count_tokens", chat),
    "responses": ("/v1/responses", lambda prompt: {"input": prompt, "max_output_tokens": 4}),
    "ollama chat": ("/api/chat", lambda prompt: chat(prompt) | {"options": {"num_predict": 4}}),
    "ollama generate": ("/api/generate", lambda prompt: {"prompt": prompt, "options": {"num_predict": 4}}),
    "ollama raw": ("/api/generate", lambda prompt: {"prompt": prompt, "raw": True, "options": {"num_predict": 4}}),
    "generate": ("/generate", lambda prompt: {"text": prompt, "sampling_params": {"max_new_tokens": 4}}),
    "embeddings": ("/v1/embeddings", lambda prompt: {"input": prompt}),
    "ollama embed": ("/api/embed", lambda prompt: {"input": prompt, "truncate": False}),
    "ollama embed, cut": ("/api/embed", lambda prompt: {"input": prompt}),
    "tokenize": ("/v1/tokenize", lambda prompt: {"prompt": prompt}),
}


def rows() -> list[Row]:
    found = []
    with tempfile.TemporaryDirectory() as folder, served(save_model(Path(folder) / "tiny")) as server:
        for count in (1, 4, 8):
            seen = server.under(lambda count=count: server.send_all(words(SIZE), count))
            found += [
                Row(f"/health, worst, {count} at once by each protocol", "ms", 1000 * max(seen.waits), aim="<= 100", more_is_better=False),
                Row(f"memory left by them, {count} at once", "MB", seen.grown, aim="<= 150", more_is_better=False),
            ]  # fmt: skip
    return found


# -- the server


def source_text() -> str:
    """The sources of this project: what a coding agent sends."""
    files = sorted([*ROOT.glob("engine/**/*.py"), *ROOT.glob("app/**/*.py"), *ROOT.glob("docs/*.md")])
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def words(size: int) -> str:
    text = source_text()
    return (text * (size // len(text) + 1))[:size]


def save_model(folder: Path, context: int = CONTEXT, vocabulary: int = 4000) -> Path:
    """A tiny Qwen3 with a trained vocabulary, and the words cut as the published ones cut them."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    from engine.text.byte_bpe import QWEN
    from tests.checkpoints import SPECIALS, save

    save("qwen3", folder, vocab_size=vocabulary, eos_token_id=vocabulary - 1, max_position_embeddings=context)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    split = pre_tokenizers.Split(Regex(QWEN), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=vocabulary - len(SPECIALS), initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([source_text()], trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIALS])
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@dataclass
class Seen:
    """What was measured while something was done."""

    waits: list[float] = field(default_factory=list)  # of each question for /health, in seconds
    before: float = 0.0  # resident memory of the server in MB, also after
    after: float = 0.0
    peak: float = 0.0
    seconds: float = 0.0
    result: Any = None

    @property
    def grown(self) -> float:
        return self.after - self.before


class ServedProcess:
    def __init__(self, port: int, pid: int, key: str = "") -> None:
        self.port = port
        self.pid = pid
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}

    def resident(self) -> float:
        import psutil

        return float(psutil.Process(self.pid).memory_info().rss) / 1e6

    def send(self, protocol: str, prompt: str, **more: Any) -> tuple[int, dict[str, str], Any]:
        """Status, headers and JSON of the answer."""
        path, body = PROTOCOLS[protocol]
        connection = HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            given = json.dumps(
                body(prompt) | {"model": "tiny"} | ({"stream": False} if path.startswith("/api/") else {}) | more
            )
            connection.request("POST", path, given.encode(), self.headers)
            reply = connection.getresponse()
            return reply.status, dict(reply.headers), json.loads(reply.read())
        finally:
            connection.close()

    def send_all(self, prompt: str, at_once: int, protocols: Sequence[str] = tuple(PROTOCOLS)) -> dict[str, set[int]]:
        """The statuses of each protocol: `at_once` of one, then of the next."""
        with ThreadPoolExecutor(at_once) as pool:
            return {
                name: {status for status, _, _ in pool.map(lambda _: self.send(name, prompt), range(at_once))}  # noqa: B023 - read at once
                for name in protocols
            }

    def under(self, work: Callable[[], Any]) -> Seen:
        """`/health` and the memory while `work` runs."""
        seen = Seen(before=self.resident())
        over = threading.Event()

        def watch() -> None:
            while not over.wait(0.05):
                seen.peak = max(seen.peak, self.resident())

        watcher = threading.Thread(target=watch)
        watcher.start()
        command = [sys.executable, "-m", "tests.bench.long_prompts", str(self.port)]
        with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as asker:
            try:
                assert asker.stdout is not None
                asker.stdout.readline()  # it has begun
                began = time.monotonic()
                seen.result = work()
                seen.seconds = time.monotonic() - began
                seen.waits = json.loads(asker.communicate(timeout=60)[0])
            finally:
                asker.kill()
                over.set()
                watcher.join()
        time.sleep(0.2)
        seen.after = self.resident()
        return seen


@contextmanager
def served(model: Path, *options: str, key: str = "") -> Iterator[ServedProcess]:
    options = (*options, "--api-key", key) if key else options
    command = [sys.executable, "-m", "app.cli", "serve", "--model", f"tiny={model}", "--port", "0", "--cpu", *options]
    environment = {**os.environ, "GRUS_GRACE": "1", "GRUS_GPU_MEMORY_LIMIT": "1G"}
    environment.pop("TOKENIZERS_PARALLELISM", None)
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            for text in child.stdout:
                if found := re.search(r"http://127\.0\.0\.1:(\d+)", text):
                    break
            else:
                raise AssertionError("the server did not start")
            threading.Thread(target=child.stdout.read, daemon=True).start()
            server = ServedProcess(int(found[1]), child.pid, key)
            for protocol in ("chat", "embeddings"):  # the first of each compiles something
                while True:
                    with suppress(ConnectionRefusedError):  # the page comes before the socket
                        assert server.send(protocol, "Hello")[0] == 200
                        break
                    time.sleep(0.05)
            yield server
        finally:
            child.terminate()
            child.wait(30)


# -- the process that asks for /health


def ask(port: int) -> list[float]:
    """Until standard input ends."""
    over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    waits = []
    question = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while not over.is_set():
            began = time.monotonic()
            connection.sendall(question)
            answer = b""
            while not answer.endswith(b"}"):
                piece = connection.recv(65536)
                assert piece, answer
                answer += piece
            assert answer.startswith(b"HTTP/1.1 200"), answer
            waits.append(time.monotonic() - began)
            if len(waits) == 1:
                print("begun", flush=True)
            time.sleep(max(0.0, EVERY - waits[-1]))
    return waits


if __name__ == "__main__":
    print(json.dumps(ask(int(sys.argv[1]))))
