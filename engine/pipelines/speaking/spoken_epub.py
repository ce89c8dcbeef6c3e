"""Writes spoken EPUB 3 books: the text as pages, a sound file a chapter, and media overlays that say which sentence is heard when.

A reading system that knows media overlays reads the book aloud and marks the sentence; one that does not shows the text alone.
"""

from __future__ import annotations

import re
import uuid
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from engine.errors import BadRequest, ErrorText
from engine.pipelines.listening.transcript import clock
from engine.whole_file import whole_file

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0
_ACTIVE = "-epub-media-overlay-active"
_STYLE = f".{_ACTIVE} {{ background-color: #F9E4DF; color: #18181B; }}\n"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_CONTAINER = (
    f'{_HEAD}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


@dataclass(frozen=True)
class SpokenSentence:
    text: str
    start: float | None = None  # seconds in the chapter's sound; None: it is not spoken


@dataclass(frozen=True)
class SpokenChapter:
    title: str
    paragraphs: Sequence[Sequence[SpokenSentence]]
    sound: Path  # an MP4 file with AAC
    seconds: float


@dataclass(frozen=True)
class BookFacts:
    title: str
    author: str
    language: str
    cover: bytes  # a JPEG file; empty for none


def write_spoken_epub(target: Path, book: BookFacts, chapters: Sequence[SpokenChapter]) -> None:
    """`target` appears when it is complete."""
    try:
        with whole_file(target) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
            archive.writestr("META-INF/container.xml", _CONTAINER)
            archive.writestr("EPUB/package.opf", _package(book, chapters))
            archive.writestr("EPUB/nav.xhtml", _navigation(book, chapters))
            archive.writestr("EPUB/style.css", _STYLE)
            if book.cover:
                archive.writestr("EPUB/cover.jpg", book.cover, zipfile.ZIP_STORED)
            for number, chapter in enumerate(chapters, 1):
                archive.writestr(f"EPUB/chapter{number}.xhtml", _page(book, chapter))
                archive.writestr(f"EPUB/chapter{number}.smil", _overlay(number, chapter))
                archive.write(chapter.sound, f"EPUB/chapter{number}.m4a", zipfile.ZIP_STORED)
    except OSError as error:
        raise BadRequest(
            ErrorText("{path} could not be written: {reason}.", path=target, reason=error.strerror or error), "output"
        ) from None


def _text(text: str) -> str:
    return escape(_FORBIDDEN.sub(" ", text))


def _package(book: BookFacts, chapters: Sequence[SpokenChapter]) -> str:
    said = "\n".join(one.text for chapter in chapters for paragraph in chapter.paragraphs for one in paragraph)
    name = uuid.uuid5(uuid.NAMESPACE_URL, f"{book.title}\n{book.author}\n{said}")
    language = _text(book.language or "und")
    meta = [
        f'<dc:identifier id="id">urn:uuid:{name}</dc:identifier>',
        f"<dc:title>{_text(book.title)}</dc:title>",
        f"<dc:language>{language}</dc:language>",
        f'<meta property="dcterms:modified">{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}</meta>',
        f'<meta property="media:active-class">{_ACTIVE}</meta>',
        f'<meta property="media:duration">{_clock(sum(_milliseconds(one.seconds) for one in chapters))}</meta>',
    ]
    if book.author:
        meta.append(f"<dc:creator>{_text(book.author)}</dc:creator>")
    items = [
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
        '<item id="style" href="style.css" media-type="text/css"/>',
    ]
    if book.cover:
        items.append('<item id="cover" href="cover.jpg" media-type="image/jpeg" properties="cover-image"/>')
    for number, chapter in enumerate(chapters, 1):
        meta.append(
            f'<meta property="media:duration" refines="#overlay{number}">{_clock(_milliseconds(chapter.seconds))}</meta>'
        )
        items += [
            f'<item id="chapter{number}" href="chapter{number}.xhtml" media-type="application/xhtml+xml" '
            f'media-overlay="overlay{number}"/>',
            f'<item id="overlay{number}" href="chapter{number}.smil" media-type="application/smil+xml"/>',
            f'<item id="sound{number}" href="chapter{number}.m4a" media-type="audio/mp4"/>',
        ]
    spine = "".join(f'<itemref idref="chapter{number}"/>' for number in range(1, len(chapters) + 1))
    return (
        f'{_HEAD}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="{language}">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{"".join(meta)}</metadata>'
        f"<manifest>{''.join(items)}</manifest><spine>{spine}</spine></package>"
    )


def _navigation(book: BookFacts, chapters: Sequence[SpokenChapter]) -> str:
    links = "".join(
        f'<li><a href="chapter{number}.xhtml">{_text(one.title)}</a></li>' for number, one in enumerate(chapters, 1)
    )
    return _html(book, book.title, f'<nav epub:type="toc"><h1>{_text(book.title)}</h1><ol>{links}</ol></nav>')


def _html(book: BookFacts, title: str, body: str) -> str:
    language = quoteattr(_FORBIDDEN.sub(" ", book.language or "und"))
    return (
        f'{_HEAD}<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" '
        f"lang={language} xml:lang={language}><head><title>{_text(title)}</title>"
        f'<link rel="stylesheet" type="text/css" href="style.css"/></head><body>{body}</body></html>'
    )


def _numbered(chapter: SpokenChapter) -> Iterator[list[tuple[str, SpokenSentence]]]:
    """Its paragraphs, each sentence with its id."""
    number = 0
    for paragraph in chapter.paragraphs:
        made = []
        for sentence in paragraph:
            number += 1
            made.append((f"s{number}", sentence))
        yield made


def _page(book: BookFacts, chapter: SpokenChapter) -> str:
    body = []
    for number, paragraph in enumerate(_numbered(chapter)):
        spans = " ".join(f'<span id="{id}">{_text(sentence.text)}</span>' for id, sentence in paragraph)
        said = " ".join(sentence.text for _, sentence in paragraph)
        tag = "h1" if number == 0 and _same(said, chapter.title) else "p"
        body.append(f"<{tag}>{spans}</{tag}>")
    return _html(book, chapter.title, "".join(body))


def _same(first: str, second: str) -> bool:
    return re.sub(r"\W+", "", first) == re.sub(r"\W+", "", second)


def _overlay(number: int, chapter: SpokenChapter) -> str:
    """Clips follow each other without a gap, so that pauses are heard as they are."""
    spoken = [
        (id, sentence.start)
        for paragraph in _numbered(chapter)
        for id, sentence in paragraph
        if sentence.start is not None
    ]
    edges = [0, *(_milliseconds(start) for _, start in spoken[1:]), _milliseconds(chapter.seconds)]
    clips = "".join(
        f'<par id="p{id}"><text src="chapter{number}.xhtml#{id}"/>'
        f'<audio src="chapter{number}.m4a" clipBegin="{_clock(begin)}" clipEnd="{_clock(end)}"/></par>'
        for (id, _), (begin, end) in zip(spoken, pairwise(edges))
    )
    return (
        f'{_HEAD}<smil xmlns="http://www.w3.org/ns/SMIL" xmlns:epub="http://www.idpf.org/2007/ops" version="3.0"><body>'
        f'<seq id="seq" epub:textref="chapter{number}.xhtml">{clips}</seq></body></smil>'
    )


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _clock(milliseconds: int) -> str:
    return clock(milliseconds / 1000, ".")
