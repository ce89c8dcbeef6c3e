"""The examples of docs/reading.md and docs/vectors.md, run as they stand: only the names of models are those of tiny random ones."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from engine.starter import READER, starter
from tests import ppocr_checkpoints
from tests.app.fresh import ROOT, environment
from tests.checkpoints import save as save_decoder
from tests.encoder_checkpoints import save as save_encoder
from tests.encoder_checkpoints import save_modules
from tests.engine.media.test_documents import text_pdf
from tests.engine.pipelines.reading.sheets import Sheet, prose
from tests.engine.pipelines.reading.test_text_documents import docx
from tests.processes import child_process
from tests.reading_checkpoints import save_paddleocr_vl

pytestmark = pytest.mark.slow
WITH_READER = pytest.mark.skipif(starter(READER) is None, reason="the Reader is not in this checkout")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STARTED = re.compile(r"Ctrl-C (?:stops|ends) it\.")
PROMPTS = {"prompts": {"query": "sea ", "document": ""}}


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return [block for found, block in BLOCK.findall(text) if found == language]


def commands(page: str) -> list[str]:
    lines = [line for block in blocks(page, "") for line in block.splitlines()]
    return [shlex.join(shlex.split(line, comments=True)) for line in lines if line.startswith("grus ")]


def vectors_of(folder: Path) -> Path:
    save_encoder("bert", folder)
    save_modules(folder, "mean_tokens", **PROMPTS)
    return folder


def qwen(folder: Path) -> Path:
    save_decoder("qwen3", folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_lasttoken": true}')
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"query": "sea ", "document": ""}}')
    return folder


MODELS: dict[str, Callable[[Path], Path]] = {
    "PaddlePaddle/PaddleOCR-VL": save_paddleocr_vl,
    "PaddlePaddle/PP-OCRv6_small_rec_safetensors": lambda folder: ppocr_checkpoints.save("rec", folder),
    "PaddlePaddle/PP-OCRv6_medium_det_safetensors": lambda folder: ppocr_checkpoints.save("det", folder),
    "sentence-transformers/all-MiniLM-L6-v2": vectors_of,
    "Qwen/Qwen3-Embedding-0.6B": qwen,
    "BAAI/bge-reranker-v2-m3": lambda folder: save_encoder("bert", folder, head=True),
    "BAAI/bge-m3": vectors_of,
}


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """A text in which the names of models are the folders of tiny ones."""
    root = tmp_path_factory.mktemp("models")
    made: dict[str, Path] = {}

    def replaced(text: str) -> str:
        for name, make in MODELS.items():
            if name in text:
                if name not in made:
                    made[name] = make(root / name.rpartition("/")[2])
                text = text.replace(name, str(made[name]))
        return text

    return replaced


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the files that the examples name."""
    pages = []
    for seed in range(2):
        sheet = Sheet((500, 300))
        sheet.paragraph(30, 30, prose(16, 24, seed), size=22)
        pages.append(sheet.image)
    (tmp_path / "scans").mkdir()
    (tmp_path / "inbox").mkdir()
    for name in ("letter.jpg", "scan.jpg", "invoice.png", "a.png", "scans/1.png", "scans/2.png"):
        pages[0].save(tmp_path / name)
    pages[1].save(tmp_path / "inbox" / "new.png")
    (tmp_path / "report.pdf").write_bytes(text_pdf(*(f"Page {i} of it" for i in range(1, 7))))
    (tmp_path / "b.pdf").write_bytes(text_pdf("A page of text"))
    (tmp_path / "minutes.docx").write_bytes(docx("<w:p><w:r><w:t>What was said</w:t></w:r></w:p>"))
    book = openpyxl.Workbook()
    book.active.append(["crane", 1.58])
    book.save(tmp_path / "prices.xlsx")
    (tmp_path / "questions.txt").write_text("the sea is blue\nwas bread blue\n")
    return tmp_path


def run(arguments: list[str], where: Path) -> subprocess.CompletedProcess[str]:
    variables = environment(GRUS_GPU_MEMORY_LIMIT="2G")
    return subprocess.run(arguments, cwd=where, env=variables, capture_output=True, text=True, timeout=280, check=False)


def until_it_runs(arguments: list[str], where: Path, done: Callable[[], bool]) -> tuple[int, str]:
    """A command that ends by Ctrl-C, once it says that it runs and `done`: its exit code and what it said."""
    variables = environment(GRUS_GPU_MEMORY_LIMIT="2G", GRUS_GRACE="1")
    said = where / "said.txt"
    with (
        said.open("w") as file,
        child_process(arguments, cwd=where, env=variables, stdout=file, stderr=file) as child,
    ):
        end = time.monotonic() + 240
        while time.monotonic() < end and child.poll() is None:
            if STARTED.search(said.read_text()) and done():
                break
            time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        code = child.wait(60)
    return code, said.read_text()


def as_run(command: str) -> list[str]:
    words = shlex.split(command)
    return [sys.executable, "-m", "app.cli", *words[1:], "--device", "cpu"]


RESULTS = {  # what is there afterwards
    "grus read report.pdf": ["report.md"],
    "grus read minutes.docx": ["read/minutes.md", "read/prices.md"],
    "grus read scans/": ["searchable"],
    "grus embed --file": ["questions.npy"],
}


@pytest.mark.parametrize("page", ["reading", "vectors"])
def test_the_pages_have_examples(page: str) -> None:
    assert len(commands(page)) >= 4
    assert blocks(page, "python")


@WITH_READER
@pytest.mark.parametrize("command", [*commands("reading"), *commands("vectors")])
def test_a_command_does_what_is_written(command: str, named: Callable[[str], str], place: Path) -> None:
    arguments = as_run(named(command))
    if "--watch" in command or command.startswith("grus serve"):
        ended = command.startswith("grus serve")
        code, said = until_it_runs(
            arguments, place, lambda: ended or any((place / "inbox").glob("*.png.*")) or any((place / "read").glob("*"))
        )
        assert code in (0, 130, -signal.SIGINT), said
        assert STARTED.search(said), said
        return
    done = run(arguments, place)
    assert done.returncode == 0, done.stderr
    made = next((files for start, files in RESULTS.items() if command.startswith(start)), [])
    assert [name for name in made if not (place / name).exists()] == []
    random = "csv" in command or "PP-OCRv6" in command  # of whom no table and no lines are to be had
    if not made and not random:
        assert done.stdout.strip(), done.stderr


@WITH_READER
@pytest.mark.parametrize("page", ["reading", "vectors"])
def test_the_python_runs(page: str, named: Callable[[str], str], place: Path) -> None:
    for block in blocks(page, "python"):
        done = run([sys.executable, "-c", named(block)], place)
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip()
