"""Own words: names and terms that a speech recognition model may not have met. They stand in the prompt of a model that takes one, and what any
model writes nearly so is corrected to them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine.errors import BadRequest, ErrorText
from engine.pipelines.listening.transcript import TranscriptSegment, TranscriptWord

MOST, LONGEST = 500, 60  # words, and characters of one
_NEAR, _FAR = 5, 9  # letters from which one of them, or two, may be wrong


@dataclass(frozen=True)
class Glossary:
    words: tuple[str, ...] = ()  # each of one word or of a few

    def prompt(self, given: str | None) -> str | None:
        """What was said before, behind the own words."""
        return ", ".join(self.words) + (f". {given}" if given else ".") if self.words else given

    def corrected(self, segment: TranscriptSegment) -> TranscriptSegment:
        """The segment with its text and its timed words corrected."""
        if not self.words:
            return segment
        found = list(re.finditer(r"\S+", segment.text))
        text, at = "", 0
        for begin, end, instead in self._places([one[0] for one in found]):
            text += segment.text[at : found[begin].start()] + instead
            at = found[end - 1].end()
        timed, next_word = list[TranscriptWord](), 0
        for begin, end, instead in self._places([word.text.strip() for word in segment.words]):
            timed += segment.words[next_word:begin]
            timed.append(replace(segment.words[begin], text=instead, end=segment.words[end - 1].end))
            next_word = end
        return replace(segment, text=text + segment.text[at:], words=(*timed, *segment.words[next_word:]))

    def _places(self, tokens: Sequence[str]) -> Iterator[tuple[int, int, str]]:
        """From which token to which, and what is to stand there."""
        i = 0
        while i < len(tokens):
            found = min(
                (
                    (wrong, -count, word)
                    for word in self.words
                    for count in range(max(1, len(word.split()) - 1), len(word.split()) + 2)
                    if i + count <= len(tokens) and (wrong := _wrong(tokens[i : i + count], word)) is not None
                ),
                default=None,
            )
            if found is None:
                i += 1
                continue
            _, negative, word = found
            end = i - negative
            instead = _lead(tokens[i]) + word + _trail(tokens[end - 1])
            if " ".join(tokens[i:end]) != instead:
                yield i, end, instead
            i = end


def read_glossary(text: str) -> Glossary:
    """Of a text with commas or line breaks between words. Raises BadRequest for too much."""
    words = list(dict.fromkeys(" ".join(part.split()) for part in re.split(r"[,;\n]", text)))
    words = [word for word in words if _letters(word)]
    if len(words) > MOST or any(len(word) > LONGEST for word in words):
        raise BadRequest(
            ErrorText("Own words are at most {most}, of {longest} characters each.", most=MOST, longest=LONGEST),
            "words",
        )
    return Glossary(tuple(words))


def _wrong(tokens: Sequence[str], word: str) -> int | None:
    """How many letters are wrong if these tokens are to be the word; None where they are not."""
    if any(_trail(token) for token in tokens[:-1]) or any(_lead(token) for token in tokens[1:]):
        return None  # a mark between them
    said, wanted = "".join(map(_letters, tokens)), _letters(word)
    if said == wanted:
        return 0
    parts = word.split()
    if len(tokens) != len(parts):
        return None  # parted otherwise and written otherwise: that is rather another word
    if said.startswith(wanted):
        return None  # another form of it, such as a plural
    each = [_distance(_letters(token), _letters(part)) for token, part in zip(tokens, parts)]
    if any(wrong > _most(max(len(part), _NEAR)) for wrong, part in zip(each, parts)):
        return None
    return sum(each) if sum(each) <= _most(len(wanted)) else None


def _most(letters: int) -> int:
    """How many of so many letters may be wrong."""
    return (letters >= _NEAR) + (letters >= _FAR)


def _letters(text: str) -> str:
    """In small letters, without accents."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text).casefold() if sign.isalnum())


def _lead(token: str) -> str:
    return token[: next((i for i, sign in enumerate(token) if sign.isalnum()), 0)]


def _trail(token: str) -> str:
    return token[len(token) - next((i for i, sign in enumerate(reversed(token)) if sign.isalnum()), 0) :]


def _distance(one: str, other: str) -> int:
    """Letters to change, add or leave out."""
    row = list(range(len(other) + 1))
    for i, sign in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, wanted in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (sign != wanted))
    return row[-1]
