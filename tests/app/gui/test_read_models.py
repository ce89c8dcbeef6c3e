"""The Read pane's behaviour without a widget: the queue, edits, what is kept, exports."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdf
import pytest
from PIL import ImageDraw

from app import explain
from app.gui.store.worker import AppStore
from app.gui.viewmodels.read import FORMATS, ReadResults, ReadSettings, export, export_all
from app.runtime import pipelines
from engine.errors import BadRequest
from engine.machine import Machine
from engine.starter import READER
from tests.app.gui.media import AtOnce
from tests.asserting import every
from tests.engine.media.test_documents import text_pdf
from tests.engine.pipelines.reading.fakes import Fake, by_colour
from tests.engine.pipelines.reading.sheets import Sheet, article

TABLE = "<fcel>Crane<fcel>Height<nl><fcel>red<fcel>1.58<nl>"


@pytest.fixture
def sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sheet:
    made = article(1)
    made.image.save(tmp_path / "page.png")
    monkeypatch.setattr(pipelines, "recognizer", lambda core, wanted: Fake(by_colour(made.texts)))
    monkeypatch.setattr(pipelines, "layout", lambda core: None)
    return made


class Setup:
    def __init__(self, folder: Path, hold: bool = False) -> None:
        self.said: list[tuple[str, dict[str, Any]]] = []
        self.store = AppStore(folder / "grus.sqlite3")
        self.streams = AtOnce(hold)
        self.reading = ReadResults(
            self.store, self.streams, self.streams, lambda said, **more: self.said.append((said, more)), folder / "kept"
        )

    def add(self, *files: Path) -> None:
        self.reading.add(files)
        self.store.wait()


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[Setup]:
    made = Setup(tmp_path)
    yield made
    made.store.close()


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Setup]:
    made = Setup(tmp_path, hold=True)
    yield made
    made.store.close()


def test_a_page_that_suits_another_model_says_so(
    setup: Setup, sheet: Sheet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the machine is known, and the Reader has read it."""
    draw = ImageDraw.Draw(sheet.image)
    for i in range(4):
        draw.line((40, 40 + 100 * i, 640, 40 + 100 * i), fill=0, width=2)
        draw.line((40 + 200 * i, 40, 40 + 200 * i, 340), fill=0, width=2)
    sheet.image.save(tmp_path / "page.png")
    fast = Machine("torch", "cpu", 16 << 30, 8 << 30, 1 << 40, 5e10)
    for name, machine, said in (("Reader", fast, 0), (READER, None, 0), (READER, fast, 1)):
        fake = Fake(by_colour(sheet.texts))
        fake.name = name
        monkeypatch.setattr(pipelines, "recognizer", lambda core, wanted, fake=fake: fake)
        setup.reading.machine = lambda machine=machine: machine
        setup.add(tmp_path / "page.png")
        notes = setup.reading.items[0].read[1].notes
        assert sum("This page has a table. PaddlePaddle/PaddleOCR-VL" in note for note in notes) == said


def test_a_file_is_read_and_kept(setup: Setup, sheet: Sheet, tmp_path: Path) -> None:
    setup.add(tmp_path / "page.png")
    item = setup.reading.items[0]
    assert (item.state, item.status(), setup.reading.current) == ("done", "1 page", item)
    assert "Title over All Columns" in " ".join(e.text for e in item.read[1].elements)
    setup.store.wait()
    again = ReadResults(setup.store, setup.streams, setup.streams, lambda *a, **m: None, tmp_path / "kept")
    again.look()
    setup.store.wait()
    kept = again.items[0].read[1]
    assert [(e.text, e.box) for e in kept.elements] == [(e.text, e.box) for e in item.read[1].elements]
    assert again.items[0].state == "done"


def test_edits_are_kept_and_exported(setup: Setup, sheet: Sheet, tmp_path: Path) -> None:
    setup.add(tmp_path / "page.png")
    item = setup.reading.items[0]
    title = next(e for e in item.read[1].elements if "Title" in e.text)
    setup.reading.edit(item, 1, title.order, "Another title")
    setup.store.wait()
    again = ReadResults(setup.store, setup.streams, setup.streams, lambda *a, **m: None, tmp_path / "kept")
    again.look()
    setup.store.wait()
    assert again.items[0].read[1].elements[title.order].text == "Another title"
    assert "Another title" in export(item, "txt", tmp_path / "out.txt").read_text()


def test_cells_of_a_table_are_edited(
    setup: Setup, sheet: Sheet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipelines, "recognizer", lambda core, wanted: Fake(lambda crop: TABLE))
    setup.reading.settings = ReadSettings("table")
    setup.add(tmp_path / "page.png")
    item = setup.reading.items[0]
    setup.reading.edit_cell(item, 1, 0, 1, 1, "1.60")
    for kind in FORMATS:
        assert export(item, kind, tmp_path / f"out.{kind}").stat().st_size > 0
    assert (tmp_path / "out.csv").read_text(encoding="utf-8-sig").splitlines() == ["Crane,Height", "red,1.60"]


