"""The Guide's answers, and the wordings it will be judged by.

The wordings were written by someone who saw only the answers, before any training; they are never trained on and never
edited. How the Guide does on them is in `test_guide.py`.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

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
            assert topic["history"][-1]["content"] in {answer["says"] for answer in ANSWERS.values()}


def test_off_topic_questions_are_enough_and_different() -> None:
    assert len({question.lower() for question in HELD_OUT["off_topic"]}) == len(HELD_OUT["off_topic"]) >= 50
