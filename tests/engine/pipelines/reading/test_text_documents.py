"""Documents that carry their text: files made by other programs, files made here to do harm, and damaged ones."""

from __future__ import annotations

import contextlib
import datetime
import email.message
import io
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import UnreadableFile
from engine.pipelines.reading.formats import packages
from engine.pipelines.reading.formats.blocks import MOST_CHARACTERS
from engine.pipelines.reading.formats.documents import carries_text, open_text_document
from engine.pipelines.reading.reader import DocumentRead, DocumentReader, ReadOptions
from engine.pipelines.reading.results import Document, Page, page_from_json, page_to_json
from engine.pipelines.reading.writers import ExportOptions, write_document
from tests.asserting import every

MADE = Path(__file__).resolve().parents[3] / "data" / "documents"

ORDER = (
    "The Crane Report", "Introduction", "115 cm tall", "Counts", "First item", "Second item", "nested bullet", "loose",
    "Müritz\t412", "Plau\t77", "A quotation of a keeper.", 'print("crane")', "Closing", "Last words — fin.",
)  # fmt: skip


def pages_of(source: Path | bytes, ending: str = "") -> tuple[Page, ...]:
    document = open_text_document(source, ending)
    assert document is not None
    return document.pages


def blocks(pages: tuple[Page, ...]) -> list[tuple[str, str]]:
    return [(element.kind, element.text) for page in pages for element in page.elements]


def text_of(pages: tuple[Page, ...]) -> str:
    return "\n".join(text for _, text in blocks(pages))


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def docx(body: str, head: str = "", **more: str | bytes) -> bytes:
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type='
        '"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
    )
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    document = f'{head}<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>'
    return zipped({"_rels/.rels": relations, "word/document.xml": document, **more})


