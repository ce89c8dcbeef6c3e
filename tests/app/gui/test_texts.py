"""Every text passes `tr`, and has a translation in every language with the same places to fill in."""

from __future__ import annotations

import ast
import importlib.util
import pickle
import string
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QTabBar, QWidget

from app.explain import explained
from app.gui import texts
from app.gui.language import FOLDER, LANGUAGES, PSEUDO, InstalledWords, best, pseudo
from engine.errors import (
    AccessRefused,
    ContextOverflow,
    ErrorText,
    GrusError,
    ModelNotFound,
    UnreadableFile,
    WeightsError,
)
from engine.pipelines.reading.recognizer import REPEATS
from tests.app.gui.conftest import Opened
from tests.asserting import every

ROOT = Path(__file__).resolve().parents[3]

# What a person reads, and so must not be written down plainly.
SHOWN = {"setText", "setToolTip", "setPlaceholderText", "setAccessibleName", "setWindowTitle", "setTitle", "addAction"}


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("translations", ROOT / "packaging" / "translations.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKING = script()
TRANSLATED = [language for language in LANGUAGES if language != "en"]


def messages(language: str) -> Iterator[tuple[str, str, bool, list[str]]]:
    """Source, what tells it from its namesakes, whether it has plural forms, and its translations: none while it is unfinished."""
    for message in ET.parse(FOLDER / f"grus_{language}.ts").iter("message"):
        translation = message.find("translation")
        assert translation is not None
        forms = [form.text or "" for form in translation.iter("numerusform")] or [translation.text or ""]
        plural = message.get("numerus") == "yes"
        yield (
            message.findtext("source") or "",
            message.findtext("comment") or "",
            plural,
            [] if translation.get("type") else forms,
        )


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_sentence_is_translated(language: str) -> None:
    there = {(source, about, plural) for source, about, plural, forms in messages(language) if forms and every(forms)}
    wanted = {(phrase.text, phrase.about, phrase.plural) for phrase in MAKING.found()}
    assert (sorted(wanted - there), sorted(there - wanted)) == ([], []), "run `make translations`: docs/translating.md"


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_fill_in_what_the_sentence_does(language: str) -> None:
    def fits(source: str, plural: bool, form: str) -> bool:
        # the form for one may do without the number: "a page"
        return places(source) - places(form) <= ({"n"} if plural else set()) and places(form) <= places(source)

    wrong = [
        form for source, _, plural, forms in messages(language) for form in forms if not fits(source, plural, form)
    ]
    assert wrong == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_what_is_loaded_is_what_is_written(language: str) -> None:
    """The compiled file is of today: Grus loads it, and needs no tool for it."""
    loaded = QTranslator()
    assert loaded.load(f"grus_{language}", str(FOLDER))
    stale = [
        source
        for source, about, plural, forms in messages(language)
        if loaded.translate(texts.CONTEXT, source, about, 1 if plural else -1) not in forms
    ]
    assert stale == [], "run `make translations`"


@pytest.fixture
def spoken(qapp: QApplication) -> Iterator[InstalledWords]:
    words = InstalledWords(qapp)
    yield words
    words.unload()


def test_numbers_are_written_as_the_language_does(spoken: InstalledWords) -> None:
    assert (texts.size(17.7e9), texts.seconds(1.25), texts.number(0.5, 2)) == ("17.7 GB", "1.2 s", "0.50")
    spoken.load("de")
    assert (texts.size(17.7e9), texts.seconds(1.25), texts.number(0.5, 2)) == ("17,7 GB", "1,2 s", "0,50")


def test_a_size_within_a_sentence_changes_its_unit_with_the_language(spoken: InstalledWords) -> None:
    def said() -> str:
        return texts.tr("{free} are free.", free=texts.size(5e9))

    assert (shown := said()) == "5.0 GB are free."
    spoken.load("fr")
    assert texts.again(shown) == said() == "5,0 Go disponibles."


def test_a_translation_has_its_language_s_plural_forms(spoken: InstalledWords) -> None:
    def pages() -> list[str]:
        return [texts.trn("{n} page", "{n} pages", n) for n in (0, 1, 2)]

    assert pages() == ["0 pages", "1 page", "2 pages"]
    spoken.load("de")
    assert pages() == ["0 Seiten", "1 Seite", "2 Seiten"]


def test_an_engine_s_error_is_in_the_person_s_language(spoken: InstalledWords) -> None:
    """The window's sentence comes from what the error holds; the command line and HTTP read its English."""
    missing = UnreadableFile(ErrorText("There is no file {path}.", path="a.pdf"))
    refused = AccessRefused(
        ErrorText("Hugging Face is not asked: {why}.", why=ErrorText("{name} is set", name="HF_HUB_OFFLINE"))
    )
    long = ContextOverflow("English", "prompt", tokens=9000, limit=4096)
    weights = WeightsError("model.safetensors is truncated.")
    spoken.load("de")
    assert explained(missing) == "Die Datei a.pdf gibt es nicht."
    assert explained(refused) == "Hugging Face wird nicht gefragt: HF_HUB_OFFLINE ist gesetzt."
    assert explained(long).startswith("Das ist zu lang für das Modell: 9000 Token, von denen es 4096")
    assert explained(weights).endswith("beschädigt oder unvollständig. Einzelheiten: model.safetensors is truncated.")
    none = explained(ModelNotFound("/models/a.bin is a file, but not a GGUF file. Give the checkpoint's folder."))
    assert none.startswith("Dieses Modell wurde nicht gefunden. Einzelheiten: /models/a.bin is a file")
    assert explained(GrusError("Not translated: {brace.")) == "Not translated: {brace."
    assert str(missing) == f"{missing}" == "There is no file a.pdf."
    assert pickle.loads(pickle.dumps(missing.text)).values == {"path": "a.pdf"}
    shown = explained(missing)
    spoken.load("fr")
    assert texts.again(shown) == "Le fichier a.pdf n’existe pas."


def test_what_a_reader_doubts_is_in_the_person_s_language(spoken: InstalledWords) -> None:
    spoken.load("de")
    assert texts.in_language(REPEATS) == "Der Text wiederholt sich."
    assert texts.in_language("The text repeats itself.") == "Der Text wiederholt sich."  # as the file of results has it


def test_ever_new_numbers_do_not_push_out_what_stays_on_the_screen(spoken: InstalledWords) -> None:
    shown = texts.tr("Settings")
    for n in range(9000):
        texts.trn("{n} token", "{n} tokens", n)
    spoken.load("de")
    assert texts.again(shown) == "Einstellungen"


def test_namesakes_are_told_apart() -> None:
    texts.install(lambda text, about, n: f"{text}/{about}")
    try:
        assert (texts.tr("High"), texts.tr("High", "pitch"), texts.tr(texts.mark("High", "pitch"))) == (
            "High/", "High/pitch", "High/pitch"
        )  # fmt: skip
    finally:
        texts.install(None)
    found = list(MAKING.in_python('tr("High"); tr("High", "pitch"); mark("Low", "pitch"); trn("{n} a", "{n} as", 3)'))
    assert [(p.text, p.about, p.plural) for p in found] == [
        ("High", "", False), ("High", "pitch", False), ("Low", "pitch", False), ("{n} as", "", True)
    ]  # fmt: skip


@pytest.mark.parametrize("file", MAKING.SOURCES, ids=lambda f: f.relative_to(ROOT).as_posix())
def test_nothing_is_shown_that_is_not_translated(file: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    plain = [
        f"line {call.lineno}: {call.args[0].value!r}"
        for call in calls
        if (call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")) in SHOWN
        if call.args and isinstance(call.args[0], ast.Constant)
        if isinstance(call.args[0].value, str) and any(c.isalpha() for c in call.args[0].value)
        if call.args[0].value != "Grus"
    ]
    assert plain == []


def test_the_window_speaks_german(open_grus: Callable[..., Opened]) -> None:
    grus = open_grus(language="de")
    assert grus.window.status_bar.trust.text() == "Alles bleibt auf diesem Gerät"
    assert grus.window.rail.button("chat").accessibleName() == "Chat"
    assert grus.window.panes["chat"].composer.field.placeholderText() == "Nachricht schreiben"
    assert open_grus(language="en").window.status_bar.trust.text() == "Everything stays on this machine"


def test_the_language_changes_while_the_window_is_open(open_grus: Callable[..., Opened]) -> None:
    grus = open_grus(language="de")
    window, field = grus.window, grus.window.panes["chat"].composer.field
    field.setPlainText("Kopieren")  # what a person typed is theirs
    settings, read = window.pane("settings"), window.pane("read")
    grus.context.preferences.put("language", "en")
    assert field.placeholderText() == "Write a message"
    assert field.toPlainText() == "Kopieren"
    assert window.status_bar.trust.text() == "Everything stays on this machine"
    assert settings.motion.text() == "Reduce motion"
    assert read.add.text() == "Add files"
    assert window.rail.button("read").toolTip() == "Read (Ctrl+2)"
    assert grus.context.actions["chat.new"].text() == "New conversation"
    assert ("Window", "Quit Grus") in {(line.group, line.title) for line in grus.context.actions.listed}
    grus.context.preferences.put("language", "de")
    assert window.rail.button("read").toolTip() == "Lesen (Strg+2)"


def test_of_two_phrases_with_one_translation_the_speaker_s_is_renewed() -> None:
    said = {"Reading": "Lesen", "Read": "Lesen"}
    texts.install(lambda text, about, n: said[text])
    try:
        exec("from app.gui.texts import tr\ntr('Reading')", {"__name__": "one"})
        exec("from app.gui.texts import tr\ntr('Read')", {"__name__": "other"})
        texts.install(None)
        assert [texts.again("Lesen", [module]) for module in ("one", "other")] == ["Reading", "Read"]
        assert texts.again("Schreiben", ["one"]) == "Schreiben"
    finally:
        texts.install(None)


def test_the_pseudo_language_shows_what_never_passed_the_translation(open_grus: Callable[..., Opened]) -> None:
    assert pseudo("Add {n} files") == "[Ádd {n} fîlés·····]"
    grus = open_grus(language=PSEUDO)
    assert grus.window.rail.button("chat").accessibleName() == pseudo("Chat")
    assert PSEUDO not in LANGUAGES


def test_the_system_s_language_is_chosen_where_grus_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class System:
        tags: tuple[str, ...] = ()

        def uiLanguages(self) -> list[str]:
            return list(self.tags)

    system = System()
    monkeypatch.setattr("app.gui.language.QLocale.system", lambda: system)

    def chosen(*tags: str) -> str:
        system.tags = tags
        return best("system")

    assert [chosen("de-AT"), chosen("sw-KE", "sw", "de"), chosen("sw"), best("de")] == ["de", "de", "en", "de"]
    assert chosen("zh-Hant-TW", "de-DE") == "de"


def test_numbers_become_words() -> None:
    texts.install(None)
    assert [texts.size(n) for n in (900, 5_000_000, 1_500_000_000)] == ["1 KB", "5 MB", "1.5 GB"]
    assert [texts.seconds(s) for s in (0.25, 42, 75, 3700)] == ["0.2 s", "42 s", "1:15 min", "1:01 h"]
    assert texts.trn("{n} token", "{n} tokens", 1) == "1 token"
    assert texts.trn("{n} token", "{n} tokens", 2) == "2 tokens"


def shown_in(window: QWidget) -> Iterator[tuple[str, str]]:
    """What every widget, action and entry shows, with where it is."""
    for widget in (window, *window.findChildren(QWidget)):
        name = f"{type(widget).__module__}.{type(widget).__name__} {widget.objectName()}"
        for getter in ("text", "toolTip", "accessibleName", "accessibleDescription", "placeholderText", "windowTitle"):
            if callable(getattr(widget, getter, None)) and not (getter == "text" and isinstance(widget, QLineEdit)):
                yield f"{name} {getter}", str(getattr(widget, getter)())
        if isinstance(widget, QComboBox):
            yield from ((name, widget.itemText(i)) for i in range(widget.count()))
        if isinstance(widget, QTabBar):
            yield from ((name, widget.tabText(i)) for i in range(widget.count()))
        for action in widget.actions():
            yield from ((f"{name} action", text) for text in (action.text(), action.toolTip()))


def test_nothing_stays_in_the_old_language(open_grus: Callable[..., Opened]) -> None:
    grus = open_grus(language="en")
    grus.window.make_all()
    grus.settle()
    sentences = {phrase.text for phrase in MAKING.found() if any(c.isalpha() for c in phrase.text)}
    before = [text for _, text in shown_in(grus.window) if text in sentences]
    assert len(before) > 250
    grus.context.preferences.put("language", PSEUDO)
    grus.settle()
    assert grus.window.windowTitle() == f"{pseudo('Chat')} · Grus"
    assert (
        grus.window.panes["read"].empty.sentence.text().startswith(pseudo("Drop documents, photos or scans here")[:20])
    )
    stays = [(where, text) for where, text in shown_in(grus.window) if text in sentences]
    # the snippet of the server's pane is for a program of this name
    assert [text for _, text in stays] == ["Continue"]
