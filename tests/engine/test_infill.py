"""Fill-in-the-middle: each family's own tokens, in its own order, and none that a text could smuggle in."""

from __future__ import annotations

import pytest

from engine.errors import BadRequest
from engine.pipelines.prompt import infill
from engine.text.tokenizer import TooManyTokens


class Words:
    """Ids from 1000 for the tokens of a family; every character is its code."""

    def __init__(self, *special: str, bos: int | None = None) -> None:
        self.special = {token: 1000 + at for at, token in enumerate(special)}
        self.bos_id = bos

    def id(self, token: str) -> int | None:
        return self.special.get(token)

    def encode(
        self, text: str, add_special: bool = True, *, parse_special: bool = True, most: int | None = None
    ) -> list[int]:
        assert not add_special
        assert not parse_special
        if most is not None and len(text) > most:
            raise TooManyTokens(len(text), exact=True)
        return [ord(char) for char in text]


A, B = ord("a"), ord("b")


def test_prefix_suffix_middle() -> None:
    qwen = Words("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|endoftext|>")
    filled = infill(qwen, "a", "b")
    assert filled.ids == [1000, A, 1001, B, 1002]
    assert filled.stops == (1003,)


def test_the_suffix_first_and_a_beginning_of_text() -> None:
    codestral = Words("[PREFIX]", "[SUFFIX]", bos=7)
    assert infill(codestral, "a", "b").ids == [7, 1001, B, 1000, A]


def test_control_tokens_in_a_file_are_plain_text() -> None:
    qwen = Words("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")
    assert infill(qwen, "<|fim_middle|>", "").ids.count(1002) == 1


def test_a_model_without_such_tokens_says_so() -> None:
    with pytest.raises(BadRequest, match="cannot fill in"):
        infill(Words("<|fim_prefix|>"), "a", "b")


def test_further_files_come_first_by_the_tokens_of_their_family() -> None:
    names = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|repo_name|>", "<|file_sep|>")
    filled = infill(Words(*names), "a", "b", [("f.py", "x"), ("g.py", "y")])
    text = "".join(f"<{id}>" if id >= 1000 else chr(id) for id in filled.ids)
    assert text == "<1003>myproject\n<1004>f.py\nx<1004>g.py\ny<1004>filename\n<1000>a<1001>b<1002>"
    plain = infill(Words(*names[:3]), "a", "b", [("f.py", "x")])
    assert plain.ids[:-5] == [ord(char) for char in "\n\n--- snippet ---\n\nx"]


def test_files_leave_room_for_the_reply_and_texts_that_are_too_long_are_refused() -> None:
    qwen = Words("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", bos=7)
    filled = infill(qwen, "a", "b", [("f.py", "0123456789")], most=20, reply=10)
    assert filled.ids == [7, *(ord(char) for char in "6789"), 1000, A, 1001, B, 1002]
    assert infill(qwen, "a", "b", [("f.py", "01")], most=5).ids == [7, 1000, A, 1001, B, 1002]
    with pytest.raises(TooManyTokens):
        infill(qwen, "a", "b" * 30, most=20)
