"""A TrueType font of two empty glyphs, made here byte by byte: what invisible text is set in."""

from __future__ import annotations

import struct

_UNITS = 1000  # an em
GLYPH_WIDTH = 0.5  # em


def _font() -> bytes:
    width = int(_UNITS * GLYPH_WIDTH)
    ascent, descent = 800, -200
    tables = {
        # one mapping, of the space, since some readers refuse a font without any
        b"cmap": struct.pack(">HHHHI", 0, 1, 3, 1, 12)
        + struct.pack(">7H", 4, 32, 0, 4, 4, 1, 0)
        + struct.pack(">HHHHHhhHH", 0x20, 0xFFFF, 0, 0x20, 0xFFFF, 1 - 0x20, 1, 0, 0),
        b"glyf": b"\0\0",
        b"head": struct.pack(
            ">IIIIHHQQhhhhHHhhh",
            0x10000, 0x10000, 0, 0x5F0F3CF5, 3, _UNITS, 0, 0, 0, descent, width, ascent, 0, 8, 2, 0, 0,
        ),
        b"hhea": struct.pack(">IhhhHhhhhhhhhhhhH", 0x10000, ascent, descent, 0, width, 0, 0, width, 1, 0, 0, 0, 0, 0, 0,
                             0, 2),
        b"hmtx": struct.pack(">HhHh", width, 0, width, 0),
        b"loca": struct.pack(">HHH", 0, 0, 0),
        b"maxp": struct.pack(">IHHHHHHHHHHHHHH", 0x10000, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0),
        b"name": struct.pack(">HHH", 0, 0, 6),
        b"post": struct.pack(">IIhhIIIII", 0x30000, 0, -100, 50, 1, 0, 0, 0, 0),
    }  # fmt: skip
    head = struct.pack(">IHHHH", 0x10000, len(tables), 128, 3, len(tables) * 16 - 128)
    at = len(head) + 16 * len(tables)
    directory, body = b"", b""
    for name, data in sorted(tables.items()):
        directory += name + struct.pack(">III", _sum(data), at + len(body), len(data))
        body += data + b"\0" * (-len(data) % 4)
    return head + directory + body


def _sum(data: bytes) -> int:
    padded = data + b"\0" * (-len(data) % 4)
    return sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF


FONT = _font()
