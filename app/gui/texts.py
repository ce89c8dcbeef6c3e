"""Every text that a person reads passes `tr` or `trn`; numbers, sizes and times become words here.

Does not import Qt, so that view-models may use it: `app/gui/language.py` installs Qt's translations. docs/translating.md tells
how a sentence gets its translations.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from engine.errors import ErrorText

CONTEXT = "grus"


class Phrase(NamedTuple):
    """A sentence before it is translated: the English, what tells it from its namesakes, and what is filled in."""

    text: str
    about: str = ""
    one: str = ""  # the English for exactly one; `n` is then the number
    n: int = -1
    values: Mapping[str, Any] = {}

    def shown(self) -> str:
        """In the language that is installed."""
        translated = _translate(self.text, self.about, self.n)
        if self.n == 1 and translated == self.text:
            translated = self.one
        if not self.values:
            return translated
        return translated.format(**{name: _filled_in(value) for name, value in self.values.items()})


def _filled_in(value: Any) -> Any:
    """An engine's text is translated, and so is a size or a time, which is a text with a unit already."""
    if isinstance(value, ErrorText):
        return Phrase(value.template, values=value.values).shown()
    return value() if callable(value) else value


def _units(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, with what says it again in the place of a size or a time."""
    renewed = {name: _shown.get(value, {}).get(__name__) for name, value in values.items() if type(value) is str}
    return {name: renewed.get(name) or value for name, value in values.items()}


def _as_written(text: str, about: str, n: int) -> str:
    return text


_translate: Callable[[str, str, int], str] = _as_written
_point = "."

# What was shown, to be found again when the language changes, and what says it again: with the module that said it, since two
# phrases may have one translation. What has values filled in leaves when there is much of it, the oldest first.
_shown: dict[str, dict[str, Callable[[], str]]] = {}
_before: dict[str, dict[str, Callable[[], str]]] = {}  # in the language before this one
_filled: dict[str, None] = {}
_MOST = 4000


def install(translate: Callable[[str, str, int], str] | None, point: str = ".") -> None:
    """What turns English into the chosen language, with the context and the number; None: English stays. `point` is the
    decimal point."""
    global _translate, _point, _shown, _before
    _translate, _point = translate or _as_written, point
    _shown, _before = {}, _shown
    _filled.clear()


class Marked(str):
    """A text of a table that has namesakes of another meaning: `about` tells them apart."""

    about = ""


def mark(text: str, about: str = "") -> str:
    """A text in a table, which is translated where it is shown."""
    if not about:
        return text
    marked = Marked(text)
    marked.about = about
    return marked


def tr(text: str, about: str = "", /, **values: Any) -> str:
    """The text in the person's language, with `{name}` filled in. `about` tells two equal English texts apart that other
    languages word differently: `tr("High", "pitch")`."""
    return _say(Phrase(str(text), about or getattr(text, "about", ""), values=_units(values)))


def trn(one: str, many: str, n: int, **values: Any) -> str:
    """`one` for exactly one, else `many`; both may hold `{n}`. A translation has as many forms as its language."""
    return _say(Phrase(many, "", one, n, {**_units(values), "n": n}))


def in_language(text: str) -> str:
    """The engine's text in the person's language; one that has no translation stays English."""
    template, values = (text.template, text.values) if isinstance(text, ErrorText) else (str(text), {})
    return _say(Phrase(template, values=values))


def _say(phrase: Phrase) -> str:
    return remember(phrase.shown, sys._getframe(2).f_globals["__name__"], bool(phrase.values))


def remember(say: Callable[[], str], module: str, passing: bool = False) -> str:
    """What `say` returns, which it says anew when the language changes; for texts that are put together. `passing`: there
    may be ever new ones."""
    shown = say()
    if passing and shown not in _shown:
        _filled[shown] = None
        if len(_filled) > _MOST:
            for old in list(_filled)[: _MOST // 4]:
                _filled.pop(old, None)
                _shown.pop(old, None)
    speakers = _shown.setdefault(shown, {})
    speakers.pop(module, None)  # the newest is the last
    speakers[module] = say
    return shown


def source(shown: str) -> Callable[[], str]:
    """What says a text that is shown now in every language from now on."""
    return next(reversed(_shown.get(shown, {"": lambda: shown}).values()))


def again(shown: str, modules: Collection[str] = ()) -> str:
    """What was shown in the language before this one, in this one. `modules`, where it is shown, are preferred as its speakers;
    what only another pane said is a name here, of a program or a voice, that happens to be the same word."""
    panes = {pane for module in modules if (pane := _pane(module))}
    speakers = [module for module in _before.get(shown, ()) if not (panes and _pane(module)) or _pane(module) in panes]
    if not speakers:
        return shown
    module = next((module for module in modules if module in speakers), speakers[0])
    return remember(_before[shown][module], module)


def _pane(module: str) -> str:
    """`chat` of app.gui.chat.composer; nothing of what panes share."""
    _, _, package, *rest = [*module.split("."), "", "", ""]
    return package if rest[0] and package not in ("viewmodels", "store", "sound") else ""


def number(value: float, digits: int = 1) -> str:
    """With as many digits behind the point, or the comma, as the language writes it."""
    return remember(lambda: f"{value:.{digits}f}".replace(".", _point), __name__, passing=True)


def size(nbytes: float) -> str:
    """Bytes as systems show them: in GB of 10^9."""
    if nbytes >= 1e9:
        return tr("{size} GB", size=number(nbytes / 1e9))
    if nbytes >= 1e6:
        return tr("{size} MB", size=f"{nbytes / 1e6:.0f}")
    return tr("{size} KB", size=f"{nbytes / 1e3:.0f}")


def seconds(value: float) -> str:
    """A duration, short."""
    if value < 10:
        return tr("{time} s", time=number(value))
    if value < 60:
        return tr("{time} s", time=f"{value:.0f}")
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return tr("{time} min", time=f"{minutes}:{rest:02}")
    return tr("{time} h", time=f"{minutes // 60}:{minutes % 60:02}")
