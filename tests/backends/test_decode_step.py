"""Steps in one native call give what the same steps give in several, to the last bit, and leave the same behind."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from backends.base import Sampling, Segment, SegmentOutput, Slot
from backends.torch import greedy_head, ops
from backends.torch.decode_step import MOST_PREPARED, MOST_ROWS, DecodeSteps, FinishedStep
from backends.torch.kernels import arena, library
from engine.load_options import LoadOptions
from engine.loading import load
from tests.asserting import every
from tests.backends.test_torch_tracing import ATTENDING, LATENT, MIXTURES, RECURRENT, Side, tokens
from tests.checkpoints import save
from tests.eagle_heads import save_eagle, save_target
from tests.ocr_checkpoints import save as save_seeing
from tests.prediction_heads import save_with_head

pytestmark = pytest.mark.skipif(not library.available(), reason=library.why_not())

SAMPLED = Sampling(temperature=0.9, top_k=20, top_p=0.95, noise=0.37)
IN_SEVERAL = ("gemma3n",)  # with an operation of its embeddings that has no instruction


class Together:
    """The same steps on two sides, of which one takes every step in several calls."""

    def __init__(self, folder: Path, quant: str | None = None, bits: int = 32, **more: Any) -> None:
        self.native, self.several = (Side(folder, True, quant, bits, **more) for _ in range(2))
        self.slots: list[tuple[Slot, Slot]] = []
        self.last: dict[int, int] = {}  # each sequence's next input
        self.count, self.near = 0, 0.0  # `count`: steps in one call, of sequences that have begun

    def open(self, n: int) -> int:
        one, other = self.native.kv.open(n), self.several.kv.open(n)
        assert one is not None
        assert other is not None
        self.slots.append((one, other))
        return len(self.slots) - 1

    def run(self, *wanted: tuple[int, dict[str, Any]]) -> list[SegmentOutput]:
        """Fields of a segment by the sequence's number; the results of both sides are compared."""
        made = []
        for i, side in enumerate((self.native, self.several)):
            slots = [self.slots[at][i] for at, _ in wanted]
            begun = every(slot.length for slot in slots)
            step = side.runner.run([Segment(slot, **fields) for slot, (_, fields) in zip(slots, wanted)])
            if i:
                assert not isinstance(step, FinishedStep)
            else:
                self.count += begun and isinstance(step, FinishedStep)
            read = step.read()
            made.append([read[slot] for slot in slots])
            self.several.runner._decoding = None
        for own, other in zip(*made, strict=True):
            assert (own.ids, own.accepted, own.nan) == (other.ids, other.accepted, other.nan)
            assert own.logprobs == (other.logprobs and pytest.approx(other.logprobs, rel=self.near))
            for mine, its in ((own.hidden, other.hidden), (own.logits, other.logits)):
                assert (mine is None) == (its is None)
                if its is not None:
                    np.testing.assert_allclose(mine, its, rtol=0, atol=self.near)
        self.last |= {at: own.ids[-1] for (at, _), own in zip(wanted, made[0]) if own.ids}
        return made[0]

    def prompts(self, *lengths: int) -> None:
        for length in lengths:
            at = self.open(length + 60)
            self.run((at, {"ids": tokens(length, at), "sample": Sampling()}))

    def decode(self, *numbers: int, sampling: Sampling = SAMPLED) -> list[SegmentOutput]:
        return self.run(*((at, {"sample": replace(sampling, noise=(0.37 * (at + 1)) % 1)}) for at in numbers))

    def following(self, at: int, samplings: Sequence[Sampling]) -> list[int]:
        """The tokens that steps without drafts would choose, which are taken back."""
        kv, runner, slot = self.several.kv, self.several.runner, self.slots[at][1]
        before, known = kv.snapshot(slot), [self.last[at]]
        for sampling in samplings:
            known += runner.run([Segment(slot, known[-1:], sample=sampling)]).read()[slot].ids
            runner._decoding = None
        kv.restore(slot, before)
        return known[1:]

    def verify(self, *wanted: tuple[int, int, int], sampling: Sampling = SAMPLED, **more: Any) -> list[SegmentOutput]:
        """A step with these numbers of drafts of each sequence, of which so many are right."""
        fields: list[tuple[int, dict[str, Any]]] = []
        for at, drafted, right in wanted:
            samplings = [replace(sampling, noise=(0.37 * (at + i + 1)) % 1) for i in range(drafted + 1)]
            true = self.following(at, samplings[:-1])
            drafts = [*true[:right], *((token + 1) % 250 for token in true[right:])]
            own = {"ids": [self.last[at], *drafts], "draft": drafted, "samples": samplings[:-1]} if drafted else {}
            fields.append((at, {**own, "sample": samplings[-1], **more}))
        made = self.run(*fields)
        assert [found.accepted for found in made] == [right for _, _, right in wanted]
        return made

    def same_memory(self) -> None:
        """Keys, values and states of all sequences."""
        for slots in self.slots:
            assert slots[0].length == slots[1].length
            pairs = zip((self.native, self.several), slots)
            own, other = (side.kv.export_snapshot(side.kv.snapshot(slot)) for side, slot in pairs)
            for mine, its in zip(own, other, strict=True):
                np.testing.assert_array_equal(mine, its)


