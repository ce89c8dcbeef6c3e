"""Image files: what is read comes out right, and what is broken, huge or foreign is refused in plain words."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import zlib
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.errors import BadRequest
from engine.media.image import FORMATS, decode_image

RED, BLUE = (255, 0, 0), (0, 0, 255)


def saved(image: Image.Image, kind: str = "PNG", **how: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **how)
    return out.getvalue()


def two_coloured(width: int = 8, height: int = 4) -> Image.Image:
    """Red on the left, blue on the right."""
    image = Image.new("RGB", (width, height), RED)
    image.paste(BLUE, (width // 2, 0, width, height))
    return image


def png_header(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 64)) + chunk(b"IEND", b"")


def webp_header(kind: bytes, body: bytes) -> bytes:
    chunk = kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk


@pytest.mark.parametrize("kind", FORMATS)
def test_each_format_is_read(kind: str) -> None:
    data = saved(two_coloured(32, 16), kind)
    pixels = np.asarray(decode_image(data)).astype(int)
    assert pixels.shape == (16, 32, 3)
    # lossy formats come close
    assert np.abs(pixels[:, :12] - RED).max() < 40
    assert np.abs(pixels[:, -12:] - BLUE).max() < 40


def test_a_photo_is_turned_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # was taken with the camera on its side
    data = saved(two_coloured(), "PNG", exif=exif)
    upright = decode_image(data)
    assert upright.size == (4, 8)
    assert (upright.getpixel((0, 0)), upright.getpixel((0, 7))) == (RED, BLUE)


@pytest.mark.parametrize("kind", ["GIF", "WEBP"])
def test_of_a_moving_image_the_first_frame_is_read(kind: str) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in (RED, BLUE)]
    data = saved(frames[0], kind, save_all=True, append_images=frames[1:], duration=10, lossless=True)
    assert decode_image(data).getpixel((0, 0)) == RED


def test_one_pixel_is_an_image() -> None:
    image = decode_image(saved(Image.new("RGB", (1, 1), BLUE)))
    assert (image.mode, image.size, image.getpixel((0, 0))) == ("RGB", (1, 1), BLUE)


@pytest.mark.parametrize(
    ("image", "seen"),
    [
        (Image.new("RGBA", (1, 1), (0, 0, 0, 0)), (255, 255, 255)),
        (Image.new("RGBA", (1, 1), (255, 0, 0, 255)), RED),
        (Image.new("LA", (1, 1), (0, 0)), (255, 255, 255)),
        (Image.new("L", (1, 1), 7), (7, 7, 7)),
        (Image.new("1", (1, 1), 1), (255, 255, 255)),
        (Image.fromarray(np.full((1, 1), 0x8034, np.uint16)), (0x80, 0x80, 0x80)),
    ],
)
def test_every_kind_of_pixel_becomes_rgb(image: Image.Image, seen: tuple[int, ...]) -> None:
    assert decode_image(saved(image)).getpixel((0, 0)) == seen


@pytest.mark.parametrize(
    "bomb",
    [
        png_header(60_000, 60_000),
        png_header(9_000, 9_000),
        webp_header(b"VP8X", b"\0" * 4 + (16383).to_bytes(3, "little") * 2),
        webp_header(b"VP8L", b"\x2f" + (0x3FFF | 0x3FFF << 14).to_bytes(4, "little") + b"\0" * 8),
        webp_header(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + (0x3FFF).to_bytes(2, "little") * 2),
        saved(Image.new("RGB", (1, 1)), "BMP")[:18] + struct.pack("<ii", 60_000, 60_000) + b"\1\0\x18\0" + b"\0" * 24,
    ],
    ids=["png", "png-below-the-librarys-limit", "webp-extended", "webp-lossless", "webp-lossy", "bmp"],
)
def test_a_bomb_is_refused_by_its_header(bomb: bytes) -> None:
    with pytest.raises(BadRequest, match="pixels"):
        decode_image(bomb)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"x", "not an image that can be read"),
        (b"\x89PNG\r\n\x1a\n", "damaged|not an image"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not an image that can be read"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not an image that can be read"),
    ],
)
def test_what_is_no_image_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        decode_image(data)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_that_ends_too_soon_is_refused(kind: str) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (32, 32, 3), np.uint8)
    data = saved(Image.fromarray(noise), kind)
    with pytest.raises(BadRequest, match=r"damaged|not an image"):
        decode_image(data[: len(data) // 2])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", FORMATS)
def test_broken_bytes_give_pixels_or_a_bad_request(kind: str) -> None:
    data, random = saved(two_coloured(), kind), np.random.default_rng(1)
    for _ in range(40):
        broken = bytearray(data)
        for at in random.integers(0, len(broken), 4):
            broken[at] = random.integers(0, 256)
        with suppress(BadRequest):
            assert decode_image(bytes(broken)).mode == "RGB"


def test_importing_it_does_not_load_pillow() -> None:
    code = "import sys, engine.media.image, app.server.images; sys.exit('PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
