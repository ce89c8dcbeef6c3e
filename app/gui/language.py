"""The window's languages: their names, which of them the system wants, and the translations that Qt loads.

The translations are `resources/translations/grus_*.ts`, compiled to `.qm` by `make translations`; docs/translating.md.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

import resources
from app.gui import texts

FOLDER = resources.path("translations")
_NAMES = {
    "en": "English",
    "de": "Deutsch",
    "es": "Español",
    "fr": "Français",
    "pt_BR": "Português (Brasil)",
    "ja": "日本語",
    "zh_CN": "简体中文",
}
LANGUAGES = {code: name for code, name in _NAMES.items() if code == "en" or (FOLDER / f"grus_{code}.qm").exists()}

# Not in the list of Settings: every text is drawn longer, with accents and between brackets, so that a text that is cut, or that
# never passed `tr`, is seen. The setting `"language": "pseudo"` chooses it.
PSEUDO = "pseudo"


def best(wanted: str) -> str:
    """The language to show for the setting `language`."""
    if wanted in LANGUAGES or wanted == PSEUDO:
        return wanted
    for tag in QLocale.system().uiLanguages():  # "pt-BR", "zh-Hans-CN"
        language, *rest = tag.replace("_", "-").split("-")
        if language == "zh" and {"Hant", "TW", "HK", "MO"} & set(rest):
            continue
        for code in LANGUAGES:
            if code.split("_")[0] == language:
                return code
    return "en"


class InstalledWords:
    """The translators that an application has at present: Grus's own sentences, and Qt's."""

    def __init__(self, app: QApplication) -> None:
        self._app = app
        self._translators: list[QTranslator] = []

    def load(self, language: str) -> None:
        """From now on texts are in this language."""
        self._remove()
        for translator in _translators(language):
            self._app.installTranslator(translator)
            self._translators.append(translator)
        locale = QLocale("en" if language == PSEUDO else language)
        QLocale.setDefault(locale)
        texts.install(_translate if self._translators else None, locale.decimalPoint())

    def unload(self) -> None:
        self._remove()
        texts.install(None)

    def _remove(self) -> None:
        for translator in self._translators:
            self._app.removeTranslator(translator)
        self._translators = []


def _translate(text: str, about: str, n: int) -> str:
    return QCoreApplication.translate(texts.CONTEXT, text, about or None, n)


def _translators(language: str) -> list[QTranslator]:
    if language == "en":
        return []
    if language == PSEUDO:
        return [PseudoWords()]
    ours, qts = QTranslator(), QTranslator()
    ours.load(f"grus_{language}", str(FOLDER))
    qts.load(f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    return [qts, ours]


_ACCENTS = str.maketrans("aceinouyACEINOUY", "áçéîñöûýÁÇÉÎÑÖÛÝ")
_GROWTH = 0.4  # German and French are a third longer than English
_PLACE = re.compile(r"(\{[^}]*\})")


class PseudoWords(QTranslator):
    """English in disguise: `Copy` is `[Çöpý··]`."""

    def isEmpty(self) -> bool:
        return False

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str | None:  # type: ignore[override]
        return pseudo(source) if context == texts.CONTEXT else None


def pseudo(text: str) -> str:
    """With accents, between brackets and longer by two fifths; what is filled in stays."""
    parts = [part if _PLACE.fullmatch(part) else part.translate(_ACCENTS) for part in _PLACE.split(text)]
    return f"[{''.join(parts)}{'·' * max(2, round(_GROWTH * len(text)))}]"
