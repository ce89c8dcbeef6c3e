"""Tokenizers load from each kind of folder, agree with the reference library, and say what is wrong when they cannot."""

from __future__ import annotations

import json
from pathlib import Path
from traceback import walk_tb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Backend
from tokenizers import decoders

from engine.errors import TokenizerError
from engine.text.tokenizer import Tokenizer, TooManyTokens
from tests.asserting import every
from tests.engine.text.tokenizers_made_here import byte_level, sentencepiece

BYTE_LEVEL = Tokenizer(byte_level())
SENTENCEPIECE = Tokenizer(sentencepiece())


def write(folder: Path, name: str, value: object) -> None:
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def write_vocab_and_merges(folder: Path) -> None:
    byte_level().model.save(str(folder))


def test_a_tokenizer_json_is_enough(tmp_path: Path) -> None:
    byte_level().save(str(tmp_path / "tokenizer.json"))
    tokenizer = Tokenizer.from_folder(tmp_path)
    ids = tokenizer.encode("the quick 你好 🙂")
    assert tokenizer.decode(ids) == "the quick 你好 🙂"
    assert tokenizer.bos_id is None
    assert tokenizer.eos_ids == ()


@pytest.mark.parametrize("text", ["Hello, world", " it's  2024\r\n\n ok", "naïve e\u0301 ก็ 数据", "a\n \n b", ""])
@pytest.mark.parametrize("model_type", ["qwen2", "qwen3_5"])
def test_vocab_and_merges_cut_words_as_the_reference_does(tmp_path: Path, text: str, model_type: str) -> None:
    from transformers.models.qwen2.tokenization_qwen2 import Qwen2Tokenizer
    from transformers.models.qwen3_5.tokenization_qwen3_5 import Qwen3_5Tokenizer

    write_vocab_and_merges(tmp_path)
    ours = Tokenizer.from_folder(tmp_path, {"model_type": model_type})
    kind = Qwen2Tokenizer if model_type == "qwen2" else Qwen3_5Tokenizer
    merges = [tuple(line.split(" ")) for line in (tmp_path / "merges.txt").read_text().splitlines()[1:]]
    reference = kind(vocab=json.loads((tmp_path / "vocab.json").read_text()), merges=merges)
    assert ours.encode(text) == reference.encode(text)


@pytest.mark.parametrize(("kind", "shown"), [("GPT2Tokenizer", "e\u0301"), ("Qwen2Tokenizer", "\u00e9")])
def test_the_tokenizer_class_tells_the_family_where_the_config_does_not(tmp_path: Path, kind: str, shown: str) -> None:
    write_vocab_and_merges(tmp_path)
    write(tmp_path, "tokenizer_config.json", {"tokenizer_class": kind})
    tokenizer = Tokenizer.from_folder(tmp_path)
    assert tokenizer.decode(tokenizer.encode("e\u0301")) == shown  # Qwen composes characters first, GPT-2 does not


def test_added_tokens_come_from_the_settings_under_their_own_ids(tmp_path: Path) -> None:
    write_vocab_and_merges(tmp_path)
    size = len(json.loads((tmp_path / "vocab.json").read_text()))
    added = {
        str(size + 1): {"content": "<think>", "special": False},
        str(size): {"content": "<|im_end|>", "special": True},
    }
    write(tmp_path, "tokenizer_config.json", {"added_tokens_decoder": added, "eos_token": {"content": "<|im_end|>"}})
    tokenizer = Tokenizer.from_folder(tmp_path)
    assert tokenizer.encode("<think>") == [size + 1]
    assert tokenizer.eos_ids == (size,)
    assert tokenizer.is_special(size)
    assert not tokenizer.is_special(size + 1)
    assert tokenizer.vocab_size == size + 2
    assert tokenizer.decode([size + 1, size]) == "<think>"
    assert tokenizer.decode([size + 1, size], skip_special=False) == "<think><|im_end|>"


def test_added_tokens_that_cannot_have_their_id_are_refused(tmp_path: Path) -> None:
    write_vocab_and_merges(tmp_path)
    write(tmp_path, "added_tokens.json", {"<|im_end|>": 9999})
    with pytest.raises(TokenizerError, match="9999"):
        Tokenizer.from_folder(tmp_path)


def test_eos_is_the_union_in_a_stable_order(tmp_path: Path) -> None:
    byte_level().save(str(tmp_path / "tokenizer.json"))
    write(tmp_path, "tokenizer_config.json", {"eos_token": "<|im_end|>", "bos_token": None})
    im_end = Tokenizer.from_folder(tmp_path).id("<|im_end|>")
    config = {"eos_token_id": [7, 5], "text_config": {"eos_token_id": 9}, "bos_token_id": 3}
    tokenizer = Tokenizer.from_folder(tmp_path, config, {"eos_token_id": [5, 11]})
    assert tokenizer.eos_ids == (7, 5, 9, 11, im_end)
    assert tokenizer.bos_id == 3
    assert tokenizer.special_tokens == {"eos_token": "<|im_end|>"}


@pytest.mark.parametrize("bad", ["2", 1.5, True, -3, [None, "x"]])
def test_an_impossible_eos_is_refused(bad: object) -> None:
    with pytest.raises(TokenizerError, match="eos_token_id"):
        Tokenizer(byte_level(), config={"eos_token_id": bad})


