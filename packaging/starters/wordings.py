"""What people say to the Guide, made up: questions with the name of the answer that each one wants.

The wordings of `wordings/*.toml` are chosen from, reworded and mistyped; questions that go on from an answer, and
questions that the Guide cannot answer, are among them. All randomness comes from one seed. Every eighth wording can be
kept out of training, to see how well the Guide does on what it has not read.

The questions by which the Guide is judged at the end (`tests/starters/guide_heldout.json`) are not read here.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from pathlib import Path
from random import Random

from grammar import Grammar
from rewording import STOP, punctuate, vary

HERE = Path(__file__).resolve().parent
ANSWERS: dict[str, dict] = tomllib.loads((HERE / "guide_answers.toml").read_text(encoding="utf-8"))

# What a short follow-up sounds like, by the key of an answer's `then`.
FOLLOW_UPS = {
    "how": "(|and |ok, |but |so )(how|how exactly|how do i do that|how do i do this|how does that work|how can i do it|show me how|in what way|how would i do that|how is that done|how so|what do i have to do|how do i go about it|tell me how|what are the steps|how can i|and how do you do that|how do i start)",
    "more": "(|and |ok, |please )(more|tell me more|go on|what else|anything else|more details|more about that|continue|and what else|can you say more|elaborate|more please|is there more|i want to know more|details please|say more about it|explain further|and further|keep going|what more)",
    "why": "(|and |but |ok, )(why|why is that|how come|why so|why not|for what reason|what is the reason|why though|why does it matter|why would i|why should i|what for|the reason)",
    "windows": "(and |what about |how about ||how on |and how on |is it the same on |i use |i am on |what if i have |and if i have )(windows|windows 11|a windows pc|win 11|windows 10|powershell)( instead|)",
    "mac": "(and |what about |how about |how on |and how on |is it the same on |i use |i am on |what if i have |and if i have |)(a mac|mac|macos|my macbook|apple|apple silicon|an m2 mac)( instead|)",
    "linux": "(and |what about |how about |how on |and how on |is it the same on |i use |i am on |what if i have |and if i have |)(linux|ubuntu|debian|fedora|arch)( instead|)",
    "where": "(|and |but |ok, )(where|where is that|where is it|where exactly|where do i find that|where does it go|where are they|in which folder|where are they kept|where can i see that|where do they go|where is that stored|which place|where to)",
    "example": "(|and |ok, )(example|an example|give me an example|show me an example|for example|for instance|can you show an example|such as|a sample please|example please|do you have an example|show me|what does that look like)",
    "m4": "(and |what about |how about |i have |with |if i have |only |for |what if i have |and with |and for |)(4 gb|4gb|4 gb of ram|four gigabytes|2 gb|4 gigs|4 gb ram)",
    "m8": "(and |what about |how about |i have |with |if i have |only |for |what if i have |and with |and for |)(8 gb|8gb|8 gb of ram|eight gigabytes|8|8 gigs|8 gb ram|6 gb)",
    "m16": "(and |what about |how about |i have |with |if i have |for |what if i have |and with |and for |)(16 gb|16gb|16 gb of ram|sixteen gigabytes|16|16 gigs|16 gb ram|12 gb)",
    "m32": "(and |what about |how about |i have |with |if i have |for |what if i have |and with |and for |)(32 gb|32gb|32 gb of ram|24 gb|24gb|32|32 gigs|32 gb ram|36 gb|thirty-two gigabytes)",
    "m64": "(and |what about |how about |i have |with |if i have |for |what if i have |and with |and for |)(64 gb|64gb|64 gb of ram|128 gb|64|64 gigs|96 gb|a 128 gb mac studio|48 gb|sixty-four gigabytes)",
}  # fmt: skip
# What a follow-up means after an answer that says nothing of it.
ELSEWHERE = {
    "windows": "install_windows", "mac": "install_mac", "linux": "install_linux",
    "m4": "model_4gb", "m8": "model_8gb", "m16": "model_16gb", "m32": "model_32gb", "m64": "model_64gb",
}  # fmt: skip
# How often each is asked, where that is not as often as most.
WEIGHTS = {
    "off_topic": 110.0, "off_topic_code": 7.0, "off_topic_now": 6.0, "off_topic_advice": 7.0,
    "guide_languages": 3.0, "unclear": 1.5, "make_image": 1.5, "translate_docs": 1.5,
}  # fmt: skip
_SYLLABLES = [
    start + vowel + end
    for start in ("b", "br", "c", "ch", "d", "f", "g", "gr", "h", "j", "k", "kl", "l", "m", "n", "p", "qu", "r", "s", "st", "t", "v", "w", "z")
    for vowel in "aeiou"
    for end in ("", "", "n", "r", "l", "s", "t", "ck", "m")
]  # fmt: skip
HELD_BACK = 8  # every eighth wording is not trained on when asked so


@dataclass(frozen=True)
class Question:
    text: str  # in lower case, as the chat template makes it
    answer: str  # the name of the answer it wants
    before: str | None = None  # the name of the answer that was given just before


class Wordings:
    """Questions without end. `part`: "all", or "training" or "held back" of the same wordings."""

    def __init__(self, part: str = "all") -> None:
        phrases: dict[str, list[str]] = {}
        self._lines: dict[str, list[str]] = {name: [] for name in ANSWERS}
        for path in sorted((HERE / "wordings").glob("*.toml")):
            table = tomllib.loads(path.read_text(encoding="utf-8"))
            if path.stem in ("phrases", "beyond_words"):
                phrases |= table
                continue
            for name, lines in table.items():
                self._lines[name] += _part_of(lines.strip().splitlines(), part)
        self._grammar = Grammar(phrases)
        self._names = list(ANSWERS)
        # The few answers with one or two long wordings have none of them held back.
        self._weights = [WEIGHTS.get(name, 1.0) if self._lines[name] else 0.0 for name in self._names]
        self._held_back = part == "held back"
        self._keywords = _keywords_of_answers()
        self._links = [(name, key, to) for name in ANSWERS for key, to in ANSWERS[name].get("then", {}).items()]

    def questions(self, seed: int) -> Iterator[Question]:
        random = Random(seed)
        while True:
            dice = random.random()
            if dice < 0.10:
                yield self._follow_up(random)
            elif dice < 0.12 and not self._held_back:
                yield self._words_of_the_answer(random)
            else:
                name = random.choices(self._names, self._weights)[0]
                before = random.choice(self._names) if random.random() < 0.12 else None
                yield Question(self._ask(name, random), name, before)

    def _ask(self, name: str, random: Random) -> str:
        lines = self._lines[name]
        # A line that allows more texts is used more often, the list of single words not too often.
        weights = [1 + line.count("|") ** 0.5 for line in lines]
        while True:
            text = self._grammar.say(random.choices(lines, weights)[0], random)
            if text:
                break
        if name == "off_topic" and random.random() < 0.45:
            text = _with_unheard_word(text, random)
        if name == "guide_languages" and not text.isascii():
            return punctuate(text, random)
        if not ANSWERS[name].get("honest") and random.random() < 0.06:
            text += random.choice([" in grus", " with grus", " for grus"])
        return vary(text, random)

    def _follow_up(self, random: Random) -> Question:
        if random.random() < 0.7:
            before, key, answer = random.choice(self._links)
            if self._lines[answer] and random.random() < 0.15:  # the follow-up says in full what it wants
                return Question(self._ask(answer, random), answer, before)
        else:
            before, key = random.choice(self._names), random.choice(list(FOLLOW_UPS))
            answer = ANSWERS[before].get("then", {}).get(key) or ELSEWHERE.get(key, "unclear")
        return Question(vary(self._grammar.say(FOLLOW_UPS[key], random), random, 0.15), answer, before)

    def _words_of_the_answer(self, random: Random) -> Question:
        """A few telling words of the answer itself, as in a search box."""
        name = random.choice(self._names)
        words, weights = self._keywords[name]
        chosen = dict.fromkeys(random.choices(words, weights, k=random.randint(2, 5)))
        return Question(" ".join(chosen), name)


def _with_unheard_word(text: str, random: Random) -> str:
    """Most things, places and people are ones that no list holds: a word made up of syllables stands for them."""
    words = text.split(" ")
    long = [at for at, word in enumerate(words) if len(word) > 3 and word not in STOP]
    if long:
        words[random.choice(long)] = "".join(random.choice(_SYLLABLES) for _ in range(random.randint(2, 4)))
    return " ".join(words)


def _part_of(lines: list[str], part: str) -> list[str]:
    if part == "all":
        return lines
    held_back = {at for at in range(len(lines)) if at % HELD_BACK == 3 and len(lines) > 4}
    return [line for at, line in enumerate(lines) if (at in held_back) == (part == "held back")]


def _keywords_of_answers() -> dict[str, tuple[list[str], list[float]]]:
    """For each answer, its words and how well each one distinguishes it from the others."""
    words = {
        name: [word for word in re.findall(r"[\w.@/-]*\w", answer["says"].lower()) if word not in STOP]
        for name, answer in ANSWERS.items()
    }
    known = Counter(word for said in words.values() for word in set(said))
    return {name: (said, [log(len(ANSWERS) / known[word]) ** 2 for word in said]) for name, said in words.items()}
