"""Workbooks (xlsx) and CSV: one page a sheet, its cells as a table. Formulas show the value that was saved with them."""

from __future__ import annotations

import csv
import datetime
import io
import re
from xml.etree.ElementTree import Element as XmlElement

from engine.pipelines.reading.formats.blocks import PageBuilder, shortened, table_of
from engine.pipelines.reading.formats.packages import LARGEST_PART, Package, damaged, xml_pieces
from engine.pipelines.reading.results import Page, Table, from_rows

MOST_VALUES = 100_000  # cells of a sheet that become a table
_DATES = frozenset([*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])  # built-in formats
_PERCENT = frozenset([9, 10])
_PLACE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_LITERAL = re.compile(r"\"[^\"]*\"|\\.|\[[^\]]*\]|_.")


def read_workbook(package: Package, main: str) -> tuple[Page, ...]:
    return _Workbook(package, main).pages()


class _Workbook:
    def __init__(self, package: Package, main: str) -> None:
        self._package = package
        self._relations = package.relations(main)
        self._root = package.xml(main)
        parts = {kind: name for kind, name in self._relations.values() if name in package.names}
        self._texts = self._shared(parts.get("sharedStrings"))
        self._formats = self._number_formats(parts.get("styles"))
        properties = self._root.find("workbookPr")
        self._since_1904 = properties is not None and properties.get("date1904") in ("1", "true")

    def pages(self) -> tuple[Page, ...]:
        out = PageBuilder("sheet")
        for sheet in self._root.iterfind("sheets/sheet"):
            kind, part = self._relations.get(sheet.get("r:id", ""), ("", ""))
            if kind == "worksheet" and part in self._package.names:
                name = sheet.get("name", "")
                out.begin_page(name)
                out.heading(name, 1)
                self._sheet(part, out)
                out.end_page()
        return out.pages()

    def _sheet(self, part: str, out: PageBuilder) -> None:
        data = self._package.read(part, LARGEST_PART)
        rows: list[list[str]] = []
        numbers: list[int] = []  # of the rows, as the sheet counts them
        cells = 0
        for row in xml_pieces(data, "row"):
            values = self._row(row)
            if not any(values):
                continue
            cells += len(values)
            if cells > MOST_VALUES:
                out.note(shortened(len(rows)))
                break
            number = row.get("r", "")
            numbers.append(int(number) if number.isdigit() and len(number) < 8 else len(rows) + 1)
            rows.append(values)
        spans = _spans(data, numbers)
        out.table(_merged(rows, spans) if spans else table_of(rows))

    def _row(self, row: XmlElement) -> list[str]:
        values: list[str] = []
        for cell in row.iterfind("c"):
            place = _PLACE.match(cell.get("r", ""))
            at = _column(place[1]) if place else len(values)
            if at > 16_384:
                raise damaged("column")
            values.extend([""] * (at - len(values)))
            values.append(self._value(cell))
        while values and not values[-1]:
            values.pop()
        return values

    def _value(self, cell: XmlElement) -> str:
        kind, text = cell.get("t", "n"), cell.findtext("v") or ""
        if kind == "s":
            return self._texts[int(text)] if text.isdigit() and int(text) < len(self._texts) else ""
        if kind == "inlineStr":
            return _rich(cell.find("is"))
        if kind == "b":
            return "TRUE" if text == "1" else "FALSE"
        if kind != "n" or not text:
            return text
        style = cell.get("s", "0")
        form = self._formats[int(style)] if style.isdigit() and int(style) < len(self._formats) else ""
        return self._number(text, form)

    def _number(self, text: str, form: str) -> str:
        try:
            number = float(text)
        except ValueError:
            return text
        if form == "date" and 0 <= number < 2_958_466:
            return self._date(number)
        if form == "percent":
            return f"{round(number * 100, 10):.15g}%"
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.15g}"

    def _date(self, number: float) -> str:
        if number < 1:
            minutes = round(number * 24 * 60)
            return f"{minutes // 60:02}:{minutes % 60:02}"
        since = datetime.datetime(1904, 1, 1) if self._since_1904 else datetime.datetime(1899, 12, 30)
        found = since + datetime.timedelta(seconds=round(number * 86_400))
        return found.strftime("%Y-%m-%d") if number.is_integer() else found.strftime("%Y-%m-%d %H:%M")

    def _shared(self, part: str | None) -> list[str]:
        if part is None:
            return []
        return [_rich(text) for text in xml_pieces(self._package.read(part, LARGEST_PART), "si")]

    def _number_formats(self, part: str | None) -> list[str]:
        """What the number of each cell style means: date, percent, or nothing else."""
        if part is None:
            return []
        root = self._package.xml(part)
        own = {form.get("numFmtId", ""): _meaning(form.get("formatCode", "")) for form in root.iter("numFmt")}
        styles = root.find("cellXfs")
        found = []
        for style in styles if styles is not None else ():
            id = style.get("numFmtId", "0")
            number = int(id) if id.isdigit() and len(id) < 5 else 0
            built_in = "date" if number in _DATES else "percent" if number in _PERCENT else ""
            found.append(own.get(id, built_in))
        return found


def _meaning(code: str) -> str:
    plain = _LITERAL.sub("", code).lower()
    return "percent" if "%" in plain else "date" if re.search(r"[ymdhs]", plain) and "general" not in plain else ""


def _rich(text: XmlElement | None) -> str:
    """Without the readings that Japanese texts carry (`rPh`)."""
    if text is None:
        return ""
    parts = [
        child.findtext("t") or "" if child.tag == "r" else child.text or "" for child in text if child.tag in ("t", "r")
    ]
    return "".join(parts).strip()


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _spans(data: bytes, numbers: list[int]) -> dict[tuple[int, int], tuple[int, int]]:
    """By row and column of our table: how far a merged cell reaches down and across."""
    rows = {number: at for at, number in enumerate(numbers)}
    found = {}
    for merged in xml_pieces(data, "mergeCell"):
        first, _, last = merged.get("ref", "").partition(":")
        a, b = _PLACE.fullmatch(first), _PLACE.fullmatch(last)
        if a and b and int(a[2]) in rows:
            down = sum(int(a[2]) <= number <= int(b[2]) for number in numbers[rows[int(a[2])] :][: 1 << 10])
            found[rows[int(a[2])], _column(a[1])] = (down, _column(b[1]) - _column(a[1]) + 1)
    return found


def _merged(rows: list[list[str]], spans: dict[tuple[int, int], tuple[int, int]]) -> Table | None:
    width = max(map(len, rows), default=0)
    covered = {
        (row + i, column + j)
        for (row, column), (down, across) in spans.items()
        for i in range(down)
        for j in range(min(across, width))
        if i or j
    }
    return from_rows(
        [
            [
                (values[column] if column < len(values) else "", *spans.get((row, column), (1, 1)), False)
                for column in range(width)
                if (row, column) not in covered
            ]
            for row, values in enumerate(rows)
        ]
    )


def read_csv(text: str) -> tuple[Page, ...]:
    out = PageBuilder("sheet")
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:8192], ",;\t|")
    except csv.Error:
        dialect = csv.excel
    rows: list[list[str]] = []
    cells = 0
    try:
        for row in csv.reader(io.StringIO(text, newline=""), dialect):
            cells += len(row)
            if cells > MOST_VALUES:
                out.note(shortened(len(rows)))
                break
            rows.append([value.strip() for value in row])
    except csv.Error as error:
        raise damaged(str(error)) from None
    out.table(table_of([row for row in rows if any(row)]))
    return out.pages()
