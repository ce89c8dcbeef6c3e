"""Documents of every kind as pages: files made here by other libraries, broken ones, huge ones, tiny ones."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pypdf
import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from engine.errors import BadRequest, PasswordNeeded, UnreadableFile
from engine.media import documents
from engine.media.documents import Source, open_document, page_numbers
from engine.media.text_layer import TextLayerWord
from tests.asserting import every

RED, BLUE = (255, 0, 0), (0, 0, 255)


def saved(image: Image.Image, kind: str, **how: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **how)
    return out.getvalue()


def two_coloured(width: int = 32, height: int = 16) -> Image.Image:
    image = Image.new("RGB", (width, height), RED)
    image.paste(BLUE, (width // 2, 0, width, height))
    return image


def text_pdf(*pages: str, rotate: int = 0, crop: tuple[float, float] = (0, 0)) -> bytes:
    """A PDF with real text, one line a page, 24 points from (72, 700) in Helvetica."""
    writer = pypdf.PdfWriter()
    for text in pages:
        page = writer.add_blank_page(612, 792)
        font = pypdf.generic.DictionaryObject(
            {
                pypdf.generic.NameObject(f"/{key}"): pypdf.generic.NameObject(f"/{value}")
                for key, value in {"Type": "Font", "Subtype": "Type1", "BaseFont": "Helvetica"}.items()
            }
        )
        fonts = pypdf.generic.DictionaryObject({pypdf.generic.NameObject("/F"): font})
        page[pypdf.generic.NameObject("/Resources")] = pypdf.generic.DictionaryObject(
            {pypdf.generic.NameObject("/Font"): fonts}
        )
        content = pypdf.generic.DecodedStreamObject()
        content.set_data(f"BT /F 24 Tf 72 700 Td ({text}) Tj ET".encode())
        page[pypdf.generic.NameObject("/Contents")] = writer._add_object(content)
        if rotate:
            page.rotate(rotate)
        page.cropbox.lower_left = crop
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_each_format_is_one_page(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "a file"  # told apart by its bytes
    file.write_bytes(saved(two_coloured(), kind))
    document = open_document(file)
    assert len(document) == 1
    pixels = np.asarray(document.page(1).image).astype(int)
    assert pixels.shape == (16, 32, 3)
    assert np.abs(pixels[:, :12] - RED).max() < 40
    assert document.name == str(file)


def test_a_tiff_has_many_pages() -> None:
    frames = [Image.new("RGB", (8 + n, 8), (n, 0, 0)) for n in range(3)]
    document = open_document(saved(frames[0], "TIFF", save_all=True, append_images=frames[1:]))
    assert [document.page(n).image.width for n in range(1, len(document) + 1)] == [8, 9, 10]


@pytest.mark.parametrize("kind", ["GIF", "WEBP"])
def test_a_moving_picture_is_one_page(kind: str) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in (RED, BLUE)]
    assert len(open_document(saved(frames[0], kind, save_all=True, append_images=frames[1:], duration=50))) == 1


def test_exif_rotation_is_honoured() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    page = open_document(saved(two_coloured(), "PNG", exif=exif)).page(1).image
    assert page.size == (16, 32)
    assert (page.getpixel((8, 0)), page.getpixel((8, 31))) == (RED, BLUE)


def test_resolution_is_known_where_the_file_tells() -> None:
    assert open_document(saved(two_coloured(), "PNG", dpi=(300, 300))).page(1).dots == pytest.approx(300, abs=0.1)
    assert open_document(saved(two_coloured(), "PNG", dpi=(1, 1))).page(1).dots is None
    assert open_document(saved(two_coloured(), "PNG")).page(1).dots is None


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        (np.full((2, 3), 7, np.uint8), (7, 7, 7)),
        (np.full((2, 3, 1), 7, np.uint8), (7, 7, 7)),
        (np.full((2, 3, 3), 7, np.uint8), (7, 7, 7)),
        (np.zeros((2, 3, 4), np.uint8), (255, 255, 255)),
        (np.full((2, 3), 1.0, np.float32), (255, 255, 255)),
        (np.full((2, 3), True), (255, 255, 255)),
        (Image.new("L", (3, 2), 9), (9, 9, 9)),
        (Image.new("P", (3, 2)), (0, 0, 0)),
    ],
)
def test_arrays_and_images_are_pages(source: Source, seen: tuple[int, ...]) -> None:
    image = open_document(source).page(1).image
    assert (image.size, image.mode, image.getpixel((0, 0))) == ((3, 2), "RGB", seen)


@pytest.mark.parametrize(
    "source",
    [
        np.zeros((0, 5), np.uint8),
        np.zeros((5,), np.uint8),
        np.zeros((5, 5, 2), np.uint8),
        np.zeros((5, 5), np.int32),
        np.full((5, 5), 2.0),
        np.full((5, 5), np.nan),
    ],
)
def test_arrays_that_are_no_image(source: Source) -> None:
    with pytest.raises(UnreadableFile, match="image"):
        open_document(source)


BROKEN: dict[str, Callable[[Path], Source]] = {
    "empty": lambda folder: b"",
    "no image": lambda folder: b"hello",
    "half a PNG": lambda folder: saved(Image.effect_noise((64, 64), 9), "PNG")[:900],
    "half a JPEG": lambda folder: saved(Image.effect_noise((64, 64), 9), "JPEG")[:400],
    "half a PDF": lambda folder: text_pdf("Hello")[:300],
    "a PDF's first line": lambda folder: b"%PDF-1.7\n",
    "not there": lambda folder: folder / "none.png",
    "a folder": lambda folder: folder,
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_says_so(what: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile) as caught:
        open_document(BROKEN[what](tmp_path)).page(1)
    assert str(caught.value).endswith(".")


def test_one_pixel() -> None:
    assert open_document(saved(Image.new("RGB", (1, 1), BLUE), "PNG")).page(1).image.getpixel((0, 0)) == BLUE


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_page_of_20000_pixels_is_scaled_and_says_so(kind: str) -> None:
    large = Image.new("L", (20_000, 5_000), 255)
    large.paste(0, (0, 0, 10_000, 5_000))
    page = open_document(saved(large, kind)).page(1)
    assert page.image.size == (10_000, 2_500)
    assert page.notes == ("Scaled down from 20000 x 5000 to 10000 x 2500 pixels.",)
    assert (page.image.getpixel((100, 9)), page.image.getpixel((9_900, 9))) == ((0, 0, 0), (255, 255, 255))


def test_what_memory_cannot_hold_is_refused_by_its_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LARGEST", 1000)
    with pytest.raises(UnreadableFile, match="64 x 64 pixels"):
        open_document(saved(Image.new("L", (64, 64)), "PNG"))


def test_heic_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    with pytest.raises(UnreadableFile, match="pip install pillow-heif"):
        open_document(b"\0\0\0\x18ftypheic" + b"\0" * 40)


def test_a_pdf_is_drawn_at_the_asked_resolution() -> None:
    document = open_document(text_pdf("Hello", "World"), dots=144)
    assert len(document) == 2
    page = document.page(2)
    assert page.image.size == (1224, 1584)
    assert page.dots == 144
    ink = np.argwhere(np.asarray(page.image.convert("L")) < 128)
    assert 140 < ink[:, 1].min() < 150
    assert page.words is None


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_words_of_a_text_layer_lie_on_their_ink(rotate: int) -> None:
    page = open_document(text_pdf("Cranes fly south", rotate=rotate, crop=(30, 50)), dots=72).page(1, words=True)
    assert page.words is not None
    assert [word.text for word in page.words] == ["Cranes", "fly", "south"]
    dark = np.asarray(page.image.convert("L")) < 160
    for word in page.words:
        left, top, right, bottom = (round(side) for side in word.bounds)
        assert dark[top:bottom, left:right].sum() > 30
        dark[top : bottom + 1, left - 1 : right + 1] = False
    assert dark.sum() < 20


def test_a_page_without_text_has_no_layer() -> None:
    assert open_document(text_pdf("1")).page(1, words=True).words is None


def test_a_searchable_pdf_of_ours_carries_its_words() -> None:
    """What Grus writes, Grus reads."""
    from engine.pipelines.reading.results import Box, Document, Element, Page, PlacedWord
    from engine.pipelines.reading.writers import searchable_pdf

    line = (PlacedWord("Kraniche", Box(20, 20, 120, 40)), PlacedWord("ziehen", Box(130, 20, 200, 40)))
    page = Page(1, 300, 100, (Element("text", Box(20, 20, 200, 40), 0, "", lines=(line,)),), dots=72)
    data = searchable_pdf(Document("x", (page,)), lambda page: Image.new("RGB", (300, 100), "white"))
    words = open_document(data, dots=72).page(1, words=True).words
    assert words is not None
    assert [word.text for word in words] == ["Kraniche", "ziehen"]
    assert words[1].bounds == pytest.approx((130, 20, 200, 40), abs=3)
    assert isinstance(words[0], TextLayerWord)


def test_protected_pdfs() -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(text_pdf("Secret words here")))
    writer.encrypt("sesame", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    with pytest.raises(PasswordNeeded, match="protected"):
        open_document(out.getvalue())
    with pytest.raises(PasswordNeeded, match="wrong"):
        open_document(out.getvalue(), password="open")
    assert len(open_document(out.getvalue(), password="sesame")) == 1


def test_a_broken_page_leaves_the_others() -> None:
    data = text_pdf("One", "Two")
    document = open_document(data)
    real = pypdfium2.PdfDocument.__getitem__

    def fails(self: Any, index: int) -> Any:
        if index == 0:
            raise pypdfium2.PdfiumError("broken")
        return real(self, index)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pypdfium2.PdfDocument, "__getitem__", fails)
        with pytest.raises(UnreadableFile, match="Page 1"):
            document.page(1)
        assert document.page(2).image.size[0] > 100


@pytest.mark.parametrize(
    ("text", "numbers"),
    [(None, [1, 2, 3, 4, 5]), ("1-3,5", [1, 2, 3, 5]), ("4-", [4, 5]), ("-2", [1, 2]), ("5,1", [5, 1]), ("2, 2-3", [2, 3]), ("4-9", [4, 5])],
)  # fmt: skip
def test_page_ranges(text: str | None, numbers: list[int]) -> None:
    assert page_numbers(text, 5) == numbers


@pytest.mark.parametrize("text", ["", "a", "0", "3-1", "1-2-3", "1,,2", "-", "1;2", "6", "9999999999"])
def test_what_is_no_range(text: str) -> None:
    with pytest.raises(BadRequest) as caught:
        page_numbers(text, 5)
    assert caught.value.param == "pages"


def test_one_page_is_counted_as_one() -> None:
    with pytest.raises(BadRequest, match="There is 1 page; 7- names none of them"):
        page_numbers("7-", 1)


@given(st.text("0123456789-, ", max_size=12))
def test_any_range_is_pages_or_a_bad_request(text: str) -> None:
    try:
        numbers = page_numbers(text, 9)
    except BadRequest:
        return
    assert numbers
    assert every(1 <= number <= 9 for number in numbers)
    assert len(set(numbers)) == len(numbers)


def drawn(text: str) -> Image.Image:
    image = Image.new("RGB", (400, 80), "white")
    ImageDraw.Draw(image).text((10, 20), text, fill="black", font=ImageFont.load_default(24))
    return image


def test_an_image_that_was_opened_elsewhere() -> None:
    image = Image.open(io.BytesIO(saved(drawn("Hello"), "PNG")))
    assert open_document(image).page(1).image.size == (400, 80)
    broken = Image.open(io.BytesIO(saved(Image.effect_noise((64, 64), 9), "PNG")[:900]))
    with pytest.raises(UnreadableFile, match="damaged"):
        open_document(broken).page(1)
