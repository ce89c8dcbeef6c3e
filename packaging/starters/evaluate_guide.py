"""How often the Guide is right, asked through Grus itself: `python packaging/starters/evaluate_guide.py [FOLDER]`.

The check: decoded greedily, the whole reply, with its spaces made single, equals the wanted answer word for word. For a
question about something else than Grus, it equals one of the answers that `guide_answers.toml` marks as honest. The
questions are those of a file like `tests/starters/guide_heldout.json`; only shares are printed, never a question, so
that nobody trains towards them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from wordings import ANSWERS, Wordings  # noqa: E402

import grus  # noqa: E402

HELD_OUT = HERE.parents[1] / "tests/starters/guide_heldout.json"
AT_ONCE = 64

Messages = list[dict[str, str]]


def plain(text: str) -> str:
    return " ".join(text.split())


TEXTS = {name: plain(answer["says"]) for name, answer in ANSWERS.items()}
NAME_OF = {text: name for name, text in TEXTS.items()}
HONEST = {name for name, answer in ANSWERS.items() if answer.get("honest")}


@dataclass(frozen=True)
class Score:
    """Shares of right answers, and how many questions each is of."""

    topics: float
    follow_ups: float
    off_topic: float
    asked: tuple[int, int, int]

    def __str__(self) -> str:
        shares = (self.topics, self.follow_ups, self.off_topic)
        names = ("answers right", "of them follow-ups", "off-topic honest")
        return "\n".join(f"{name:<20}{share:7.1%} of {n}" for name, share, n in zip(names, shares, self.asked))


def ask(model: grus.Model, conversations: Sequence[Messages]) -> list[str | None]:
    """The name of the answer that each reply is; None: it is none of them."""
    names: list[str | None] = []
    for at in range(0, len(conversations), AT_ONCE):
        replies = model.batch(conversations[at : at + AT_ONCE], temperature=0)
        names += [NAME_OF.get(plain(reply.text)) for reply in replies]
    return names


def conversation(topic: dict[str, Any]) -> Messages:
    return [*topic.get("history", ()), {"role": "user", "content": topic["question"]}]


def score(model: grus.Model, topics: Sequence[dict[str, Any]], off_topic: Sequence[str]) -> Score:
    """`topics` as in the file of held-out wordings: question, answer_id and perhaps history."""
    names = ask(model, [conversation(topic) for topic in topics])
    right = [name == topic["answer_id"] for name, topic in zip(names, topics, strict=True)]
    later = [good for good, topic in zip(right, topics, strict=True) if topic.get("history")]
    honest = [
        name in HONEST for name in ask(model, [[{"role": "user", "content": question}] for question in off_topic])
    ]
    return Score(_share(right), _share(later), _share(honest), (len(right), len(later), len(honest)))


def _share(right: Sequence[bool]) -> float:
    return sum(right) / len(right) if right else 1.0


def held_back(number: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Questions made of the wordings that training with --hold-back has not read."""
    topics, off_topic = [], []
    for question in itertools.islice(Wordings("held back").questions(2), number):
        if question.answer in HONEST and question.before is None:
            off_topic.append(question.text)
            continue
        before = {"role": "assistant", "content": ANSWERS[question.before]["says"]} if question.before else None
        history = [{"role": "user", "content": "?"}, before] if before else None
        topics.append({"question": question.text, "answer_id": question.answer, "history": history or []})
    return topics, off_topic


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="guide", help="folder or GGUF file (default: the one that ships)")
    parser.add_argument("--questions", type=Path, default=HELD_OUT)
    parser.add_argument("--held-back", type=int, metavar="N", help="ask N made-up questions instead")
    parser.add_argument("--least-right", type=float, default=0.9, help="share of answers; fewer are a failure")
    parser.add_argument("--least-honest", type=float, default=0.95, help="the same off-topic")
    parser.add_argument("--backend", default="torch", choices=("auto", "torch", "mlx"))
    options = parser.parse_args()
    if options.held_back:
        topics, off_topic = held_back(options.held_back)
    else:
        asked = json.loads(options.questions.read_text(encoding="utf-8"))
        topics, off_topic = asked["topics"], asked["off_topic"]
    with grus.load(options.model, backend=options.backend, quant="none") as model:
        found = score(model, topics, off_topic)
    print(found)
    if found.topics < options.least_right or found.off_topic < options.least_honest:
        raise SystemExit(f"The aim is {options.least_right:.0%} right and {options.least_honest:.0%} honest.")


if __name__ == "__main__":
    main()
