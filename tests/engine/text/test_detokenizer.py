"""Text that comes out token by token is the text that comes out at once, and never holds half a character."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.detokenizer import Detokenizer
from engine.text.tokenizer import Tokenizer
from tests.asserting import every
from tests.engine.text.tokenizers_made_here import byte_level, sentencepiece

BYTE_LEVEL = Tokenizer(byte_level())
SENTENCEPIECE = Tokenizer(sentencepiece())
BOTH = pytest.mark.parametrize("tokenizer", [BYTE_LEVEL, SENTENCEPIECE], ids=["byte-level", "sentencepiece"])


def pieces(tokenizer: Tokenizer, ids: list[int], **options: bool) -> list[str]:
    detokenizer = Detokenizer(tokenizer, **options)
    return [*(detokenizer.push(id) for id in ids), detokenizer.flush()]


@BOTH
@given(ids=st.lists(st.integers(0, 360)), skip=st.booleans(), start=st.booleans())
def test_pieces_add_up_to_the_whole_for_any_ids(tokenizer: Tokenizer, ids: list[int], skip: bool, start: bool) -> None:
    whole = tokenizer.decode(ids, skip, at_start=start)
    assert "".join(pieces(tokenizer, ids, skip_special=skip, at_start=start)) == whole


@BOTH
@given(raw=st.lists(st.binary(max_size=12) | st.text(st.sampled_from("你好🙂🇩🇪é a"), max_size=4).map(str.encode)))
def test_any_bytes_read_as_python_reads_them(tokenizer: Tokenizer, raw: list[bytes]) -> None:
    data = b"".join(raw)
    byte_token = {tokenizer.bytes_of(id): id for id in range(350) if len(tokenizer.bytes_of(id)) == 1}
    ids = [byte_token[bytes([b])] for b in data]
    assert "".join(pieces(tokenizer, ids, at_start=False)) == data.decode("utf-8", "replace")


@BOTH
@given(st.text(st.sampled_from("你好世界🙂🇩🇪é a\n")))
def test_a_valid_text_never_shows_a_replacement_character(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text, add_special=False)
    out = pieces(tokenizer, ids)
    assert not any("\ufffd" in piece for piece in out)
    assert "".join(out) == text
    assert out[-1] == ""


def test_a_character_appears_with_its_last_byte() -> None:
    ids = [SENTENCEPIECE.id(f"<0x{b:02X}>") or 0 for b in "🙂".encode()]
    assert pieces(SENTENCEPIECE, ids) == ["", "", "", "🙂", ""]


def test_half_a_character_shows_only_when_nothing_follows() -> None:
    ids = [SENTENCEPIECE.id(f"<0x{b:02X}>") or 0 for b in "🙂".encode()[:3]]
    assert pieces(SENTENCEPIECE, ids) == ["", "", "", "\ufffd"]


def test_only_the_first_space_of_a_text_is_dropped() -> None:
    the, space = SENTENCEPIECE.id("▁the") or 0, SENTENCEPIECE.id("▁") or 0
    assert SENTENCEPIECE.decode([1, the, the]) == "the the"
    assert SENTENCEPIECE.decode([space, the]) == " the"
    assert SENTENCEPIECE.decode([the], at_start=False) == " the"


def test_chosen_special_tokens_can_be_kept() -> None:
    start, end = BYTE_LEVEL.id("<|im_start|>") or 0, BYTE_LEVEL.id("<|im_end|>") or 0
    detokenizer = Detokenizer(BYTE_LEVEL, keep=[start])
    assert detokenizer.push([start, end]) == "<|im_start|>"


def test_each_token_is_looked_at_once() -> None:
    class Counting:
        strip = 1
        calls = 0

        def bytes_of(self, id: int) -> bytes:
            self.calls += 1
            return bytes([id])

        def is_special(self, id: int) -> bool:
            return False

    tokens = Counting()
    detokenizer = Detokenizer(tokens)
    counts = []
    for id in [0xF0] * 300:
        detokenizer.push(id)
        counts.append(tokens.calls)
    assert every(after - before == 1 for before, after in pairwise(counts))
