"""How far to draft: chosen for every step from the measured acceptance of each sequence and the measured time of steps.

A step with draft tokens takes longer than one without, and drafting takes time too; both are measured, by the number of tokens.
Each sequence's acceptance is estimated by depth, beginning with that of the whole model. `DraftPolicy` gives the sequences of a
batch as many draft tokens as make them fastest together, often none. What drafts have saved or lost is summed up: they stop
while more than one part in two hundred of the time was lost, whatever the estimates say.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from math import log
from typing import Generic, TypeVar

S = TypeVar("S", bound=Hashable)

_EXPECTED = 0.7  # acceptance before anything was measured
_PRIOR = 3.0  # how many outcomes of its own weigh as much as the model's
_SEQUENCE_MEMORY, _MODEL_MEMORY = 0.95, 0.995  # what an outcome still weighs after the next one
_WORTH = 1.02  # the least gain for which drafts are made
_PLAIN_EVERY = 48  # steps; one of so many has no drafts, so that the time of these stays known
_PROBE_EVERY = 24  # steps without drafts after which one is tried, where the loss allows it
_LOSS = 0.005  # the most that may be lost, as a share of the time
_FIRST_LOSS = 4.0  # plain steps that may be lost beyond that, so that something can be measured
_BANK = 16.0  # plain steps' time that gains may set against later losses
_COMMON = 0.6  # of a change of the time of steps with one number of tokens, what the others share
_ROW_GUESS = 0.08  # of a step's time, of one more token, before that was measured


@dataclass
class Acceptance:
    """How often draft tokens were right, by their depth, where those before them were."""

    memory: float
    tries: list[float] = field(default_factory=list)
    hits: list[float] = field(default_factory=list)

    def learn(self, drafted: int, accepted: int) -> None:
        while len(self.tries) < drafted:
            self.tries.append(0.0)
            self.hits.append(0.0)
        # All depths, so that one that looked bad and is not tried any more is tried again some time.
        self.tries = [known * self.memory for known in self.tries]
        self.hits = [known * self.memory for known in self.hits]
        for depth in range(min(drafted, accepted + 1)):
            self.tries[depth] += 1.0
            self.hits[depth] += depth < accepted

    def rate(self, depth: int, expected: float) -> float:
        if depth >= len(self.tries):
            return expected
        return (self.hits[depth] + _PRIOR * expected) / (self.tries[depth] + _PRIOR)


class StepTimes:
    """Seconds of steps by their number of tokens."""

    def __init__(self) -> None:
        self._known: dict[int, float] = {}
        self._once: set[int] = set()  # of these one alone was measured

    def record(self, tokens: int, seconds: float) -> None:
        old = self._known.get(tokens)
        once = tokens in self._once
        self._once.discard(tokens)
        if old is None or (once and seconds < old):  # the first of a kind sets up what others find
            self._known[tokens] = seconds
            if old is None:
                self._once.add(tokens)
            return
        # One slow step, beside other work on the machine, must not decide. What slows one kind of step mostly slows all of them.
        new = 0.75 * old + 0.25 * min(seconds, 1.5 * old)
        common = (new / old) ** _COMMON if old > 0 else 1.0
        self._known = {n: value * common for n, value in self._known.items()}
        self._known[tokens] = new

    def get(self, tokens: int) -> float | None:
        """Measured, or between those of fewer and of more tokens; None: nothing is known."""
        if tokens in self._known or not self._known:
            return self._known.get(tokens)
        below = max((n for n in self._known if n < tokens), default=None)
        above = min((n for n in self._known if n > tokens), default=None)
        if below is None:
            return self._known[above] if above is not None else None
        low = self._known[below]
        if above is None:
            return low * (1.0 + _ROW_GUESS * (tokens - below))
        high = max(low, self._known[above])
        return low + (high - low) * (tokens - below) / (above - below)


class DraftPolicy(Generic[S]):
    def __init__(self, most: int) -> None:
        """`most`: draft tokens of a sequence in one step."""
        self._most = most
        self._steps, self._drafting = StepTimes(), StepTimes()
        self._model = Acceptance(_MODEL_MEMORY)
        self._sequences: dict[S, Acceptance] = {}
        self._balance = 0.0  # seconds that drafts have saved; negative: lost
        self._total = 0.0
        self._since_plain = self._since_draft = 0
        self._probing = False  # the last draft was one that is tried now and then although drafts do not pay
        self._probed = 0.0  # the total when it was
        self._probe_from: float | None = None  # the balance before it, while its step is under way
        self._probe_loss = 0.0  # what it lost
        self._drafted_in: float | None = None  # seconds of the drafts of the step under way; None: it has none

    def choose(self, room: Mapping[S, int]) -> dict[S, int]:
        """How many draft tokens each of these sequences gets. `room`: the most it can use."""
        batch = len(room)
        plain = self._steps.get(batch)
        self._drafted_in = None
        if self._probe_from is not None:
            self._probe_loss, self._probe_from = max(0.0, self._probe_from - self._balance), None
        if plain is None or batch == 0:
            return {}
        chosen = self._best(room, plain) if self._balance >= -_LOSS * self._total - _FIRST_LOSS * plain else {}
        self._probing = self._probing and not chosen
        if chosen and self._since_plain >= _PLAIN_EVERY:
            chosen = {}
        elif not chosen and self._may_probe() and (open_ones := [s for s, most in room.items() if most > 0]):
            chosen = self._best(room, plain, hopeful=True) or {max(open_ones, key=lambda s: self._rate(s, 0)): 1}
            self._probing = True
            self._probed, self._probe_from = self._total, self._balance
        self._since_plain, self._since_draft = (self._since_plain + 1, 0) if chosen else (0, self._since_draft + 1)
        return chosen

    def _may_probe(self) -> bool:
        """Whether one draft token may be tried although drafts do not pay. What was gained before is not spent on it."""
        if self._since_draft < _PROBE_EVERY or self._balance < -_LOSS * self._total:
            return False
        return self._total - self._probed >= self._probe_loss / _LOSS

    def _best(self, room: Mapping[S, int], plain: float, hopeful: bool = False) -> dict[S, int]:
        """Give draft tokens one by one to the sequence that gains most by it; keep the best state.

        The best has the greatest product of all speeds: by their sum, a sequence that is a little likelier to be right would get
        all draft tokens, and the others the longer steps alone. `hopeful`: no step takes longer than guessed, since one that was
        measured in a bad moment would never be tried again.
        """
        batch = len(room)
        depths = dict.fromkeys(room, 0)
        reach = {sequence: self._rate(sequence, 0) for sequence in room}  # how likely the next draft token is used
        tokens = dict.fromkeys(room, 1.0)  # that a step makes of each
        rounds: list[int] = []  # sequences in each round of drafting
        best, found = batch * log(_WORTH), dict[S, int]()
        while open_ones := [s for s in room if depths[s] < min(room[s], self._most)]:
            sequence = max(open_ones, key=lambda s: reach[s] / tokens[s])
            if reach[sequence] < 0.02:
                break
            depth = depths[sequence]
            tokens[sequence] += reach[sequence]
            depths[sequence] += 1
            reach[sequence] *= self._rate(sequence, depth + 1)
            if depth == len(rounds):
                rounds.append(0)
            rounds[depth] += 1
            drafting = sum(self._drafting.get(n) or plain * _ROW_GUESS for n in rounds)
            step = self._steps.get(batch + sum(rounds)) or plain
            if hopeful:
                step = min(step, plain * (1.0 + _ROW_GUESS * sum(rounds)))
            gain = sum(map(log, tokens.values())) - batch * log((max(step, plain) + drafting) / plain)
            if gain > best:
                best, found = gain, {s: n for s, n in depths.items() if n}
        return found

    def _rate(self, sequence: S, depth: int) -> float:
        expected = self.acceptance(depth)
        own = self._sequences.get(sequence)
        return expected if own is None else own.rate(depth, expected)

    def acceptance(self, depth: int = 0) -> float:
        """The model's, as it is estimated now; where little is known, as at the depth before."""
        expected = _EXPECTED
        for at in range(depth + 1):
            expected = self._model.rate(at, expected)
        return expected

    def record_round(self, sequences: int, seconds: float) -> None:
        """A round of drafting, one token for each of these sequences, took `seconds`."""
        self._drafting.record(sequences, seconds)
        self._drafted_in = (self._drafted_in or 0.0) + seconds

    def record_step(self, tokens: int, sequences: int, seconds: float) -> None:
        """A step without prompt tokens took `seconds`."""
        self._steps.record(tokens, seconds)
        self._total += seconds + (self._drafted_in or 0.0)
        if self._drafted_in is not None:
            plain = self._steps.get(sequences) or seconds
            # as estimated: one slow step, beside other work on the machine, is not a loss by drafts
            self._balance -= (self._steps.get(tokens) or seconds) + self._drafted_in - plain
            self._balance = max(self._balance, -_LOSS * self._total - 2 * _FIRST_LOSS * plain)
            self._drafted_in = None

    def record_upkeep(self, seconds: float) -> None:
        """What had to be computed before a draft could begin took `seconds`."""
        self._total += seconds
        self._balance -= seconds

    @property
    def drafts(self) -> bool:
        """Whether drafts pay, or nothing is known yet: the last steps had some, and not only to try whether they would."""
        return self._since_draft < _PROBE_EVERY and not self._probing

    def learn(self, sequence: S, drafted: int, accepted: int, sequences: int) -> None:
        """Of `drafted` tokens `accepted` were right, in a step with so many sequences."""
        self._sequences.setdefault(sequence, Acceptance(_SEQUENCE_MEMORY)).learn(drafted, accepted)
        self._model.learn(drafted, accepted)
        plain = self._steps.get(sequences) or 0.0
        self._balance = min(self._balance + accepted * plain / max(1, sequences), _BANK * plain)

    def drop(self, sequence: S) -> None:
        self._sequences.pop(sequence, None)
