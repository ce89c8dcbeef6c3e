"""Reading into files: what is written when, what a crash leaves, and how the next run goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pypdf
import pytest
from PIL import Image

from engine.errors import BadRequest
from engine.pipelines.reading.reader import DocumentRead, PageRead, ReadOptions
from engine.pipelines.reading.results import Document
from engine.pipelines.reading.session import OutputTarget, ReadingSession, expand_folders, output_targets
from tests.engine.media.test_documents import text_pdf
from tests.engine.pipelines.reading.fakes import Fake, by_colour
from tests.engine.pipelines.reading.sheets import Sheet, article, photograph, prose

ROOT = Path(__file__).resolve().parents[4]
COARSE = ReadOptions(dots=60)


def run(session: ReadingSession, sources: list[Path], where: list[OutputTarget]) -> list[Document]:
    return [event.result for event in session.save(sources, where) if isinstance(event, DocumentRead)]


@pytest.fixture
def scan(tmp_path: Path) -> tuple[Path, Sheet]:
    sheet = Sheet((800, 900))
    sheet.paragraph(60, 60, prose(60, 60, 1))
    sheet.image.paste(photograph(400, 300), (200, 400))
    sheet.image.save(tmp_path / "scan.png")
    return tmp_path / "scan.png", sheet


@pytest.mark.parametrize("kind", ["md", "txt", "json", "html", "pdf"])
def test_a_document_becomes_a_file(scan: tuple[Path, Sheet], tmp_path: Path, kind: str) -> None:
    source, sheet = scan
    (target,) = output_targets([source], tmp_path / "out" / f"result.{kind}", kind)  # type: ignore[arg-type]
    run(ReadingSession(Fake(by_colour(sheet.texts))), [source], [target])
    if kind == "pdf":
        text = pypdf.PdfReader(target.path).pages[0].extract_text()
    else:
        text = target.path.read_text()
    for word in " ".join(sheet.texts.values()).split():
        assert word in text
    left = sorted(path.name for path in target.path.parent.iterdir())
    assert left == ([target.path.name, "result_files"] if kind in ("md", "html") else [target.path.name])
    if kind == "md":
        picture = Image.open(target.path.parent / "result_files" / "page-1-figure-2.png")
        assert abs(picture.width - 400) < 40
        assert "![figure](result_files/page-1-figure-2.png)" in text


def test_pages_that_were_turned_are_turned_in_the_pdf(scan: tuple[Path, Sheet], tmp_path: Path) -> None:
    sheet = article(1)
    source = tmp_path / "askew.png"
    sheet.image.rotate(1.5, fillcolor="white", resample=Image.Resampling.BICUBIC).save(source)
    (document,) = run(ReadingSession(Fake(lambda crop: "words")), [source], [OutputTarget(tmp_path / "a.pdf", "pdf")])
    page = document.pages[0]
    assert page.turned == pytest.approx(-1.5, abs=0.15)
    (image,) = pypdf.PdfReader(tmp_path / "a.pdf").pages[0].images
    assert image.image is not None
    assert image.image.size == (page.width, page.height)


def test_output_grows_page_by_page_and_is_always_whole(tmp_path: Path) -> None:
    source = tmp_path / "four.pdf"
    source.write_bytes(text_pdf(*(f"This is page {n}" for n in range(1, 5))))
    target = OutputTarget(tmp_path / "out.json", "json")
    session = ReadingSession(None, options=ReadOptions(text_layer=True, dots=72))
    seen = [
        len(json.loads(target.path.read_text())["pages"])
        for event in session.save([source], [target])
        if isinstance(event, PageRead)
    ]
    assert seen[0] == 1
    assert seen == sorted(seen)
    assert len(json.loads(target.path.read_text())["pages"]) == 4
    assert not target.journal.exists()


def test_saving_takes_little_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page may not cost more than the last one because the output has become long."""
    from engine.pipelines.reading import session as session_module

    writes: list[int] = []
    monkeypatch.setattr(session_module, "_QUICK", 0.0)
    monkeypatch.setattr(
        session_module,
        "write_document",
        lambda document, *_: writes.append(len(document.pages)) or time.sleep(0.05) or [],
    )
    source = tmp_path / "many.pdf"
    source.write_bytes(text_pdf(*(f"This is page {n}" for n in range(1, 13))))
    session = ReadingSession(None, options=ReadOptions(text_layer=True, dots=36))
    run(session, [source], [OutputTarget(tmp_path / "out.pdf", "pdf")])
    assert writes[0] == 1
    assert writes[-1] == 12
    assert len(writes) < 6


CHILD = """
import sys, time
from pathlib import Path
from engine.pipelines.reading.session import ReadingSession, OutputTarget
from engine.pipelines.reading.reader import PageRead
from engine.pipelines.reading.reader import ReadOptions
from tests.engine.pipelines.reading.fakes import Fake
slow, source, out = sys.argv[1] == "slow", Path(sys.argv[2]), Path(sys.argv[3])
asked = [0]
def answer(crop):
    asked[0] += 1
    if slow and asked[0] > 3:
        time.sleep(60)
    return f"region {asked[0]}"
session = ReadingSession(Fake(answer), options=ReadOptions(dots=72, rotate=0, concurrency=1, pages_ahead=1))
for event in session.save([source], [OutputTarget(out, "json")]):
    if isinstance(event, PageRead):
        print(event.page.number, asked[0], flush=True)
"""


