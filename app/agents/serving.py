"""The server that a program is connected to: where it is, which models it has; and one started for a single program."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from app.agents.programs import NO_KEY, AgentProgram, AgentServer
from engine.errors import BadRequest, GrusError

DEFAULT_ADDRESS = "http://127.0.0.1:8080"
_ANSWERS_WITHIN, _STARTS_WITHIN = 10.0, 600.0  # seconds


class NoServer(GrusError):
    """Nothing answers at the address."""

    code = "no_server"


@dataclass(frozen=True)
class WantedServer:
    """What a person asked for; what is empty is found out."""

    address: str = ""
    model: str = ""
    key: str = ""


def window_server(preferences: dict[str, Any]) -> tuple[str, str]:
    """Address and key of the window's server, as its Server pane has them."""
    kept = preferences.get("server")
    kept = kept if isinstance(kept, dict) else {}
    keys = kept.get("keys") or [""]
    return f"http://127.0.0.1:{kept.get('port') or 8080}", str(keys[0])


def find_server(wanted: WantedServer) -> AgentServer:
    """The server with a model; NoServer where none runs."""
    address = (wanted.address or DEFAULT_ADDRESS).rstrip("/").removesuffix("/v1")
    if not re.match(r"https?://[^/\s]+", address):
        raise BadRequest(f"{wanted.address} is no address of a server. One looks like {DEFAULT_ADDRESS}", "url")
    headers = {"Authorization": f"Bearer {wanted.key or NO_KEY}"}
    try:
        reply = httpx.get(f"{address}/v1/models", headers=headers, timeout=_ANSWERS_WITHIN, trust_env=False)
    except httpx.TransportError:
        raise NoServer(f"No server answers at {address}.") from None
    if reply.status_code in (401, 403):
        raise BadRequest(f"The server at {address} wants a key: set GRUS_API_KEY to one of its keys.", "key")
    try:
        models = {str(one["id"]): one for one in reply.json()["data"]}
    except (ValueError, KeyError, TypeError):
        raise BadRequest(
            f"What answers at {address} is no server of models. Say another address with --url.", "url"
        ) from None
    texts = [name for name, one in models.items() if one.get("kind", "text") == "text"]
    loaded = [name for name in texts if models[name].get("loaded")]
    model = wanted.model or next(iter(loaded or texts), "")
    if not model:
        raise BadRequest(f"The server at {address} has no model that writes text. Name one with --model.", "model")
    if model not in models:
        names = ", ".join(texts) or "none"
        raise BadRequest(f"The server at {address} has no model {model}. It has: {names}.", "model")
    context = models[model].get("context_length")
    return AgentServer(address, model, wanted.key or NO_KEY, context if isinstance(context, int) else None)


@contextlib.contextmanager
def started_server(model: str, options: Sequence[str] = ()) -> Iterator[AgentServer]:
    """A server of this machine's own for one model, on a free port, for as long as it is needed."""
    command = [sys.executable, "-m", "app.cli", "serve", "--port", "0", "--model", model, *options]
    with tempfile.TemporaryDirectory(prefix="grus-launch-") as folder:
        log = Path(folder) / "log.txt"
        with log.open("wb") as output:
            # a session of its own: Ctrl-C in the terminal is for the program, and the server outlives it
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
        try:
            address = _address(process, log)
            yield find_server(WantedServer(address, key=_key()))
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _key() -> str:
    """A server that is started here reads the same variable."""
    return os.environ.get("GRUS_API_KEY", "")


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < end:
        text = log.read_text(encoding="utf-8", errors="replace")
        if found := re.search(r"Grus serves on (\S+)", text):
            return found[1]
        if process.poll() is not None:
            last = text.strip().splitlines()[-1:] or ["it said nothing"]
            raise NoServer(f"The server did not start: {last[0].removeprefix('grus: ')}")
        time.sleep(0.05)
    raise NoServer(f"The server did not start within {_STARTS_WITHIN / 60:.0f} minutes.")


def run_program(program: AgentProgram, server: AgentServer, arguments: Sequence[str]) -> int:
    """The program in this terminal, to its end; its settings files are not touched. Its exit status."""
    assert program.start is not None
    start = program.start(server)
    environment = {name: value for name, value in os.environ.items() if name not in start.without}
    with tempfile.TemporaryDirectory(prefix="grus-launch-") as folder:
        given = list(start.arguments)
        if start.file:
            file = Path(folder) / "config.yaml"
            file.touch(0o600)
            file.write_text(start.file, encoding="utf-8")
            given.append(str(file))
        command = [program.executable() or program.command, *given, *arguments]
        process = subprocess.Popen(command, env={**environment, **start.variables})
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:  # the program has it too, and decides
                continue
