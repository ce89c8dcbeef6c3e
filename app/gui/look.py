"""How the window looks now: the theme (following the system or the person), the language, the size of text, motion."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, Qt, QTranslator, Signal
from PySide6.QtGui import QFont, QFontDatabase, QIcon
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from app.gui import texts
from app.gui.icons import icon
from app.gui.preferences import Preferences
from app.gui.style import palette, sheet
from app.gui.theme import Theme, choose

LANGUAGES = {"en": "English", "de": "Deutsch"}
_TRANSLATIONS = Path(__file__).resolve().parents[2] / "resources" / "translations"


class Look(QObject):
    """One a process. `changed` tells that colours or the size of text changed."""

    changed = Signal()

    def __init__(self, app: QApplication, preferences: Preferences) -> None:
        super().__init__(app)
        self._app = app
        self._preferences = preferences
        self._points = app.font().pointSizeF() if app.font().pointSizeF() > 0 else 10.0
        self._translators: list[QTranslator] = []
        self._followers: list[tuple[QObject, Callable[[], Any]]] = []
        self.theme: Theme = self._wanted()
        app.styleHints().colorSchemeChanged.connect(lambda _: self.refresh())
        preferences.changed.connect(lambda key: self.refresh() if key in ("appearance", "text_scale") else None)
        self.speak(self.language)
        self._apply()

    @property
    def language(self) -> str:
        wanted = self._preferences.get("language", "system")
        if wanted in LANGUAGES:
            return str(wanted)
        system = QLocale.system().name().split("_")[0]
        return system if system in LANGUAGES else "en"

    @property
    def scale(self) -> float:
        """The person's own scale of text, on top of the system's."""
        return float(self._preferences.get("text_scale", 1.0))

    @property
    def moves(self) -> bool:
        """Whether anything may move."""
        return not self._preferences.get("reduce_motion", False)

    @property
    def mono(self) -> QFont:
        """For code: the system's monospace at the size of text."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self._app.font().pointSizeF())
        return font

    def font(self, size: float = 1.0, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
        font = QFont(self._app.font())
        font.setPointSizeF(font.pointSizeF() * size)
        font.setWeight(weight)
        return font

    def icon(self, name: str, colour: str | None = None) -> QIcon:
        """In the theme's second text colour, or in a colour of the theme by its token."""
        return icon(name, getattr(self.theme, colour or "second"), self.theme.second)

    def refresh(self) -> None:
        self.theme = self._wanted()
        self._apply()
        self._followers = [(widget, repaint) for widget, repaint in self._followers if isValid(widget)]
        for _, repaint in self._followers:
            repaint()
        self.changed.emit()

    def speak(self, language: str) -> None:
        """Translate from now on. What is on screen keeps its words until it is made anew."""
        self.fall_silent()
        if language != "en":
            for translator in (Words.read(language), _qt_words(language)):
                if translator is not None:
                    self._app.installTranslator(translator)
                    self._translators.append(translator)
        texts.install(lambda text: QCoreApplication.translate(texts.CONTEXT, text))
        QLocale.setDefault(QLocale(language))

    def fall_silent(self) -> None:
        """Qt's and our own translations are taken out again."""
        for translator in self._translators:
            self._app.removeTranslator(translator)
        self._translators = []

    def on_change(self, widget: QObject, repaint: Callable[[], Any]) -> None:
        """Call `repaint` now and whenever the look changes, for as long as the widget lives."""
        repaint()
        self._followers.append((widget, repaint))

    def _wanted(self) -> Theme:
        dark = self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return choose(str(self._preferences.get("appearance", "system")), dark)

    def _apply(self) -> None:
        font = self._app.font()
        font.setPointSizeF(self._points * self.scale)
        self._app.setFont(font)
        self._app.setPalette(palette(self.theme))
        self._app.setStyleSheet(sheet(self.theme))


class Words(QTranslator):
    """A language's texts, from the JSON files of its folder: English to translation."""

    def __init__(self, words: dict[str, str]) -> None:
        super().__init__()
        self._words = words

    @classmethod
    def read(cls, language: str) -> Words | None:
        folder = _TRANSLATIONS / language
        if not folder.is_dir():
            return None
        words: dict[str, str] = {}
        for file in sorted(folder.glob("*.json")):
            words.update(json.loads(file.read_text(encoding="utf-8")))
        return cls(words)

    def isEmpty(self) -> bool:
        return not self._words

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str | None:  # type: ignore[override]
        return self._words.get(source) if context == texts.CONTEXT else None


def _qt_words(language: str) -> QTranslator | None:
    """Qt's own texts: the buttons of file dialogs, the entries of context menus."""
    translator = QTranslator()
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    return translator if translator.load(f"qtbase_{language}", folder) else None
