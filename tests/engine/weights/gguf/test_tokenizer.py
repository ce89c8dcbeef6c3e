"""The tokenizer inside a GGUF file gives the ids that the tokenizer it was made from gives."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, decoders, pre_tokenizers
from tokenizers import Tokenizer as Backend
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

from engine.errors import TokenizerError
from engine.text.tokenizer import Tokenizer
from engine.weights.gguf import tokenizer as gguf_tokenizer
from engine.weights.gguf import vocabulary
from engine.weights.gguf.reader import read
from engine.weights.gguf.words import KINDS
from tests.engine.text.tokenizers_made_here import CHATML
from tests.engine.weights.gguf.files import save

TEXTS = [
    "",
    "The quick brown fox's 12345 don't DON'T we'LL it’s",
    "数据与模型 你好世界 こんにちは 안녕 2024年",
    "naïve café 🙂🙂 🇩🇪 e\u0301",
    "  a  b   c\n\n\td  \r\n x  ",
    "def f(x):\n    return x**2  # 3.14159 1,000,000",
    "<|im_start|>user\nHi<|im_end|> <think>yes</think>",
    "camelCase HTTPServer !!?? ...--- $5 @x [a](b) \u00a0wide\u3000",
]


@cache
def merging_across_words() -> str:
    """Trained on uncut text, so that every difference in cutting shows in the ids."""
    tokenizer = Backend(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = BpeTrainer(vocab_size=700, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(TEXTS * 3, trainer)
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in CHATML])
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in ("<think>", "</think>")])
    return tokenizer.to_str()


def cutting(kind: str) -> Tokenizer:
    """A tokenizer that cuts as `kind` does."""
    backend = Backend.from_str(merging_across_words())
    KINDS[kind].prepare(backend)
    described = json.loads(backend.to_str())
    described["model"]["ignore_merges"] = KINDS[kind].whole_words
    return Tokenizer(Backend.from_str(json.dumps(described)), {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"})


def stored(tokenizer: Tokenizer, path: Path, arch: str = "llama", rows: int | None = None, **changes: Any) -> Tokenizer:
    """The same tokenizer after a file."""
    rows = rows or tokenizer.vocab_size
    metadata = vocabulary.describe(tokenizer, {}, arch, rows, tokenizer.eos_ids)
    metadata |= {f"tokenizer.ggml.{key}": value for key, value in changes.items()}
    return opened(path, metadata, arch)


def opened(path: Path, metadata: dict[str, Any], arch: str = "llama") -> Tokenizer:
    metadata = {"general.architecture": arch, **metadata}
    file = read(save(path, {key: value for key, value in metadata.items() if value is not None}, []))
    return gguf_tokenizer.build(gguf_tokenizer.Vocabulary(file.metadata, str(path)), arch, {}, {})


@pytest.mark.parametrize("kind", KINDS)
def test_every_way_of_cutting_words(tmp_path: Path, kind: str) -> None:
    original = cutting(kind)
    again = stored(original, tmp_path / "m.gguf", pre=kind, add_bos_token=False)
    for text in TEXTS:
        ids = original.encode(text)
        assert again.encode(text) == ids
        assert again.decode(ids, skip_special=False) == original.decode(ids, skip_special=False)
    assert again.special_ids == original.special_ids
    assert again.eos_ids == original.eos_ids


def test_kinds_differ_where_they_should(tmp_path: Path) -> None:
    ids = {kind: tuple(cutting(kind).encode(" ".join(TEXTS))) for kind in ("gpt-2", "llama-bpe", "qwen2", "tekken")}
    assert len(set(ids.values())) == 4


def test_the_kind_is_recognized(tmp_path: Path) -> None:
    for arch, kind in (("llama", "llama-bpe"), ("qwen3", "qwen2"), ("hunyuan-dense", "hunyuan-dense")):
        metadata = vocabulary.describe(cutting(kind), {}, arch, 800, ())
        assert metadata["tokenizer.ggml.pre"] == kind


def test_files_that_name_no_kind_get_their_familys(tmp_path: Path) -> None:
    again = stored(cutting("qwen2"), tmp_path / "m.gguf", arch="qwen3", pre=None)
    assert [again.encode(text) for text in TEXTS] == [cutting("qwen2").encode(text) for text in TEXTS]


WORDS = ["▁", "t", "h", "e", "q", "x", "好", "\n", "he", "▁the", "th", "▁▁", "▁t", "the", "▁好"]
SENTENCEPIECE = {
    "tokenizer.ggml.model": "llama",
    "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256)), *WORDS],
    "tokenizer.ggml.token_type": [2, 3, 3, *[6] * 256, *[1] * len(WORDS)],
    "tokenizer.ggml.scores": [0.0] * 259 + [-float(i) for i in range(len(WORDS))],
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 2,
    "tokenizer.ggml.unknown_token_id": 0,
}


@pytest.mark.parametrize("prefix", [True, False])
def test_sentencepiece(tmp_path: Path, prefix: bool) -> None:
    original = opened(tmp_path / "m.gguf", SENTENCEPIECE | {"tokenizer.ggml.add_space_prefix": prefix})
    start = ["<s>", "▁the"] if prefix else ["<s>", "the"]
    # "h e" scores higher than "t h", so "the" is t + he
    assert [original.token(id) for id in original.encode("the 好\né")] == [
        *start, "▁好", "\n", "<0xC3>", "<0xA9>",
    ]  # fmt: skip
    assert (original.bos_id, original.eos_ids, original.strip) == (1, (2,), int(prefix))
    again = stored(original, tmp_path / "n.gguf")
    for text in ("the", " the  xx", "好 x", "naïve\n", "a  b", "</s>the"):
        assert again.encode(text) == original.encode(text)
        assert again.decode(again.encode(text)) == original.decode(original.encode(text))
    assert original.decode(original.encode(" the  xx")) == " the  xx"


@pytest.mark.parametrize(("scheme", "expected"), [("always", True), ("first", True), ("never", False)])
def test_newer_files_put_the_space_elsewhere(tmp_path: Path, scheme: str, expected: bool) -> None:
    backend = Backend.from_str(opened(tmp_path / "m.gguf", SENTENCEPIECE).to_json())
    backend.normalizer = None
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
    metadata = vocabulary.describe(Tokenizer(backend, {"bos_token": "<s>"}), {}, "llama", 300, ())
    assert metadata["tokenizer.ggml.add_space_prefix"] is expected
    assert metadata["tokenizer.ggml.add_bos_token"]


def test_gemma_4_merges_pieces_of_text(tmp_path: Path) -> None:
    """As its own tokenizer does: spaces are written as a sign, and merges go across words."""
    from transformers import GemmaTokenizer

    control = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    pieces = ["▁", "a", "b", "c", "\n", "\n\n", "ab", "▁a", "▁ab", "▁▁", "ab▁", "ab▁c"]
    tokens = [*control, *(f"<0x{byte:02X}>" for byte in range(256)), *pieces]
    merges = [("\n", "\n"), ("a", "b"), ("▁", "▁"), ("ab", "▁"), ("ab▁", "c"), ("▁", "a"), ("▁", "ab")]
    theirs = GemmaTokenizer(vocab={token: id for id, token in enumerate(tokens)}, merges=merges)
    metadata = {
        "tokenizer.ggml.model": "gemma4",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3] * 5 + [6] * 256 + [1] * len(pieces),
        "tokenizer.ggml.merges": [" ".join(pair) for pair in merges],
        "tokenizer.ggml.add_space_prefix": False,
        **{f"tokenizer.ggml.{name}_token_id": id for id, name in enumerate(("padding", "eos", "bos", "unknown"))},
    }
    ours = opened(tmp_path / "m.gguf", metadata, "gemma4")
    for text in ("ab c", "  ab\n\na  b", "cab ab", "né 🙂\tb", "<eos>a"):
        ids = theirs.encode(text, add_special_tokens=False)
        assert ours.encode(text) == [2, *ids]
        assert ours.decode(ids, skip_special=False) == text


@pytest.mark.parametrize(("low", "high", "expected"), [("ab", "bc", ["a", "bc"]), ("bc", "ab", ["ab", "c"])])
def test_scores_decide_which_pair_merges_first(tmp_path: Path, low: str, high: str, expected: list[str]) -> None:
    tokens = ["<unk>", "<s>", "</s>", "▁", "a", "b", "c", "ab", "bc"]
    metadata = SENTENCEPIECE | {
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [2, 3, 3, *[1] * 6],
        "tokenizer.ggml.scores": [{low: -2.0, high: -1.0}.get(token, -5.0) for token in tokens],
        "tokenizer.ggml.add_space_prefix": False,
    }
    tokenizer = opened(tmp_path / "m.gguf", metadata)
    assert [tokenizer.token(id) for id in tokenizer.encode("abc", add_special=False)] == expected


def test_bos_and_eos_as_the_file_says(tmp_path: Path) -> None:
    original = cutting("llama-bpe")
    end = original.id("<|im_end|>")
    plain = original.encode("hi")
    start = original.id("<|endoftext|>")
    for bos, eos, expected in (
        (True, False, [start, *plain]),
        (False, True, [*plain, end]),
        (None, None, [start, *plain]),
    ):
        again = stored(original, tmp_path / "m.gguf", bos_token_id=start, add_bos_token=bos, add_eos_token=eos)
        assert again.encode("hi") == expected


def test_rows_that_no_token_has_are_nothing(tmp_path: Path) -> None:
    original = cutting("qwen2")
    again = stored(original, tmp_path / "m.gguf", rows=original.vocab_size + 20)
    assert again.vocab_size == original.vocab_size
    assert again.token(original.vocab_size + 3) == ""
    assert again.encode("[PAD705]") == original.encode("[PAD705]")


GOOD = {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "qwen2",
    "tokenizer.ggml.tokens": ["a", "b", "ab"],
    "tokenizer.ggml.merges": ["a b"],
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tokenizer.ggml.tokens": None}, "has no tokenizer"),
        ({"tokenizer.ggml.tokens": "abc"}, "has no tokenizer"),
        ({"tokenizer.ggml.model": "rwkv"}, "kind `rwkv`"),
        ({"tokenizer.ggml.pre": "gpt-17"}, "as `gpt-17` does"),
        ({"tokenizer.ggml.merges": None}, "without merges"),
        ({"tokenizer.ggml.merges": ["ab"]}, "not a pair"),
        ({"tokenizer.ggml.token_type": [1, 1]}, "does not fit its 3 tokens"),
        ({"tokenizer.ggml.eos_token_id": 3}, "eos_token_id is 3"),
        ({"tokenizer.ggml.eos_token_id": "x"}, "eos_token_id is 'x'"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    assert opened(tmp_path / "good.gguf", GOOD).encode("ab") == [2]
    with pytest.raises(TokenizerError, match=message):
        opened(tmp_path / "m.gguf", GOOD | changes)
