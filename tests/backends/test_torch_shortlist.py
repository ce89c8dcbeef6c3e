"""The largest logit without all logits: always the very one, or none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from backends.torch import greedy_head
from backends.torch.greedy_head import ArgmaxShortlist, Best
from backends.torch.kernels import arena, fused, library
from backends.torch.kernels.linear import RowMatrix
from tests.backends.kernels.conftest import HERE
from tests.backends.kernels.weights_made_here import raw

pytestmark = pytest.mark.skipif(not library.available(), reason=library.why_not())

VOCAB = 3000


def made(w: np.ndarray) -> tuple[RowMatrix, ArgmaxShortlist]:
    head = RowMatrix(raw(w.astype(np.float32), "F32"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arena, "schedule", lambda one: one.move())
        return head, ArgmaxShortlist(head)


def found_by(found: ArgmaxShortlist, x: torch.Tensor, likely: bool = False) -> Best | None:
    values, places, mass = torch.empty(len(x)), torch.empty(len(x), dtype=torch.int64), torch.empty(len(x))
    where = values.data_ptr(), places.data_ptr(), mass.data_ptr() if likely else None
    if not found.argmax(x.data_ptr(), len(x), x.stride(0), *where, torch.get_num_threads()):
        return None
    return Best(values, places, -mass.log() if likely else None)


def whole(head: RowMatrix, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    logits = torch.empty(len(x), head.rows_each)
    head.matmul(x, logits)
    return fused.argmax(logits)


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
    monkeypatch.setattr(greedy_head, "SHORTLIST_SHARE", 1)
    head, found = made(make(VOCAB, columns))
    for count in (1, 2, 3, 8, 33, 63):
        for size in (1e-3, 1.0, 300.0):
            x = torch.from_numpy(normal(count, columns, seed=count)) * size
            got = found_by(found, x)
            assert got is not None
            want = whole(head, x)
            assert torch.equal(got[0], want[0])
            assert torch.equal(got[1], want[1])


def test_of_equals_the_lower_one() -> None:
    w = normal(VOCAB, 64)
    w[[17, 900, 2999]] = 5 * w[3]
    head, found = made(w)
    got = found_by(found, torch.from_numpy(w[3:4]))
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
    guessed = torch.empty(6, VOCAB)
    coarse.matrix.matmul(given, guessed)
    library.library().grus_use_tier(-1)
    peaks = torch.nn.functional.pad(given, (0, 21)).view(6, -1, 32).abs().amax(-1).norm(dim=-1)
    bound = coarse.off * given.norm(dim=-1)[:, None] + coarse.length * (peaks * 32**0.5 * 0.5005 / 127)[:, None]
    assert ((guessed - exact).abs() <= bound).all()


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
    guessed = torch.empty(1, VOCAB)
    coarse: Any = found._coarse
    coarse.matrix.matmul(given, guessed)
    assert guessed.argmax().item() == 50
    got = found_by(found, given)
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
    got = found_by(found, given)
    assert got is not None
    assert got[1].tolist() == whole(head, given)[1].tolist() == [100]


def test_how_likely_it_is_nearly() -> None:
    head, found = made(normal(VOCAB, 64))
    for size in (0.1, 0.5, 2.0):
        x = size * torch.from_numpy(normal(8, 64))
        logits = torch.empty(8, VOCAB)
        head.matmul(x, logits)
        got = found_by(found, x, likely=True)
        assert got is not None
        assert got[2] is not None
        assert torch.allclose(got[2], torch.log_softmax(logits, -1).amax(-1), atol=0.01)
        assert (got[2] <= 0).all()


def test_where_all_logits_are_needed_there_is_none() -> None:
    w = normal(VOCAB, 64)
    _, found = made(w)
    x = torch.from_numpy(normal(3, 64))
    assert found_by(found, x) is not None
    for wrong in (torch.nan, torch.inf, -torch.inf, 3e38):
        spoiled = x.clone()
        spoiled[1, 7] = wrong
        assert found_by(found, spoiled) is None
    assert found_by(found, torch.zeros(1, 64)) is None  # all are the largest
    w[5, 5] = np.nan
    assert found_by(made(w)[1], x) is None
    assert found_by(made(np.zeros((VOCAB, 64)))[1], x) is None


@pytest.mark.skipif(not library.has_matrix_unit(), reason="needs a CPU with a matrix unit")
def test_so_many_tokens_that_they_are_not_multiplied_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greedy_head, "SHORTLIST_SHARE", 1)
    _, found = made(normal(VOCAB, 64))
    assert found_by(found, torch.from_numpy(normal(63, 64))) is not None
    assert found_by(found, torch.from_numpy(normal(64, 64))) is None


def test_before_its_copy_is_made_there_is_none() -> None:
    found = ArgmaxShortlist(RowMatrix(raw(normal(VOCAB, 64), "F32")))
    assert found_by(found, torch.from_numpy(normal(1, 64))) is None
    arena.wait()
    assert found_by(found, torch.from_numpy(normal(1, 64))) is not None
