"""A model that is split among ranks answers as the whole one does: every architecture, and everything the engine does to sequences."""

from __future__ import annotations

import json
import marshal
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.runtime.vectors import EmbeddingModel
from backends.base import StateSpec
from backends.torch.cuda_graphs import DecodeGraphs
from backends.torch.kernels import library
from backends.torch.runner import TorchRunner
from engine import shares
from engine.engine import Engine
from engine.errors import BadRequest, GrusError, Unsupported
from engine.loaded import LoadedEncoder
from engine.loading import LoadedModel, LoadOptions, load, load_any
from engine.types import Request, SamplingParams, Settings, TokenLogprob
from engine.weights.convert import convert
from tests import gemma3_checkpoints, vision_checkpoints
from tests.backends.test_torch_cuda_graphs import Unrecorded
from tests.checkpoints import MODELS, reference_cached, save
from tests.encoder_checkpoints import KINDS
from tests.encoder_checkpoints import save as save_encoder
from tests.engine.vision.pictures import drawn
from tests.lora_adapters import random_lora
from tests.rank_threads import ThreadTeam

LENGTH = 16
NEAR = 1e-5  # between two logits: rounding may change their order
Replies = list[tuple[list[int], list[TokenLogprob]]]
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


def replies(loaded: LoadedModel, asked: list[list[int]], settings: Settings | None = None, **params: Any) -> Replies:
    """Ids of requests that run together, and of each token the log probability and the two likeliest."""
    engine = Engine(lambda _: loaded, settings or Settings(), start=False)
    how = dict(temperature=0.0, max_tokens=LENGTH, ignore_eos=True, logprobs=True, top_logprobs=2)
    handles = [engine.submit(Request("m", ids, SamplingParams(**{**how, **params}))) for ids in asked]
    while not engine.idle:
        engine.turn()
    results = [handle.result() for handle in handles]
    assert engine.check() == 0
    engine.close()
    return [(list(result.ids), list(result.logprobs or ())) for result in results]


def ties(whole: Replies, others: Sequence[Sequence[int]]) -> int:
    """How many of `others` differ from a token on whose two likeliest were within `NEAR` of each other. No other difference
    is allowed."""
    count = 0
    for (ids, steps), made in zip(whole, others, strict=True):
        at = agree(ids, made)
        if at < len(ids):
            (_, best), (_, second), *_ = steps[at].top
            assert best - second < NEAR, f"{made} in place of {ids}: token {at}, by a margin of {best - second:.1e}"
            count += 1
    print(f"{count} of {len(whole)} replies differ, from a token on that was likeliest by less than {NEAR}")
    assert count <= len(whole) / 8
    return count


def agree(ids: Sequence[int], others: Sequence[int]) -> int:
    """How many of the first tokens are the same."""
    return next((i for i, (a, b) in enumerate(zip(ids, others, strict=True)) if a != b), len(ids))


def assert_alike(whole: Replies, split: Replies) -> None:
    ties(whole, [ids for ids, _ in split])
    for (ids, steps), (others, near) in zip(whole, split, strict=True):
        same = slice(agree(ids, others))
        assert [one.logprob for one in near[same]] == pytest.approx([one.logprob for one in steps[same]], abs=1e-3)


def test_a_difference_is_allowed_where_two_tokens_are_equally_likely() -> None:
    def reply(*ids: int, margin: float = 1.0) -> tuple[list[int], list[TokenLogprob]]:
        steps = [TokenLogprob(one, -1.0, [(one, -1.0), (9, -2.0)]) for one in ids]
        steps[1] = TokenLogprob(ids[1], -1.0, [(ids[1], -1.0), (8, -1.0 - margin)])
        return list(ids), steps

    whole = [reply(1, 2, 3) for _ in range(7)]
    same = [[1, 2, 3]] * 7
    assert ties([*whole, reply(1, 2, 3)], [*same, [1, 2, 3]]) == 0
    assert ties([*whole, reply(1, 2, 3, margin=9e-6)], [*same, [1, 8, 7]]) == 1
    for margin, other in ((2e-5, [1, 8, 3]), (9e-6, [8, 2, 3]), (9e-6, [1, 2, 8])):
        with pytest.raises(AssertionError, match="by a margin of"):
            ties([*whole, reply(1, 2, 3, margin=margin)], [*same, other])
    with pytest.raises(AssertionError):  # more than a few: the model would prove nothing
        ties([*whole[:6], *[reply(1, 2, 3, margin=0.0)] * 2], [*same[:6], *[[1, 8, 3]] * 2])


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


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)])
def test_heads_that_all_share_one_group_are_split(ranks: int, tmp_path: Path) -> None:
    place = save("granite_hybrid_dense", tmp_path / "m", mamba_n_groups=1)
    alone, split = opened(place, 1), opened(place, ranks)
    kept = split.kv.specs[0]
    assert isinstance(kept, StateSpec)
    assert kept.heads < alone.kv.specs[0].heads  # type: ignore[union-attr]
    asked = prompts(32, alone.vocab)
    assert_alike(replies(alone, asked), replies(split, asked))


