"""Long texts: encoded in pieces they have the ids of the whole, and how many tokens they have at least is never too much."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers import Tokenizer as Backend

from engine.text import tokenizer as module
from engine.text.long_text import PIECE, cuts_of
from engine.text.tokenizer import Tokenizer, TooManyTokens
from engine.weights.gguf.words import KINDS
from tests.engine.text.tokenizers_made_here import CHATML, sentencepiece

ROOT = Path(__file__).parents[3]
ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
# what words, breaks and compositions are made of; the special tokens as well
PARTS = [
    *"aZ q1 0 9,.;:!?()'’\"<>=/_-\n\r\t\u00a0\u3000据与，。、ぁア가ᄀ\u1161\u11a8éÅe\u0301\u0338\u0327<=🙂\u200dàßσςЯя\u05d0\u0627\u0301٣²Ⅷ",
    *("  ", "   ", "\n\n", "\r\n", " \n ", "'s", "'LL", "’t", "don't", " the", "hello", " 12345", "数据", "  x", "a b c", "def f(x):\n    return"),
    *("<|im_start|>", "<|im_end|>", "<think>", "</think>", "<s>", "</s>", "[INST]", "▁", "▁▁", "<0x41>", "| ", "e\u0301 ", "한국 "),
]  # fmt: skip


def source() -> str:
    return (ROOT / "docs" / "api.md").read_text() + "数据与模型 你好世界，你好。한국어 텍스트 привет мир " * 50


def byte_level(kind: str, **changes: Any) -> Backend:
    words = KINDS[kind]
    backend = Backend(models.BPE(ignore_merges=words.whole_words))
    words.prepare(backend)
    if prefix := changes.get("prefix"):
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    backend.decoder = decoders.ByteLevel()
    backend.train_from_iterator(
        [source()], trainers.BpeTrainer(vocab_size=900, initial_alphabet=ALPHABET, show_progress=False)
    )
    backend.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in CHATML])
    backend.add_tokens([AddedToken("<think>", normalized=False), AddedToken("</think>")])
    if words.bos:
        backend.post_processor = processors.TemplateProcessing(
            single="<|im_start|> $A <|im_end|>", special_tokens=[("<|im_start|>", 901), ("<|im_end|>", 902)]
        )
    return backend


def marks(split: bool, scheme: str | None, phrases: bool = False) -> Backend:
    """SentencePiece's family, trained. `scheme` None: the mark is the normalizer's work, as in older files. `phrases`: tokens
    hold several words."""
    backend = Backend(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    metaspace = pre_tokenizers.Metaspace("▁", prepend_scheme=scheme or "always", split=not phrases)
    backend.pre_tokenizer = metaspace
    initial = ["▁", *"abcdefghijklmnopqrstuvwxyz"]
    named = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=900, initial_alphabet=initial, special_tokens=named, show_progress=False)
    backend.train_from_iterator(source().splitlines() * 2, trainer)
    described = json.loads(backend.to_str())
    described["added_tokens"] = described["added_tokens"][:3]
    backend = Backend.from_str(json.dumps(described))
    if scheme is None:
        backend.pre_tokenizer = None
        backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    else:
        backend.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme=scheme, split=split)
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return backend


MADE: dict[str, Any] = {
    **{kind: (lambda kind=kind: byte_level(kind)) for kind in ("gpt-2", "llama-bpe", "qwen2", "qwen35", "hunyuan-dense", "tekken", "smollm")},
    "a space in front": lambda: byte_level("gpt-2", prefix=True),
    "marks, by the normalizer": lambda: marks(False, None),
    "marks, by hand": sentencepiece,
    "marks, phrases": lambda: marks(False, None, phrases=True),
    **{f"marks, {scheme}, {'split' if split else 'whole'}": (lambda split=split, scheme=scheme: marks(split, scheme))
       for scheme in ("always", "first", "never") for split in (True, False)},
}  # fmt: skip


@cache
def made(kind: str) -> Tokenizer:
    return Tokenizer(MADE[kind]())


def cut(tokenizer: Tokenizer, text: str) -> list[str]:
    assert tokenizer._cuts is not None
    return [piece for piece, _ in tokenizer._cuts.pieces(text, 1)]


@pytest.mark.parametrize("kind", MADE)
def test_pieces_have_the_ids_of_the_whole(kind: str) -> None:
    tokenizer, dice, pieces = made(kind), random.Random(kind), 0
    for _ in range(150):
        text = "".join(dice.choices(PARTS, k=dice.randint(1, 150)))
        for literal in (False, True):
            ids = [tokenizer.encode(piece, False, parse_special=not literal) for piece in cut(tokenizer, text)]
            whole = tokenizer.encode(text, False, parse_special=not literal)
            assert [id for part in ids for id in part] == whole, text
            pieces += len(ids)
    assert pieces > 300  # and not because nothing is ever cut


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("special", [True, False])
def test_a_long_text_is_encoded_in_pieces_with_what_belongs_around_it(
    kind: str, special: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer, text = made(kind), (source() * 10)[:200_000]
    lengths = []
    encoded_whole = module._encoded
    monkeypatch.setattr(
        module, "_encoded", lambda backend, text, add: lengths.append(len(text)) or encoded_whole(backend, text, add)
    )
    found = tokenizer.encode(text, special)
    assert found == tokenizer._backend.encode(text, add_special_tokens=special).ids
    assert len(lengths) > 4
    assert max(lengths) < 2 * PIECE


@given(text=st.text(max_size=60) | st.lists(st.sampled_from(PARTS), max_size=60).map("".join))
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
def test_a_text_has_as_many_tokens_as_its_length_says_or_more(text: str) -> None:
    for kind in MADE:
        least, count = made(kind)._least_tokens(text), len(made(kind).encode(text, False))
        assert least <= count, kind


def test_the_least_number_of_tokens_is_of_some_use() -> None:
    text = source().encode("ascii", "ignore").decode()
    for kind in MADE:
        tokenizer = made(kind)
        assert tokenizer._longest is not None
        assert tokenizer._least_tokens(text) > len(text) / 500


@pytest.mark.parametrize("kind", ["qwen2", "llama-bpe", "marks, by the normalizer"])
def test_encoding_stops_where_there_are_too_many_tokens(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer, text = made(kind), (source() * 30)[:1_000_000]
    count = len(tokenizer.encode(text))
    assert len(tokenizer.encode(text, most=count)) == count
    encoded = []
    encoded_whole = module._encoded
    monkeypatch.setattr(
        module, "_encoded", lambda backend, text, add: encoded.append(len(text)) or encoded_whole(backend, text, add)
    )
    with pytest.raises(TooManyTokens) as late:
        tokenizer.encode(text, most=count - 1)
    assert (late.value.count, late.value.exact) == (count, True)
    encoded.clear()
    with pytest.raises(TooManyTokens) as soon:
        tokenizer.encode(text, most=count // 2)
    assert count // 2 < soon.value.count < count
    assert not soon.value.exact
    assert sum(encoded) < 0.7 * len(text)
    encoded.clear()
    with pytest.raises(TooManyTokens) as at_once:
        tokenizer.encode(text, most=100)
    assert 100 < at_once.value.count <= count
    assert encoded == []
    with pytest.raises(TooManyTokens, match=f"^{len(tokenizer.encode('a b c'))} tokens$"):
        tokenizer.encode("a b c", most=1)


UNKNOWN: dict[str, Any] = {
    "a pattern that nobody published": lambda: split(r"\w+ \w+|."),
    "a pattern that looks back": lambda: split(r"(?<=a) b|."),
    "words and the break behind them": lambda: split(r"\w+", behavior="merged_with_previous"),
    "characters of another width": lambda: normalized(normalizers.NFKC()),
    "a token for a whole text": lambda: whole_words(),
    "a token that takes the space behind it": lambda: adding(AddedToken("word", rstrip=True)),
    "a token that must be a word": lambda: adding(AddedToken("word", single_word=True)),
}


def split(pattern: str, behavior: str = "isolated") -> Backend:
    backend = byte_level("qwen2")
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), behavior), level])
    return backend


def normalized(normalizer: Any) -> Backend:
    backend = byte_level("qwen2")
    backend.normalizer = normalizer
    return backend


def whole_words() -> Backend:
    backend = marks(False, "first")
    backend.model.ignore_merges = True
    return backend


def adding(token: AddedToken) -> Backend:
    backend = byte_level("qwen2")
    backend.add_tokens([token])
    return backend


@pytest.mark.parametrize("kind", UNKNOWN)
def test_where_nothing_is_known_a_text_is_encoded_whole(kind: str) -> None:
    backend = UNKNOWN[kind]()
    assert cuts_of(backend) is None
    text = source() * 4
    assert Tokenizer(backend).encode(text, False) == backend.encode(text, add_special_tokens=False).ids


def test_no_cut_lies_within_an_added_token() -> None:
    for content in ("a, b", "x 1", "a1"):
        backend = adding(AddedToken(content))
        text = f"and {content}, then {content} " * 20
        pieces = cut(Tokenizer(backend), text)
        assert sum(piece.count(content) for piece in pieces) == 40
