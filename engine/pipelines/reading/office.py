"""Files of Office, as the few parts of these formats that they take: XLSX with one sheet a table, and DOCX."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from engine.pipelines.reading.results import Cell, Document, Element, Page, Table

if TYPE_CHECKING:
    from PIL.Image import Image

_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")  # no XML holds these


def _packed(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            # a fixed date: the same document gives the same bytes
            data = part if isinstance(part, bytes) else (_XML + part).encode()
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    rows = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_RELATIONS}">{rows}</Relationships>'


# -- XLSX: one sheet a table, merged cells, numbers as numbers; the few parts of the format that this takes. Text is stored
# as text: what begins with `=` on a page is no formula in the workbook

_SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"

# A number that looks the same when it is written again: 007 and 1.50 are kept as they stand
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{0,9}[1-9])?")
_MOST_ROWS, _MOST_COLUMNS, _MOST_SIGNS = 1_048_576, 16_384, 32_767  # of a sheet, and of a cell


def workbook_of(tables: Sequence[Table]) -> bytes:
    """Without tables one empty sheet, because a workbook must have one."""
    sheets = [_sheet(table) for table in tables] or [_sheet(Table(0, 0, ()))]
    numbers = range(1, len(sheets) + 1)
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": _content_types(numbers),
        "_rels/.rels": _relations([("officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": _workbook(numbers),
        "xl/_rels/workbook.xml.rels": _relations([("worksheet", f"worksheets/sheet{n}.xml") for n in numbers]),
        **{f"xl/worksheets/sheet{n}.xml": sheet for n, sheet in zip(numbers, sheets)},
    }
    return _packed(parts)


def _content_types(numbers: range) -> str:
    kinds = [("/xl/workbook.xml", "sheet.main"), *((f"/xl/worksheets/sheet{n}.xml", "worksheet") for n in numbers)]
    overrides = "".join(f'<Override PartName="{name}" ContentType="{_SHEET_TYPE}.{kind}+xml"/>' for name, kind in kinds)
    relations = "application/vnd.openxmlformats-package.relationships+xml"
    return (
        f'<Types xmlns="{_TYPES}"><Default Extension="rels" ContentType="{relations}"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )


def _workbook(numbers: range) -> str:
    sheets = "".join(f'<sheet name="Table {n}" sheetId="{n}" r:id="rId{n}"/>' for n in numbers)
    return f'<workbook xmlns="{_SPREADSHEET}" xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets></workbook>'


def _sheet(table: Table) -> str:
    cells = [cell for cell in table.cells if cell.row < _MOST_ROWS and cell.column < _MOST_COLUMNS]
    rows: dict[int, list[str]] = {}
    for cell in cells:
        if cell.text:
            rows.setdefault(cell.row, []).append(_cell(cell))
    lines = "".join(f'<row r="{row + 1}">{"".join(filled)}</row>' for row, filled in sorted(rows.items()))
    merged = [
        f'<mergeCell ref="{_name(cell.row, cell.column)}:'
        f'{_name(cell.row + cell.rows - 1, cell.column + cell.columns - 1)}"/>'
        for cell in cells
        if cell.rows > 1 or cell.columns > 1
    ]
    merges = f'<mergeCells count="{len(merged)}">{"".join(merged)}</mergeCells>' if merged else ""
    return f'<worksheet xmlns="{_SPREADSHEET}"><sheetData>{lines}</sheetData>{merges}</worksheet>'


def _cell(cell: Cell) -> str:
    where = _name(cell.row, cell.column)
    if _NUMBER.fullmatch(cell.text):
        return f'<c r="{where}"><v>{cell.text}</v></c>'
    text = escape(_FORBIDDEN.sub("", cell.text)[:_MOST_SIGNS])
    return f'<c r="{where}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _name(row: int, column: int) -> str:
    """(0, 0) -> A1, (9, 27) -> AB10"""
    letters = ""
    column += 1
    while column:
        column, digit = divmod(column - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return f"{letters}{row + 1}"


# -- DOCX: headings, paragraphs, lists, tables with merged cells and pictures; each page begins on a page of its own

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
_APPLICATION = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_UNIT = 9525  # of drawings, a pixel of 96 to the inch
_WIDEST, _HIGHEST = 600, 850  # pixels of a picture on the page
_BORDERS = "".join(
    f'<w:{side} w:val="single" w:sz="4" w:color="808080"/>'
    for side in ("top", "left", "bottom", "right", "insideH", "insideV")
)
PICTURES = frozenset({"figure", "chart", "seal"})

Items = Callable[[Element], Sequence[str]]  # of a list, as they are written
Prose = Callable[[Element], str]


def word_document(
    document: Document,
    visible: Callable[[Page], Iterable[Element]],
    prose: Prose,
    items: Items,
    picture: Callable[[Page, Element], Image],
) -> bytes:
    media: list[bytes] = []
    pages = []
    for page in document.pages:
        blocks = []
        for element in visible(page):
            if element.kind in PICTURES:
                blocks.append(_picture(picture(page, element), media))
            blocks.append(_block(element, prose, items))
        pages.append("".join(blocks))
    body = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'.join(pages)
    spaces = f'xmlns:w="{_WORD}" xmlns:r="{_OFFICE}" xmlns:a="{_DRAWING}/main" xmlns:pic="{_DRAWING}/picture"'
    places = f'xmlns:wp="{_DRAWING}/wordprocessingDrawing"'
    relations = [("styles", "styles.xml"), *(("image", f"media/{n}.png") for n in range(1, len(media) + 1))]
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}">'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="png" ContentType="image/png"/>'
        f'<Override PartName="/word/document.xml" ContentType="{_APPLICATION}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{_APPLICATION}.styles+xml"/></Types>',
        "_rels/.rels": _relations([("officeDocument", "word/document.xml")]),
        "word/document.xml": f"<w:document {spaces} {places}><w:body>{body}<w:sectPr/></w:body></w:document>",
        "word/styles.xml": _styles(),
        "word/_rels/document.xml.rels": _relations(relations),
        **{f"word/media/{n}.png": data for n, data in enumerate(media, 1)},
    }
    return _packed(parts)


def _styles() -> str:
    def style(name: str, shown: str, inside: str) -> str:
        return f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{shown}"/>{inside}</w:style>'

    headings = "".join(
        style(
            f"Heading{level}",
            f"heading {level}",
            f'<w:pPr><w:keepNext/><w:outlineLvl w:val="{level - 1}"/></w:pPr>'
            f'<w:rPr><w:b/><w:sz w:val="{max(22, 38 - 4 * level)}"/></w:rPr>',
        )
        for level in range(1, 7)
    )
    code = style("Code", "Code", '<w:rPr><w:rFonts w:ascii="Courier New" w:hAnsi="Courier New"/></w:rPr>')
    spacing = '<w:docDefaults><w:pPrDefault><w:pPr><w:spacing w:after="120"/></w:pPr></w:pPrDefault></w:docDefaults>'
    return f'<w:styles xmlns:w="{_WORD}">{spacing}{headings}{code}</w:styles>'


def _block(element: Element, prose: Prose, items: Items) -> str:
    if element.table is not None:
        return _table(element.table) + "<w:p/>"  # two tables without a paragraph between them would be one
    if element.kind == "figure" or not element.text:
        return ""
    if element.kind == "heading":
        return _paragraph(prose(element), f"Heading{min(max(element.level, 1), 6)}")
    if element.kind == "list":
        return "".join(_paragraph(item) for item in items(element))
    if element.kind in ("code", "formula"):
        return _paragraph(element.text, "Code")
    return _paragraph(prose(element))


def _paragraph(text: str, style: str = "") -> str:
    lines = _FORBIDDEN.sub("", text).splitlines() or [""]
    run = "<w:br/>".join(f'<w:t xml:space="preserve">{escape(line, quote=False)}</w:t>' for line in lines)
    return (
        f"<w:p>{f'<w:pPr><w:pStyle w:val={chr(34)}{style}{chr(34)}/></w:pPr>' if style else ''}<w:r>{run}</w:r></w:p>"
    )


def _table(table: Table) -> str:
    rows: list[list[tuple[int, str]]] = [[] for _ in range(table.rows)]
    for cell in table.cells:
        for down in range(cell.rows):
            wide = f'<w:gridSpan w:val="{cell.columns}"/>' if cell.columns > 1 else ""
            begins = f'<w:vMerge w:val="{"continue" if down else "restart"}"/>' if cell.rows > 1 else ""
            inside = f"<w:tc><w:tcPr>{wide}{begins}</w:tcPr>{_paragraph('' if down else cell.text)}</w:tc>"
            rows[cell.row + down].append((cell.column, inside))
    grid = "<w:gridCol/>" * table.columns
    lines = "".join(f"<w:tr>{''.join(inside for _, inside in sorted(row))}</w:tr>" for row in rows if row)
    return (
        f"<w:tbl><w:tblPr><w:tblBorders>{_BORDERS}</w:tblBorders></w:tblPr><w:tblGrid>{grid}</w:tblGrid>{lines}</w:tbl>"
    )


def _picture(image: Image, media: list[bytes]) -> str:
    out = io.BytesIO()
    image.save(out, "PNG")
    media.append(out.getvalue())
    number = len(media)
    scale = min(1.0, _WIDEST / image.width, _HIGHEST / image.height)
    size = f'cx="{round(image.width * scale) * _UNIT}" cy="{round(image.height * scale) * _UNIT}"'
    return (
        f'<w:p><w:r><w:drawing><wp:inline><wp:extent {size}/><wp:docPr id="{number}" name="Picture {number}"/>'
        f'<a:graphic><a:graphicData uri="{_DRAWING}/picture"><pic:pic>'
        f'<pic:nvPicPr><pic:cNvPr id="{number}" name="Picture {number}"/><pic:cNvPicPr/></pic:nvPicPr>'
        f'<pic:blipFill><a:blip r:embed="rId{number + 1}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>'
        f'<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext {size}/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr>'
        f"</pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
    )