def replies(both: Together) -> None:
    """Alone and together, with ids from outside, and beside steps that are no such ones."""
    both.prompts(5, 19, 2)
    for _ in range(3):
        both.decode(0)
        both.decode(2, 0, 1)
    both.run((1, {"ids": [7], "sample": Sampling()}), (0, {"sample": Sampling()}))
    both.run((1, {"sample": Sampling(logprobs=2)}), (0, {"sample": SAMPLED}))
    both.decode(1, 0, sampling=Sampling())
    both.prompts(9)
    for _ in range(8):
        both.decode(0, 1, 2, 3)
    both.run(*((at, {"ids": [3, 5], "sample": Sampling(), "want": range(2)}) for at in range(4)))


@pytest.mark.parametrize("name", ["qwen3", "llama", "gemma3", *ATTENDING, *LATENT, *RECURRENT, *MIXTURES])
def test_every_architecture(name: str, tmp_path: Path) -> None:
    both = Together(save(name, tmp_path / name))
    both.near = (
        1e-5 if name == "muse_glimmer" else 0
    )  # its embeddings' norm is torch's where a step takes several calls
    replies(both)
    assert both.count == (0 if name in IN_SEVERAL else 16)


@pytest.mark.parametrize("quant", ["q8_0", "q4_0"])
def test_of_quantized_weights(quant: str, tmp_path: Path) -> None:
    both = Together(save("qwen3_5", tmp_path / "few"), quant, 8)
    replies(both)
    assert both.count == 16


@pytest.mark.parametrize("kept", ["bf16", "f16"])
def test_embeddings_of_sixteen_bits(kept: str, tmp_path: Path) -> None:
    """Before and after their rows move to faster memory, where bf16 is kept in fewer bits."""
    folder = save("qwen3", tmp_path / kept, vocab_size=1200)
    file = folder / "model.safetensors"
    dtype = {"bf16": torch.bfloat16, "f16": torch.float16}[kept]
    save_file({name: w.to(dtype) for name, w in load_file(file).items()}, file, {"format": "pt"})
    both = Together(folder)
    both.prompts(5)
    for _ in range(2):
        both.decode(0)
        arena.wait()
    assert both.count == 2
    embedding = both.native.model.embedding.matrices[0]
    assert (embedding.bf12 is not None) == (kept == "bf16")


def test_many_sequences(tmp_path: Path) -> None:
    both = Together(save("qwen3", tmp_path / "many"))
    both.prompts(*([3] * (MOST_ROWS + 1)))
    both.decode(*range(MOST_ROWS))
    assert both.count == 1
    both.decode(*range(MOST_ROWS + 1))
    assert both.count == 1


