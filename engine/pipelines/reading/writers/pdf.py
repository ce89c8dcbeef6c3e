"""Searchable PDF: the page image with invisible text over it, each word at its position.

The text is set in a font with one empty glyph, half as wide as high, and each word is stretched to its box. Character codes
are assigned in order of first use; a ToUnicode map translates them back, so that text of any script can be copied.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

from engine.pipelines.reading.results import Box, Document, Element, Page, PlacedWord

if TYPE_CHECKING:
    from PIL.Image import Image

PageImages: TypeAlias = "Callable[[Page], Image]"  # the pixels of a page, in the coordinates of its boxes

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
