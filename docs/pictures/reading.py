"""Draws the pictures of docs/reading.md: an input for every task, the regions that were found, and what was written.

    python docs/pictures/reading.py

The recognizer is a stand-in that knows what was drawn. The pictures show what happens around a model, not how well one reads.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PIL import Image, ImageDraw, ImageFont

from engine.media.documents import open_document
from engine.pipelines.reading.layout import DetectedLayout, LayoutDetector, LayoutRegion
from engine.pipelines.reading.recognizer import Crop, LinePart, RecognitionStream, RecognizedPiece
from engine.pipelines.reading.results import TASKS, Box, Document, Task
from engine.pipelines.reading.session import ReadingSession, ReadOptions
from engine.pipelines.reading.writers import ExportOptions, Format, write_document

FOLDER = Path(__file__).resolve().parent
INK, SECOND, LINE, CROWN = "#18181B", "#52525B", "#E4E4E7", "#C23B22"
MARGIN, GAP = 16, 24
PANEL = 420  # pixels: the width of a panel of output

COLUMNS = (
    ("Where they rest", "Cranes rest in shal-\nlow water. There no fox\nreaches them at night."),
    ("When they leave", "They leave in October,\nwhen the first frost has\ncome over the fields."),
)
CELLS = (("Species", "Height", ""), ("", "least", "most"), ("Common", "100", "130"), ("Sarus", "152", "176"))
TABLE = "<ched>Species<ched>Height<lcel><nl><ucel><ched>least<ched>most<nl>" + "".join(
    "".join(f"<fcel>{cell}" for cell in row) + "<nl>" for row in CELLS[2:]
)
BARS = (("2021", 38), ("2022", 52), ("2023", 61))


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


class Standin:
    """Answers each crop by its task, and texts by what was drawn within them."""

    name = "stand-in"
    by_line = False
    tasks = frozenset(TASKS)

    def __init__(self, page: Drawn) -> None:
        self._page = page

    def parts(self, line: Image.Image) -> Sequence[LinePart]:
        return ()

    def note(self, image: Image.Image) -> str | None:
        return None

    def read(self, crops: Sequence[Crop]) -> list[RecognitionStream]:
        return [Said(self._page.answer(crop)) for crop in crops]


class Said:
    cut = False

    def __init__(self, text: str) -> None:
        self._text = text

    def __iter__(self) -> Iterator[RecognizedPiece]:
        yield RecognizedPiece(self._text, (-0.02,))

    def cancel(self) -> None: ...


class Drawn:
    """A page that remembers its texts."""

    def __init__(self, width: int, height: int) -> None:
        self.image = Image.new("RGB", (width, height), "white")
        self.draw = ImageDraw.Draw(self.image)
        self.outputs: dict[Task, str] = {}
        self._texts: list[tuple[str, Image.Image]] = []

    def text(self, x: int, y: int, text: str, size: int = 20) -> None:
        for line in text.splitlines():
            self.draw.text((x, y), line, fill=INK, font=font(size))
            left, top, right, bottom = (round(side) for side in self.draw.textbbox((x, y), line, font=font(size)))
            self._texts.append((line, self.image.crop((left + 2, top, right - 2, bottom))))
            y += round(size * 1.4)

    def answer(self, crop: Crop) -> str:
        if crop.task in self.outputs:
            return self.outputs[crop.task]
        return "\n".join(line for line, look in self._texts if _within(look, crop.image))


def _within(look: Image.Image, crop: Image.Image) -> bool:
    """Whether these very pixels occur in the crop."""
    rows = [crop.crop((0, y, crop.width, y + 1)).tobytes() for y in range(crop.height)]
    first = look.crop((0, look.height // 2, look.width, look.height // 2 + 1)).tobytes()
    return any(first in row for row in rows)


class Regions:
    name = "layout model"

    def __init__(self, *regions: tuple[str, tuple[int, int, int, int]]) -> None:
        self._regions = tuple(LayoutRegion(Box(*box), label, n, 0.98) for n, (label, box) in enumerate(regions))

    def detect(self, page: Image.Image) -> DetectedLayout:
        return DetectedLayout(self._regions, page)


def article() -> Drawn:
    page = Drawn(640, 430)
    page.text(40, 14, "Journal of Cranes", 14)
    page.text(40, 70, "The Year of the Crane", 36)
    for x, (heading, prose) in zip((40, 340), COLUMNS):
        page.text(x, 150, heading, 26)
        page.text(x, 200, prose)
    page.text(312, 405, "7", 14)
    return page


def table(page: Drawn, x: int, y: int) -> None:
    for row in range(5):
        page.draw.line((x if row != 1 else x + 130, y + 32 * row, x + 330, y + 32 * row), fill=INK)
    for column in (0, 130, 330):
        page.draw.line((x + column, y, x + column, y + 128), fill=INK)
    page.draw.line((x + 230, y + 32, x + 230, y + 128), fill=INK)
    for row, cells in enumerate(CELLS):
        for column, cell in zip((8, 138, 238), cells):
            page.draw.text((x + column, y + 6 + 32 * row), cell, fill=INK, font=font(17))
    page.outputs["table"] = TABLE


def formula(page: Drawn, x: int, y: int) -> None:
    page.draw.text((x, y), "h  =  v", fill=INK, font=font(26))
    page.draw.text((x + 88, y - 6), "2", fill=INK, font=font(16))
    page.draw.text((x + 108, y), "/  2g", fill=INK, font=font(26))
    page.outputs["formula"] = "\\[ h = \\frac{v^2}{2g} \\]"


def chart(page: Drawn, x: int, y: int) -> None:
    page.draw.line((x, y, x, y + 150, x + 260, y + 150), fill=INK, width=2)
    for n, (year, count) in enumerate(BARS):
        left = x + 30 + 75 * n
        page.draw.rectangle((left, y + 150 - 2 * count, left + 40, y + 148), fill="#A1A1AA")
        page.draw.text((left, y + 156), year, fill=INK, font=font(15))
        page.draw.text((left + 10, y + 128 - 2 * count), str(count), fill=INK, font=font(15))
    page.outputs["chart"] = "Year | Cranes\n" + "\n".join(f"{year} | {count}" for year, count in BARS)


def seal(page: Drawn, x: int, y: int) -> None:
    page.draw.ellipse((x, y, x + 150, y + 150), outline=CROWN, width=5)
    page.draw.text((x + 32, y + 50), "MARSH\nOFFICE", fill=CROWN, font=font(22), align="center")
    page.outputs["seal"] = "MARSH OFFICE"


def spotting(page: Drawn) -> None:
    page.draw.rectangle((0, 0, 420, 200), fill="#DDE5E0")
    for text, x, y, size in (
        ("NATURE RESERVE", 60, 30, 28),
        ("Keep to the path", 90, 100, 20),
        ("No dogs", 250, 150, 20),
    ):
        page.draw.text((x, y), text, fill=INK, font=font(size))
        left, top, right, bottom = page.draw.textbbox((x, y), text, font=font(size))
        quad = (left / 420, top / 200, right / 420, top / 200, right / 420, bottom / 200, left / 420, bottom / 200)
        said = text + "".join(f"<|LOC_{round(1000 * number)}|>" for number in quad)
        page.outputs["spotting"] = page.outputs.get("spotting", "") + said


def read(page: Drawn, task: Task | None = None, layout: LayoutDetector | None = None) -> Document:
    session = ReadingSession(Standin(page), layout, ReadOptions(task=task or "auto"))
    return session.documents([page.image])[0]


def shown(page: Drawn, document: Document) -> Image.Image:
    """The input, with the regions that were found."""
    image = page.image.copy()
    draw = ImageDraw.Draw(image)
    for element in document.elements:
        box = element.box.grown(3)
        draw.rectangle((box.left, box.top, box.right, box.bottom), outline=CROWN)
        draw.text((box.left - 4, box.top), f"{element.order + 1}", fill=CROWN, font=font(13), anchor="ra")
    return image


def panel(text: str, width: int = PANEL) -> Image.Image:
    """Output as text."""
    lines = [piece for line in text.strip().splitlines() for piece in _folded(line, width - 2 * MARGIN)]
    image = Image.new("RGB", (width, 20 * len(lines) + 2 * MARGIN), "#F4F4F5")
    draw = ImageDraw.Draw(image)
    for n, line in enumerate(lines):
        draw.text((MARGIN, MARGIN + 20 * n), line, fill=INK, font=font(15))
    return image


def _folded(line: str, width: int) -> list[str]:
    """Cut at spaces, and between tags."""
    pieces, piece = [], ""
    for part in re.split(r"(?<=[ >])", line):
        if piece.strip() and font(15).getlength(piece + part) > width:
            pieces.append(piece)
            piece = "    "
        piece += part
    return [*pieces, piece]


def side_by_side(*images: tuple[str, Image.Image]) -> Image.Image:
    width = sum(image.width for _, image in images) + GAP * (len(images) - 1) + 2 * MARGIN
    height = max(image.height for _, image in images) + 24 + 2 * MARGIN
    out = Image.new("RGB", (width, height), "white")
    draw, x = ImageDraw.Draw(out), MARGIN
    for title, image in images:
        draw.text((x, MARGIN), title, fill=SECOND, font=font(14))
        out.paste(image, (x, MARGIN + 24))
        draw.rectangle((x - 1, MARGIN + 23, x + image.width, MARGIN + 24 + image.height), outline=LINE)
        x += image.width + GAP
    return out


def save(name: str, image: Image.Image) -> None:
    image.quantize(32, dither=Image.Dither.NONE).save(FOLDER / f"reading-{name}.png", optimize=True)


def text_of(document: Document, kind: Format, page: Drawn, style: ExportOptions | None = None) -> str:
    files = write_document(document, kind, style or ExportOptions(), lambda _: page.image)
    return "\n".join(data.decode() for data in files).replace("\r\n", "\n")


def searchable(document: Document, page: Drawn) -> Image.Image:
    """The page of the PDF as PDFium draws it, with the places where it finds words."""
    opened = open_document(write_document(document, "pdf", ExportOptions(), lambda _: page.image)[0]).page(
        1, words=True
    )
    draw = ImageDraw.Draw(opened.image, "RGBA")
    for word in opened.words or ():
        draw.rectangle(word.bounds, fill=(194, 59, 34, 50))
    return opened.image


def workbook(document: Document) -> Image.Image:
    """The sheet as openpyxl finds it."""
    import openpyxl

    sheet = openpyxl.load_workbook(
        io.BytesIO(write_document(document, "xlsx", ExportOptions(), lambda _: Image.new("L", (1, 1)))[0])
    ).active
    rows = [" | ".join("" if cell.value is None else str(cell.value) for cell in row) for row in sheet.iter_rows()]
    return panel("\n".join([*rows, "", f"merged: {', '.join(str(area) for area in sheet.merged_cells.ranges)}"]))


def single(task: Task, size: tuple[int, int], draw: Callable[[Drawn], None]) -> None:
    page = Drawn(*size)
    draw(page)
    document = read(page, task)
    output = ("the model's output", panel(page.outputs[task], 300))
    result = text_of(document, "json" if task == "spotting" else "md", page)
    if task == "spotting":
        result = "\n".join(f"{e.text}   {[round(side) for side in e.box.rounded()]}" for e in document.elements)
    save(task, side_by_side((f"--task {task}", shown(page, document)), output, ("the result", panel(result))))


def main() -> None:
    page = article()
    document = read(page)
    save(
        "auto",
        side_by_side(
            ("--task auto, the built-in splitter", shown(page, document)),
            ("markdown", panel(text_of(document, "md", page))),
        ),
    )
    rejoined = text_of(document, "txt", page, ExportOptions(margins=True, rejoin=True))
    save(
        "text",
        side_by_side(
            ("--format txt", panel(text_of(document, "txt", page))),
            ("--format txt --margins --rejoin", panel(rejoined)),
        ),
    )
    single("table", (370, 160), lambda page: table(page, 20, 16))
    single("formula", (260, 70), lambda page: formula(page, 30, 18))
    single("chart", (300, 200), lambda page: chart(page, 20, 10))
    single("seal", (180, 180), lambda page: seal(page, 15, 15))
    single("spotting", (420, 200), spotting)

    mixed = Drawn(640, 560)
    mixed.text(40, 20, "Heights and numbers", 32)
    mixed.text(40, 80, "Two species, from the ground to the crown:")
    table(mixed, 40, 120)
    formula(mixed, 420, 160)
    chart(mixed, 40, 290)
    seal(mixed, 420, 300)
    mixed.text(40, 500, "1. They dance.\n2. They call.")
    layout = Regions(
        ("doc_title", (36, 20, 400, 62)),
        ("text", (36, 78, 470, 106)),
        ("table", (36, 116, 374, 252)),
        ("display_formula", (410, 150, 600, 200)),
        ("chart", (36, 286, 310, 470)),
        ("seal", (415, 295, 575, 455)),
        ("text", (36, 498, 240, 555)),
    )
    document = read(mixed, layout=layout)
    save(
        "layout",
        side_by_side(
            ("--layout, a layout model", shown(mixed, document)), ("markdown", panel(text_of(document, "md", mixed)))
        ),
    )
    save(
        "json",
        side_by_side(
            ("--format json, its beginning", panel("\n".join(text_of(document, "json", mixed).splitlines()[:34])))
        ),
    )
    html = text_of(document, "html", mixed).split("<body>")[1]
    save("html", side_by_side(("--format html, its body", panel(html, 640))))
    save(
        "tables",
        side_by_side(
            ("--format csv", panel(text_of(document, "csv", mixed))),
            ("--format xlsx, its first sheet", workbook(document)),
        ),
    )
    save(
        "pdf", side_by_side(("--format pdf: what it looks like, and where its words are", searchable(read(page), page)))
    )


if __name__ == "__main__":
    main()
