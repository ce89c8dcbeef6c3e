"""A program that a test started does not outlive the test's failure."""

from __future__ import annotations

import sys
import time

import pytest

from tests.processes import child_process


def test_a_child_is_killed_when_the_test_fails() -> None:
    began = time.monotonic()
    with (
        pytest.raises(ZeroDivisionError),
        child_process([sys.executable, "-c", "import time; time.sleep(60)"]) as child,
    ):
        raise ZeroDivisionError
    assert child.returncode not in (None, 0)
    assert time.monotonic() - began < 30
