"""Twenty documents of each kind, made on this machine by pandoc, LibreOffice and programs that compose mail: all text, in order.

Opt-in, because pandoc and LibreOffice are large and slow: GRUS_OTHER_PROGRAMS=1 with `pandoc` and `soffice` on the PATH, fonts for all
letters (Debian's fonts-noto-core, fonts-noto-cjk and fonts-noto-color-emoji), for further PDFs `chromium`, and for messages
Debian's mutt, s-nail, mailutils, swaks, mime-construct, mblaze, ruby-mail and libemail-stuffer-perl.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import UnreadableFile
from engine.media.documents import open_document, pdf_page_texts
from engine.pipelines.reading.elements import text_layer_lines
from engine.pipelines.reading.formats.documents import open_text_document
from engine.pipelines.reading.results import Box
from engine.text.bidi import join_words
from tests.engine.pipelines.reading.other_mail import PROGRAMS, absent, letters
from tests.engine.pipelines.reading.written_texts import tables, talks, texts

THERE = os.environ.get("GRUS_OTHER_PROGRAMS") and shutil.which("pandoc") and shutil.which("soffice")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(not THERE, reason="needs pandoc, soffice and GRUS_OTHER_PROGRAMS=1"),
]

CSV_FILTER = "--infilter=Text - txt - csv (StarCalc):44,34,76,1,,0,false,true"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made")


def by_pandoc(folder: Path, kind: str, slides: bool = False) -> tuple[list[Path], dict[str, list[str]]]:
    source = folder / f"{'talks' if slides else 'texts'}"
    source.mkdir(exist_ok=True)
    phrases = talks(source) if slides else texts(source)
    made = []
    for name in phrases:
        made.append(folder / "pandoc" / f"{name}.{kind}")
        made[-1].parent.mkdir(exist_ok=True)
        if not made[-1].exists():
            subprocess.run(["pandoc", "-s", source / f"{name}.md", "-o", made[-1]], check=True, timeout=600)
    return made, phrases


def by_libreoffice(folder: Path, sources: list[Path], kind: str, *options: str) -> list[Path]:
    out = folder / "libreoffice" / kind
    line = [
        "soffice",
        f"-env:UserInstallation={(folder / 'profile').as_uri()}",
        "--headless",
        *options,
        "--convert-to",
        kind,
        "--outdir",
    ]
    subprocess.run([*line, out, *sources], check=True, timeout=3600)
    return [out / f"{source.stem}.{kind}" for source in sources]


def text_of(file: Path) -> str:
    document = open_text_document(file)
    assert document is not None
    return " ".join(" ".join(element.text for page in document.pages for element in page.elements).split())


def check(made: list[Path], phrases: dict[str, list[str]]) -> None:
    assert len(made) == 20
    for file in made:
        text, at = text_of(file), 0
        for phrase in phrases[file.stem]:
            at = text.index(" ".join(phrase.split()), at)


@pytest.mark.parametrize("kind", ["docx", "odt", "epub", "html", "rtf", "fb2"])
def test_texts_of_pandoc(folder: Path, kind: str) -> None:
    check(*by_pandoc(folder, kind))


def test_slides_of_pandoc(folder: Path) -> None:
    check(*by_pandoc(folder, "pptx", slides=True))


@pytest.mark.parametrize("kind", ["docx", "odt", "fodt", "rtf", "html"])  # its EPUB leaves the heads of tables out
def test_texts_of_libreoffice(folder: Path, kind: str) -> None:
    sources, phrases = by_pandoc(folder, "docx")
    check(by_libreoffice(folder, sources, kind), phrases)


def check_pdfs(made: list[Path], phrases: dict[str, list[str]]) -> None:
    """By the text layer alone, and by the words that `grus read --text-layer` puts into lines. A swan in colours is a picture in a PDF."""
    assert len(made) == 20
    lost = {}
    for file in made:
        texts = {"text": "".join(pdf_page_texts(file.read_bytes())), "lines": "".join(lines_of(file))}
        for way, text in texts.items():
            found, at = _letters_of(text), 0
            for phrase in phrases[file.stem]:
                place = found.find(_letters_of(phrase), at)
                if place < 0:
                    lost.setdefault((file.stem, way), []).append((phrase, found[at : at + 80]))
                else:
                    at = place
    assert not lost


def _letters_of(text: str) -> str:
    """Lines break anywhere."""
    return "".join(text.replace("🦢", "").split())


def lines_of(file: Path) -> Iterator[str]:
    document = open_document(file)
    try:
        for number in range(1, len(document) + 1):
            words = document.page(number, words=True).words
            assert words is not None
            for line in text_layer_lines([(word.text, Box(*word.bounds)) for word in words]):
                yield join_words([word.text for word in line])
    finally:
        document.close()


def test_pdfs_of_libreoffice(folder: Path) -> None:
    sources, phrases = by_pandoc(folder, "docx")
    check_pdfs(by_libreoffice(folder, sources, "pdf"), phrases)


def test_pdfs_of_chromium(folder: Path) -> None:
    if shutil.which("chromium") is None:
        pytest.skip("needs chromium")
    sources, phrases = by_pandoc(folder, "html")
    (folder / "chromium").mkdir()
    made = [folder / "chromium" / f"{source.stem}.pdf" for source in sources]
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    for source, target in zip(sources, made):
        line = ["chromium", *options, f"--print-to-pdf={target}", source.as_uri()]
        subprocess.run(line, check=True, capture_output=True, timeout=600)
    check_pdfs(made, phrases)


@pytest.mark.parametrize("program", PROGRAMS)
def test_messages_of_programs_that_compose_mail(tmp_path: Path, program: str) -> None:
    if missing := absent():
        pytest.skip(f"needs {', '.join(missing)}")
    compose, _ = PROGRAMS[program]
    made = letters(tmp_path)
    assert len(made) == 20
    for name, letter in made.items():
        file = tmp_path / f"{name}.eml"
        compose(letter, tmp_path, file)
        text, at = text_of(file), 0
        for phrase in letter.phrases:
            at = text.index(" ".join(phrase.split()), at)


@pytest.mark.parametrize("kind", ["odp", "fodp", "pptx"])
def test_slides_of_libreoffice(folder: Path, kind: str) -> None:
    sources, phrases = by_pandoc(folder, "pptx", slides=True)
    check(by_libreoffice(folder, sources, kind), phrases)


@pytest.mark.parametrize("kind", ["xlsx", "ods", "fods"])
def test_sheets_of_libreoffice(folder: Path, kind: str) -> None:
    (folder / "tables").mkdir(exist_ok=True)
    cells = tables(folder / "tables")
    made = by_libreoffice(folder, [folder / "tables" / f"{name}.csv" for name in cells], kind, CSV_FILTER)
    for file in made:
        document = open_text_document(file)
        assert document is not None
        found = [
            element.table.grid() for page in document.pages for element in page.elements if element.table is not None
        ]
        assert found == [cells[file.stem]]


@pytest.mark.parametrize(("kind", "better"), [("doc", "docx"), ("xls", "xlsx"), ("ppt", "pptx")])
def test_old_files_are_told_as_what_to_save_them(folder: Path, kind: str, better: str) -> None:
    if kind == "xls":
        (folder / "tables").mkdir(exist_ok=True)
        sources = [folder / "tables" / f"{name}.csv" for name in tables(folder / "tables")]
    else:
        sources = by_pandoc(folder, {"doc": "docx", "ppt": "pptx"}[kind], slides=kind == "ppt")[0]
    for file in by_libreoffice(folder, sources[:2], kind):
        with pytest.raises(UnreadableFile, match=f"save it as {better}"):
            open_text_document(file)
