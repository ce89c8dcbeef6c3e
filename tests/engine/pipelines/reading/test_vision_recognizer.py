"""Real models (tiny, random) behind the pipeline: regions of many pages in one batch, layouts as tasks, both backends."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import grus
from app.runtime.reading import ReadingModels
from backends.base import PendingStep, Segment
from engine.errors import BadRequest
from engine.loading import LoadOptions
from engine.pipelines.reading.layout_model import LayoutModel
from engine.pipelines.reading.recognizer import Crop
from engine.pipelines.reading.session import ReadingSession, ReadOptions
from engine.types import Request, RequestHandle
from tests.asserting import every
from tests.checkpoints import save
from tests.engine.pipelines.reading.sheets import Sheet, prose
from tests.reading_checkpoints import save_paddleocr_vl, save_pp_doclayout

OPTIONS = {"device": "cpu", "dtype": "f32"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_paddleocr_vl(tmp_path_factory.mktemp("paddle"))


@pytest.fixture(scope="module", params=["torch", "mlx"])
def models(request: pytest.FixtureRequest, folder: Path) -> Iterator[ReadingModels]:
    with ReadingModels(str(folder), None, LoadOptions(backend=request.param, **OPTIONS)) as models:  # type: ignore[arg-type]
        yield models


def crops(count: int, task: str = "text", limit: int = 12) -> list[Crop]:
    noise = np.random.default_rng(0)
    sizes = [(24 + 8 * n, 16 + 4 * n) for n in range(count)]
    return [Crop(Image.fromarray(noise.integers(0, 255, (h, w, 3), np.uint8)), task, limit) for w, h in sizes]  # type: ignore[arg-type]


def outcome(models: ReadingModels, crop: Crop) -> tuple[str, tuple[float, ...], bool]:
    assert models.recognizer is not None
    (reading,) = models.recognizer.read([crop])
    pieces = list(reading)
    return "".join(p.text for p in pieces), tuple(v for p in pieces for v in p.logprobs), reading.truncated


def test_crops_read_together_are_read_as_one_by_one(models: ReadingModels) -> None:
    assert models.recognizer is not None
    alone = [outcome(models, crop) for crop in crops(5)]
    together = [list(reading) for reading in models.recognizer.read(crops(5))]
    assert ["".join(p.text for p in pieces) for pieces in together] == [text for text, _, _ in alone]
    assert len({text for text, _, _ in alone}) > 1
    for pieces, (_, logprobs, _) in zip(together, alone):
        assert [v for p in pieces for v in p.logprobs] == pytest.approx(logprobs, abs=1e-3)
        assert every(v <= 0 for v in logprobs)
        assert len(logprobs) <= 12


def test_the_task_is_in_the_prompt(models: ReadingModels) -> None:
    assert len({outcome(models, crops(1, task)[0])[1] for task in ("text", "table", "formula", "chart")}) == 4


def test_a_reading_that_reaches_its_limit_says_so(models: ReadingModels) -> None:
    _, logprobs, cut = outcome(models, crops(1, limit=3)[0])
    assert cut
    assert len(logprobs) == 3


def test_a_page_goes_through_and_always_ends(models: ReadingModels) -> None:
    """A random model writes nonsense: it must end, be marked where it ran away, and leave the engine empty."""
    sheet = Sheet((300, 220))
    sheet.paragraph(20, 20, prose(8, 20, 1), size=16)
    sheet.paragraph(20, 150, prose(4, 20, 2), size=16)
    session = ReadingSession(models.recognizer, options=ReadOptions(concurrency=4))
    (document,) = session.documents([sheet.image])
    (page,) = document.pages
    assert page.error is None
    assert len(page.elements) == 2
    assert page.reader == models.recognizer.name  # type: ignore[union-attr]
    for element in page.elements:
        assert element.confidence is not None
        assert 0 < element.confidence <= 1
    stats = models.engine.stats()
    assert (stats.active, stats.waiting, stats.leaks) == (0, 0, 0)


def test_regions_of_several_pages_share_the_engines_steps(
    models: ReadingModels, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_here, submit, most = threading.Barrier(3, timeout=20), models.engine.submit, [0]
    first = itertools.count()
    runner = models.loaded.runner
    run = runner.run

    def submitted(request: Request, *, admitted: bool = False) -> RequestHandle:
        if next(first) < 3:
            all_here.wait()  # one region of each page
        return submit(request, admitted=admitted)

    def counted(segments: Sequence[Segment]) -> PendingStep:
        most[0] = max(most[0], len(segments))
        return run(segments)

    monkeypatch.setattr(models.engine, "submit", submitted)
    monkeypatch.setattr(runner, "run", counted)
    sheets = []
    for n in range(3):
        sheet = Sheet((240, 60))
        sheet.line(20, 20, prose(3, 30, n)[0], 16)
        sheets.append(sheet.image)
    session = ReadingSession(models.recognizer, options=ReadOptions(task="seal", concurrency=3))
    documents = session.documents(sheets)
    assert [document.pages[0].error for document in documents] == [None] * 3
    assert most[0] >= 2


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_layout_model_finds_the_regions(folder: Path, tmp_path: Path, version: int) -> None:
    layout = save_pp_doclayout(version, tmp_path)
    with ReadingModels(str(folder), str(layout), LoadOptions(backend="auto", **OPTIONS)) as models:  # type: ignore[arg-type]
        models.engine.load(str(layout))
        assert models.layout is not None
        page = Image.fromarray(np.random.default_rng(1).integers(0, 255, (90, 60, 3), np.uint8))
        found = models.layout.detect(page)
        assert models.layout.name == str(layout)
        assert [region.order for region in found.regions] == list(range(len(found.regions)))
        for region in found.regions:
            assert 0 <= region.box.left <= region.box.right <= 60


def test_what_is_no_layout_is_refused(models: ReadingModels, folder: Path) -> None:
    layout = LayoutModel(models.engine, str(folder))
    with pytest.raises(BadRequest, match="no layout model"):
        layout.detect(Image.new("RGB", (9, 9)))


def test_a_layout_is_no_reader(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="writes no text"):
        ReadingModels(str(save_pp_doclayout(2, tmp_path)), None)


def test_a_model_without_eyes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="Choose a vision model"):
        ReadingModels(str(save("qwen3", tmp_path, "old")), None)


def test_the_sdk_keeps_its_models(folder: Path) -> None:
    sheet = Sheet((240, 90))
    sheet.paragraph(20, 20, prose(5, 18, 0), size=16)
    first = grus.read(sheet.image, model=str(folder), options={**OPTIONS, "backend": "auto"})
    second = grus.read(sheet.image, model=str(folder), options={**OPTIONS, "backend": "auto"})
    assert first.text == second.text
    assert math.isclose(*(read.document.pages[0].elements[0].confidence or 0 for read in (first, second)), rel_tol=1e-4)
    grus.unload()
