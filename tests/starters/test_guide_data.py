"""The Guide's answers, and the wordings it will be judged by.

The wordings were written by someone who saw only the answers, before any training; they are never trained on and never
edited. How the Guide does on them is in `test_guide.py`.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from guide_text import BEFORE_LENGTH, sentences
from guide_text import topic as mark

ROOT = Path(__file__).resolve().parents[2]
ANSWERS = tomllib.loads((ROOT / "packaging/starters/guide_answers.toml").read_text(encoding="utf-8"))
HELD_OUT = json.loads((ROOT / "tests/starters/guide_heldout.json").read_text(encoding="utf-8"))


def test_answers_are_many_short_and_lead_somewhere() -> None:
    assert len(ANSWERS) >= 150
    for name, answer in ANSWERS.items():
        assert 0 < len(answer["says"].split()) <= 60, name
        assert set(answer.get("then", {}).values()) <= set(ANSWERS), name
    assert len({answer["says"] for answer in ANSWERS.values()}) == len(ANSWERS)
    assert any(answer.get("honest") for answer in ANSWERS.values())


def test_held_out_wordings_ask_for_answers_that_exist() -> None:
    topics = HELD_OUT["topics"]
    assert len(topics) >= 300
    assert {topic["answer_id"] for topic in topics} == set(ANSWERS)
    asked = [(json.dumps(topic.get("history")), topic["question"].lower()) for topic in topics]
    assert len(set(asked)) == len(asked)
    for topic in topics:
        if "history" in topic:
            # what is read again of an answer; the rest of some was written anew since
            begun = topic["history"][-1]["content"][:BEFORE_LENGTH]
            assert begun in {answer["says"][:BEFORE_LENGTH] for answer in ANSWERS.values()}


def test_off_topic_questions_are_enough_and_different() -> None:
    assert len({question.lower() for question in HELD_OUT["off_topic"]}) == len(HELD_OUT["off_topic"]) >= 50


def test_the_guide_that_ships_says_what_is_written_here() -> None:
    """Each sentence is one token: whoever edits an answer runs `retell_guide.py`, or trains."""
    kept = json.loads((ROOT / "resources/starter/guide/tokenizer.json").read_text(encoding="utf-8"))["added_tokens"]
    contents = [token["content"] for token in kept if not token["special"]]
    assert set(contents) == {sentence for name in ANSWERS for sentence in sentences(name)}
    assert len(set(contents)) == len(contents)
    assert {mark(name) for name in ANSWERS} <= {token["content"] for token in kept if token["special"]}
