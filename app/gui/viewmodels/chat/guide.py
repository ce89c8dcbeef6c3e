"""The Guide in the window: its answers in the window's words, with the action that shows what they say.

The Guide answers as the command line does, and knows English only. Its answers are known by how they begin
(`resources/guide_window.json`). A question in another language is answered in that language, that it knows English only.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import resources
from engine.starter import GUIDE

FILE = resources.path("guide_window.json")
_ENGLISH = frozenset(
    [
        "the",
        "is",
        "are",
        "a",
        "an",
        "i",
        "you",
        "it",
        "of",
        "in",
        "on",
        "to",
        "do",
        "does",
        "how",
        "what",
        "where",
        "which",
        "who",
        "why",
        "can",
        "my",
        "me",
        "and",
        "or",
        "not",
        "with",
        "for",
        "from",
        "this",
        "that",
        "was",
        "will",
        "have",
        "has",
        "hello",
        "hi",
        "thanks",
        "please",
    ]
)
_SCRIPTS = (("ja", "\u3040-\u30ff"), ("zh", "\u4e00-\u9fff"), ("ko", "\uac00-\ud7af"), ("ru", "\u0400-\u04ff"))
_SHOW_LANGUAGES = "models.good"


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return table


def is_guide(model: str) -> bool:
    return model == GUIDE


def in_window(question: str, answer: str) -> str:
    """What the window shows instead of the Guide's answer."""
    if language := language_of(question):
        return str(_table()["languages"][language]["says"])
    plain = " ".join(answer.split())
    found = next((entry for entry in _table()["answers"] if plain.startswith(entry["begins"])), None)
    return str(found["says"]) if found is not None else answer


def as_given(shown: str) -> str:
    """The Guide's own words for an answer as the window shows it: the Guide was trained on its own words only."""
    found = next((entry for entry in _table()["answers"] if entry["says"] == shown), None)
    return str(found["begins"]) if found is not None else shown


def shows(shown: str) -> str:
    """The name of the action that shows what an answer says; empty: none."""
    if found := next((entry for entry in _table()["answers"] if entry["says"] == shown), None):
        return str(found["show"])
    return _SHOW_LANGUAGES if any(entry["says"] == shown for entry in _table()["languages"].values()) else ""


def language_of(question: str) -> str:
    """The language of a question, where it is none of English's; empty: English, or not to be known."""
    for language, letters in _SCRIPTS:
        if re.search(f"[{letters}]", question):
            return language
    words = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", question.casefold())
    counts = {name: sum(word in entry["words"] for word in words) for name, entry in _table()["languages"].items()}
    best = max(counts, key=lambda name: counts[name])
    english = sum(word in _ENGLISH for word in words)
    return best if counts[best] > english else ""
