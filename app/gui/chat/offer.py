"""The card at the start of a chat that offers a model, shows its download, and says when it is ready."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app.gui.look import Look, restate
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.models.offer import ModelOffer, OfferAction
from app.gui.widgets import label, text_button

_WIDTH, _NARROWEST = 580, 320  # pixels
_STEPS = 1000


class OfferView(QWidget):
    """`others()` leads to all models."""

    def __init__(self, look: Look, offer: ModelOffer, others: Callable[[], Any]) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(_NARROWEST)
        self._offer = offer
        self.title, self.sentence = label(wrap=True), label(wrap=True)
        look.on_change(self.title, lambda: self.title.setFont(look.font(1.0, QFont.Weight.DemiBold)))
        self.working = label(kind="second", wrap=True)
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress of the download"))
        self.main = text_button(tr("Download"), offer.act, kind="main")
        self.others = text_button(tr("Other models"), others)
        self.later = text_button(tr("Not now"), offer.dismiss, kind="flat")
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(GRID)
        for button in (self.main, self.others, self.later):
            self._row.addWidget(button)
        self._row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID * 2, GRID * 2, GRID * 2, GRID * 2)
        column.setSpacing(GRID)
        for part in (self.title, self.sentence, self.bar, self.working):
            column.addWidget(part)
        column.addLayout(self._row)
        offer.changed.connect(self.show_card)
        look.on_change(self, self.show_card)
        look.language_changed.connect(self.show_card)

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH, super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.show_card()

    def show_card(self) -> None:
        card = self._offer.card
        if card is None:
            return
        for part, text in ((self.title, card.title), (self.sentence, card.sentence), (self.working, card.working)):
            part.setText(text)
            part.setVisible(bool(text))
        restate(self.working, level="error" if card.failed else "")
        self.bar.setVisible(card.share is not None and not card.failed)
        self.bar.setValue(round(_STEPS * (card.share or 0)))
        title = _title(card.action)
        self.main.setText(title)
        self.main.setAccessibleName(title)
        self.main.setVisible(card.action in ("download", "pause", "resume"))
        self.others.setVisible(card.action in ("", "download"))
        self.later.setVisible(card.action in ("", "download", "use"))
        self.later.setText(tr("Close") if card.action == "use" else tr("Not now"))
        self.later.setAccessibleName(self.later.text())
        self._fit()

    def _fit(self) -> None:
        """Buttons that have no room side by side stand below each other. What lies around the card asks for its height
        without a width, which is another one where sentences wrap."""
        shown = [button for button in (self.main, self.others, self.later) if not button.isHidden()]
        for button in shown:
            button.ensurePolished()  # else it asks for room without its style's margins
        room = sum(button.sizeHint().width() + GRID for button in shown) + 4 * GRID
        direction = QBoxLayout.Direction
        width = self.width() if self.isVisible() else _WIDTH
        self._row.setDirection(direction.LeftToRight if room <= width else direction.TopToBottom)
        if (inside := self.layout()) is not None:
            inside.activate()
            high = inside.heightForWidth(width) if inside.hasHeightForWidth() else inside.sizeHint().height()
            self.setFixedHeight(high)


def _title(action: OfferAction) -> str:
    titles = {"download": tr("Download"), "pause": tr("Pause"), "resume": tr("Resume")}
    return titles.get(action, "")
