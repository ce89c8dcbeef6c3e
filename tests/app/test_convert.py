"""`grus convert`, and then talking to what it wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.conftest import Outcome

Command = Callable[..., Outcome]


def ids(command: Command, model: Path) -> list[int]:
    seen = command("run", model, "Hi", "--raw", "--json", "--max-tokens", 8, "--temperature", 0, "--quant", "none")
    assert seen.code == 0, seen.err
    return json.loads(seen.out)["output_ids"]


@pytest.mark.parametrize(("to", "name"), [("gguf", "m.gguf"), ("mlx", "m"), ("safetensors", "m")])
def test_what_was_written_says_the_same(command: Command, model: Path, tmp_path: Path, to: str, name: str) -> None:
    target = tmp_path / name
    seen = command("convert", model, target, "--to", to)
    assert seen.code == 0, seen.err
    assert str(target) in seen.out
    assert ids(command, target) == ids(command, model)


def test_a_quantized_file_runs_and_is_described(command: Command, model: Path, tmp_path: Path) -> None:
    target = tmp_path / "small.gguf"
    assert command("convert", model, target, "--quant", "q8_0").code == 0
    assert target.stat().st_size < 0.5 * (model / "model.safetensors").stat().st_size
    assert ids(command, target)
    assert "Q8_0 (GGUF)" in command("info", target).out


@pytest.mark.parametrize(("to", "name"), [("gguf", "m.gguf"), ("mlx", "m")])
def test_what_is_quantized_already_stays_and_that_is_said(
    command: Command, model: Path, tmp_path: Path, to: str, name: str
) -> None:
    target = tmp_path / name
    assert command("convert", model, target, "--to", to, "--quant", "q8_0").code == 0
    seen = command("run", target, "Hi", "--raw", "--max-tokens", 1, "--quant", "q4_0")
    assert seen.code == 0, seen.err
    assert "quantized already, so --quant q4_0 changes nothing" in seen.err
    assert "changes nothing" not in command("run", model, "Hi", "--raw", "--max-tokens", 1, "--quant", "q4_0").err


def test_nothing_is_overwritten(command: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "here.gguf").write_text("precious")
    seen = command("convert", model, tmp_path / "here.gguf")
    assert seen.code == 2
    assert (tmp_path / "here.gguf").read_text() == "precious"


def test_the_backend_decides_the_format_where_to_does_not(command: Command, model: Path, tmp_path: Path) -> None:
    """`--backend mlx` writes the folder that mlx-lm opens, and it runs on MLX; all else writes one GGUF file."""
    folder, file = tmp_path / "for-mlx", tmp_path / "for-torch.gguf"
    assert command("convert", model, folder, "--backend", "mlx", "--quant", "q8_0").code == 0
    assert "quantization" in json.loads((folder / "config.json").read_text())
    on_mlx = command("run", folder, "Hi", "--raw", "--max-tokens", 2, "--backend", "mlx")
    assert on_mlx.code == 0, on_mlx.err
    assert command("convert", model, file, "--backend", "torch").code == 0
    assert file.read_bytes()[:4] == b"GGUF"
    both = command("convert", model, tmp_path / "plain", "--backend", "mlx", "--to", "safetensors")
    assert both.code == 0, both.err
    assert "quantization" not in json.loads((tmp_path / "plain" / "config.json").read_text())
