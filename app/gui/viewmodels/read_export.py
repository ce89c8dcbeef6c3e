"""Pages as pixels, and documents exported to files in every format. Reads the disk; runs off the UI thread."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.gui.texts import tr
from app.gui.viewmodels.read import ReadDocument
from engine.errors import BadRequest
from engine.media.documents import open_document
from engine.pipelines.reading.ink import rotated_page
from engine.pipelines.reading.results import Document, Element, Page
from engine.pipelines.reading.session import output_targets, write_atomically
from engine.pipelines.reading.writers import FORMATS, KEEPS_FIGURES, ExportOptions, Format, page_text, write_document

if TYPE_CHECKING:
    from PIL.Image import Image

_SMALL = 2400  # pixels on the longer side: more cannot be seen


@dataclass(frozen=True)
class Pixels:
    """A picture that crosses threads: rows of red, green and blue, and the size of the page that boxes mean."""

    width: int
    height: int
    data: bytes
    page: tuple[int, int]


def page_image(source: Path, number: int, turned: float = 0.0, password: str | None = None) -> Image:
    """At the size that boxes mean."""
    with closing(open_document(source, password=password)) as document:
        return rotated_page(document.page(number).image, turned)


def pixels(source: Path, number: int, turned: float, password: str | None, most: int = _SMALL) -> Pixels:
    image = page_image(source, number, turned, password)
    size = image.size
    if max(size) > most:
        image = image.copy()
        image.thumbnail((most, most))
    shown = image.convert("RGB")
    return Pixels(shown.width, shown.height, shown.tobytes(), size)


__all__ = ["FORMATS", "as_markdown", "export", "export_all"]
_PICTURES = frozenset({"figure", "chart", "seal"})


def as_markdown(pages: Sequence[Page]) -> str:
    return page_text(tuple(pages), "md", ExportOptions())


def export(item: ReadDocument, kind: Format, target: Path) -> Path:
    """Where it was written to. Several tables are several CSV files. Raises BadRequest where there is nothing to write."""
    document = _with_figures(item, target) if kind in KEEPS_FIGURES else item.document
    if not document.pages:
        raise BadRequest(tr("{title} has not been read yet.", title=item.title))
    contents = write_document(document, kind, ExportOptions(), lambda page: _image(item, page))
    if not contents or (kind == "xlsx" and not document.tables):
        raise BadRequest(tr("No table was found in {title}. Choose another format.", title=item.title))
    for number, data in enumerate(contents, 1):
        name = target.name if number == 1 else f"{target.stem}-{number}{target.suffix}"
        write_atomically(target.with_name(name), data)
    return target


def export_all(items: Sequence[ReadDocument], kind: Format, folder: Path) -> tuple[int, list[str]]:
    """How many were written, and a sentence for each that could not be."""
    folder.mkdir(parents=True, exist_ok=True)
    problems: list[str] = []
    for item, target in zip(items, output_targets([Path(item.title) for item in items], folder, kind)):
        try:
            export(item, kind, target.path)
        except (BadRequest, OSError) as error:
            problems.append(str(error))
    return len(items) - len(problems), problems


def _image(item: ReadDocument, page: Page):  # type: ignore[no-untyped-def]
    return page_image(item.source, page.number, page.turned, item.password)


def _with_figures(item: ReadDocument, target: Path) -> Document:
    """Pictures on the pages are cut out and kept beside the file."""
    folder = target.with_name(f"{target.stem}_files")

    def kept(page: Page) -> Page:
        if not any(element.kind in _PICTURES for element in page.elements):
            return page
        image = _image(item, page)

        def keep(element: Element) -> Element:
            if element.kind not in _PICTURES:
                return element
            out = io.BytesIO()
            image.crop(element.box.within(*image.size).pixels()).save(out, "PNG")
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / f"page-{page.number}-{element.kind}-{element.order + 1}.png"
            write_atomically(file, out.getvalue())
            return replace(element, figure=f"{folder.name}/{file.name}")

        return replace(page, elements=tuple(keep(element) for element in page.elements))

    return Document(str(item.source), tuple(kept(page) for page in item.pages))