def words(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


# -- what other programs made


@pytest.mark.parametrize("name", ["pandoc.odt", "pandoc.epub", "pandoc.html", "pandoc.pptx", "cranes.md"])
def test_text_and_order_of_what_pandoc_made(name: str) -> None:
    text, at = text_of(pages_of(MADE / name)), 0
    # slides show no title page for Markdown's own front matter, and their lists are lists of another kind
    for phrase in ORDER:
        at = text.index(phrase, at)


@pytest.mark.parametrize("name", ["pandoc.odt", "pandoc.epub", "pandoc.html", "cranes.md"])
def test_headings_lists_tables_and_code_are_known(name: str) -> None:
    pages = pages_of(MADE / name)
    found = blocks(pages)
    assert ("heading", "Introduction") in found
    assert ("list", "1. First item\n2. Second item\n  - nested bullet\n- loose") in found
    assert ("code", 'print("crane")') in found
    levels = {element.text: element.level for page in pages for element in page.elements if element.kind == "heading"}
    assert levels["Introduction"] < levels["Counts"]
    table = next(element.table for page in pages for element in page.elements if element.table is not None)
    assert table.grid() == [["Lake", "Cranes"], ["Müritz", "412"], ["Plau", "77"]]


def test_a_word_document_has_pages_lists_spans_and_margins() -> None:
    pages = pages_of(MADE / "python-docx.docx")
    assert [page.unit for page in pages] == ["page", "page"]
    assert blocks(pages)[:3] == [
        ("header", "Society of Cranes"),
        ("heading", "The Crane Report"),
        ("heading", "Introduction"),
    ]
    assert ("list", "- Feed at dawn\n- Count at dusk\n1. First step\n2. Second step") in blocks(pages)
    assert blocks(pages[1:]) == [("heading", "Closing"), ("text", "Last words — fin.")]
    table = next(element.table for element in pages[0].elements if element.table is not None)
    assert [(cell.text, cell.columns) for cell in table.cells if cell.row == 2] == [("Plau", 1), ("77\n102", 2)]


def test_a_presentation_has_one_page_a_slide() -> None:
    first, second = pages_of(MADE / "python-pptx.pptx")
    assert (first.unit, first.number, second.number) == ("slide", 1, 2)
    assert blocks((first,)) == [("heading", "Cranes of the North"), ("heading", "A survey")]
    assert blocks((second,)) == [
        ("heading", "What cranes do"),
        ("list", "- They dance\n  - in spring\n- They migrate"),
        ("table", "Lake\tCranes\nMüritz\t412"),
        ("aside", "Mention the weather of 2019."),
    ]


def test_a_workbook_has_one_page_a_sheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    prices = book.active
    prices.title = "Prices"
    prices.append(["Thing", "Price", "Since", "Share"])
    prices.append(["Seed", 12.5, datetime.date(2024, 2, 29), 0.25])
    prices["D2"].number_format = "0%"
    prices["B4"] = "=B2*2"
    more = book.create_sheet("Über uns")
    more["C3"], more["C4"] = "both", "below"
    more.merge_cells("C3:D3")
    book.save(tmp_path / "a.xlsx")
    first, second = pages_of(tmp_path / "a.xlsx")
    assert [(page.unit, page.title) for page in (first, second)] == [("sheet", "Prices"), ("sheet", "Über uns")]
    assert ("table", "Thing\tPrice\tSince\tShare\nSeed\t12.5\t2024-02-29\t25%") in blocks((first,))
    table = second.elements[-1].table
    assert table is not None
    assert [(cell.text, cell.columns) for cell in table.cells if cell.text] == [("both", 2), ("below", 1)]


def test_a_message_shows_its_heads_its_body_and_names_its_attachments() -> None:
    message = email.message.EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "Größe der Kraniche"
    message.set_content("The crane is tall.\n\nYours, A.")
    message.add_alternative("<p>The <b>other</b> form</p>", subtype="html")
    message.add_attachment(b"secret", maintype="application", subtype="pdf", filename="count.pdf")
    assert blocks(pages_of(bytes(message))) == [
        ("heading", "Größe der Kraniche"),
        ("text", "From: a@example.org\nTo: b@example.org"),
        ("text", "The crane is tall."),
        ("text", "Yours, A."),
        ("heading", "Attachments"),
        ("list", "- count.pdf"),
    ]


def test_texts_are_known_by_their_endings() -> None:
    data = b"Title\n=====\n\nA line\nand another\n\n1. one\n2. two\n\fNext page"
    first, second = pages_of(data, ".txt")
    assert blocks((first,)) == [("heading", "Title"), ("text", "A line\nand another"), ("list", "1. one\n2. two")]
    assert blocks((second,)) == [("text", "Next page")]
    assert open_text_document(data) is None
    assert blocks(pages_of("Lake;Cranes\nMüritz;412\n".encode("cp1252"), ".csv")) == [
        ("table", "Lake\tCranes\nMüritz\t412")
    ]
    assert text_of(pages_of("Größe".encode("utf-16"), ".txt")) == "Größe"


def test_html_hides_what_a_browser_hides_and_knows_its_letters() -> None:
    page = "<html><meta charset='iso-8859-2'><title>no</title><body><script>no()</script><p hidden>no</p><p>Łódź &amp; co<br>two</p>"
    page += "<table><tr><td><table><tr><td>inner</td></tr></table></td><td rowspan=2>tall</td></tr><tr><td>x</td></tr></table>"
    assert blocks(pages_of(page.encode("iso-8859-2"))) == [("text", "Łódź & co\ntwo"), ("table", "inner\ttall\nx\t")]


def test_deleted_words_and_fields_are_left_out() -> None:
    body = (
        "<w:p><w:r><w:t>kept </w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:r><w:instrText>PAGE</w:instrText></w:r></w:p>"
    )
    assert text_of(pages_of(docx(body))) == "kept new"


def test_a_long_text_is_cut_into_parts_at_its_paragraphs() -> None:
    paragraphs = [f"Paragraph {number}. " + "word " * 100 for number in range(200)]
    pages = pages_of("\n\n".join(paragraphs).encode(), ".txt")
    assert len(pages) > 5
    assert every(len(text_of((page,))) < MOST_CHARACTERS * 1.2 for page in pages)
    assert [text.split(".")[0] for _, text in blocks(pages)] == [f"Paragraph {number}" for number in range(200)]
    assert [page.number for page in pages] == list(range(1, len(pages) + 1))


# -- what is made to do harm


BILLION = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("head", [BILLION, OUTSIDE])
def test_xml_with_entities_is_refused(head: str) -> None:
    with pytest.raises(UnreadableFile, match="expands itself"):
        open_text_document(docx(words("&a;"), head))


def test_endless_nesting_is_refused() -> None:
    with pytest.raises(UnreadableFile, match="never ends"):
        open_text_document(docx("<w:sdt>" * 5000 + "</w:sdt>" * 5000))


def test_a_zip_bomb_is_refused_before_it_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "LARGEST_PACKAGE", 1 << 20)
    bomb = docx(words("a" * (4 << 20)))
    assert len(bomb) < 1 << 16
    with pytest.raises(UnreadableFile, match="unpacks to more"):
        open_text_document(bomb)


def test_nothing_outside_the_package_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.xml").write_text("<p>secret</p>")
    book = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<c><rootfile full-path="b.opf"/></c>',
        "b.opf": f'<p><item id="a" href="../../..{tmp_path}/secret.xml"/><item id="b" href="https://example.org/x"/>'
        '<item id="c" href="c.html"/><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></p>',
        "c.html": '<p>in the book</p><img src="https://example.org/x.png"><iframe src="/etc/passwd"></iframe>',
    }
    assert text_of(pages_of(zipped(book))) == "in the book"


def test_macros_are_not_opened() -> None:
    assert (
        text_of(pages_of(docx(words("plain"), **{"word/vbaProject.bin": b"\xd0\xcf\x11\xe0" + b"x" * 100}))) == "plain"
    )