def test_no_table_is_said(setup: Setup, sheet: Sheet, tmp_path: Path) -> None:
    setup.add(tmp_path / "page.png")
    with pytest.raises(BadRequest, match=r"No table was found in page\.png"):
        export(setup.reading.items[0], "csv", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_many_are_exported_under_names_of_their_own(setup: Setup, sheet: Sheet, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    sheet.image.save(tmp_path / "other" / "page.png")
    setup.add(tmp_path / "page.png")
    setup.add(tmp_path / "other")
    written, problems = export_all(setup.reading.items, "md", tmp_path / "out")
    assert (written, problems) == (2, [])
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["page-2.md", "page.md"]


def test_only_three_at_once_and_cancel_lets_the_next_begin(held: Setup, sheet: Sheet, tmp_path: Path) -> None:
    for number in range(5):
        sheet.image.save(tmp_path / f"{number}.png")
    held.add(*(tmp_path / f"{number}.png" for number in range(5)))
    reading = held.reading
    states = lambda: [item.state for item in reversed(reading.items)]  # noqa: E731
    assert states() == ["reading"] * 3 + ["waiting"] * 2
    assert reading.cancel(reading.items[-1])
    assert states() == ["stopped", "reading", "reading", "reading", "waiting"]
    assert reading.stop()
    assert states() == ["stopped"] * 5
    assert not reading.stop()
    assert every(stream.cancelled for stream in held.streams.held)


def test_what_is_heard_is_told_before_the_page_is_done(held: Setup, sheet: Sheet, tmp_path: Path) -> None:
    changes: list[tuple[int, int]] = []
    held.reading.text_changed.connect(lambda item, number, order: changes.append((number, order)))
    held.add(tmp_path / "page.png")
    item, stream = held.reading.items[0], held.streams.held[0]
    while not changes:
        stream.step()
    live = item.live[1]
    assert live.boxes[changes[0][1]].width > 0
    assert live.texts[changes[0][1]]
    stream.finish()
    assert item.live == {}
    assert item.state == "done"


def test_reading_goes_on_where_it_was_stopped(held: Setup, sheet: Sheet, tmp_path: Path) -> None:
    sheet.image.save(tmp_path / "two.tiff", save_all=True, append_images=[sheet.image])
    held.add(tmp_path / "two.tiff")
    item = held.reading.items[0]
    while 1 not in item.read:
        held.streams.held[0].step()
    held.reading.cancel(item)
    assert item.status() == "Stopped after 1 of 2 pages"
    first = item.read[1]
    held.reading.go_on(item)
    held.streams.held[1].finish()
    assert sorted(item.read) == [1, 2]
    assert item.read[1] == first


def test_a_protected_pdf_waits_for_its_password(setup: Setup, sheet: Sheet, tmp_path: Path) -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(text_pdf("Secret words here")))
    writer.encrypt("sesame", algorithm="RC4-128")
    writer.write(tmp_path / "secret.pdf")
    setup.add(tmp_path / "secret.pdf")
    item = setup.reading.items[0]
    assert item.state == "locked"
    setup.reading.go_on(item, "wrong")
    assert item.state == "locked"
    setup.reading.go_on(item, "sesame")
    assert item.state == "done"
    assert [e.text for e in item.read[1].elements] == ["Secret words here"]
    setup.store.wait()
    assert b"sesame" not in (tmp_path / "grus.sqlite3").read_bytes()


def test_a_file_is_locked_by_what_it_is_and_not_by_what_it_is_called(
    setup: Setup, sheet: Sheet, tmp_path: Path
) -> None:
    setup.add(tmp_path / "passwords.pdf")  # which is not there, as its error says
    item = setup.reading.items[0]
    assert "passwords.pdf" in item.error
    assert item.state == "failed"


def test_without_a_model_the_text_of_pdfs_is_read_and_pictures_say_what_to_get(
    setup: Setup, sheet: Sheet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(core: Any, wanted: str) -> Any:
        raise BadRequest(explain.ADVICE["read"])

    monkeypatch.setattr(pipelines, "recognizer", none)
    (tmp_path / "text.pdf").write_bytes(text_pdf("Words that it carries"))
    setup.add(tmp_path / "text.pdf")
    assert setup.reading.items[0].read[1].elements[0].text == "Words that it carries"
    setup.add(tmp_path / "page.png")
    assert setup.reading.items[0].state == "failed"
    assert "PaddleOCR-VL" in setup.reading.items[0].error


def test_removing_can_be_taken_back(setup: Setup, sheet: Sheet, tmp_path: Path) -> None:
    setup.add(tmp_path / "page.png")
    item = setup.reading.items[0]
    setup.reading.remove(item)
    assert setup.reading.items == []
    assert setup.reading.current is None
    setup.said[-1][1]["undo"][1]()
    setup.store.wait()
    assert setup.reading.items == [item]
    assert (tmp_path / "page.png").exists()


def test_a_damaged_file_is_told_and_others_go_on(setup: Setup, sheet: Sheet, tmp_path: Path) -> None:
    (tmp_path / "bad.pdf").write_bytes(text_pdf("x")[:100])
    setup.add(tmp_path / "bad.pdf", tmp_path / "page.png")
    assert [(item.state, bool(item.error)) for item in setup.reading.items] == [("done", False), ("failed", True)]
