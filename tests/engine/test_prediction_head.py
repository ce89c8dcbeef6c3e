"""Heads for multi-token prediction: what they compute, and replies with and without their drafts."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from engine.draft_head import DraftHeadSpeculation
from engine.engine import Engine
from engine.errors import GrusError
from engine.executor import ModelExecutor
from engine.loaded import DraftHead
from engine.loading import LoadedModel, LoadOptions, load
from engine.sequence import Sequence
from engine.types import Grammar, Request, SamplingParams, Settings
from tests.prediction_heads import as_gguf, check_logits, head_logits, make_predictable, save_with_head

NAMES = "qwen3_5", "qwen3_5_moe", "qwen3_next"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("heads")
    return cache(lambda name: save_with_head(name, root / name))


def loaded_with_head(path: Path, backend: str) -> tuple[LoadedModel, DraftHead]:
    options = LoadOptions(backend=backend, device="cpu", dtype="f32", quant="none", draft_head=True)
    loaded = load(str(path), options)
    assert loaded.draft_head is not None
    return loaded, loaded.draft_head


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["safetensors", pytest.param("gguf", marks=pytest.mark.slow)])
def test_logits_are_the_references(
    folder: Callable[[str], Path], tmp_path: Path, name: str, backend: str, kind: str
) -> None:
    """The model's hidden states joined with the next tokens, in a prompt and token by token, and what follows a draft."""
    path = folder(name) if kind == "safetensors" else as_gguf(folder(name), tmp_path / "m.gguf")
    loaded, head = loaded_with_head(path, backend)
    check_logits(loaded, head, lambda ids, hidden: head_logits(folder(name), ids, hidden))


@dataclass
class AlwaysDrafts:
    """In place of the policy, which decides from measured times: drafts of these lengths in turn, wherever there is room."""

    lengths: tuple[int, ...] = (3, 1, 5, 2)
    drafted: int = 0
    accepted: int = 0
    turn: int = 0
    drafts: bool = True

    def choose(self, room: Mapping[Sequence, int]) -> dict[Sequence, int]:
        self.turn += 1
        length = self.lengths[self.turn % len(self.lengths)]
        return {sequence: min(most, length) for sequence, most in room.items() if min(most, length) > 0}

    def learn(self, sequence: Sequence, drafted: int, accepted: int, sequences: int) -> None:
        self.drafted += drafted
        self.accepted += accepted

    def record_round(self, sequences: int, seconds: float) -> None: ...
    def record_upkeep(self, seconds: float) -> None: ...
    def record_step(self, tokens: int, sequences: int, seconds: float) -> None: ...
    def drop(self, sequence: Sequence) -> None: ...


class Talk:
    """A model through the engine, in this thread, with drafts of its head or without any."""

    def __init__(self, path: Path, backend: str, drafts: bool, **settings: Any) -> None:
        options = LoadOptions(backend=backend, device="cpu", dtype="f32", quant="none", draft_head=drafts)
        loaded = load(str(path), options)
        chosen = Settings(prefill_chunk=16, speculation="mtp" if drafts else "off", **settings)
        self.engine = Engine(lambda _: loaded, chosen, start=False)
        self.policy, self.drafts = AlwaysDrafts(), drafts

    @property
    def executor(self) -> ModelExecutor:
        (executor,) = self.engine._manager.executors.values()
        return executor

    @property
    def speculation(self) -> DraftHeadSpeculation:
        assert isinstance(self.executor.speculation, DraftHeadSpeculation)
        return self.executor.speculation

    def say(self, *requests: Request, preempt: int = 0) -> list[tuple[list[int], Any]]:
        """Ids of each request's first reply, and the texts of all. `preempt`: every so many turns one sequence is set aside."""
        handles = [self.engine.submit(request) for request in requests]
        turns = 0
        while not self.engine.idle:
            self.engine.turn()
            turns += 1
            if self.drafts and self.engine._manager.executors:
                self.speculation.policy = self.policy  # type: ignore[assignment]
            scheduler = self.executor.scheduler if self.engine._manager.executors else None
            if (
                preempt
                and scheduler is not None
                and turns % preempt == 0
                and (victim := scheduler.victim()) is not None
            ):
                scheduler.preempt(victim)
                scheduler.cap = 16
        results = [handle.result(0) for handle in handles]
        return [(list(result.ids), result.choices) for result in results]