def test_positions_beyond_the_first_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops, "MOST_POSITIONS", 32)
    monkeypatch.setattr(ops, "FEWEST_POSITIONS", 16)
    monkeypatch.setattr(ops, "MOST_PIECES", 2)
    both = Together(save("qwen3", tmp_path / "far"))
    for length in (25, 3, 60):
        at = both.open(length + 80)
        both.run((at, {"ids": tokens(length, at), "sample": Sampling()}))
    for _ in range(40):
        both.decode(0, 1, 2, sampling=Sampling())
    assert both.count == 40
    kept = [weakref.ref(piece.cos) for cache in both.native.runner._traced.inputs for piece in cache._pieces.values()]  # type: ignore[union-attr]
    for _ in range(20):
        both.decode(0, 1, 2, sampling=Sampling())
    assert any(piece() is None for piece in kept), "each piece that a reply has passed stays in memory"


@pytest.mark.parametrize("name", ["mistral_window", "gpt_oss", "gemma3", "unlimited_ocr"])
def test_windows_that_move_on(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And layers that drop all but the prompt and the last tokens behind it."""
    monkeypatch.setattr("backends.kv_cache.WINDOW_MARGIN", 2)
    monkeypatch.setattr("backends.kv_cache.WINDOW_STEP", 21)
    folder = tmp_path / name
    both = Together(save_seeing(name, folder) if name == "unlimited_ocr" else save(name, folder))
    for at, length in enumerate((6, 17)):
        both.open(90)
        both.run((at, {"ids": tokens(length, at), "sample": Sampling(), "prompt": length}))
    for _ in range(50):
        both.run(*((at, {"sample": Sampling(), "prompt": length}) for at, length in enumerate((6, 17))))
    assert both.count == 50
    slot, _ = both.slots[0]
    assert slot.place.firsts
    both.run((0, {"ids": [3], "sample": Sampling(), "want": range(1), "prompt": 6}))


def test_positions_of_several_axes(tmp_path: Path) -> None:
    """As behind a picture, where all axes go on from its greatest place."""
    both = Together(save("qwen3", tmp_path / "axes"))
    both.prompts(9)
    for at in (30, 31):
        both.run((0, {"sample": Sampling(), "pos": np.full((3, 1), at)}))
        both.run((0, {"sample": Sampling(), "pos": np.array([at + 7])}))
    assert both.count == 4


def test_the_longest_reply_ends_with_the_same_error(tmp_path: Path) -> None:
    side = Side(save("qwen3", tmp_path / "full"), True, None)
    slot = side.kv.open(20)
    assert slot is not None
    side.runner.run([Segment(slot, tokens(slot.capacity - 1, 0), sample=Sampling())]).read()
    assert isinstance(side.runner.run([Segment(slot, sample=Sampling())]), FinishedStep)
    with pytest.raises(ValueError, match="has room for"):
        side.runner.run([Segment(slot, sample=Sampling())])
    side.kv.close(slot)
    other = side.kv.open(20)
    assert other is not None
    for several in ([], [Segment(other, [1], sample=Sampling())]):
        with pytest.raises(ValueError, match="is closed"):
            side.runner.run([*several, Segment(slot, sample=Sampling())])


def test_what_cannot_run_changes_nothing(tmp_path: Path) -> None:
    side = Side(save("qwen3_5", tmp_path / "bad"), True, None)
    one, fresh = side.kv.open(20), side.kv.open(20)
    assert one is not None
    assert fresh is not None
    side.runner.run([Segment(one, tokens(4, 0), sample=Sampling())]).read()
    with pytest.raises(ValueError, match="two segments"):
        side.runner.run([Segment(one, sample=Sampling()), Segment(one, sample=Sampling())])
    with pytest.raises(ValueError, match="give its ids"):
        side.runner.run([Segment(fresh, sample=Sampling())])
    with pytest.raises(IndexError):
        side.runner.run([Segment(one, [10**6], sample=Sampling())])
    assert (one.length, fresh.length) == (4, 0)


def without_numbers(folder: Path) -> tuple[Together, int]:
    """A sequence of a model whose hidden states are NaN."""
    file = folder / "model.safetensors"
    weights = {name: w.fill_(nan) if name.endswith("model.norm.weight") else w for name, w in load_file(file).items()}
    save_file(weights, file, {"format": "pt"})
    both = Together(folder)
    at = both.open(20)
    both.run((at, {"ids": tokens(4, 0)}))
    return both, at


def test_weights_that_are_no_numbers(tmp_path: Path) -> None:
    both, at = without_numbers(save("qwen3", tmp_path / "nan"))
    (found,) = both.run((at, {"ids": [5], "sample": SAMPLED}))
    assert (found.nan, found.ids, both.count) == (True, [], 1)
    assert {slot.id for slot, _ in both.slots} == both.native.kv.poisoned  # type: ignore[attr-defined]


def test_steps_operation_by_operation_between(tmp_path: Path) -> None:
    """They exchange other tables of recurrent states than a program's steps do."""
    both = Together(save("qwen3_5", tmp_path / "mixed"))
    both.near = 1e-4
    both.several.runner._may_trace = False
    both.prompts(6)
    runner = both.native.runner
    traced, decoding = runner._traced, runner._decoding
    for several in (True, False, False, True, True, False, True, False):
        runner._traced, runner._decoding = (None, None) if several else (traced, decoding)
        both.run((0, {"ids": [5], "sample": Sampling(), "want": range(1)}))
        for _ in range(0 if several else 3):
            both.run((0, {"sample": Sampling()}))
    assert both.count == 12


def test_a_large_head_is_searched_by_its_shortlist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greedy_head, "SHORTLIST_WEIGHTS", 1)
    both = Together(save("qwen3", tmp_path / "large"))
    both.prompts(4)
    both.decode(0, sampling=Sampling())
    arena.wait()
    decoding = both.native.runner._decoding
    assert isinstance(decoding, DecodeSteps)
    assert decoding.head is not None
    assert decoding.head.shortlist_address is not None
    for _ in range(5):
        both.decode(0, sampling=Sampling())
    assert both.count == 6


