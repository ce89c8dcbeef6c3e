"""Rows stay compact whatever opens, grows and closes, and the moves that are reported carry the data along."""

from hypothesis import given
from hypothesis import strategies as st

from backends.kv_cache import RowTable, capacity_class
from tests.asserting import every


def test_classes_waste_less_than_half_and_long_ones_a_fifth() -> None:
    asked = (0, 1, 256, 257, 512, 513, 3000, 4096, 4097, 5121, 16384, 16385, 70_000)
    classes = [256, 256, 256, 512, 512, 1024, 4096, 4096, 5120, 6144, 16384, 20480, 81920]
    assert [capacity_class(n) for n in asked] == classes
    assert every(n <= capacity_class(n) <= 1.25 * n for n in range(4096, 300_000, 97))
    assert every(capacity_class(capacity_class(n)) == capacity_class(n) for n in range(0, 300_000, 97))


@given(
    st.lists(
        st.tuples(st.sampled_from(["open", "grow", "close"]), st.integers(1, 2000), st.integers(0, 50)), max_size=60
    )
)
def test_moves_carry_every_row(script: list[tuple[str, int, int]]) -> None:
    table = RowTable()
    slabs: dict[tuple[int, int], int] = {}  # (capacity, row) -> the id whose data lies there
    states: dict[int, int] = {}
    live = []
    for action, n, pick in script:
        if action == "open" or not live:
            slot = table.open(n)
            live.append(slot)
            slabs[slot.capacity, slot.place.row] = slot.id
            states[slot.place.state] = slot.id
        elif action == "grow":
            for move in table.grow(live[pick % len(live)], n):
                slabs[move.to_capacity, move.to_row] = slabs[move.from_capacity, move.from_row]
        else:
            slot = live.pop(pick % len(live))
            moves, state_move = table.close(slot)
            for move in moves:
                slabs[move.to_capacity, move.to_row] = slabs[move.from_capacity, move.from_row]
            if state_move:
                states[state_move[1]] = states[state_move[0]]
            assert not slot.open
        for owners in table.classes.values():
            assert [s.place.row for s in owners] == list(range(len(owners)))
        for slot in live:
            assert slabs[slot.capacity, slot.place.row] == slot.id
            assert states[slot.place.state] == slot.id
        assert len(table.slots) == len(live)
