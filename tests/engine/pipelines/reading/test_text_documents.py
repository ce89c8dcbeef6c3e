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
from engine.pipelines.reading.formats.detection import carries_text
from engine.pipelines.reading.formats.documents import open_text_document
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


@pytest.mark.parametrize(
    "name",
    ["pandoc.odt", "pandoc.epub", "pandoc.html", "pandoc.pptx", "pandoc.rtf", "pandoc.fb2", "cranes.md", "libreoffice.odt",
     "libreoffice.docx", "libreoffice.rtf", "libreoffice.odp"],
)  # fmt: skip
def test_text_and_order_of_what_other_programs_made(name: str) -> None:
    text, at = text_of(pages_of(MADE / name)), 0
    # slides show no title page for Markdown's own front matter, and their lists are lists of another kind
    for phrase in ORDER:
        at = text.index(phrase, at)


@pytest.mark.parametrize(
    "name",
    ["pandoc.odt", "pandoc.epub", "pandoc.html", "cranes.md", "libreoffice.odt", "libreoffice.docx", "pandoc.rtf", "libreoffice.rtf"],
)  # fmt: skip
def test_headings_lists_tables_and_code_are_known(name: str) -> None:
    pages = pages_of(MADE / name)
    found = blocks(pages)
    assert ("heading", "Introduction") in found
    assert ("list", "1. First item\n2. Second item\n  - nested bullet\n- loose") in found
    assert ("text" if name.endswith("rtf") else "code", 'print("crane")') in found  # RTF knows no code
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


@pytest.mark.parametrize("name", ["libreoffice.ods", "libreoffice.xlsx"])
def test_sheets_of_libreoffice_show_the_same_values(name: str) -> None:
    (page,) = pages_of(MADE / name)
    table = page.elements[-1].table
    assert (page.unit, page.title) == ("sheet", "libreoffice")
    assert table is not None
    assert table.grid() == [
        ["Lake", "Cranes", "Share", "Day"], ["Müritz", "412", "0.5", "2024-02-29"], ["Plau, the lake", "77", "0.25", "2023-12-31"],
    ]  # fmt: skip


def ods(rows: str, styles: str = "") -> bytes:
    spaces = 'xmlns:office="o" xmlns:table="t" xmlns:text="x"'
    content = f'<office:c {spaces}>{styles}<office:body><office:spreadsheet><table:table table:name="A">{rows}</table:table></office:spreadsheet></office:body></office:c>'
    return zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content})


def test_values_of_a_sheet_are_written_as_those_of_excel() -> None:
    def cell(kind: str, value: str, shown: str = "shown") -> str:
        name = {"date": "date-value", "time": "time-value", "boolean": "boolean-value"}.get(kind, "value")
        return f'<table:table-cell office:value-type="{kind}" office:{name}="{value}"><text:p>{shown}</text:p></table:table-cell>'

    values = [cell("float", "1234.5000"), cell("currency", "7"), cell("percentage", "0.125"), cell("date", "2024-02-29T12:30:05"),
              cell("time", "PT36H05M00S"), cell("boolean", "true"), cell("string", "", "a  text"), cell("date", "-0044-03-15", "Ides")]  # fmt: skip
    row = f"<table:table-row>{''.join(values)}</table:table-row>"
    again = '<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="2"/><table:table-cell office:value-type="string" table:number-columns-repeated="2"><text:p>x</text:p></table:table-cell></table:table-row>'
    rest = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    table = pages_of(ods(row + again + rest))[0].elements[-1].table
    assert table is not None
    first, *others = table.grid()
    assert first == ["1234.5", "7", "12.5%", "2024-02-29 12:30:05", "36:05", "TRUE", "a text", "Ides"]
    assert others == [["", "", "x", "x", "", "", "", ""]] * 2


def test_merged_cells_of_a_sheet_span() -> None:
    wide = '<table:table-cell table:number-columns-spanned="2" table:number-rows-spanned="2"><text:p>both</text:p></table:table-cell>'
    plain = "<table:table-cell><text:p>x</text:p></table:table-cell>"
    rows = f"<table:table-row>{wide}<table:covered-table-cell/>{plain}</table:table-row>"
    rows += f'<table:table-row><table:covered-table-cell table:number-columns-repeated="2"/>{plain}</table:table-row>'
    table = pages_of(ods(rows))[0].elements[-1].table
    assert table is not None
    assert [(cell.text, cell.rows, cell.columns) for cell in table.cells] == [("both", 2, 2), ("x", 1, 1), ("x", 1, 1)]