@pytest.mark.parametrize("name", ["qwen3", "qwen3_5", "cohere2"])
def test_hidden_states_come_along(name: str, tmp_path: Path) -> None:
    both = Together(save(name, tmp_path / name))
    both.prompts(5, 3)
    for _ in range(3):
        both.run((1, {"sample": Sampling(), "hidden": True}), (0, {"sample": SAMPLED}))
    assert both.count == (0 if name == "cohere2" else 3)  # whose logits are more than a product


@pytest.mark.parametrize("name", ["qwen3", "gemma3"])
def test_what_is_added_to_the_embeddings(name: str, tmp_path: Path) -> None:
    both = Together(save(name, tmp_path / name))
    both.prompts(5, 3)
    width = both.native.model.embed(torch.tensor([1])).shape[1]
    rows = np.random.default_rng(2).standard_normal((4, 1, width)).astype(np.float32)
    for row in rows:
        both.run((0, {"ids": [4], "sample": Sampling(), "add": row}), (1, {"sample": SAMPLED, "add": 3 * row}))
        both.decode(0, 1)
    both.run((0, {"ids": [4], "sample": Sampling(), "add": torch.from_numpy(rows[0])}))
    assert both.count == 9
    both.run((0, {"ids": [4], "sample": Sampling(), "add": rows[0]}), (1, {"sample": SAMPLED}))
    assert both.count == 9
    with pytest.raises((ValueError, RuntimeError)):
        both.run((0, {"ids": [4], "sample": Sampling(), "add": rows[0][:, 1:]}))


@pytest.mark.parametrize("kind", ["mtp", "eagle3"])
def test_draft_heads_take_such_steps(kind: str, tmp_path: Path) -> None:
    """Their embeddings are padded, and hidden states are added beside them."""
    if kind == "mtp":
        folder, own = save_with_head("qwen3_5", tmp_path / "model"), {"draft_head": True}
    else:
        folder = save_target(tmp_path / "target")
        own = {"eagle": str(save_eagle(folder, tmp_path / "head"))}
    head = load(str(folder), LoadOptions(backend="torch", device="cpu", **own)).draft_head  # type: ignore[arg-type]
    assert head is not None
    slot = head.kv.open(20)
    assert slot is not None
    runner: Any = head.runner
    row = np.random.default_rng(2).standard_normal((3, runner.model.embed(torch.tensor([1])).shape[1]), np.float32)
    runner.run([Segment(slot, [3, 4, 5], add=row, sample=Sampling())]).read()
    decoding, made = runner._decoding, []
    for native in (True, False):
        runner._decoding = decoding if native else None
        for count in (1, 3):
            ids = [7, 4, 9][:count]
            step = runner.run([Segment(slot, ids, add=row[:count], sample=Sampling(), hidden=True)])
            assert isinstance(step, FinishedStep) == native
            made.append(step.read()[slot])
            head.kv.truncate(slot, 3)
    for own, other in zip(made[:2], made[2:], strict=True):
        assert own.ids == other.ids
        np.testing.assert_array_equal(own.hidden, other.hidden)


