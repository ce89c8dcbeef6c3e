"""`grus read`, as a person and as a script would call it. The model is made up here; real ones are tested where they live."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pypdf
import pytest

import grus
from app.runtime import reading
from engine.errors import BadRequest, UnreadableFile
from tests.app.conftest import Outcome
from tests.engine.media.test_documents import text_pdf
from tests.engine.pipelines.reading.fakes import Fake, by_colour
from tests.engine.pipelines.reading.sheets import Sheet, article

Command = Callable[..., Outcome]
DOCUMENTS = Path(__file__).resolve().parents[1] / "data" / "documents"
TABLE = "<fcel>Crane<fcel>Height<nl><fcel>red<fcel>1.58<nl>"


class Made:
    """Stands where models would be loaded."""

    recognizer: Any = None
    layout: Any = None
    asked: Any = None

    def __init__(self, model: str | None, layout: str | None, options: Any = None, **more: Any) -> None:
        type(self).asked = (model, layout, options, more)

    def __enter__(self) -> Made:
        return self

    def __exit__(self, *_: object) -> None: ...
    def close(self) -> None: ...


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> type[Made]:
    class Here(Made):
        pass

    monkeypatch.setattr(reading, "ReadingModels", Here)
    monkeypatch.setattr(reading, "_kept", {})
    return Here


@pytest.fixture
def page(tmp_path: Path, models: type[Made]) -> tuple[Path, Sheet]:
    sheet = article(1)
    models.recognizer = Fake(by_colour(sheet.texts))
    sheet.image.save(tmp_path / "page.png")
    return tmp_path / "page.png", sheet


def test_markdown_goes_to_standard_output(command: Command, page: tuple[Path, Sheet]) -> None:
    file, _ = page
    seen = command("read", file)
    assert seen.code == 0
    assert seen.out.startswith("# A Title over All Columns\n\n## Section 1\n\n")
    assert "Journal of Cranes" not in seen.out
    assert "1 of 1 pages" in seen.err
    assert "Journal of Cranes" in command("read", file, "--margins", "--format", "txt").out


def test_the_ending_says_what_is_written(command: Command, page: tuple[Path, Sheet], tmp_path: Path) -> None:
    file, _ = page
    out = tmp_path / "found.pdf"
    seen = command("read", file, "-o", out)
    assert (seen.code, seen.out) == (0, "")
    assert f"{file} -> {out}" in seen.err
    assert "Title over All Columns" in pypdf.PdfReader(out).pages[0].extract_text()


def test_tables(command: Command, page: tuple[Path, Sheet], models: type[Made], tmp_path: Path) -> None:
    models.recognizer = Fake(lambda crop: TABLE)
    rows = [["Crane", "Height"], ["red", "1.58"]]
    seen = command("read", page[0], "--task", "table", "--format", "csv", "--quiet")
    assert list(csv.reader(io.StringIO(seen.out))) == rows
    assert seen.err == ""
    assert command("read", page[0], "--task", "table", "-o", tmp_path / "t.xlsx").code == 0
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    assert [[cell.value for cell in row] for row in sheet.iter_rows()] == [["Crane", "Height"], ["red", 1.58]]


def test_no_table_is_said(command: Command, page: tuple[Path, Sheet], tmp_path: Path) -> None:
    seen = command("read", page[0], "-o", tmp_path / "none.csv")
    assert seen.code == 0
    assert "no table was found" in seen.err
    assert not (tmp_path / "none.csv").exists()
    seen = command("read", page[0], "--format", "csv")
    assert (seen.code, seen.out) == (0, "")
    assert "page.png: no table was found." in seen.err


def test_a_folder_of_documents(command: Command, page: tuple[Path, Sheet], tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    page[1].image.save(folder / "one.png")
    page[1].image.save(folder / "two.tiff")
    (folder / "bad.pdf").write_bytes(text_pdf("x")[:100])
    seen = command("read", folder, "--format", "json", "-o", out)
    assert seen.code == 2
    assert sorted(path.name for path in out.iterdir()) == ["one.json", "two.json"]
    assert "bad.pdf: The PDF is damaged" in seen.err
    assert "1 item could not be read; the rest is done." in seen.err
    printed = command("read", folder / "one.png", folder / "two.tiff", "--format", "json").out
    assert [json.loads(line)["document"][-8:] for line in printed.splitlines()] == ["/one.png", "two.tiff"]


def test_pages_and_text_layers(command: Command, models: type[Made], tmp_path: Path) -> None:
    file = tmp_path / "text.pdf"
    file.write_bytes(text_pdf("Page number one", "Page number two", "Page number three"))
    seen = command("read", file, "--text-layer", "--pages", "2-", "--format", "txt", "--dpi", 72)
    assert seen.out == "Page number two\n\nPage number three\n"
    assert models.asked[3] == {"required": False, "profile": None}


def test_documents_that_carry_their_text_need_no_model(command: Command, models: type[Made], tmp_path: Path) -> None:
    models.asked = "nothing"
    seen = command("read", DOCUMENTS / "python-docx.docx", DOCUMENTS / "cranes.md", "--quiet")
    assert seen.code == 0
    assert seen.out.startswith("# The Crane Report\n\n# Introduction\n\nThe common crane Grus grus stands 115 cm tall.")
    assert "| Müritz | 412 |" in seen.out
    assert command("read", DOCUMENTS / "pandoc.pptx", "--pages", "2", "-o", tmp_path / "a.docx").code == 0
    assert grus.read(tmp_path / "a.docx").text.startswith("Introduction\n\nThe common crane")
    assert "Only PDFs and images" in command("read", DOCUMENTS / "cranes.md", "-o", tmp_path / "a.pdf").err
    (tmp_path / "old.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    seen = command("read", tmp_path / "old.docx")
    assert (seen.code, seen.out) == (2, "")
    assert "old.docx: This is an old Office file" in seen.err
    assert grus.read((DOCUMENTS / "pandoc.odt").read_bytes()).document.pages[0].elements[0].text == "The Crane Report"
    assert models.asked == "nothing"


def test_a_protected_pdf(command: Command, tmp_path: Path, models: type[Made]) -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(text_pdf("Secret words here")))
    writer.encrypt("sesame", algorithm="RC4-128")
    writer.write(tmp_path / "secret.pdf")
    arguments = ["read", tmp_path / "secret.pdf", "--text-layer", "--format", "txt"]
    assert "protected" in command(*arguments).err
    assert "wrong" in command(*arguments, "--password", "open").err
    seen = command(*arguments, "--password", "sesame")
    assert (seen.code, seen.out) == (0, "Secret words here\n")
    saved = command(*arguments[:-1], "pdf", "--password", "sesame", "-o", tmp_path / "out.pdf")
    assert saved.code == 0
    assert pypdf.PdfReader(tmp_path / "out.pdf").pages[0].extract_text().split() == ["Secret", "words", "here"]


def test_doubts_are_told_and_are_no_failure(command: Command, page: tuple[Path, Sheet], models: type[Made]) -> None:
    models.recognizer = Fake(lambda crop: "la " * 500)
    seen = command("read", page[0], "--task", "formula", "--quiet")
    assert seen.code == 0
    assert "page 1, region 1: doubtful. The text repeats itself." in seen.err
    assert "<!-- doubtful: The text repeats itself. -->" in seen.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pages", "3-1"], "1-3,5"),
        (["--format", "pdf"], "-o"),
        (["--format", "xlsx"], "-o"),
        (["-o", "out.odt"], "odt"),
        (["--dpi", "7"], "--dpi"),
    ],
)
def test_an_impossible_wish_is_one_sentence(
    command: Command, page: tuple[Path, Sheet], arguments: list[str], said: str
) -> None:
    seen = command("read", page[0], *arguments)
    assert seen.code == 2
    assert said in seen.err
    assert len(seen.err.strip().splitlines()) == 1


def test_without_any_model_it_says_which_to_get(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "starter", lambda name: None)
    article(1).image.save(tmp_path / "page.png")
    seen = command("read", tmp_path / "page.png")
    assert seen.code == 2
    assert "--model" in seen.err
    assert "PaddleOCR-VL" in seen.err


def test_a_text_model_cannot_read(command: Command, model: Path, tmp_path: Path) -> None:
    article(1).image.save(tmp_path / "page.png")
    seen = command("read", tmp_path / "page.png", "--model", model)
    assert seen.code == 2
    assert "vision model" in seen.err


def test_models_are_asked_for_by_name(command: Command, page: tuple[Path, Sheet], models: type[Made]) -> None:
    command("read", page[0], "--model", "m", "--layout", "l", "--device", "cpu")
    model, layout, options, _ = models.asked
    assert (model, layout, options.device) == ("m", "l", "cpu")


# -- the same from Python


def test_read_from_python(page: tuple[Path, Sheet], tmp_path: Path) -> None:
    file, sheet = page
    found = grus.read(file)
    assert found.markdown.startswith("# A Title over All Columns")
    assert found.text.startswith("A Title over All Columns")
    assert grus.read(sheet.image).markdown == grus.read(file.read_bytes()).markdown == str(found)
    assert found.document.pages[0].elements[0].kind == "header"
    grus.read(file, out=tmp_path / "out.html")
    assert "<h1>A Title" in (tmp_path / "out.html").read_text()


def test_read_from_python_gives_tables(page: tuple[Path, Sheet], models: type[Made]) -> None:
    models.recognizer = Fake(lambda crop: TABLE)
    assert grus.read(page[0], task="table").tables == [[["Crane", "Height"], ["red", "1.58"]]]


def test_what_cannot_be_read_from_python(page: tuple[Path, Sheet], tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"none\.png"):
        grus.read(tmp_path / "none.png")
    found = grus.read_all([tmp_path / "none.png", page[0]])
    assert [bool(each.error) for each in found] == [True, False]
    with pytest.raises(BadRequest):
        grus.read(page[0], pages="x")


# -- a watched folder, in a process of its own


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    begun: list[subprocess.Popen[str]] = []

    def start(*options: object) -> subprocess.Popen[str]:
        line = [sys.executable, "-m", "app.cli", "read", "--watch", str(tmp_path), *map(str, options)]
        own = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP} if sys.platform == "win32" else {}
        begun.append(
            subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"}, **own)
        )
        return begun[-1]

    yield start
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str]) -> tuple[int, str, float]:
    """Ctrl-C -> the exit code, what was said, and the seconds that it took."""
    began = time.monotonic()
    process.send_signal(signal.CTRL_C_EVENT if sys.platform == "win32" else signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    return process.returncode, said, time.monotonic() - began


def wait_for(path: Path) -> None:
    until = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < until, path
        time.sleep(0.05)


@pytest.mark.slow
def test_a_watched_folder_in_a_process_of_its_own(
    watching: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    process = watching("--format", "txt")
    wait_for(tmp_path / ".grus-read.lock")
    whole = (DOCUMENTS / "libreoffice.odt").read_bytes()
    (tmp_path / "broken.docx").write_bytes(b"PK\3\4 no archive")
    with (tmp_path / "slow.odt").open("wb") as file:  # written in pieces for longer than a file takes to settle
        for at in range(0, len(whole), len(whole) // 8):
            file.write(whole[at : at + len(whole) // 8])
            file.flush()
            time.sleep(0.4)
    wait_for(tmp_path / "slow.odt.txt")
    assert "Last words — fin." in (tmp_path / "slow.odt.txt").read_text("utf-8")
    second = watching()
    assert "watches" in second.communicate(timeout=60)[1]
    code, said, seconds = ended(process)
    assert (code, seconds < 20) == (2, True)  # something could not be read
    assert said.count("broken.docx: The file is damaged") == 1
    assert said.count("slow.odt ->") == 1

    (tmp_path / "slow.odt.txt").write_text("mine", "utf-8")  # read anew, it would be lost
    again = watching("--format", "txt")
    (tmp_path / "new.rtf").write_bytes((DOCUMENTS / "pandoc.rtf").read_bytes())
    wait_for(tmp_path / "new.rtf.txt")
    code, said, _ = ended(again)
    assert (code, "broken" in said, (tmp_path / "slow.odt.txt").read_text("utf-8")) == (0, False, "mine")
    assert not list(tmp_path.glob(".*.pages"))


def test_what_cannot_be_watched_is_one_sentence(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x", "utf-8")
    for given in ([tmp_path / "a.txt"], [tmp_path, tmp_path], [tmp_path / "missing"]):
        seen = command("read", "--watch", *given)
        assert (seen.code, "one folder" in seen.err) == (2, True)
    assert "is a file" in command("read", "--watch", tmp_path, "-o", tmp_path / "a.txt").err
