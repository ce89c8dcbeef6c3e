"""`grus serve`: the sources of its options, its messages, and how it stops."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.server.config import OPTIONS, ServerSettings, catalogue, engine_settings, gather, load_options, server_settings
from app.server.listening import Listener, claim
from engine.errors import BadRequest
from engine.starter import starters
from engine.weights.quantize import CHOICES
from tests.app.conftest import Outcome
from tests.processes import child_process

Command = Callable[..., Outcome]


def options(tmp_path: Path, toml: str = "", environment: dict[str, str] | None = None, **given: Any) -> dict[str, Any]:
    file = tmp_path / "serve.toml"
    file.write_text(toml)
    return gather(given, environment or {}, file)


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    toml = 'port = 1\nhost = "localhost"\nmax_concurrent = 3\napi_key = ["a", "b"]\ncpu = true'
    found = options(tmp_path, toml, {"GRUS_PORT": "2", "GRUS_MAX_CONCURRENT": "4"}, port=3)
    assert (found["port"], found["max_concurrent"], found["host"]) == (3, 4, "localhost")
    assert (found["api_key"], found["cpu"], found["backend"]) == (["a", "b"], True, "auto")


def test_variables_of_a_voice_deployment_are_known(tmp_path: Path) -> None:
    names = {"PORT": "9", "MAX_CONCURRENCY": "2", "DEVICE": "cpu", "BASE_MODEL_DIR": "/a"}
    found = options(tmp_path, "", {**names, "VOICE_DESIGN_MODEL_DIR": "/b", "TOKENIZER_DIR": "/c"})
    assert [found[name] for name in ("port", "max_concurrent", "device")] == [9, 2, "cpu"]
    assert [found[f"{name}_dir"] for name in ("base_model", "voice_design_model", "tokenizer")] == ["/a", "/b", "/c"]


@pytest.mark.parametrize(
    ("toml", "environment", "said"),
    [
        ("nonsense = 1", {}, "nonsense"),
        ("port = [", {}, "not valid TOML"),
        ('port = "x"', {}, "must be a number"),
        ("host = [1]", {}, "must not be a list"),
        ("", {"GRUS_PORT": "x"}, "GRUS_PORT must be a number"),
        ("", {"GRUS_CPU": "maybe"}, "true or false"),
        ("", {"GRUS_BACKEND": "jax"}, "one of auto, mlx, torch"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, toml: str, environment: dict[str, str], said: str) -> None:
    with pytest.raises(BadRequest, match=re.escape(said)):
        options(tmp_path, toml, environment)


def test_every_option_has_an_effect_or_a_reader(tmp_path: Path) -> None:
    """Each option is read somewhere: one that is taken and forgotten would be a lie."""
    sources = "".join(path.read_text().split("OPTIONS = _options()")[-1] for path in Path("app").rglob("*.py"))
    assert [o.name for o in OPTIONS if f'"{o.name}"' not in sources] == []


def test_options_become_settings(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("# ours\none\n\ntwo\n")
    found = options(
        tmp_path, api_key=["zero"], api_key_file=str(keys), host="0.0.0.0", gpu_memory_limit="5G", max_queue=7
    )
    assert server_settings(found).api_keys == ("zero", "one", "two")
    assert (engine_settings(found).gpu_memory_limit, engine_settings(found).max_queue) == ("5G", 7)
    assert "zero" not in repr(server_settings(found))
    assert server_settings(found).remote_images
    closed = options(tmp_path, "no_remote_images = true", {"GRUS_REMOTE_IMAGE_PORT": "81,82"})
    assert (server_settings(closed).remote_images, server_settings(closed).remote_image_ports) == (False, (81, 82))
    with pytest.raises(BadRequest, match="remote_image_port"):
        server_settings(options(tmp_path, remote_image_port=["x"]))
    keys.write_text("# none\n")
    empty = options(tmp_path, api_key_file=str(keys))
    with pytest.raises(BadRequest, match="holds no key"):
        server_settings(empty)
    with pytest.raises(BadRequest, match="gone cannot be read: No such file or directory"):
        server_settings(options(tmp_path, api_key_file="gone"))


def test_models_and_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "small-model"
    folder.mkdir()
    named = catalogue(options(tmp_path, model=[str(folder), "big=owner/name", "owner/other"])).named
    assert named == {"small-model": str(folder), "big": "owner/name", "owner/other": "owner/other"}
    assert catalogue(options(tmp_path, model_path="x/y", model_name="z")).named == {"z": "x/y"}
    for wrong in ({"model_name": "z"}, {"model": ["a=x", "a=y"]}, {"models_dir": str(tmp_path / "none")}):
        with pytest.raises(BadRequest):
            catalogue(options(tmp_path, **wrong))


def test_plain_weights_are_quantized_as_it_is_said(tmp_path: Path) -> None:
    def of(source: str, **given: Any) -> str:
        return load_options(options(tmp_path, **given))(source).quant

    assert of("owner/name") == "auto"
    assert of("owner/name", quant="q4_0") == "q4_0"
    guide = starters()["guide"]  # too small to gain by it, unless somebody asks
    assert (of(guide), of(guide, quant="q8_0")) == ("none", "q8_0")
    with pytest.raises(BadRequest, match="GRUS_QUANT must be one of auto, none, q8_0"):
        options(tmp_path, environment={"GRUS_QUANT": "q3"})
    assert set(next(o for o in OPTIONS if o.name == "quant").choices) == set(CHOICES)


def test_what_conversations_leave_in_memory_has_as_many_bits_as_it_is_said(tmp_path: Path, command: Command) -> None:
    def of(content: str = "", **more: Any) -> int | None:
        return load_options(options(tmp_path, content, **more))("owner/name").kv_bits

    assert (of(), of(kv_bits=4), of("kv_bits = 8"), of(environment={"GRUS_KV_BITS": "8"})) == (None, 4, 8, 8)
    with pytest.raises(BadRequest, match="GRUS_KV_BITS must be one of 32, 16, 8, 4, not '5'"):
        of(environment={"GRUS_KV_BITS": "5"})
    with pytest.raises(BadRequest, match=r"kv_bits in .* must be one of 32, 16, 8, 4, not '2'"):
        of("kv_bits = 2")
    outcome = command("serve", "--kv-bits", "5")
    assert (outcome.code, "choose from 32, 16, 8, 4" in outcome.err.replace("'", "")) == (2, True)


def test_the_help_is_worth_reading(command: Command) -> None:
    page = command("serve", "--help").out
    for option in OPTIONS:
        assert option.flag in page
    assert "GRUS_PORT" in page


def test_what_cannot_start_says_why(command: Command, model: Path, tmp_path: Path) -> None:
    assert "--api-key" in command("serve", "--model", model, "--host", "0.0.0.0").err
    assert "q_norm" in command("serve", "--model-path", model, "--port", 0, "--model-type", "llama").err
    assert "no gguf weights" in command("serve", "--model-path", model, "--port", 0, "--format", "gguf").err
    assert "no such file" in command("serve", "--config", tmp_path / "none.toml").err.lower()
    outcome = command("serve", "--model", tmp_path / "none", "--port", 0, "--offline")
    assert (outcome.code, outcome.err.startswith("grus: ")) == (2, True)


@pytest.mark.parametrize("end", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_it_serves_until_it_is_told_to_stop(model: Path, end: signal.Signals) -> None:
    command = [sys.executable, "-m", "app.cli", "serve", "--model", f"tiny={model}", "--port", "0", "--cpu"]
    environment = {**os.environ, "GRUS_GRACE": "1", "GRUS_GPU_MEMORY_LIMIT": "1G"}
    with child_process(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        page = "".join(iter(child.stdout.readline, "Ctrl-C stops it.\n"))
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+", page)
            assert found is not None
            assert "tiny: qwen3, 256 tokens of context" in page
            assert "curl " in page
            assert woken(child.pid) < 8
            body = {"model": "tiny", "messages": [{"role": "user", "content": "x"}], "max_tokens": 3, "stream": True}
            with httpx.stream("POST", f"{found[0]}/v1/chat/completions", json=body, timeout=30) as reply:
                child.send_signal(end)
                assert reply.read().decode().endswith("data: [DONE]\n\n")
        finally:
            child.send_signal(end)
        said = child.communicate(timeout=20)[1]
    assert child.returncode == 0
    assert "Traceback" not in said


def woken(pid: int) -> int:
    """How often the main thread of an idle server wakes in two seconds, once what began with it has ended; 0 where no system file says it.
    Uvicorn's own loop wakes twenty times."""
    counts = Path(f"/proc/{pid}/status")

    def so_far() -> int:
        return int(counts.read_text().split("\nvoluntary_ctxt_switches:")[1].split()[0]) if counts.exists() else 0

    found, limit = 8, time.monotonic() + 20
    while found >= 8 and time.monotonic() < limit:
        before = so_far()
        time.sleep(2)
        found = so_far() - before
    return found


