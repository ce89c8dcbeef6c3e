"""Documents made to do harm, given to `grus read` in a new process: each ends in one sentence, or in the text that it carries."""

from __future__ import annotations

import io
import itertools
import zipfile
from pathlib import Path

import pypdf
import pytest

from tests.app.fresh import several
from tests.engine.pipelines.reading.test_hostile_documents import BILLION, OUTSIDE, docx, epub, office, xlsx, zipped

SECRET = "what another file holds"
LARGEST_SIDE = 1 << 20  # points


def billion_laughs() -> bytes:
    names = "abcdefghij"
    entities = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in itertools.pairwise(names))
    return docx("<p>&j;</p>", f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "laugh">{entities}]>')


def zip_bomb() -> bytes:
    """A gigabyte of one letter."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        with zipfile.ZipFile(io.BytesIO(xlsx("")), "r") as whole:
            archive.writestr("_rels/.rels", whole.read("_rels/.rels"))
        with archive.open("xl/workbook.xml", "w") as part:
            part.write(b"<workbook>")
            for _ in range(1 << 10):
                part.write(b"a" * (1 << 20))
    return out.getvalue()


def with_macro(folder: Path) -> bytes:
    """A document that Word would run code of; its macro, if anything ran it, would make a file."""
    source = f'Sub AutoOpen()\n Open "{folder / "ran"}" For Output As #1\nEnd Sub'
    with zipfile.ZipFile(io.BytesIO(docx("<p><r><t>words beside a macro</t></r></p>"))) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    return zipped({**parts, "word/vbaProject.bin": source, "word/_rels/vbaProject.bin.rels": "<Relationships/>"})


def pdf(width: float, height: float) -> bytes:
    out = io.BytesIO()
    writer = pypdf.PdfWriter()
    writer.add_blank_page(width, height)
    writer.write(out)
    return out.getvalue()


def picture_of(width: int, height: int) -> bytes:
    """The head of a PNG that says to be of this size, with no pixels behind it."""
    import struct
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str]]:
    """By name: exit code, output and what was said."""
    folder = tmp_path_factory.mktemp("harm")
    (folder / "secret.txt").write_text(SECRET)
    outside = OUTSIDE.replace("/etc/passwd", str(folder / "secret.txt"))
    remote = docx('<p><r><t>words</t></r><drawing><blip link="http://127.0.0.1:9/picture.png"/></drawing></p>')
    files = {
        "laughs.docx": billion_laughs(),
        "laughs.fb2": BILLION.replace("x [", "FictionBook [").encode() + b"<FictionBook><body><p>&b;</p></body></FictionBook>",
        "bomb.xlsx": zip_bomb(),
        "outside.docx": docx("<p><r><t>&a;</t></r></p>", outside),
        "outside.epub": epub("<x>&a;</x>", outside),
        "outside.pptx": office("ppt/presentation.xml", f"{outside}<presentation>&a;</presentation>"),
        "macro.docm": with_macro(folder),
        "remote.docx": remote,
        "wide.pdf": pdf(LARGEST_SIDE, 1),
        "huge.pdf": pdf(LARGEST_SIDE, LARGEST_SIDE),
        "huge.png": picture_of(1 << 20, 1 << 20),
    }  # fmt: skip
    commands: list[list[object]] = []
    for name, data in files.items():
        (folder / name).write_bytes(data)
        commands.append(["read", folder / name, "--format", "txt", "--quiet", "--text-layer"])
    found = {name: (one.code, one.out, one.err) for name, one in zip(files, several(*commands))}
    assert not (folder / "ran").exists()
    return found


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("laughs.docx", "expands itself"),
        ("laughs.fb2", "neither a document nor an image"),
        ("bomb.xlsx", "unpacks to more than"),
        ("outside.docx", "expands itself"),
        ("outside.epub", "expands itself"),
        ("outside.pptx", "expands itself"),
        ("huge.png", "pixels"),
    ],
)
def test_it_ends_in_one_sentence(said: dict[str, tuple[int, str, str]], name: str, sentence: str) -> None:
    code, out, err = said[name]
    assert (code, out.strip()) == (2, "")
    assert sentence in err
    assert len(err.strip().splitlines()) == 1
    assert SECRET not in err


@pytest.mark.parametrize(
    ("name", "words"),
    [("macro.docm", "words beside a macro"), ("remote.docx", "words"), ("wide.pdf", ""), ("huge.pdf", "")],
)
def test_nothing_is_run_or_fetched_and_huge_pages_are_drawn_small(
    said: dict[str, tuple[int, str, str]], name: str, words: str
) -> None:
    code, out, err = said[name]
    assert (code, out.strip(), err) == (0, words, "")
