"""`make starters` in miniature: every step starts, is killed half-way, goes on from its checkpoint, and installs a model."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import line_fonts
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

import grus
from tests.starters.conftest import STARTERS

PICTURE = Path(__file__).resolve().parent / "pictures" / "clean-serif.png"


def start(model: str, work: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(STARTERS / "make_starters.py"), model, "--rehearse", "--work", str(work)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def killed_at(model: str, work: Path, words: str) -> str:
    """What it said until a line with these words; then it and its step are gone from one moment to the next."""
    printed = ""
    with start(model, work) as process:
        assert process.stdout is not None
        for line in process.stdout:
            printed += line
            if words in line:
                break
        os.killpg(process.pid, signal.SIGKILL)
    assert words in printed, printed
    return printed


def whole(model: str, work: Path) -> str:
    with start(model, work) as process:
        said, _ = process.communicate()
    assert process.returncode == 0, said
    assert said.rstrip().splitlines()[-1].startswith("done in ")
    return said


@pytest.mark.slow
def test_the_guide_goes_on_where_it_was_killed_and_comes_out_the_same(tmp_path: Path) -> None:
    killed_at("guide", tmp_path / "cut", "part 1 of 2, step 16 of 32")
    said = killed_at("guide", tmp_path / "cut", "part 2 of 2, step 8 of 16")
    assert re.search(r"going on from step \d+ of part 1", said)
    said = whole("guide", tmp_path / "cut")
    assert re.search(r"going on from step \d+ of part 2", said)
    assert "about 0 s left" in said
    whole("guide", tmp_path / "uncut")
    cut, uncut = (load_file(tmp_path / name / "installed" / "model.safetensors") for name in ("cut", "uncut"))
    for name, weights in uncut.items():
        torch.testing.assert_close(cut[name].float(), weights.float(), rtol=0.0, atol=0.01, msg=name)
    with grus.load(str(tmp_path / "cut" / "installed"), backend="auto", device="cpu", quant="none") as model:
        assert model.run("hello").result.reason in ("stop", "length")


@pytest.mark.slow
def test_the_reader_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    if line_fonts.missing():
        pytest.skip(f"fonts are not installed: {', '.join(line_fonts.missing())}")
    killed_at("reader", tmp_path, "1 of 2: ")
    assert "1 of 2: " not in killed_at("reader", tmp_path, "step 4, ")
    assert re.search(r"going on from step [34], after", whole("reader", tmp_path))
    page = grus.read(Image.open(PICTURE), model=str(tmp_path / "installed")).document.pages[0]
    assert page.error is None
    assert page.elements
