"""The pass on MLX covers what it says: its paths are there, and nothing on them asks for torch without a reason."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.asserting import every
from tests.mlx_pass import PATHS, QUICK

ROOT = Path(__file__).parent.parent
ASKS_FOR_TORCH = re.compile(
    r"""(LoadOptions|Ears|load|dict)\([^()]*backend="torch"|"--backend",\s*"torch"|"backend":\s*"torch"|"backend",\s*"torch\""""
)


def files_of(path: str) -> Iterator[Path]:
    whole = ROOT / path
    yield from [whole] if whole.is_file() else sorted(whole.rglob("*.py"))


def test_every_path_is_there_and_the_quick_ones_are_part_of_the_whole() -> None:
    for path in (*PATHS, *QUICK):
        assert (ROOT / path).exists(), path
    assert every(any(Path(path).is_relative_to(whole) for whole in PATHS) for path in QUICK)


def test_whoever_asks_for_torch_has_a_reason() -> None:
    """Beside MLX in one test, for CUDA, or with a mark that says why."""
    seen = 0
    for path in PATHS:
        for file in files_of(path):
            seen += 1
            text = file.read_text()
            reasoned = set()
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef):
                    first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
                    lines = range(first, (node.end_lineno or first) + 1)
                    body = "\n".join(text.splitlines()[first - 1 : node.end_lineno])
                    if re.search(r'torch_only\(\s*"|"mlx"|"cuda"', body):
                        reasoned.update(lines)
            for match in ASKS_FOR_TORCH.finditer(text):
                line = text.count("\n", 0, match.end()) + 1
                assert line in reasoned, f"{file.relative_to(ROOT)}:{line} asks for torch: ask for auto, or say why"
    assert seen > 50


def test_the_pass_leaves_out_what_the_first_one_shows_and_nothing_else() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "tests/app/test_info.py",
        "tests/app/test_bad_input.py",
    ]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    collected = {
        backend: {
            line
            for line in subprocess.run(
                command, cwd=ROOT, capture_output=True, text=True, check=True, env={**env, "GRUS_BACKEND": backend}
            ).stdout.splitlines()
            if "::" in line
        }
        for backend in ("torch", "mlx")
    }
    out = {line.partition("::")[2] for line in collected["torch"] - collected["mlx"]}
    assert "test_says_which_kernels_run_and_what_a_backend_changes" in out
    assert {"test_nan_logits_are_an_error_and_not_a_token[torch]"} < out
    assert any(line.endswith("::test_tells_what_a_person_wants_to_know") for line in collected["mlx"])
    assert collected["mlx"] < collected["torch"]
