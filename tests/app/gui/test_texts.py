"""Every text passes `tr`, and has its German with the same places to fill in."""

from __future__ import annotations

import ast
import json
import string
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.gui import texts
from tests.app.gui.conftest import Opened

ROOT = Path(__file__).resolve().parents[3]
GERMAN = ROOT / "resources" / "translations" / "de"
SOURCES = [
    *sorted((ROOT / "app" / "gui").rglob("*.py")),
    *(ROOT / "app" / f"{name}.py" for name in ("explain", "window_engine")),
]

# What a person reads, and so must not be written down plainly.
SHOWN = {"setText", "setToolTip", "setPlaceholderText", "setAccessibleName", "setWindowTitle", "setTitle", "addAction"}


def calls(file: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield node


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def written() -> set[str]:
    """Every text in the sources that is translated."""
    found: set[str] = set()
    for file in SOURCES:
        for call in calls(file):
            wanted = {"tr": 1, "mark": 1, "trn": 2}.get(name_of(call), 0)
            for argument in call.args[:wanted]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    found.add(argument.value)
    return found


def german() -> dict[str, str]:
    words: dict[str, str] = {}
    for file in sorted(GERMAN.glob("*.json")):
        for source, translation in json.loads(file.read_text(encoding="utf-8")).items():
            assert words.setdefault(source, translation) == translation, f"{source!r} has two translations"
    return words


def test_every_text_has_its_german() -> None:
    assert sorted(written() - set(german())) == []


def test_translations_fill_in_what_the_text_does() -> None:
    def places(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    assert [s for s, t in german().items() if places(s) != places(t)] == []
    assert [s for s, t in german().items() if not t.strip() or "!" in t] == []


def test_numbers_are_written_as_the_language_does() -> None:
    assert (texts.size(17.7e9), texts.seconds(1.25), texts.number(0.5, 2)) == ("17.7 GB", "1.2 s", "0.50")
    texts.install(lambda text: german().get(text, text))
    try:
        assert (texts.size(17.7e9), texts.seconds(1.25), texts.number(0.5, 2)) == ("17,7 GB", "1,2 s", "0,50")
    finally:
        texts.install(None)


@pytest.mark.parametrize("file", SOURCES, ids=lambda f: f.relative_to(ROOT).as_posix())
def test_nothing_is_shown_that_is_not_translated(file: Path) -> None:
    plain = [
        f"line {call.lineno}: {call.args[0].value!r}"
        for call in calls(file)
        if name_of(call) in SHOWN and call.args and isinstance(call.args[0], ast.Constant)
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


def test_numbers_become_words() -> None:
    texts.install(None)
    assert [texts.size(n) for n in (900, 5_000_000, 1_500_000_000)] == ["1 KB", "5 MB", "1.5 GB"]
    assert [texts.seconds(s) for s in (0.25, 42, 75, 3700)] == ["0.2 s", "42 s", "1:15 min", "1:01 h"]
    assert texts.trn("{n} token", "{n} tokens", 1) == "1 token"
    assert texts.trn("{n} token", "{n} tokens", 2) == "2 tokens"