def prompts(count: int, seed: int = 0) -> list[list[int]]:
    random = np.random.default_rng(seed)
    return [random.integers(0, 250, 9 + 23 * i).tolist() for i in range(count)]


def requests(texts: list[list[int]], **params: Any) -> list[Request]:
    chosen = {"temperature": 0.0, "max_tokens": 24, "ignore_eos": True, **params}
    return [Request("m", text, SamplingParams(seed=i, **chosen)) for i, text in enumerate(texts)]


@pytest.fixture(scope="module")
def predictable(tmp_path_factory: pytest.TempPathFactory) -> Callable[[float], Path]:
    root = tmp_path_factory.mktemp("predictable")

    def made(noise: float) -> Path:
        return make_predictable(save_with_head("qwen3_5", root / str(noise), tie_word_embeddings=False), noise)

    return cache(made)


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize(
    ("noise", "least", "most"),
    [
        (1.5, 0.2, 0.9),
        pytest.param(0.0, 0.99, 1.0, marks=pytest.mark.slow),
        pytest.param(None, 0.0, 0.2, marks=pytest.mark.slow),
    ],
)
def test_drafts_change_no_token(
    folder: Callable[[str], Path],
    predictable: Callable[[float], Path],
    noise: float | None,
    least: float,
    most: float,
    backend: str,
) -> None:
    """Of several sequences at once with prompts of several chunks, preempted, greedy and sampled, several replies of one prompt, and
    conversations that go on."""
    path = folder("qwen3_5") if noise is None else predictable(noise)
    plain, drafting = Talk(path, backend, False), Talk(path, backend, True)
    texts = prompts(3)
    asked = [*requests(texts[:2]), *requests(texts[2:], temperature=0.8, n=2)]
    want = plain.say(*asked)
    assert drafting.say(*asked) == want
    policy = drafting.policy
    assert policy.drafted > 30
    assert least <= policy.accepted / policy.drafted <= most
    assert drafting.say(*asked, preempt=6) == want
    longer = [[*text, *ids, 5, 9] for text, (ids, _) in zip(texts, want)]
    assert drafting.say(*requests(longer)) == plain.say(*requests(longer))
    stats = drafting.engine.stats()
    assert stats.prefix_hits >= 3
    assert (stats.drafted, stats.accepted) == (policy.drafted, policy.accepted)
    assert drafting.engine.check() == 0


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_conversation_goes_on_with_what_the_head_knows(predictable: Callable[[float], Path], backend: str) -> None:
    drafting = Talk(predictable(0.0), backend, True)
    (text,) = prompts(1)
    ((ids, _),) = drafting.say(*requests([text]))
    (kept,) = drafting.speculation._kept
    begun = kept.slot.length
    drafting.say(*requests([[*text, *ids, 7, 8, 9]]))
    (after,) = drafting.speculation._kept
    assert after is kept, "the rows of the beginning were kept"
    assert after.start == 0
    assert after.slot.length > begun > len(text)


