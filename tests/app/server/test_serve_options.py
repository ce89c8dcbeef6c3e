"""Options of `grus serve` about models and replies, in a process of its own and over its socket."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine.loading import LoadOptions, weight_bytes
from engine.shares import LEAST_KV
from engine.weights.convert import convert
from tests.app.fresh import ROOT, environment, grus, several
from tests.app.test_bad_input import edit_config
from tests.checkpoints import save
from tests.processes import child_process

QUOTE = "the cat and the dog and the cat and the dog and the cat and the dog"


@contextmanager
def served(
    *arguments: object, end: signal.Signals = signal.SIGINT, heard: list[str] | None = None, **variables: str
) -> Iterator[httpx.Client]:
    """`grus serve ARGUMENTS`, until the block ends; then it must end well. `heard` gets what it has written to its errors."""
    command = [sys.executable, "-m", "app.cli", "serve", "--port", "0", "--device", "cpu", *map(str, arguments)]
    with child_process(
        command,
        env=environment(GRUS_GRACE="1", **variables),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        try:
            page = "".join(iter(child.stdout.readline, "Ctrl-C stops it.\n"))
            found = re.search(r"http://127\.0\.0\.1:\d+", page)
            assert found is not None, child.stderr.read() if child.stderr else page
            with httpx.Client(base_url=found[0], timeout=100) as client:
                yield client
        finally:
            child.send_signal(end)
        said = child.communicate(timeout=60)[1]
    assert child.returncode == 0, said
    assert "Traceback" not in said
    if heard is not None:
        heard.append(said)


def reply(client: httpx.Client, model: str = "tiny", **more: Any) -> str:
    body = {"model": model, "prompt": QUOTE, "max_tokens": 40, "temperature": 0, **more}
    answer = client.post("/v1/completions", json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["choices"][0]["text"])


@pytest.mark.parametrize("backend", ["torch", pytest.param("mlx", marks=pytest.mark.slow)])
def test_replies_are_made_as_the_options_say(backend: str, model: Path, tmp_path: Path) -> None:
    plain_run, wanted_run = several(
        *(
            [
                "run",
                model,
                QUOTE,
                "--raw",
                "--json",
                "--max-tokens",
                40,
                "--temperature",
                0,
                "--backend",
                backend,
                *more,
            ]
            for more in ([], ["--repetition-penalty", 50, "--repeat-last-n", 5])
        )
    )
    plain, wanted = (json.loads(seen.out)["text"] for seen in (plain_run, wanted_run))
    stop = wanted[10:12]
    draft = Path(shutil.copytree(model, tmp_path / "draft"))
    profile, kept = tmp_path / "profile.json", tmp_path / "kept"
    with served(
        "--model", f"tiny={model}", "--backend", backend, "--repetition-penalty", 50, "--repeat-last-n", 5,
        "--stop", stop, "--draft", draft, "--kv-offload-dir", kept, "--profile", profile,
    ) as client:  # fmt: skip
        assert reply(client) == wanted[: wanted.index(stop)]
        own = reply(client, repetition_penalty=1.0, stop=["no such text"])
        assert own == (plain[: plain.index(stop)] if stop in plain else plain)
        info = client.get("/server_info").json()
        assert client.post("/api/show", json={"model": "tiny"}).json()["parameters"].endswith(f'stop "{stop}"')
        assert str(draft) not in str(client.get("/v1/models").json())
    assert "draft" in json.dumps(info)
    assert list(kept.glob("*.prefix"))
    names = {event["name"] for event in json.loads(profile.read_text())["traceEvents"]}
    assert {"queue", "prefill", "decode"} <= names


@pytest.mark.parametrize("backend", [pytest.param("torch", marks=pytest.mark.slow), "mlx"])
def test_models_come_and_go_as_the_options_say(backend: str, model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    shutil.copytree(model, folder / "one")
    (folder / "two").mkdir()
    convert(model, folder / "two" / "tiny-Q8_0.gguf", "gguf", "q8_0")
    convert(model, folder / "two" / "tiny-Q4_0.gguf", "gguf", "q4_0")
    with served("--models-dir", folder, "--backend", backend, "--max-models", 1, "--idle-ttl", 2) as client:

        def here() -> list[str]:
            return [one["name"] for one in client.get("/api/ps").json()["models"]]

        assert reply(client, "one")
        assert [name.removesuffix(":latest") for name in here()] == ["one"]
        assert reply(client, "two:q8")
        assert here() == ["two:q8"]
        wrong = client.post("/v1/completions", json={"model": "two:q", "prompt": "x"})
        assert (wrong.status_code, "Q4_0, Q8_0" in wrong.text) == (404, True)
        deadline = time.monotonic() + 30
        while here() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert here() == []


@pytest.mark.torch_only("MLX uses no weights where they lie in their file")
def test_a_mixture_that_is_larger_than_the_limit_replies_from_its_file(tmp_path: Path) -> None:
    file = convert(save("qwen3_moe", tmp_path / "whole"), tmp_path / "tiny.gguf", quant="q8_0")
    whole = weight_bytes(str(file), LoadOptions(device="cpu"))
    assert whole is not None
    named = "--backend", "torch", "--model", f"tiny={file}", "--gpu-memory-limit"
    replies: list[str] = []
    heard: list[str] = []
    for limit in (4 * LEAST_KV, LEAST_KV + whole - 1):
        with served(*named, limit, heard=heard) as client:
            replies.append(reply(client))
    assert replies[0] == replies[1]
    assert ["stay in the file" in said for said in heard] == [False, True]


def test_the_one_model_that_is_named_is_loaded_as_it_is_said(model: Path, tmp_path: Path) -> None:
    liar = Path(shutil.copytree(model, tmp_path / "liar"))
    edit_config(liar, model_type="mamba9")
    with served("--model", f"tiny={liar}", "--model-type", "qwen3", "--format", "safetensors") as client:
        assert reply(client)


def test_what_cannot_be_is_one_sentence(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    wrong: list[tuple[list[Any], str]] = [
        (["--min-p", 2], "min_p must be between 0 and 1, not 2.0."),
        (["--repeat-last-n", -3], "--repeat-last-n must be -1, 0 or a number of tokens, not -3."),
        (["--idle-ttl", -1], "idle_ttl must be 0 seconds or more, not -1.0."),
        (["--idle-ttl", "nan"], "idle_ttl must be 0 seconds or more, not nan."),
        (["--max-models", -1], "max_models must be at least 0, not -1."),
        (["--kv-offload-dir", tmp_path / "file"], "it is a file"),
        (["--kv-offload-limit", "many"], "not 'many'"),
        (["--draft", model, "--speculation", "ngram"], "Choose --draft or --speculation ngram, not both."),
        (["--profile", tmp_path], "is a folder. Name a file for the profile."),
        (["--model", model, "--model", f"b={model}", "--model-type", "qwen3"], "--model-type says what one model is."),
        (["--model", model, "--model-type", "mamba9"], "There is no model type 'mamba9'."),
        (["--model", model, "--format", "gguf"], "holds no gguf weights"),
    ]
    seen = several(*(["serve", "--port", 0, *arguments] for arguments, _ in wrong))
    for (arguments, said), outcome in zip(wrong, seen, strict=True):
        assert (outcome.code, outcome.out) == (2, ""), arguments
        assert said in outcome.err, outcome.err
        assert len(outcome.err.splitlines()) == 1
    assert grus("serve", GRUS_SPECULATION="magic").err.startswith(
        "grus: GRUS_SPECULATION must be one of auto, mtp, ngram, off"
    )
