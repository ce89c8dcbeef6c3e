"""Makes the books that tests speak: an epub with navigation and cover, of given chapters."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

WORDS = ("marsh", "reed", "north", "wing", "dance", "river", "autumn", "call", "feather", "light", "water", "field")


def cover(color: str = "teal") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (300, 400), color).save(out, "PNG")
    return out.getvalue()


def chapters(count: int, paragraphs: int = 3) -> list[tuple[str, list[str]]]:
    """Each paragraph is a passage of its own, and unlike every other."""
    return [
        (
            f"The {WORDS[at % len(WORDS)]} of day {at + 1}",
            [f"Crane {at + 1} calls {WORDS[(at + n) % len(WORDS)]} {n + 1} times." for n in range(paragraphs)],
        )
        for at in range(count)
    ]


def epub(
    path: Path, parts: Sequence[tuple[str, Sequence[str]]], *, language: str = "en", navigation: bool = True,
    heading: str = "h1", picture: bytes | None = None,
) -> Path:  # fmt: skip
    """A file of the spine for each part: its title as a heading, then its paragraphs. The first file is a page without text."""
    names = [f"part{number}.xhtml" for number in range(1, len(parts) + 1)]
    items = "".join(
        f'<item id="i{at}" href="{name}" media-type="application/xhtml+xml"/>' for at, name in enumerate(names)
    )
    spine = "".join(f'<itemref idref="i{at}"/>' for at in range(len(names)))
    links = "".join(f'<li><a href="{name}">{title}</a></li>' for name, (title, _) in zip(names, parts) if title)
    if navigation:
        items += '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
        spine = f'<itemref idref="nav"/>{spine}'
    items += '<item id="front" href="front.xhtml" media-type="application/xhtml+xml"/>'
    items += '<item id="cover" href="cover.png" properties="cover-image" media-type="image/png"/>'
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        f"<dc:title>Cranes</dc:title><dc:creator>Ada Grus</dc:creator><dc:language>{language}</dc:language></metadata>"
        f'<manifest>{items}</manifest><spine><itemref idref="front"/>{spine}</spine></package>'
    )
    page = '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body>{}</body></html>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        container = '<container><rootfiles><rootfile full-path="book/content.opf"/></rootfiles></container>'
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("book/content.opf", package)
        archive.writestr("book/nav.xhtml", page.format(f'<nav epub:type="toc"><ol>{links}</ol></nav>'))
        archive.writestr("book/front.xhtml", page.format('<img src="cover.png"/>'))
        archive.writestr("book/cover.png", cover() if picture is None else picture)
        for name, (title, paragraphs) in zip(names, parts):
            top = f"<{heading}>{title}</{heading}>" if title else ""
            archive.writestr(f"book/{name}", page.format(top + "".join(f"<p>{text}</p>" for text in paragraphs)))
    return path
