"""Output formats: plain text, Markdown, HTML, JSON, CSV and searchable PDF; the two of Office are in `office.py`.

`write_document` turns a `Document` into the bytes of one or more files.
"""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args
from urllib.parse import quote

from engine.errors import BadRequest, ErrorText
from engine.pipelines.reading.ink import cut
from engine.pipelines.reading.office import word_document, workbook_of
from engine.pipelines.reading.results import (
    MARGINAL,
    Box,
    Document,
    Element,
    Page,
    PlacedWord,
    Table,
    list_items,
    page_to_json,
    rejoined,
    without_bullet,
)  # fmt: skip

if TYPE_CHECKING:
    from PIL.Image import Image


Format: TypeAlias = Literal["md", "txt", "json", "csv", "xlsx", "html", "docx", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
BINARY: frozenset[Format] = frozenset({"xlsx", "docx", "pdf"})  # not printable on a terminal
BY_PAGE: frozenset[Format] = frozenset({"md", "txt"})  # pages can be printed one by one
KEEPS_FIGURES: frozenset[Format] = frozenset({"md", "html"})


@dataclass(frozen=True)
class ExportOptions:
    margins: bool = False  # include headers, footers and page numbers
    rejoin: bool = False  # one line per paragraph, with words hyphenated at line ends joined


def format_of(name: str) -> Format:
    """The format with this name or file extension."""
    known: dict[str, Format] = {"markdown": "md", "text": "txt", "htm": "html", **{f: f for f in FORMATS}}
    found = known.get(name.lower().removeprefix("."))
    if found is None:
        raise BadRequest(f"There is no format {name or '(none)'}. Choose {', '.join(FORMATS)}.", "format")
    return found


def write_document(document: Document, kind: Format, style: ExportOptions, images: PageImages) -> list[bytes]:
    """The document as one file. CSV makes one file per table, so it may make several or none."""
    if kind == "csv":
        return [_table_csv(table) for table in document.tables]
    if kind == "xlsx":
        return [workbook_of(document.tables)]
    if kind == "pdf":
        if any(not page.width for page in document.pages if page.error is None):
            raise BadRequest(
                ErrorText("Only PDFs and images become a searchable PDF. Choose another format."), "format"
            )
        return [searchable_pdf(document, images)]
    if kind == "docx":
        return [_word(document, style, images)]
    if kind == "html":
        return [_document_html(document, style).encode()]
    if kind == "json":
        return [document_json(document).encode()]
    return [page_text(document.pages, kind, style).encode()]


def page_text(pages: tuple[Page, ...], kind: Format, style: ExportOptions) -> str:
    """Pages as Markdown or plain text, the formats in which a page is complete by itself."""
    write = _page_markdown if kind == "md" else _page_plain
    return "\n".join(text for page in pages if (text := write(page, style)))


# -- what all text formats share


def _visible_elements(page: Page, style: ExportOptions) -> list[Element]:
    return [
        element for element in sorted(page.elements, key=lambda element: element.order) if _is_visible(element, style)
    ]


def _is_visible(element: Element, style: ExportOptions) -> bool:
    has_content = bool(element.text) or element.figure is not None or element.kind == "figure"
    return has_content and (style.margins or element.kind not in MARGINAL)


def _prose(element: Element, style: ExportOptions) -> str:
    """The text of anything but tables, formulas and code."""
    if style.rejoin or element.kind == "heading":
        return rejoined(element.text)
    return "\n".join(line.strip() for line in element.text.splitlines() if line.strip())


# -- plain text: an empty line between paragraphs, tabs between table cells


def _page_plain(page: Page, style: ExportOptions) -> str:
    blocks = [text for element in _visible_elements(page, style) if (text := element_text(element, style))]
    return "\n\n".join(blocks) + "\n" if blocks else ""


def element_text(element: Element, style: ExportOptions) -> str:
    """An element as plain text; empty for an element that the options hide."""
    if not _is_visible(element, style):
        return ""
    if element.table is not None:
        return element.table.plain()
    if element.kind == "list":
        return "\n".join(rejoined(item) if style.rejoin else item for item in list_items(element.text))
    if element.kind in ("code", "formula"):
        return element.text
    return _prose(element, style)


# -- Markdown: pipe tables (HTML where cells span), LaTeX between `$$`, links to saved figures

_MARKDOWN_SYNTAX = re.compile(r"^(\s*)(#{1,6}\s|>|```|~~~|[-+*]\s|={3,}\s*$|-{3,}\s*$)")
_NUMBERED = re.compile(r"^(\d{1,9})([.)]\s)")


def _page_markdown(page: Page, style: ExportOptions) -> str:
    blocks = []
    if page.error is not None:
        blocks.append(f"<!-- page {page.number}: {_comment(page.error)} -->")
    for element in _visible_elements(page, style):
        if element.doubt is not None:
            blocks.append(f"<!-- doubtful: {_comment(element.doubt)} -->")
        blocks.append(_markdown_block(element, style))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _markdown_block(element: Element, style: ExportOptions) -> str:
    link = f"![{element.kind}]({element.figure.replace(' ', '%20')})" if element.figure else f"[{element.kind}]"
    if element.kind == "figure":
        return link
    if element.table is not None:
        text = table_html(element.table) if element.table.spans else _pipe_table(element.table)
    else:
        text = _markdown_text(element, style)
    return f"{link}\n\n{text}" if element.figure else text


def _markdown_text(element: Element, style: ExportOptions) -> str:
    if element.kind == "heading":
        return f"{'#' * min(max(element.level, 1), 6)} {_prose(element, style)}"
    if element.kind == "formula":
        return f"$$\n{element.text}\n$$"
    if element.kind == "code":
        fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall(r"`+", element.text)), default=0))
        return f"{fence}\n{element.text}\n{fence}"
    if element.kind == "list":
        return "\n".join(_markdown_item(item, style) for item in list_items(element.text))
    if element.kind == "caption":
        return f"*{_escaped(rejoined(element.text)).replace('*', chr(92) + '*')}*"
    if element.kind in ("footnote", "aside", "seal"):
        return "\n".join(f"> {line}" for line in _prose(element, style).splitlines())
    return _escaped(_prose(element, style))


