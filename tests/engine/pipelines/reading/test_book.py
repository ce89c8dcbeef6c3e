"""Books as chapters: what begins one in each kind of file, what is not spoken, and the book's own title, author and cover."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter

from engine.errors import BadRequest, UnreadableFile
from engine.pipelines.reading.book import Book, as_cover, open_book
from tests.books import chapters, cover, epub
from tests.engine.media.test_documents import text_pdf

DOCUMENTS = Path(__file__).resolve().parents[3] / "data" / "documents"
MARKDOWN = """---
title: The Marsh
author: Ada Grus
---
# Arrival

The cranes come *down*.

## A quarrel

They dance.

```
print("not spoken")
```

# Departure

- one wing
- another wing

| when | where |
|---|---|
| May | north |
"""


def titles(book: Book) -> list[str]:
    return [chapter.title for chapter in book.chapters]


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_an_epub_has_a_chapter_for_each_file_that_its_contents_name(tmp_path: Path) -> None:
    parts = chapters(3)
    parts.insert(2, ("", ["This file goes on where the one before ended."]))
    book = open_book(epub(tmp_path / "cranes.epub", parts, language="en-GB"))
    assert (book.title, book.author, book.language) == ("Cranes", "Ada Grus", "en-GB")
    assert titles(book) == [title for title, _ in parts if title]
    assert book.chapters[0].text.split("\n\n") == [f"{parts[0][0]}.", *parts[0][1]]
    assert book.chapters[1].text.endswith("where the one before ended.")
    with Image.open(io.BytesIO(book.cover)) as picture:
        assert (picture.format, picture.size) == ("JPEG", (300, 400))


def test_an_epub_without_contents_has_a_chapter_a_file_named_by_its_heading(tmp_path: Path) -> None:
    parts = [*chapters(2), ("", ["No heading here."])]
    book = open_book(epub(tmp_path / "cranes.epub", parts, navigation=False, heading="h3", picture=b"no picture"))
    assert titles(book) == [parts[0][0], parts[1][0], "3"]
    assert book.cover == b""


def test_headings_part_a_file_that_holds_several_chapters(tmp_path: Path) -> None:
    parts = [("One", ["First.</p><h1>Two</h1><p>Second."]), ("Part two", []), ("Three", ["Third."])]
    book = open_book(epub(tmp_path / "cranes.epub", parts))
    assert titles(book) == ["One", "Two", "Part two. Three"]
    assert book.chapters[2].text == "Part two.\n\nThree.\n\nThird."


def test_markdown_is_parted_at_its_highest_headings(tmp_path: Path) -> None:
    book = open_book(written(tmp_path, "marsh.md", MARKDOWN))
    assert (book.title, book.author) == ("The Marsh", "Ada Grus")
    assert titles(book) == ["Arrival", "Departure"]
    assert book.chapters[0].text == "Arrival.\n\nThe cranes come down.\n\nA quarrel.\n\nThey dance."
    assert book.chapters[1].text == "Departure.\n\none wing. another wing.\n\nwhen, where. May, north."
    assert titles(open_book(tmp_path / "marsh.md", 2)) == ["Arrival", "A quarrel", "Departure"]


def test_a_single_heading_above_the_others_is_the_title_of_the_book(tmp_path: Path) -> None:
    book = open_book(written(tmp_path, "x.md", "# Cranes\n\n## One\n\nFirst.\n\n## Two\n\nSecond.\n"))
    assert (book.title, titles(book)) == ("Cranes", ["Cranes", "One", "Two"][1:])
    assert book.chapters[0].text == "Cranes.\n\nOne.\n\nFirst."


@pytest.mark.parametrize("name", ["pandoc.epub", "pandoc.odt", "libreoffice.docx"])
def test_what_other_programs_write_is_read_by_its_headings(name: str) -> None:
    book = open_book(DOCUMENTS / name)
    assert (book.title, book.author) == ("The Crane Report", "A. Person")
    assert titles(book)[-2:] == ["Introduction", "Closing"]
    assert "1. First item. 2. Second item. nested bullet." in book.chapters[-2].text
    assert "print(" not in book.chapters[-2].text


def test_a_text_is_parted_at_lines_that_name_a_chapter(tmp_path: Path) -> None:
    book = open_book(
        written(tmp_path, "old.txt", "A preface.\n\nCHAPTER I. The Marsh\n\nFirst.\n\nChapter 2\n\nSecond.\n")
    )
    assert book.title == "old"
    assert titles(book) == ["old", "CHAPTER I. The Marsh", "Chapter 2"]


def test_a_pdf_is_parted_at_its_bookmarks(tmp_path: Path) -> None:
    lines = (("Cranes 1", "They come"), ("down.", "Cranes 2"), ("They go.", "Cranes 3"))
    pages = (") Tj 0 -30 Td (".join(page) for page in lines)
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(text_pdf(*pages))))
    writer.add_metadata({"/Title": "Cranes", "/Author": "Ada Grus"})
    for title, page in (("Arrival", 0), ("Departure", 2)):
        writer.add_outline_item(title=title, page_number=page)
    writer.write(tmp_path / "cranes.pdf")
    book = open_book(tmp_path / "cranes.pdf")
    assert (book.title, book.author, titles(book)) == ("Cranes", "Ada Grus", ["Arrival", "Departure"])
    assert [chapter.text for chapter in book.chapters] == ["They come down.", "They go."]  # without the running heads
    with Image.open(io.BytesIO(book.cover)) as picture:
        assert picture.format == "JPEG"


def test_a_pdf_whose_pages_are_alike_is_read(tmp_path: Path) -> None:
    """Lines that all pages repeat are margins, unless there is nothing else."""
    file = tmp_path / "cranes.pdf"
    file.write_bytes(text_pdf(*(f"Chapter {i}\n\nCranes dance." for i in range(1, 10))))
    book = open_book(file)
    assert [chapter.title for chapter in book.chapters] == [f"Chapter {i}" for i in range(1, 10)]


@pytest.mark.parametrize(("name", "data", "message"), [
    ("none.epub", None, "is not a file"),
    ("x.epub", b"PK\x03\x04 broken", "damaged"),
    ("x.png", cover(), "not a book that can be read"),
    ("x.txt", b"  \n", "contains no text that can be spoken"),
    ("x.pdf", b"%PDF-1.4 broken", "damaged"),
])  # fmt: skip
def test_what_is_no_book(tmp_path: Path, name: str, data: bytes | None, message: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises((BadRequest, UnreadableFile), match=message):
        open_book(tmp_path / name)


def test_a_picture_is_made_a_cover() -> None:
    with Image.open(io.BytesIO(as_cover(cover("red")))) as picture:
        assert picture.format == "JPEG"
    with pytest.raises(UnreadableFile):
        as_cover(b"no picture")
