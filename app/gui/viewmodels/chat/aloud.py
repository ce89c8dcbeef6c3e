"""A written reply as it is said: the marks of markdown become pauses, code stays on the screen.

Words leave as soon as they are whole, so that a voice can begin before the line has ended.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"\s*(```|~~~)")
_RULE = re.compile(r"\s*([-*_=]\s*){3,}$")
_POINT = re.compile(r"\s*(#{1,6}\s+|[-*+]\s+(\[[ xX]\]\s+)?|>\s*|(?P<number>\d{1,3})[.)]\s+)")
_MAYBE = re.compile(r"\s*([-*+#>=_~`|\d]|$)")  # what such a line is, only the whole of it tells
_EMPHASIS = re.compile(r"\*+(?=\S)|(?<=\S)\*+|`+")
_CELLS = re.compile(r"\s*\|\s*")
_ENDS = ".!?…。！？:;,：；，"


class Aloud:
    """`push` takes the reply bit by bit, and gives what is to be said of it; `finish` gives the rest."""

    def __init__(self) -> None:
        self._line = ""  # of the line that is being written, what was not said yet
        self._begun = False  # was some of it said?
        self._in_code = False
        self._before = ""  # what comes between what was said and what will be
        self._last = ""  # the last sign that was said

    def push(self, piece: str) -> str:
        self._line += piece
        said = ""
        while "\n" in self._line:
            line, self._line = self._line.split("\n", 1)
            said += self._whole(line)
        return said + self._words()

    def finish(self) -> str:
        line, self._line = self._line, ""
        return self._whole(line)

    def _words(self) -> str:
        """Of a line that is still written, the words that are whole."""
        stop = max(self._line.rfind(" "), self._line.rfind("\t")) + 1
        if self._in_code or not stop or not (self._begun or not _MAYBE.match(self._line)):
            return ""
        words, self._line = self._line[:stop], self._line[stop:]
        self._begun = True
        return self._say(words)

    def _whole(self, line: str) -> str:
        if self._begun:
            self._begun = False
            return self._run_on(line)
        if _FENCE.match(line):
            self._in_code = not self._in_code
            return self._apart("")
        if self._in_code:
            return ""
        if not line.strip() or _RULE.match(line):
            return self._apart("")
        if line.lstrip().startswith("|"):
            return self._apart(", ".join(cell for cell in _CELLS.split(line.strip(" |")) if cell.strip("-:")))
        if point := _POINT.match(line):
            number = f"{point['number']}: " if point["number"] else ""
            return self._apart(number + line[point.end() :])
        return self._run_on(line)

    def _run_on(self, text: str) -> str:
        """What is written over several lines goes on in one sentence."""
        said = self._say(text)
        self._gap(" ")
        return said

    def _apart(self, text: str) -> str:
        """A sentence of its own, whether it ends in a mark or not."""
        self._gap(". ")
        said = self._say(text)
        self._gap(". ")
        return said

    def _say(self, words: str) -> str:
        words = _EMPHASIS.sub("", words)
        if not words.strip():
            return words
        before, self._before = self._before, ""
        self._last = words.strip()[-1]
        return before + words

    def _gap(self, gap: str) -> None:
        """It comes with the next words."""
        if self._last and "." not in self._before:
            self._before = gap if self._last not in _ENDS else " "