def test_a_presentation_of_libreoffice_has_notes_and_tables() -> None:
    pages = pages_of(MADE / "libreoffice.odp")
    assert {page.unit for page in pages} == {"slide"}
    assert blocks(pages[:1]) == [("heading", "The Crane Report"), ("heading", "A. Person")]
    assert ("table", "Lake\tCranes\nMüritz\t412\nPlau\t77") in blocks(pages)


def test_rich_text_with_code_pages_tables_and_what_is_hidden() -> None:
    text = rb"""{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial Cyr;}}{\stylesheet{\s5 Heading 2;}{\s6 Title;}}
{\info{\title No title}}{\*\unknown no}{\pict\bin5 }}}}}no}{\header Over it\par}
\pard\s6 Gr\'f6\'dfe\par\pard\s5 Second\par\pard Plain \f1\'c6\'f3\f0  {\v unseen}\u24093?\uc2\u-10179 ab\u-8938 cd end{\footnote A note}.\par
\trowd\clvmgf\cellx1000\cellx3000\intbl tall\cell a{\line}b\cell\row\trowd\clvmrg\cellx1000\cellx2000\cellx3000\intbl\cell c\cell d\cell\row
\pard after\page{\pard next\par}{\field{\*\fldinst HYPERLINK "https://example.org"}{\fldrslt shown}}}"""
    first, second = pages_of(text)
    assert blocks((first,)) == [
        ("header", "Over it"), ("heading", "Größe"), ("heading", "Second"), ("text", "Plain Жу 帝🔖 end."), ("footnote", "A note"),
        ("table", "tall\ta b\t\n\tc\td"), ("text", "after"),
    ]  # fmt: skip
    assert blocks((second,)) == [("text", "next"), ("text", "shown")]
    table = first.elements[-2].table
    assert table is not None
    assert [(cell.text, cell.rows, cell.columns) for cell in table.cells][:2] == [("tall", 2, 1), ("a\nb", 1, 2)]


def test_lists_of_word_continue_and_begin_anew_as_the_file_says() -> None:
    def item(text: str, number: int) -> str:
        return f'<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="{number}"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'

    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    level = '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/></w:lvl>'
    bullet = '<w:lvlOverride w:ilvl="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:lvlOverride>'
    anew = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="8"/></w:lvlOverride>'
    lists = "".join(
        f'<w:num w:numId="{n}"><w:abstractNumId w:val="0"/>{more}</w:num>'
        for n, more in ((1, ""), (2, ""), (3, bullet), (4, anew))
    )
    numbering = f'<w:numbering xmlns:w="{space}"><w:abstractNum w:abstractNumId="0">{level}</w:abstractNum>{lists}</w:numbering>'
    relations = f'<Relationships><Relationship Id="n" Type="{space}/numbering" Target="numbering.xml"/></Relationships>'
    body = item("a", 1) + item("b", 2) + item("c", 4) + item("d", 3)
    parts = {"word/numbering.xml": numbering, "word/_rels/document.xml.rels": relations}
    assert blocks(pages_of(docx(body, **parts))) == [("list", "3. a\n4. b\n8. c\n- d")]


def test_a_table_too_large_for_a_grid_keeps_its_text() -> None:
    rows = "".join(f"<tr><td>row {at}</td></tr>" for at in range(300)) + f"<tr>{'<td>x</td>' * 999}<td>last</td></tr>"
    text = text_of(pages_of(f"<html><table>{rows}</table>".encode()))
    assert [f"row {at}" in text for at in (0, 299)] == [True, True]
    assert text.endswith("last")
    wide = "\n".join(["a"] * 500 + [",".join(["b"] * 1000)])
    assert text_of(pages_of(wide.encode(), ".csv")).count("a") == 500


def test_the_delimiter_of_a_csv_is_the_one_that_fits() -> None:
    later = "one;two\n" * 3000 + '"say ""hi""; now";x\n'  # no quotes in what Python's Sniffer looks at
    table = pages_of(later.encode(), ".csv")[0].elements[0].table
    assert table is not None
    assert table.grid()[-1] == ['say "hi"; now', "x"]
    assert blocks(pages_of(b"1,5;2,5\n3,5;4,5\n", ".csv")) == [("table", "1,5\t2,5\n3,5\t4,5")]
    assert blocks(pages_of(b"a\tb, c\nd\te\n", ".tsv")) == [("table", "a\tb, c\nd\te")]