def _markdown_item(item: str, style: ExportOptions) -> str:
    text = without_bullet(item)
    lines = (item if text is None else text).splitlines()
    whole = [rejoined("\n".join(lines))] if style.rejoin else lines
    return ("" if text is None else "- ") + "\n  ".join(whole)


def _escaped(text: str) -> str:
    """Escape what would turn a line of prose into a heading, a quotation or a list."""
    lines = []
    for line in text.splitlines():
        line = _NUMBERED.sub(r"\1\\\2", line)
        found = _MARKDOWN_SYNTAX.match(line)
        lines.append(f"{found[1]}\\{line[len(found[1]) :]}" if found else line)
    return "\n".join(lines)


def _pipe_table(table: Table) -> str:
    rows = [["<br>".join(cell.replace("\\", "\\\\").replace("|", "\\|").splitlines()) for cell in row]
            for row in table.grid()]  # fmt: skip
    return "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], ["---"] * table.columns, *rows[1:]])


def _comment(text: str) -> str:
    return text.replace("--", "- -")


# -- HTML: one page without scripts; recognized text is escaped, so that a document cannot inject any

_HEAD = """<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ max-width: 72ch; margin: 2em auto; padding: 0 1em; font: 1em/1.45 system-ui, sans-serif; color: #18181b; }}
section + section {{ border-top: 1px solid #e4e4e7; margin-top: 2em; }}
table {{ border-collapse: collapse; }}
th, td {{ border: 1px solid #a1a1aa; padding: .2em .5em; text-align: left; vertical-align: top; }}
img {{ max-width: 100%; }}
pre, .formula {{ font-family: ui-monospace, monospace; white-space: pre-wrap; }}
.doubtful {{ border-left: 3px solid #c23b22; padding-left: .8em; }}
</style>
</head>
<body>
"""
_TAGS = {"caption": "figcaption", "code": "pre", "header": "header", "footer": "footer", "page_number": "footer"}


def _document_html(document: Document, style: ExportOptions) -> str:
    sections = "".join(_section(page, style) for page in document.pages)
    return f"{_HEAD.format(title=escape(document.name))}{sections}</body>\n</html>\n"


def _section(page: Page, style: ExportOptions) -> str:
    error = f'<p class="doubtful">{escape(page.error)}</p>\n' if page.error is not None else ""
    blocks = "".join(_html_block(element, style) + "\n" for element in _visible_elements(page, style))
    return f'<section id="page-{page.number}">\n{error}{blocks}</section>\n'


