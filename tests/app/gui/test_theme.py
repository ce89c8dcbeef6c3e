"""Every text can be read on everything it lies on, in every theme."""

from __future__ import annotations

import re

import pytest

from app.gui.look import SHEET
from app.gui.theme import CONTRAST, DARK, LIGHT, Theme, choose, colours, contrast

THEMES = [LIGHT, DARK, CONTRAST]
GROUNDS = ("window", "side", "hover", "bubble", "code", "selected")


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("token", ["text", "second"])
@pytest.mark.parametrize("ground", GROUNDS)
def test_text_has_contrast_on_every_ground(theme: Theme, token: str, ground: str) -> None:
    assert contrast(getattr(theme, token), getattr(theme, ground)) >= 4.5


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_colours_that_carry_words_have_contrast(theme: Theme) -> None:
    for token in ("accent", "ok", "warning", "error"):
        assert contrast(getattr(theme, token), theme.window) >= 4.5, token
    for token in ("code_word", "code_text", "code_note", "code_name", "code_number"):
        assert contrast(getattr(theme, token), theme.code) >= 4.5, token
    assert contrast(theme.on_accent, theme.accent) >= 4.5


def test_the_measure_knows_black_from_white() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#777777") == pytest.approx(1)


def test_the_style_sheet_has_no_colour_of_its_own() -> None:
    assert not re.findall(r"#[0-9A-Fa-f]{3,8}\b", SHEET.template)
    used = set(re.findall(r"\$\{?(\w+)", SHEET.template)) - {"corner", "arrow", "check"}
    assert used <= set(colours(LIGHT))


def test_a_wish_chooses_the_theme() -> None:
    assert choose("system", True) is DARK
    assert choose("system", False) is LIGHT
    assert choose("light", True) is LIGHT
    assert choose("contrast", False) is CONTRAST
