"""`tekken.json` against the reference's reader, and files that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from transformers.integrations.mistral.tokenizer import MistralConverter

from engine.errors import TokenizerError
from engine.text.tekken import read_tekken
from engine.text.tokenizer import Tokenizer
from tests.voxtral_checkpoints import CONTROL, VOCAB, tekken, voxtral_id

TEXTS = (
    "the crane says what and Hm 212",
    "lang:en",
    "qxj",
    " thecranesays  \n\n日本語 ä\U0001f600\r\n",
    "<s>[INST]crane[/INST]</s>[TRANSCRIBE]<SPECIAL_77>",
    "",
)


def saved(folder: Path, change: Callable[[dict[str, Any]], object] = lambda held: None) -> Path:
    held = tekken()
    change(held)
    (folder / "tekken.json").write_text(json.dumps(held))
    return folder


def test_ids_and_text_are_the_references(tmp_path: Path) -> None:
    own = Tokenizer.from_folder(saved(tmp_path))
    theirs = MistralConverter(str(tmp_path / "tekken.json")).converted()
    for text in TEXTS:
        assert own.encode(text, add_special=False) == theirs.encode(text, add_special_tokens=False).ids
        assert own.decode(own.encode(text), skip_special=False) == f"<s>{text}"
    assert own.encode("the") == [voxtral_id("<s>"), *own.encode("the", add_special=False)]
    assert (own.bos_id, own.eos_ids, own.vocab_size) == (1, (2,), VOCAB)
    literal = own.encode("[TRANSCRIBE]", add_special=False, parse_special=False)
    assert min(literal) >= CONTROL  # the words of a text are no control tokens
    assert own.decode(literal) == "[TRANSCRIBE]"


def test_a_file_without_control_tokens_has_those_of_its_time(tmp_path: Path) -> None:
    own = Tokenizer.from_folder(saved(tmp_path, lambda held: held.pop("special_tokens")))
    assert [own.id(token) for token in ("<unk>", "</s>", "[TOOL_CONTENT]", "<SPECIAL_20>")] == [0, 2, 19, 20]


def test_a_tokenizer_json_beside_it_comes_first(tmp_path: Path) -> None:
    backend = read_tekken(saved(tmp_path) / "tekken.json")
    backend.add_tokens(["of tokenizer.json"])
    backend.save(str(tmp_path / "tokenizer.json"))
    assert Tokenizer.from_folder(tmp_path).vocab_size == VOCAB + 1


@pytest.mark.parametrize("change", [
    lambda held: held.pop("config"),
    lambda held: held.pop("vocab"),
    lambda held: held["config"].update(default_vocab_size=10**9),
    lambda held: held["config"].update(default_num_special_tokens=3),
    lambda held: held["config"].update(pattern="("),
    lambda held: held["config"].update(default_vocab_size="many"),
    lambda held: held["vocab"][280].update(token_bytes="***"),
    lambda held: held["vocab"][280].update(token_bytes=held["vocab"][0]["token_bytes"]),
    lambda held: held["special_tokens"][3].update(rank=99),
    lambda held: held.update(vocab=[7]),
])  # fmt: skip
def test_a_broken_file_is_one_sentence(tmp_path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(TokenizerError, match="Download it again") as raised:
        Tokenizer.from_folder(saved(tmp_path, change))
    assert "tekken.json" in str(raised.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "\xff", "null", json.dumps(tekken())[:-700]])
def test_what_is_no_such_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "tekken.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(TokenizerError, match="Download it again"):
        Tokenizer.from_folder(tmp_path)
