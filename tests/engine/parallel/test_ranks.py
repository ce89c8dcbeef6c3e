"""A model that is split among ranks answers as the whole one does: every architecture, and everything the engine does to sequences."""

from __future__ import annotations

import json
import marshal
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.runtime.vectors import EmbeddingModel
from backends.torch.kernels import library
from engine import shares
from engine.engine import Engine
from engine.errors import BadRequest, GrusError, Unsupported
from engine.loaded import LoadedEncoder
from engine.loading import LoadedModel, LoadOptions, load, load_any
from engine.types import Request, SamplingParams, Settings
from engine.weights.convert import convert
from tests import gemma3_checkpoints, vision_checkpoints
from tests.checkpoints import MODELS, reference_cached, save
from tests.encoder_checkpoints import KINDS
from tests.encoder_checkpoints import save as save_encoder
from tests.engine.vision.pictures import drawn
from tests.lora_adapters import random_lora
from tests.rank_threads import ThreadTeam

LENGTH = 16
NEAR = 1e-5  # logits whose order rounding may change
QUICK = ["llama", "qwen3_5_moe", "deepseek_v3"]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks as threads, without kernels: sums of eight-bit kernels depend on how a matrix is cut."""
    monkeypatch.setattr(shares, "Team", ThreadTeam)
    monkeypatch.setattr(library, "available", lambda: False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("ranks")

    @cache
    def saved(name: str) -> Path:
        return save(name, root / name)

    return saved


def opened(folder: Path, ranks: int, **more: Any) -> LoadedModel:
    how: dict[str, Any] = dict(backend="torch", device="cpu", dtype="f32", quant="none", tensor_parallel=ranks)
    return load(str(folder), LoadOptions(**{**how, **more}))


def prompts(count: int, vocab: int, shared: int = 0) -> list[list[int]]:
    dice = random.Random(5)
    begin = [dice.randrange(min(vocab, 256)) for _ in range(shared)]
    return [begin + [dice.randrange(min(vocab, 256)) for _ in range(dice.randrange(3, 30))] for _ in range(count)]


def replies(
    loaded: LoadedModel, asked: list[list[int]], settings: Settings | None = None, **params: Any
) -> list[tuple[list[int], list[float]]]:
    """Ids and their log probabilities of requests that run together."""
    engine = Engine(lambda _: loaded, settings or Settings(), start=False)
    how = dict(temperature=0.0, max_tokens=LENGTH, ignore_eos=True, logprobs=True)
    handles = [engine.submit(Request("m", ids, SamplingParams(**{**how, **params}))) for ids in asked]
    while not engine.idle:
        engine.turn()
    results = [handle.result() for handle in handles]
    assert engine.check() == 0
    engine.close()
    return [(result.ids, [one.logprob for one in result.logprobs or ()]) for result in results]


def assert_alike(whole: list[Any], split: list[Any]) -> None:
    for (ids, logprobs), (others, near) in zip(whole, split, strict=True):
        assert others == ids
        assert near == pytest.approx(logprobs, abs=1e-3)


def compare(folder: Path, ranks: int, count: int = 6, settings: Settings | None = None, **how: Any) -> None:
    alone = opened(folder, 1, **how)
    asked = prompts(count, alone.vocab)
    assert_alike(replies(alone, asked, settings), replies(opened(folder, ranks, **how), asked, settings))


@pytest.mark.parametrize("name", QUICK)
def test_two_ranks_answer_as_one(name: str, folder: Callable[[str], Path]) -> None:
    compare(folder(name), 2)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_architecture_is_split(name: str, ranks: int, folder: Callable[[str], Path]) -> None:
    compare(folder(name), ranks, 32)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", ["llama", "qwen3_5"])
def test_prefixes_eviction_drafts_and_offloading_change_nothing(
    name: str, ranks: int, folder: Callable[[str], Path], tmp_path: Path
) -> None:
    alone = opened(folder(name), 1)
    shared = prompts(6, alone.vocab, shared=40)
    expected = replies(alone, shared)
    settings = Settings(prefill_chunk=16, speculation="ngram", max_draft=4, offload_folder=tmp_path / "offload")
    seen = set()
    for _ in range(2):  # the second time, prefixes come from the disk
        split = opened(folder(name), ranks)
        engine = Engine(lambda _, made=split: made, settings, start=False)  # type: ignore[misc]
        made = []
        for some in (slice(4), slice(4, None)):
            how = SamplingParams(temperature=0.0, max_tokens=LENGTH, ignore_eos=True)
            guesses = [[*ids[:6], (ids[6] + 1) % 256, *ids[7:]] for ids, _ in expected[some]]  # one of them is wrong
            asked = zip(shared[some], guesses)
            handles = [engine.submit(Request("m", prompt, how, prediction=guess)) for prompt, guess in asked]
            turns = 0
            while not engine.idle:
                engine.turn()
                turns += 1
                (executor,) = engine._manager.executors.values()
                if turns % 5 == 0 and (victim := executor.scheduler.victim()) is not None:
                    executor.scheduler.preempt(victim)
                    executor.scheduler.cap = 16
            made += [handle.result().ids for handle in handles]
        stats = engine.stats()
        assert stats.evictions
        assert stats.prefix_hits
        assert 0 < stats.accepted < stats.drafted
        engine.close()
        assert isinstance(split.team, ThreadTeam)
        seen |= {message[0] for message in split.team.messages}
        assert made == [ids for ids, _ in expected]
    assert seen >= {"open", "close", "run", "snapshot", "forget", "restore", "export", "import", "rollback", "last"}


def test_every_rank_forgets_what_nobody_holds(folder: Callable[[str], Path]) -> None:
    split = opened(folder("llama"), 2)
    slot = split.kv.open(16)
    assert slot is not None
    held = [split.kv.snapshot(slot) for _ in range(4)]
    for left in (3, 1, 0):
        del held[left:]
        split.kv.truncate(slot, 0)
    assert isinstance(split.team, ThreadTeam)
    numbers = [message[-1] for message in split.team.messages if message[0] == "snapshot"]
    forgotten = [number for message in split.team.messages if message[0] == "forget" for number in message[1]]
    assert sorted(forgotten) == numbers
    split.close()


def test_drawn_tokens_are_those_of_one_device(folder: Callable[[str], Path]) -> None:
    alone, split = opened(folder("llama"), 1), opened(folder("llama"), 2)
    how: dict[str, Any] = dict(temperature=0.8, top_p=0.9, seed=7, presence_penalty=0.4, repetition_penalty=1.1)
    asked = prompts(4, alone.vocab)
    assert_alike(replies(alone, asked, **how), replies(split, asked, **how))


@pytest.mark.parametrize("bits", [8, 4])
def test_quantized_keys_and_values(bits: int, folder: Callable[[str], Path]) -> None:
    compare(folder("qwen3"), 2, kv_bits=bits)


SLOW = pytest.mark.slow


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=SLOW), pytest.param(4, marks=SLOW)])
@pytest.mark.parametrize("quant", ["q8_0", "q4_k"])
def test_files_of_blocks(quant: str, ranks: int, tmp_path: Path) -> None:
    whole = save("llama", tmp_path / "m", intermediate_size=512, hidden_size=256, head_dim=64)
    file = convert(whole, tmp_path / "m.gguf", "gguf", quant)
    compare(file, ranks, 32)


@pytest.mark.parametrize("ranks", [pytest.param(n, marks=SLOW) for n in (2, 3, 4)])
@pytest.mark.parametrize("name", ["llama", "qwen3_5", "qwen3_moe"])
def test_four_bits_of_mlx(name: str, ranks: int, tmp_path: Path) -> None:
    moe = dict(moe_intermediate_size=128) if name == "qwen3_moe" else {}
    whole = save(name, tmp_path / "m", hidden_size=256, intermediate_size=512, **moe)
    packed = convert(whole, tmp_path / "q", "mlx", "q4_k")
    assert json.loads((packed / "config.json").read_text())["quantization"]["bits"] == 4
    compare(packed, ranks, 32)


@SLOW
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", ["qwen3_vl", "qwen3_5", "gemma3"])
def test_pictures_are_encoded_once_and_read_by_every_rank(name: str, ranks: int, tmp_path: Path) -> None:
    gemma = name == "gemma3"
    place = gemma3_checkpoints.save(tmp_path / "m") if gemma else vision_checkpoints.save(name, tmp_path / "m")
    marks = gemma3_checkpoints if gemma else vision_checkpoints
    how = SamplingParams(temperature=0.0, max_tokens=LENGTH, ignore_eos=True)
    made: list[list[list[int]]] = []
    for count in (1, ranks):
        loaded = opened(place, count)
        assert loaded.vision is not None
        pictures = [loaded.vision.prepare(drawn(48, 32, 0)), loaded.vision.prepare(drawn(16, 64, 1))]
        written = [5, 17, marks.START, marks.IMAGE, marks.END, 90, marks.START, marks.IMAGE, marks.END, 11]
        ids, positions = loaded.vision.expand(written, pictures)
        rope = loaded.vision.rope(ids, pictures)
        sees = Request("m", ids, how, pictures=pictures, positions=positions, rope=rope)
        with Engine(lambda _, one=loaded: one) as engine:  # type: ignore[misc]
            results = engine.batch([sees, Request("m", [5, 6, 7], how)])
        made.append([list(result.ids) for result in results if not isinstance(result, GrusError)])
    assert len(made[0]) == 2
    assert made[1] == made[0]


@SLOW
@pytest.mark.parametrize("ranks", [2, 3])
def test_a_draft_model_stays_on_the_first_rank(ranks: int, folder: Callable[[str], Path]) -> None:
    alone = opened(folder("llama"), 1)
    asked = prompts(6, alone.vocab)
    expected = [ids for ids, _ in replies(alone, asked)]
    target, draft = opened(folder("llama"), ranks), opened(folder("llama"), 1)
    settings = Settings(speculation="draft", draft_model="draft", gpu_memory_limit="1T")
    engine = Engine({"m": target, "draft": draft}.__getitem__, settings, start=False)
    how = SamplingParams(temperature=0.0, max_tokens=LENGTH, ignore_eos=True)
    handles = [engine.submit(Request("m", ids, how)) for ids in asked]
    while not engine.idle:
        engine.turn()
    assert [list(handle.result().ids) for handle in handles] == expected
    assert engine.stats().accepted > 30
    assert draft.kv.used == 0
    engine.close()


def test_a_step_is_told_in_few_bytes(folder: Callable[[str], Path]) -> None:
    split = opened(folder("llama"), 2)
    replies(split, prompts(16, split.vocab))
    assert isinstance(split.team, ThreadTeam)
    steps = [len(marshal.dumps(message)) for message in split.team.messages if message[0] == "run"]
    last = steps[-1]
    assert 0 < last < 512  # sixteen sequences that continue by a token each


def test_each_rank_has_its_share_of_the_weights(folder: Callable[[str], Path], tmp_path: Path) -> None:
    big = save("llama", tmp_path / "m", intermediate_size=512, hidden_size=256, vocab_size=2048)
    whole, split = opened(big, 1), opened(big, 4)
    assert split.weight_bytes / 4 <= whole.weight_bytes * (1 / 4 + 0.05)
    assert split.kv.bytes_for(1) <= whole.kv.bytes_for(1) / 2  # two heads of keys among four ranks
    for one in (whole, split):
        one.close()


def refused(folder: Path, ranks: int, kind: type[GrusError], words: str, **how: Any) -> None:
    with pytest.raises(kind, match=words):
        opened(folder, ranks, **how)


def test_what_cannot_be_split_starts_nothing(
    folder: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []
    monkeypatch.setattr(shares, "Team", lambda *given: begun.append(given))
    llama = folder("llama")
    refused(llama, 5, Unsupported, "cannot be split among 5 devices: it has 4 attention heads")
    refused(llama, 2, BadRequest, "2 ranks need 2 devices, not 3", devices=("cpu", "cpu", "cpu"))
    refused(llama, 0, BadRequest, "1 device or more")
    refused(llama, 2, Unsupported, "not both", cpu_moe=1)
    refused(llama, 2, GrusError, "no room for a conversation", memory_limit=1 << 20)
    adapter = random_lora(reference_cached("llama"), 1).save_peft(tmp_path / "adapter")
    refused(llama, 2, Unsupported, "without adapters", merged=(str(adapter),))
    assert begun == []


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_embedding_model_stays_whole(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []
    monkeypatch.setattr(shares, "Team", lambda *given: begun.append(given))
    place = save_encoder(kind, tmp_path / "m")
    whole, asked = (load_any(str(place), LoadOptions(backend="torch", device="cpu", tensor_parallel=n)) for n in (1, 2))
    assert isinstance(asked, LoadedEncoder)
    assert (asked.weight_bytes, asked.fingerprint) == (whole.weight_bytes, whole.fingerprint)
    assert begun == []


def test_a_text_model_makes_vectors_among_ranks(folder: Callable[[str], Path]) -> None:
    place = str(folder("qwen3"))
    options = LoadOptions(backend="torch", device="cpu", dtype="f32", quant="none")
    texts = ["The sea is blue.", "Bread", "Why is the sky so blue above the sea, and not below it?"]
    with EmbeddingModel(place, options) as whole, EmbeddingModel(place, replace(options, tensor_parallel=2)) as split:
        assert np.abs(whole.embed(texts) - split.embed(texts)).max() < 1e-4


def test_an_adapter_is_refused_by_name(folder: Callable[[str], Path]) -> None:
    split = opened(folder("llama"), 2)
    with pytest.raises(Unsupported, match="split among 2 devices, without adapters"):
        split.put_adapter("a", None)  # type: ignore[arg-type]
    split.close()
