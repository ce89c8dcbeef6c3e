"""`grus info`: what a model is, without loading it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from backends.pick import choose
from backends.torch.kernels import library
from engine.machine import Machine
from engine.weights.convert import convert
from tests.app.conftest import Outcome
from tests.checkpoints import save
from tests.needs import no_kernels
from tests.ocr_checkpoints import save as save_ocr
from tests.reading_checkpoints import save_pp_doclayout

Command = Callable[..., Outcome]


def test_tells_what_a_person_wants_to_know(command: Command, model: Path) -> None:
    seen = command("info", model)
    assert seen.code == 0
    for word in (
        "qwen3",
        "parameters",
        "Context",
        "256 tokens",
        f"{choose().backend} on cpu in f32",
        "Runs here",
        "yes",
    ):
        assert word in seen.out


def test_json_has_the_figures(command: Command, model: Path) -> None:
    found = json.loads(command("info", model, "--json").out)
    stored = (model / "model.safetensors").stat().st_size
    assert found["parameters"] * 4 == found["stored_bytes"] <= stored
    assert found["bytes_per_token"] == 2 * 2 * 2 * 32 * 4  # keys and values, layers, heads, dimensions, bytes
    assert found["context"] == 256
    assert found["runs"] is True
    assert found["memory_needed"] == found["stored_bytes"] + 256 * found["bytes_per_token"]


@pytest.mark.torch_only("plain weights become blocks by themselves only where kernels multiply blocks")
@pytest.mark.skipif(bool(no_kernels()), reason=no_kernels())
def test_memory_is_what_loading_would_take(command: Command, tmp_path: Path) -> None:
    """A file of sixteen bits becomes q8_0 by itself."""
    folder = save("qwen3", tmp_path / "m", dtype="bfloat16")
    found, whole = (
        json.loads(command("info", folder, "--json", "--backend", "auto", *more).out)
        for more in ((), ("--quant", "none"))
    )
    assert (found["quant"], whole["quant"]) == ("q8_0", "")
    assert found["bytes_per_token"] == whole["bytes_per_token"] == 2 * 2 * 2 * 32 * 4
    few = json.loads(command("info", folder, "--json", "--backend", "auto", "--kv-bits", "16").out)
    assert few["bytes_per_token"] * 2 == found["bytes_per_token"]
    weights, as_stored = (f["memory_needed"] - 256 * f["bytes_per_token"] for f in (found, whole))
    assert weights < 0.6 * as_stored
    assert as_stored == whole["stored_bytes"]
    assert "as q8_0 with" in command("info", folder, "--backend", "auto").out


def test_a_hybrid_has_memory_that_does_not_grow(command: Command, tmp_path: Path) -> None:
    found = json.loads(command("info", save("qwen3_5", tmp_path / "m"), "--json").out)
    assert found["layers"] == "1 attention, 3 recurrent"
    assert found["bytes_per_sequence"] == 3 * ((4 - 1) * 128 * 4 + 4 * 16 * 16 * 4)


def test_windows_have_memory_that_does_not_grow(command: Command, tmp_path: Path) -> None:
    found = json.loads(command("info", save("gemma3", tmp_path / "m"), "--json").out)
    assert found["layers"] == "1 attention, 2 window-9 attention"
    each = 2 * 2 * 32 * 4
    assert (found["bytes_per_token"], found["bytes_per_sequence"]) == (each, 2 * 256 * each)


def test_layers_that_keep_a_replys_last_tokens_do_not_grow_with_it(command: Command, tmp_path: Path) -> None:
    folder = save_ocr("unlimited_ocr", tmp_path / "m")
    found = json.loads(command("info", folder, "--json").out)
    assert found["layers"] == "3 prompt-and-last-8 attention"
    each = 3 * 2 * 4 * 16 * 4
    assert (found["bytes_per_token"], found["bytes_per_prompt_token"], found["bytes_per_sequence"]) == (0, each, 0)
    assert found["memory_needed"] >= found["talk"] * each
    assert "of memory per 1,000 of the prompt, none per 1,000 of a long reply" in command("info", folder).out


def test_says_why_a_model_cannot_run(command: Command, model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "strange"
    folder.mkdir()
    for file in model.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "mamba9"}))
    seen = command("info", folder)
    assert seen.code == 2
    assert "mamba9" in seen.out
    assert "Supported:" in seen.out


@pytest.mark.torch_only("the device is torch's")
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is the GPU that is asked for")
def test_without_the_device_that_is_asked_for_memory_has_no_number_format(command: Command, model: Path) -> None:
    done = command("info", model, "--device", "cuda")
    assert done.code == 2
    assert re.search(r"Memory +[\d.]+ MB with \d+ tokens of conversation\n", done.out)


def test_a_layout_runs_here_and_has_no_context(command: Command, tmp_path: Path) -> None:
    folder = save_pp_doclayout(2, tmp_path / "layout")
    seen = command("info", folder, "--backend", "auto")
    assert seen.code == 0
    assert "pp_doclayout_v2" in seen.out
    assert "Context" not in seen.out
    assert "conversation" not in seen.out
    found = json.loads(command("info", folder, "--backend", "auto", "--json").out)
    assert found["runs"] is True
    assert found["memory_needed"] == found["parameters"] * 4 <= found["stored_bytes"]


@pytest.mark.parametrize(("backend", "through"), [("torch", "transformers: whole"), ("mlx", "mlx-lm: text only")])
def test_an_architecture_that_only_another_library_knows(
    command: Command, tmp_path: Path, backend: str, through: str
) -> None:
    folder = save("gemma", tmp_path / "gemma", "old")
    seen = command("info", folder, "--backend", backend)
    assert seen.code == 0
    assert f"Through        {through}" in seen.out


@pytest.mark.torch_only("the CPU kernels are torch's")
@pytest.mark.skipif(bool(no_kernels()), reason=no_kernels())
def test_says_which_kernels_run_and_what_a_backend_changes(command: Command, tmp_path: Path) -> None:
    folder = save("qwen3", tmp_path / "m", hidden_size=256, intermediate_size=256)
    file = convert(folder, tmp_path / "m.gguf", "gguf", "q6_k")
    seen = command("info", file)
    assert f"{library.tier()} kernels" in seen.out
    assert "Kept as" not in seen.out
    kept_as = json.loads(command("info", file, "--backend", "mlx", "--json").out)["kept_as"]
    assert [entry.partition(" ")[0] for entry in kept_as] == ["Q6_K", "Q8_0"]
    assert "quantized anew to 8 bit for MLX: in 9 bits a weight instead of 6.56" in kept_as[0]
    assert "the same numbers in 9 bits a weight instead of 8.5" in kept_as[1]


def test_a_recommended_model_is_described_before_its_download(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine("torch", "cpu", 16 * 10**9, 11 * 10**9, 100 * 10**9, 50 * 10**9)
    monkeypatch.setattr("app.commands.info.look", lambda where: machine)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    seen = command("info", "unsloth/gemma-4-E4B-it-GGUF")
    assert seen.code == 0
    for words in (
        "Gemma 4 E4B",
        "about 5.0 GB, GGUF, Q4_K_M",
        "apache-2.0",
        "about 13 tokens/s here",
        "Runs here  yes",
    ):
        assert words in seen.out
    tight = command("info", "ggml-org/gpt-oss-20b-GGUF")
    assert tight.code == 0
    assert "models may use 11.0 GB of this machine's 16.0 GB" in tight.out
    mixture = command("info", "bartowski/Qwen_Qwen3.6-35B-A3B-GGUF")
    assert mixture.code == 0
    assert "experts stay in the file, and replies are as slow as the disk" in mixture.out
    assert "tokens/s" not in mixture.out
    large = command("info", "ggml-org/gpt-oss-120b-GGUF")
    assert large.code == 2
    assert "This machine has 16.0 GB." in large.out
    facts = json.loads(command("info", "ggml-org/gpt-oss-20b-GGUF", "--json").out)
    assert (facts["size"], facts["tokens_per_second"], facts["downloaded"], facts["runs"]) == (
        12109566560,
        15.3,
        False,
        True,
    )
    assert list(tmp_path.iterdir()) == []


def test_a_recommended_model_that_is_here_is_described_from_its_files(
    command: Command, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "Qwen" / "Qwen3-VL-2B-Instruct"
    here.parent.mkdir()
    shutil.copytree(model, here)
    monkeypatch.chdir(tmp_path)
    seen = command("info", "Qwen/Qwen3-VL-2B-Instruct")
    assert seen.code == 0
    assert "256 tokens" in seen.out
