"""A pronunciation list: words, and how they are said. Its file has a line for each word:

    # names
    Xanthippe = Zan-tip-ee
    SQL = sequel
    Grus = /ɡɹˈus/

Between slashes are phonemes, for models that read them. A word in small letters is found however it is written, another one only as
it stands in the list; longer entries are found first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from engine.errors import BadRequest, ErrorText

MOST_ENTRIES, LONGEST_ENTRY = 20_000, 200
_LARGEST = 4 << 20  # bytes of a file


@dataclass(frozen=True)
class Pronunciations:
    entries: tuple[tuple[str, str], ...]  # a word or several, and how they are said

    @staticmethod
    def of(entries: Mapping[str, str]) -> Pronunciations:
        """Raises BadRequest for an entry that is none."""
        if len(entries) > MOST_ENTRIES:
            raise BadRequest(f"A pronunciation list has at most {MOST_ENTRIES} entries.", "pronunciations")
        clean = {" ".join(word.split()): " ".join(spoken.split()) for word, spoken in entries.items()}
        for word, spoken in clean.items():
            if not (word and spoken) or max(len(word), len(spoken)) > LONGEST_ENTRY:
                raise BadRequest(
                    f"{word[:40]!r} = {spoken[:40]!r} is no pronunciation: both sides have 1 to {LONGEST_ENTRY} characters.",
                    "pronunciations",
                )
        return Pronunciations(tuple(clean.items()))

    @staticmethod
    def read(path: Path) -> Pronunciations:
        """Raises BadRequest for a file that is no list, with the line that is wrong."""
        try:
            with path.open("rb") as file:
                text = file.read(_LARGEST + 1).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise BadRequest(ErrorText("{path} is no text in UTF-8.", path=path), "pronunciations") from None
        except OSError as error:
            raise BadRequest(
                ErrorText("{path} cannot be read: {reason}.", path=path, reason=error.strerror or error),
                "pronunciations",
            ) from None
        if len(text) > _LARGEST:
            raise BadRequest(f"{path} is too large for a pronunciation list.", "pronunciations")
        return Pronunciations.parsed(text, path)

    @staticmethod
    def parsed(text: str, path: Path | None = None) -> Pronunciations:
        """Of the lines of a list; `path`: the file that they are of."""
        entries: dict[str, str] = {}
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            word, equals, spoken = line.partition("=")
            if not (equals and word.strip() and spoken.strip()):
                raise BadRequest(
                    ErrorText("Line {number} is not of the form: word = how it is said.", number=number)
                    if path is None
                    else ErrorText(
                        "Line {number} of {path} is not of the form: word = how it is said.", number=number, path=path
                    ),
                    "pronunciations",
                )
            entries[word] = spoken
        return Pronunciations.of(entries)

    def check(self, reads_phonemes: bool) -> None:
        """Raise BadRequest for phonemes where the model reads none."""
        given = next((word for word, spoken in self.entries if _phonemes(spoken)), None)
        if given is not None and not reads_phonemes:
            raise BadRequest(
                f"The pronunciation of {given!r} is in phonemes, which Kokoro reads and this voice does not. Spell it as it sounds.",
                "pronunciations",
            )

    def applied(self, text: str) -> str:
        """The text as it is said. Phonemes are written as Kokoro reads them."""
        return self._pattern.sub(self._spoken, text) if self.entries else text

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        words = sorted((word for word, _ in self.entries), key=len, reverse=True)
        found = "|".join(r"\s+".join(map(re.escape, word.split())) for word in words)
        return re.compile(rf"(?<!\w)(?:{found})(?!\w)", re.IGNORECASE)

    @cached_property
    def _by_word(self) -> Mapping[str, str]:
        return dict(self.entries)

    def _spoken(self, found: re.Match[str]) -> str:
        word = " ".join(found[0].split())
        spoken = self._by_word.get(word) or self._by_word.get(word.lower())
        if spoken is None:  # the list has it in other capitals
            return found[0]
        return f"[{word}](/{phonemes}/)" if (phonemes := _phonemes(spoken)) else spoken


NO_PRONUNCIATIONS = Pronunciations(())


def _phonemes(spoken: str) -> str:
    return spoken[1:-1].strip() if len(spoken) > 2 and spoken[0] == spoken[-1] == "/" else ""
