"""Text to the phonemes that Kokoro was trained with, by the program espeak-ng.

Punctuation stays, because the model hears it. What espeak-ng writes is brought to Kokoro's signs by the rules of its authors'
library for words that no dictionary has. Phonemes may stand in a text: `[Kokoro](/kˈOkəɹO/)`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence

from engine.errors import BadRequest, ErrorText

MOST = 510  # phonemes of one passage
_PATIENCE = 30.0  # seconds
_GIVEN = re.compile(r"\[[^\]]*\]\(/([^)/]*)/\)")
_MARKS = re.compile(r"""[“”"«»()¡¿—…]|[;:,.!?]+(?=$|[\s”"»)])""")
_SWITCH = re.compile(r"\([a-z^-]+\)")  # where a word is of another language
_ENDS, _BEHIND = ("!.?…", ":;", ",—"), ")”"

_ENGLISH = (
    ("ʔˌn\u0329", "ʔn"), ("ʔn\u0329", "ʔn"), ("a^ɪ", "I"), ("a^ʊ", "W"), ("d^ʒ", "ʤ"), ("e^ɪ", "A"), ("t^ʃ", "ʧ"),
    ("ɔ^ɪ", "Y"), ("ə^l", "ᵊl"), ("ʲo", "jo"), ("ʲə", "jə"), ("e", "A"), ("ʲ", ""), ("ɚ", "əɹ"), ("r", "ɹ"), ("x", "k"),
    ("ç", "k"), ("ɐ", "ə"), ("ɬ", "l"), ("\u0303", ""),
)  # fmt: skip
_AMERICAN = (("o^ʊ", "O"), ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɪə", "iə"), ("ː", ""))
_BRITISH = (("e^ə", "ɛː"), ("iə", "ɪə"), ("ə^ʊ", "Q"))
_OTHERS = (
    ("a^ɪ", "I"), ("a^ʊ", "W"), ("d^z", "ʣ"), ("d^ʒ", "ʤ"), ("e^ɪ", "A"), ("o^ʊ", "O"), ("s^s", "S"), ("t^s", "ʦ"),
    ("t^ʃ", "ʧ"), ("ə^ʊ", "Q"), ("ɔ^ɪ", "Y"),
)  # fmt: skip


def phonemes(text: str, voice: str) -> str:
    """Of a text in the language that espeak-ng has under this name, such as en-us."""
    return _one_line("".join(stretches(text, voice)))


def stretches(text: str, voice: str) -> Iterator[str]:
    """The same in pieces: spaces, marks and the words between them. A piece costs a call of espeak-ng, and is made when it is asked for."""
    at = 0
    for given in _GIVEN.finditer(text):
        yield from _spelled(text[at : given.start()], voice)
        yield given[1]
        at = given.end()
    yield from _spelled(text[at:], voice)


def _one_line(spelled: str) -> str:
    return re.sub(r"\s+", " ", spelled).strip()


def _spelled(text: str, voice: str) -> Iterator[str]:
    at = 0
    for mark in _MARKS.finditer(text):
        yield from _words(text[at : mark.start()], voice)
        yield {"«": "“", "»": "”"}.get(mark[0], mark[0])
        at = mark.end()
    yield from _words(text[at:], voice)


def _words(text: str, voice: str) -> Iterator[str]:
    """What lies between two marks, with the space around it."""
    if not any(sign.isalnum() for sign in text):
        yield " " if text else ""
        return
    if text[0].isspace():
        yield " "
    yield kokoro_signs(" ".join(_espeak(text, voice).split()), voice)
    if text[-1].isspace():
        yield " "


def kokoro_signs(spoken: str, voice: str) -> str:
    """What espeak-ng writes, with `^` between the parts of one sound, in Kokoro's signs."""
    spoken = _SWITCH.sub("", spoken)
    if not voice.startswith("en"):
        return _replaced(spoken, _OTHERS).replace("^", "").replace("-", "")
    spoken = re.sub(r"(\S)\u0329", r"ᵊ\1", _replaced(spoken, _ENGLISH)).replace("\u0329", "")
    spoken = _replaced(spoken, _BRITISH if voice == "en-gb" else _AMERICAN).replace("o", "ɔ")
    return spoken.replace("ɾ", "T").replace("ʔ", "t").replace("^", "")


def _replaced(text: str, pairs: Sequence[tuple[str, str]]) -> str:
    for old, new in pairs:
        text = text.replace(old, new)
    return text


def can_spell() -> bool:
    return shutil.which("espeak-ng") is not None


def check_speller() -> None:
    """Raise BadRequest, with what to do, where espeak-ng is missing."""
    if not can_spell():
        raise BadRequest(
            ErrorText(
                "Kokoro needs the program espeak-ng, which tells how words are pronounced. Install it "
                "(Debian: apt install espeak-ng, macOS: brew install espeak-ng), or choose another voice."
            ),
            "model",
        )


def _espeak(text: str, voice: str) -> str:
    check_speller()
    program = shutil.which("espeak-ng")
    assert program is not None
    try:
        done = subprocess.run(
            [program, "-q", "--ipa", "--tie=^", "-v", voice, "--stdin", "-b", "1"],
            input=text,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE,
            check=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise BadRequest(ErrorText("espeak-ng failed ({reason}).", reason=type(error).__name__), "input") from None
    return done.stdout


def cut(spelled: str) -> list[str]:
    """Parts of at most 510 phonemes, at the last end of a sentence if the rest fits, else at a colon or a comma."""
    made = []
    while len(spelled) > MOST:
        end = spelled.rfind(" ", 0, MOST + 1)
        end = end if end > 0 else MOST
        word = spelled.find(" ", end + 1)
        reach = word if word > 0 else len(spelled)
        at = next((z for marks in _ENDS if (z := _behind_last(spelled[:end], marks)) and reach - z <= MOST), end)
        made.append(spelled[:at].strip())
        spelled = spelled[at:].strip()
    return [part for part in [*made, spelled] if part]


def _behind_last(spelled: str, marks: str) -> int:
    """The place behind the last of these marks, and what closes behind it; 0 where there is none."""
    at = max(spelled.rfind(mark) for mark in marks) + 1
    return at + 1 if at and spelled[at : at + 1] in tuple(_BEHIND) else at


_SHORT = 40  # phonemes that are spoken in under three seconds
_LEAST = 10


def begun(pieces: Iterable[str]) -> Iterator[str]:
    """A short beginning that can be heard early, and the rest: the first sentence, or what stands before its first comma. Of the pieces
    (see `stretches`) no more are taken for the beginning than it needs."""
    made, waiting = "", iter(pieces)
    for piece in waiting:
        made = (made + piece).lstrip()
        if at := _beginning(made, whole=False):
            break
    else:
        at = _beginning(made, whole=True)
    if at:
        yield _one_line(made[:at])
    rest = _one_line(made[at:] + "".join(waiting))
    if rest:
        yield rest


def _beginning(spelled: str, whole: bool) -> int:
    """How much of it is the beginning; 0 while that is open. `whole`: nothing follows."""
    end = next((found.end() for found in re.finditer(r"[.!?…]+[)”\"]*(?=\s)", spelled)), 0)
    if 0 < end <= _SHORT:
        return end
    if not end and not whole and len(spelled) <= _SHORT:
        return 0
    commas = (found.end() for found in re.finditer(r"[;:,—](?=\s)", spelled[: end + 1] if end else spelled))
    return next((at for at in commas if at >= _LEAST), end)