@pytest.mark.timeout(120)
def test_a_killed_run_loses_one_page_and_the_next_goes_on(tmp_path: Path) -> None:
    source, out = tmp_path / "five.pdf", tmp_path / "out.json"
    source.write_bytes(text_pdf(*(f"This is page {n}" for n in range(1, 6))))
    command = [sys.executable, "-c", CHILD]
    child = subprocess.Popen([*command, "slow", source, out], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert [child.stdout.readline().split()[0] for _ in range(3)] == ["1", "2", "3"]
    time.sleep(0.2)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert json.loads(out.read_text())["pages"]  # whole, whenever it was killed
    kept = [path.name for path in OutputTarget(out, "json").journal.glob("page-*.json")]
    assert sorted(kept) == ["page-1.json", "page-2.json", "page-3.json"]
    again = subprocess.run(
        [*command, "fast", source, out], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    pages, asked = zip(*(line.split() for line in again.stdout.splitlines()))
    assert pages == ("1", "2", "3", "4", "5")
    assert asked[-1] == "2"  # three pages were not read again
    assert [page["page"] for page in json.loads(out.read_text())["pages"]] == [1, 2, 3, 4, 5]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["five.pdf", "out.json"]


def stopped_after(pages: int, session: ReadingSession, source: Path, target: OutputTarget) -> None:
    events = session.save([source], [target])
    for event in events:
        if isinstance(event, PageRead):
            pages -= 1
            if not pages:
                break
    events.close()  # type: ignore[attr-defined]


def test_a_journal_of_something_else_is_not_used(tmp_path: Path) -> None:
    source, target = tmp_path / "four.pdf", OutputTarget(tmp_path / "out.md", "md")
    source.write_bytes(text_pdf(*(f"This is page {n}" for n in range(1, 5))))
    stopped_after(2, ReadingSession(Fake(lambda crop: "first"), options=COARSE), source, target)
    assert target.journal.is_dir()
    changed = ReadingSession(Fake(lambda crop: "second"), options=ReadOptions(dots=50))
    run(changed, [source], [target])
    assert "first" not in target.path.read_text()
    stopped_after(2, ReadingSession(Fake(lambda crop: "third"), options=COARSE), source, target)
    source.write_bytes(text_pdf(*(f"Another page {n}" for n in range(1, 5))))
    run(ReadingSession(Fake(lambda crop: "fourth"), options=COARSE), [source], [target])
    assert "third" not in target.path.read_text()


def test_a_damaged_journal_costs_a_page_and_no_more(tmp_path: Path) -> None:
    source, target = tmp_path / "four.pdf", OutputTarget(tmp_path / "out.md", "md")
    source.write_bytes(text_pdf(*(f"This is page {n}" for n in range(1, 5))))
    stopped_after(2, ReadingSession(Fake(lambda crop: "first"), options=COARSE), source, target)
    (target.journal / "page-1.json").write_text('{"page": 1')
    run(ReadingSession(Fake(lambda crop: "second"), options=COARSE), [source], [target])
    assert target.path.read_text().split() == ["second", "first", "second", "second"]


def test_folders_are_their_documents(tmp_path: Path) -> None:
    for name in ("b.pdf", "a.PNG", "notes.txt", "c.tiff", "d.docx"):
        (tmp_path / name).write_bytes(b"x")
    assert [path.name for path in expand_folders([tmp_path])] == ["a.PNG", "b.pdf", "c.tiff", "d.docx"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadRequest, match="no documents"):
        expand_folders([tmp_path / "empty"])


def test_where_results_go(tmp_path: Path) -> None:
    one, two = Path("x/scan.png"), Path("y/scan.pdf")
    assert [t.path for t in output_targets([one], tmp_path / "a.md", "md")] == [tmp_path / "a.md"]
    assert [t.path for t in output_targets([one], tmp_path, "md")] == [tmp_path / "scan.md"]
    several = output_targets([one, two], tmp_path / "new", "pdf")
    assert [t.path for t in several] == [tmp_path / "new/scan.pdf", tmp_path / "new/scan-2.pdf"]
    (tmp_path / "file").write_text("")
    with pytest.raises(BadRequest, match="folder"):
        output_targets([one, two], tmp_path / "file", "md")


def test_an_output_that_cannot_be_written_is_said_and_everything_stops(
    scan: tuple[Path, Sheet], tmp_path: Path
) -> None:
    source, sheet = scan
    (tmp_path / "taken").mkdir()
    with pytest.raises(BadRequest, match="cannot be written"):
        run(ReadingSession(Fake(by_colour(sheet.texts))), [source], [OutputTarget(tmp_path / "taken", "md")])


MEMORY = """
import sys, time, psutil
from engine.pipelines.reading.reader import ReadOptions
from engine.pipelines.reading.session import ReadingSession
from tests.engine.pipelines.reading.fakes import Fake
def used():
    return psutil.Process().memory_info().rss >> 20
fake = Fake(lambda crop: "x")
session = ReadingSession(fake, options=ReadOptions(task="table", rotate=0))
session.documents([sys.argv[2]])  # imports what reading needs
before, most = used(), 0
for _ in range(3):
    session.documents([sys.argv[1]])
    most = max(most, used())
    fake.crops.clear()
for _ in range(50):
    if used() - before < 70:
        break
    time.sleep(0.2)
print(before, most, used())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="glibc keeps what was freed")
def test_memory_of_pages_that_were_read_returns(tmp_path: Path) -> None:
    source = tmp_path / "scan.pdf"
    page = article(1).image.resize((827, 1170))
    page.save(source, save_all=True, append_images=[page] * 7, resolution=100)
    page.save(tmp_path / "one.pdf", resolution=100)
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, source, tmp_path / "one.pdf"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    before, most, after = map(int, run.stdout.split())
    assert most - before > 80  # it took much
    assert after - before < 70