def test_structured_output_and_stop_strings(predictable: Callable[[float], Path]) -> None:
    plain, drafting = Talk(predictable(0.3), "torch", False), Talk(predictable(0.3), "torch", True)
    (text,) = prompts(1)
    grammar = Grammar("regex", "[a-f]{3}(x[0-9]{2}){6}")
    asked = requests([text], grammar=grammar, max_tokens=40, ignore_eos=False)
    want = plain.say(*asked)
    assert drafting.say(*asked) == want
    assert re.fullmatch("[a-f]{3}(x[0-9]{2}){6}", want[0][1][0])
    ((ids, (whole,)),) = plain.say(*requests([text]))
    stop = whole[len(whole) // 2 :][:2]
    want = plain.say(*requests([text], stop=(stop,)))
    assert drafting.say(*requests([text], stop=(stop,))) == want
    assert len(want[0][0]) < len(ids)
    assert drafting.policy.accepted > 0


def test_a_fault_of_the_head_costs_no_reply(
    predictable: Callable[[float], Path], caplog: pytest.LogCaptureFixture
) -> None:
    """Its output matrix holds no number."""
    path = predictable(0.0)
    want = Talk(path, "torch", False).say(*requests(prompts(2)))
    drafting = Talk(path, "torch", True)
    drafting.say(*requests(prompts(1)))
    drafting.speculation._head.runner.model.fc = lambda x: x[:, :64] * float("nan")  # type: ignore[attr-defined]
    drafting.speculation._head.runner._traced = None  # type: ignore[attr-defined]
    drafting.speculation._head.runner._decoding = None  # type: ignore[attr-defined]
    assert drafting.say(*requests(prompts(2))) == want
    assert "its draft tokens are left out" in caplog.text


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_unless_it_is_asked_for_a_head_is_opened_by_torch_alone(
    predictable: Callable[[float], Path], backend: str
) -> None:
    loaded = load(str(predictable(0.0)), LoadOptions(backend=backend, device="cpu", draft_head=None))
    assert (loaded.draft_head is not None) == (backend == "torch")


def test_a_damaged_head_that_nobody_asked_for_costs_a_warning(
    predictable: Callable[[float], Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = shutil.copytree(predictable(0.0), tmp_path / "damaged")
    weights = load_file(path / "model.safetensors")
    del weights["mtp.norm.weight"]
    save_file(weights, path / "model.safetensors")
    options = LoadOptions(backend="torch", device="cpu", draft_head=None)
    assert load(str(path), options).draft_head is None
    assert "runs without its head for multi-token prediction" in caplog.text
    with pytest.raises(GrusError, match=r"mtp\.norm\.weight"):
        load(str(path), replace(options, draft_head=True))


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_draft_is_made_and_verified_when_the_model_opens(
    predictable: Callable[[float], Path], backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that what is set up for the first one delays no reply; both KV caches are empty again."""
    loaded, _ = loaded_with_head(predictable(0.9), backend)
    engine = Engine(lambda _: loaded, Settings(speculation="mtp"), start=False)
    steps: list[tuple[Any, list[tuple[int, int]]]] = []
    kind: Any = type(loaded.runner)
    run = kind.run

    def noted(self: Any, segments: Any) -> Any:
        steps.append((self, [(len(segment), segment.draft) for segment in segments]))
        return run(self, segments)

    monkeypatch.setattr(kind, "run", noted)
    engine.load("m")
    (executor,) = engine._manager.executors.values()
    assert isinstance(executor.speculation, DraftHeadSpeculation)
    head = executor.speculation._head
    assert [(3, 2)] in [made for which, made in steps if which is loaded.runner]
    assert [(2, 0)] in [made for which, made in steps if which is head.runner]
    assert [(1, 0)] in [made for which, made in steps if which is head.runner]
    assert executor.speculation.memory.used == executor.memory.used == 0
    engine.close()


def test_no_rows_are_computed_where_drafts_do_not_pay(predictable: Callable[[float], Path]) -> None:
    """Neither of a long prompt nor of a long reply; when drafts begin to pay, they begin with the last hidden states."""
    plain, drafting = Talk(predictable(0.0), "torch", False), Talk(predictable(0.0), "torch", True)
    drafting.say(*requests(prompts(1)))  # the model is loaded, and the policy in place
    drafting.policy.lengths, drafting.policy.drafts = (0,), False
    before = drafting.policy.drafted
    text = prompts(4)[-1]
    asked = requests([text], max_tokens=100)
    want = plain.say(*asked)
    head = drafting.speculation._head
    with mock.patch.object(head.prefill, "run", side_effect=AssertionError("rows of the head were computed")):
        assert drafting.say(*asked) == want
    assert drafting.policy.drafted == before
    (kept,) = [track for track in drafting.speculation._kept if len(track.key) > len(text)]
    assert kept.start > len(text)
    assert kept.slot.length == 0
    drafting.policy.lengths, drafting.policy.drafts = (3,), True
    longer = requests([[*text, *want[0][0], 5, 9]])
    assert drafting.say(*longer) == plain.say(*longer)
    assert drafting.policy.drafted > before + 10
    assert drafting.policy.accepted > 10
