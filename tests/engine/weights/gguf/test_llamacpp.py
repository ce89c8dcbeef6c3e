"""The same GGUF files in llama.cpp and here: what we write opens there, and of every type both say the same.

Needs `llama-cpp-python` (the `bench` extra). Both quantize activations, each in its own way, so logits differ by that much; text
is compared along llama.cpp's own reply, and a choice may differ only where its best two were closer than the logits are.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from engine.weights.convert import convert
from engine.weights.gguf.reader import read
from engine.weights.gguf.words import KINDS as WORDS
from tests.checkpoints import save
from tests.engine.weights.gguf.test_tokenizer import SENTENCEPIECE, cutting, opened, stored
from tests.llamacpp_peer import CHILD, MARKS, both

pytestmark = MARKS

# How far apart logits may be, as a share of their length. From those of f32 activations, llama.cpp's K types were seen 4.8 % off
# (it rounds 256 activations by one scale) and ours 2.7 %.
EXACT, QUANTIZED = 1e-4, 0.09
# llama.cpp's number of the file type in which every matrix has this type
KINDS = {
    "F16": 1,
    "BF16": 32,
    "Q4_0": 2,
    "Q4_1": 3,
    "Q5_0": 8,
    "Q5_1": 9,
    "Q8_0": 7,
    "Q2_K": 10,
    "Q3_K": 11,
    "Q4_K": 14,
    "Q5_K": 16,
    "Q6_K": 18,
    "IQ4_NL": 25,
    "IQ4_XS": 30,
    "TQ1_0": 36,
    "TQ2_0": 37,
    "Q1_0": 40,
    "Q2_0": 41,
}
NAMES = ("llama", "qwen2", "qwen3", "qwen3_moe", "qwen3_5", "hunyuan")
WIDE = dict(hidden_size=256, intermediate_size=512, num_attention_heads=4, num_key_value_heads=2, spread=0.08)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    root = tmp_path_factory.mktemp("llamacpp")
    return cache(
        lambda name, wide=True: save(
            name, root / f"{name}-{wide}", "new" if name == "qwen3_5" else "old", **(WIDE if wide else {})
        )
    )


def agree(path: Path, room: float) -> None:
    said = []
    for got, want in both(path):
        share = float(np.linalg.norm(got - want) / np.linalg.norm(want))
        assert share <= room, share
        said.append(int(want.argmax()))
        first, second = np.sort(want)[-2:][::-1]
        assert int(got.argmax()) == said[-1] or first - second <= 2 * np.abs(got - want).max()
    assert len(set(said)) >= 8  # a model that repeats itself would prove little


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_opens_there_and_says_the_same(folder: Callable[..., Path], tmp_path: Path, name: str) -> None:
    agree(convert(folder(name, False), tmp_path / "m.gguf"), EXACT)


@pytest.mark.parametrize("quant", ["q8_0", "q4_0", "q4_k", "q6_k"])
def test_what_is_quantized_here_opens_there(folder: Callable[..., Path], tmp_path: Path, quant: str) -> None:
    agree(convert(folder("qwen3"), tmp_path / "m.gguf", "gguf", quant), QUANTIZED)


def test_the_whole_text_is_the_same(folder: Callable[..., Path], tmp_path: Path) -> None:
    """Without quantization no choice is close enough to differ."""
    choices = [
        (int(got.argmax()), int(want.argmax())) for got, want in both(convert(folder("qwen3"), tmp_path / "m.gguf"))
    ]
    assert [ours for ours, _ in choices] == [theirs for _, theirs in choices]


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_that_it_knows(folder: Callable[..., Path], tmp_path: Path, kind: str) -> None:
    source, target = tmp_path / "f32.gguf", tmp_path / f"{kind}.gguf"
    convert(folder("llama_plain"), source)
    subprocess.run([*CHILD, "quantize", str(source), str(target), str(KINDS[kind])], check=True)
    kinds = {tensor.dtype for tensor in read(target).tensors.values() if len(tensor.shape) > 1}
    assert kinds == {kind}
    agree(target, QUANTIZED)


PIECES = {
    "words": ["The", "quick", "fox's", "DON'T", "we'LL", "camelCase", "HTTP", "x", "I'm", "it"],
    "digits": ["1", "12", "123", "1234567", "3.14159", "1,000,000", "2024", "0"],
    "signs": ["!", "?!", "...", "$5", "[a](b)", "--", "**", "@x", "#", "/", "a/b", "{}", "<=>", "`~^|", "(", "_"],
    "blanks": [" ", "  ", "   ", "\n", "\n\n", " \n", "\t", "\r\n", "\n  "],
    "asia": ["数据", "模型，", "你好世界", "こんにちは", "カタカナ", "안녕", "2024年", "。", "한국어"],
    "cased": ["Ünïted", "naïve", "ΑΒΓ", "αβγ", "Привет", "МИР", "ß", "É"],
    "marks": ["e\u0301", "किताब", "ภาษา", "عربى", "א", "\u0301"],
    "symbols": ["🙂", "🇩🇪", "€", "²", "½", "Ⅳ", "…", "“a”", "\u00a0", "\u3000", "٣٤"],
}
# What llama.cpp cuts otherwise than the tokenizers that the models were trained with, which are followed here: it does not compose
# characters, tells upper from lower case in ASCII alone, and has no possessive repetitions.
APART: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("qwen2", "qwen35", "command-r"), ("marks",)),
    **dict.fromkeys(("tekken", "gpt-4o", "llama4", "kanana2", "minimax-m2", "youtu"), ("cased", "marks")),
    "kimi-k2": ("marks",),
}


def some_texts(kinds: list[str], count: int = 60) -> list[str]:
    chance = random.Random(7)
    pool = [piece for kind in kinds for piece in PIECES[kind]]
    return ["".join(chance.choice(pool) for _ in range(chance.randint(1, 12))) for _ in range(count)]


def tokens_there(path: Path, texts: list[str]) -> list[list[int]]:
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.run([*CHILD, "tokens", str(path)], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kind", WORDS)
def test_words_are_cut_as_there(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "m.gguf"
    ours = stored(cutting(kind), path, pre=kind)
    texts = some_texts([name for name in PIECES if name not in APART.get(kind, ())])
    for text, ids in zip(texts, tokens_there(path, texts), strict=True):
        assert ours.encode(text, add_special=False) == ids, text


def test_sentencepiece_cuts_as_there(tmp_path: Path) -> None:
    """Merges by score, bytes where no token is, with and without a space before."""
    texts = some_texts([*PIECES])
    for prefix in (True, False):
        path = tmp_path / f"{prefix}.gguf"
        ours = opened(path, SENTENCEPIECE | {"tokenizer.ggml.add_space_prefix": prefix})
        for text, ids in zip(texts, tokens_there(path, texts), strict=True):
            assert ours.encode(text, add_special=False) == ids, text