@pytest.mark.parametrize(("data", "said"), [
    (b"PK\x03\x04 and no archive", "damaged or incomplete"),
    (zipped({"a.txt": "x"}), "not a document that can be read"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "old Office file of a kind"),
    (docx("<w:p>")[:-40], "damaged or incomplete"),
    (docx("<w:p>"), "damaged or incomplete"),
    (zipped({"mimetype": "application/vnd.oasis.opendocument.text"}), "part of the file is missing"),
    (zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<a/>",
             "META-INF/manifest.xml": "<m><file-entry><encryption-data/></file-entry></m>"}), "protected with a password"),
    (zipped({"META-INF/container.xml": "<c/>"}), "damaged or incomplete"),
])  # fmt: skip
def test_what_cannot_be_opened_is_one_sentence(data: bytes, said: str) -> None:
    with pytest.raises(UnreadableFile, match=said):
        open_text_document(data)


def test_cells_that_repeat_a_million_times_are_read_once_each() -> None:
    cell = '<table:table-cell table:number-columns-repeated="9999999" table:number-rows-spanned="99999"><text:p>x</text:p></table:table-cell>'
    spaces = 'xmlns:o="o" xmlns:table="t" xmlns:text="x"'
    content = (
        f"<o:c {spaces}><o:body><o:text><table:table>{f'<table:table-row>{cell}</table:table-row>' * 50}</table:table>"
    )
    content += '<text:p>a<text:s text:c="99999999"/>b</text:p></o:text></o:body></o:c>'
    began = time.monotonic()
    pages = pages_of(zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content}))
    assert time.monotonic() - began < 20
    assert len(text_of(pages)) < 300_000


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["pandoc.odt", "pandoc.epub", "python-docx.docx", "pandoc.html", "cranes.md"]), st.data())
def test_damaged_files_end_in_a_sentence_or_in_text(name: str, data: st.DataObject) -> None:
    content = bytearray((MADE / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(4, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(content[: data.draw(st.integers(100, len(content)))])
    with contextlib.suppress(UnreadableFile):  # anything else that is raised fails
        document = open_text_document(cut, Path(name).suffix)
        assert document is None or document.pages


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("<>/abtdrhli123 =\"'!-[]&;#\n\t|*`_>"), max_size=400), st.sampled_from([".html", ".md", ".csv", ".txt", ".eml"]))  # fmt: skip
def test_any_text_is_read(text: str, ending: str) -> None:
    document = open_text_document(text.encode(), ending)
    assert document is None or document.pages


# -- through the reader


def read(*sources: Path | bytes, pages: str | None = None) -> list[Document]:
    """Without any model."""
    events = DocumentReader(None, None, ReadOptions(pages=pages)).read(sources)
    return [event.result for event in events if isinstance(event, DocumentRead)]


def test_the_reader_takes_them_between_pictures_without_a_model(tmp_path: Path) -> None:
    (tmp_path / "broken.docx").write_bytes(b"PK\x03\x04")
    found = read(MADE / "python-docx.docx", tmp_path / "broken.docx", MADE / "cranes.md")
    assert [len(document.pages) for document in found] == [2, 0, 1]
    assert "damaged" in (found[1].error or "")
    assert [page.number for page in read(MADE / "pandoc.pptx", pages="2-3")[0].pages] == [2, 3]
    assert "names none of them" in (read(MADE / "cranes.md", pages="9")[0].error or "")


def test_pages_survive_json_and_every_format_but_pdf() -> None:
    (document,) = read(MADE / "python-pptx.pptx")
    assert [page_from_json(page_to_json(page)) for page in document.pages] == list(document.pages)
    for kind in ("md", "txt", "html", "json", "docx", "csv", "xlsx"):
        written = write_document(document, kind, ExportOptions(), lambda page: None)  # type: ignore[arg-type, return-value]
        assert written
    with pytest.raises(Exception, match="Only PDFs and images"):
        write_document(document, "pdf", ExportOptions(), lambda page: None)  # type: ignore[arg-type, return-value]


def test_what_was_written_as_word_is_read_back() -> None:
    (document,) = read(MADE / "pandoc.odt")
    (word,) = write_document(document, "docx", ExportOptions(), lambda page: None)  # type: ignore[arg-type, return-value]
    text, at = text_of(pages_of(word)), 0
    for phrase in ORDER:
        at = text.index(phrase.replace("\t", "\t"), at)


def test_what_needs_no_model_is_known_without_reading_it(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\0")
    assert carries_text(MADE / "pandoc.odt")
    assert carries_text((MADE / "pandoc.html").read_bytes())
    assert not carries_text(tmp_path / "a.pdf")
    assert not carries_text(tmp_path / "picture.txt")
    assert not carries_text(tmp_path / "missing.md")