def drafts(both: Together) -> None:
    """Rejected all, some and none, alone and beside others, and steps without drafts behind each."""
    both.prompts(5, 19, 3)
    for step, right in enumerate((0, 1, 3)):
        both.verify((0, 3, right), hidden=step == 1)
        both.decode(0)
        both.verify((1, 2, 2), (0, 0, 0), (2, 4, right), sampling=SAMPLED if step else Sampling())
        both.decode(2, 0, 1)
        both.verify((2, 1, 0), (0, 3, right), hidden=step == 2)
        both.run((1, {"sample": Sampling(logprobs=2)}), (0, {"sample": SAMPLED}))
        both.verify((2, 2, 1), sampling=Sampling())
    both.same_memory()


@pytest.mark.parametrize(
    "name", ["qwen3", "gemma3", "mistral_window", "gpt_oss", "qwen3_5", "lfm2", "nemotron_h", "qwen3_5_moe"]
)
def test_drafts_are_verified_in_one_call(name: str, tmp_path: Path) -> None:
    both = Together(save(name, tmp_path / name))
    drafts(both)
    assert both.count == 18


def test_drafts_of_a_model_whose_logits_are_more_than_a_product(tmp_path: Path) -> None:
    """Hidden states are not kept apart from them there."""
    both = Together(save("cohere2", tmp_path / "more"))
    drafts(both)
    assert both.count == 16


@pytest.mark.parametrize(("quant", "bits"), [("q8_0", 8), ("q4_0", 4), ("q4_0", 16)])
def test_drafts_of_quantized_weights_keys_and_values(quant: str, bits: int, tmp_path: Path) -> None:
    """What is written with other rounding behind it takes another code here and there: so none is sure to be right."""
    both = Together(save("qwen3_5", tmp_path / "few"), quant, bits)
    both.prompts(5, 9)
    samplings = [replace(SAMPLED, noise=noise) for noise in (0.2, 0.5, 0.8)]
    for step in range(6):
        ids = [both.last[0], *both.following(0, samplings[:-1])]
        own = {"ids": ids, "draft": 2, "samples": samplings[:-1], "sample": samplings[-1], "hidden": step % 2 > 0}
        both.run((0, own), (1, {"sample": SAMPLED}))
    assert both.count == 6
    both.same_memory()


@pytest.mark.parametrize("name", ["qwen3", "qwen3_5"])
def test_more_rows_than_a_step_takes(name: str, tmp_path: Path) -> None:
    both = Together(save(name, tmp_path / name))
    both.prompts(4, 6, 3, 5)
    both.verify((0, 3, 1), (1, 3, 0), (2, 3, 3), (3, MOST_ROWS - 13, 2))
    assert both.count == 1
    both.verify((0, 3, 3), (1, 3, 2), (2, 3, 0), (3, MOST_ROWS - 12, 0))
    assert both.count == 1
    both.decode(0, 1, 2, 3)
    both.same_memory()


