"""Options of `grus run` and `grus chat`: how an answer is sampled, and what makes it come sooner without changing it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.app.fresh import grus, several
from tests.checkpoints import save
from tests.prediction_heads import make_predictable, save_with_head

QUOTE = "the cat and the dog and the cat and the dog and the cat and the dog"
PLAIN = ["--raw", "--json", "--max-tokens", 40, "--temperature", 0]


@pytest.fixture(scope="module")
def loud(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model, whose own settings ask for a strong penalty."""
    folder = Path(shutil.copytree(model, tmp_path_factory.mktemp("loud") / "loud"))
    (folder / "generation_config.json").write_text(json.dumps({"repetition_penalty": 50.0}))
    return folder


def answers(backend: str, *commands: list[Any]) -> list[dict[str, Any]]:
    lines = [["run", command[0], QUOTE, *PLAIN, *command[1:], "--backend", backend] for command in commands]
    seen = several(*lines)
    assert [outcome.code for outcome in seen] == [0] * len(lines), [outcome.err for outcome in seen]
    return [json.loads(outcome.out) for outcome in seen]


@pytest.mark.parametrize("backend", [pytest.param("torch", marks=pytest.mark.slow), "mlx"])
def test_options_of_sampling_reach_the_model(backend: str, model: Path, loud: Path) -> None:
    penalty = ["--repetition-penalty", 50]
    plain, whole, window, none, own, silenced, likeliest = answers(
        backend,
        [model],
        [model, *penalty],
        [model, *penalty, "--repeat-last-n", 3],
        [model, "--repeat-last-n", 0],
        [loud],
        [loud, "--repeat-last-n", 0],
        [model, "--temperature", 3, "--min-p", 1],
    )
    ids = plain["output_ids"]
    assert plain["output_ids"] == none["output_ids"] == silenced["output_ids"] == likeliest["output_ids"]
    assert whole["output_ids"] == own["output_ids"]
    assert len(set(whole["output_ids"])) == len(whole["output_ids"])
    near = window["output_ids"]
    assert [at for at in range(3, len(near)) if near[at] in near[at - 3 : at]] == []
    assert len(set(near)) < len(near), "what lies further back than the window may come again"
    assert len(set(ids)) < len(ids)


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_an_answer_ends_before_a_stop_string(backend: str, model: Path) -> None:
    (whole,) = answers(backend, [model])
    word = whole["text"][4:6]
    (cut,) = answers(backend, [model, "--stop", "no such text", "--stop", word])
    assert cut["finish_reason"] == "stop"
    assert cut["text"] == whole["text"][: whole["text"].index(word)]


@pytest.mark.parametrize("backend", [pytest.param("torch", marks=pytest.mark.slow), "mlx"])
def test_guessing_changes_no_token(backend: str, model: Path, tmp_path: Path) -> None:
    draft = shutil.copytree(model, tmp_path / "draft")
    plain, off, ngram, drafted = answers(
        backend, [model], [model, "--speculation", "off"], [model, "--speculation", "ngram"], [model, "--draft", draft]
    )
    assert plain["output_ids"] == off["output_ids"] == ngram["output_ids"] == drafted["output_ids"]
    assert [report["timings"]["drafted_tokens"] for report in (plain, off)] == [0, 0]
    assert ngram["timings"]["drafted_tokens"] > 0
    assert drafted["timings"]["accepted_tokens"] > 10, "the draft is the model itself, and guesses right"


@pytest.mark.parametrize("backend", [pytest.param("torch", marks=pytest.mark.slow), "mlx"])
def test_a_models_own_head_drafts(backend: str, tmp_path: Path) -> None:
    path = make_predictable(save_with_head("qwen3_5", tmp_path / "headed", tie_word_embeddings=False), 0.0)
    usual, off, asked = answers(backend, [path], [path, "--speculation", "off"], [path, "--speculation", "mtp"])
    assert usual["output_ids"] == off["output_ids"] == asked["output_ids"]
    assert off["timings"]["drafted_tokens"] == 0
    assert asked["timings"]["accepted_tokens"] > 0
    assert (usual["timings"]["accepted_tokens"] > 0) == (backend == "torch")


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_what_was_computed_for_a_prompt_is_found_again_in_a_new_process(
    backend: str, model: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "kept" / "prefixes"
    first, again = (answers(backend, [model, "--kv-offload-dir", folder])[0] for _ in range(2))
    assert first["timings"]["cached_tokens"] == 0
    assert again["timings"]["cached_tokens"] >= len(QUOTE) - 1
    assert first["output_ids"] == again["output_ids"]
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_conversation_takes_the_same_options(backend: str, model: Path, tmp_path: Path) -> None:
    profile = tmp_path / "chat.json"
    words = ["--max-tokens", 30, "--temperature", 0, "--backend", backend]
    plain = several(["chat", model, *words], given="Hello\n")[0].out.removeprefix("> ")
    stop = plain[5:7]
    more = ["--speculation", "ngram", "--kv-offload-dir", tmp_path / "kept", "--profile", profile]
    (seen,) = several(["chat", model, *words, "--stop", stop, *more], given="Hello\n")
    assert seen.out.removeprefix("> ").split("\n")[0] == plain[: plain.index(stop)]
    assert json.loads(profile.read_text())["traceEvents"]


def test_a_draft_model_of_another_vocabulary_is_refused(model: Path, tmp_path: Path) -> None:
    other = save("qwen3", tmp_path / "other", spelling="old")
    tokenizer = json.loads((other / "tokenizer.json").read_text())
    words = tokenizer["model"]["vocab"]
    a, b = (next(w for w, id in words.items() if id == n) for n in (70, 71))
    words[a], words[b] = words[b], words[a]
    (other / "tokenizer.json").write_text(json.dumps(tokenizer))
    seen = grus("run", model, "Hi", "--draft", other)
    assert (seen.code, "their vocabularies differ" in seen.err) == (2, True)


def test_what_cannot_be_is_one_sentence(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    wrong: list[tuple[list[Any], str]] = [
        (["--min-p", 2], "min_p must be between 0 and 1, not 2.0."),
        (["--repetition-penalty", 0], "repetition_penalty must be between 0.001 and 100, not 0.0."),
        (["--repeat-last-n", -2], "--repeat-last-n must be -1, 0 or a number of tokens, not -2."),
        (["--repeat-last-n", 0, "--repetition-penalty", 2], "switches off what --repetition-penalty switches on"),
        (["--stop", ""], "stop strings must not be empty."),
        (["--speculation", "magic"], "--speculation: invalid choice: 'magic'"),
        (["--speculation", "off", "--draft", model], "Choose --draft or --speculation off, not both."),
        (["--draft", "no/such/folder"], "'no/such/folder' is neither a folder"),
        (["--kv-offload-dir", tmp_path / "file"], "it is a file"),
        (["--model-type", "mamba9"], "There is no model type 'mamba9'. Choose one of: auto, bert,"),
        (["--format", "onnx"], "--format: invalid choice: 'onnx'"),
    ]
    seen = several(*(["run", model, "Hi", *arguments] for arguments, _ in wrong))
    for (arguments, said), outcome in zip(wrong, seen, strict=True):
        assert (outcome.code, outcome.out) == (2, ""), arguments
        assert said in outcome.err, outcome.err
        assert len(outcome.err.splitlines()) == 1
