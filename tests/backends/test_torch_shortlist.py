"""The largest logit without all logits: always the very one, or none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from backends.base import Sampling, Seg
from backends.torch import shortlist
from backends.torch.kernels import choose, library, moving
from backends.torch.kernels.rowwise import RowMatrix
from backends.torch.shortlist import Shortlist
from tests.backends.kernels.conftest import HERE
from tests.backends.kernels.weights_made_here import raw
from tests.backends.test_torch_recorded import Side, tokens
from tests.checkpoints import save

pytestmark = pytest.mark.skipif(not library.available(), reason=library.why_not())

VOCAB = 3000


def made(w: np.ndarray) -> tuple[RowMatrix, Shortlist]:
    head = RowMatrix(raw(w.astype(np.float32), "F32"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moving, "later", lambda one: one.move())
        return head, Shortlist(head)


def whole(head: RowMatrix, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    logits = torch.empty(len(x), head.rows_each)
    head.matmul(x, logits)
    return choose.best(logits)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def uneven(*shape: int) -> np.ndarray:
    """Rows and inputs of very different sizes, as trained models have them."""
    random = np.random.default_rng(5)
    return normal(*shape) * np.exp(2 * random.standard_normal((shape[0], 1))) * np.exp(random.standard_normal(shape[1]))


def neighbours(*shape: int) -> np.ndarray:
    """Rows that differ in their last bits, and pairs that do not differ at all."""
    w = normal(*shape)
    w[1::2] = w[::2]
    w[5::4] = np.nextafter(w[5::4], np.float32(9))
    return w


HEADS: list[Callable[..., np.ndarray]] = [normal, uneven, neighbours]


@pytest.mark.parametrize("columns", [64, 75, 416])
@pytest.mark.parametrize("make", HEADS)
def test_it_is_the_largest_of_all(
    make: Callable[..., np.ndarray], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortlist, "CLOSER", 1)
    head, found = made(make(VOCAB, columns))
    for count in (1, 2, 3, 8, 33, 64):
        for size in (1e-3, 1.0, 300.0):
            x = torch.from_numpy(normal(count, columns, seed=count)) * size
            got = found.best(x)
            assert got is not None
            want = whole(head, x)
            assert torch.equal(got[0], want[0])
            assert torch.equal(got[1], want[1])


def test_of_equals_the_lower_one() -> None:
    w = normal(VOCAB, 64)
    w[[17, 900, 2999]] = 5 * w[3]
    head, found = made(w)
    got = found.best(torch.from_numpy(w[3:4]))
    assert got is not None
    assert got[1].tolist() == [17]
    assert torch.equal(got[0], whole(head, torch.from_numpy(w[3:4]))[0])


@pytest.mark.parametrize("tier", HERE)
def test_the_bound_holds(tier: str) -> None:
    """What bytes say of a logit is never further from it than is claimed, for inputs that are hard to keep in bytes too."""
    head, found = made(uneven(VOCAB, 75))
    library.library().grus_use_tier(library.TIERS.index(tier))
    coarse: Any = found._coarse
    given = torch.from_numpy(normal(6, 75))
    given[1] *= 1e-12
    given[2, 3] = 1e4
    given[3] = 0
    given[4] = torch.where(given[4] > 0, 1e-3, -1.0)
    exact = given.double() @ head.w.double().T
    told = torch.empty(6, VOCAB)
    coarse.matrix.matmul(given, told)
    library.library().grus_use_tier(-1)
    peaks = torch.nn.functional.pad(given, (0, 21)).view(6, -1, 32).abs().amax(-1).norm(dim=-1)
    bound = coarse.off * given.norm(dim=-1)[:, None] + coarse.length * (peaks * 32**0.5 * 0.5005 / 127)[:, None]
    assert ((told - exact).abs() <= bound).all()


PEAKS = [0, 32]  # of the two blocks of 64 columns: with them as large as this, a byte is worth one
SIGNS = np.where(np.arange(64) % 3 == 0, -1.0, 1.0)


def whole_numbers_and(rest: float) -> np.ndarray:
    """`rest` of a byte's step, in the direction of SIGNS, is lost of each; what is kept is at a right angle to SIGNS."""
    kept = 3 * np.where(np.arange(64) // 32 == 0, SIGNS, -SIGNS)
    made = kept + rest * SIGNS
    made[PEAKS] = 127
    return made


@pytest.mark.parametrize("lost", ["of the row", "of the input"])
def test_what_bytes_make_small_is_found(lost: str) -> None:
    """Row 100 has the largest logit, 3,858; without what bytes lose it is nothing, and row 50's is 3,600."""
    w, straight = 1e-3 * normal(VOCAB, 64), 127 * SIGNS
    straight[PEAKS] = 127, -127
    uneven = whole_numbers_and(0.49)
    if lost == "of the row":
        w[100], x = uneven, straight
        w[50] = x * 3600 / (x @ x)
    else:
        w[100], x = straight, uneven
        w[50], w[50, 0] = 0, 3600 / x[0]
    head, found = made(w)
    given = torch.from_numpy(x[None].astype(np.float32))
    told = torch.empty(1, VOCAB)
    coarse: Any = found._coarse
    coarse.matrix.matmul(given, told)
    assert told.argmax().item() == 50
    got = found.best(given)
    assert got is not None
    assert got[1].tolist() == whole(head, given)[1].tolist() == [100]


def test_inputs_that_are_nearly_nothing() -> None:
    """The second block's scale is no number that can be worked with: in bytes it is zero, and row 100 stands on it alone."""
    w, x = 1e-3 * normal(VOCAB, 64), np.full(64, 1e-34)
    x[32:] = 0.9e-36
    w[100], w[100, 32:] = 0, 1000
    w[50], w[50, 0] = 0, 200
    head, found = made(w)
    given = torch.from_numpy(x[None].astype(np.float32))
    got = found.best(given)
    assert got is not None
    assert got[1].tolist() == whole(head, given)[1].tolist() == [100]


def test_how_likely_it_is_nearly() -> None:
    head, found = made(normal(VOCAB, 64))
    for size in (0.1, 0.5, 2.0):
        x = size * torch.from_numpy(normal(8, 64))
        logits = torch.empty(8, VOCAB)
        head.matmul(x, logits)
        got = found.best(x, likely=True)
        assert got is not None
        assert got[2] is not None
        assert torch.allclose(got[2], torch.log_softmax(logits, -1).amax(-1), atol=0.01)
        assert (got[2] <= 0).all()


def test_where_all_logits_are_needed_there_is_none() -> None:
    w = normal(VOCAB, 64)
    _, found = made(w)
    x = torch.from_numpy(normal(3, 64))
    assert found.best(x) is not None
    for wrong in (torch.nan, torch.inf, -torch.inf, 3e38):
        spoiled = x.clone()
        spoiled[1, 7] = wrong
        assert found.best(spoiled) is None
    assert found.best(torch.zeros(1, 64)) is None  # all are the largest
    assert found.best(torch.from_numpy(normal(65, 64))) is None  # so many share what is read
    w[5, 5] = np.nan
    assert made(w)[1].best(x) is None
    assert made(np.zeros((VOCAB, 64)))[1].best(x) is None


def test_before_its_copy_is_made_there_is_none() -> None:
    found = Shortlist(RowMatrix(raw(normal(VOCAB, 64), "F32")))
    assert found.best(torch.from_numpy(normal(1, 64))) is None
    moving.finish()
    assert found.best(torch.from_numpy(normal(1, 64))) is not None


# -- in a model's steps


@pytest.fixture
def side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Side:
    """A model of f32 whose small head is taken for a large one."""
    monkeypatch.setattr(shortlist, "LEAST", 1)
    save("qwen3", tmp_path)
    return Side(tmp_path, recorded=True, quant=None)


def replies(side: Side, sampling: Sampling, steps: int = 12, **asked: Any) -> list[Any]:
    slots = [side.kv.open(60) for _ in range(3)]
    made = []
    segs = [Seg(slot, tokens(4 + i, i), sample=sampling, **asked) for i, slot in enumerate(slots) if slot is not None]
    for _ in range(steps):
        read = side.runner.run(segs).read()
        made.append([read[seg.slot] for seg in segs])
        segs = [Seg(seg.slot, sample=sampling, **asked) for seg in segs]
        moving.finish()
    for slot in slots:
        side.kv.close(slot)
    return made


def test_replies_are_those_of_all_logits(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [[token.ids for token in step] for step in replies(side, Sampling())]
    told: Any = side.runner._shortlist
    assert told is not None
    assert told.best(torch.zeros(1, told.head.columns) + torch.arange(told.head.columns)) is not None
    monkeypatch.setattr(side.runner, "_shortlist", None)
    assert found == [[token.ids for token in step] for step in replies(side, Sampling())]


@pytest.mark.parametrize(
    ("sampling", "asked"),
    [
        (Sampling(temperature=1.0), {}),
        (Sampling(logprobs=0), {}),
        (Sampling(logprobs=2, nearly=True), {}),
        (Sampling(bias={3: 50.0}), {}),
        (Sampling(mask=np.arange(1000) % 7 == 3), {}),
        (Sampling(repetition=1.5, repeated=[1, 2]), {}),
        (Sampling(presence=1.0, seen={1: 2}), {}),
        (Sampling(), {"want": range(1)}),
    ],
)
def test_what_asks_for_more_gets_all_logits(
    side: Side, sampling: Sampling, asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies(side, Sampling())

    def refused(x: torch.Tensor, likely: bool = False) -> None:
        raise AssertionError("a shortlist cannot tell this")

    monkeypatch.setattr(side.runner._shortlist, "best", refused)
    for step in replies(side, sampling, 3, **asked)[1:]:
        for token in step:
            assert len(token.ids) == 1
            assert (token.logits is not None) == bool(asked)
            assert (token.logprobs is not None) == (sampling.logprobs is not None)


def test_a_confidence_comes_with_it(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    replies(side, Sampling())
    asked, seen = [], Sampling(logprobs=0, nearly=True)
    told = side.runner._shortlist
    assert told is not None
    monkeypatch.setattr(told, "best", lambda x, likely: asked.append(likely) or Shortlist.best(told, x, likely))
    nearly = [token for step in replies(side, seen) for token in step]
    assert any(asked)
    exactly = [token for step in replies(side, Sampling(logprobs=0)) for token in step]
    assert [token.ids for token in nearly] == [token.ids for token in exactly]
    assert [token.logprobs[0] for token in nearly] == pytest.approx([t.logprobs[0] for t in exactly], abs=0.01)
    assert all(token.top == [[]] for token in nearly)


def test_guesses_are_judged_by_it(side: Side) -> None:
    alone = [step[0].ids[0] for step in replies(side, Sampling())]
    slot = side.kv.open(60)
    assert slot is not None
    first = side.runner.run([Seg(slot, tokens(4, 0), sample=Sampling())]).read()[slot]
    assert first.ids == alone[:1]
    guessed = Seg(
        slot, [alone[0], alone[1], alone[2], alone[3] + 1], samples=[Sampling()] * 3, sample=Sampling(), draft=3
    )
    token = side.runner.run([guessed]).read()[slot]
    assert token.ids == alone[1:4]
    assert token.accepted == 2


def test_no_number_is_still_told(side: Side) -> None:
    replies(side, Sampling())
    slot = side.kv.open(60)
    assert slot is not None
    width = side.model.embed(torch.zeros(1, dtype=torch.int64)).shape[1]
    token = side.runner.run([Seg(slot, embeds=np.full((2, width), np.nan, np.float32), sample=Sampling())]).read()[slot]
    assert token.nan
    assert token.ids == []


def test_only_a_large_plain_head_of_f32_has_one(tmp_path: Path) -> None:
    save("qwen3", tmp_path)
    for quant, least in ((None, 1 << 22), ("q8_0", 1)):
        side = Side(tmp_path, recorded=True, quant=quant)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shortlist, "LEAST", least)
            replies(side, Sampling(), 2)
        assert side.runner._recorded is not None
        assert side.runner._shortlist is None