def test_more_kinds_of_steps_than_are_prepared(tmp_path: Path) -> None:
    both = Together(save("qwen3_5", tmp_path / "kinds"))
    both.prompts(7, 4)
    for _ in range(2):
        for drafted in range(MOST_PREPARED + 2):
            both.verify((0, drafted, drafted // 2))
            both.verify((drafted % 2, 2, 1), (1 - drafted % 2, 0, 0))
    for _ in range(2):  # as many tokens, with other drafts among them
        both.run((0, {"ids": [3, 4, 5], "sample": SAMPLED}))
        both.verify((0, 2, 1))
    assert both.count == 4 * (MOST_PREPARED + 2) + 4
    both.same_memory()


@pytest.mark.parametrize("name", ["mistral_window", "gpt_oss", "gemma3"])
def test_drafts_while_windows_move_on(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.kv_cache.WINDOW_MARGIN", 4)
    monkeypatch.setattr("backends.kv_cache.WINDOW_STEP", 21)
    both = Together(save(name, tmp_path / name))
    both.prompts(6, 17)
    for step in range(25):
        both.verify((0, 3, step % 4), (1, 2, 2 - step % 3) if step % 2 else (1, 0, 0))
    assert both.count == 25
    assert every(slot.place.firsts for slot, _ in both.slots)
    both.same_memory()


def test_drafts_at_positions_of_several_axes(tmp_path: Path) -> None:
    both = Together(save("qwen3", tmp_path / "axes"))
    both.prompts(9)
    own = {"ids": [3, 4, 5], "draft": 2, "samples": [Sampling()] * 2, "sample": Sampling()}
    both.run((0, {**own, "pos": np.arange(30, 33)}))
    both.run((0, {**own, "pos": np.tile(np.arange(40, 43), (3, 1))}))
    assert both.count == 2
    both.run((0, {**own, "pos": np.array([[50, 51, 52], [50, 50, 50], [50, 51, 52]])}))
    assert both.count == 2


def test_drafts_that_cannot_run_change_nothing(tmp_path: Path) -> None:
    side = Side(save("qwen3_5", tmp_path / "bad"), True, None)
    slot, plain = side.kv.open(20), Sampling()
    assert slot is not None
    side.runner.run([Segment(slot, tokens(4, 0), sample=plain)]).read()
    for segment, why in (
        (Segment(slot, [1, 2], sample=plain, draft=2, samples=[plain] * 2), "one token before it"),
        (Segment(slot, sample=plain, draft=1, samples=[plain]), "a draft needs its ids"),
        (Segment(slot, [1, 2], sample=plain, draft=1), "one sampling for each"),
        (Segment(slot, [1, 2], sample=plain, draft=1, samples=[plain] * 2), "one sampling for each"),
        (Segment(slot, [], sample=plain), "empty"),
    ):
        with pytest.raises(ValueError, match=why):
            side.runner.run([segment])
    with pytest.raises(IndexError):
        side.runner.run([Segment(slot, [1, 10**6], sample=plain, draft=1, samples=[plain])])
    assert slot.length == 4


def test_drafts_of_weights_that_are_no_numbers(tmp_path: Path) -> None:
    both, at = without_numbers(save("qwen3_5", tmp_path / "nan"))
    own = {"ids": [3, 4, 5], "draft": 2, "samples": [SAMPLED, Sampling()], "sample": Sampling()}
    (found,) = both.run((at, {**own, "hidden": True}))
    assert (found.nan, found.ids, found.accepted, both.count) == (True, [], 0, 1)
    assert {slot.id for slot, _ in both.slots} == both.native.kv.poisoned  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["qwen3", "qwen3_5"])
def test_tokens_of_which_only_the_last_is_followed(name: str, tmp_path: Path) -> None:
    """As those that a draft head reads first, beside what is added to their embeddings."""
    both = Together(save(name, tmp_path / name))
    both.prompts(5, 3, 8)
    width = both.native.model.embed(torch.tensor([1])).shape[1]
    random = np.random.default_rng(3)
    for counts in ((3, 1, 2), (2, 4, 1), (1, 1, 5), (3, 1, 2)):
        fields = []
        for at, count in enumerate(counts):
            own = {"ids": tokens(count, at), "sample": Sampling() if at else SAMPLED, "hidden": at == 1}
            fields.append((at, {**own, "add": random.standard_normal((count, width), np.float32)}))
        both.run(*fields)
        both.run(*((at, {**own, "add": None}) for at, own in fields[:2]))
    assert both.count == 8
    both.same_memory()
