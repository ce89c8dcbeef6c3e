"""The application's icon for each system, out of the crane's drawing: an SVG for Linux, `grus.icns` for macOS, `grus.ico` for Windows.

    python packaging/icons.py FOLDER

Each size is drawn anew, because a line of the small ones is thinner than a pixel when they are scaled down.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import project
from PIL import Image

ICO = (16, 24, 32, 48, 64, 128, 256)
ICNS = (16, 32, 64, 128, 256, 512, 1024)


def svg() -> str:
    """The crane in the colour of the window's accent."""
    from app.gui.theme import LIGHT

    drawn = (project.ROOT / "resources" / "icons" / "crane.svg").read_text(encoding="utf-8")
    return drawn.replace("currentColor", LIGHT.accent).replace("<svg ", '<svg width="128" height="128" ', 1)


def picture(size: int) -> Image.Image:
    """The drawing, `size` pixels wide and high, on nothing."""
    from PySide6.QtCore import QByteArray, QRectF
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(size, size, QImage.Format.Format_RGBA8888)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(svg().encode())).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return Image.frombytes("RGBA", (size, size), bytes(image.constBits()))


def write(folder: Path) -> list[Path]:
    """Both files, in `folder`."""
    pictures = {size: picture(size) for size in (*ICO, *ICNS)}
    largest = pictures[ICNS[-1]]
    made = [folder / "grus.icns", folder / "grus.ico"]
    largest.save(made[0], append_images=[pictures[size] for size in ICNS[:-1]])
    largest.save(made[1], sizes=[(size, size) for size in ICO], append_images=[pictures[size] for size in ICO])
    return made


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes the icons for macOS and Windows.")
    parser.add_argument("folder", type=Path)
    for file in write(parser.parse_args().folder):
        print(f"{file}, {file.stat().st_size / 1e3:.1f} kB")
