"""Files made to do harm, of every kind that carries its text: each ends in one sentence or in text, in bounded memory and time.

The limits on time are wide: they tell seconds from the minutes or years that such files took before.
"""

from __future__ import annotations

import io
import logging
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import UnreadableFile
from engine.pipelines.reading.formats import blocks, documents, packages
from engine.pipelines.reading.formats.documents import open_text_document
from engine.pipelines.reading.formats.markup import tokens

MADE = Path(__file__).resolve().parents[3] / "data" / "documents"
_SECONDS = 30.0
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_OPEN = "application/vnd.oasis.opendocument."


@pytest.fixture(autouse=True)
def no_other_errors(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """What is raised besides our own errors is a sentence too, and is logged: it is a bug."""
    with caplog.at_level(logging.ERROR, "grus.reading"):
        yield
    assert [record.getMessage() for record in caplog.records if record.name == "grus.reading"] == []


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def office(main: str, content: str) -> bytes:
    relations = f'<Relationships><Relationship Id="a" Type="{_OFFICE}/officeDocument" Target="{main}"/></Relationships>'
    return zipped({"_rels/.rels": relations, main: content})


def docx(inside: str, head: str = "") -> bytes:
    return office("word/document.xml", f"{head}<document><body>{inside}</body></document>")


def pptx(inside: str, head: str = "") -> bytes:
    return office("ppt/presentation.xml", f"{head}<presentation>{inside}</presentation>")


def xlsx(inside: str, head: str = "") -> bytes:
    return office("xl/workbook.xml", f"{head}<workbook>{inside}</workbook>")


def opened(kind: str) -> Callable[[str, str], bytes]:
    def made(inside: str, head: str = "") -> bytes:
        content = f"{head}<c><body><{kind}>{inside}</{kind}></body></c>"
        return zipped({"mimetype": f"{_OPEN}{kind}", "content.xml": content})

    return made


def epub(inside: str, head: str = "") -> bytes:
    container = f'{head}<c><rootfile full-path="b.opf"/>{inside}</c>'
    return zipped({"mimetype": "application/epub+zip", "META-INF/container.xml": container, "b.opf": "<p/>"})


def flat(inside: str, head: str = "") -> bytes:
    # what stands before the document type is what the kind is known by
    return f"<office:document xmlns:office='o'><office:body><office:text>{inside}</office:text></office:body></office:document>".encode()


def fb2(inside: str, head: str = "") -> bytes:
    return f"<FictionBook><body>{inside}</body></FictionBook>".encode()


PACKAGES = {
    "docx": docx, "pptx": pptx, "xlsx": xlsx, "odt": opened("text"), "ods": opened("spreadsheet"), "odp": opened("presentation"),
    "epub": epub,
}  # fmt: skip
XML = {**PACKAGES, "fodt": flat, "fb2": fb2}
BILLION = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("head", [BILLION, OUTSIDE, BILLION.replace("<!ENTITY a", "<!ENTITY % a")])
@pytest.mark.parametrize("kind", PACKAGES)
def test_entities_are_refused(kind: str, head: str) -> None:
    with pytest.raises(UnreadableFile, match=r"expands itself|damaged"):
        open_text_document(PACKAGES[kind]("<x>&a;</x>", head))


@pytest.mark.parametrize("root", [b"FictionBook", b"office:document"])
def test_entities_of_one_xml_file_are_refused(root: bytes) -> None:
    for before in (b"<!--" + b" " * 100 + root + b"-->", b"<" + root + b">"):
        data = before + BILLION.encode() + b"<" + root + b">&b;</" + root + b">"
        document_or_refusal(data, ".fb2")


@pytest.mark.parametrize("kind", XML)
def test_endless_nesting_is_refused(kind: str) -> None:
    with pytest.raises(UnreadableFile, match="never ends"):
        open_text_document(XML[kind]("<x>" * 100_000 + "</x>" * 100_000, ""))


@pytest.mark.parametrize("kind", PACKAGES)
def test_bombs_are_refused_in_little_memory(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "LARGEST_PACKAGE", 1 << 20)
    bomb = PACKAGES[kind]("<p>" + "a" * (6 << 20) + "</p>", "")
    tracemalloc.start()
    with pytest.raises(UnreadableFile, match="unpacks to more"):
        open_text_document(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(bomb) < 1 << 17
    assert peak < 4 << 20


@pytest.mark.parametrize("kind", XML)
def test_more_elements_than_a_tree_may_have_are_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "MOST_ELEMENTS", 10_000)
    with pytest.raises(UnreadableFile, match="never ends"):
        open_text_document(XML[kind]("<p/>" * 20_000, ""))


def test_a_row_without_end_is_refused() -> None:
    relations = f'<Relationships><Relationship Id="s" Type="{_OFFICE}/worksheet" Target="s.xml"/></Relationships>'
    book = f'<workbook xmlns:r="{_OFFICE}"><sheets><sheet name="A" r:id="s"/></sheets></workbook>'
    parts = {"_rels/.rels": relations.replace("worksheet", "officeDocument").replace("s.xml", "xl/workbook.xml"),
             "xl/workbook.xml": book, "xl/_rels/workbook.xml.rels": relations}  # fmt: skip
    row = f"<worksheet><row>{'<c/>' * 300_000}</row></worksheet>"
    with pytest.raises(UnreadableFile, match="never ends"):
        open_text_document(zipped({**parts, "xl/s.xml": row}))
    # merged cells that all cover everything, and numbers that are none
    cells = "".join(
        f'<row r="{at}"><c r="A{at}" t="s"><v>²</v></c><c r="ZZ{at}"><v>1e999</v></c></row>' for at in range(1, 120)
    )
    merges = '<mergeCell ref="A1:XFD1048576"/>' * 100_000
    within_time(zipped({**parts, "xl/s.xml": f"<worksheet>{cells}{merges}</worksheet>"}), "")


@pytest.mark.parametrize("kind", PACKAGES)
def test_a_package_in_a_package_is_not_opened(kind: str) -> None:
    inner = PACKAGES[kind]("<p>inside</p>", "")
    for _ in range(20):
        inner = zipped({"a.zip": inner, "word/embeddings/a.docx": inner})
    with pytest.raises(UnreadableFile, match="not a document that can be read"):
        open_text_document(inner)


def test_broken_streams_of_a_package_are_damage() -> None:
    whole = docx("".join(f"<p><r><t>word {at * at}</t></r></p>" for at in range(300)))
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        info = archive.getinfo("word/document.xml")
    start, refused = info.header_offset + 30 + len(info.filename), 0
    places = range(start, start + info.compress_size, 23)
    for at in places:
        data = bytearray(whole)
        data[at] ^= 0xFF
        with pytest.raises(UnreadableFile, match="damaged"):
            open_text_document(bytes(data))
        refused += 1
    assert refused == len(places)


def test_text_boxes_in_text_boxes_are_read_once_each() -> None:
    """Each was read again for every box around it: the text of 60 would have been written 2^60 times."""
    inside = "<p>innermost</p>"
    for _ in range(60):
        inside = f"<p>x<frame><text-box>{inside}</text-box></frame></p>"
    pages = within_time(PACKAGES["odt"](inside, ""), "")
    assert [element.text for page in pages for element in page.elements].count("innermost") == 1
    assert sum(len(page.elements) for page in pages) == 61


# -- texts


def document_or_refusal(data: bytes, ending: str) -> tuple[documents.Page, ...]:
    try:
        document = open_text_document(data, ending)
    except UnreadableFile:
        return ()
    return document.pages if document is not None else ()


def within_time(data: bytes, ending: str) -> tuple[documents.Page, ...]:
    began = time.monotonic()
    pages = document_or_refusal(data, ending)
    assert time.monotonic() - began < _SECONDS
    return pages


@pytest.mark.parametrize(
    "part",
    ["<!--", "<a", "</", "<!", "<?", "<![CDATA[", "&#", "<a b='", "<a b=\"'", "<a b=", "<script>", "<svg>", "<table><tr><td>", "<li>", "<ul>",
     "<p hidden>", "<![x[", "<p style=';  '>", "<ol start=99999999999>", "<td colspan=²>"],
)  # fmt: skip
def test_html_of_any_kind_takes_time_by_its_length(part: str) -> None:
    within_time(b"<html>" + part.encode() * 20_000 + b"<b>" * 20_000, ".html")
    assert sum(1 for _ in tokens(part * 20_000)) < 200_000


def test_comments_before_html_are_no_riddle() -> None:
    within_time(b"<!---->" * 580, ".txt")  # a match was tried in 2^580 ways
    within_time(b"<!---->" * 580 + b"<FictionBook", ".txt")


@pytest.mark.parametrize(
    "part", ["![a", "[", "*a_ ", "`a``b", "> ", "- ", "<a b=c ", "[a](", "|", "\\", "1. ", "~~~\n", "&", "[a]: b\n"]
)
def test_markdown_of_any_kind_takes_time_by_its_length(part: str) -> None:
    within_time(part.encode() * (30_000 // len(part)), ".md")


def test_a_long_list_of_markdown_is_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = within_time(b"- a\n" * 200_000, ".md")
    assert sum(element.text.count("a") for page in pages for element in page.elements) == 200_000
    monkeypatch.setattr(blocks, "MOST_BLOCKS", 1000)
    with pytest.raises(UnreadableFile, match="larger than can be read"):
        open_text_document(b"a\n\n" * 2000, ".txt")
    monkeypatch.setattr(blocks, "MOST_TEXT", 1000)
    with pytest.raises(UnreadableFile, match="larger than can be read"):
        open_text_document(b"a" * 2000, ".txt")


def test_a_message_with_boundaries_without_end_is_refused() -> None:
    heads = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (at, at) for at in range(300))
    with pytest.raises(UnreadableFile, match="damaged"):
        open_text_document(b"Subject: x\n" + heads + b"x\n" * 100, ".eml")


@pytest.mark.parametrize(
    "charset", ["unicode_escape", "punycode", "idna", "zlib", "utf-7", "no-such", "undefined", "a\tb"]
)
def test_letters_of_a_made_up_kind_are_text(charset: str) -> None:
    mail = f"Subject: x\nContent-Type: text/plain; charset={charset}\n\nwords \\ud800 +2AA-"
    for data, ending in (
        (mail.encode(), ".eml"),
        (f"<html><meta charset={charset}>words \\ud800 +2AA-".encode(), ".html"),
    ):
        (page,) = within_time(data, ending)
        text = "\n".join(element.text for element in page.elements)
        assert "words" in text
        text.encode()  # no halves of characters


@pytest.mark.parametrize(
    "data",
    [b"{\\rtf1" + b"{" * 50_000, b"{\\rtf1" + b"}" * 50_000, b"{\\rtf1 \\bin999999999 x", b"{\\rtf1 \\bin-5 x}", b"{\\rtf1\\ansicpg99999 x}",
     b"{\\rtf1 \\u99999999 x\\u-99999999 y}", b"{\\rtf1\\ansicpg-1\\f-1\\s-1\\ilvl-7\\li-999 x\\par}", b"{\\rtf1" + b"\\cellx1" * 50_000 + b"\\intbl x\\cell" * 50_000,
     b"{\\rtf1" + b"\\trowd\\clvmrg\\cellx9\\intbl x\\cell\\row" * 5_000, b"{\\rtf1" + b"\\" * 100_001, b"{\\rtf1\\uc999999999 \\u1 x" + b"a" * 99],
)  # fmt: skip
def test_rich_text_made_to_do_harm_ends(data: bytes) -> None:
    within_time(data, ".rtf")


def test_files_too_large_are_refused_before_they_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    with file.open("wb") as out:
        out.write(b"words\n" * 1000)
        out.truncate(documents.LARGEST_TEXT + 1)  # a hole: it takes no room
    tracemalloc.start()
    with pytest.raises(UnreadableFile, match="larger than can be read"):
        open_text_document(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["pandoc.rtf", "pandoc.fb2", "libreoffice.rtf", "libreoffice.ods", "libreoffice.odp", "libreoffice.docx", "libreoffice.xlsx"]), st.data())  # fmt: skip
def test_damaged_files_end_in_a_sentence_or_in_text(name: str, data: st.DataObject) -> None:
    content = bytearray((MADE / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(6, len(content) - 1))] = data.draw(st.integers(0, 255))
    document_or_refusal(bytes(content[: data.draw(st.integers(100, len(content)))]), Path(name).suffix)


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["libreoffice.ods", "libreoffice.odp", "libreoffice.docx", "libreoffice.odt", "pandoc.epub"]),
    st.data(),
)
def test_damaged_xml_ends_in_a_sentence_or_in_text(name: str, data: st.DataObject) -> None:
    """The packed parts are changed, and packed again."""
    with zipfile.ZipFile(MADE / name) as archive:
        parts: dict[str, str | bytes] = {each: archive.read(each) for each in archive.namelist()}
    changed = data.draw(st.sampled_from([each for each in sorted(parts) if each.endswith(("xml", "rels", "opf"))]))
    content = bytearray(parts[changed])  # type: ignore[arg-type]
    digits = [at for at, sign in enumerate(content) if chr(sign).isdigit()]
    for _ in range(data.draw(st.integers(1, 5))):
        at = (
            data.draw(st.sampled_from(digits))
            if digits and data.draw(st.booleans())
            else data.draw(st.integers(0, len(content) - 1))
        )
        content[at : at + 1] = data.draw(st.sampled_from(["²", "-1", "99999999999", "", "x", "<", "٣"])).encode()
    document_or_refusal(zipped({**parts, changed: bytes(content)}), "")
