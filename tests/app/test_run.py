"""`grus run`, as a person and as a script would call it."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.pick import choose
from backends.torch.backend import TorchBackend
from tests import qwen3_tts_cases, speech_checkpoints
from tests.app.conftest import Outcome
from tests.asserting import every
from tests.checkpoints import VOCAB, reference, save, save_tokenizer
from tests.driver import Driver

Command = Callable[..., Outcome]


def test_streams_the_answer_and_tells_speed_on_stderr(command: Command, model: Path) -> None:
    seen = command("run", model, "Hello", "--max-tokens", 12, "--temperature", 0)
    assert seen.code == 0
    assert seen.out.strip()
    assert "tokens/s" in seen.err
    assert "first token after" in seen.err


def test_json_is_one_object_with_everything(command: Command, model: Path) -> None:
    seen = command("run", model, "Hello", "--max-tokens", 12, "--temperature", 0, "--json", "--raw")
    report = json.loads(seen.out)
    assert set(report) == {
        "text",
        "reasoning",
        "prompt_ids",
        "output_ids",
        "finish_reason",
        "timings",
        "model",
        "backend",
    }
    assert (
        report["output_ids"]
        == Driver(model, choose().backend).greedy(report["prompt_ids"], 12)[: len(report["output_ids"])]
    )
    assert report["finish_reason"] in ("length", "stop")
    assert report["timings"]["prompt_tokens"] == len(report["prompt_ids"]) == 5
    timings = report["timings"]
    assert 0 <= timings["queued_seconds"] <= timings["first_token_seconds"] <= timings["total_seconds"]
    assert timings["first_token_seconds"] > 0
    assert 0 < timings["gap_p50_seconds"] <= timings["gap_p95_seconds"] <= timings["total_seconds"]
    assert report["backend"] == {"name": choose().backend, "device": "cpu", "dtype": "f32"}


def test_both_backends_give_the_same_tokens(command: Command, model: Path) -> None:
    said = [
        json.loads(
            command(
                "run", model, "Cranes", "--raw", "--json", "--max-tokens", 16, "--temperature", 0, "--backend", b
            ).out
        )
        for b in ("torch", "mlx")
    ]
    assert said[0]["output_ids"] == said[1]["output_ids"]
    assert [s["backend"]["name"] for s in said] == ["torch", "mlx"]


def test_raw_sends_the_text_and_nothing_else(command: Command, model: Path) -> None:
    raw = json.loads(command("run", model, "Hi", "--raw", "--json", "--max-tokens", 1).out)
    templated = json.loads(command("run", model, "Hi", "--json", "--max-tokens", 1).out)
    system = json.loads(command("run", model, "Hi", "--system", "Be brief.", "--json", "--max-tokens", 1).out)
    assert len(raw["prompt_ids"]) == 2
    assert len(templated["prompt_ids"]) > 2
    assert len(system["prompt_ids"]) > len(templated["prompt_ids"])


def test_reads_the_prompt_from_standard_input(command: Command, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("Hello"))
    piped = json.loads(command("run", model, "-", "--raw", "--json", "--max-tokens", 1).out)
    given = json.loads(command("run", model, "Hello", "--raw", "--json", "--max-tokens", 1).out)
    assert piped["prompt_ids"] == given["prompt_ids"]


def test_a_seed_repeats_an_answer(command: Command, model: Path) -> None:
    def ids(seed: int) -> list[int]:
        seen = command("run", model, "Hi", "--json", "--max-tokens", 16, "--temperature", 1.5, "--seed", seed)
        return json.loads(seen.out)["output_ids"]

    assert ids(1) == ids(1)
    assert ids(1) != ids(2)


@pytest.mark.parametrize(("effort", "budget", "most"), [("high", 5, 5), (None, 0, 0), ("none", -1, 0)])
def test_a_thought_is_bounded(command: Command, tmp_path: Path, effort: str | None, budget: int, most: int) -> None:
    """A model that would go on reasoning, as it was made with random weights."""
    folder = save("qwen3", tmp_path / "thinker", spelling="old")
    (folder / "chat_template.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}<think>")
    more = ["--reasoning-effort", effort] if effort else []
    seen = command("run", folder, "Hello", "--thinking-budget", budget, *more, "--max-tokens", 160, "--json")
    report = json.loads(seen.out)
    thought, answer = report["reasoning"], report["text"]
    assert "</think>" not in thought + answer
    assert ("Considering the limited time" in thought) == (most > 0)
    assert len(thought) <= most + 3 + 120 * (most > 0) + 1
    assert answer


CHANNELS = ("<|start|>", "<|message|>", "<|channel|>", "<|end|>", "<|return|>", "<|call|>")


@pytest.mark.parametrize("name", ["qwen3", "gpt_oss"])
@pytest.mark.parametrize("hidden", [False, True])
def test_no_mark_of_the_reasoning_is_printed(command: Command, tmp_path: Path, name: str, hidden: bool) -> None:
    """Of a thought that is closed after a few tokens, by marks that the model's family has."""
    folder = save(name, tmp_path / name, vocab_size=VOCAB + len(CHANNELS))
    save_tokenizer(folder, CHANNELS)
    opened = "<|start|>assistant<|channel|>analysis<|message|>" if name == "gpt_oss" else "<think>"
    (folder / "chat_template.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}" + opened)
    asked = ("run", folder, "Hello", "--thinking-budget", 4, "--max-tokens", 160, "--seed", 3)
    whole = json.loads(command(*asked, "--json").out)
    seen = command(*asked, *(["--hide-reasoning"] if hidden else [])).out
    thought, answer = whole["reasoning"], whole["text"]
    assert thought
    assert answer
    assert seen == (f"{answer}\n" if hidden else f"{thought}\n\n{answer}\n")
    assert every(mark not in seen for mark in (*CHANNELS, "<think>", "</think>", "analysis"))


