"""Books: a document as chapters of plain text, with title, author, language and cover, so that it can be spoken.

An epub has a chapter for each file of its spine that begins one; in it, and in documents of other kinds, headings part chapters.
A PDF's bookmarks do, or lines such as "Chapter 3". Page numbers, running heads, footnotes, code and formulas are left out.
"""

from __future__ import annotations

import io
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import BadRequest, ErrorText, GrusError, UnreadableFile
from engine.media.documents import ScanDocument, bytes_of, open_document, pdf_book_facts, pdf_page_texts
from engine.pipelines.reading.formats.detection import HEAD, kind_of
from engine.pipelines.reading.formats.documents import open_text_document
from engine.pipelines.reading.formats.epub import Epub
from engine.pipelines.reading.formats.packages import Package
from engine.pipelines.reading.formats.plain import decoded
from engine.pipelines.reading.results import MARGINAL, Box, Element, list_items, rejoined, without_bullet

ENDINGS = (
    *(".epub", ".pdf", ".docx", ".md", ".markdown", ".txt"),
    *(".odt", ".rtf", ".fb2", ".html", ".htm"),
)
LONGEST = 10_000_000  # characters of a book
_COVER = 1600  # pixels of a cover's longer side
_UNSPOKEN = MARGINAL | {"code", "formula", "footnote", "chart", "seal", "figure"}
_SENTENCE_END = tuple(".!?…:;。！？；।॥۔؟")
_FRONT = re.compile(r"\A---\r?\n(.{0,20000}?)\r?\n(?:---|\.\.\.)\r?\n", re.DOTALL)
_CHAPTER_LINE = re.compile(
    r"(?:chapter|kapitel|chapitre|capítulo|capitolo|hoofdstuk|prologue|epilogue|prolog|epilog)\b[\w \t.:,'’–—-]{0,80}",
    re.IGNORECASE,
)
_NOWHERE = Box(0, 0, 0, 0)


@dataclass(frozen=True)
class Chapter:
    title: str
    text: str  # paragraphs, with an empty line between them

    @property
    def words(self) -> int:
        return len(self.text.split())


@dataclass(frozen=True)
class Book:
    title: str
    author: str
    language: str  # a code; empty where the file names none
    chapters: tuple[Chapter, ...]
    cover: bytes = b""  # a JPEG file; empty for none


@dataclass(frozen=True)
class _Section:
    """A part of a document. `begins`: a chapter begins with it, whatever its headings are; `title`: of that chapter."""

    elements: Sequence[Element]
    title: str = ""
    begins: bool = False


def open_book(path: str | Path, heading_level: int | None = None) -> Book:
    """`heading_level`: headings down to this level begin a chapter; without it, the highest level that there is more than one
    heading of. Raises BadRequest for a file that is no book, and UnreadableFile for a damaged one."""
    file = Path(path)
    if not file.is_file():
        raise BadRequest(ErrorText("{name} is not a file.", name=str(path)), "book")
    if heading_level is not None and not 1 <= heading_level <= 6:
        raise BadRequest("Headings have levels from 1 to 6.", "heading_level")
    data = bytes_of(file)
    if data[:1024].lstrip().startswith(b"%PDF-"):
        book = _pdf(file, data, heading_level)
    elif kind_of(data[:HEAD], file.suffix.lower()) == "package" and (epub := _epub(data, heading_level)) is not None:
        book = epub
    else:
        book = _document(file, data, heading_level)
    if not book.chapters:
        raise BadRequest(ErrorText("{name} contains no text that can be spoken.", name=file.name), "book")
    if (length := sum(len(chapter.text) for chapter in book.chapters)) > LONGEST:
        raise BadRequest(
            ErrorText("The text has {length} characters; the most is {most}.", length=length, most=LONGEST), "book"
        )
    return book if book.title else Book(file.stem, book.author, book.language, book.chapters, book.cover)


def as_cover(data: bytes) -> bytes:
    """A picture's file as a JPEG of a cover's size. Raises UnreadableFile."""
    return _jpeg(ScanDocument("cover", data).page(1).image)


# -- the kinds of books


