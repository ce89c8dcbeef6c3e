"""Formulas as images for rich text: rendered off the UI thread, cached, and announced when they are ready."""

from __future__ import annotations

from html import escape
from math import ceil
from typing import Any

from PySide6.QtCore import QByteArray, QObject, QRectF, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QFontMetricsF, QImage, QPainter, QTextDocument
from PySide6.QtSvg import QSvgRenderer

from app.bridge import Work
from app.gui.look import Look
from app.gui.viewmodels.chat.highlight import FormulaDrawing, draw
from app.gui.viewmodels.chat.markdown import Formula, MarkdownPiece, as_source, filled

_EDGE = 1.0  # pixels that the drawing leaves free on every side
_POINT = 4 / 3  # pixels a point
_KEPT = 1024  # formulas whose pictures are kept; the oldest go first
_TOGETHER = 30  # milliseconds: formulas that are drawn one after another are announced together


class FormulaImages(QObject):
    """One a pane. `ready` comes after formulas that were asked for have been drawn, or could not be."""

    ready = Signal()

    def __init__(self, look: Look, work: Work) -> None:
        super().__init__()
        self._look, self._work = look, work
        self._drawings: dict[tuple[Formula, float, str], FormulaDrawing | None] = {}
        self._asked: set[tuple[Formula, float, str]] = set()
        self._images: dict[tuple[Formula, float, str, float], QImage] = {}
        self._ready_timer = QTimer(self)
        self._ready_timer.setSingleShot(True)
        self._ready_timer.setInterval(_TOGETHER)
        self._ready_timer.timeout.connect(self.ready)

    def html(self, piece: MarkdownPiece, document: QTextDocument, ratio: float) -> tuple[str, bool]:
        """A piece's HTML with pictures in `document`; and whether some of them are still to come."""
        if not piece.formulas:
            return piece.html[0], False
        waiting = False
        parts = []
        for number, formula in enumerate(piece.formulas):
            key = (formula, self._size, self._look.theme.text)
            if key not in self._drawings:
                waiting = True
                self._ask(key)
            drawing = self._drawings.get(key)
            if drawing is None:
                parts.append(as_source(formula))
                continue
            name = f"formula:{number}"
            image = self._image(key, drawing, ratio)
            document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name), image)
            size = image.deviceIndependentSize()
            align = "baseline" if formula.display else "middle"
            parts.append(
                f'<img src="{name}" width="{size.width():.0f}" height="{size.height():.0f}"'
                f' alt="{escape(formula.tex)}" style="vertical-align:{align}">'
            )
        return filled(piece, parts), waiting

    @property
    def _size(self) -> float:
        return round(self._look.font().pointSizeF() * _POINT * 1.08, 1)

    def _ask(self, key: tuple[Formula, float, str]) -> None:
        if key in self._asked:
            return
        self._asked.add(key)
        formula, size, colour = key

        def done(drawing: FormulaDrawing | None) -> None:
            self._asked.discard(key)
            self._drawings[key] = drawing
            _bound(self._drawings)
            if not self._ready_timer.isActive():
                self._ready_timer.start()

        self._work.think(lambda: draw(formula.tex, formula.display, size, colour), done)

    def _image(self, key: tuple[Formula, float, str], drawing: FormulaDrawing, ratio: float) -> QImage:
        found = self._images.get((*key, ratio))
        if found is not None:
            return found
        width, height = drawing.width + 2 * _EDGE, drawing.height + 2 * _EDGE
        up, down = drawing.height - drawing.depth + _EDGE, drawing.depth + _EDGE
        # Qt puts the middle of a picture a quarter of an x above the line: room is added until that is right
        rise = QFontMetricsF(self._look.font()).xHeight() / 2
        room = height if key[0].display else float(ceil(max(2 * up - rise, 2 * down + rise)))
        top = 0.0 if key[0].display else (room + rise) / 2 - up
        image = QImage(round(width * ratio), round(room * ratio), QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        renderer = QSvgRenderer(QByteArray(drawing.svg.encode()))
        renderer.render(painter, QRectF(0, top * ratio, width * ratio, height * ratio))
        painter.end()
        image.setDevicePixelRatio(ratio)
        self._images[(*key, ratio)] = image
        _bound(self._images)
        return image


def _bound(kept: dict[Any, Any]) -> None:
    while len(kept) > _KEPT:
        del kept[next(iter(kept))]
