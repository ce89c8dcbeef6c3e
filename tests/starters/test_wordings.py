"""Made-up questions: the same for the same seed, for every answer, and never those by which the Guide is judged."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from grammar import Grammar
from rewording import vary
from wordings import ANSWERS, HERE, Question, Wordings

from tests.asserting import every

ASKED = list(itertools.islice(Wordings().questions(7), 20_000))


def test_a_wording_stands_for_every_text_that_its_choices_allow() -> None:
    grammar = Grammar({"how": ["how do i", "(please |)tell me how to"]})
    said = {grammar.say("{how} (add|get (a|one)|) model", Random(seed)) for seed in range(200)}
    assert said == {
        f"{how} {rest}".replace("  ", " ")
        for how in ("how do i", "please tell me how to", "tell me how to")
        for rest in ("add model", "get a model", "get one model", "model")
    }


@pytest.mark.parametrize("wrong", ["a (b", "a) b", "((a)"])
def test_a_bracket_without_its_partner_is_found(wrong: str) -> None:
    with pytest.raises(ValueError, match="bracket"):
        Grammar({}).say(wrong, Random(0))


def test_the_same_seed_gives_the_same_questions() -> None:
    assert list(itertools.islice(Wordings().questions(7), 500)) == ASKED[:500]
    assert list(itertools.islice(Wordings().questions(8), 500)) != ASKED[:500]


def test_every_answer_is_asked_for_in_many_ways() -> None:
    ways = Counter(question.answer for question in set(ASKED))
    assert set(ways) == set(ANSWERS)
    assert min(ways.values()) >= 20


def test_follow_ups_lead_where_the_answers_say() -> None:
    links = {(name, to) for name, answer in ANSWERS.items() for to in answer.get("then", {}).values()}
    assert links <= {(question.before, question.answer) for question in ASKED}


def test_questions_that_lead_beyond_grus_are_a_fair_part_of_all() -> None:
    beyond = sum(bool(ANSWERS[question.answer].get("honest")) for question in ASKED)
    assert 0.2 < beyond / len(ASKED) < 0.45  # with fewer, one in ten of them got an answer about Grus


def test_what_is_held_back_is_not_trained_on() -> None:
    training, held_back, everything = (Wordings(part) for part in ("training", "held back", "all"))
    for name in ANSWERS:
        assert set(training._lines[name]) | set(held_back._lines[name]) == set(everything._lines[name])
        assert not set(training._lines[name]) & set(held_back._lines[name])


def test_questions_are_what_the_template_makes_of_them() -> None:
    assert every(question.text == question.text.lower().strip() for question in ASKED)
    assert "" not in {question.text for question in ASKED}


def test_rewording_changes_the_text_and_keeps_most_of_it() -> None:
    said = [vary("how do i turn thinking off", Random(seed)) for seed in range(300)]
    assert len(set(said)) > 150
    assert sum("thinking" in text for text in said) > 200


def test_no_script_reads_the_questions_that_judge_but_the_one_that_counts() -> None:
    readers = [path.name for path in HERE.glob("*.py") if re.search(r"open|read_text", path.read_text("utf-8"))]
    held_out = [path.name for path in HERE.glob("*.py") if "HELD_OUT = HERE" in path.read_text("utf-8")]
    assert held_out == ["evaluate_guide.py"]
    assert "wordings.py" in readers


def test_wordings_name_only_answers_that_exist() -> None:
    assert {question.answer for question in ASKED} <= set(ANSWERS)
    assert isinstance(ASKED[0], Question)
    assert json.loads((Path(__file__).parent / "guide_heldout.json").read_text("utf-8"))["topics"]
