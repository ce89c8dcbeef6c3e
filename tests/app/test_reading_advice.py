"""Which model is advised for a page, by the machine's memory and bandwidth; said by `grus read` in a process of its own, and in the window."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import ImageDraw, ImageFont

from app.runtime.reading_advice import READS, ReadingAdvice, rounded
from engine.machine import Machine
from engine.pipelines.reading.looks import PageLooks
from engine.starter import READER, starter
from tests.app.fresh import several
from tests.engine.pipelines.reading.sheets import Sheet, prose

GB = 10**9
TABLE, UNSURE, BOTH = PageLooks(table=True), PageLooks(unsure=True), PageLooks(True, True)


def machine(memory: float, bandwidth: float) -> Machine:
    return Machine("torch", "cpu", int(16 * GB), int(memory * GB), 100 * GB, bandwidth * GB)


@pytest.mark.parametrize(
    ("looks", "memory", "bandwidth", "said"),
    [
        (PageLooks(), 8, 100, None),
        (TABLE, 8, 100, "This page has a table. PaddlePaddle/PaddleOCR-VL reads tables as tables, about 10 s a full"),
        (TABLE, 8, 10, "about 100 s a full page"),
        (TABLE, 2, 100, None),  # does not fit
        (TABLE, 8, 0, None),  # nothing is known of the speed
        (UNSURE, 8, 100, "The Reader is not sure of this page. PaddlePaddle/PaddleOCR-VL reads handwriting"),
        (
            UNSURE,
            8,
            10,
            "PP-OCRv6_small_rec_safetensors with PaddlePaddle/PP-OCRv6_medium_det_safetensors as its layout",
        ),
        (UNSURE, 2, 100, "PP-OCRv6_small_rec_safetensors with"),
        (UNSURE, 8, 0, "PP-OCRv6_small_rec_safetensors with"),
        (BOTH, 8, 10, "This page has a table."),
        (BOTH, 2, 10, "PP-OCRv6_small_rec_safetensors with"),
    ],
)
def test_the_rule(looks: PageLooks, memory: float, bandwidth: float, said: str | None) -> None:
    got = ReadingAdvice(machine(memory, bandwidth))(looks)
    assert (got is None) if said is None else (got is not None and said in got)


def test_times_are_rounded_up_as_they_are_uncertain() -> None:
    assert [rounded(x) for x in (0.2, 8.9, 12.1, 41, 61, 130, 800)] == [1, 9, 15, 45, 70, 150, 840]


def test_a_token_reads_the_published_sizes() -> None:
    """PaddleOCR-VL's text model: 18 layers of 1024, 3072 and 16 heads of 128 with 2 of keys, and a head of 103,424."""
    layer = 1024 * (16 + 2 * 2) * 128 + 16 * 128 * 1024 + 3 * 1024 * 3072
    assert abs(READS / (2 * (18 * layer + 1024 * 103424)) - 1) < 0.01


def drawn(file: Path, lines: list[str], font: str | None = None, table: bool = False) -> Path:
    sheet = Sheet((1200, 900))
    draw = ImageDraw.Draw(sheet.image)
    if font is None:
        sheet.paragraph(80, 60, lines, size=26)
    else:
        for i, line in enumerate(lines):
            draw.text((80, 60 + 46 * i), line, font=ImageFont.truetype(font, 26), fill=0)
    for i in range(4 if table else 0):
        draw.line((80, 500 + 60 * i, 1100, 500 + 60 * i), fill=0, width=2)
        draw.line((80 + 340 * i, 500, 80 + 340 * i, 680), fill=0, width=2)
    sheet.image.save(file)
    return file


@pytest.mark.slow
@pytest.mark.skipif(starter(READER) is None, reason="the Reader is not in this checkout")
def test_grus_read_says_it_once_and_only_where_it_is_so(tmp_path: Path) -> None:
    plain = drawn(tmp_path / "plain.png", prose(40, 50, 1))
    table = drawn(tmp_path / "table.png", prose(20, 50, 2), table=True)
    how = ["--device", "cpu"]
    both, quiet, chosen = several(
        ["read", plain, table, "--format", "json", "-o", tmp_path / "both", *how],
        ["read", table, "-o", tmp_path / "quiet.json", "--quiet", *how],
        ["read", table, "-o", tmp_path / "chosen.json", "--model", "reader", *how],
        GRUS_GPU_MEMORY_LIMIT="8G",
    )
    assert (both.code, quiet.code, chosen.code) == (0, 0, 0), both.err + quiet.err + chosen.err
    assert both.err.count("This page has a table. PaddlePaddle/PaddleOCR-VL reads tables as tables") == 1
    assert "has a table" not in quiet.err + chosen.err
    for name, notes in (("plain", 0), ("table", 1)):
        (page,) = json.loads((tmp_path / "both" / f"{name}.json").read_text(encoding="utf-8"))["pages"]
        assert len(page["notes"]) == notes
        assert page["reader"] == "reader"  # the default stays


@pytest.mark.slow
@pytest.mark.skipif(starter(READER) is None, reason="the Reader is not in this checkout")
def test_letters_that_the_reader_does_not_know_are_noticed(tmp_path: Path) -> None:
    font = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
    if not Path(font).is_file():
        pytest.skip("DejaVu, whose letters are drawn, is not installed")
    lines = ["Журавль стоит на болоте и ждёт первого света.", "Река медленно течёт мимо холма утром."] * 4
    page = drawn(tmp_path / "page.png", lines, font)
    (read,) = several(["read", page, "-o", tmp_path / "page.json", "--device", "cpu"], GRUS_GPU_MEMORY_LIMIT="8G")
    assert read.code == 0, read.err
    assert "The Reader is not sure of this page." in read.err
