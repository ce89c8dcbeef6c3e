"""Fill-in-the-middle: each family's own tokens, in its own order, and none that a text could smuggle in."""

from __future__ import annotations

import pytest

from engine.errors import BadRequest
from engine.pipelines.prompt import infill


class Words:
    """Ids from 1000 for the tokens of a family; every character is its code."""

    def __init__(self, *special: str, bos: int | None = None) -> None:
        self.special = {token: 1000 + at for at, token in enumerate(special)}
        self.bos_id = bos

    def id(self, token: str) -> int | None:
        return self.special.get(token)

    def encode(self, text: str, add_special: bool = True, *, parse_special: bool = True) -> list[int]:
        assert not add_special
        assert not parse_special
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