def _html_block(element: Element, style: ExportOptions) -> str:
    block = _html_figure(element) + _html_text(element, style)
    if element.doubt is None:
        return block
    return f'<div class="doubtful" title="{escape(element.doubt)}">{block}</div>'


def _html_figure(element: Element) -> str:
    if element.figure is None:
        return "<p>[figure]</p>" if element.kind == "figure" else ""
    return f'<p><img src="{escape(quote(element.figure))}" alt="{element.kind}"></p>'


def _html_text(element: Element, style: ExportOptions) -> str:
    if element.kind == "figure":
        return ""
    if element.table is not None:
        return table_html(element.table)
    if element.kind == "heading":
        level = min(max(element.level, 1), 6)
        return f"<h{level}>{escape(_prose(element, style))}</h{level}>"
    if element.kind == "list":
        return _html_list(element, style)
    if element.kind == "formula":
        return f'<p class="formula">\\[{escape(element.text)}\\]</p>'
    if element.kind == "code":
        return f"<pre>{escape(element.text)}</pre>"
    if element.kind in ("footnote", "aside", "seal"):
        return f"<aside>{_html_lines(_prose(element, style))}</aside>"
    tag = _TAGS.get(element.kind, "p")
    return f"<{tag}>{_html_lines(_prose(element, style))}</{tag}>"


def _html_list(element: Element, style: ExportOptions) -> str:
    found = list_items(element.text)
    bullets = [without_bullet(item) for item in found]
    texts = [item if bullet is None else bullet for item, bullet in zip(found, bullets)]
    rows = "".join(f"<li>{_html_lines(rejoined(text) if style.rejoin else text)}</li>" for text in texts)
    # numbered items keep the numbers printed on the page
    return f"<ul>{rows}</ul>" if bullets[0] is not None else f'<ul style="list-style: none">{rows}</ul>'


def table_html(table: Table) -> str:
    rows: list[list[str]] = [[] for _ in range(table.rows)]
    for cell in table.cells:
        tag = "th" if cell.heading else "td"
        down = f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
        across = f' colspan="{cell.columns}"' if cell.columns > 1 else ""
        rows[cell.row].append(f"<{tag}{down}{across}>{_html_lines(cell.text)}</{tag}>")
    return "<table>\n" + "".join(f"<tr>{''.join(row)}</tr>\n" for row in rows) + "</table>"


def _html_lines(text: str) -> str:
    return "<br>".join(escape(line) for line in text.splitlines())


# -- Word


def _word(document: Document, style: ExportOptions, images: PageImages) -> bytes:
    return word_document(
        document,
        lambda page: _visible_elements(page, style),
        lambda element: _prose(element, style),
        lambda element: [rejoined(item) if style.rejoin else item for item in list_items(element.text)],
        lambda page, element: cut(images(page), element.box),
    )


# -- JSON: everything that is known of a document; docs/reading.md describes the fields

_NUMBERS = re.compile(r"\[\n([-\d.,\s]+)\]")


def document_json(document: Document, indent: int | None = 1) -> str:
    fields: dict[str, Any] = {"document": document.name, "pages": [page_to_json(page) for page in document.pages]}
    if document.error is not None:
        fields["error"] = document.error
    text = json.dumps(fields, ensure_ascii=False, indent=indent)
    # boxes on one line; no string holds a line break, so only lists of numbers match
    return _NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


# -- CSV (RFC 4180): the text of a spanning cell is in its first position


def _table_csv(table: Table) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out).writerows(table.grid())
    return out.getvalue().encode()


PageImages: TypeAlias = "Callable[[Page], Image]"  # the pixels of a page, in the coordinates of its boxes

# -- searchable PDF: the page image with invisible text over it, set in a font with one empty glyph, half as wide as high, each
# word stretched to its box. Character codes are assigned in order of first use; a ToUnicode map translates them back

_POINTS = 72.0  # per inch
_DPI = 200.0  # for pages whose size on paper is unknown
_QUALITY = 80  # JPEG
_MOST_CODES = 0xFFFE
_BLANK = "[0 0 595 842]"  # A4 in points
_DESCENT = 0.2  # the part of a word's height below its baseline


