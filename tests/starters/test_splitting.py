"""Tokens with merges left out: none, as the tokenizer has it; some, the same for the same seed."""

from __future__ import annotations

import itertools
from random import Random

from guide_text import prompt
from splitting import Splitter
from tokenizers import Tokenizer
from wordings import Wordings

from engine.starter import FOLDER, GUIDE

TOKENIZER = Tokenizer.from_file(str(FOLDER / GUIDE / "tokenizer.json"))
PROMPTS = [prompt(question) for question in itertools.islice(Wordings().questions(3), 300)]


def test_with_every_merge_made_it_is_the_tokenizer() -> None:
    splitter = Splitter(TOKENIZER, 0.0)
    assert [splitter.encode(text, Random(0)) for text in PROMPTS] == [TOKENIZER.encode(text).ids for text in PROMPTS]


def test_the_same_seed_leaves_out_the_same_and_no_letter_is_lost() -> None:
    splitter = Splitter(TOKENIZER, 0.1)
    first, again = ([splitter.encode(text, random) for text in PROMPTS] for random in (Random(5), Random(5)))
    assert first == again
    whole = [TOKENIZER.encode(text).ids for text in PROMPTS]
    assert sum(map(len, first)) > 1.05 * sum(map(len, whole))
    decoded = [TOKENIZER.decode(ids, skip_special_tokens=False) for ids in first]
    assert decoded == [TOKENIZER.decode(ids, skip_special_tokens=False) for ids in whole]