def in_blocks(kind: str, place: Path) -> Path:
    """A llama's checkpoint in a file of blocks, or in four bits of MLX."""
    whole = save("llama", place / "whole", intermediate_size=512, hidden_size=256, head_dim=64)
    if kind == "mlx4":
        return convert(whole, place / "packed", "mlx", "q4_k")
    return convert(whole, place / "packed.gguf", "gguf", kind)


BLOCKS = ["mlx4", "q4_k", "q8_0"]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("name", ["llama", "qwen3_5", "qwen3_5_moe", "deepseek_v3", "gemma3", *BLOCKS])
def test_prefixes_eviction_drafts_and_offloading_change_nothing(
    name: str, ranks: int, folder: Callable[[str], Path], tmp_path: Path
) -> None:
    """Dense, hybrid, a mixture with shared experts, latents, windows, quantized; two heads of keys among more ranks."""
    place = in_blocks(name, tmp_path) if name in BLOCKS else folder(name)
    alone = opened(place, 1)
    shared = prompts(4 + 32, alone.vocab, shared=40)
    expected = replies(alone, shared)
    settings = Settings(prefill_chunk=16, speculation="ngram", max_draft=4, offload_folder=tmp_path / "offload")
    seen = set()
    for _ in range(2):  # the second time, prefixes come from the disk
        split = opened(place, ranks)
        engine = Engine(lambda _, made=split: made, settings, start=False)  # type: ignore[misc]
        made: list[Sequence[int]] = []
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
        ties(expected, made)
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
    compare(in_blocks(quant, tmp_path), ranks, 32)


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
    expected = replies(alone, asked)
    target, draft = opened(folder("llama"), ranks), opened(folder("llama"), 1)
    settings = Settings(speculation="draft", draft_model="draft", gpu_memory_limit="1T")
    engine = Engine({"m": target, "draft": draft}.__getitem__, settings, start=False)
    how = SamplingParams(temperature=0.0, max_tokens=LENGTH, ignore_eos=True)
    handles = [engine.submit(Request("m", ids, how)) for ids in asked]
    while not engine.idle:
        engine.turn()
    ties(expected, [handle.result().ids for handle in handles])
    assert engine.stats().accepted > 30
    assert draft.kv.used == 0
    engine.close()


@pytest.mark.parametrize("name", ["llama", pytest.param("qwen3_5", marks=SLOW), pytest.param("gemma3", marks=SLOW)])
def test_ranks_take_steps_of_fixed_shape_together(
    name: str, folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As CUDA graphs take them, sums included. Capturing them needs a GPU for each rank: test_gpus.py."""
    begin, taken = TorchRunner.__init__, list[Any]()

    class Taken(Unrecorded):
        def replay(self, args: Any) -> Any:
            taken.append(self)
            return super().replay(args)

    def with_graphs(runner: TorchRunner, model: Any, kv: Any, ops: Any, *more: Any, **options: Any) -> None:
        begin(runner, model, kv, ops, *more, **options)
        kv.swaps_states = False
        runner.graphs = DecodeGraphs(model, kv, Taken)

    alone = opened(folder(name), 1)
    asked = prompts(6, alone.vocab)
    expected = replies(alone, asked)
    monkeypatch.setattr(TorchRunner, "__init__", with_graphs)
    assert_alike(expected, replies(opened(folder(name), 2), asked))
    assert len(taken) >= 2 * (LENGTH - 2)  # both ranks


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


@pytest.mark.parametrize("devices", [["cpu", "cuda:1"], ("cpu", "cuda:1"), "cpu, cuda:1"])
def test_devices_as_a_program_writes_them(devices: Any) -> None:
    assert {LoadOptions(devices=devices): 1} == {LoadOptions(devices=("cpu", "cuda:1")): 1}


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
