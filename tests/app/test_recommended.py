"""The recommended models: what the catalogue says of each, and which come first on a machine."""

from __future__ import annotations

import json
import re

import pytest

from app.gui.viewmodels.models.library import TASKS
from app.runtime.catalogue import RECOMMENDED
from app.runtime.recommended import FILE, RecommendedModel, best, ranked, read_catalogue
from engine.hub.cache import parse
from engine.machine import Machine, needed_bytes
from tests.asserting import every

GB = 10**9
CHOICES = read_catalogue()
CHATS = [choice for choice in CHOICES if choice.task == "chat"]


def made_up(memory: int, bandwidth: int, backend: str = "torch") -> Machine:
    """With the default memory limit."""
    return Machine(backend, "cpu", memory * GB, round(0.7 * memory * GB), 1000 * GB, bandwidth * GB)


MACHINES = {
    "8 GB at 20 GB/s": made_up(8, 20),
    "16 GB at 50 GB/s": made_up(16, 50),
    "24 GB at 60 GB/s": made_up(24, 60),
    "32 GB at 80 GB/s": made_up(32, 80),
    "64 GB at 400 GB/s": made_up(64, 400),
    "64 GB at 400 GB/s, MLX": made_up(64, 400, "mlx"),
}
FIRST = {
    "8 GB at 20 GB/s": ["Gemma 4 E2B", "Qwen3.5 2B", "LFM2.5 1.2B"],
    "16 GB at 50 GB/s": ["Ministral 3 8B", "LFM2.5 8B A1B", "Gemma 4 E4B"],
    "24 GB at 60 GB/s": ["gpt-oss 20B", "Qwen3.5 9B", "Ministral 3 8B"],
    "32 GB at 80 GB/s": ["GLM-4.7-Flash", "Gemma 4 26B A4B", "gpt-oss 20B"],
    "64 GB at 400 GB/s": ["Qwen3.6 35B A3B", "GLM-4.7-Flash", "Gemma 4 31B"],
    "64 GB at 400 GB/s, MLX": ["Qwen3.6 35B A3B", "GLM-4.7-Flash", "Gemma 4 31B"],
}


def test_the_catalogue_is_whole() -> None:
    assert {choice.task for choice in CHOICES} == set(TASKS)
    assert len({choice.repo for choice in CHOICES}) == len(CHOICES)
    assert set(RECOMMENDED.values()) <= {choice.repo for choice in CHOICES}
    assert json.loads(FILE.read_text(encoding="utf-8"))["about"]
    for family in (
        "LFM2",
        "Qwen3.5",
        "Gemma 4",
        "gpt-oss",
        "Ministral",
        "GLM",
        "Qwen3.6",
        "Qwen3.8",
        "Moonshine",
        "Whisper",
        "Parakeet",
        "Qwen3-ASR",
        "Voxtral",
        "Kokoro",
        "Qwen3-TTS",
        "Qwen3-Embedding",
        "Qwen3-Reranker",
    ):
        assert any(family in choice.name for choice in CHOICES), family


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.repo)
def test_every_entry_says_all(choice: RecommendedModel) -> None:
    named = parse(choice.repo)
    assert named is not None
    assert named.repo == choice.repo
    assert every(text.strip() for text in (choice.name, choice.licence, choice.does, choice.format))
    assert choice.does.endswith(".")
    assert choice.size > 100_000_000
    assert choice.backend in ("", "mlx", "torch")
    assert re.fullmatch(r"GGUF, (Q4_K_M|MXFP4)|safetensors, (4 bit|MXFP4|bf16|f16|f32)|PyTorch, f32", choice.format)
    assert choice.format.startswith("GGUF") == choice.repo.endswith("-GGUF")
    # a token reads the experts that work on it, and of a table of embeddings one row
    assert (0 < choice.reads <= choice.size) if choice.task == "chat" else not choice.reads


def test_a_mixture_reads_a_part_of_its_file() -> None:
    mixtures = [choice for choice in CHATS if re.search(r"A\d+B|gpt-oss|Flash", choice.name)]
    assert len(mixtures) >= 6
    assert every(choice.reads < choice.size / 4 for choice in mixtures)


def test_each_backend_has_one_entry_of_a_model() -> None:
    for backend in ("mlx", "torch"):
        names = [choice.name for choice in ranked(CHATS, made_up(16, 50, backend))]
        assert len(set(names)) == len(names) > 15


@pytest.mark.parametrize("about", MACHINES)
def test_the_largest_that_fit_and_are_quick_come_first(about: str) -> None:
    machine = MACHINES[about]
    order = ranked(CHATS, machine)
    assert [choice.name for choice in order[:3]] == FIRST[about]
    quick = [c for c in order if machine.fit(c.size) == "fits" and c.speed(machine) >= 8]
    slow = [c for c in order if machine.fit(c.size) == "fits" and c.speed(machine) < 8]
    over = [c for c in order if machine.fit(c.size) != "fits"]
    assert quick
    assert order == quick + slow + over
    assert [c.size for c in quick] == sorted((c.size for c in quick), reverse=True)
    assert [c.speed(machine) for c in slow] == sorted((c.speed(machine) for c in slow), reverse=True)
    assert every(needed_bytes(c.size) > machine.allowed for c in over)
    fits = ["fits", "tight", "too large"]
    assert [machine.fit(c.size) for c in over] == sorted((machine.fit(c.size) for c in over), key=fits.index)
    assert best(CHOICES, machine)["chat"] == order[0].repo


def test_a_slow_memory_prefers_a_mixture_to_a_dense_model() -> None:
    """Bandwidth decides, not size alone."""
    slow, fast = made_up(24, 30), made_up(24, 200)
    assert [ranked(CHATS, machine)[0].name for machine in (slow, fast)] == ["gpt-oss 20B", "gpt-oss 20B"]
    names = [[choice.name for choice in ranked(CHATS, machine)] for machine in (slow, fast)]
    assert names[0].index("LFM2.5 8B A1B") < names[0].index("Ministral 3 14B")
    assert names[1].index("LFM2.5 8B A1B") > names[1].index("Ministral 3 14B")


def test_an_unknown_machine_gets_the_catalogue_s_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    usable = [choice for choice in CHOICES if choice.backend != "mlx"]
    assert ranked(CHOICES, None) == usable
    monkeypatch.setattr("sys.platform", "darwin")
    assert ranked(CHOICES, None) == [choice for choice in CHOICES if choice.backend != "torch"]


def test_tasks_without_a_speed_keep_their_order() -> None:
    listens = [choice for choice in CHOICES if choice.task == "listen"]
    assert ranked(listens, MACHINES["8 GB at 20 GB/s"]) == listens


def test_every_task_has_a_first_choice_where_its_smallest_fits() -> None:
    for about, machine in MACHINES.items():
        found = best(CHOICES, machine)
        assert set(found) == set(TASKS), about
        assert "Kokoro" in found["speak"] or "CustomVoice" in found["speak"], "a voice that needs nothing but a text"
