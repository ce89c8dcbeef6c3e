"""Rules for markdown-it: formulas (`$...$`, `$$...$$`, `\\(...\\)`, `\\[...\\]`) and footnotes."""

from __future__ import annotations

import re
from typing import Any

from markdown_it import MarkdownIt

_PAIRS = (("$$", "$$", True), ("\\[", "\\]", True), ("\\(", "\\)", False), ("$", "$", False))


def with_formulas(md: MarkdownIt) -> MarkdownIt:
    """Tokens of type `formula`, with the TeX as content and `display` in their meta."""
    md.inline.ruler.before("escape", "formula", _inline)
    md.block.ruler.before("fence", "formula", _block, {"alt": ["paragraph", "blockquote", "list"]})
    return md


def _inline(state: Any, silent: bool) -> bool:
    source, at = state.src, state.pos
    if source[at] not in "$\\":
        return False
    for opening, closing, display in _PAIRS:
        if not source.startswith(opening, at):
            continue
        start = at + len(opening)
        end = _closing(source, start, closing)
        if end < 0:
            continue
        tex = source[start:end].strip()
        if not tex or (closing == "$" and not _is_formula(source, start, end)):
            continue
        if not silent:
            token = state.push("formula", "", 0)
            token.content, token.meta = tex, {"display": display}
        state.pos = end + len(closing)
        return True
    return False


def _closing(source: str, start: int, closing: str) -> int:
    at = source.find(closing, start)
    while at > 0 and closing[0] == "$" and source[at - 1] == "\\":
        at = source.find(closing, at + 1)
    return at


def _is_formula(source: str, start: int, end: int) -> bool:
    inside, after = source[start:end], source[end + 1 : end + 2]
    return not inside[0].isspace() and not inside[-1].isspace() and not after.isdigit() and "\n\n" not in inside


def _block(state: Any, first: int, last: int, silent: bool) -> bool:
    """A display formula; unterminated, it extends to the end (a reply that is still streaming)."""
    begin = state.bMarks[first] + state.tShift[first]
    text = state.src[begin : state.eMarks[first]]
    closing = next((c for o, c, display in _PAIRS if display and text.startswith(o)), None)
    if closing is None:
        return False
    lines = [text[2:]]
    line = first
    while closing not in lines[-1]:
        line += 1
        if line >= last:
            break
        lines.append(state.src[state.bMarks[line] : state.eMarks[line]])
    closed = closing in lines[-1]
    body, _, rest = "\n".join(lines).partition(closing) if closed else ("\n".join(lines), "", "")
    if rest.strip():
        return False
    if silent:
        return True
    state.line = min(line + 1, last)
    token = state.push("formula_block", "", 0)
    token.content, token.meta = body.strip(), {"display": True, "closed": closed}
    token.map = [first, state.line]
    return True


_NOTE = re.compile(r"\[\^([^\]\s]+)\]")
_NOTE_TEXT = re.compile(r"\[\^([^\]\s]+)\]:[ \t]*(.*)")


def with_footnotes(md: MarkdownIt) -> MarkdownIt:
    """`[^1]` is a token `footnote_reference`; the text after `[^1]:` stands where it was written, as a block `footnote`."""
    md.inline.ruler.before("link", "footnote_reference", _note_reference)
    md.block.ruler.before("reference", "footnote", _note_text, {"alt": ["paragraph"]})
    return md


def _note_reference(state: Any, silent: bool) -> bool:
    found = _NOTE.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("footnote_reference", "", 0).content = found[1]
    state.pos = found.end()
    return True


def _note_text(state: Any, first: int, last: int, silent: bool) -> bool:
    line = first
    found = _NOTE_TEXT.match(state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]])
    if found is None:
        return False
    if silent:
        return True
    lines = [found[2]]
    while line + 1 < last and not state.isEmpty(line + 1):
        text = state.src[state.bMarks[line + 1] + state.tShift[line + 1] : state.eMarks[line + 1]]
        if _NOTE_TEXT.match(text):
            break
        lines.append(text)
        line += 1
    state.line = line + 1
    state.push("footnote_open", "", 1).map = [first, state.line]
    state.push("footnote_label", "", 0).content = found[1]
    inline = state.push("inline", "", 0)
    inline.content, inline.map, inline.children = "\n".join(lines), [first, state.line], []
    state.push("footnote_close", "", -1)
    return True
