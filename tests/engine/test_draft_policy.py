"""The policy of drafting: it is near the best fixed length where drafts pay, and loses next to nothing where they do not."""

from __future__ import annotations

import random

import pytest

from engine.draft_policy import DraftPolicy, StepTimes

TOKENS = 1500


def simulated(
    acceptance: float,
    row: float,
    drafting: float,
    batch: int = 1,
    noise: float = 0.0,
    seed: int = 0,
    upkeep: float = 0.0,
    policy: DraftPolicy[int] | None = None,
    least: int = TOKENS,
    setup: float = 0.0,
    slowest: bool = False,
) -> float:
    """Times as fast as without drafts: a step takes 1 and `row` for each further token, a draft token of each sequence `drafting`. The
    first draft after a while takes `upkeep` more for each token since the last one, of 64 at most; the first step with a number of tokens
    `setup`. Of all sequences together, or of the slowest."""
    chance = random.Random(seed)
    policy = policy or DraftPolicy(5)
    made, seconds, waiting, seen = [0] * batch, 0.0, 0, set[int]()

    def jitter() -> float:
        return 1.0 + noise * (chance.random() * 2 - 1)

    while min(made) < least:
        chosen = policy.choose(dict.fromkeys(range(batch), 16))
        if chosen and waiting > 8:
            policy.record_upkeep(upkeep * waiting * len(chosen))
            seconds += upkeep * waiting * len(chosen)
        waiting = 0 if chosen else min(64, waiting + 1)
        for at in range(max(chosen.values(), default=0)):
            took = drafting * jitter()
            policy.record_round(sum(length > at for length in chosen.values()), took)
            seconds += took
        tokens = batch + sum(chosen.values())
        took = (1.0 + row * (tokens - 1)) * jitter() + setup * (tokens not in seen)
        seen.add(tokens)
        policy.record_step(tokens, batch, took)
        seconds += took
        for sequence in range(batch):
            length, accepted = chosen.get(sequence, 0), 0
            while accepted < length and chance.random() < acceptance:
                accepted += 1
            if length:
                policy.learn(sequence, length, accepted, batch)
            made[sequence] += accepted + 1
    return (min(made) if slowest else sum(made) / batch) * (1.0 + row * (batch - 1)) / seconds