def searchable_pdf(document: Document, images: PageImages) -> bytes:
    """A page that could not be read becomes a blank page, so that page numbers stay right."""
    file = _File()
    codes: dict[str, int] = {}
    root, font = file.reserve(), file.reserve()
    pages = [_page(file, page, images, root, font, codes) for page in document.pages]
    kids = " ".join(f"{page} 0 R" for page in pages)
    file.fill(root, f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    _add_font(file, font, codes)
    catalog = file.add(f"<< /Type /Catalog /Pages {root} 0 R >>".encode())
    return file.end(catalog)


def _page(file: _File, page: Page, images: PageImages, root: int, font: int, codes: dict[str, int]) -> int:
    if not page.width or not page.height:
        return file.add(f"<< /Type /Page /Parent {root} 0 R /MediaBox {_BLANK} /Resources << >> >>".encode())
    scale = _POINTS / (page.dots or _DPI)
    width, height = page.width * scale, page.height * scale
    image = images(page)
    picture = file.add_stream(
        _jpeg(image),
        f"/Type /XObject /Subtype /Image /Width {image.width} /Height {image.height} /ColorSpace /DeviceRGB "
        "/BitsPerComponent 8 /Filter /DCTDecode",
    )
    drawn = [f"q {width:.2f} 0 0 {height:.2f} 0 0 cm /I Do Q", "BT 3 Tr"]
    drawn += [_drawn(word, scale, height, codes) for word in _words(page.elements)]
    content = file.add_packed("\n".join([*drawn, "ET"]).encode("ascii"))
    return file.add(
        f"<< /Type /Page /Parent {root} 0 R /MediaBox [0 0 {width:.2f} {height:.2f}] /Contents {content} 0 R "
        f"/Resources << /XObject << /I {picture} 0 R >> /Font << /F {font} 0 R >> >> >>".encode()
    )


def _words(elements: Iterable[Element]) -> Iterable[PlacedWord]:
    for element in sorted(elements, key=lambda element: element.order):
        for line in element.lines or _unplaced(element.text, element.box):
            yield from line


def _unplaced(text: str, box: Box) -> tuple[tuple[PlacedWord, ...], ...]:
    """The text of a region without known lines (a formula), spread evenly over its box."""
    written = [line for line in text.splitlines() if line.strip()]
    tall = box.height / max(1, len(written))
    return tuple(
        (PlacedWord(line.strip(), Box(box.left, box.top + n * tall, box.right, box.top + (n + 1) * tall)),)
        for n, line in enumerate(written)
    )


def _drawn(word: PlacedWord, scale: float, height: float, codes: dict[str, int]) -> str:
    signs = [sign for sign in word.text if sign in codes or len(codes) < _MOST_CODES]
    for sign in [*signs, " "]:
        codes.setdefault(sign, len(codes) + 1)
    box = word.box.scaled(scale)
    size = max(box.height, 0.5)
    natural = len(signs) * size * GLYPH_WIDTH
    stretch = 100 * box.width / natural if natural else 100.0
    baseline = height - box.bottom + _DESCENT * size
    # a space after each word: some PDF readers separate words by spaces alone, or drop single characters
    text = "".join(f"{codes[sign]:04X}" for sign in [*signs, " "])
    return f"/F {size:.2f} Tf {stretch:.2f} Tz 1 0 0 1 {box.left:.2f} {baseline:.2f} Tm <{text}> Tj"


def _jpeg(image: Image) -> bytes:
    out = io.BytesIO()
    image.convert("RGB").save(out, "JPEG", quality=_QUALITY)
    return out.getvalue()


def _add_font(file: _File, font: int, codes: dict[str, int]) -> None:
    unicode = file.add_packed(_to_unicode(codes))
    # every code maps to glyph 1, the empty one
    glyphs = file.add_packed(b"\x00\x01" * (len(codes) + 1))
    data = file.add_packed(FONT, f"/Length1 {len(FONT)}")
    described = file.add(
        f"<< /Type /FontDescriptor /FontName /Grus-Glyphless /Flags 5 /FontBBox [0 -200 {GLYPH_WIDTH * 1000:.0f} 800] "
        f"/ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 800 /StemV 80 /FontFile2 {data} 0 R >>".encode()
    )
    cid = file.add(
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Grus-Glyphless "
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
        f"/FontDescriptor {described} 0 R /DW {GLYPH_WIDTH * 1000:.0f} /CIDToGIDMap {glyphs} 0 R >>".encode()
    )
    file.fill(
        font,
        "<< /Type /Font /Subtype /Type0 /BaseFont /Grus-Glyphless /Encoding /Identity-H "
        f"/DescendantFonts [{cid} 0 R] /ToUnicode {unicode} 0 R >>".encode(),
    )


def _to_unicode(codes: dict[str, int]) -> bytes:
    pairs = [f"<{code:04X}> <{sign.encode('utf-16-be', 'replace').hex().upper()}>" for sign, code in codes.items()]
    groups = [pairs[at : at + 100] for at in range(0, len(pairs), 100)]  # the limit of one bfchar section
    tables = "\n".join(f"{len(group)} beginbfchar\n" + "\n".join(group) + "\nendbfchar" for group in groups)
    return (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
        "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
        f"1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n{tables}\n"
        "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
    ).encode("ascii")


class _File:
    """A PDF file under construction: numbered objects, then the cross-reference table."""

    def __init__(self) -> None:
        self._out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
        self._starts: list[int] = []

    def reserve(self) -> int:
        """The number of an object that is filled in later."""
        self._starts.append(0)
        return len(self._starts)

    def fill(self, number: int, body: bytes) -> None:
        self._starts[number - 1] = len(self._out)
        self._out += b"%d 0 obj\n%b\nendobj\n" % (number, body)

    def add(self, body: bytes) -> int:
        number = self.reserve()
        self.fill(number, body)
        return number

    def add_stream(self, data: bytes, entries: str) -> int:
        head = f"<< {entries} /Length {len(data)} >>\nstream\n".encode()
        return self.add(head + data + b"\nendstream")

    def add_packed(self, data: bytes, entries: str = "") -> int:
        return self.add_stream(zlib.compress(data), f"{entries} /Filter /FlateDecode")

    def end(self, catalog: int) -> bytes:
        table = len(self._out)
        rows = "".join(f"{start:010d} 00000 n \n" for start in self._starts)
        count = len(self._starts) + 1
        self._out += f"xref\n0 {count}\n0000000000 65535 f \n{rows}".encode()
        self._out += f"trailer\n<< /Size {count} /Root {catalog} 0 R >>\nstartxref\n{table}\n%%EOF\n".encode()
        return bytes(self._out)


# -- the font: TrueType with two empty glyphs

_UNITS = 1000  # per em
GLYPH_WIDTH = 0.5  # em


def _font() -> bytes:
    width = int(_UNITS * GLYPH_WIDTH)
    ascent, descent = 800, -200
    tables = {
        # one mapping, for the space: some readers reject a font without any
        b"cmap": struct.pack(">HHHHI", 0, 1, 3, 1, 12)
        + struct.pack(">7H", 4, 32, 0, 4, 4, 1, 0)
        + struct.pack(">HHHHHhhHH", 0x20, 0xFFFF, 0, 0x20, 0xFFFF, 1 - 0x20, 1, 0, 0),
        b"glyf": b"\0\0",
        b"head": struct.pack(
            ">IIIIHHQQhhhhHHhhh",
            0x10000, 0x10000, 0, 0x5F0F3CF5, 3, _UNITS, 0, 0, 0, descent, width, ascent, 0, 8, 2, 0, 0,
        ),
        b"hhea": struct.pack(">IhhhHhhhhhhhhhhhH", 0x10000, ascent, descent, 0, width, 0, 0, width, 1, 0, 0, 0, 0, 0, 0,
                             0, 2),
        b"hmtx": struct.pack(">HhHh", width, 0, width, 0),
        b"loca": struct.pack(">HHH", 0, 0, 0),
        b"maxp": struct.pack(">IHHHHHHHHHHHHHH", 0x10000, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0),
        b"name": struct.pack(">HHH", 0, 0, 6),
        b"post": struct.pack(">IIhhIIIII", 0x30000, 0, -100, 50, 1, 0, 0, 0, 0),
    }  # fmt: skip
    head = struct.pack(">IHHHH", 0x10000, len(tables), 128, 3, len(tables) * 16 - 128)
    at = len(head) + 16 * len(tables)
    directory, body = b"", b""
    for name, data in sorted(tables.items()):
        directory += name + struct.pack(">III", _sum(data), at + len(body), len(data))
        body += data + b"\0" * (-len(data) % 4)
    return head + directory + body


def _sum(data: bytes) -> int:
    padded = data + b"\0" * (-len(data) % 4)
    return sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF


FONT = _font()
