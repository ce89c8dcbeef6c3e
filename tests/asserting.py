"""What tests assert of many things at once."""

from __future__ import annotations

from collections.abc import Iterable


def every(results: Iterable[object]) -> bool:
    """Whether there is at least one result and all are true. `all` is also true of nothing, so a test that looks at the
    wrong list would pass; tests/test_house.py refuses it behind an `assert`."""
    some = False
    for result in results:
        if not result:
            return False
        some = True
    return some