class Windows:
    """A socket of a machine where another program's port can be taken away; it notes how it was set up."""

    def __init__(self) -> None:
        self.options: list[tuple[int, int, int]] = []

    def setsockopt(self, *option: int) -> None:
        self.options.append(option)  # type: ignore[arg-type]


UNLOADED = """
import gc, sys, time, weakref
from app.cli import main
from app.runtime.models import ModelService
from app.server.listening import Listener

load, seen = ModelService.load_now, {}

def load_now(self, name):
    loaded = load(self, name)
    seen.update(service=self, name=name, model=weakref.ref(loaded.model))
    return loaded

def run(self):
    assert gc.get_freeze_count() > 10_000
    seen["service"].engine.unload(seen["name"], cancel=True)
    limit = time.monotonic() + 20
    while seen["model"]() is not None and time.monotonic() < limit:
        time.sleep(0.01)
    print("kept" if seen["model"]() is not None else "gone")

ModelService.load_now, Listener.run = load_now, run
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("backend", ["torch", pytest.param("mlx", marks=pytest.mark.slow)])
def test_a_model_that_is_unloaded_is_gone_although_the_server_froze_what_it_began_with(
    model: Path, backend: str
) -> None:
    arguments = ["serve", "--model", str(model), "--port", "0", "--backend", backend, "--device", "cpu"]
    ran = subprocess.run([sys.executable, "-c", UNLOADED, *arguments], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "gone"


def test_on_windows_a_port_is_claimed_for_this_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The logic alone: what Windows makes of it is not seen here."""
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", -5, raising=False)
    made: Any = Windows()
    claim(made)
    assert made.options == [(socket.SOL_SOCKET, -5, 1)]


@pytest.mark.skipif(sys.platform == "win32", reason="SO_REUSEADDR is what other systems need")
def test_elsewhere_a_port_that_was_left_may_be_taken_again_and_one_in_use_may_not() -> None:
    made: Any = Windows()
    claim(made)
    assert made.options == [(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)]
    with socket.create_server(("127.0.0.1", 0)) as other:
        settings = ServerSettings(port=other.getsockname()[1])
        with pytest.raises(BadRequest, match="Choose another --host or --port"):
            Listener(FastAPI(), settings)


def test_a_client_that_reads_the_page_may_connect_at_once() -> None:
    """Before the event loop runs, which takes a moment on a busy machine."""
    listener = Listener(FastAPI(), ServerSettings(port=0))
    with listener.socket:
        listener.listen()
        socket.create_connection(("127.0.0.1", listener.port), timeout=5).close()
