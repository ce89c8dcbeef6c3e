"""From a question to a query of SQLite's full-text search."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

MOST_WORDS = 24  # of a question; a longer one is a pasted text, whose rarest words say enough
MOST_ROWS = 20_000  # passages whose rank is computed
FREQUENT = 0.01  # share of the passages from which on a word's is kept
COMMON = 0.2  # and from which on it is not asked for
SHORT = 4  # letters: words that are shorter are no parts of others
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(
    r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])"
)  # scripts without spaces between words
_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")

# words that questions are made of, in the languages of the window's readers; never left out where nothing else is asked
FUNCTION_WORDS = frozenset(
    [
        "a",
        "about",
        "according",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "me",
        "mean",
        "means",
        "much",
        "many",
        "my",
        "no",
        "not",
        "of",
        "on",
        "or",
        "our",
        "she",
        "should",
        "so",
        "than",
        "that",
        "the",
        "their",
        "them",
        "there",
        "these",
        "they",
        "this",
        "to",
        "under",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "aber",
        "als",
        "auch",
        "auf",
        "aus",
        "bei",
        "bin",
        "bis",
        "das",
        "dass",
        "dem",
        "den",
        "der",
        "des",
        "die",
        "dies",
        "diese",
        "dieser",
        "du",
        "durch",
        "ein",
        "eine",
        "einem",
        "einen",
        "einer",
        "eines",
        "er",
        "es",
        "für",
        "haben",
        "hat",
        "hatte",
        "ich",
        "ihr",
        "im",
        "ist",
        "kann",
        "mit",
        "nach",
        "nicht",
        "noch",
        "oder",
        "sein",
        "sich",
        "sie",
        "sind",
        "über",
        "um",
        "und",
        "uns",
        "unter",
        "viel",
        "viele",
        "vom",
        "von",
        "vor",
        "wann",
        "war",
        "warum",
        "welche",
        "welcher",
        "welches",
        "wem",
        "wen",
        "wer",
        "werden",
        "wie",
        "wieviel",
        "wird",
        "wo",
        "wurde",
        "zu",
        "zum",
        "zur",
        "au",
        "aux",
        "avec",
        "ce",
        "ces",
        "cette",
        "combien",
        "comment",
        "dans",
        "de",
        "elle",
        "en",
        "est",
        "et",
        "il",
        "ils",
        "la",
        "le",
        "les",
        "leur",
        "ne",
        "nous",
        "ou",
        "où",
        "par",
        "pas",
        "pour",
        "pourquoi",
        "qu",
        "quand",
        "que",
        "quel",
        "quelle",
        "quelles",
        "qui",
        "quoi",
        "sa",
        "se",
        "ses",
        "son",
        "sont",
        "sur",
        "un",
        "une",
        "vous",
        "al",
        "como",
        "con",
        "cual",
        "cuando",
        "cuanto",
        "cuantos",
        "del",
        "donde",
        "el",
        "ella",
        "entre",
        "esta",
        "este",
        "las",
        "lo",
        "los",
        "más",
        "para",
        "pero",
        "por",
        "porque",
        "quien",
        "ser",
        "sin",
        "sobre",
        "su",
        "sus",
        "una",
        "y",
        "com",
        "da",
        "dos",
        "e",
        "ela",
        "ele",
        "em",
        "foi",
        "na",
        "nas",
        "não",
        "nos",
        "o",
        "os",
        "pela",
        "pelo",
        "qual",
        "quando",
        "quanto",
        "quem",
        "são",
        "sua",
        "uma",
    ]
)


def indexed(text: str) -> str:
    """A text as the index receives it: each sign of Chinese and Japanese is a word."""
    return _UNSPACED.sub(r" \1 ", text)


@dataclass(frozen=True)
class WordQuery:
    """A query for FTS5 that finds any of its words; empty where there is none. `rest`: words that are too frequent to look up, and what
    each is worth in a passage that another word has found."""

    match: str
    rest: tuple[tuple[str, float], ...] = ()


def query_of(
    question: str,
    shares: Mapping[str, float] | None = None,
    passages: int = 0,
    is_known: Callable[[str], bool] = lambda query: True,
) -> WordQuery:
    """`shares`: of the passages, how many have a frequent word. A word that most have does not distinguish passages and is left out where others
    remain; the rarest are looked up as far as `MOST_ROWS` goes, so that a question takes about as long in any library. `is_known`: whether
    a query of one word finds a passage; a word that finds none is looked up as the beginning of others, or by its parts."""
    shares = shares or {}
    words = list(dict.fromkeys(word.casefold() for word in _WORD.findall(_RUN.sub(" ", question))))
    distinctive = [word for word in words if word not in FUNCTION_WORDS and shares.get(word, 0.0) <= COMMON]
    chosen = sorted((distinctive or words)[:MOST_WORDS], key=lambda word: shares.get(word, 0.0))
    rows, looked_up = 0.0, 0
    for word in chosen:
        rows += shares.get(word, 0.0) * passages
        if looked_up and rows > MOST_ROWS:
            break
        looked_up += 1
    rest = tuple((word, math.log(1 / shares[word])) for word in chosen[looked_up:])
    terms = [term for word in chosen[:looked_up] for term in _terms(word, is_known if word not in shares else None)]
    for run in _RUN.findall(question):
        pairs = [run[at : at + 2] for at in range(len(run) - 1)] or [run]
        terms += [f'"{" ".join(pair)}"' for pair in pairs[:MOST_WORDS]]
    return WordQuery(" OR ".join(dict.fromkeys(terms)), rest)


def _terms(word: str, is_known: Callable[[str], bool] | None) -> list[str]:
    """A word as it is looked up: itself, words that begin with it, or two words that it is made of, as German makes them."""
    if is_known is None or is_known(f'"{word}"'):
        return [f'"{word}"']
    if len(word) > SHORT and is_known(f'"{word}"*'):
        return [f'"{word}"*']
    for at in range(len(word) - SHORT, SHORT - 1, -1):  # the longest first part
        first, second = word[:at], word[at:]
        if is_known(f'"{second}"') and (
            known := next((one for one in (first, *_without_link(first)) if is_known(f'"{one}"')), "")
        ):
            return [f'"{known}"', f'"{second}"']
    return [f'"{word}"']


def _without_link(first: str) -> list[str]:
    return [first.removesuffix(link) for link in ("s", "n", "en", "es") if first.endswith(link)]


def words_in(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