def _epub(data: bytes, level: int | None) -> Book | None:
    """None for a package of another kind."""
    package = Package(data)
    try:
        if "META-INF/container.xml" not in package.names:
            return None
        epub = Epub(package)
        sections = [
            _Section(page.elements, epub.titles.get(name, ""), name in epub.titles or not epub.titles)
            for name, page in epub.files()
            if name != epub.contents_file
        ]
        title = epub.fact("title")
        chapters = _chapters(sections, level, title)
        return Book(title, epub.fact("creator"), epub.fact("language"), chapters, _cover(epub.cover()))
    finally:
        package.close()


def _document(file: Path, data: bytes, level: int | None) -> Book:
    title = author = language = ""
    ending = file.suffix.lower()
    if ending in (".md", ".markdown"):
        text = decoded(data)
        if (front := _FRONT.match(text)) is not None:
            named: dict[str, str] = dict(
                re.findall(r"(?m)^(title|author|language|lang):[ \t]*[\"']?(.*?)[\"']?[ \t]*$", front[1])
            )
            title, author = named.get("title", ""), named.get("author", "")
            language = named.get("language", named.get("lang", ""))
            data = text[front.end() :].encode()
    elif kind_of(data[:HEAD], ending) == "package":
        title, author, language = _package_facts(data)
    document = open_text_document(data, ending)
    if document is None:
        kinds = ", ".join(one[1:] for one in ENDINGS)
        raise BadRequest(
            ErrorText("{name} is not a book that can be read. Choose one of: {kinds}.", name=file.name, kinds=kinds),
            "book",
        )
    elements = [element for page in document.pages for element in page.elements]
    if ending == ".txt":
        elements = _with_chapter_lines(elements)
    first = next((element for element in elements if element.kind == "heading"), None)
    levels = Counter(element.level for element in elements if element.kind == "heading")
    if not title and first is not None and levels[first.level] == 1 and first.level == min(levels):
        title = rejoined(first.text)  # the only heading above the others
    title = title or file.stem
    return Book(title, author, language, _chapters([_Section(elements)], level, title))


def _package_facts(data: bytes) -> tuple[str, str, str]:
    """Title, author and language of an Office file."""
    package = Package(data)
    try:
        name = next((name for name in ("docProps/core.xml", "meta.xml") if name in package.names), None)
        facts: dict[str, str] = {}
        for element in package.xml(name).iter() if name is not None else ():
            facts.setdefault(element.tag, " ".join("".join(element.itertext()).split()))
        author = facts.get("creator") or facts.get("initial-creator", "")
        return facts.get("title", ""), author, facts.get("language", "")
    except UnreadableFile:
        return "", "", ""
    finally:
        package.close()


def _pdf(file: Path, data: bytes, level: int | None) -> Book:
    facts = pdf_book_facts(data)
    pages = _without_margins([page.replace("\r\n", "\n").strip() for page in pdf_page_texts(data)])
    levels = Counter(mark.level for mark in facts.bookmarks)
    deepest = level - 1 if level is not None else min((one for one, count in levels.items() if count > 1), default=0)
    begins: dict[int, str] = {}  # the title of the chapter that begins on each page
    for mark in facts.bookmarks:
        if mark.level <= deepest and mark.page < len(pages):
            begins.setdefault(mark.page, mark.title)
    if len(begins) > 1:
        bounds = [*sorted({0, *begins}), len(pages)]
        sections = [
            _Section(_paragraphs(pages[begin:end]), begins.get(begin, ""), True)
            for begin, end in itertools.pairwise(bounds)
        ]
    else:
        sections = [_Section(_with_chapter_lines(_paragraphs(pages)))]
    if not any(section.elements for section in sections):
        raise BadRequest(ErrorText("{name} contains no text. Open it in Read first.", name=file.name), "book")
    try:
        cover = _jpeg(open_document(data).page(1).image)
    except GrusError:  # a first page that cannot be drawn
        cover = b""
    title = facts.title or file.stem
    return Book(title, facts.author, "", _chapters(sections, level, title), cover)


def _paragraphs(pages: Sequence[str]) -> list[Element]:
    """Lines of a page are no paragraphs, and a paragraph may go on over the end of a page."""
    text = ""
    for page in filter(None, pages):
        going_on = bool(text) and not text.rstrip("\"'”’»)").endswith(_SENTENCE_END)
        text += ("\n" if going_on else "\n\n" if text else "") + page
    text = re.sub(r"(\w)[\ufffe\xad]\n(\w)", r"\1\2", text)
    paragraphs = re.split(r"\n\s*\n", re.sub(rf"(?im)^[ \t]*({_CHAPTER_LINE.pattern})[ \t]*$", r"\n\n\1\n\n", text))
    return [Element("text", _NOWHERE, 0, one) for one in paragraphs if one.strip()]


