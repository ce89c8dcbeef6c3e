"""Reasoning and answer are told apart, however the reply is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.builtin_templates import HUNYUAN, LLAMA3, QWEN3
from engine.text.families import tags_for
from engine.text.reasoning import ReasoningSplitter, ReasoningTags
from tests.engine.text.cuts import cut

THINK = ReasoningTags("<think>", "</think>")
WRAPPED = ReasoningTags("<think>", "</think>", ("<answer>", "</answer>"))
NASTY = st.lists(
    st.sampled_from(["<think>", "</think>", "<answer>", "</answer>", "<", "</th", "\n", " ", "a", "bc", "ink>"]),
    max_size=9,
).map("".join)


def split(pieces: list[str], tags: ReasoningTags = THINK, started: bool = False) -> tuple[str, str]:
    splitter = ReasoningSplitter(tags, started)
    out = [p for piece in pieces for p in splitter.push(piece)] + splitter.flush()
    assert "" not in [p.text for p in out]
    kinds = [p.kind for p in out]
    assert kinds == sorted(kinds, reverse=True)  # all reasoning before all answer
    return "".join(p.text for p in out if p.kind == "reasoning"), "".join(p.text for p in out if p.kind == "answer")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>\nhm\n\nso\n</think>\n\nYes.\n", ("hm\n\nso", "Yes.\n")),
        ("\n<think>a</think>b", ("a", "b")),
        ("<think>\n\n</think>\n\nYes", ("", "Yes")),
        ("Yes, <think> is a tag", ("", "Yes, <think> is a tag")),
        ("  indented", ("", "  indented")),
        ("<thin", ("", "<thin")),
        ("<think>not closed </thi", ("not closed </thi", "")),
        ("<think>a</think>\n\n", ("a", "")),
        ("<think>a</think>b</think>", ("a", "b</think>")),
        ("", ("", "")),
    ],
)
def test_what_is_what(text: str, expected: tuple[str, str]) -> None:
    assert split([text]) == expected
    assert split(list(text)) == expected


def test_a_prompt_that_opened_the_tag() -> None:
    assert split(["hm</th", "ink>\n\nYes"], started=True) == ("hm", "Yes")
    assert split(["Yes"]) == ("", "Yes")
    assert THINK.opened_in("<|im_start|>assistant\n<think>\n")
    assert not THINK.opened_in("<|im_start|>assistant\n<think>\n\n</think>\n\n")


def test_a_wrapped_answer_is_unwrapped() -> None:
    assert split(["<think>\nhm\n</think>\n<answer>\nYes\n</answer>"], WRAPPED) == ("hm", "Yes")
    assert split(["<answer>\nYes\n</answer>"], WRAPPED) == ("", "Yes")
    assert split(["<think>hm</think>plain <answer>"], WRAPPED) == ("hm", "plain <answer>")


@pytest.mark.parametrize("tags", [THINK, WRAPPED], ids=["plain", "wrapped"])
@given(pieces=cut(NASTY), started=st.booleans())
def test_cuts_do_not_matter(tags: ReasoningTags, pieces: list[str], started: bool) -> None:
    assert split(pieces, tags, started) == split(["".join(pieces)], tags, started)


def test_text_is_shown_as_soon_as_it_is_certain() -> None:
    splitter = ReasoningSplitter(THINK)
    assert splitter.push("<think>I see") == [("reasoning", "I see")]
    assert splitter.push(" it</think>") == [("reasoning", " it")]
    assert splitter.push("Yes") == [("answer", "Yes")]


def test_tags_come_from_the_template() -> None:
    assert tags_for("qwen3", QWEN3) == THINK
    assert tags_for("hunyuan_v1_dense", HUNYUAN) == WRAPPED
    assert tags_for("llama", LLAMA3) is None
