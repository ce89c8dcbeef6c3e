"""Models that read pages, through the doors that people use, each in a new process: `grus read`, and `grus serve` by HTTP."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest

import grus
from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.types import Settings
from tests import ppocr_checkpoints
from tests.app.fresh import environment, several
from tests.app.server.live import serving
from tests.engine.pipelines.reading.sheets import Sheet, prose
from tests.ocr_checkpoints import OCR_FAMILIES, save
from tests.processes import child_process

pytestmark = pytest.mark.slow
SPLITTERS = {
    "deepseek_ocr2": "whole page",
    "granite_docling": "whole page",
    "glm_ocr": "built-in splitter",
    "lighton_ocr": "whole page",
    "unlimited_ocr": "whole page",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("readers")
    return cache(lambda name: save(name, root / name))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sheet = Sheet((300, 200))
    sheet.paragraph(20, 20, prose(8, 20, 1), size=16)
    file = tmp_path_factory.mktemp("pages") / "page.png"
    sheet.image.save(file)
    return file


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_grus_read_takes_them(place: Callable[[str], Path], page: Path, tmp_path: Path, backend: str) -> None:
    """Random weights write nonsense, which must end, and be told from what is sure."""
    how = ["--backend", backend, "--device", "cpu", "--quiet"]
    commands: list[list[object]] = [
        ["read", page, "--model", place(name), "-o", tmp_path / f"{name}.json", *how] for name in OCR_FAMILIES
    ]
    for outcome in several(*commands, GRUS_GPU_MEMORY_LIMIT="1G"):
        assert outcome.code == 0, outcome.err
    for name in OCR_FAMILIES:
        (read,) = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))["pages"]
        assert read.get("error") is None
        assert read["splitter"] == SPLITTERS[name]
        assert read["elements"]
        assert {element["doubtful"] is None for element in read["elements"] if element["text"]} == {False}


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_grus_read_takes_a_detector_and_a_recognizer_of_lines(page: Path, tmp_path: Path, backend: str) -> None:
    lines = ppocr_checkpoints.save("rec", tmp_path / "lines")
    boxes = ppocr_checkpoints.save("det", tmp_path / "boxes")
    how = ["--model", lines, "--backend", backend, "--device", "cpu", "--quiet"]
    alone, both, wrong = several(
        ["read", page, "-o", tmp_path / "alone.json", *how],
        ["read", page, "-o", tmp_path / "both.json", "--layout", boxes, *how],
        ["read", page, "--model", boxes, "--device", "cpu"],
    )
    assert (alone.code, both.code) == (0, 0), alone.err + both.err
    for name, splitter in (("alone", "built-in splitter"), ("both", str(boxes))):
        (read,) = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))["pages"]
        assert read.get("error") is None
        assert (read["splitter"], read["reader"]) == (splitter, str(lines))
    assert read_lines(tmp_path / "alone.json")
    assert wrong.code == 2
    assert "writes no text. Give it as the layout" in wrong.err


def read_lines(file: Path) -> list[Any]:
    (page,) = json.loads(file.read_text(encoding="utf-8"))["pages"]
    return [word for element in page["elements"] for line in element["lines"] for word in line]


@pytest.mark.parametrize("name", OCR_FAMILIES)
def test_a_server_of_its_own_answers_with_the_models_words(place: Callable[[str], Path], page: Path, name: str) -> None:
    where: dict[str, Any] = dict(device="cpu", memory_limit=1 << 30, download=False)
    said = grus.run("", images=[page], model=str(place(name)), options=where, max_tokens=12, temperature=0.0)
    grus.unload()
    assert said.text
    command = [sys.executable, "-m", "app.cli", "serve", "--model", f"reader={place(name)}", "--port", "0", "--cpu"]
    limits = {"GRUS_GPU_MEMORY_LIMIT": "1G", "GRUS_GRACE": "1"}
    with child_process(command, env=environment(**limits), stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", "".join(iter(child.stdout.readline, "Ctrl-C stops it.\n")))
        try:
            assert found is not None
            url = "data:image/png;base64," + base64.b64encode(page.read_bytes()).decode()
            user = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]
            body = {"model": "reader", "messages": user, "max_tokens": 12, "temperature": 0}
            answered = httpx.post(f"{found[0]}/v1/chat/completions", json=body, timeout=120)
            assert answered.status_code == 200, answered.text
            assert answered.json()["choices"][0]["message"]["content"] == said.text
        finally:
            child.terminate()
            child.communicate(timeout=60)


def test_a_recognizer_of_lines_cannot_be_asked(page: Path, tmp_path: Path) -> None:
    lines = str(ppocr_checkpoints.save("rec", tmp_path / "lines"))
    where = LoadOptions(backend="auto", device="cpu", memory_limit=1 << 30, download=False)
    catalogue = Catalogue({"lines": lines}, use_cache=False)
    with serving(lambda of: Engine(of, Settings()), lambda source: load_any(source, where), catalogue) as live:
        user = [{"role": "user", "content": "Hm?"}]
        answered = httpx.post(f"{live.url}/v1/chat/completions", json={"model": "lines", "messages": user}, timeout=60)
        assert answered.status_code == 400
        assert "The model lines reads lines of pages; here one is needed that writes text." in answered.text
        assert httpx.get(f"{live.url}/health_generate", timeout=60).status_code == 400