def _without_margins(pages: list[str]) -> list[str]:
    """Without page numbers, and without first and last lines that pages repeat, whatever their number. As they are, if that is all there is."""
    split = [page.splitlines() for page in pages]
    edges = Counter(key for lines in split for key in {_edge(line) for line in (lines[:1] + lines[-1:])})

    def is_margin(line: str) -> bool:
        key = _edge(line)
        return not key or edges[key] > max(2, len(pages) // 4)

    for lines in split:
        while lines and is_margin(lines[0]):
            del lines[0]
        while lines and is_margin(lines[-1]):
            del lines[-1]
    bare = ["\n".join(lines) for lines in split]
    return bare if any(bare) else pages


def _edge(line: str) -> str:
    return re.sub(r"[\W\d_]+", " ", line).strip()


def _with_chapter_lines(elements: list[Element]) -> list[Element]:
    """Paragraphs such as "Chapter 3" as headings, where a document has none."""
    if any(element.kind == "heading" for element in elements):
        return elements
    return [
        Element("heading", one.box, one.order, one.text, level=1)
        if one.kind == "text" and _CHAPTER_LINE.fullmatch(one.text.strip())
        else one
        for one in elements
    ]


# -- chapters


def _chapters(sections: Iterable[_Section], level: int | None, book: str) -> tuple[Chapter, ...]:
    """`book`: its title, which is no chapter's where a chapter's own follows."""
    parts = list(sections)
    levels = Counter(e.level for part in parts for e in part.elements if e.kind == "heading")
    lowest = level or min((one for one, count in levels.items() if count > 1), default=min(levels, default=1))
    made: list[tuple[list[str], list[str], bool]] = []  # of each: titles, paragraphs, whether it is more than headings

    def begin(title: str) -> None:
        if made and not made[-1][2]:  # the headings before it belong to it
            made[-1][0].append(title)
        else:
            made.append(([title], [], False))

    for part in parts:
        fresh = part.begins
        if fresh:
            begin(part.title)
        for element in part.elements:
            text = spoken_text(element)
            if not text:
                continue
            if element.kind == "heading":
                heading = rejoined(element.text)
                if fresh:
                    made[-1][0][-1] = made[-1][0][-1] or heading
                elif element.level <= lowest:
                    begin(heading)
            if not made:
                begin("")
            fresh = False
            made[-1][1].append(text)
            if element.kind != "heading":
                titles, paragraphs, _ = made[-1]
                made[-1] = (titles, paragraphs, True)
    chapters: list[Chapter] = []
    for titles, paragraphs, _ in made:
        named = [title for title in dict.fromkeys(titles) if title]
        own = [title for title in named if title != book] or named
        if paragraphs:
            title = ". ".join(own) or (book if not chapters else str(len(chapters) + 1))
            chapters.append(Chapter(title or "1", "\n\n".join(paragraphs)))
    return tuple(chapters)


def spoken_text(element: Element) -> str:
    """What is said of an element; empty for one that is not spoken."""
    if element.kind in _UNSPOKEN:
        return ""
    if element.table is not None:
        rows = (", ".join(filter(None, (" ".join(cell.split()) for cell in row))) for row in element.table.grid())
        return " ".join(_ended(row) for row in rows if row)
    if element.kind == "list":
        items = (rejoined(without_bullet(item) or item) for item in list_items(element.text))
        return " ".join(_ended(item) for item in items if item)
    text = rejoined(element.text)
    return _ended(text) if element.kind == "heading" and text else text


def _ended(text: str) -> str:
    return text if text.rstrip("\"'”’»)").endswith(_SENTENCE_END) else f"{text}."


def _cover(data: bytes) -> bytes:
    """A picture that cannot be read is no cover."""
    try:
        return as_cover(data) if data else b""
    except GrusError:
        return b""


def _jpeg(image: object) -> bytes:
    from PIL import Image

    assert isinstance(image, Image.Image)
    small = image.convert("RGB")
    small.thumbnail((_COVER, _COVER))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=88)
    return out.getvalue()