def fixed(acceptance: float, row: float, drafting: float, length: int) -> float:
    tokens = sum(acceptance**i for i in range(length + 1))
    return tokens / (1.0 + row * length + drafting * length)


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("row", [0.05, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("acceptance", [0.0, 0.05, 0.3])
def test_it_loses_at_most_two_in_a_hundred(acceptance: float, row: float, batch: int, noise: float) -> None:
    assert simulated(acceptance, row, 0.1, batch, noise) > 0.98


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("row", [0.05, 0.5])
def test_what_a_draft_has_to_compute_first_counts_as_a_loss(row: float, batch: int) -> None:
    """A head of one layer of 24 computes 64 rows in the time of two steps."""
    assert simulated(0.0, row, 0.5, batch, 0.3, upkeep=0.03) > 0.98


@pytest.mark.parametrize("row", [0.2, 0.3])
def test_what_one_stream_has_gained_is_not_lost_to_tries_in_four(row: float) -> None:
    policy: DraftPolicy[int] = DraftPolicy(5)
    assert simulated(0.7, row, 0.4, noise=0.3, upkeep=0.03, policy=policy, least=400) > 1
    policy.drop(0)
    assert simulated(0.7, row, 0.4, 4, 0.3, upkeep=0.03, policy=policy, least=600) > 0.98


def test_drafts_that_are_only_tried_do_not_pay() -> None:
    policy: DraftPolicy[str] = DraftPolicy(5)
    tried = []
    assert policy.drafts, "nothing is known yet"
    for step in range(1500):
        chosen = policy.choose({"a": 9})
        if chosen:
            policy.record_round(1, 0.5)
        policy.record_step(1 + sum(chosen.values()), 1, 1.0 + 0.2 * sum(chosen.values()))
        if chosen:
            policy.learn("a", chosen["a"], 0, 1)
        tried.append(bool(chosen))
        assert step < 200 or not policy.drafts
    assert any(tried[200:])
    for _ in range(1500):
        chosen = policy.choose({"a": 9})
        policy.record_step(1 + sum(chosen.values()), 1, 1.0 + 0.05 * sum(chosen.values()))
        if chosen:
            policy.learn("a", chosen["a"], chosen["a"], 1)
    assert policy.drafts


@pytest.mark.parametrize(
    ("acceptance", "row", "drafting"), [(0.5, 0.05, 0.05), (0.7, 0.1, 0.05), (0.9, 0.1, 0.05), (0.9, 0.3, 0.1)]
)
def test_it_is_near_the_best_fixed_length(acceptance: float, row: float, drafting: float) -> None:
    best = max(fixed(acceptance, row, drafting, length) for length in range(6))
    assert best > 1.1
    assert simulated(acceptance, row, drafting, noise=0.1) > 1 + 0.85 * (best - 1)


@pytest.mark.parametrize("seed", range(4))
def test_sequences_that_are_alike_gain_alike(seed: int) -> None:
    """Even where the first step of each kind took twice as long."""
    assert simulated(0.7, 0.08, 0.08, 4, 0.1, seed, setup=1.0, slowest=True) > 1.2
    assert simulated(0.9, 0.1, 0.05, 4, 0.1, seed, setup=1.0, slowest=True) > 1.5


@pytest.mark.parametrize("seed", range(4))
def test_a_kind_of_step_that_was_measured_in_a_bad_moment_is_tried_again(seed: int) -> None:
    """Steps of eight tokens take hardly longer than those of five, which alone do not pay."""
    chance = random.Random(seed)
    policy: DraftPolicy[int] = DraftPolicy(5)
    for tokens, seconds in ((4, 1.0), (5, 1.25), (8, 2.4)):
        for _ in range(3):
            policy.record_step(tokens, 4, seconds)
    chosen: list[int] = []
    for _ in range(800):
        lengths = policy.choose(dict.fromkeys(range(4), 1))
        if lengths:
            policy.record_round(len(lengths), 0.05)
        chosen.append(sum(lengths.values()))
        policy.record_step(4 + chosen[-1], 4, 1.0 if not lengths else 1.25 + 0.01 * chosen[-1])
        for sequence in lengths:
            policy.learn(sequence, 1, int(chance.random() < 0.7), 4)
    assert chosen[-100:].count(4) > 80, chosen


def test_sequences_are_told_apart() -> None:
    """One whose drafts are right and one whose are wrong, in the same batch."""
    policy: DraftPolicy[str] = DraftPolicy(5)
    last: list[dict[str, int]] = []
    for _ in range(120):
        chosen = policy.choose({"right": 9, "wrong": 9})
        policy.record_step(2 + sum(chosen.values()), 2, 1.0 + 0.1 * sum(chosen.values()))
        for sequence, length in chosen.items():
            policy.learn(sequence, length, length if sequence == "right" else 0, 2)
        last.append(chosen)
    drafted = [chosen for chosen in last[-40:] if chosen]
    assert len(drafted) > 30
    assert sum(chosen.get("right", 0) for chosen in drafted) > 8 * sum(chosen.get("wrong", 0) for chosen in drafted)


def test_room_is_kept_to() -> None:
    policy: DraftPolicy[str] = DraftPolicy(5)
    assert policy.choose({"a": 5}) == {}, "nothing is known of a step's time"
    policy.record_step(1, 1, 1.0)
    assert policy.choose({"a": 2})["a"] <= 2
    assert policy.choose({"a": 0}) == {}


def test_times_between_measured_ones() -> None:
    times = StepTimes()
    assert times.get(3) is None
    times.record(1, 1.0)
    assert times.get(1) == 1.0
    assert times.get(2) is not None
    times.record(5, 2.0)
    assert times.get(3) == pytest.approx(1.5)
