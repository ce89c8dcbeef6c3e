"""Workbooks (xlsx) and CSV: one page a sheet, its cells as a table. Formulas show the value that was saved with them."""

from __future__ import annotations

import csv
import datetime
import io
import re
from xml.etree.ElementTree import Element as XmlElement

from engine.pipelines.reading.formats.blocks import PageBuilder, larger, shortened, whole_number
from engine.pipelines.reading.formats.packages import LARGEST_PART, Package, damaged, xml_pieces
from engine.pipelines.reading.results import MOST_CELLS, Page

MOST_VALUES = 100_000  # cells of a sheet that become a table
_MOST_BEYOND = 64  # columns that a merged cell reaches over at the right end of a table
MOST_TEXTS = 2_000_000  # that the sheets of a workbook share
_DATES = frozenset([*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])  # built-in formats
_PERCENT = frozenset([9, 10])
_PLACE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_LITERAL = re.compile(r"\"[^\"]*\"|\\.|\[[^\]]*\]|_.")


def read_workbook(package: Package, main: str) -> tuple[Page, ...]:
    return _Workbook(package, main).pages()


class SheetRows:
    """The rows of a sheet that have something in them, and its merged cells, which become a table."""

    def __init__(self) -> None:
        self._rows: list[list[str]] = []
        self._numbers: list[int] = []  # of the rows, as the sheet counts them
        self._merged: list[tuple[int, int, int, int]] = []
        self._cells = 0
        self.full = False

    def add(self, number: int, values: list[str]) -> bool:
        """False: no more rows are taken."""
        if any(values) and not self.full:
            self._cells += len(values)
            self.full = self._cells > MOST_VALUES
            if not self.full:
                self._numbers.append(number)
                self._rows.append(values)
        return not self.full

    def merge(self, row: int, column: int, last_row: int, last_column: int) -> None:
        if len(self._merged) < MOST_VALUES:
            self._merged.append((row, column, last_row, last_column))

    def end(self, out: PageBuilder) -> None:
        if self.full:
            out.note(shortened(len(self._rows)))
        spans = self._spans()
        if not spans:
            out.plain_table(self._rows)
            return
        covered = {
            (row + i, column + j)
            for (row, column), (down, across) in spans.items()
            for i in range(down)
            for j in range(across)
            if i or j
        }
        width = max(map(len, self._rows))
        out.table(
            [
                [
                    (values[column] if column < len(values) else "", *spans.get((row, column), (1, 1)), False)
                    for column in range(width)
                    if (row, column) not in covered
                ]
                for row, values in enumerate(self._rows)
            ]
        )

    def _spans(self) -> dict[tuple[int, int], tuple[int, int]]:
        """By row and column of the table: how far a merged cell reaches down and across. Merged cells do not overlap, so all together
        are no larger than the table; what is beyond that is none."""
        places = {number: at for at, number in enumerate(self._numbers)}
        width = max(map(len, self._rows), default=0)
        found: dict[tuple[int, int], tuple[int, int]] = {}
        area = 0
        for first, column, last_row, last_column in self._merged:
            row = places.get(first)
            if row is None or column >= width:
                continue
            down = sum(number <= last_row for number in self._numbers[row : row + 1024])
            across = min(last_column, max(width - 1, column + _MOST_BEYOND)) - column + 1
            area += max(down, 1) * max(across, 1)
            if area > 2 * MOST_CELLS:
                break
            if down > 1 or across > 1:
                found[row, column] = (max(down, 1), max(across, 1))
        return found


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
        sheet = SheetRows()
        number = 0
        for piece in xml_pieces(data, "row", "mergeCell"):
            if piece.tag == "row":
                number = whole_number(piece.get("r"), number + 1)
                if not sheet.full and not sheet.add(number, self._row(piece)) and b"mergeCell" not in data:
                    break
                continue
            first, _, last = piece.get("ref", "").partition(":")  # these stand behind the rows
            a, b = _PLACE.fullmatch(first), _PLACE.fullmatch(last)
            if a and b:
                sheet.merge(int(a[2]), _column(a[1]), int(b[2]), _column(b[1]))
        sheet.end(out)

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
            at = whole_number(text, len(self._texts))
            return self._texts[at] if at < len(self._texts) else ""
        if kind == "inlineStr":
            return _rich(cell.find("is"))
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(text, text)
        if kind != "n" or not text:
            return text
        style = whole_number(cell.get("s", "0"), len(self._formats))
        return self._number(text, self._formats[style] if style < len(self._formats) else "")

    def _number(self, text: str, form: str) -> str:
        try:
            number = float(text)
        except ValueError:
            return text
        if form == "date" and 0 <= number < 2_957_004:  # the year 9999 from 1904 on as well
            return self._date(number)
        if form == "elapsed" and 0 <= number < 1e6:
            return clock_time(round(number * 86_400))
        if form == "percent":
            return percent(number)
        return plain_number(number)

    def _date(self, number: float) -> str:
        if number < 1:
            return clock_time(round(number * 86_400))
        since = datetime.datetime(1904, 1, 1) if self._since_1904 else datetime.datetime(1899, 12, 30)
        if number < 60 and not self._since_1904:  # Excel has a 29 February 1900
            since += datetime.timedelta(days=1)
        return date_text(since + datetime.timedelta(seconds=round(number * 86_400)), not number.is_integer())

    def _shared(self, part: str | None) -> list[str]:
        if part is None:
            return []
        found = []
        for text in xml_pieces(self._package.read(part, LARGEST_PART), "si"):
            found.append(_rich(text))
            if len(found) > MOST_TEXTS:
                raise larger()
        return found

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
            number = whole_number(id, 0)
            built_in = "date" if number in _DATES else "percent" if number in _PERCENT else ""
            found.append(own.get(id, built_in))
        return found


def date_text(found: datetime.datetime, with_time: bool) -> str:
    if not with_time:
        return found.strftime("%Y-%m-%d")
    return found.strftime("%Y-%m-%d %H:%M:%S" if found.second else "%Y-%m-%d %H:%M")


def clock_time(seconds: int) -> str:
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    return f"{hours:02}:{minutes:02}:{seconds:02}" if seconds else f"{hours:02}:{minutes:02}"


def percent(number: float) -> str:
    return f"{round(number * 100, 10):.15g}%"


def plain_number(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.15g}"


def _meaning(code: str) -> str:
    if _ELAPSED.search(code):
        return "elapsed"
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


def read_csv(text: str) -> tuple[Page, ...]:
    out = PageBuilder("sheet")
    rows: list[list[str]] = []
    cells = 0
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)):
            cells += len(row)
            if cells > MOST_VALUES:
                out.note(shortened(len(rows)))
                break
            rows.append([value.strip() for value in row])
    except csv.Error as error:
        raise damaged(str(error)) from None
    out.plain_table([row for row in rows if any(row)])
    return out.pages()


def _delimiter(text: str) -> str:
    """The one that parts most of the first rows into the same number of cells; of two, the one that is no part of numbers. Python's
    `csv.Sniffer` also guesses at quotes, wrongly where the first rows have none."""
    sample = text[:16_384].rpartition("\n")[0] or text[:16_384]
    best, most = ",", 0
    for delimiter in "\t;|,":
        try:
            widths = [len(row) for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if row]
        except csv.Error:
            continue
        usual = max(set(widths), key=widths.count, default=1)
        if usual > 1 and widths.count(usual) > most:
            best, most = delimiter, widths.count(usual)
    return best