def test_dates_of_excel_of_every_kind() -> None:
    styles = '<styleSheet><numFmts><numFmt numFmtId="200" formatCode="[h]:mm"/></numFmts><cellXfs><xf numFmtId="14"/><xf numFmtId="200"/><xf numFmtId="22"/></cellXfs></styleSheet>'
    cells = [("1", 0), ("60", 0), ("45351", 0), ("1.5", 1), ("45351.52089", 2), ("2958465", 0), ("9999999", 0)]
    sheet = "".join(f'<c r="A{at}" s="{style}"><v>{value}</v></c>' for at, (value, style) in enumerate(cells, 1))
    values = [row[0] for row in workbook(sheet.replace("<c ", "</row><row><c ")[6:] + "</row>", styles)]
    assert values == ["1900-01-01", "1900-02-28", "2024-02-29", "36:00", "2024-02-29 12:30:05", "2958465", "9999999"]


def workbook(rows: str, styles: str = "<styleSheet/>") -> list[list[str]]:
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relations = (
        f'<Relationships><Relationship Id="a" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    )
    book = f'<workbook xmlns:r="{office}"><sheets><sheet name="A" r:id="s"/></sheets></workbook>'
    inner = f'<Relationships><Relationship Id="s" Type="{office}/worksheet" Target="s.xml"/><Relationship Id="f" Type="{office}/styles" Target="f.xml"/></Relationships>'
    parts = {"_rels/.rels": relations, "xl/workbook.xml": book, "xl/_rels/workbook.xml.rels": inner, "xl/f.xml": styles}
    table = (
        pages_of(zipped({**parts, "xl/s.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>"}))[0]
        .elements[-1]
        .table
    )
    assert table is not None
    return table.grid()


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


def test_a_message_whose_plain_form_says_nothing_shows_the_other() -> None:
    message = email.message.EmailMessage()
    message["Subject"] = "x"
    message.set_content(" \n")
    message.add_alternative("<p>The words</p>", subtype="html")
    assert ("text", "The words") in blocks(pages_of(bytes(message), ".eml"))


def test_a_message_that_is_passed_on_is_read_and_its_attachments_are_its_own() -> None:
    inner, outer = email.message.EmailMessage(), email.message.EmailMessage()
    inner["Subject"], outer["Subject"] = "Inner", "Outer"
    inner.set_content("inner words")
    inner.add_attachment(b"x", maintype="image", subtype="png", filename="inner.png")
    outer.set_content("outer words")
    outer.add_attachment(inner, disposition="inline")
    assert blocks(pages_of(bytes(outer), ".eml")) == [
        ("heading", "Outer"), ("text", "outer words"), ("heading", "Inner"), ("text", "inner words"), ("heading", "Attachments"),
        ("list", "- inner.png"),
    ]  # fmt: skip


def test_texts_are_known_by_their_endings() -> None:
    data = b"Title\n=====\n\nA line\nand another\n\n1. one\n2. two\n\fNext page"
    first, second = pages_of(data, ".txt")
    assert blocks((first,)) == [("heading", "Title"), ("text", "A line\nand another"), ("list", "1. one\n2. two")]
    assert blocks((second,)) == [("text", "Next page")]
    assert open_text_document(data) is None
    assert blocks(pages_of("Lake;Cranes\nMüritz;412\n".encode("cp1252"), ".csv")) == [
        ("table", "Lake\tCranes\nMüritz\t412")
    ]
    for letters in ("utf-16", "utf-32", "utf-8-sig"):
        assert text_of(pages_of("Größe".encode(letters), ".txt")) == "Größe"


def test_html_hides_what_a_browser_hides_and_knows_its_letters() -> None:
    page = "<html><meta charset='iso-8859-2'><title>no</title><body><script>no()</script><p hidden>no</p><p>Łódź &amp; co<br>two</p>"
    page += "<div style='color: red; DISPLAY : none'>no<div>no</div></div><script/><![no[no]]>"
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


def _old(stream: str) -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + stream.encode("utf-16-le") + bytes(40)


@pytest.mark.parametrize(("data", "said"), [
    (b"PK\x03\x04 and no archive", "damaged or incomplete"),
    (zipped({"a.txt": "x"}), "not a document that can be read"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "old Office file of a kind"),
    ((MADE / "libreoffice.xls").read_bytes(), r"old Excel file \(xls\).*save it as xlsx"),
    (_old("WordDocument"), "save it as docx"),
    (_old("PowerPoint Document"), "save it as pptx"),
    (_old("__properties_version1.0"), "Save it as eml"),
    (_old("EncryptedPackage"), "protected with a password"),
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
