"""Which weights are loaded, and as what: --model-type, --format, and GGUF files by a part of their name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from engine.weights.convert import convert
from tests.app.fresh import grus, several
from tests.app.test_bad_input import edit_config
from tests.checkpoints import save

WORDS = ["Hello", "--raw", "--json", "--max-tokens", 8, "--temperature", 0, "--quant", "none"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model of each architecture that has another name outside."""
    root = tmp_path_factory.mktemp("kinds")
    return {name: save(name, root / name, spelling="old") for name in ("qwen2", "hunyuan", "qwen3")}


@pytest.fixture(scope="module")
def mixed(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder with safetensors and with several GGUF files, one of them another model."""
    folder = Path(shutil.copytree(folders["qwen3"], tmp_path_factory.mktemp("mixed") / "mixed"))
    convert(folders["qwen3"], folder / "tiny-Q8_0.gguf", "gguf", "q8_0")
    other = save("qwen3", tmp_path_factory.mktemp("other") / "other", spelling="old", seed=5)
    for name in ("tiny-Q4_K_M.gguf", "tiny-Q4_K_S.gguf"):
        convert(other, folder / name, "gguf", "q4_0")
    return folder


def ids(outcome: Any) -> list[int]:
    assert outcome.code == 0, outcome.err
    return list(json.loads(outcome.out)["output_ids"])


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_model_type_is_taken_where_the_config_lies(backend: str, folders: dict[str, Path], tmp_path: Path) -> None:
    """What its config calls otherwise, or does not call at all, answers as the whole one does."""
    truths, overridden = [], []
    for kind, asked, lie in (
        ("qwen2", "qwen25", "llama"),
        ("hunyuan", "hunyuan", ...),
        ("hunyuan", "HunYuan", "mamba9"),
    ):
        liar = Path(shutil.copytree(folders[kind], tmp_path / f"{asked}-lies"))
        edit_config(liar, model_type=lie)
        truths.append(["run", folders[kind], *WORDS, "--backend", backend])
        overridden.append(["run", liar, *WORDS, "--backend", backend, "--model-type", asked])
    seen = several(*truths, *overridden)
    assert [ids(outcome) for outcome in seen[:3]] == [ids(outcome) for outcome in seen[3:]]


def test_without_it_the_error_names_the_architectures(folders: dict[str, Path], tmp_path: Path) -> None:
    unknown, untold = (Path(shutil.copytree(folders["qwen2"], tmp_path / name)) for name in ("unknown", "untold"))
    edit_config(unknown, model_type="mamba9", architectures=["Mamba9ForCausalLM", "Other"])
    edit_config(untold, model_type=..., architectures=["Qwen2ForCausalLM"])
    commands: list[list[Any]] = [["run", unknown, "Hi", "--backend", backend] for backend in ("torch", "mlx")]
    for outcome in several(*commands):
        assert outcome.code == 2
        assert "mamba9" in outcome.err
        assert "(`architectures`: Mamba9ForCausalLM, Other)" in outcome.err
    seen = grus("info", untold)
    assert (seen.code, "['Qwen2ForCausalLM']" in seen.err, "--model-type" in seen.err) == (2, True, True)
    assert "qwen2" in grus("info", untold, "--model-type", "qwen2.5").out


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_the_format_and_a_part_of_a_name_choose_the_weights(backend: str, mixed: Path, tmp_path: Path) -> None:
    only = tmp_path / "only"
    only.mkdir()
    shutil.copy(mixed / "tiny-Q8_0.gguf", only)
    again = Path(shutil.copytree(mixed, tmp_path / "again"))
    (again / "tiny-Q4_K_S.gguf").unlink()
    plain, chosen, eight, file, four, small = several(
        *(
            ["run", *words, *WORDS, "--backend", backend]
            for words in (
                [mixed],
                [mixed, "--format", "safetensors"],
                [only, "--format", "gguf"],
                [mixed / "tiny-Q8_0.gguf"],
                [f"{again}:q4_k"],
                [f"{mixed}:K_s"],
            )
        )
    )
    assert ids(plain) == ids(chosen)
    assert ids(eight) == ids(file)
    assert ids(four) == ids(small), "both files hold the same other model"
    assert ids(four) != ids(file)


def test_what_does_not_fit_is_one_sentence(mixed: Path, folders: dict[str, Path]) -> None:
    wrong: list[tuple[list[Any], str]] = [
        ([f"{mixed}:Q4_K"], "Q4_K fits several GGUF files: Q4_K_M, Q4_K_S. Name one of them."),
        ([f"{mixed}:q6"], f"{mixed} has no q6. It has: Q4_K_M, Q4_K_S, Q8_0."),
        ([f"{folders['qwen2']}:q6"], "It holds no GGUF files."),
        ([f"{mixed}:q8", "--format", "safetensors"], "names a GGUF file, which has no safetensors weights."),
        ([mixed, "--format", "gguf"], "There are: tiny-Q4_K_M.gguf, tiny-Q4_K_S.gguf, tiny-Q8_0.gguf."),
        ([folders["qwen2"], "--format", "gguf"], "holds no gguf weights."),
        ([mixed / "tiny-Q8_0.gguf", "--format", "safetensors"], "holds no safetensors weights."),
    ]
    seen = several(*(["run", *arguments, "Hi"] for arguments, _ in wrong))
    for (arguments, said), outcome in zip(wrong, seen, strict=True):
        assert (outcome.code, outcome.out) == (2, ""), arguments
        assert said in outcome.err, outcome.err
        assert len(outcome.err.splitlines()) == 1
