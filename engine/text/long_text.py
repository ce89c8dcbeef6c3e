"""Long texts: where one may be cut so that its parts have exactly the ids of the whole, and how few tokens it can have.

A tokenizer that is given megabytes at once takes hundreds of bytes of memory for each character, and cannot be stopped.
Parts can be encoded one by one where a cut changes nothing. That is so at a place where

- the pre-tokenizer splits in any case. Its patterns read forward only, so what follows such a place is split as it is alone;
  and what precedes it must not depend on what follows. `_SPLITTING` are patterns of published tokenizers in which no
  match holds a letter or digit before a space, a line break, a comma and the like (`_BEFORE`), and nothing but words of
  letters follows a letter. No composition of NFC begins at these characters either;
- or, for a SentencePiece vocabulary, which merges a text as a whole: before a space, after a character that precedes a
  space in no token. A merge makes a token, so none reaches over this place.

Where nothing is known, there are no cuts, and the text is encoded as one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tokenizers import AddedToken
from tokenizers import Tokenizer as Backend
from tokenizers.models import BPE

from engine.text.byte_bpe import QWEN, QWEN_MARKS
from engine.text.vocabulary import BYTE_OF_CHAR
from engine.weights.gguf.words import KINDS

PIECE = 1 << 15  # characters
_WINDOW = 1 << 16  # that are searched in one go: a search holds Python's lock
_LETTERS = "A-Za-zÀ-ÖØ-öø-ȟͰ-ͳΑ-ΡΣ-ωА-ҁҊ-ԯא-תؠ-ي一-龥ぁ-ゖァ-ヺ가-힣"
_BEFORE = ' \n,;.:!?()[]{}"<>=/*+&%$#@~|\\-，。、！？；：（）「」《》'  # no apostrophe: there are patterns that leave contractions with their words
_SPLITTING = frozenset({QWEN, QWEN_MARKS, *(pattern for words in KINDS.values() for pattern in words.patterns[-1:])})
_HARMLESS = frozenset(pattern for words in KINDS.values() for pattern in words.patterns[:-1])  # digits, Han
_MARK = "▁"


@dataclass(frozen=True)
class Cuts:
    """The places of one tokenizer at which a text may be cut."""

    place: re.Pattern[str]  # matches what follows a cut
    dropped: int = 0  # characters after a cut that the tokenizer puts there itself

    def pieces(self, text: str, size: int = PIECE) -> Iterator[tuple[str, int]]:
        """Parts of `size` characters and more, up to the next place for a cut, and where each ends."""
        begin = 0
        while (cut := self._next(text, begin + size)) is not None:
            yield text[begin:cut], cut
            begin = cut + self.dropped
        yield text[begin:], len(text)

    def _next(self, text: str, start: int) -> int | None:
        for at in range(start, len(text), _WINDOW):
            if found := self.place.search(text, at, at + _WINDOW):
                return found.start()
        return None


def cuts_of(backend: Backend) -> Cuts | None:
    """None where no place is known to be safe."""
    added = backend.get_added_tokens_decoder().values()
    if any(token.single_word for token in added):
        return None
    normalizers, steps = _steps(backend.normalizer, "normalizers"), _steps(backend.pre_tokenizer, "pretokenizers")
    kinds = {step["type"] for step in steps}
    if not steps or kinds == {"Metaspace"}:
        return _sentencepiece(backend, normalizers, steps, added)
    if any(step["type"] != "NFC" for step in normalizers):
        return None
    if not all(map(_is_known, steps)) or not any(map(_splits, steps)):
        return None
    spaces_only = any(step.get("add_prefix_space") for step in steps)
    return _at(_LETTERS + "0-9", " " if spaces_only else _BEFORE, added, digits=not spaces_only)


def _is_known(step: Mapping[str, Any]) -> bool:
    return _splits(step) or step["type"] in ("ByteLevel", "Digits") or _pattern(step) in _HARMLESS


def _splits(step: Mapping[str, Any]) -> bool:
    return bool(step["type"] == "ByteLevel" and step["use_regex"]) or _pattern(step) in _SPLITTING


def _pattern(step: Mapping[str, Any]) -> str | None:
    """The pattern whose matches are the words."""
    if step["type"] != "Split" or (step["behavior"], step["invert"]) not in (("Isolated", False), ("Removed", True)):
        return None
    found: str | None = step["pattern"].get("Regex")
    return found


def _sentencepiece(
    backend: Backend, normalizers: list[Any], steps: list[Any], added: Iterable[AddedToken]
) -> Cuts | None:
    model = backend.model
    if not isinstance(model, BPE) or model.dropout or model.continuing_subword_prefix or model.end_of_word_suffix:
        return None
    prepended = {"type": "Prepend", "prepend": _MARK}
    replaced = {"type": "Replace", "pattern": {"String": " "}, "content": _MARK}
    if any(step not in (prepended, replaced) for step in normalizers):
        return None
    if not (replaced in normalizers or steps) or any(step["replacement"] != _MARK for step in steps):
        return None
    vocabulary = backend.get_vocab()
    whole = not any(step["split"] for step in steps)  # the text is one word
    if whole and (model.ignore_merges or _MARK not in vocabulary):
        return None
    known = {token for token in vocabulary if re.fullmatch(f"[{_LETTERS}0-9]", token)}
    known -= {char for token in vocabulary for char, after in pairwise(token) if after == _MARK}
    return _at("".join(sorted(known)), " ", added, drop=prepended in normalizers)


def _at(
    chars: str, before: str, added: Iterable[AddedToken], *, digits: bool = False, drop: bool = False
) -> Cuts | None:
    """Cuts between one of `chars` and one of `before`, and with `digits` between a letter and a digit, where no added token
    reaches over one."""
    if not chars:
        return None
    left = re.compile(f"[{chars}]")
    for token in added:
        text = token.content
        if (token.rstrip and left.match(text[-1:])) or (drop and left.match(text[:1])):
            return None
        over = {text[at] for at in range(1, len(text)) if left.match(text[at - 1])}
        before = "".join(char for char in before if char not in over)
        digits = digits and not any(char.isdigit() for char in over)
    if not before:
        return None
    more = f"|(?<=[{_LETTERS}])[0-9]" if digits else ""
    follows = "(?=[A-Za-z])" if drop else ""
    return Cuts(re.compile(f"(?<=[{chars}])[{re.escape(before)}]{follows}{more}"), int(drop))


def _steps(part: Any, name: str) -> list[dict[str, Any]]:
    if part is None:
        return []
    described = json.loads(part.__getstate__())
    found: list[dict[str, Any]] = described[name] if described["type"] == "Sequence" else [described]
    return found


def longest_token(backend: Backend) -> int | None:
    """Bytes at most that one token stands for. None: some tokens stand for texts of any length, or some texts for no
    token. Only for a tokenizer that has `Cuts`."""
    model, vocabulary = backend.model, backend.get_vocab()
    if not isinstance(model, BPE):
        return None
    byte_level = any(step["type"] == "ByteLevel" for step in _steps(backend.pre_tokenizer, "pretokenizers"))
    bytes_in = BYTE_OF_CHAR if byte_level else [f"<0x{byte:02X}>" for byte in range(256)]
    if not (byte_level or model.byte_fallback) or any(token not in vocabulary for token in bytes_in):
        return None
    if any(token.lstrip or token.rstrip for token in backend.get_added_tokens_decoder().values()):
        return None
    return max(len(token) if byte_level else len(token.encode()) for token in vocabulary)


def least_bytes(text: str) -> int:
    """Bytes at least that are left of a text when its characters are composed."""
    return len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
