"""How the Guide reads and writes: its tokenizer, its chat template, and the tokens of one question and answer.

What the Guide reads is short, so that it answers at once: the beginning of what it said before, and the question in
lower case. What it writes begins with a token that no person sees, the name of the answer; the text follows from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from wordings import ANSWERS, Question

BEFORE, ASK, REPLY, END, PAD = "<|before|>", "<|ask|>", "<|says|>", "<|end|>", "<|pad|>"
BEFORE_LENGTH = 40  # characters of the last answer that are read again: enough to know it by
ASK_LENGTH = 240  # characters of a question that are read
VOCABULARY = 3584  # without the sentences

TEMPLATE = (
    """\
{%- set turn = namespace(before='', ask='', says='') -%}
{%- for message in messages -%}
    {%- if message.role == 'user' -%}
        {%- if turn.says -%}{%- set turn.before = turn.says -%}{%- set turn.says = '' -%}{%- endif -%}
        {%- set turn.ask = message.content -%}
    {%- elif message.role == 'assistant' -%}
        {%- set turn.says = message.content -%}
    {%- endif -%}
{%- endfor -%}
{%- if turn.before -%}{{ '<|before|>' + (turn.before[:BEFORE_LENGTH]|upper|replace('<|', '< |')) }}{%- endif -%}
{{ '<|ask|> ' + ((turn.ask|lower|replace('’', "'")|replace('<|', '< |')).split()|join(' '))[:ASK_LENGTH] }}
{%- if turn.says or add_generation_prompt -%}{{ '<|says|>' }}{%- endif -%}
{%- if turn.says -%}{{ turn.says + '<|end|>' }}{%- endif -%}
""".replace("BEFORE_LENGTH", str(BEFORE_LENGTH))
    .replace("ASK_LENGTH", str(ASK_LENGTH))
    .strip()
)


def topic(answer: str) -> str:
    """The token that begins an answer."""
    return f"<|{answer}|>"


def prompt(question: Question) -> str:
    """What the template makes of a conversation, without asking it."""
    return f"{_before(question)}{ASK} {question.text[:ASK_LENGTH]}{REPLY}"


def _before(question: Question) -> str:
    """In capitals, so that no word of an answer is mistaken for one of the question."""
    return BEFORE + ANSWERS[question.before]["says"][:BEFORE_LENGTH].upper() if question.before else ""


def sentences(answer: str) -> list[str]:
    """What the answer says in the pieces it is written in, one token each."""
    return re.split(r"(?<=[.!?:])(?= [A-Z`])", ANSWERS[answer]["says"])


def make_tokenizer(questions: Iterable[Question]) -> Tokenizer:
    """Byte-level BPE of what people ask and what the Guide says."""
    special = [END, PAD, BEFORE, ASK, REPLY, *map(topic, ANSWERS)]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    answers = [text for answer in ANSWERS.values() for text in (answer["says"], answer["says"][:BEFORE_LENGTH].upper())]
    tokenizer.train_from_iterator([*answers * 20, *(f" {question.text}" for question in questions)], trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    written = dict.fromkeys(sentence for name in ANSWERS for sentence in sentences(name))
    tokenizer.add_tokens([AddedToken(sentence, special=False, normalized=False) for sentence in written])
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "pad_token": PAD,
        "model_max_length": 512,
        "clean_up_tokenization_spaces": False,
        "chat_template": TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", "utf-8")
