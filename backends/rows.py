"""Who owns which row of which slab. Array-free, shared by all backends.

Rows of a KV cache come in capacity classes of 256 * 2^k tokens, so that at most half of a row is waste. Within a class
the live rows are compact (0 .. n-1): a batch is then a slice, not a gather. Closing or growing a slot leaves a hole,
which the class's last row fills; the backend is told so as a `Move` and copies the data. Recurrent states have a row
of their own, in one table, because their size does not depend on length.
"""

from __future__ import annotations

from dataclasses import dataclass

from backends.base import Slot

SMALLEST = 256


def capacity_class(n: int) -> int:
    """The smallest class that holds `n` tokens."""
    capacity = SMALLEST
    while capacity < n:
        capacity *= 2
    return capacity


@dataclass
class Place:
    """Where a slot lies now."""

    row: int  # in the slab of its capacity class
    state: int  # in the table of recurrent states (kept also for models that have none: it is only a number)


@dataclass(frozen=True)
class Move:
    """Copy one row's data. Equal capacities: fill a hole. Different ones: a slot has grown."""

    from_capacity: int
    from_row: int
    to_capacity: int
    to_row: int


class RowTable:
    """Rows of one KV cache."""

    def __init__(self) -> None:
        self.classes: dict[int, list[Slot]] = {}  # capacity -> the owners of its rows, in row order
        self.states: list[Slot] = []  # the owners of state rows, in row order
        self._next_id = 0

    @property
    def slots(self) -> list[Slot]:
        return self.states

    def open(self, n: int) -> Slot:
        capacity = capacity_class(n)
        owners = self.classes.setdefault(capacity, [])
        slot = Slot(self._next_id, 0, capacity, Place(len(owners), len(self.states)))
        self._next_id += 1
        owners.append(slot)
        self.states.append(slot)
        return slot

    def grow(self, slot: Slot, n: int) -> list[Move]:
        """Move the slot into the class for `n` tokens. The moves are to be carried out in order."""
        capacity = capacity_class(n)
        if capacity <= slot.capacity:
            return []
        owners = self.classes.setdefault(capacity, [])
        old_capacity, old_row = slot.capacity, slot.place.row
        moves = [Move(old_capacity, old_row, capacity, len(owners)), *self._leave(slot)]
        slot.capacity, slot.place.row = capacity, len(owners)
        owners.append(slot)
        return moves

    def close(self, slot: Slot) -> tuple[list[Move], tuple[int, int] | None]:
        """Free the slot's rows: the moves that fill the hole, and the (from, to) of the state row that fills its own."""
        moves = self._leave(slot)
        last = self.states.pop()
        state_move = None
        if last is not slot:
            state_move = (last.place.state, slot.place.state)
            last.place.state = slot.place.state
            self.states[slot.place.state] = last
        slot.open, slot.capacity = False, 0
        return moves, state_move

    def _leave(self, slot: Slot) -> list[Move]:
        owners = self.classes[slot.capacity]
        last = owners.pop()
        if last is slot:
            return []
        hole = slot.place.row
        move = Move(slot.capacity, last.place.row, slot.capacity, hole)
        last.place.row = hole
        owners[hole] = last
        return [move]
