"""The icons: one drawn set of strokes in `resources/icons`, coloured by whoever asks."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "icons"


@cache
def drawing(name: str) -> str:
    """The SVG's text."""
    return (FOLDER / f"{name}.svg").read_text(encoding="utf-8")


@cache
def icon(name: str, colour: str, disabled: str = "") -> QIcon:
    """Sharp at every size and pixel ratio, because it is drawn when it is painted."""
    return QIcon(_Strokes(name, colour, disabled or colour))


class _Strokes(QIconEngine):
    def __init__(self, name: str, colour: str, disabled: str) -> None:
        super().__init__()
        self._made = (name, colour, disabled)
        source = drawing(name)
        self._normal = QSvgRenderer(QByteArray(source.replace("currentColor", colour).encode()))
        self._disabled = QSvgRenderer(QByteArray(source.replace("currentColor", disabled).encode()))

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        renderer = self._disabled if mode == QIcon.Mode.Disabled else self._normal
        if mode == QIcon.Mode.Disabled:
            painter.setOpacity(0.45)
        renderer.render(painter, QRectF(rect))
        painter.setOpacity(1.0)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        picture = QPixmap(size)
        if size.isEmpty():  # asked for by widgets that have no room yet
            return picture
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        self.paint(painter, picture.rect(), mode, state)
        painter.end()
        return picture

    def clone(self) -> QIconEngine:
        return _Strokes(*self._made)


def pixmap(name: str, colour: str, size: int, ratio: float = 1.0) -> QPixmap:
    """A picture of `size` logical pixels."""
    picture = QPixmap(round(size * ratio), round(size * ratio))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    renderer = QSvgRenderer(QByteArray(drawing(name).replace("currentColor", colour).encode()))
    renderer.render(painter, QRectF(picture.rect()))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture
