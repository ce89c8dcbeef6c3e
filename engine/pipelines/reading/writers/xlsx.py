"""A workbook with one sheet a table: merged cells, numbers as numbers. The few parts of the format that this takes.

Text is stored as text: what begins with `=` on a page is no formula in the workbook.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape

from engine.pipelines.reading.tables import Cell, Table

_SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

# A number that looks the same when it is written again: 007 and 1.50 are kept as they stand
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{0,9}[1-9])?")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")  # no XML holds these
_MOST_ROWS, _MOST_COLUMNS, _MOST_SIGNS = 1_048_576, 16_384, 32_767  # of a sheet, and of a cell


def workbook_of(tables: Sequence[Table]) -> bytes:
    """Without tables one empty sheet, because a workbook must have one."""
    sheets = [_sheet(table) for table in tables] or [_sheet(Table(0, 0, ()))]
    numbers = range(1, len(sheets) + 1)
    parts = {
        "[Content_Types].xml": _content_types(numbers),
        "_rels/.rels": _relations([("officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": _workbook(numbers),
        "xl/_rels/workbook.xml.rels": _relations([("worksheet", f"worksheets/sheet{n}.xml") for n in numbers]),
        **{f"xl/worksheets/sheet{n}.xml": sheet for n, sheet in zip(numbers, sheets)},
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            # a fixed date: the same tables give the same bytes
            archive.writestr(zipfile.ZipInfo(name), _XML + text, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _content_types(numbers: range) -> str:
    kinds = [("/xl/workbook.xml", "sheet.main"), *((f"/xl/worksheets/sheet{n}.xml", "worksheet") for n in numbers)]
    overrides = "".join(f'<Override PartName="{name}" ContentType="{_SHEET_TYPE}.{kind}+xml"/>' for name, kind in kinds)
    relations = "application/vnd.openxmlformats-package.relationships+xml"
    return (
        f'<Types xmlns="{_TYPES}"><Default Extension="rels" ContentType="{relations}"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    rows = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_RELATIONS}">{rows}</Relationships>'


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