def test_bf16_is_said(command: Command, model: Path) -> None:
    report = json.loads(command("run", model, "Hi", "--json", "--max-tokens", 2, "--dtype", "bf16").out)
    assert report["backend"]["dtype"] == "bf16"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--thinking-budget", "-2"], "--thinking-budget must be at least -1, not -2."),
        (["--reasoning-effort", "colossal"], "--reasoning-effort: invalid choice: 'colossal'"),
        (["--raw", "--thinking-budget", "5"], "--raw sends the prompt as it is"),
        (["--temperature", "-1"], "temperature must be between 0 and 100"),
        (["--top-p", "0"], "top_p must be above 0"),
        (["--max-tokens", "0"], "max_tokens must be between 1 and 2147483648, not 0."),
        (["--top-p", "nan"], "top_p must be between"),
        (["--raw", "--system", "x"], "--system"),
        (
            ["--temperature", "warm"],
            "--temperature: invalid float value: 'warm'. `grus run --help` lists what there is.",
        ),
        (["--kv-bits", "7"], "--kv-bits: invalid choice: 7"),
        (["--warmth", "3"], "unrecognized arguments: --warmth 3"),
        (["--device", "tpu"], "There is no device `tpu`"),
        (["--backend", "torch", "--device", "cuda"], "No CUDA device"),
        (["--device", "metal"], "Metal"),
        (["--profile", "/no/such/folder/trace.json"], "The folder /no/such/folder does not exist."),
        (["--profile", "tests"], "tests is a folder."),
    ],
)
def test_an_impossible_wish_is_one_sentence(command: Command, model: Path, arguments: list[str], said: str) -> None:
    seen = command("run", model, "Hi", *arguments)
    assert seen.code == 2
    assert said in seen.err
    assert len(seen.err.strip().splitlines()) == 1


def test_an_empty_prompt_is_no_model(command: Command) -> None:
    seen = command("run", "")
    assert seen.code == 2
    assert seen.err.startswith("grus: The prompt is empty.")


def test_an_unknown_command_is_one_sentence(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.screen.has_screen", lambda: False)  # with one, `grus` alone opens the window
    for arguments, said in ((("sing",), "invalid choice: 'sing'"), ((), "required: COMMAND")):
        seen = command(*arguments)
        assert seen.code == 2
        assert said in seen.err
        assert len(seen.err.strip().splitlines()) == 1


def test_a_model_of_another_use_says_which(command: Command, tmp_path: Path) -> None:
    ears = speech_checkpoints.save("moonshine", tmp_path / "ears")
    voice = qwen3_tts_cases.checkpoint("custom_voice", tmp_path / "voice")
    for folder, use in ((ears, "grus listen"), (voice, "grus speak")):
        seen = command("run", folder, "Hello", "--backend", "auto")
        assert seen.code == 2
        assert seen.err.startswith(f"grus: {folder} ")
        assert f"Give it to {use}" in seen.err


def test_a_file_that_is_not_there_is_said(command: Command) -> None:
    for arguments in (("nothere.pdf",), ("app", "nothere.pdf")):
        seen = command(*arguments)
        assert (seen.code, seen.err) == (2, "grus: There is no file nothere.pdf.\n")


def test_a_prompt_longer_than_the_context(command: Command, model: Path) -> None:
    seen = command("run", model, "x" * 300, "--raw")
    assert seen.code == 2
    assert "300 tokens" in seen.err
    assert "256" in seen.err


def test_ctrl_c_stops_and_says_nothing_ugly(model: Path) -> None:
    arguments = [sys.executable, "-m", "app.cli", "run", str(model), "Hello", "--raw", "--temperature", "1.5"]
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.read(1)  # the answer has begun
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, err = child.communicate(timeout=60)
    assert child.returncode in (0, 130)  # 0: the answer ended before the signal came
    assert "Traceback" not in err
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_an_architecture_that_is_not_ours_runs_through_another_library(
    command: Command, tmp_path: Path, backend: str
) -> None:
    folder = save("gemma", tmp_path / "gemma", "old")
    seen = command(
        "run", folder, "Hello", "--raw", "--json", "--max-tokens", 12, "--temperature", 0, "--backend", backend
    )
    assert seen.code == 0, seen.err
    report = json.loads(seen.out)
    assert report["output_ids"] == reference_greedy("gemma", report["prompt_ids"], 12)[: len(report["output_ids"])]


@pytest.mark.torch_only("on MLX mlx-lm is always there")
def test_without_transformers_it_is_named(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TorchBackend, "foreign_library", "")
    refused = command("run", save("gemma", tmp_path / "gemma", "old"), "Hello", "--backend", "torch")
    assert refused.code == 2
    assert "`gemma`" in refused.err
    assert "install it with pip install 'grus[transformers]'" in refused.err
    assert "Supported: " in refused.err


def reference_greedy(name: str, prompt: list[int], n: int) -> list[int]:
    import torch

    out = reference(name).generate(
        torch.tensor([prompt]), max_new_tokens=n, do_sample=False, eos_token_id=None, pad_token_id=0
    )
    return out[0, len(prompt) :].tolist()