def test_nothing_there_names_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"tokenizer\.json.*vocab\.json and merges\.txt"):
        Tokenizer.from_folder(tmp_path)


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
def test_a_broken_file_is_named(tmp_path: Path, name: str) -> None:
    byte_level().save(str(tmp_path / "tokenizer.json"))
    write(tmp_path, name, '{"model": ')
    with pytest.raises(TokenizerError, match=name):
        Tokenizer.from_folder(tmp_path)


def test_broken_merges_are_named(tmp_path: Path) -> None:
    write(tmp_path, "vocab.json", {"a": 0})
    write(tmp_path, "merges.txt", "#version: 0.2\nx y\n")
    with pytest.raises(TokenizerError, match=r"merges\.txt"):
        Tokenizer.from_folder(tmp_path)


def test_a_decoder_that_language_models_do_not_use_is_refused() -> None:
    backend = byte_level()
    backend.decoder = decoders.CTC()
    with pytest.raises(TokenizerError, match="CTC"):
        Tokenizer(backend)


def test_limits_left_in_the_file_do_not_cut_the_text() -> None:
    backend = byte_level()
    backend.enable_truncation(3)
    backend.enable_padding(length=64)
    text = "the quick brown fox jumps"
    tokenizer = Tokenizer(backend)
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_bytes_of_every_token_are_exact() -> None:
    assert b"".join(map(BYTE_LEVEL.bytes_of, BYTE_LEVEL.encode(" é🙂 the"))) == " é🙂 the".encode()
    assert {BYTE_LEVEL.bytes_of(i) for i in range(256)} == {bytes([b]) for b in range(256)}
    assert SENTENCEPIECE.bytes_of(3 + 0xE4) == b"\xe4"
    assert SENTENCEPIECE.bytes_of(SENTENCEPIECE.id("▁quick") or 0) == b" quick"
    assert BYTE_LEVEL.bytes_of(100_000) == b""
    assert BYTE_LEVEL.token(100_000) == ""


def test_an_added_token_is_shown_as_it_is_written() -> None:
    tokenizer = Tokenizer(byte_level(specials=["<｜hy▁é｜>"]))
    assert tokenizer.decode(tokenizer.encode("<｜hy▁é｜>"), skip_special=False) == "<｜hy▁é｜>"


def test_text_from_outside_can_be_kept_from_meaning_control_tokens() -> None:
    im_end = BYTE_LEVEL.id("<|im_end|>")
    assert BYTE_LEVEL.encode("a<|im_end|>").count(im_end) == 1
    literal = BYTE_LEVEL.encode("a<|im_end|>", parse_special=False)
    assert im_end not in literal
    assert BYTE_LEVEL.decode(literal) == "a<|im_end|>"


@pytest.mark.parametrize("made", [BYTE_LEVEL, SENTENCEPIECE])
def test_reading_control_tokens_as_text_copies_no_vocabulary(made: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = Backend.from_str(made.to_json())
    copy.encode_special_tokens = True
    fresh = Tokenizer(Backend.from_str(made.to_json()))
    monkeypatch.setattr("engine.text.tokenizer.Backend.from_str", lambda _: pytest.fail("the vocabulary is copied"))
    for text in ("a<|im_end|>b <s>c", "the </s> cat", "<unk>"):
        assert fresh.encode(text, parse_special=False) == copy.encode(text).ids
        assert fresh.encode(text) == made.encode(text)


def test_a_lone_surrogate_does_not_stop_a_request() -> None:
    assert BYTE_LEVEL.decode(BYTE_LEVEL.encode("a\ud800b")) == "a?b"


def test_special_tokens_around_a_text_are_added_when_asked() -> None:
    assert SENTENCEPIECE.encode("the")[0] == 1
    assert SENTENCEPIECE.encode("the", add_special=False)[0] != 1


@given(st.text())
def test_byte_level_round_trips_any_text(text: str) -> None:
    assert BYTE_LEVEL.decode(BYTE_LEVEL.encode(text, parse_special=False), skip_special=False) == text


@given(st.lists(st.integers(0, 345)))
def test_byte_level_decoding_agrees_with_the_reference_for_any_ids(ids: list[int]) -> None:
    assert BYTE_LEVEL.decode(ids) == byte_level_reference.decode(ids, skip_special_tokens=True)


@given(st.text(st.sampled_from("the quick 你好x\nß🙂")))
def test_sentencepiece_decoding_agrees_with_the_reference(text: str) -> None:
    ids = SENTENCEPIECE.encode(text)
    assert SENTENCEPIECE.decode(ids) == sentencepiece_reference.decode(ids, skip_special_tokens=True)


byte_level_reference = byte_level()
sentencepiece_reference = sentencepiece()


def test_an_error_of_too_many_tokens_keeps_none_of_them() -> None:
    """Its traceback lives until a garbage collection, which would visit each id in front of everybody."""
    with pytest.raises(TooManyTokens) as caught:
        BYTE_LEVEL.encode("ab " * 1000, most=10)
    assert caught.value.count > 10
    held = [value for frame in walk_tb(caught.tb) for value in frame[0].f_locals.values() if isinstance(value, list)]
    assert every(len(value) == 0 for value in held)
